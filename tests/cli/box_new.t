# cordon box new: words, refusals, what is made. What is in a box: tests/box/view.py.

## a box, and where it is
$ mkdir p; echo hi > p/a
$ cordon box new one p --agent test --no-start
box 'one': a copy of $T/p (1 file)
not started: cordon box start one
$ stat -c '%a %n' home/.cordon/sandboxes home/.cordon/sandboxes/one home/.cordon/sandboxes/one/*
700 home/.cordon/sandboxes
700 home/.cordon/sandboxes/one
700 home/.cordon/sandboxes/one/base
700 home/.cordon/sandboxes/one/home
700 home/.cordon/sandboxes/one/host
600 home/.cordon/sandboxes/one/meta.json
700 home/.cordon/sandboxes/one/work
$ grep -v created_at home/.cordon/sandboxes/one/meta.json | sed 's/"cordon_version": ".*"/V/'
{
  V,
  "name": "one",
  "agent": "test",
  "workdir": {
    "host_path": "$T/p",
    "mount_path": "$T/p",
    "mode": "copy"
  },
  "has_prompt": false
}

## everything that is kept of it
$ mkdir p d; echo do it > prompt
$ cordon box new one p:overlay --agent claude --model opus --prompt-file prompt --dir d:rw --allow-host a.example:8080 --port 8080:80 --memory 512M --processes 9 --cpu 60 --disk 1G --include-ignored --no-start --json -- --verbose 'a b'
cordon: warning: the agent's program 'claude' is not installed: it is in no directory of PATH
{"protocol_version":1,"name":"one","workdir":"$T/p","mode":"overlay","layering":"overlay","agent":"claude","files":0,"bytes":0,"started":false,"gaps":[]}
$ sed -n '/"agent"/p;/"model"/p;/"mode"/p;/prompt/p;/network/p;/ports/,$p' home/.cordon/sandboxes/one/meta.json
  "agent": "claude",
  "model": "claude-opus-4-latest",
    "mode": "overlay"
  "has_prompt": true,
  "network_mode": "allow",
  "ports": [
    "8080:80"
  ]
}
$ cat home/.cordon/sandboxes/one/host/prompt home/.cordon/sandboxes/one/host/setup.json
do it
{
  "layering": "overlay",
  "dirs": [
    {
      "path": "$T/d",
      "writable": true
    }
  ],
  "hosts": [
    "a.example:8080"
  ],
  "args": [
    "--verbose",
    "a b"
  ],
  "limits": {
    "memory_bytes": 536870912,
    "processes": 9,
    "cpu_seconds": 60,
    "disk_bytes": 1073741824
  },
  "include_ignored": true
}

## names
$ mkdir p
$ cordon box new -- -x p
cordon: '-x' can't be a box's name: '.', '_' and '-' stand alone, between letters or digits [E_CLI_INVALID_ARG]
? 12
$ cordon box new a/b p --no-start
cordon: 'a/b' can't be a box's name: only letters, digits and '.', '_', '-' may be in it [E_CLI_INVALID_ARG]
? 12
$ cordon box new $(printf 'a%.0s' $(seq 56)) p --agent test --no-start 2>&1 | tail -1 | wc -c
87
$ cordon box new $(printf 'a%.0s' $(seq 57)) p --agent test --no-start
cordon: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' can't be a box's name: it is longer than 56 characters [E_CLI_INVALID_ARG]
? 12

## what is wrong with the words
$ mkdir p
$ cordon box new one
cordon: 'cordon box new' needs an argument: cordon box new NAME DIR[:copy|:overlay|:rw][:force] [-- ARG…] [E_CLI_INVALID_ARG]
cordon: try 'cordon box new --help'
? 12
$ cordon box new one p more
cordon: 'cordon box new' takes no further argument: 'more' (what is for the agent comes after --) [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p:copy:rw
cordon: 'p:copy:rw' asks for both :copy and :rw; give one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent clude
cordon: there is no agent 'clude'; did you mean 'claude'?; there are: 'claude', 'test', 'cordon', 'codex', 'gemini', 'opencode', 'aider' [E_NOT_FOUND]
? 18
$ cordon box new one p --agent test --dir p:copy
cordon: --dir 'p:copy': beside the project there are only read-only directories and ':rw' ones [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --memory lots
cordon: --memory 'lots': give a number of bytes, such as 512M or 4G [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --disk 99999999999T
cordon: --disk '99999999999T': give a number of bytes, such as 512M or 4G [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --port 80
cordon: --port '80': give HOST:BOX, such as 8080:3000 [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --network on --port 80:80
cordon: --port '80:80': with --network on the box has the host's ports [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --network none --allow-host a.example
cordon: --network 'none': with --allow-host there is nothing to choose [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --allow-host 'a b'
cordon: --allow-host: 'a b' can't be in the list of hosts: it is no name of a host [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test -- $'\xff'
cordon: argument 1 for the agent is not UTF-8 [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --prompt x --prompt-file y
cordon: --prompt-file 'y': there is a --prompt already [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --prompt-file nowhere
cordon: cannot open 'nowhere': No such file or directory [E_IO]
? 10
$ head -c 200000 /dev/zero | tr '\0' x > long; cordon box new one p --agent test --prompt-file long
cordon: 'long' is larger than 100000 bytes [E_IO]
? 10
$ ls -A home

## an agent that is not installed is said before anything is copied
$ mkdir p
$ cordon box new one p --prompt 'do it'
cordon: the agent's program 'claude' is not installed: it is in no directory of PATH [E_NOT_FOUND]
cordon:   remedy: install it, or set PATH so that it is found
? 18
$ test -e home/.cordon || echo nothing
nothing

## a model for an agent that has no option for it
$ mkdir p; cordon box new one p --agent test --model opus --no-start
cordon: warning: the agent 'test' has no option for a model: --model is not used
box 'one': a copy of $T/p (0 files)
not started: cordon box start one

## directories that are refused
$ mkdir -p p/in
$ cordon box new one nowhere --agent test
cordon: cannot use '$T/nowhere' for a box: No such file or directory [E_IO]
? 10
$ cordon box new one /etc --agent test
cordon: '/etc' is too dangerous for a box: it holds the system's settings and secrets (':force' after it overrides this) [E_POLICY_DENIED]
? 2
$ cordon box new one home --agent test
cordon: '$T/home' is too dangerous for a box: it is the home directory, with keys and settings (':force' after it overrides this) [E_POLICY_DENIED]
? 2
$ cordon box new one p --agent test --dir p/in
cordon: '$T/p' contains '$T/p/in'; give a box one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p:force --agent test --dir p/in:force
cordon: '$T/p' contains '$T/p/in'; give a box one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one home/.cordon/x --agent test || mkdir -p home/.cordon/x; cordon box new one home/.cordon/x:force --agent test
cordon: cannot use '$T/home/.cordon/x' for a box: No such file or directory [E_IO]
cordon: '$T/home/.cordon/x' lies in '$T/home/.cordon', where cordon keeps its own files [E_CLI_INVALID_ARG]
? 12

$ cordon box new one /:rw:force --agent test
cordon: '/' holds '/home/yoloai', where the agent is at home in the box [E_CLI_INVALID_ARG]
? 12

## force, with a warning
$ echo x > home/file; cordon box new one home:force --agent test --no-start
cordon: warning: '$T/home' is dangerous for a box, as you forced it: it is the home directory, with keys and settings
box 'one': a copy of $T/home (1 file)
not started: cordon box start one
$ ls -A home/.cordon/sandboxes/one/base/*
file

## uncommitted work
$ git init -q p; cd p; echo 1 > a; git add a; git -c user.name=n -c user.email=e commit -qm 1; echo 2 > a; echo n > new
$ cordon box new one p --agent test --no-start
cordon: '$T/p' has uncommitted work (1 changed, 1 new): make a box of it as it is? (there is nobody to be asked) [E_APPROVAL_REQUIRED]
cordon:   remedy: commit it, or give --yes
? 20
$ cordon box new one p:overlay --agent test --no-start --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_APPROVAL_REQUIRED","message":"'$T/p' has uncommitted work (1 changed, 1 new): make a box of it as it is? (there is nobody to be asked)","context":{"remedy":"commit it, or give --yes"}}}
? 20
$ find home/.cordon/sandboxes/.new home/.cordon/sandboxes/.trash
home/.cordon/sandboxes/.new
home/.cordon/sandboxes/.trash
$ cordon box new one p --agent test --no-start --yes 2>/dev/null; grep -c "$(git -C p rev-parse HEAD)" home/.cordon/sandboxes/one/meta.json
1
$ cd p; git add -A; git -c user.name=n -c user.email=e commit -qm 2; cordon box new two .:overlay --agent test --no-start 2>/dev/null; grep -c "$(git rev-parse HEAD)" ../home/.cordon/sandboxes/two/meta.json
1

## a name that is taken
$ mkdir p; echo x > p/a; cordon box new one p --agent test --no-start 2>/dev/null
$ cordon box new one p --agent test --no-start
cordon: there is a box 'one' already [E_CONFLICT]
cordon:   remedy: another name, or --replace to make it anew
? 19
$ echo y > p/a; cordon box new one p --agent test --no-start --replace
box 'one': a copy of $T/p (1 file)
not started: cordon box start one
$ cat home/.cordon/sandboxes/one/base/*/a
y

$ for u in home/.cordon/sandboxes/one/work/*/upper; do echo mine > $u/made; done
$ cordon box new one p --agent test --no-start --replace
cordon: replacing the box 'one' would lose changes that were not applied: 'made' [E_CONFLICT]
cordon:   remedy: 'cordon box apply one' first, or --abandon-unapplied to lose them
? 19
$ cordon box new one p --agent test --no-start --replace --abandon-unapplied
box 'one': a copy of $T/p (1 file)
not started: cordon box start one
$ find home/.cordon/sandboxes/one/work -name made

## what can't be copied is said
$ mkdir p; mkfifo p/pipe; cordon box new one p --agent test --no-start
cordon: warning: left out: 'pipe' is a named pipe
box 'one': a copy of $T/p (0 files)
not started: cordon box start one
