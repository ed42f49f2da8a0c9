# cordon box new: output, refusals, files. The contents of a box are tested by tests/box/view.py.

## a new box, and its location
$ mkdir p; echo hi > p/a
$ cordon box new one p --agent test --no-start
box 'one': a copy of $T/p (1 file)
not started: cordon box start one
$ stat -c '%a %n' home/.cordon/sandboxes home/.cordon/sandboxes/one home/.cordon/sandboxes/one/*
700 home/.cordon/sandboxes
700 home/.cordon/sandboxes/one
700 home/.cordon/sandboxes/one/base
700 home/.cordon/sandboxes/one/caches
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

## the files of a box
$ mkdir p d; echo do it > prompt
$ cordon box new one p:overlay --agent claude --model opus --prompt-file prompt --dir d:rw --allow-host a.example:8080 --port 8080:80 --memory 512M --processes 9 --cpu 60 --disk 1G --include-ignored --no-start --json -- --verbose 'a b'
cordon: warning: the agent's program 'claude' is not installed: it was not found in PATH
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
$ cat home/.cordon/sandboxes/one/host/prompt; sed '/"caches"/,/]/d' home/.cordon/sandboxes/one/host/setup.json
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
  "include_ignored": true,
  "home": "$T/home"
}

## names
$ mkdir p
$ cordon box new -- -x p
cordon: '-x' is not a valid box name: '.', '_' and '-' must be single and between letters or digits [E_CLI_INVALID_ARG]
? 12
$ cordon box new a/b p --no-start
cordon: 'a/b' is not a valid box name: only letters, digits and '.', '_', '-' are allowed [E_CLI_INVALID_ARG]
? 12
$ cordon box new $(printf 'a%.0s' $(seq 56)) p --agent test --no-start 2>&1 | tail -1 | wc -c
87
$ cordon box new $(printf 'a%.0s' $(seq 57)) p --agent test --no-start
cordon: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is not a valid box name: it is longer than 56 characters [E_CLI_INVALID_ARG]
? 12

## invalid command lines
$ mkdir p
$ cordon box new one
cordon: 'cordon box new' needs DIR[:copy|:overlay|:rw][:force]: cordon box new [OPTION…] NAME DIR[:copy|:overlay|:rw][:force] [-- ARG…] [E_CLI_INVALID_ARG]
cordon: try 'cordon box new --help'
? 12
$ cordon box new one p more
cordon: unexpected argument 'more'; arguments for the agent come after -- [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p:copy:rw
cordon: 'p:copy:rw' has both :copy and :rw; use only one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent clude
cordon: no such agent 'clude'; available: 'claude', 'test', 'cordon', 'codex', 'gemini', 'opencode', 'aider'; did you mean 'claude'? [E_NOT_FOUND]
? 18
$ cordon box new one p --agent test --dir p:copy
cordon: --dir 'p:copy': an additional directory can only be read-only or ':rw' [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --memory lots
cordon: --memory 'lots': expected a number of bytes, such as 512M or 4G [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --memory 1
cordon: --memory '1': expected at least 1M [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --disk 1023K
cordon: --disk '1023K': expected at least 1M [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --abandon-unapplied
cordon: --abandon-unapplied requires --replace [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --dir p:copy:rw
cordon: --dir: 'p:copy:rw' has both :copy and :rw; use only one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --disk 99999999999T
cordon: --disk '99999999999T': expected a number of bytes, such as 512M or 4G [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --port 80
cordon: --port '80': expected HOST:BOX, two ports from 1 to 65535, such as 8080:3000 [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --network on --port 80:80
cordon: --network on and --port cannot be combined: the box uses the host's ports [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --network none --allow-host a.example
cordon: --network none and --allow-host cannot be combined [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --allow-host 'a b'
cordon: --allow-host: 'a b' cannot be in the list of hosts: it is not a valid host name [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test -- $'\xff'
cordon: argument 1 for the agent is not UTF-8 [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --prompt x --prompt-file y
cordon: --prompt and --prompt-file cannot be combined [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p --agent test --prompt-file nowhere
cordon: --prompt-file: cannot open 'nowhere': No such file or directory [E_IO]
? 10
$ head -c 200000 /dev/zero | tr '\0' x > long; cordon box new one p --agent test --prompt-file long
cordon: --prompt-file: 'long' is larger than 100000 bytes [E_IO]
? 10
$ ls -A home

## a missing agent is reported before anything is copied
$ mkdir p
$ cordon box new one p --prompt 'do it'
cordon: the agent's program 'claude' is not installed: it was not found in PATH [E_NOT_FOUND]
cordon:   remedy: install it, or add its directory to PATH
? 18
$ test -e home/.cordon || echo nothing
nothing

## a model for an agent that has no option for it
$ mkdir p; cordon box new one p --agent test --model opus --no-start
cordon: warning: the agent 'test' has no option for a model: --model is ignored
box 'one': a copy of $T/p (0 files)
not started: cordon box start one

## refused directories
$ mkdir -p p/in
$ cordon box new one nowhere --agent test
cordon: cannot use '$T/nowhere' for a box: No such file or directory [E_IO]
? 10
$ cordon box new one /etc --agent test
cordon: '/etc' is too dangerous for a box: it holds the system's settings and secrets (append ':force' to override) [E_POLICY_DENIED]
? 2
$ cordon box new one home --agent test
cordon: '$T/home' is too dangerous for a box: it is the home directory, with keys and settings (append ':force' to override) [E_POLICY_DENIED]
? 2
$ cordon box new one p --agent test --dir p/in
cordon: '$T/p' contains '$T/p/in'; use only one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one p:force --agent test --dir p/in:force
cordon: '$T/p' contains '$T/p/in'; use only one of them [E_CLI_INVALID_ARG]
? 12
$ cordon box new one home/.cordon/x --agent test || mkdir -p home/.cordon/x; cordon box new one home/.cordon/x:force --agent test
cordon: cannot use '$T/home/.cordon/x' for a box: No such file or directory [E_IO]
cordon: '$T/home/.cordon/x' is in '$T/home/.cordon', where cordon stores its own files [E_CLI_INVALID_ARG]
? 12

$ cordon box new one /:rw:force --agent test
cordon: '/' holds '/home/yoloai', which is the agent's home directory in the box [E_CLI_INVALID_ARG]
? 12

## ':force' allows them, with a warning
$ echo x > home/file; cordon box new one home:force --agent test --no-start
cordon: warning: '$T/home' is dangerous for a box, and is used because of ':force': it is the home directory, with keys and settings
box 'one': a copy of $T/home (1 file)
not started: cordon box start one
$ ls -A home/.cordon/sandboxes/one/base/*
file

## uncommitted changes need confirmation
$ git init -q p; cd p; echo 1 > a; git add a; git -c user.name=n -c user.email=e commit -qm 1; echo 2 > a; echo n > new
$ cordon box new one p --agent test --no-start
cordon: cannot ask whether to create a box from '$T/p' with its uncommitted changes (1 changed, 1 new): standard input is not a terminal [E_APPROVAL_REQUIRED]
cordon:   remedy: commit them, or use --yes
? 20
$ cordon box new one p:overlay --agent test --no-start --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_APPROVAL_REQUIRED","message":"cannot ask whether to create a box from '$T/p' with its uncommitted changes (1 changed, 1 new): --json is given","context":{"remedy":"commit them, or use --yes"}}}
? 20
$ find home/.cordon/sandboxes/.new home/.cordon/sandboxes/.trash
home/.cordon/sandboxes/.new
home/.cordon/sandboxes/.trash
$ cordon box new one p --agent test --no-start --yes 2>/dev/null; grep -c "$(git -C p rev-parse HEAD)" home/.cordon/sandboxes/one/meta.json
1
$ cd p; git add -A; git -c user.name=n -c user.email=e commit -qm 2; cordon box new two .:overlay --agent test --no-start 2>/dev/null; grep -c "$(git rev-parse HEAD)" ../home/.cordon/sandboxes/two/meta.json
1

## an existing name
$ mkdir p; echo x > p/a; cordon box new one p --agent test --no-start 2>/dev/null
$ cordon box new one p --agent test --no-start
cordon: the box 'one' already exists [E_CONFLICT]
cordon:   remedy: choose another name, or use --replace
? 19
$ echo y > p/a; cordon box new one p --agent test --no-start --replace
box 'one': a copy of $T/p (1 file)
not started: cordon box start one
$ cat home/.cordon/sandboxes/one/base/*/a
y

$ for u in home/.cordon/sandboxes/one/work/*/upper; do echo mine > $u/made; done
$ cordon box new one p --agent test --no-start --replace
cordon: replacing the box 'one' would discard unapplied changes: 'made' [E_CONFLICT]
cordon:   remedy: run 'cordon box apply one' first, or use --abandon-unapplied to discard them
? 19
$ cordon box new one p --agent test --no-start --replace --abandon-unapplied
box 'one': a copy of $T/p (1 file)
not started: cordon box start one
$ find home/.cordon/sandboxes/one/work -name made

## files that can't be copied are reported
$ mkdir p; mkfifo p/pipe; cordon box new one p --agent test --no-start
cordon: warning: omitted: 'pipe' is a named pipe
box 'one': a copy of $T/p (0 files)
not started: cordon box start one
