# Features of this machine. Missing features are tested by tests/sandbox/container.py and tests/unit/test_diagnose.c.

## everything is supported
$ cordon doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["sandbox"]["available"], d["sandbox"]["landlock_abi"] > 0, [(c["name"], c["status"], c["remedy"]) for c in d["checks"]])'
True True [('sandbox', 'ok', None), ('landlock', 'ok', None), ('process limit', 'ok', None), ('IPC limits', 'ok', None)]
$ cordon doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(sorted(d), [f for f in d["sandbox"]["findings"] if f["blocks"]], d["fixed"])'
['boxes', 'checks', 'developer', 'fixed', 'protocol_version', 'sandbox'] [] False
$ cordon doctor | sed -n 2p
ok      sandbox          a complete sandbox can be built

## toolchains that are shown, and directories of PATH that are not
$ mkdir -p $HOME/.pyenv/shims t/bin t/lib; export PATH=.:$HOME:$HOME/.pyenv/shims:$T/t/bin:$PATH; cordon doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin)["developer"]; print([s for s in d["shown"] if "'$T'" in s], d["omitted"])'; cordon doctor | sed -n '/^toolchains/,/^boxes/p' | grep -o "~/.pyenv\|^omitted.*"
['$T/home/.pyenv/shims', '$T/t/bin', '$T/t/lib'] [{'dir': '.', 'reason': 'it is relative'}, {'dir': '$T/home', 'reason': 'it is the home directory, or contains it'}]
~/.pyenv
omitted . of PATH: it is relative
omitted $T/home of PATH: it is the home directory, or contains it

## nothing needs fixing
$ cordon doctor --fix 2>&1 >/dev/null
nothing to fix
$ cordon doctor --yes
cordon: --yes requires --fix [E_CLI_INVALID_ARG]
? 12

## boxes are part of it: the checks and repairs of 'cordon box doctor'
$ mkdir -p home/.cordon/sandboxes/.new/x home/.cordon/sandboxes/.trash/0/1; chmod 700 home/.cordon/sandboxes
$ cordon doctor | grep -A4 '^boxes$'
boxes
left over unfinished  1 boxes that are incomplete or being created
          remedy: cordon box doctor --fix
left over trash       1 directory trees to delete
          remedy: cordon box doctor --fix
$ cordon doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin)["boxes"]; print(d["usable"], [c["name"] for c in d["checks"]])'
True ['unfinished', 'trash', 'changes', 'boxes', 'recordings', 'sandbox', 'overlay', 'reflink', 'cgroup']
$ cordon doctor --fix 2>/dev/null | grep -A2 '^boxes$'
boxes
ok        unfinished  none
ok        trash       empty
$ find home/.cordon/sandboxes -mindepth 2
$ cordon doctor --json | jq -S .boxes >a; cordon box doctor --json | jq -S 'del(.protocol_version)' >b; cmp a b

## boxes that cannot be used: commands can
$ echo x >home/.cordon; cordon doctor | sed -n '/^boxes$/,$p'
boxes
missing   state       cannot create the directory '$T/home/.cordon/sandboxes': Not a directory
          remedy: set CORDON_HOME to a directory of your own

## no directory stays that was not there before
$ cordon doctor >/dev/null; cordon box doctor >/dev/null; ls -A home; CORDON_HOME=$T/a/b cordon doctor | grep -c '^ok *overlay'; ls -A
1
home

## inside a sandbox of cordon
$ C=$(command -v cordon); printf 'policy_version: 4\nexec: {allowed_executables: [%s]}\nlimits: {memory_bytes: 4611686018427387904}\n' $C >p.yaml
$ C=$(command -v cordon); cordon exec --pipes --policy p.yaml -- $C doctor 2>/dev/null | sed -n 's/^found *//p; s/^missing sandbox.*/missing/p'
missing
nested           this is inside a sandbox or box of cordon, where no other sandbox can be created
$ C=$(command -v cordon); cordon exec --pipes --policy p.yaml -- $C exec -- $C version 2>&1 | sed -n 's/^cordon:   //p'
found: this is inside a sandbox or box of cordon, where no other sandbox can be created
remedy: run it outside; in a box, which already confines it, use '--sandbox none --ack-unsafe-sandbox --ack-unsafe-network'
weaker: commands, but not boxes, can run without namespaces: --sandbox landlock --ack-unsafe-sandbox
