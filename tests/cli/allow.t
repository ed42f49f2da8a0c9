# --read, --write and --allow-exec: additions to the policy in use. See run.py for the format.

## reading: a file, a directory, a path through a symlink, several; without the option it is not there
$ mkdir w d; echo one >d/one; echo two >two; ln -s d link; cd w; cordon exec -- cat $T/two 2>&1 | head -n 1; cordon exec --read $T/two --read ../d -- cat $T/two $T/d/one; cordon exec --read $T/link -- cat $T/link/one
cat: $T/two: No such file or directory
two
one
one
$ cd w; cordon exec --read ../d -- touch $T/d/new 2>&1 | head -n 1
touch: cannot touch '$T/d/new': Read-only file system

## writing needs an acknowledgement
$ mkdir w; cd w; cordon exec --write . -- touch a
cordon: --write: requires explicit acknowledgement: '$T/w' (files there could be changed or deleted); add --ack-unsafe-write [E_POLICY_DENIED]
? 2
$ cd w; cordon exec --write . --ack-unsafe-write -- touch a && ls
a
$ cd w; printf 'b:\n\tprintf "#!/bin/sh\\necho built\\n" >b; chmod +x b; ./b\n' >Makefile; cordon exec --write . -- make 2>&1; cordon exec --write . --ack-unsafe-write -- make -s
cordon: --write: requires explicit acknowledgement: '$T/w' (files there could be changed or deleted); add --ack-unsafe-write [E_POLICY_DENIED]
built

## running: a path, a directory, a name in PATH
$ mkdir w; cd w; printf 'import subprocess, sys\nprint(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout.strip())\n' >r.py; ln -s /usr/bin/python3 run; export PATH=/usr/bin:/bin:$PATH
> cordon exec -- ./run r.py uname 2>&1 | tail -n 2 | cut -c 1-17; cordon exec --allow-exec uname -- ./run r.py uname; cordon exec --allow-exec /usr/bin/uname -- ./run r.py uname; cordon exec --allow-exec /usr/bin -- ./run r.py uname
cordon: the comma
denied: exec /usr
Linux
Linux
Linux

## beside a policy and a preset; the effective policy has them
$ mkdir w d; echo one >d/one; printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/cat]}\nfs: {allowed_read: [%s], working_dir: %s}\n' $T/w $T/w >p.yaml; cordon exec --policy p.yaml --read d -- /usr/bin/cat $T/d/one
one
$ cordon exec --preset readonly --root w --read d -- cat $T/d/one
one
$ cordon exec --policy p.yaml --read d --allow-exec uname --json -- /usr/bin/cat | python3 -c 'import json,sys; p=json.load(sys.stdin)["policy"]; print(p["fs"]["allowed_read"], p["exec"]["allowed_executables"])'
['$T/w', '$T/d'] ['/usr/bin/cat', '/usr/bin/uname']
$ cordon exec --policy p.yaml --read d --pipes --artifacts $T/w/a --write w --ack-unsafe-write -- /usr/bin/cat $T/d/one; python3 -c 'import json; print(json.load(open("'$T'/w/a/run.json"))["policy"]["fs"])'
one
{'allowed_read': ['$T/w', '$T/d'], 'allowed_write': ['$T/w'], 'working_dir': '$T/w'}
$ cordon exec --policy p.yaml --read d --explain-policy --json -- /usr/bin/cat | python3 -c 'import json,sys; print([e["given"] for e in json.load(sys.stdin)["grants"]["read"]])'
['$T/w', '$T/d']

## the guards of a policy, and errors that name the option
$ mkdir w; cd w; touch f; mkfifo p; ln -s /etc e; for o in "--read /etc" "--read $HOME" "--read ~" "--read /proc/self" "--read none" "--read p" "--read e" "--write /usr/lib/x" "--write /etc" "--allow-exec /" "--allow-exec nope"; do cordon exec $o -- true; done
cordon: --read: cannot be allowed: '/etc' (it holds the system's settings and secrets); name only the directory below it that is needed [E_POLICY_DENIED]
cordon: --read: cannot be allowed: '$T/home' (it is the home directory, with keys and settings); name only the directory below it that is needed [E_POLICY_DENIED]
cordon: --read: does not exist: '$T/w/~' (No such file or directory); create it, or omit it [E_POLICY_DENIED]
cordon: --read: cannot be allowed: '/proc/self' (it gives access to other processes); omit it; the sandbox provides the parts of it that programs need [E_POLICY_DENIED]
cordon: --read: does not exist: '$T/w/none' (No such file or directory); create it, or omit it [E_POLICY_DENIED]
cordon: --read: is neither a file nor a directory: '$T/w/p' (a socket, pipe or device gives access to something else); use a file or a directory [E_POLICY_DENIED]
cordon: --read: cannot be allowed: '$T/w/e' (it resolves to /etc: it holds the system's settings and secrets); name only the directory below it that is needed [E_POLICY_DENIED]
cordon: --write: cannot be allowed: '/usr/lib/x' (writing there changes the system's programs); allow only reading it, and let the program write elsewhere [E_POLICY_DENIED]
cordon: --write: cannot be allowed: '/etc' (it holds the system's settings and secrets); name only the directory below it that is needed [E_POLICY_DENIED]
cordon: --allow-exec: cannot be allowed: '/' (it is the whole file system); name only the directory below it that is needed [E_POLICY_DENIED]
cordon: --allow-exec: does not exist: '$T/w/nope' (No such file or directory); create it, or omit it [E_POLICY_DENIED]
? 2

## an entry of a policy is still named by its key
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\nfs: {allowed_read: [/none]}\n' >p.yaml; cordon exec --policy p.yaml --read /etc -- /usr/bin/true
cordon: fs.allowed_read[0]: allowlist path does not exist: '/none' (No such file or directory); create it, or remove it from the list [E_POLICY_DENIED]
? 2
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\nfs: {allowed_write: [%s]}\n' $T >p.yaml; cordon exec --policy p.yaml --write $T/home -- /usr/bin/true
cordon: --write: cannot be allowed: '$T/home' (it is the home directory, with keys and settings); name only the directory below it that is needed [E_POLICY_DENIED]
? 2

## repositories in a directory of --write are protected; those in a directory that a policy lists are not
$ git init -q r; cd r; cordon exec --write . --ack-unsafe-write -- sh -c 'echo x >.git/hooks/post-commit; echo y >f; git -c user.name=A -c user.email=a@b add f && echo added'; ls .git/hooks/post-commit 2>/dev/null; cat f
sh: 1: cannot create .git/hooks/post-commit: Read-only file system
added
denied: write $T/r/.git/hooks/post-commit (protected: read-only in a writable directory)
y
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/touch]}\nfs: {allowed_write: [%s], working_dir: %s}\nfs_write_unsafe_ack: true\n' $T/r $T/r >p.yaml; cordon exec --policy p.yaml -- /usr/bin/touch .git/hooks/x && ls r/.git/hooks/x
r/.git/hooks/x

## run, driver and record take them; scenarios of a suite pass them on
$ mkdir w d; echo one >d/one; printf 'run: {command: /usr/bin/cat, args: [%s]}\nscenario_version: 1\nsteps: [{id: a, action: {type: wait, payload: {condition: {type: process_exited, payload: {}}}}, assert: [{type: line_equals, payload: {line: 0, text: one}}]}]\n' $T/d/one >w/s.yaml; cp w/s.yaml w/t.yaml; cd w; cordon run s.yaml --json 2>/dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["status"])'; cordon run s.yaml --read ../d | sed 's/,.*//'; cordon run s.yaml t.yaml --read ../d 2>&1 | tail -n 1 | sed 's/,.*//'
failed
passed: 1 of 1 steps passed
2 of 2 scenarios passed
$ cd w; cordon driver --read ../d --explain-policy -- cat | python3 -c 'import json,sys; print([e["given"] for e in json.load(sys.stdin)["grants"]["read"]])'
['$T/w', '$T/d']

## --explain-policy: a page for people, which runs nothing; JSON with --json
$ page() { PATH=/usr/bin:/bin:.:$PATH cordon exec --explain-policy "$@" | sed '/^enforced/,$d' | paste -sd' ' | tr -s ' ' | sed 's/ \(starts in\|may [a-z]*\|network\|environment\|limits\|not shown\) /\n\1: /g; s/ $//'; }
> mkdir w 'a b' && cd w && page --read '../a b' -- touch f; ls
allowed command /usr/bin/touch
starts in: $T/w
may read: $T/w/, $T/a b/ and as in every sandbox: the system's libraries and data (/usr/lib, /usr/share), files of /etc for names, locale and certificates
may write: no file of this machine a private /tmp, empty at first
may run: /usr/bin/touch
network: none
environment: TERM, LANG, PATH
limits: 60 s, 8 MiB of output, 512 processes, 4 GiB of memory for each process, 1024 open files, files of 1 GiB, /tmp of 512 MiB
$ cd w; PATH=.:$PATH cordon exec --explain-policy --write . --ack-unsafe-write --enable-network --ack-unsafe-network -- make | grep '^network\|^not shown\|^may write\|^sandbox\|^gaps'
may write     $T/w/
network       the host's: everything that it reads can be sent out
not shown     . of PATH: it is relative
sandbox       seatbelt
network       the host's network; socket families by seccomp, Unix sockets
gaps          writable executables: files written to.* (re)
$ cd w; cordon exec --explain-policy --write . --read /etc -- true
denied: --read: cannot be allowed: '/etc'
  reason: it holds the system's settings and secrets
  fix: name only the directory below it that is needed
denied: --write: requires explicit acknowledgement: '$T/w'
  reason: files there could be changed or deleted
  fix: add --ack-unsafe-write
? 2

## --allow-host: usage, and the effective policy
$ cordon exec --allow-host a.example --enable-network --ack-unsafe-network -- true
cordon: --enable-network and --allow-host cannot be combined: the first allows every host; omit one of them [E_CLI_INVALID_ARG]
? 12
$ cordon exec --allow-host https://a.example/ -- true
cordon: --allow-host: 'https://a.example/' cannot be in the list of hosts: use only the host, without scheme and path [E_CLI_INVALID_ARG]
? 12
$ cordon exec --allow-host '*' -- true
cordon: --allow-host: '*' cannot be in the list of hosts: for access to all hosts, use --enable-network --ack-unsafe-network [E_CLI_INVALID_ARG]
? 12
$ cordon exec --allow-host a.example --sandbox landlock --ack-unsafe-sandbox -- true
cordon: allowed_hosts: hosts cannot be limited in this sandbox: 'a.example' (without a network namespace other hosts stay reachable); omit --allow-host, or the option for a weaker sandbox [E_POLICY_DENIED]
? 2
$ mkdir w; cd w; cordon exec --allow-host a.example --allow-host '*.b.example:8443' --json -- true | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["policy"]["allowed_hosts"], d["policy"]["network"], d["sandbox_report"]["gaps"][0])'
['a.example', '*.b.example:8443'] disabled allowed_hosts: all readable data can be sent to them, and to other names on the same servers
$ cd w; cordon exec --allow-host a.example --explain-policy -- true | grep -A 1 '^network  *through'
network       through a proxy, only these hosts:
              a.example
$ cd w; cordon exec --allow-host 127.0.0.1:1 -- env | grep -i proxy | sort
ALL_PROXY=http://127.0.0.1:3128
HTTPS_PROXY=http://127.0.0.1:3128
HTTP_PROXY=http://127.0.0.1:3128
NODE_USE_ENV_PROXY=1
NO_PROXY=localhost
all_proxy=http://127.0.0.1:3128
http_proxy=http://127.0.0.1:3128
https_proxy=http://127.0.0.1:3128
no_proxy=localhost

## another author's hosts need consent to the network
$ mkdir w; cd w; printf 'scenario_version: 1\nrun: {command: /usr/bin/true, policy: {policy_version: 4, exec: {allowed_executables: [/usr/bin/true]}, allowed_hosts: [a.example]}}\nsteps: []\n' >s.yaml; cordon run s.yaml 2>&1 | head -n 1; cordon run --ack-unsafe-network s.yaml 2>/dev/null | sed 's/:.*//'
cordon: the scenario's own policy uses the network (allowed_hosts): this needs your acknowledgement, not only its author's; if you trust it, add --ack-unsafe-network, or run 'cordon trust s.yaml' [E_POLICY_DENIED]
passed

## hosts that the user names need no further consent; a low soft limit of open files does not matter, a low hard limit is said
$ mkdir w; cd w; printf 'scenario_version: 1\nrun: {command: /usr/bin/true, policy: {policy_version: 4, exec: {allowed_executables: [/usr/bin/true]}}}\nsteps: []\n' >s.yaml; cordon run --allow-host a.example s.yaml 2>/dev/null | sed 's/:.*//'
passed
$ cd w; (ulimit -Sn 200; cordon exec --allow-host 127.0.0.1:1 -- python3 -c 'import socket; s=socket.create_connection(("127.0.0.1",3128)); s.sendall(b"CONNECT b.example:443 HTTP/1.1\r\n\r\n"); print(s.recv(12))') 2>/dev/null; (ulimit -Sn 300; ulimit -Hn 300; cordon exec --allow-host a.example -- true)
b'HTTP/1.1 403'
cordon: the proxy needs [0-9]* open files, and the limit is 300 .* (re)
cordon:   remedy: raise the hard limit of open files (ulimit -Hn)
? 10

## the report says whether written files and memory may be run
$ cordon exec --preset build --explain-policy --json -- /bin/true | grep -c 'memory may be run'; cordon exec --explain-policy --json -- /bin/true | grep -c 'no memfd'
1
1
