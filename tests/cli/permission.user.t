# Missing permissions, as an ordinary user. See run.py for the format.

## an inaccessible directory can't be resolved, and the error is reported
$ mkdir -p p/.git p/closed/in && touch p/open.c p/closed/x.c && chmod 0 p/closed
$ cd p && cordon path resolve closed/x.c
cordon: cannot resolve 'closed/x.c': Permission denied [E_IO]
? 10
$ cd p && cordon path glob '**/*.c'
cordon: warning: omitted 'closed': Permission denied
open.c
$ cd p && cordon path glob '**/*.c' --json 2>/dev/null
{"protocol_version":1,"root":"$T/p","matches":["open.c"],"left_out":["closed"]}
$ cd p && cordon path root closed/in
cordon: cannot use 'closed/in' as a directory: Permission denied [E_IO]
? 10

## an ignore file that cannot be read is an error, since its rules would be lost
$ mkdir -p p/.git && cd p && touch secret a.c && echo secret > .gitignore && chmod 0 .gitignore
$ cd p && cordon path glob '*'
cordon: .*\.gitignore.*Permission denied \[E_IO\] (re)
? 10

## settings that cannot be read are an error
$ mkdir -p home/.config/cordon && echo 'project_markers: []' > home/.config/cordon/config.yaml && chmod 0 home/.config/cordon/config.yaml
$ cordon path root
cordon: cannot open '$T/home/.config/cordon/config.yaml': Permission denied [E_IO]
? 10
