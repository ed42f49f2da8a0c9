# Tools that change parts of files. See run.py for the format; tests/patch has more.

## a unified diff: the result lists changes and places
$ seq 9 > f; cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n'; sed -n 4p f
M f (+1 -1)
four
$ cordon tool apply_patch_json --json '{"patch": "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n 1\n+one\n 2\n"}'
{"protocol_version":1,"status":"ok","message":"1 file changed","truncated":false,"content":"M f (+1)\n","details":{"hunks":[{"path":"f","line":1,"matched":"exact"}]},"changes":{"files":[{"path":"f","action":"updated","bytes_written":25}]}}
$ cordon tool apply_patch_json --arg dry_run=true --arg patch=$'--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+x\n one\n'; head -n 1 f
M f (+1 -1)
1
$ cordon tool apply_patch_json --json '{"input": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+x\n one\n", "dry_run": true}'
{"protocol_version":1,"status":"ok","message":"dry run: 1 file would change","truncated":false,"content":"M f (+1 -1)\n","details":{"hunks":[{"path":"f","line":1,"matched":"exact"}],"dry_run":true}}

## a unified diff creates, deletes, renames and copies files, and changes modes
$ seq 2 > f; seq 3 > g; chmod 640 f; cordon tool apply_patch_json --arg patch=$'diff --git a/f b/d/h\nsimilarity index 50%\nrename from f\nrename to d/h\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/d/h\n@@ -1,2 +1,2 @@\n 1\n-2\n+b\ndiff --git a/g b/c\nsimilarity index 100%\ncopy from g\ncopy to c\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n'; stat -c '%a %n' d/h
R f -> d/h (+1 -1), executable
C g -> c (+0)
A n (+1)
750 d/h
$ cordon tool apply_patch_json --arg patch=$'diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n'; test ! -e g
D g (-3)

## two files from one, without rename headers
$ seq 3 > f; cordon tool apply_patch_json --arg patch=$'diff --git a/f b/y\n--- a/f\n+++ b/y\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\ndiff --git a/f b/z\n--- a/f\n+++ b/z\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n'; cat y z
D f (-0)
A y (+1 -1)
A z (+1 -1)
1
two
3
1
zwei
3

## line numbers must be correct; the nearest match is shown
$ seq 9 > f; cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 5\n-6\n+six\n 7\n'
cordon: the hunk at line 3 of the patch does not apply to 'f' at line 1: its lines are not there; the lines are at line 5, not 1: line numbers must be correct [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n 5\n-66\n+six\n 7\n'
cordon: the hunk at line 3 of the patch does not apply to 'f' at line 5: its lines are not there; the nearest is line 5, where line 6 differs: expected '66', found '6' [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --json '{"patch": "--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n 5\n-66\n+six\n 7\n"}'
{"protocol_version":1,"status":"error","code":"E_PATCH_APPLY","message":"the hunk at line 3 of the patch does not apply to 'f' at line 5: its lines are not there; the nearest is line 5, where line 6 differs: expected '66', found '6'","truncated":false,"content":"error: the hunk at line 3 of the patch does not apply to 'f' at line 5: its lines are not there; the nearest is line 5, where line 6 differs: expected '66', found '6'\nThe file from line 5 on, compared with the patch ('-' expected, '+' actual):\n     5   5\n       - 66\n     6 + 6\n     7   7\n","details":{"nearest":{"line":5,"differs_at":6,"difference":"changed_line","expected":"66","actual":"6"},"context":{"path":"f","line":3}}}
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -5,2 +5,2 @@\n 5\n-6\n+six\n'
cordon: the hunk at line 3 of the patch does not apply to 'f' at line 5: it has no context after its changes, and so must be at the end of the file [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -50,3 +50,3 @@\n a\n-2\n+two\n c\n'
cordon: the hunk at line 3 of the patch does not apply to 'f' at line 50: the file has fewer lines; no similar text found [E_PATCH_APPLY]
? 14
$ printf a > e; cordon tool apply_patch_json --arg patch=$'--- a/e\n+++ b/e\n@@ -1 +1 @@\n-a\n+b\n'
cordon: the end of a line differs (a missing newline at the end of the file, or CRLF): the hunk at line 3 of the patch does not apply to 'e' at line 1: its lines are not there [E_PATCH_APPLY]
? 14

## overlapping hunks
$ seq 9 > f; cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n'
cordon: the hunk at line 8 of the patch does not apply to 'f' at line 3: it overlaps a previous hunk [E_PATCH_APPLY]
? 14

## existing and missing files
$ seq 9 > f; cordon tool apply_patch_json --arg patch=$'--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n'
cordon: line 1 of the patch: 'f' already exists, but the diff creates it: change it with a diff of its lines, or delete it first [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n'
cordon: line 1 of the patch: there is no file 'g' to delete [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n'
cordon: the hunk at line 3 of the patch deletes 'f', but the file has additional lines [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\ndeleted file mode 100644\n'
cordon: line 1 of the patch: the diff deletes 'f', but does not remove all of its lines (18 bytes are left) [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+x\n'
cordon: line 4 of the patch: 'f' was renamed or deleted by an earlier part of the patch [E_PATCH_APPLY]
? 14
$ cksum < f
1428941051 18

## links, directories, paths outside
$ seq 9 > f; ln -s f l; mkdir d; echo x > d/x; ln -s d dl; cordon tool apply_patch_json --arg patch=$'--- a/l\n+++ b/l\n@@ -1 +1 @@\n-1\n+x\n'
cordon: line 1 of the patch: 'l' is a symbolic link to '$T/f': a patch changes files, not links; name the file itself [E_FS_VIOLATION]
? 13
$ cordon tool apply_patch_json --arg patch=$'--- a/dl/x\n+++ b/dl/x\n@@ -1 +1 @@\n-x\n+y\n'
cordon: line 1 of the patch: 'dl/x' is reached through a symbolic link [E_FS_VIOLATION]
? 13
$ cordon tool apply_patch_json --arg patch=$'--- a/d\n+++ b/d\n@@ -1 +1 @@\n-1\n+x\n'
cordon: line 1 of the patch: 'd' is a directory, not a file [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/../o\n+++ b/../o\n@@ -1 +1 @@\n-1\n+x\n'
cordon: line 1 of the patch: '../o' contains '..', and could lead outside the root [E_FS_VIOLATION]
? 13
$ cordon tool apply_patch_json --arg patch=$'--- a//etc/passwd\n+++ b//etc/passwd\n@@ -1 +1 @@\n-1\n+x\n'
cordon: line 1 of the patch: '/etc/passwd' is absolute: names in a diff are relative to the root [E_FS_VIOLATION]
? 13
$ cordon tool apply_patch_json --arg patch=$'--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n'
cordon: line 1 of the patch: '.git/hooks/x' is in a .git directory, which a patch cannot change [E_FS_VIOLATION]
? 13
$ cordon tool apply_patch_json --arg patch=$'diff --git a/s b/s\nnew file mode 120000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+f\n'
cordon: line 1 of the patch: 's' would become a symbolic link: patches create only regular files [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\nold mode 120000\nnew mode 100644\n'
cordon: line 1 of the patch: 'f' is a regular file, but the diff gives its mode as 120000 [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\nold mode 100644\nnew mode 120000\n'
cordon: line 1 of the patch: 'f' would change from mode 100644 to 120000, another file type [E_PATCH_APPLY]
? 14
$ cordon tool apply_patch_freeform --arg patch=$'*** Begin Patch\n*** Delete File: l\n*** End Patch\n'
cordon: line 2 of the patch: 'l' is a symbolic link to '$T/f': a patch changes files, not links; name the file itself [E_FS_VIOLATION]
? 13

## malformed diffs
$ seq 9 > f; cordon tool apply_patch_json --arg patch=$'hello'
cordon: no diff found: expected 'diff --git a/x b/x', or '--- a/x', '+++ b/x' and '@@ -1,2 +1,3 @@' [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'*** Begin Patch\n*** End Patch\n'
cordon: no diff found: expected 'diff --git a/x b/x', or '--- a/x', '+++ b/x' and '@@ -1,2 +1,3 @@'; this looks like a freeform patch: use apply_patch_freeform [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'@@ -1 +1 @@\n-1\n+x\n'
cordon: line 1 of the patch: a hunk without a file name before it [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n'
cordon: line 6 of the patch: the hunk of line 3 ends too early: 1 old and 2 new lines are missing; check the numbers after @@ [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\nx\n'
cordon: line 5 of the patch: 'x' is not valid in the hunk of line 3, whose header announces 3 old and 3 new lines: each line must start with ' ', '-' or '+', and the numbers must be correct [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+x'
cordon: line 5 of the patch: the last line is not terminated: add a newline to the patch [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -1 +1 @@\n 1\n'
cordon: line 5 of the patch: the hunk of line 3 changes nothing [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'--- a/f\n+++ b/f\n@@ -x +1 @@\n 1\n'
cordon: line 3 of the patch: invalid hunk header: expected a line such as '@@ -1,2 +1,3 @@' [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\nindex 1..2 100644\n'
cordon: line 3 of the patch: the diff at line 1 changes nothing: there is no hunk (@@ -1,2 +1,3 @@) after its header [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/g\nrename from f\nrename to g\nnew file mode 100644\n'
cordon: line 4 of the patch: this contradicts line 2: a file can be only one of created, deleted, renamed and copied [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\nnew file mode 100644\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n'
cordon: line 3 of the patch: expected /dev/null as the old name [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/g\nold mode 100644\nnew mode 100755\n'
cordon: line 1 of the patch: the header has no file name (names look like a/x and b/x) [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\nold mode x\n'
cordon: line 2 of the patch: the mode is not an octal number [E_PATCH_PARSE]
? 14
$ cordon tool apply_patch_json --arg patch=$'diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\n'
cordon: line 3 of the patch: 'f' is changed as binary, which is not supported: write the file with a command instead [E_PATCH_PARSE]
? 14

## a freeform patch: the result tells how each hunk matched, and what it replaced
$ printf 'a \nb\n' > f; cordon tool apply_patch_freeform --json '{"patch": "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** Add File: n\n+1\n*** End Patch"}'
{"protocol_version":1,"status":"ok","message":"2 files changed","truncated":false,"content":"M f (+1 -1)\nA n (+1)\nthe hunk at line 3 of the patch matched 'f' at line 1 ignoring trailing blanks\n","details":{"hunks":[{"path":"f","line":1,"matched":"trailing_blanks"}]},"changes":{"files":[{"path":"f","action":"updated","bytes_written":5},{"path":"n","action":"created","bytes_written":2}]}}
$ cordon tool apply_patch_freeform --arg patch=$'*** Begin Patch\n*** Add File: n\n+2\n*** Update File: f\n*** Move to: d/g\n@@\n-c\n+d\n*** End Patch'
M n (+1), replaced the existing file
R f -> d/g (+1 -1)

## edit_file
$ printf 'one\ntwo\ntwo\n' > f; cordon tool edit_file --arg path=f --arg old_string=one --arg new_string=1; cat f
M f (+1 -1)
1
two
two
$ cordon tool edit_file --arg path=f --arg old_string=two --arg new_string=2
cordon: old_string occurs in 'f' 2 times (lines 2, 3): add context to it, or set replace_all [E_PATCH_APPLY]
? 14
$ cordon tool edit --json '{"file_path": "f", "old_string": "two", "new_string": "2", "replace_all": true}'; cat f
{"protocol_version":1,"status":"ok","message":"1 file changed","truncated":false,"content":"M f (+2 -2)\n","details":{"hunks":[{"path":"f","line":2,"matched":"exact"},{"path":"f","line":3,"matched":"exact"}],"replacements":2},"changes":{"files":[{"path":"f","action":"updated","bytes_written":6}]}}
1
2
2
$ cordon tool edit_file --arg path=f --arg old_string= --arg new_string=2
cordon: old_string is empty: give the text to replace, or use write_file for a new file [E_TOOL_VALIDATION]
? 15
$ cordon tool edit_file --arg path=f --arg old_string=2 --arg new_string=2
cordon: old_string and new_string are the same: nothing would change [E_TOOL_VALIDATION]
? 15
$ cordon tool edit_file --arg path=none --arg old_string=1 --arg new_string=2
cordon: there is no file 'none' [E_NOT_FOUND]
? 18
$ printf 'if (x)\n\treturn 1;\n' > c; cordon tool edit_file --arg path=c --arg old_string=$'if (x)\n    return 1;' --arg new_string=x
cordon: old_string was not found in 'c'; the nearest is line 1, where line 2 differs only in white space: expected '    return 1;', found '\treturn 1;' [E_PATCH_APPLY]
? 14
$ printf 'a\r\nb\r\nc\n' > w; cordon tool edit_file --arg path=w --arg old_string=$'a\nb' --arg new_string=$'x\ny'; od -c w
M w (+2 -2)
0000000   x  \r  \n   y  \r  \n   c  \n
0000010
$ cordon tool edit_file --arg path=w --arg dry_run=true --arg old_string=c --arg new_string=d; tail -n 1 w
M w (+1 -1)
c

## confirmation is requested for the paths of the patch
$ cordon tool apply_patch_freeform --approval always --arg patch=$'*** Begin Patch\n*** Add File: n\n+1\n*** End Patch'; test ! -e n
cordon: apply_patch_freeform needs consent (--approval always requires consent for every change), but there is no terminal to ask on: use --approval never to allow it [E_APPROVAL_REQUIRED]

## a model service gets the grammar
$ cordon tools --json | python3 -c 'import json, sys; [print(t["format"]["type"], t["format"]["syntax"], t["format"]["definition"].split(chr(10))[0]) for t in json.load(sys.stdin)["tools"] if "format" in t]'
grammar lark start: begin_patch hunk+ end_patch
