# cordon box list, show, diff, apply. See run.py for the format.

## no boxes: listing creates nothing
$ cordon box list
there are no boxes yet: create one with 'cordon box new NAME DIR'
$ cordon box list --json
{"protocol_version":1,"boxes":[]}
$ cordon box list --names
$ for c in show diff apply; do cordon box $c x; done
cordon: no such box 'x'; 'cordon box list' lists all boxes [E_NOT_FOUND]
cordon: no such box 'x'; 'cordon box list' lists all boxes [E_NOT_FOUND]
cordon: no such box 'x'; 'cordon box list' lists all boxes [E_NOT_FOUND]
? 18
$ ls -A home

## invalid command lines
$ cordon box diff
cordon: 'cordon box diff' needs NAME: cordon box diff [OPTION…] NAME [-- PATH…] [E_CLI_INVALID_ARG]
cordon: try 'cordon box diff --help'
? 12
$ cordon box diff ../x
cordon: '../x' is not a valid box name: '.', '_' and '-' must be single and between letters or digits [E_CLI_INVALID_ARG]
? 12
$ cordon box apply -- -x
cordon: '-x' is not a valid box name: '.', '_' and '-' must be single and between letters or digits [E_CLI_INVALID_ARG]
? 12
$ cordon box diff x --stat --name-only
cordon: --stat and --name-only cannot be combined [E_CLI_INVALID_ARG]
? 12
$ mkdir p; cordon box new fix-login p --agent test --no-start 2>/dev/null >&2; cordon box show fix-logn
cordon: no such box 'fix-logn'; did you mean 'fix-login'? [E_NOT_FOUND]
? 18
$ cordon box show fix-logn --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_NOT_FOUND","message":"no such box 'fix-logn'; did you mean 'fix-login'?","context":{"name":"fix-logn"}}}
? 18

## from diff to apply
$ mkdir p; printf 'one\ntwo\n' > p/a; echo b > p/b; cordon box new one p --agent test --no-start 2>/dev/null >&2
$ cordon box list | sed 's/ *$//'
NAME      STATUS   AGENT       MODE     CHANGES  AGE           DIRECTORY
one       stopped  test        copy     no       just now      $T/p
$ cordon box diff one; cordon box apply one
there is nothing to apply
$ up=$(echo home/.cordon/sandboxes/one/work/*/upper); printf 'one\n2\n' > $up/a; printf new > $up/c; cordon box list --json | sed 's/"created_at":"[^"]*"/"created_at":""/'
{"protocol_version":1,"boxes":[{"name":"one","status":"stopped","agent":"test","mode":"copy","workdir":"$T/p","created_at":"","changes":true}]}
$ cordon box diff one
diff --git a/a b/a
index 814f4a422927b82f5f8a43f8fab6d3839e3983f2..99b356dcd03dde0755c749bcd4cae4b2b73a8fa8 100644
--- a/a
+++ b/a
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/c b/c
new file mode 100644
index 0000000000000000000000000000000000000000..3e5126c4e761fd09582fc517918a1601b218dff0
--- /dev/null
+++ b/c
@@ -0,0 +1 @@
+new
\ No newline at end of file
$ cordon box diff one --stat
 a          | 2 +-
 c          | 1 +
 2 files changed, 2 insertions(+), 1 deletion(-)
$ cordon box diff one --name-only -- c
c
$ cordon box diff one -- c ""
cordon: path 2 is empty: name a file or a directory, or '.' for the whole project [E_CLI_INVALID_ARG]
? 12
$ cordon box apply one --yes -- ""
cordon: path 1 is empty: name a file or a directory, or '.' for the whole project [E_CLI_INVALID_ARG]
? 12
$ cordon box apply one
cordon: cannot ask whether to apply these changes to '$T/p': standard input is not a terminal [E_APPROVAL_REQUIRED]
cordon:   remedy: use --yes to apply without asking, or --dry-run to show what would be applied
? 20
$ cordon box apply one --dry-run 2>&1
modified  a
added     c
would apply 2 changes to $T/p
$ cat p/a; ls p
one
two
a
b
$ cordon box apply one --yes --json
{"protocol_version":1,"name":"one","workdir":"$T/p","dry_run":false,"applied":[{"path":"a","change":"modified"},{"path":"c","change":"added"}],"left_out":[]}
$ cat p/a p/c; cordon box diff one; cordon box apply one --json
one
2
new{"protocol_version":1,"name":"one","workdir":"$T/p","dry_run":false,"applied":[],"left_out":[]}
$ cordon box list | tail -n 1 | sed 's/ *$//'
one       stopped  test        copy     no       just now      $T/p

## conflicts, and changes that need a flag
$ mkdir p; echo a > p/a; cordon box new one p --agent test --no-start 2>/dev/null >&2
$ up=$(echo home/.cordon/sandboxes/one/work/*/upper); echo box > $up/a; echo box > $up/c; echo mine > p/a; echo mine > p/c
$ cordon box apply one --yes
cordon: 'a' was changed in the box, but the project has a different version; nothing was applied [E_CONFLICT]
  conflict: 'a': the box changed it, the project has a different version
  conflict: 'c': the box added it, the project already has a different one
? 19
$ cat p/a p/c
mine
mine
$ echo a > p/a; rm p/c; up=$(echo home/.cordon/sandboxes/one/work/*/upper); echo x > $up/.envrc; cordon box apply one --yes
cordon: '.envrc': a shell reads it at startup; review it, and allow it with --allow-executed-config [E_APPROVAL_REQUIRED]
These files are executed automatically:
  '.envrc': a shell reads it at startup
? 20
$ cordon box apply one --yes -- nowhere
cordon: 'nowhere': the box has no changes there, so nothing was applied (paths are relative to '$T/p') [E_NOT_FOUND]
? 18
$ cordon box apply one --yes -- ../x
cordon: '../x' is not in the project '$T/p' [E_FS_VIOLATION]
? 13
$ up=$(echo home/.cordon/sandboxes/one/work/*/upper); mkfifo $up/pipe; cordon box diff one --name-only -- a
a
$ cordon box diff one --name-only
cordon: warning: 'pipe' is a named pipe: omitted from the changes
.envrc
a
c
$ cordon box apply one --yes
cordon: '.envrc': a shell reads it at startup; review it, and allow it with --allow-executed-config [E_APPROVAL_REQUIRED]
These files are executed automatically:
  '.envrc': a shell reads it at startup
? 20
$ cordon box apply one --yes -- a
modified  a
applied 1 change to $T/p

## ':rw' works on the real directory
$ mkdir p; echo a > p/a; cordon box new one p:rw --agent test --no-start 2>/dev/null >&2; cordon box apply one
nothing to apply: the box works directly on '$T/p' (:rw), so its changes are already there
$ cordon box diff one
cordon: '$T/p' is not a git work tree: there is nothing to compare with [E_NOT_FOUND]
? 18
$ cordon box list | tail -n 1 | sed 's/ *$//'
one       stopped  test        rw       -        just now      $T/p
