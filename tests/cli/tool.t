# The tools, as a model calls them. See run.py for the format.

## arguments: wrong name, wrong type, missing, not JSON; an unknown tool
$ cordon tool read_file --json '{"pth": "x"}'
{"protocol_version":1,"status":"error","code":"E_TOOL_VALIDATION","message":"read_file: pth: unknown key; did you mean 'path'? For example {\"path\": \"src/main.c\", \"offset\": 0, \"limit\": 200}","truncated":false,"content":"error: read_file: pth: unknown key; did you mean 'path'? For example {\"path\": \"src/main.c\", \"offset\": 0, \"limit\": 200}","details":{"context":{"field":"pth"}}}
? 15
$ cordon tool read_file --arg offset=1
cordon: read_file: path: required, but missing; for example {"path": "src/main.c", "offset": 0, "limit": 200} [E_TOOL_VALIDATION]
? 15
$ cordon tool read_file --arg path=x --arg limit=many
cordon: read_file: limit: expected an integer, found a string; for example {"path": "src/main.c", "offset": 0, "limit": 200} [E_TOOL_VALIDATION]
? 15
$ cordon tool raed_file --arg path=x 2>&1 | grep -o "did you mean 'read_file'"
did you mean 'read_file'
$ cordon tool list_dir --json '[]' | grep -o 'the arguments are a list, not an object' | uniq
the arguments are a list, not an object
$ cordon tool list_dir --json '{' | grep -o '"code":"E_TOOL_VALIDATION"'
"code":"E_TOOL_VALIDATION"

## null is a missing argument
$ printf 'a\n' > f; cordon tool read_file --json '{"path": "f", "offset": null, "mode": null}' | grep -o '"content":"[^"]*"'
"content":"a\n"

## list_dir: level by level, sorted by bytes, marked
$ mkdir -p t/b/c/deep t/A; touch t/b/z t/a t/x; chmod +x t/x; ln -s /etc t/link; cordon tool list_dir --arg path=t
A/
a
b/
link@
x*
b/c/
b/z
$ cordon tool list_dir --arg path=t --arg depth=1 --arg offset=1 --arg limit=2
a
b/
[truncated] 2 of 5 entries left out; continue with offset 3
$ cordon tool list_dir --arg path=t/a
cordon: 't/a' is not a directory: use read_file [E_TOOL_VALIDATION]
? 15

## a line that is too long is truncated, not lost, and the next page starts after it
$ mkdir d; python3 -c 'import os
> os.chdir("d")
> for i in range(12):
>     os.mkdir(b"\x01" * 250); os.chdir(b"\x01" * 250)
> open("f", "w").write("needle\n")'
> cordon tool list_dir --json '{"path": "d", "depth": 32, "offset": 11}' | grep -o '"truncated":true\|… .truncated line.*'
"truncated":true
… [truncated line]\n[truncated] 1 of 13 entries left out; continue with offset 12\n","details":{"entries":13,"offset":11,"shown":1,"next_offset":12}}
$ cordon tool list_dir --json '{"path": "d", "depth": 32, "offset": 12}' | grep -o '"truncated":true\|… .truncated line.*'
"truncated":true
… [truncated line]\n","details":{"entries":13,"offset":12,"shown":1}}
$ cordon tool grep_files --json '{"pattern": "needle", "path": "d"}' | grep -o '"truncated":true\|… .truncated line.*'
"truncated":true
… [truncated line]\n","details":{"matches":1,"files":1,"shown":1,"files_searched":1}}
$ cordon tool glob_files --json '{"pattern": "**/f", "path": "d"}' | grep -o '"truncated":true\|… .truncated line.*'
"truncated":true
… [truncated line]\n","details":{"files":1,"shown":1}}

## read_file: a slice, no newline at the end, a part, depth, long lines
$ printf 'a\nb\nc' > f; cordon tool read_file --arg path=f --arg offset=1 --arg limit=1
b
$ cordon tool read --json '{"file_path": "f", "offset": 2}'
{"protocol_version":1,"status":"ok","message":"1 lines from line 2","truncated":false,"content":"c\n","details":{"offset":2,"lines":1,"total_lines":3}}
$ cordon tool read_file --arg path=f --arg offset=9
(the file has only 3 lines)
$ printf 'if x\n    y\n\n        z\nend\n' > f; cordon tool read_file --arg path=f --arg mode=indentation | sed 's/\t/|/'
0|if x
1|    y
1|
2|        z
0|end
$ seq 300 > f; cordon tool read_file --arg path=f | tail -n 2
200
[truncated] 100 more lines; continue with offset 200
$ head -c 500 /dev/zero | tr '\0' x > f; cordon tool read_file --arg path=f | tail -c 21
… [truncated line]
$ printf 'a\0b' > f; cordon tool read_file --arg path=f
cordon: 'f' is a binary file: it has NUL bytes; use a command such as file or xxd to inspect it [E_TOOL_VALIDATION]
? 15
$ printf 'a\377b\n' > f; cordon tool read_file --json '{"path":"f"}' | grep -o '"warnings":.*]'
"warnings":["the file is not UTF-8: 1 parts are shown as U+FFFD"]

## only regular files are read
$ mkfifo p; cordon tool read_file --arg path=p
cordon: 'p' is a named pipe, not a file [E_IO]
? 10
$ cordon tool read_file --arg path=/dev/zero --fs-mode unrestricted
cordon: '/dev/zero' is a device, not a file [E_IO]
? 10
$ cordon tool read_file --arg path=none
cordon: there is no file 'none' [E_NOT_FOUND]
? 18

## the boundary
$ ln -s /etc/passwd out; cordon tool read_file --arg path=out >/dev/null 2>&1; echo $?
13
$ cordon tool read_file --arg path=../x >/dev/null 2>&1; echo $?
13
$ cordon tool write_file --json '{"path": "/tmp/cordon-never", "content": ""}' >/dev/null; echo $?; test ! -e /tmp/cordon-never
13
$ mkdir w; cd w; git init -q .; cordon tool write_file --fs-mode workspace --json '{"path": "a", "content": ""}' | grep -o '"message":"[^"]*"'
"message":"'a' is read-only in this mode: write below the agent's workspace"
$ cd w; cordon tool write_file --fs-mode workspace --arg path=.cordon/workspaces/cordon/a --arg content=x
created '.cordon/workspaces/cordon/a': 1 bytes
$ cd w; cordon tool write_file --fs-mode workspace --workspace bot --arg path=.cordon/workspaces/bot/a --arg content=x
created '.cordon/workspaces/bot/a': 1 bytes
# --agent is the old name of --workspace
$ cd w; cordon tool write_file --fs-mode workspace --agent bot --arg path=.cordon/workspaces/bot/a --arg content=x
replaced '.cordon/workspaces/bot/a': 1 bytes

## write_file
$ cordon tool write_file --arg path=n/m/o --arg content=hello
created 'n/m/o': 5 bytes
$ cordon tool write_file --json '{"path": "n/m/o", "content": ""}'; cat n/m/o
{"protocol_version":1,"status":"ok","message":"replaced 'n/m/o': 0 bytes","truncated":false,"content":"replaced 'n/m/o': 0 bytes","details":{},"changes":{"files":[{"path":"n/m/o","action":"updated","bytes_written":0}]}}

$ cordon tool write_file --arg path=sub/ --arg content=x; test ! -e sub
cordon: path: 'sub/' names a directory, because it ends in '/'; name a file in it, such as "notes.txt" [E_TOOL_VALIDATION]
$ cordon tool write_file --approval always --arg path=sub/ --arg content=x 2>&1 | grep -o E_TOOL_VALIDATION
E_TOOL_VALIDATION
$ cordon tool write_file --fs-mode unrestricted --arg path=/proc/self/mem --arg content=x 2>&1 | sed 's/[0-9][0-9]*/N/'
cordon: 'proc/N/mem' is in a file system of the kernel, where files cannot be created or replaced [E_IO]
$ cordon tool write_file --fs-mode unrestricted --arg path=/proc/none --arg content=x 2>&1 | grep -o 'file system of the kernel'
file system of the kernel

## confirmation is needed, but there is no terminal
$ cordon tool write_file --approval always --arg path=c --arg content=x; test ! -e c
cordon: write_file needs consent (--approval always requires consent for every change), but there is no terminal to ask on: use --approval never to allow it [E_APPROVAL_REQUIRED]
$ touch .env; cordon tool read_file --approval on-request --arg path=.env >/dev/null 2>&1; echo $?; cordon tool read_file --json '{"path": ".env"}' | grep -c warnings
20
1

## events
$ touch e; cordon tool read_file --arg path=e --events log >/dev/null; cordon tool read_file --arg path=none --events log >/dev/null 2>&1; sed -E 's/"duration_us":[0-9]*/"duration_us":N/;s/"20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z"/"TIME"/;s/("run_id":")[0-9a-f-]{36}/\1ID/' log
{"type":"tool","time":"TIME","run_id":"ID","phase":"start","tool":"read_file","call":1}
{"type":"tool","time":"TIME","run_id":"ID","phase":"end","tool":"read_file","call":1,"duration_us":N,"bytes":20,"lines":1,"truncated":false,"files_changed":0}
{"type":"tool","time":"TIME","run_id":"ID","phase":"start","tool":"read_file","call":1}
{"type":"tool","time":"TIME","run_id":"ID","phase":"error","tool":"read_file","call":1,"duration_us":N,"bytes":30,"lines":1,"truncated":false,"files_changed":0,"error":{"code":"E_NOT_FOUND","message":"there is no file 'none'","context":{"path":"$T/none"}}}
$ grep -o '"run_id":"[^"]*"' log | uniq -c | grep -c ' 2 '
2

## missing arguments: still a result, and events
$ cordon tool list_dir --json @none --events log; mkdir d; cordon tool list_dir --json @d
{"protocol_version":1,"status":"error","code":"E_IO","message":"cannot open 'none': No such file or directory","truncated":false,"content":"error: cannot open 'none': No such file or directory","details":{"context":{"errno":"ENOENT"}}}
{"protocol_version":1,"status":"error","code":"E_IO","message":"cannot read 'd': Is a directory","truncated":false,"content":"error: cannot read 'd': Is a directory","details":{"context":{"errno":"EISDIR"}}}
? 10
$ grep -o '"phase":"[a-z]*","tool":"list_dir"' log
"phase":"start","tool":"list_dir"
"phase":"error","tool":"list_dir"
$ cordon tool list_dir --json '{}' --events d
{"protocol_version":1,"status":"error","code":"E_IO","message":"cannot write events to 'd': Is a directory","truncated":false,"content":"error: cannot write events to 'd': Is a directory","details":{"context":{"errno":"EISDIR"}}}
? 10
$ cordon tool list_dir --json '{}' --policy none | grep -o '"status":"error","code":"[A-Z_]*"'
"status":"error","code":"E_IO"
$ cordon tool list_dir --arg x --events log2; grep -c '"E_CLI_INVALID_ARG"' log2
cordon: invalid value for --arg: expected NAME=VALUE, not 'x' [E_CLI_INVALID_ARG]
1

## events into a pipe that is not read in time: lines are complete or missing
$ cat > calls.py <<'E'
> import json, os, subprocess
> os.mkfifo("pipe")
> end = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
> p = subprocess.Popen(["cordon", "tool", "--serve", "--events", "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
> def call(times):
>     for _ in range(times):
>         p.stdin.write(json.dumps({"name": "read_file", "arguments": {"path": "n" * 9000}}) + "\n")
>         p.stdin.flush()
>         p.stdout.readline()
> call(40)
> got = os.read(end, 1 << 20)
> call(2)
> p.communicate()
> got += os.read(end, 1 << 20)
> lines = [json.loads(line) for line in got.splitlines()]
> print(p.returncode, len(lines) < 84, lines[-1]["call"])
> E
> python3 calls.py
cordon: warning: cannot write events to 'pipe': Resource temporarily unavailable; some events are missing
0 True 42

## without a sandbox: only with every acknowledgement
$ cordon tool list_dir --no-sandbox
cordon: --no-sandbox requires --fs-mode unrestricted [E_CLI_INVALID_ARG]
? 12
$ cordon tool list_dir --no-sandbox --fs-mode unrestricted
cordon: commands without a sandbox have all your permissions: acknowledge this with --ack-unsafe-sandbox and --ack-unsafe-network [E_POLICY_DENIED]
? 2

## shell: both streams, the exit code, the root, the sandbox
$ cordon tool shell --json '{"command": "echo a; echo b >&2; exit 3"}' | sed 's/"duration_ms":[0-9]*/"duration_ms":N/'
{"protocol_version":1,"status":"error","code":"E_COMMAND_FAILED","message":"the command failed with exit status 3","truncated":false,"content":"a\n\n[stderr]\nb\n[the command failed with exit status 3]\n","details":{"exit_code":3,"duration_ms":N,"output_bytes":4,"denied":[]}}
$ cordon tool bash --arg cmd='echo x > made; cat made'
x
$ cordon tool shell --arg command='cat /etc/shadow' >/dev/null 2>&1; echo $?
6
$ cordon tool shell --arg command='git config --global user.name x; git config --global user.name'; test -e ~/.gitconfig; echo $?
x
1
$ cordon tool shell --arg command='echo x > /usr/never' 2>/dev/null | grep -o 'Read-only file system'
Read-only file system
$ mkdir sub; cordon tool shell --arg command='basename $PWD' --arg workdir=sub
sub
$ cordon tool shell --arg command=true --arg workdir=/etc >/dev/null 2>&1; echo $?
13
$ cordon tool shell --arg command= 2>&1 | grep -o '^[^;]*'
cordon: shell: command: 0 characters, at least 1 are needed

## shell: timeout, truncated output, progress bars, no input
# a busy machine may need longer for the first line
$ for ms in 500 5000 50000; do cordon tool shell --arg command='echo a; sleep 600' --arg timeout_ms=$ms >out 2>err; s=$?; grep -qx a out && break; done; sed "s/ $ms / N /" err out; (exit $s)
cordon: timeout: the command ran longer than N ms and was killed [E_COMMAND_TIMEOUT]
a
[timeout: the command ran longer than N ms and was killed]
? 4
$ cordon tool shell --json '{"command": "seq 5000"}' > r; grep -o '"truncated":true' r; wc -l < "$(grep -o '"log":"[^"]*' r | cut -c8-)"; grep -o '\[truncated\] 4800 lines, [0-9]* bytes left out; the complete output is in' r
"truncated":true
5000
[truncated] 4800 lines, 23002 bytes left out; the complete output is in
$ cordon tool shell --arg command='printf "10%%\r50%%\r100%%\n\033[31mred\033[0m\n"; cat'
100%
red

## rules are applied to every simple command
$ cordon tool shell --approval on-request --arg command='git status && rm -rf x'
cordon: shell needs consent (no rule allows 'git'), but there is no terminal to ask on: use --approval never to allow it [E_APPROVAL_REQUIRED]
? 20

## rules in the settings
$ mkdir -p home/.config/cordon; printf 'allow: ["shell:echo *", "write_file:src/"]\n' > home/.config/cordon/config.yaml
> cordon tool shell --approval on-request --arg command='echo a && echo b'
a
b
$ cordon tool shell --approval on-request --arg command='echo a && ls' 2>&1 | grep -o "no rule allows 'ls'"
no rule allows 'ls'
$ cordon tool write_file --approval on-request --arg path=src/x --arg content=x
created 'src/x': 1 bytes
$ ask() { printf 'allow: ["%s"]\n' "$1" > home/.config/cordon/config.yaml; cordon tool shell --approval on-request --arg command="$2" 2>&1 | sed 's/, but there is no terminal.*//'; }
> ask 'shell:test *' "test -v 'x[\$(touch pwn)]'"
> ask 'shell:printf *' "printf -v 'x[\$(touch pwn)]' %s y"
> ask 'shell:git *' "git -c alias.x='!touch pwn' x"
> ask 'shell:git *' "git fetch --upload-pack='touch pwn' ."
> ask 'shell:bash *' "bash <<<'touch pwn'"
> ask 'shell:printf -v x y' 'printf -v x y' && test ! -e pwn
cordon: shell needs consent (no pattern allows 'test' here: bash evaluates its arguments)
cordon: shell needs consent (no pattern allows 'printf' here: bash evaluates its arguments)
cordon: shell needs consent (no pattern allows 'git' here: a setting of git may run any command)
cordon: shell needs consent (no pattern allows 'git' here: git runs the program that it specifies)
cordon: shell needs consent (no pattern allows 'bash' here: it executes its input)
$ cordon tool shell --approval on-request --arg command='test -f README'
cordon: shell needs consent (no rule allows 'test'), but there is no terminal to ask on: use --approval never, or the rule shell:test -f README [E_APPROVAL_REQUIRED]
? 20
$ printf 'allow: ["shell:echo *", "write_file:src/"]\n' > home/.config/cordon/config.yaml
$ ln -s .. src/up; cordon tool write_file --approval on-request --arg path=src/up/y --arg content=x
cordon: write_file needs consent (no rule allows it), but there is no terminal to ask on: use --approval never, or the rule write_file:y [E_APPROVAL_REQUIRED]
? 20
$ printf 'allow: ["shell"]\n' > home/.config/cordon/config.yaml; cordon tool shell --arg command=true
cordon: $T/home/.config/cordon/config.yaml:1:9: allow[0]: 'shell' is not a rule: expected TOOL:PATTERN, such as "shell:git *" [E_CONFIG]
? 17
$ printf 'allow: ["shell:ls *"]\n' > home/.config/cordon/config.yaml; mkdir .cordon; printf 'allow: ["shell:rm *"]\n' > .cordon/config.yaml; cordon path root 2>&1 | grep -o "unknown key"
unknown key

## the approved path is the one used: directories, files with a warning, unprintable names
$ mkdir -p home/.config/cordon sub; printf 'allow: ["shell:./run *", "write_file:*"]\n' > home/.config/cordon/config.yaml
> cordon tool shell --approval on-request --arg command=./run --arg workdir=sub
cordon: shell needs consent (no rule allows 'cd'), but there is no terminal to ask on: use --approval never to allow it [E_APPROVAL_REQUIRED]
? 20
$ cordon tool write_file --approval on-request --arg path=.env --arg content=x
cordon: write_file needs consent (environment file: may hold secrets), but there is no terminal to ask on: use --approval never to allow it [E_APPROVAL_REQUIRED]
? 20
$ cordon tool write_file --approval on-request --json '{"path": "a\nb", "content": ""}' | grep -o 'a path that contains a newline' | head -n 1
a path that contains a newline
$ printf 'allow: ["write_stdin:ls *"]\n' > home/.config/cordon/config.yaml; cordon tool list_dir
cordon: $T/home/.config/cordon/config.yaml:1:9: allow[0]: 'write_stdin:ls *': no rule can allow write_stdin: the effect of typed input depends on the running program [E_CONFIG]
? 17

## line ends are kept; an empty path is an invalid argument; a signal has a code
$ printf 'a\r\nb\r\n' > f; cordon tool write_file --json '{"path": "f", "content": "c\nd\n"}' > /dev/null; od -c f | head -n 1
0000000   c  \r  \n   d  \r  \n
$ cordon tool read_file --arg path= 2>&1 | grep -o 'a path is empty'; cordon tool read_file --arg path= > /dev/null 2>&1; echo $?
a path is empty
15
$ cordon tool shell --json '{"command": "kill -9 $$"}' | grep -o '"exit_code":[0-9]*,"signal":9'
"exit_code":137,"signal":9

## --approval always asks before changes; on-request also before reading secrets
$ echo S=1 >.env; for m in never on-request always; do cordon tool read_file --json '{"path":".env"}' --approval $m | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d.get("code"), d["details"]["warnings"])'; done
ok None ['.env: environment file: may hold secrets']
error E_APPROVAL_REQUIRED ['.env: environment file: may hold secrets']
ok None ['.env: environment file: may hold secrets']
