# cordon trust: scenarios whose own policies the user agrees to. See run.py for the format. Every file here needs a flag.

## once trusted, it runs without flags until a byte changes
$ mkdir s elsewhere && cat > make.py <<'END'
> import json, os, sys
> T = os.environ["T"]
> p = {"policy_version": 4, "exec": {"allowed_executables": ["/usr/bin"], "allow_shell": True}, "env": {"inherit": True}}
> p.update(json.loads((sys.argv[1] if len(sys.argv) > 1 else "{}").replace("@", T)))
> run = {"command": "/usr/bin/bash", "args": ["-c", "echo done; read"], "policy": p}
> run.update(json.loads((sys.argv[2] if len(sys.argv) > 2 else "{}").replace("@", T)))
> wait = {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "done"}}}}
> json.dump({"scenario_version": 1, "run": run, "steps": [{"id": "a", "action": wait}]}, open("s/a.json", "w"))
> END
$ python3 make.py '{"sandbox": "none", "network": "enabled", "allow_unix_sockets": true, "fs": {"allowed_write": ["@/elsewhere"]}}'; cd s; cordon run a.json
cordon: the scenario's own policy runs without a sandbox (sandbox), uses the network (network), uses Unix sockets of the host (allow_unix_sockets), reads variables of your environment (env.inherit), writes '$T/elsewhere' (fs.allowed_write[0]): this needs your acknowledgement, not only its author's; if you trust it, add --ack-unsafe-sandbox --ack-unsafe-network --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-write, or run 'cordon trust a.json' [E_POLICY_DENIED]
? 2
$ cordon trust s/a.json
$T/s/a.json:
  command: /usr/bin/bash -c echo done; read
  runs without a sandbox (sandbox; --ack-unsafe-sandbox)
  uses the network (network; --ack-unsafe-network)
  uses Unix sockets of the host (allow_unix_sockets; --ack-unsafe-sockets)
  reads variables of your environment (env.inherit; --ack-unsafe-env)
  writes '$T/elsewhere' (fs.allowed_write[0]; --ack-unsafe-write)
cordon: cannot ask whether to trust '$T/s/a.json' to do this on every run, until the file changes: standard input is not a terminal [E_APPROVAL_REQUIRED]
cordon:   remedy: use --yes
? 20
$ cordon trust --json s/a.json 2>/dev/null | python3 -c 'import json, sys; e = json.load(sys.stdin)["error"]; print(e["code"], e["context"])'; ls -A home
E_APPROVAL_REQUIRED {'remedy': 'use --yes', 'missing': '--yes --ack-unsafe-sandbox --ack-unsafe-network --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-write'}
$ cordon trust --yes s/a.json 2>/dev/null; stat -c '%a %F' home/.cordon/trust home/.cordon/trust/*; ls -A home/.cordon/trust | grep -Ec '^[0-9a-f]{64}.json$'
trusted: $T/s/a.json
700 directory
600 regular file
1
$ cordon run s/a.json 2>/dev/null | cut -c 1-6; cd elsewhere; cordon run ../s/a.json ../s/a.json 2>/dev/null | grep -c passed; cp ../s/a.json .; cordon run a.json 2>/dev/null | cut -c 1-6
passed
3
passed
$ cordon trust --list; cordon trust --list --json | python3 -c 'import json, sys; d = json.load(sys.stdin); t = d["trusted"][0]; print(d["protocol_version"], sorted(t), t["state"], t["flags"])'; sha256sum s/a.json | cut -d ' ' -f 1 | xargs -I % grep -c % home/.cordon/trust/*.json
trusted +just now +\$T/s/a.json (re)
1 ['file', 'flags', 'id', 'named', 'sha256', 'state', 'trust_version', 'trusted_at_ms'] trusted ['--ack-unsafe-sandbox', '--ack-unsafe-network', '--ack-unsafe-sockets', '--ack-unsafe-env', '--ack-unsafe-write']
1
$ echo >> s/a.json; cordon run s/a.json 2>&1 | grep -o "it was trusted.*"; cordon trust --list; truncate -s -1 s/a.json; cordon run s/a.json 2>/dev/null | cut -c 1-6
it was trusted, but '$T/s/a.json' has changed since then [E_POLICY_DENIED]
changed +just now +\$T/s/a.json (re)
passed
$ cordon trust --remove s/a.json; cordon run s/a.json > /dev/null 2>&1; echo $?; cordon trust --list; cordon trust --remove s/a.json
no longer trusted: $T/s/a.json
2
cordon: 's/a.json' is not trusted; 'cordon trust --list' lists trusted files [E_NOT_FOUND]
? 18
$ cordon trust --yes s/a.json > /dev/null 2>&1; rm s/a.json; cordon trust --list; cordon trust --remove s/a.json --json
missing +just now +\$T/s/a.json (re)
{"protocol_version":1,"removed":["$T/s/a.json"]}

## files that it names by path are included
$ mkdir s && cat > make.py <<'END'
> import json, os, sys
> T = os.environ["T"]
> run = {"command": "/usr/bin/bash", "args": ["-c", "echo done; read"], "policy": {"path": T + "/p.json"}}
> run.update(json.loads((sys.argv[1] if len(sys.argv) > 1 else "{}").replace("@", T)))
> wait = {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "done"}}}}
> json.dump({"scenario_version": 1, "run": run, "steps": [{"id": "a", "action": wait}]}, open("s/a.json", "w"))
> END
$ echo '{"policy_version": 4, "sandbox": "none", "network_unsafe_ack": true, "fs": {"allowed_read": ["'$T'"]}, "exec": {"allowed_executables": ["/usr/bin", "'$T'/tool"], "allow_shell": true}}' > p.json; touch tool; python3 make.py; cordon trust --yes s/a.json 2>&1 | grep names; cordon run s/a.json 2>/dev/null | cut -c 1-6
  names $T/p.json
passed
$ echo ' ' >> p.json; cordon run s/a.json 2>&1 | grep -o "it was trusted.*"; cordon trust --yes s/a.json > /dev/null 2>&1; cordon run s/a.json 2>/dev/null | cut -c 1-6; ls home/.cordon/trust | wc -l
it was trusted, but '$T/p.json' has changed since then [E_POLICY_DENIED]
passed
1
# the user's scripts and programs are also hashed; those of the system and missing ones are not
$ printf 'echo done; read\n' > script; python3 make.py '{"args": ["@/script"]}'; cordon trust --yes s/a.json 2>&1 | grep names; cordon run s/a.json 2>/dev/null | cut -c 1-6; echo 'touch escaped' >> script; cordon run s/a.json 2>&1 | grep -o "it was trusted.*"; ls escaped 2>/dev/null
  names $T/p.json
  names $T/script
passed
it was trusted, but '$T/script' has changed since then [E_POLICY_DENIED]
? 2
$ printf '#!/usr/bin/bash\necho done; read\n' > tool; chmod +x tool; python3 make.py '{"command": "@/tool", "args": ["script", "missing", ""], "cwd": "@"}'; cordon trust --yes s/a.json 2>&1 | grep names; cordon run s/a.json 2>/dev/null | cut -c 1-6; echo >> tool; cordon run s/a.json 2>&1 | grep -o "it was trusted.*"
  names $T/p.json
  names $T/tool
  names $T/script
passed
it was trusted, but '$T/tool' has changed since then [E_POLICY_DENIED]

## a store or entry that other users could have written is rejected
$ mkdir s w && printf '{"scenario_version": 1, "run": {"command": "/usr/bin/true", "policy": {"policy_version": 4, "exec": {"allowed_executables": ["/usr/bin/true"]}, "env": {"inherit": true}}}, "steps": []}' > s/a.json; cordon trust --yes s/a.json > /dev/null 2>&1; cordon run s/a.json 2>/dev/null | cut -c 1-6
passed
$ t=home/.cordon/trust; try() { cordon run s/a.json > out 2>&1; echo $?; grep -o 'others can write to it' out; return 0; }; chmod g+w $t; try; chmod 707 $t; try; cordon trust --list; echo $?; cordon trust --yes s/a.json 2>&1 | tail -n 1; chmod 700 $t; try; chmod g+w $t/*; try; chmod 600 $t/*; try
2
others can write to it
2
others can write to it
cordon: '$T/home/.cordon/trust' belongs to another user, or others can write to it, and is therefore ignored; remove it, or make it private (chmod 700) [E_CONFIG]
17
cordon: '$T/home/.cordon/trust' belongs to another user, or others can write to it, and is therefore ignored; remove it, or make it private (chmod 700) [E_CONFIG]
0
2
0
$ t=home/.cordon/trust; try() { cordon run s/a.json > out 2>&1; echo $?; }; mv $t w/t; ln -s $T/w/t $t; try; rm $t; mv w/t $t; try; f=$(ls $t); mv $t/$f w/e; ln -s $T/w/e $t/$f; try; rm $t/$f; mkfifo $t/$f; try; rm $t/$f; : > $t/$f; try; head -c 90 w/e > $t/$f; try; sed 's/"id": "./"id": "0/' w/e > $t/$f; chmod 600 $t/$f; try; cp w/e $t/${f/%?.json/0.json}; rm $t/$f; try; mv w/e $t/$f; try
2
0
2
2
2
2
2
2
0
# files of another user, which only root can create
$ t=home/.cordon/trust; try() { cordon run s/a.json > out 2>&1; echo $?; }; if [ $(id -u) != 0 ]; then echo 2 2 0; else chown 1 $t; a=$(try); chown 0 $t; chown 1 $t/*; b=$(try); chown 0 $t/*; echo $a $b $(try); fi
2 2 0
$ CORDON_HOME=$T/other/deep cordon trust --yes s/a.json 2>/dev/null; CORDON_HOME=$T/other/deep cordon run s/a.json 2>/dev/null | cut -c 1-6; CORDON_HOME=$T/none cordon run s/a.json > /dev/null 2>&1; echo $?; ls -d none other/deep/trust; CORDON_HOME=here cordon run s/a.json 2>&1 | grep -o 'CORDON_HOME is .*'
trusted: $T/s/a.json
passed
2
ls: cannot access 'none': No such file or directory
other/deep/trust
CORDON_HOME is 'here', which is not an absolute path [E_POLICY_DENIED]

## scenarios that need no trust, and scenarios that can't be trusted
$ mkdir s && echo '{"scenario_version": 1, "run": {"command": "true"}, "steps": []}' > s/a.json; cordon trust s/a.json; cordon trust --yes --json s/a.json; ls -A home
's/a.json' does not require trust: its policy does not reach beyond the scenario
's/a.json' does not require trust: its policy does not reach beyond the scenario
{"protocol_version":1,"trusted":[]}
$ echo '{"scenario_version": 1, "run": {"command": "/usr/bin/true", "policy": {"policy_version": 4, "exec": {"allowed_executables": ["/usr/bin/true"]}, "env": {"inherit": true, "allowlist": ["LD_PRELOAD"]}}}, "steps": []}' > s/a.json; cordon trust --yes s/a.json 2>&1 | grep -o 'dangerous environment variable blocked'; cordon trust --yes nowhere.json; echo $?; echo 'policy_version: 4' > p.yaml; cordon trust --yes p.yaml > /dev/null 2>&1; echo $?; cordon trust --list --json; cordon trust --remove; cordon trust
dangerous environment variable blocked
cordon: cannot open the scenario 'nowhere.json': No such file or directory [E_IO]
10
9
{"protocol_version":1,"trusted":[]}
cordon: --remove needs FILE…: cordon trust --remove FILE… [E_CLI_INVALID_ARG]
cordon: 'cordon trust' needs FILE or --list: cordon trust [OPTION…] FILE…|--list [E_CLI_INVALID_ARG]
? 12
$ cordon trust --list s/a.json 2>&1 | head -n 1; cordon trust --remove --list 2>&1 | head -n 1; cordon trust --remove s/a.json
cordon: --list cannot be combined with --remove or a file [E_CLI_INVALID_ARG]
cordon: --list cannot be combined with --remove or a file [E_CLI_INVALID_ARG]
cordon: nothing is trusted: '$T/home/.cordon/trust' does not exist [E_NOT_FOUND]
? 18
