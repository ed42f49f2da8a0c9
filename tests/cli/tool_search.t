# grep_files and glob_files, as a model calls them. See run.py for the format.

## lines, sorted by path bytes and then by number, relative to the root
$ mkdir -p s/b s/B; printf 'one\ntwo\none two\n' > s/b/f; printf 'one\n' > s/B/g; printf 'one' > s/b.c; cordon tool grep_files --arg pattern=one
s/B/g:1:one
s/b.c:1:one
s/b/f:1:one
s/b/f:3:one two
$ cordon tool grep --json '{"pattern": "t[uvw]o$", "file_path": "s/b"}'
{"protocol_version":1,"status":"ok","message":"2 matching lines in 1 file","truncated":false,"content":"s/b/f:2:two\ns/b/f:3:one two\n","details":{"matches":2,"files":1,"shown":2,"files_searched":1}}
$ cordon tool grep_files --arg pattern=two --arg path=s/b/f
s/b/f:2:two
s/b/f:3:one two
$ cordon tool grep_files --arg pattern=three
(no line matches; 3 files were searched)

## ignore case, literal text, CRLF lines, bytes that are not UTF-8
$ printf 'One (x)\r\nend\r\n' > f; cordon tool grep_files --arg pattern='x)' --arg literal=true | od -c | head -n 2
0000000   f   :   1   :   O   n   e       (   x   )  \n
0000014
$ cordon tool grep_files --arg pattern='ONE.*\)$' --arg ignore_case=true --arg path=f
f:1:One (x)
$ printf 'a\377b here\n' > f; cordon tool grep_files --arg pattern='b here' --arg path=f
f:1:a�b here

## context lines
$ printf 'a\nb\nc\nd\ne\nf\ng\nh\n' > f; cordon tool grep_files --arg pattern='[cg]' --arg context=1 --arg path=f
f-2-b
f:3:c
f-4-d
--
f-6-f
f:7:g
f-8-h
$ cordon tool grep_files --arg pattern='[ce]' --arg context=1 --arg path=f
f-2-b
f:3:c
f-4-d
f:5:e
f-6-f

## file selection: globs, one or several, ! excludes; ignore files; hidden and binary files
$ mkdir -p i/d i/.h i/.git i/node_modules; for f in i/a.c i/a.h i/d/b.c i/.h/c.c i/.git/x.c i/node_modules/y.c i/o.o; do echo hit > $f; done; printf '*.o\n' > i/.gitignore; printf 'hit\0' > i/bin; ln -s /etc/passwd i/link; mkfifo i/pipe; cd i; cordon tool grep_files --arg pattern=hit --arg include='*.c'
.h/c.c:1:hit
a.c:1:hit
d/b.c:1:hit
$ cd i; cordon tool grep_files --json '{"pattern": "hit", "include": ["*.h", "d/**"]}' | grep -o '"content":"[^"]*"'
"content":"a.h:1:hit\nd/b.c:1:hit\n"
$ cd i; cordon tool grep_files --json '{"pattern": "hit", "include": ["*.c", "!d/*"]}' | grep -o '"content":"[^"]*"'
"content":".h/c.c:1:hit\na.c:1:hit\n"
$ cd i; cordon tool grep_files --arg pattern=hit | cut -d: -f1
.h/c.c
a.c
a.h
d/b.c
$ cordon tool grep_files --arg pattern=hit --arg path=i/bin
cordon: 'i/bin' is a binary file: it has NUL bytes, and is not searched [E_TOOL_VALIDATION]
? 15

## the limit, the caps, long lines
$ seq 300 > f; cordon tool grep_files --arg pattern=1 --arg limit=2 --arg path=f
f:1:1
f:10:10
[truncated] 2 of more than 2 matching lines shown; narrow the pattern, path or include, or raise limit
$ cordon tool grep_files --json '{"pattern": "^", "path": "f", "limit": 300}' | grep -o '"truncated":true\|.truncated. 200 of 300[^"]*\|"message":"[^"]*"'
"message":"300 matching lines in 1 file"
"truncated":true
[truncated] 200 of 300 matching lines shown; narrow the pattern, path or include\n
$ { head -c 300000 /dev/zero | tr '\0' x; printf 'needle'; head -c 300000 /dev/zero | tr '\0' y; } > f; cordon tool grep_files --arg pattern=needle --arg path=f | sed 's/xx*/x/;s/yy*/y/'
f:1:… xneedley… [truncated line]
$ cordon tool grep_files --arg pattern='^needle|^y|x$' --arg path=f
(no line matches; 1 files were searched)

## a pattern that is invalid, spans lines, or is too expensive
$ cordon tool grep_files --arg pattern='a(b'
cordon: invalid pattern at character 4: missing closing parenthesis [E_TOOL_VALIDATION]
? 15
$ cordon tool grep_files --arg pattern='a\nb'
cordon: the pattern contains a newline, but lines are searched one by one: search for one of the lines [E_TOOL_VALIDATION]
? 15
$ head -c 5000 /dev/zero | tr '\0' a > f; cordon tool grep_files --json '{"pattern": "(a+)+$|(a+)+b\\1", "path": "f"}' | grep -o '"warnings".*]'
"warnings":["1 lines are longer than 400 bytes and were cut"]
$ cordon tool grep_files --json '{"pattern": "^(a|aa)+[^a]$", "path": "f"}' | grep -o '"warnings".*]'
"warnings":["f: the pattern takes too much time at line 1, so lines may be missing"]
$ cordon tool grep_files --arg pattern=x --arg include='[a'; cordon tool grep_files --arg pattern=x --arg include=../a
cordon: include: the pattern '**/[a' has a '[' without a ']', or a '\' at its end (for a literal '[' use '\[') [E_TOOL_VALIDATION]
cordon: include: the pattern '../a' has a '..' component; patterns cannot leave the root [E_FS_VIOLATION]
? 13
$ cordon tool grep_files --json '{"pattern": "x", "include": 5}' | grep -o 'expected a string or a list of strings, found an integer' | uniq
expected a string or a list of strings, found an integer
$ cordon tools --json | grep -o '"include":{"anyOf":\[{"type":"string"},{"type":"array","items":{"type":"string"}'
"include":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}

## the timeout
$ mkdir many; for i in $(seq 40); do seq 20000 > many/$i; done; cordon tool grep_files --json '{"pattern": "(?=x)y", "path": "many", "timeout_ms": 1}' | grep -o 'stopped at the timeout\|"timed_out":true' | sort
"timed_out":true
stopped at the timeout

## files that often hold secrets
$ mkdir e; echo KEY=hit > e/.env; cd e; cordon tool grep_files --json '{"pattern": "hit"}' | grep -c '.env:1:KEY=hit.*warnings'
1
$ cd e; cordon tool grep_files --approval on-request --json '{"pattern": "hit"}' | grep -o '"content":"[^"]*"\|its lines are omitted: read_file asks for consent'
"content":"(no line matches; 1 files were searched)\n"
its lines are omitted: read_file asks for consent
$ cd e; cordon tool grep_files --approval on-request --arg pattern=hit --arg path=.env >/dev/null 2>&1; echo $?
20

## the boundary
$ cordon tool grep_files --arg pattern=root --arg path=/etc/passwd >/dev/null 2>&1; echo $?; cordon tool grep_files --arg pattern=root --arg path=none; cordon tool glob_files --arg pattern='*' --arg path=.. >/dev/null 2>&1; echo $?
13
cordon: there is no file 'none' [E_NOT_FOUND]
13

## glob_files
$ mkdir -p g/d; touch g/a.c g/d/b.c g/d/b.h g/.x.c; echo '*.h' > g/.gitignore; cordon tool glob_files --arg pattern='**/*.{c,h}' --arg path=g
g/.x.c
g/a.c
g/d/b.c
$ cd g; cordon tool glob --json '{"pattern": "*.c"}'
{"protocol_version":1,"status":"ok","message":"2 files","truncated":false,"content":".x.c\na.c\n","details":{"files":2,"shown":2}}
$ cd g; cordon tool glob_files --arg pattern='**' --arg limit=1
.gitignore
[truncated] 1 of more than 1 files shown; narrow the pattern or the path, or raise limit
$ cordon tool glob_files --arg pattern='*.none' --arg path=g; cordon tool glob_files --arg pattern='**/*.none' --arg path=g
(no file matches; without a leading **/ only the directory itself is searched)
(no file matches)
$ mkdir empty; cordon tool glob_files --arg pattern='**' --arg path=empty; cordon tool glob_files --arg pattern='**x' --arg path=empty
(no file matches)
(no file matches)
$ mkdir l; cd l; touch $(seq 300); cordon tool glob_files --arg pattern='*' --arg limit=1000 | tail -n 1
[truncated] 200 of 300 files shown; narrow the pattern or the path
$ cordon tool glob_files --arg pattern='[a'; cordon tool glob_files --arg pattern='/etc/*'
cordon: the pattern '[a' has a '[' without a ']', or a '\' at its end (for a literal '[' use '\[') [E_TOOL_VALIDATION]
cordon: the pattern '/etc/*' is absolute; patterns are relative to the root [E_FS_VIOLATION]
? 13
$ cordon tool glob_files --arg pattern='*' --arg path=g/a.c; cordon tool glob_files --arg pattern='*' --arg path=none
cordon: 'g/a.c' is not a directory [E_TOOL_VALIDATION]
cordon: there is no directory 'none' [E_NOT_FOUND]
? 18
