# cordon policy new --learn: the resources that a command used. See run.py for the format.

## reading the working directory needs no other grant
$ mkdir app && cd app && echo hello > a.txt && cordon policy new --learn -- cat a.txt > ../p.yaml
cordon: warning: '/.*/cat' runs UNCONFINED, to learn which files it uses (re)
hello
$ cordon policy check p.yaml -- "$(command -v cat)"
allowed
$ sed -n '/allowed_read/,/working_dir/p; /allowed_exec/,/allow_shell/p' p.yaml
  allowed_read:
    - "$T/app"
  # ... and written: needs fs_write_unsafe_ack.
  allowed_write: []
  # Working directory of the program: inside one of them.
  working_dir: "$T/app"
  allowed_executables:
    - "/.*/cat" (re)
  # Whether the command may be a shell or a shell script.
  allow_shell: false

## files elsewhere are listed singly, many in a directory together, links as spelled
$ mkdir -p app data/many && touch data/one data/many/{1,2,3,4} data/real && ln -s real data/link
$ cd app && cordon policy new --learn -- cat ../data/one ../data/many/{1,2,3,4} "$T/data/link" 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml; sed -n '/allowed_read/,/written/p' ../p.yaml
allowed
  allowed_read:
    - "$T/app"
    - "$T/data/link" # resolves to "$T/data/real"
    - "$T/data/many"
    - "$T/data/one"
  # ... and written: needs fs_write_unsafe_ack.

## missing files and failed accesses are omitted
$ mkdir app && cd app && cordon policy new --learn --json -- sh -c 'cat ../nothing; no-such-program; ./neither; exit 0' 2> /dev/null > ../o.json; python3 -c '
> import json, os
> o = json.load(open("../o.json"))["learned"]
> print(o["read"], sorted(os.path.basename(p) for p in o["exec"]), o["write"], o["refused"])'
['$T/app'] ['cat', 'sh'] [] []

## writes are comments, unless acknowledged
$ mkdir -p app out && touch out/old && cd app && cordon policy new --learn -- sh -c 'mkdir d; echo x > d/y; echo z > ../out/old' > ../p.yaml
cordon: warning: '/.*/sh' runs UNCONFINED, to learn which files it uses (re)
$ cordon policy check p.yaml -- "$(command -v sh)" && sed -n '/allowed_write/,/]/p; /write_unsafe_ack:/p' p.yaml
allowed
  allowed_write: [
    # "$T/app",
    # "$T/out/old",
  ]
fs_write_unsafe_ack: false
$ sed -i 's/^    # "/    "/; s/^fs_write_unsafe_ack: .*/fs_write_unsafe_ack: true/' p.yaml && cordon policy check p.yaml && cordon policy show p.yaml | grep -A 3 allowed_write
allowed
    "allowed_write": [
      "$T/app",
      "$T/out/old"
    ],
$ rm -r app/d && cd app && cordon policy new --learn --ack-unsafe-write -- mkdir d 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml && grep -A 1 allowed_write: ../p.yaml && grep ack: ../p.yaml
allowed
  allowed_write:
    - "$T/app"
sandbox_unsafe_ack: false
network_unsafe_ack: false
fs_write_unsafe_ack: true

## changes to a directory: removing, renaming, linking
$ mkdir -p app a b c d e && touch a/x b/x c/x && cd app && cordon policy new --learn --json -- sh -c 'rm ../a/x; mv ../b/x ../d/x; ln -s y ../e/l; ln ../d/x ../d/z; chmod 600 ../c/x' 2> /dev/null | python3 -c '
> import json, sys
> print(json.load(sys.stdin)["learned"]["write"])'
['$T/a', '$T/b', '$T/c/x', '$T/d', '$T/e']

## a program that is created and run: its directory, which needs the acknowledgement
$ mkdir app && cd app && echo 'int main(void){return 7;}' > a.c && cordon policy new --learn --json -- sh -c 'cc -static -o a a.c; ./a; test $? = 7 && echo ran' 2>&1 > ../o.json | tail -n 1
ran
$ python3 -c '
> import json
> o = json.load(open("o.json"))
> l = o["learned"]
> print(l["made_and_run"], l["write"], l["complete"], any(p.endswith("/cc") for p in l["exec"]))
> open("p.yaml", "w").write(o["text"])'
['$T/app'] ['$T/app'] True True
$ cordon policy check p.yaml && grep -A 2 'created programs' p.yaml
allowed
    # It created programs in these directories and ran them; allowing that
    # also needs fs_write_unsafe_ack.
    # - "$T/app"
$ cd app && cordon policy new --learn --ack-unsafe-write -- sh -c 'cc -o b a.c; ./b; true' 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml -- "$T/app/b"
allowed
$ cd app && cordon policy new --learn -- ./b 2>&1 > ../p.yaml; cordon policy check ../p.yaml -- "$T/app/b"
cordon: warning: '$T/app/b' runs UNCONFINED, to learn which files it uses
cordon: warning: the command failed with exit status 7: the policy may be incomplete
allowed

## scripts: the script, its interpreter, and programs found by env
$ mkdir app && cd app && printf '#!/bin/sh\n./second' > first && printf '#!/usr/bin/env sh\necho deep' > second && chmod +x first second
$ cd app && cordon policy new --learn -- ./first > ../p.yaml
cordon: warning: '$T/app/first' runs UNCONFINED, to learn which files it uses
deep
$ cordon policy check p.yaml -- "$T/app/first"
allowed
$ grep -cE '^    - "(/bin/sh|/usr/bin/env|.*/app/first|.*/app/second)"' p.yaml; grep allow_shell p.yaml
4
  allow_shell: true

## threads, one of which executes another program
$ mkdir app data && echo t > data/t && cd app && cat > t.c <<'C'
> #include <fcntl.h>
> #include <pthread.h>
> #include <unistd.h>
> static void *reads(void *path) { return open(path, O_RDONLY) < 0 ? path : 0; }
> static void *runs(void *path) { execl("/bin/cat", "cat", path, (char *)0); return 0; }
> int main(int argc, char **argv)
> {
>     pthread_t t[9];
>     for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, reads, argv[1]);
>     for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
>     pthread_create(&t[8], 0, runs, argv[1]);
>     pause();
>     return argc;
> }
> C
$ cd app && cc -pthread -o t t.c && cordon policy new --learn -- ./t ../data/t > ../p.yaml
cordon: warning: '$T/app/t' runs UNCONFINED, to learn which files it uses
t
$ grep -cE '^    - "(/bin/cat|.*/app/t|.*/data/t)"' p.yaml
3

## many processes at once
$ mkdir -p app data && touch data/{1..20} && cd app && cordon policy new --learn --json -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (cat ../data/$i; touch out$i) & done; wait' 2> /dev/null | python3 -c '
> import json, sys
> o = json.load(sys.stdin)
> print(o["learned"]["read"], o["learned"]["write"], o["exit_status"])'; ls | wc -l
['$T/app', '$T/data'] ['$T/app'] {'success': True, 'exit_code': 0, 'signal': None, 'terminated_by_harness': False}
20

## resources that can't be allowed are reported
$ mkdir app && cd app && cordon policy new --learn -- ls / 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml && tail -n 2 ../p.yaml | sed 's/^/| /'
allowed
| # The command also used these, which cannot be allowed:
| #   "/": it is the whole file system
$ cd home && cordon policy new --learn --json -- sh -c 'ls -a > /dev/null' 2>&1 | python3 -c '
> import json, sys
> lines = sys.stdin.read().splitlines()
> print(lines[0])
> print(json.loads(lines[-1])["learned"]["refused"])'
cordon: warning: the current directory is omitted: a policy cannot name '$T/home'
[{'path': '$T/home', 'reason': 'it is the home directory, with keys and settings'}]

## names with special characters are quoted correctly
$ mkdir app data && cd app && touch $'../data/a\nnetwork: enabled' $'../data/b\xff' '../data/c"d' '../data/# e' && cordon policy new --learn -- cat $'../data/a\nnetwork: enabled' $'../data/b\xff' '../data/c"d' '../data/# e' 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml; grep -a data ../p.yaml | sed 's/^/|/'
allowed
|    - "$T/data/# e"
|    - "$T/data/a\nnetwork: enabled"
|    - "$T/data/c\"d"
|#   "$T/data/b\xEF\xBF\xBD": its name is not UTF-8 (esc)

## secrets are marked, and not merged into a directory
$ mkdir -p app keys && touch keys/{a,b,c,id_rsa} && cd app && cordon policy new --learn -- cat ../keys/{a,b,c,id_rsa} 2> /dev/null | grep keys
    - "$T/keys/a"
    - "$T/keys/b"
    - "$T/keys/c"
    - "$T/keys/id_rsa" # private key

## network use is a comment; loopback is not mentioned
$ mkdir app && cd app && cordon policy new --learn -- python3 -c '
> import socket
> s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
> s.connect(("192.0.2.1", 53))' 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml && sed -n '/^network:/,/ack: true/s/^/| /p' ../p.yaml
allowed
| network: disabled
| network_unsafe_ack: false
| # The command used the network (192.0.2.1:53). To allow it, replace the
| # two lines above with these; all data that it reads could then be sent out.
| # network: enabled
| # network_unsafe_ack: true
$ cd app && cordon policy new --learn --json -- python3 -c '
> import socket
> l = socket.create_server(("127.0.0.1", 0))
> socket.create_connection(l.getsockname())' 2> /dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["learned"]["network"])'
False

## Unix sockets
$ mkdir app && cd app && cordon policy new --learn -- python3 -c '
> import socket
> l = socket.socket(socket.AF_UNIX)
> l.bind("s")
> l.listen()
> socket.socket(socket.AF_UNIX).connect("s")' 2> /dev/null | grep -A 2 'Unix sockets' | sed 's/^/| /'
| # The command used named Unix sockets. To allow that where it can write:
| # allow_unix_sockets: true
| # unix_sockets_unsafe_ack: true

## /tmp is private in a sandbox: files made there need no grant
$ mkdir app && cd app && cordon policy new --learn -- sh -c 'f=$(mktemp /tmp/cordon-learn-XXXXXX); echo x > $f; cat $f; rm $f' 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml; sed -n '/needs fs_write/,/allowed_write/p' ../p.yaml
allowed
  # ... and written: needs fs_write_unsafe_ack.
  # It also wrote below /tmp, which is private and initially empty in the sandbox.
  allowed_write: []

## stdin goes to the command, stdout gets the policy
$ mkdir app && cd app && echo in | cordon policy new --learn -- cat 2> ../err | head -n 1 | cut -c 3-; tail -n 1 ../err
A policy: everything that is not listed here is denied.
in
$ cd app && cordon policy new --learn --json -- sh -c 'echo out; exit 3' 2> /dev/null | python3 -c '
> import json, sys
> o = json.load(sys.stdin)
> print(list(o), list(o["learned"]))
> print(o["exit_status"])'
['protocol_version', 'text', 'learned', 'exit_status'] ['read', 'write', 'exec', 'made_and_run', 'network', 'unix_sockets', 'refused', 'complete']
{'success': False, 'exit_code': 3, 'signal': None, 'terminated_by_harness': False}

## a command that kills itself by a signal
$ mkdir app && cd app && cordon policy new --learn -- sh -c 'kill -9 $$' > /dev/null
cordon: warning: '/.*/sh' runs UNCONFINED, to learn which files it uses (re)
cordon: warning: the command was killed by signal 9 (Killed): the policy may be incomplete

## signals that the command handles reach it
$ mkdir app && cd app && cordon policy new --learn -- bash -c 'trap "echo got it" USR1; kill -USR1 $$; :' > /dev/null
cordon: warning: '/.*/bash' runs UNCONFINED, to learn which files it uses (re)
got it

## interrupted: the policy so far is printed, and nothing is left
$ mkdir app && cd app && mkfifo ready never alive
$ (cd app && exec cordon policy new --learn -- sh -c 'exec 3> alive; cat < never & echo x > ready; read x < never') > p.yaml 2> err & exec 4< app/alive; read x < app/ready; kill -TERM $!; cat <&4; wait $!; echo "exit $?"; cordon policy check p.yaml; tail -n 1 err
exit 130
allowed
cordon: warning: interrupted by signal 15 \(Terminated\): .* (re)

## the command is killed with cordon
$ mkdir app && cd app && mkfifo ready never alive
$ (cd app && exec cordon policy new --learn -- sh -c 'exec 3> alive; cat < never & echo x > ready; read x < never') > /dev/null 2>&1 & disown; exec 4< app/alive; read x < app/ready; kill -KILL $!; cat <&4; echo gone
gone

## processes that a command leaves behind are killed
$ mkdir app && cd app && mkfifo never alive
$ cd app; cat alive & cordon policy new --learn -- sh -c 'exec 3> alive; cat < never & :' > /dev/null; wait; echo gone
cordon: warning: '/.*/sh' runs UNCONFINED, to learn which files it uses (re)
cordon: warning: processes that the command left running were killed
gone

## Ctrl-C on a terminal goes to the command: it ends, and the policy is printed
$ mkdir app && cd app && cat > ../at_tty.py <<'P'
> import os, pty, sys
> pid, fd = pty.fork()
> if pid == 0:
>     os.dup2(os.open("../p.yaml", os.O_WRONLY | os.O_CREAT), 1)
>     os.execvp("cordon", ["cordon", "policy", "new", "--color=never", "--learn", "--", "sh", "-c", sys.argv[1]])
> seen = b""
> while b"ready" not in seen:
>     seen += os.read(fd, 4096)
> os.write(fd, b"\x03")
> try:
>     while data := os.read(fd, 4096):
>         seen += data
> except OSError:
>     pass
> print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
> print(seen.decode().splitlines()[-1].replace("^C", ""))
> P
$ cd app && mkfifo never && python3 ../at_tty.py 'echo ready; read x < never'; cordon policy check ../p.yaml
exit 0
cordon: warning: the command was killed by signal 2 (Interrupt): the policy may be incomplete
allowed
$ cd app && python3 ../at_tty.py 'trap "echo later; exit 0" INT; echo ready; read x < never'; cordon policy check ../p.yaml
exit 0
later
allowed

## programs outside the system directories keep their PATH
$ mkdir -p app bin && printf '#!/bin/sh\n' > bin/tool && chmod +x bin/tool && cd app && PATH=$T/bin:$PATH:$T/unused cordon policy new --learn -- tool 2> /dev/null | grep PATH:
    PATH: "$T/bin:/usr/local/bin:/usr/bin:/bin"

## --for a script allows its interpreter
$ mkdir app && cd app && printf '#!/bin/sh\n' > a && printf '#!/usr/bin/env -S cat -n\n' > b && printf '#!/no/such\n' > c && chmod +x a b c && cordon policy new --for ./a > ../p.yaml && cordon policy check ../p.yaml -- "$T/app/a" && sed -n '/allowed_exec/,$p' ../p.yaml | sed '/# Whether/q' | grep -v '"/[a-z/0-9]*"$'; grep allow_shell: ../p.yaml
allowed
  allowed_executables:
    - "$T/app/a"
    - "/bin/sh" .*# .*interpreter of the script (re)
  # Whether the command may be a shell or a shell script.
  allow_shell: true
$ cd app && cordon policy new --for ./b | grep -A 3 'allowed_exec'
  allowed_executables:
    - "$T/app/b"
    - "/usr/bin/env" # interpreter of the script
    - ".*/cat" # interpreter of the script (re)
$ cd app && cordon policy new --for ./c | grep allow_shell
cordon: warning: the script's interpreter '/no/such' does not exist
  allow_shell: false

## the learned policy is sufficient in the sandbox, and grants no more
$ mkdir -p app data && echo 'int main(void){return 0;}' > app/a.c && touch data/{1,2,3,4,one,two} && ln -s one data/link && printf '#!/bin/sh\nmkdir -p out\ncc -o out/a a.c && out/a && cat ../data/[1-4] ../data/link && echo done > out/done && cat out/done\n' > app/build && chmod +x app/build
$ cd app && cordon policy new --learn --ack-unsafe-write -- ./build 2> /dev/null > ../p.yaml; rm -r out; cordon exec --policy ../p.yaml -- "$T/app/build" && ls out
done
a
done
$ cd app && echo secret > ../outside && printf '#!/bin/sh\ncat %s\n' ../outside > build && cordon exec --policy ../p.yaml --exit-code child -- "$T/app/build" 2>&1 | grep -c secret
0
? 1

## commands that can't be run
$ mkdir app && cd app && echo text > a && chmod +x a && cordon policy new --learn -- ./a
cordon: warning: '$T/app/a' runs UNCONFINED, to learn which files it uses
cordon: cannot run '$T/app/a': Exec format error [E_IO]
? 10
$ cordon policy new --learn -- no-such-program
cordon: the program 'no-such-program' was not found in PATH [E_CLI_INVALID_ARG]
? 12

## invalid command lines
$ cordon policy new --learn
cordon: --learn requires a command after '--', such as -- make [E_CLI_INVALID_ARG]
? 12
$ cordon policy new -- make
cordon: a command requires --learn, which runs it; for a program alone, use --for 'make' [E_CLI_INVALID_ARG]
? 12
$ cordon policy new --learn --for make -- make
cordon: --for and --learn cannot be combined: --learn takes the program from the command after '--' [E_CLI_INVALID_ARG]
? 12
$ cordon policy new --ack-unsafe-write
cordon: --ack-unsafe-write requires --learn [E_CLI_INVALID_ARG]
? 12
