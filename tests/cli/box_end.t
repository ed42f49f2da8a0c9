# cordon box reset, destroy, prune, doctor: output, refusals, leftovers.

## reset discards changes only with --abandon-unapplied
$ mkdir p; echo 1 > p/a; cordon box new one p --agent test --no-start 2>/dev/null
$ cordon box reset one
box 'one' reset to its initial state
$ for u in home/.cordon/sandboxes/one/work/*/upper; do for f in a b c d; do echo 2 > $u/$f; done; done
$ cordon box reset one
cordon: resetting the box 'one' would discard unapplied changes: 'a', 'b', 'c' and 1 more [E_CONFLICT]
cordon:   remedy: run 'cordon box apply one' first, or use --abandon-unapplied to discard them
? 19
$ cordon box reset one --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_CONFLICT","message":"resetting the box 'one' would discard unapplied changes: 'a', 'b', 'c' and 1 more","context":{"name":"one","changes":4,"remedy":"run 'cordon box apply one' first, or use --abandon-unapplied to discard them"}}}
? 19
$ cordon box reset one --abandon-unapplied --json
{"protocol_version":1,"name":"one","started":false}
$ cordon box diff one
$ find home/.cordon/sandboxes/.new
home/.cordon/sandboxes/.new

## reset --clean empties the agent's home
$ mkdir p; cordon box new one p --agent claude --no-start 2>/dev/null
$ cd home/.cordon/sandboxes/one/home; echo x > .claude/state; echo x > .claude.json
$ cordon box reset one; find home/.cordon/sandboxes/one/home -type f | wc -l
box 'one' reset to its initial state
2
$ cordon box reset one --clean; cd home/.cordon/sandboxes/one; find home
box 'one' reset to its initial state
home
home/.claude

## reset of a box without a layer
$ mkdir p; cordon box new one p:rw --agent test --no-start 2>/dev/null; cordon box reset one
cordon: warning: the box changes '$T/p' itself: changes made there are kept
box 'one' reset to its initial state

## reset of an overlay starts from the current project
$ mkdir p; echo 1 > p/a; cordon box new one p:overlay --agent test --no-start 2>/dev/null
$ for u in home/.cordon/sandboxes/one/work/*/upper; do echo box > $u/a; done; echo 2 > p/a
$ cordon box reset one --abandon-unapplied
box 'one' reset to its initial state
$ for u in home/.cordon/sandboxes/one/work/*/upper; do echo 3 > $u/a; done; cordon box apply one --yes >/dev/null 2>&1; cat p/a
3

## destroy
$ mkdir p; cordon box new one p --agent test --no-start 2>/dev/null; cordon box new two p:overlay --agent test --no-start 2>/dev/null
$ for u in home/.cordon/sandboxes/two/work/*/upper; do echo 2 > $u/made; done
$ cordon box destroy one two
cordon: destroying the box 'two' would discard unapplied changes: 'made' [E_CONFLICT]
cordon:   remedy: run 'cordon box apply two' first, or use --abandon-unapplied to discard them
? 19
$ cordon box list --names
one
two
$ cordon box destroy one one
$ cordon box destroy two --abandon-unapplied --yes --json
{"protocol_version":1,"destroyed":["two"]}
$ find home/.cordon/sandboxes | sort
home/.cordon/sandboxes
home/.cordon/sandboxes/.locks
home/.cordon/sandboxes/.new
home/.cordon/sandboxes/.trash
$ cordon box destroy one
cordon: no such box 'one'; 'cordon box list' lists all boxes [E_NOT_FOUND]
? 18
$ cordon box destroy
cordon: 'cordon box destroy' needs NAME or --all: cordon box destroy [OPTION…] NAME…|--all [E_CLI_INVALID_ARG]
? 12
$ cordon box destroy --all one
cordon: --all cannot be combined with a name: 'one' [E_CLI_INVALID_ARG]
? 12
$ cordon box destroy a/b
cordon: 'a/b' is not a valid box name: only letters, digits and '.', '_', '-' are allowed [E_CLI_INVALID_ARG]
? 12

## destroy --all needs confirmation
$ mkdir p; for n in one two; do cordon box new $n p --agent test --no-start 2>/dev/null; done
$ cordon box destroy --all
cordon: cannot ask whether to destroy 'one', 'two': standard input is not a terminal [E_APPROVAL_REQUIRED]
cordon:   remedy: use --yes
? 20
$ cordon box destroy --all --yes; cordon box list --names

## without boxes nothing is created
$ cordon box destroy one
cordon: no such box 'one'; 'cordon box list' lists all boxes [E_NOT_FOUND]
? 18
$ cordon box reset one
cordon: no such box 'one'; 'cordon box list' lists all boxes [E_NOT_FOUND]
? 18
$ cordon box prune
$ cordon box destroy --all
$ ls -A home

## damaged boxes, and boxes with an unknown agent
$ mkdir p; cordon box new one p --agent test --no-start 2>/dev/null; echo '{' > home/.cordon/sandboxes/one/meta.json
$ cordon box reset one 2>&1 | sed 's/meta.json:.*\[/… [/'
cordon: box 'one': … [E_CONFIG]
$ cordon box destroy one 2>&1 | sed 's/meta.json:.*\[/… [/'
cordon: box 'one': … [E_CONFIG]
cordon:   remedy: use --abandon-unapplied to destroy it anyway
$ cordon box new one p --agent test --no-start --replace 2>&1 | sed 's/meta.json:.*\[/… [/'
cordon: box 'one': … [E_CONFIG]
cordon:   remedy: use --abandon-unapplied to replace it anyway
$ cordon box doctor | grep -A1 'left over' | sed 's/meta.json:.*/…/'
left over box         box 'one': …
          remedy: cordon box destroy one --abandon-unapplied
$ cordon box destroy one --abandon-unapplied; cordon box list --names
$ mkdir -p home/.config/cordon; printf 'agents:\n  - name: mine\n    command: sh\n' > home/.config/cordon/config.yaml
$ cordon box new one p --agent mine --no-start 2>/dev/null; rm home/.config/cordon/config.yaml; cordon box reset one
cordon: box 'one': no such agent 'mine'; available: 'claude', 'test', 'cordon', 'codex', 'gemini', 'opencode', 'aider' [E_NOT_FOUND]
? 18
$ cordon box destroy one --abandon-unapplied; cordon box list --names

## a box whose project was deleted
$ mkdir p q; cordon box new copy p --agent test --no-start 2>/dev/null; cordon box new over q:overlay --agent test --no-start 2>/dev/null; rmdir p q
$ cordon box reset copy
box 'copy' reset to its initial state
$ cordon box reset over
cordon: cannot determine the changes of the box 'over': cannot open the project '$T/q' of the box 'over': No such file or directory [E_NOT_FOUND]
cordon:   remedy: use --abandon-unapplied if nothing in it is needed
? 18
$ cordon box destroy over
cordon: cannot determine the changes of the box 'over': cannot open the project '$T/q' of the box 'over': No such file or directory [E_NOT_FOUND]
cordon:   remedy: use --abandon-unapplied if nothing in it is needed
? 18
$ cordon box destroy copy; cordon box destroy over --abandon-unapplied; cordon box list --names

## prune
$ mkdir p; echo x > p/a; for n in kept spare; do cordon box new $n p --agent test --no-start 2>/dev/null; done
$ for u in home/.cordon/sandboxes/kept/work/*/upper; do echo 2 > $u/made; done; mkdir -p home/.cordon/sandboxes/.new/x/base/y home/.cordon/sandboxes/.trash/0/1/2
$ cordon box prune --dry-run
would destroy spare
$ ls home/.cordon/sandboxes/.new
x
$ cordon box prune
cordon: cannot ask whether to destroy 'spare' (not running, nothing to apply): standard input is not a terminal [E_APPROVAL_REQUIRED]
cordon:   remedy: use --yes
? 20
$ cordon box prune --yes
destroyed spare
$ cordon box prune --json
{"protocol_version":1,"destroyed":[],"dry_run":false,"unfinished":0,"recordings":0,"deleted_files":0,"left":0}
$ cordon box list --names; find home/.cordon/sandboxes/.new home/.cordon/sandboxes/.trash
kept
home/.cordon/sandboxes/.new
home/.cordon/sandboxes/.trash

## doctor finds leftovers, and removes them
$ mkdir -p home/.cordon/sandboxes/.new/x home/.cordon/sandboxes/.trash/0/1; chmod 700 home/.cordon/sandboxes
$ cordon box doctor | sed -n '1,8p'
left over unfinished  1 boxes that are incomplete or being created
          remedy: cordon box doctor --fix
left over trash       1 directory trees to delete
          remedy: cordon box doctor --fix
ok        changes     none interrupted
ok        boxes       0
ok        recordings  at most 10 for each box
ok        sandbox     user namespaces and the other requirements work
$ cordon box doctor --fix | sed -n '1,4p'
ok        unfinished  none
ok        trash       empty
ok        changes     none interrupted
ok        boxes       0
$ cordon box doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["usable"], [c["name"] for c in d["checks"]])'
True ['unfinished', 'trash', 'changes', 'boxes', 'recordings', 'sandbox', 'overlay', 'reflink', 'cgroup']
$ find home/.cordon/sandboxes -mindepth 2

## doctor --fix waits for another process that empties the trash
$ d=home/.cordon/sandboxes; mkdir -p $d/.trash/0/1; chmod 700 $d; mkfifo go; flock $d/.trash sh -c 'echo >ready; read x <go' & while [ ! -s ready ]; do :; done; cordon box doctor --fix >out & until [ $(find /proc/$!/fd -lname '*/.trash' | wc -l) = 2 ] || ! kill -0 $!; do sleep 0.01; done; echo >go; wait; sed -n 2p out
ok        trash       empty

## doctor with an unusable CORDON_HOME
$ echo x > home/.cordon; cordon box doctor
missing   state       cannot create the directory '$T/home/.cordon/sandboxes': Not a directory
          remedy: set CORDON_HOME to a directory of your own
? 3
