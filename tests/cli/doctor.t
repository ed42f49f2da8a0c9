# What the machine offers. What it lacks is tried by tests/sandbox/container.py, and by test_diagnose.c without it.

## all is there
$ cordon doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["sandbox"]["available"], d["sandbox"]["landlock_abi"] > 0, [(c["name"], c["status"], c["remedy"]) for c in d["checks"]])'
True True [('sandbox', 'ok', None), ('landlock', 'ok', None), ('process limit', 'ok', None), ('IPC limits', 'ok', None)]
$ cordon doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(sorted(d), [f for f in d["sandbox"]["findings"] if f["blocks"]], d["fixed"])'
['checks', 'fixed', 'protocol_version', 'sandbox'] [] False
$ cordon doctor | sed -n 2p
ok      sandbox          the whole sequence works

## there is nothing to fix
$ cordon doctor --fix 2>&1 >/dev/null
nothing to fix
$ cordon doctor --yes
cordon: --yes goes with --fix [E_CLI_INVALID_ARG]
? 12

## in a sandbox of cordon
$ C=$(command -v cordon); printf 'policy_version: 4\nexec: {allowed_executables: [%s]}\nlimits: {memory_bytes: 4611686018427387904}\n' $C >p.yaml
$ C=$(command -v cordon); cordon exec --pipes --policy p.yaml -- $C doctor 2>/dev/null | sed -n 's/^found *//p; s/^missing sandbox.*/missing/p'
missing
nested           this is inside of a sandbox or box of cordon, in which there is no other
$ C=$(command -v cordon); cordon exec --pipes --policy p.yaml -- $C exec -- $C version 2>&1 | sed -n 's/^cordon:   //p'
found: this is inside of a sandbox or box of cordon, in which there is no other
remedy: run it outside; in a box, which confines it already, use '--sandbox none --ack-unsafe-sandbox --ack-unsafe-network'
weaker: commands, not boxes, can run without namespaces: --sandbox landlock --ack-unsafe-sandbox
