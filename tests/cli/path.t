# cordon path. See run.py for the format.

## encode and decode
$ cordon path encode '/home/user/my dir'
^2Fhome^2Fuser^2Fmy^20dir
$ cordon path decode '^2Fhome^2Fuser^2Fmy^20dir'
/home/user/my dir
$ cordon path encode /données --json
{"protocol_version":1,"input":"/données","output":"^2Fdonn^E9es"}
$ cordon path encode ''
 (esc)
$ test "$(cordon path decode "$(cordon path encode $'a\xff\nb')")" = $'a\xff\nb' && echo same
same

## bytes that are not UTF-8 are also exact in JSON
$ cordon path encode $'/a\xff' --json
{"protocol_version":1,"input":"/a�","inexact":{"input":"^2Fa^xFF"},"output":"^2Fa^xFF"}
$ cordon path decode '^xFF' --json
{"protocol_version":1,"input":"^xFF","output":"�","inexact":{"output":"^xFF"}}

## an invalid encoding is exit 12
$ cordon path decode '^2'
cordon: '^2' is not a valid caret encoding: the encoding ends within the sequence at byte 0, which needs 2 hex digits [E_CLI_INVALID_ARG]
? 12
$ cordon path decode 'a^00'
cordon: 'a^00' is not a valid caret encoding: the sequence at byte 1 is NUL, which a path cannot contain [E_CLI_INVALID_ARG]
? 12
$ cordon path decode '^hD800' --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_CLI_INVALID_ARG","message":"'^hD800' is not a valid caret encoding: U+D800 at byte 0 is not a valid character (a surrogate)","context":{"position":0}}}
? 12

## a long path as a directory entry
$ cordon path encode --name "$(printf '/%0300d' 7)" | tr -d '\n' | wc -c
255
$ cordon path encode --name /short
^2Fshort

## parse
$ cordon path parse ./app:rw:force
path   $T/app
mode   rw
force  yes
$ cordon path parse ./app --json
{"protocol_version":1,"path":"$T/app","mode":"","force":false}
$ cordon path parse :copy --json
{"protocol_version":1,"path":"$T","mode":"copy","force":false}
$ cordon path parse /a:b:overlay --json
{"protocol_version":1,"path":"/a:b","mode":"overlay","force":false}
$ cordon path parse ./app:copy:rw
cordon: './app:copy:rw' has both :copy and :rw; use only one of them [E_CLI_INVALID_ARG]
? 12

## root
$ mkdir -p p/.git p/a/b q/x && touch q/go.mod p/a/package.json
$ cordon path root p/a/b
$T/p
$ cd p/a/b && cordon path root --json
{"protocol_version":1,"root":"$T/p","marker":".git"}
$ cordon path root q/x --json
{"protocol_version":1,"root":"$T/q","marker":"go.mod"}
$ mkdir -p plain/dir && cordon path root plain/dir --json
{"protocol_version":1,"root":"$T/plain/dir","marker":""}
$ cordon path root nowhere
cordon: cannot use 'nowhere' as a directory: No such file or directory [E_IO]
? 10
$ cordon path root q/go.mod
cordon: cannot use 'q/go.mod' as a directory: Not a directory [E_IO]
? 10
$ ln -s loop loop; cordon path root loop
cordon: cannot use 'loop' as a directory: Too many levels of symbolic links [E_IO]
? 10

## root: a worktree's .git file counts, home never does
$ mkdir -p w/sub && echo 'gitdir: /nowhere' > w/.git && cordon path root w/sub
$T/w
$ mkdir -p home/.git home/work && cordon path root home/work
$T/home/work
$ cordon path root home
$T/home

## root: markers from the settings
$ mkdir -p p/sub/deep p/.cordon home/.config/cordon && touch p/sub/MARK
$ cordon path root p/sub/deep
$T/p
$ echo 'project_markers: [MARK]' > home/.config/cordon/config.yaml && cordon path root p/sub/deep --json
{"protocol_version":1,"root":"$T/p/sub","marker":"MARK"}
$ rm home/.config/cordon/config.yaml; echo 'project_markers: [MARK]' > p/.cordon/config.yaml; cordon path root p/sub/deep
$T/p/sub
$ mkdir -p x/cordon && echo 'project_markers: [none]' > x/cordon/config.yaml && XDG_CONFIG_HOME=$T/x cordon path root p/sub/deep
$T/p/sub

## invalid settings are exit 17, with their position
$ mkdir -p home/.config/cordon && cd home/.config/cordon && printf 'project_marker: []\n' > config.yaml && cordon path root
cordon: $T/home/.config/cordon/config.yaml:1:1: project_marker: unknown key; did you mean 'project_markers'? [E_CONFIG]
? 17
$ cd home/.config/cordon && printf 'project_markers: [a/b]\n' > config.yaml && cordon path root
cordon: $T/home/.config/cordon/config.yaml:1:19: project_markers[0]: 'a/b' is not a single file name [E_CONFIG]
? 17
$ cd home/.config/cordon && printf 'project_markers: x\n' > config.yaml && cordon path root 2>&1 | grep -c 'config.yaml:1:1: project_markers'
1
$ cd home/.config/cordon && printf 'a: *x\n' > config.yaml && cordon path root
cordon: .*config.yaml:1:4: .* \[E_CONFIG\] (re)
? 17

## settings: an empty file is valid, a directory is not
$ mkdir -p home/.config/cordon p/.git && printf '# nothing yet\n\n' > home/.config/cordon/config.yaml && cordon path root p
$T/p
$ : > home/.config/cordon/config.yaml && cordon path root p
$T/p
$ rm home/.config/cordon/config.yaml && mkfifo home/.config/cordon/config.yaml && cordon path root p
cordon: '$T/home/.config/cordon/config.yaml' is not a regular file of at most 1048576 bytes [E_CONFIG]
? 17
$ rm home/.config/cordon/config.yaml && mkdir home/.config/cordon/config.yaml && cordon path root p
cordon: '$T/home/.config/cordon/config.yaml' is not a regular file of at most 1048576 bytes [E_CONFIG]
? 17

## resolve and check inside
$ mkdir -p p/.git p/src && touch p/src/main.c && ln -s "$T/p/src" p/abs && ln -s src/main.c p/rel
$ cd p/src && cordon path resolve main.c
$T/p/src/main.c
$ cd p && cordon path resolve abs/main.c --json
{"protocol_version":1,"path":"$T/p/src/main.c","class":"user_project","access":"ro"}
$ cd p && cordon path resolve rel
$T/p/src/main.c
$ cd p && cordon path resolve not/there/yet --json
{"protocol_version":1,"path":"$T/p/not/there/yet","class":"user_project","access":"ro"}
$ cd p && cordon path check src/main.c
user_project  ro
$T/p/src/main.c
$ cd p && cordon path check src/main.c --json
{"protocol_version":1,"path":"$T/p/src/main.c","class":"user_project","access":"ro","warnings":[]}
$ cd p/src && cordon path check .. --json
{"protocol_version":1,"path":"$T/p","class":"user_project","access":"ro","warnings":[]}
$ cd p && touch v1..alpha && cordon path check v1..alpha | head -n 1
user_project  ro

## check warns of files that often hold secrets
$ mkdir -p p/.git && cd p && cordon path check .env --json
{"protocol_version":1,"path":"$T/p/.env","class":"user_project","access":"ro","warnings":["environment file: may hold secrets"]}
$ cd p && cordon path check sub/config.json | tail -n 1
warning: configuration file: may hold credentials
$ cd p && ln -s .env plain && touch .env && cordon path check plain | tail -n 1
warning: environment file: may hold secrets

## check outside is exit 13 with the class
$ mkdir -p p/.git p-evil && cd p && cordon path check /etc/passwd --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_FS_VIOLATION","message":"'/etc/passwd' is outside the boundary '$T/p'; class: system_restricted, which --allow-system lets you read","context":{"path":"/etc/passwd","resolved":"/etc/passwd","class":"system_restricted","access":"none"}}}
? 13
$ cd p && cordon path check ../p-evil/x
cordon: '../p-evil/x' is outside the boundary '$T/p': it leads to '$T/p-evil/x'; class: outside_boundaries [E_FS_VIOLATION]
? 13
$ cd p && cordon path check '~/.ssh/id_rsa' --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_FS_VIOLATION","message":"'~/.ssh/id_rsa' starts with '~', the home directory, which is outside the boundary; for a file of that name use './~/.ssh/id_rsa'; class: outside_boundaries","context":{"path":"~/.ssh/id_rsa","class":"outside_boundaries","access":"none"}}}
? 13
$ cd p && ln -s /etc e && cordon path resolve e/passwd
cordon: 'e/passwd' is outside the boundary '$T/p': it leads to '/etc/passwd'; class: system_restricted, which --allow-system lets you read [E_FS_VIOLATION]
? 13
$ cd p && cordon path resolve "/proc/self/root$T/p"
cordon: '/proc/self/root$T/p' is outside the boundary '$T/p'; class: system_restricted [E_FS_VIOLATION]
? 13
$ cd p && cordon path resolve --allow-system /etc/passwd --json
{"protocol_version":1,"path":"/etc/passwd","class":"system_restricted","access":"ro"}

## magic links do not bypass the boundary, in system directories or elsewhere
$ mkdir -p p/.git p/src && touch p/src/f && cd p && cordon path resolve --allow-system /proc/self/root/etc/passwd
cordon: '/proc/self/root/etc/passwd' is outside the boundary '\$T/p': it leads to '/proc/[0-9]+/root'; class: system_restricted \[E_FS_VIOLATION\] (re)
? 13
$ cd p && cordon path resolve --allow-system /proc/self/cwd/src/f 2>&1 | grep -c E_FS_VIOLATION
1
$ cd p && cordon path resolve --allow-system /proc/self/status
/proc/[0-9]+/status (re)

## a project cannot widen its own boundary
$ mkdir -p w/secret w/evil/.cordon && echo 'project_markers: [secret]' > w/evil/.cordon/config.yaml
$ cd w/evil && cordon path root
$T/w/evil
$ cd w/evil && cordon path check ../secret/key
cordon: '../secret/key' is outside the boundary '$T/w/evil': it leads to '$T/w/secret/key'; class: outside_boundaries [E_FS_VIOLATION]
? 13

## it works without a home directory
$ mkdir -p p/.git && cd p && env -u HOME setpriv --reuid=54321 --regid=54321 --clear-groups cordon path check x 2>&1 | head -n 1
user_project  ro

## names that are not UTF-8 are also exact in errors
$ mkdir -p p/.git && cd p && cordon path check --json $'/no\xff' 2>/dev/null
{"protocol_version":1,"error":{"code":"E_FS_VIOLATION","message":"'/no�' is outside the boundary '$T/p'; class: outside_boundaries","context":{"path":"/no�","resolved":"/no�","class":"outside_boundaries","access":"none","inexact":{"path":"^2Fno^xFF","resolved":"^2Fno^xFF"}}}}
? 13

## paths that do not resolve
$ mkdir -p p/.git && touch p/file && ln -s b p/a && ln -s a p/b && ln -s gone p/dangling && ln -s ../gone p/out
$ cd p && cordon path resolve a
cordon: cannot resolve 'a': Too many levels of symbolic links [E_IO]
? 10
$ cd p && cordon path resolve file/x
cordon: cannot resolve 'file/x': Not a directory [E_IO]
? 10
$ cd p && cordon path resolve dangling
$T/p/gone
$ cd p && cordon path resolve out
cordon: 'out' is outside the boundary '$T/p': it leads to '$T/gone'; class: outside_boundaries [E_FS_VIOLATION]
? 13
$ cd p && cordon path resolve ''
cordon: the path is empty [E_CLI_INVALID_ARG]
? 12
$ cd p && cordon path resolve "$(printf '%0300d' 1)" 2>&1 | grep -o 'File name too long.*'
File name too long [E_IO]

## an agent's workspace
$ mkdir -p p/.git p/src && cd p/src && cordon path check --workspace bot notes.md --json
{"protocol_version":1,"path":"$T/p/.cordon/workspaces/bot/notes.md","class":"agent_workspace","access":"rw","warnings":[]}
$ cat p/.cordon/.gitignore && ls -d p/.cordon/workspaces/bot
*
p/.cordon/workspaces/bot
$ cd p && cordon path resolve --workspace bot ../other/x 2>&1
cordon: '../other/x' is outside the boundary '$T/p/.cordon/workspaces/bot': it leads to '$T/p/.cordon/workspaces/other/x'; class: user_project [E_FS_VIOLATION]
? 13
$ cd p && cordon path resolve --workspace bot "$T/p/src"
cordon: '$T/p/src' is outside the boundary '$T/p/.cordon/workspaces/bot'; class: user_project [E_FS_VIOLATION]
? 13
$ cd p && cordon path check --workspace bot --json src 2>/dev/null | grep -o '"class":"[a-z_]*"'
"class":"agent_workspace"
$ cd p && cordon path check --workspace bot --json ../../../src 2>/dev/null | grep -o '"class":"[a-z_]*","access":"[a-z]*"'
"class":"user_project","access":"none"
$ cd p && touch .cordon/workspaces/file.txt && cordon path check .cordon/workspaces/file.txt | head -n 1
user_project  ro
$ cd p && cordon path check .cordon/workspaces/bot/x | head -n 1
agent_workspace  rw
$ cd p && cordon path check --workspace ../evil x 2>&1 | cut -c 1-61
cordon: --workspace: '../evil' is not a valid workspace name:
# --agent is the old name of --workspace, and messages name the option as it was typed
$ cd p && cordon path check --agent bot .env.txt | head -n 1; cordon path resolve --agent=bot x
agent_workspace  rw
$T/p/.cordon/workspaces/bot/x
$ cd p && cordon path check --agent ../evil x 2>&1 | cut -c 1-57
cordon: --agent: '../evil' is not a valid workspace name:
$ for c in check resolve; do cordon path $c --help | grep -- '--agent'; done
? 1
$ rm -r p/.cordon && ln -s "$T" p/.cordon && cd p && cordon path check --workspace bot x
cordon: '.cordon/config.yaml' is reached through a symbolic link, which is not followed there: make it a regular file in a real directory (project settings cannot be skipped: correct or remove '$T/p/.cordon') [E_CONFIG]
? 17
$ rm p/.cordon && mkdir p/.cordon && ln -s "$T" p/.cordon/workspaces && cd p && cordon path check --workspace bot x
cordon: 'workspaces' in the path of the workspace is not a directory [E_FS_VIOLATION]
? 13

## nothing is created under HOME
$ mkdir -p p/.git && cd p && touch a.c && cordon path glob '*' && cordon path check a.c | head -n 1 && cordon path root
a.c
user_project  ro
$T/p
$ find home -mindepth 1

## glob
$ mkdir -p p/.git/info p/src/net p/build p/node_modules/x p/.cordon && cd p && touch src/a.c src/net/b.c src/net/b.h build/o.c x.log .hidden.c node_modules/x/i.c && printf 'build/\n*.log\n' > .gitignore && printf 'src/net/*.h\n' > .cordonignore
$ cd p && cordon path glob '**/*.c'
.hidden.c
src/a.c
src/net/b.c
$ cd p/src && cordon path glob '**' --json
{"protocol_version":1,"root":"$T/p","matches":[".cordonignore",".gitignore",".hidden.c","src/a.c","src/net/b.c"]}
$ cd p && cordon path glob './src/{a,net/b}.{c,h}'
src/a.c
src/net/b.c
$ cd p && cordon path glob "$T/p/src/*.c"
src/a.c
$ cd p && cordon path glob 'nothing*' --json
{"protocol_version":1,"root":"$T/p","matches":[]}
$ cd p && cordon path glob 'nothing*'
$ cd p && cordon path glob 'node_modules/**'
$ cd p && cordon path glob '../*'
cordon: .*E_FS_VIOLATION\] (re)
? 13
$ cd p && cordon path glob '/etc/*'
cordon: .*E_FS_VIOLATION\] (re)
? 13
$ cd p && cordon path glob '~/*'
cordon: .*E_FS_VIOLATION\] (re)
? 13
$ cd p && cordon path glob 'a['
cordon: the pattern 'a[' has a '[' without a ']', or a '\' at its end (for a literal '[' use '\[') [E_CLI_INVALID_ARG]
? 12
$ cd p && cordon path glob ''
cordon: .*E_CLI_INVALID_ARG\] (re)
? 12

## glob: links to files inside count, others don't
$ mkdir -p p/.git p/d && cd p && touch real && ln -s real rel && ln -s "$T/p/real" abs && ln -s /etc/passwd out && ln -s d dir && ln -s gone dangling && ln -s l1 l2 && ln -s l2 l1 && ln -s ../p/real back
$ cd p && cordon path glob '*'
abs
back
real
rel

## glob: a directory called .git does not hide the rules of the repository around it
$ git init -q outer && echo '*.secret' > outer/.gitignore && mkdir -p outer/sub/.git && touch outer/sub/a.secret outer/sub/b
$ cd outer/sub && cordon path glob '*'
b

## glob: directories that are too deep are reported
$ mkdir -p p/.git && cd p && d=. && for i in $(seq 300); do d=$d/d; done && mkdir -p "$d" && touch "$d/f" && cordon path glob '**/f' 2>&1 | grep -o ': nested too deeply'
: nested too deeply
$ cd p && cordon path glob '**/f' --json 2>/dev/null | grep -c '"matches":\[\],"left_out":\["d/d/'
1

## glob: difficult names
$ mkdir -p p/.git && cd p && touch $'new\nline' $'raw\xff'
$ cd p && cordon path glob -0 '*' | od -c | head -n 2
0000000   n   e   w  \\n   l   i   n   e  \\0   r   a   w 377  \\0 (re)
0000016
$ cd p && cordon path glob '*' --json
{"protocol_version":1,"root":"$T/p","matches":["new\nline","raw�"],"inexact":{"matches[1]":"raw^xFF"}}
$ cd p && script -qec "cordon path glob '*'" /dev/null </dev/null | tr -d '\r'
new\nline
raw\xFF

## glob: huge patterns terminate
$ mkdir -p p/.git && cd p && touch a && cordon path glob "$(printf '%*s' 10000 '' | tr ' ' '*')"
a
$ cd p && ulimit -t 10 && cordon path glob "$(printf '*a%.0s' $(seq 3000))x"
$ cd p && ulimit -t 10 && cordon path glob "$(printf '{a,b}%.0s' $(seq 60))"
cordon: .*E_CLI_INVALID_ARG\] (re)
? 12

## an unreadable journal is reported, and does not block anything
$ mkdir -p p/.git state/journal/0123456789abcdef.journal && cd p && CORDON_HOME=$T/state cordon path glob '*'
cordon: warning: 1 journal cannot be used, and nothing was changed: '$T/state/journal/0123456789abcdef.journal' (it cannot be opened: Is a directory); inspect it, then remove it
