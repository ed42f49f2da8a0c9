# sandbox: in the settings, and --read, --write, --allow-exec, --allow-host of tools. See run.py for the format.

## commands of tools see what the settings add; without them they do not
$ mkdir -p $HOME/.config/cordon $HOME/out d w tools; echo one >d/one; printf '#!/bin/sh\necho ran $FOO $BAR\n' >tools/run; chmod +x tools/run; cd w; cordon tool shell --arg command="cat $T/d/one; $T/tools/run" 2>/dev/null
[stderr]
cat: $T/d/one: No such file or directory
/bin/bash: line 1: $T/tools/run: No such file or directory
[the command failed with exit status 127]
[denied: exec $T/tools/run (not one of the allowed programs). Allow: --allow-exec $T/tools/run]
[denied: read $T/d/one (not in the policy). Allow: --read $T/d/one]
? 6
$ printf 'sandbox:\n  read: [%s/d, %s/gone]\n  exec: [%s/tools]\n  write: [~/out]\n  env: {pass: [FOO, NONE], set: {BAR: bar}}\n  hosts: [a.example]\n  limits: {open_files: 77}\n' $T $T $T >$HOME/.config/cordon/config.yaml; cordon config check | cut -d ' ' -f 1; cd w; FOO=foo cordon tool shell --arg command="cat $T/d/one; $T/tools/run; ulimit -n; touch ~/out/made; env | grep ^HTTP_PROXY; touch $T/d/two" 2>/dev/null | grep .; ls $HOME/out $T/d | grep .
ok
absent
one
ran foo bar
77
HTTP_PROXY=http://127.0.0.1:3128

[stderr]
touch: cannot touch '$T/d/two': Read-only file system
[the command failed with exit status 1]
[denied: write $T/d/two (read-only). Allow: --write $T/d]
$T/d:
one
$T/home/out:
made
$ cd w; cordon tool exec_command --arg cmd="cat $T/d/one" --arg yield_time_ms=60000
one
$ printf 'policy_version: 4\nexec: {allowed_executables: [/bin, /usr/bin], allow_shell: true}\nfs: {allowed_read: [%s/w], working_dir: %s/w}\n' $T $T >p.yaml; cd w; cordon tool shell --policy ../p.yaml --arg command="test -e $T/d || echo minimal"
minimal

## a project may only narrow them
$ mkdir -p $HOME/.config/cordon d w/.cordon w/.git; echo one >d/one; printf 'sandbox:\n  read: [%s/d]\n  env: {set: {BAR: bar}}\n  hosts: [a.example]\n  limits: {open_files: 77}\n' $T >$HOME/.config/cordon/config.yaml; cd w; p() { printf "sandbox: $1\n" >.cordon/config.yaml; cordon tool shell --arg command="cat $T/d/one; env | grep -c 'BAR\|^HTTP_PROXY'; ulimit -n" | grep .; }; p '{}'; p '{read: [], limits: {open_files: 60}}'; p '{hosts: [], env: {set: {}}}'
one
2
77
2
60

[stderr]
cat: $T/d/one: No such file or directory
one
0
77
$ cd w; p() { printf "sandbox: $1\n" >.cordon/config.yaml; cordon tool shell --arg command=true 2>&1 | sed 's/ (project.*//'; }; p '{read: [/usr/share]}'; p "{read: [$T/d/sub]}"; p '{write: [/srv/x]}'; p '{exec: [/srv/x]}'; p '{hosts: [b.example]}'; p '{env: {pass: [FOO]}}'; p '{env: {set: {BAR: other}}}'; p '{limits: {open_files: 78}}'; p '{limits: {processes: 513}}'; p '{mode: native}'; cordon config check 2>&1 | tail -n 1
cordon: .cordon/config.yaml:1:18: sandbox.read[0]: '/usr/share' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here
cordon: .cordon/config.yaml:1:18: sandbox.read[0]: '$T/d/sub' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here
cordon: .cordon/config.yaml:1:19: sandbox.write[0]: '/srv/x' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here
cordon: .cordon/config.yaml:1:18: sandbox.exec[0]: '/srv/x' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here
cordon: .cordon/config.yaml:1:19: sandbox.hosts[0]: 'b.example' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here
cordon: .cordon/config.yaml:1:24: sandbox.env.pass[0]: 'FOO' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here
cordon: .cordon/config.yaml:1:17: sandbox.env.set: your own settings do not set 'BAR' to this value: a project may only narrow them
cordon: .cordon/config.yaml:1:20: sandbox.limits.open_files: 78 is more than 77, the limit without it: a project may only narrow your settings
cordon: .cordon/config.yaml:1:20: sandbox.limits.processes: 513 is more than 512, the limit without it: a project may only narrow your settings
cordon: .cordon/config.yaml:1:11: sandbox.mode: unknown key; valid keys: 'read', 'write', 'exec', 'env', 'hosts', 'limits'
cordon: .cordon/config.yaml:1:11: sandbox.mode: unknown key.* (re)

## the guards of a policy
$ mkdir -p $HOME/.config/cordon; for s in '{read: [/etc]}' '{read: ["~"]}' '{exec: [relative]}' '{write: [/usr/lib/x]}' '{env: {pass: [LD_PRELOAD]}}' '{env: {set: {BASH_ENV: x}}}' '{hosts: ["https://a.example"]}' '{limits: {memory_bytes: 5}}' '{raed: []}'; do printf 'sandbox: %s\n' "$s" >$HOME/.config/cordon/config.yaml; cordon config check 2>&1 | sed -n 's/.*config.yaml:[0-9:]* //p'; done
sandbox.read[0]: cannot be allowed: '/etc' (it holds the system's settings and secrets); name only the directory below it that is needed [E_CONFIG]
sandbox.read[0]: must be an absolute path: '~' (the meaning of a relative path depends on the current directory); use an absolute path [E_CONFIG]
sandbox.exec[0]: must be an absolute path: 'relative' (the meaning of a relative path depends on the current directory); use an absolute path [E_CONFIG]
sandbox.write[0]: cannot be allowed: '/usr/lib/x' (writing there changes the system's programs); allow only reading it, and let the program write elsewhere [E_CONFIG]
sandbox.env.pass[0]: dangerous environment variable blocked: 'LD_PRELOAD' (it controls the dynamic loader); remove it; use an option or a file of the program instead [E_CONFIG]
sandbox.env.set.BASH_ENV: dangerous environment variable blocked: 'BASH_ENV' (it makes a shell run or read other code); remove it; use an option or a file of the program instead [E_CONFIG]
sandbox.hosts[0]: is not a host: 'https://a.example' (use only the host, without scheme and path); use a name or an address, such as example.com [E_CONFIG]
sandbox.limits.memory_bytes: no program starts with less than 1048576 bytes [E_CONFIG]
sandbox.raed: unknown key; did you mean 'read'? [E_CONFIG]

## options of tools
$ mkdir d w; echo one >d/one; cd w; cordon tool shell --read ../d --allow-exec ../d --arg command="cat $T/d/one; touch $T/d/no 2>/dev/null || echo read-only"; cordon tool shell --write ../d --arg command="touch $T/d/two"; ls ../d; cordon tool shell --allow-host a.example --arg command='echo $HTTP_PROXY'
one
read-only
one
two
http://127.0.0.1:3128
$ cordon tool shell --read /etc --arg command=true
cordon: --read: cannot be allowed: '/etc' (it holds the system's settings and secrets); name only the directory below it that is needed [E_POLICY_DENIED]
? 2
$ cordon tool shell --write none --arg command=true
cordon: --write: does not exist: '$T/none' (No such file or directory); create it, or omit it [E_POLICY_DENIED]
? 2
$ cordon tool shell --allow-host 'a b' --arg command=true
cordon: --allow-host: is not a host: 'a b' (it is not a valid host name); use a name or an address, such as example.com [E_POLICY_DENIED]
? 2
$ cordon tool shell --allow-host a.example --sandbox landlock --ack-unsafe-sandbox --arg command=true
cordon: --allow-host requires the native sandbox: without a network namespace other hosts stay reachable [E_CLI_INVALID_ARG]
? 12

## repositories in a directory of --write are protected, also if a file tool found a repository first
$ git init -q r; mkdir w; cd w; printf '%s\n' '{"name": "write_file", "arguments": {"path": "HEAD", "content": "x"}}' "{\"name\": \"shell\", \"arguments\": {\"command\": \"echo x >$T/r/.git/hooks/post-commit; echo y >$T/r/f; cat $T/r/f\"}}" | cordon tool --serve --write ../r | tail -n 1 | python3 -c 'import json,sys; print(json.load(sys.stdin)["content"].strip())' | grep .; ls ../r/.git/hooks | grep -c '^post-commit$'
y

[stderr]
/bin/bash: line 1: $T/r/.git/hooks/post-commit: Read-only file system
[denied: write $T/r/.git/hooks/post-commit (protected: read-only in a writable directory)]
0
? 1

## boxes: directories, variables, hosts and limits of a new box; a project may only narrow them
$ mkdir -p $HOME/.config/cordon d out w; echo one >d/one; echo x >file; printf 'sandbox:\n  read: [%s/d, %s/gone, %s, %s/file]\n  write: [%s/out]\n  env: {pass: [FOO], set: {BAR: bar}}\n  hosts: [a.example]\n  limits: {processes: 333}\n' $T $T $T $T $T >$HOME/.config/cordon/config.yaml; cordon box new b w --agent test --no-start --yes; FOO=foo cordon box exec b -- sh -c "cat $T/d/one; echo \$FOO \$BAR; touch $T/d/two 2>/dev/null || echo read-only; touch $T/out/made; echo \$HTTP_PROXY"; ls out; cordon box show b --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["network"]["hosts"], d["limits"]["processes"])'
cordon: warning: sandbox.read: '$T' is not in the box: it contains the project, or is in it
cordon: warning: sandbox.read: '$T/file' is not in the box: it is not a directory
box 'b': a copy of $T/w (0 files)
not started: cordon box start b
one
foo bar
read-only
http://127.0.0.1:3128
made
['a.example'] 333
$ mkdir w/.cordon; printf 'sandbox: {read: [/srv/x]}\n' >w/.cordon/config.yaml; cordon box new c w --agent test --no-start --yes; printf 'sandbox: {read: [], hosts: []}\n' >w/.cordon/config.yaml; cordon box new c w --agent test --no-start --yes; cordon box exec c -- sh -c "test -e $T/d || echo not there; echo \$BAR; env | grep -c HTTP_PROXY"
cordon: project '$T/w': .cordon/config.yaml:1:18: sandbox.read[0]: '/srv/x' is not in your own settings: a project may only narrow them; add it there ('cordon config path'), or remove it here [E_CONFIG]
box 'c': a copy of $T/w (1 file)
not started: cordon box start c
not there
bar
0
? 1
$ cordon box new e w --agent test --no-start --yes --network none; cordon box exec e -- sh -c 'env | grep -c HTTP_PROXY'
box 'e': a copy of $T/w (1 file)
not started: cordon box start e
0
? 1
