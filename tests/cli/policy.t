# cordon policy. See run.py for the format.

## a policy that grants nothing is allowed
$ echo 'policy_version: 4' > p.yaml && cordon policy check p.yaml
allowed
$ echo '{"policy_version":3}' | cordon policy check /dev/stdin
allowed

## every denial with its field, reason and fix
$ cat > p.yaml <<'P'
> policy_version: 4
> sandbox: none
> network_unsafe_ack: true
> fs:
>   allowed_read: [/etc, src]
> P
$ cordon policy check p.yaml
denied: sandbox: 'none' requires an acknowledgement
  reason: the policy would not be enforced
  fix: use 'sandbox: native', or set sandbox_unsafe_ack to true
denied: fs.allowed_read[0]: disallowed allowlist path: '/etc'
  reason: it holds the system's settings and secrets
  fix: list only the directory below it that is needed
denied: fs.allowed_read[1]: allowlist paths must be absolute: 'src'
  reason: the meaning of a relative path depends on the current directory
  fix: use an absolute path
? 2
$ cordon policy check p.yaml --json | python3 -c '
> import json, sys
> o = json.load(sys.stdin)
> print(list(o), o["allowed"], o["grants"], len(o["errors"]))
> print(json.dumps(o["errors"][1]))'
['protocol_version', 'allowed', 'errors', 'grants'] False {} 3
{"code": "E_POLICY_DENIED", "message": "fs.allowed_read[0]: disallowed allowlist path: '/etc' (it holds the system's settings and secrets); list only the directory below it that is needed", "context": {"field": "fs.allowed_read[0]", "value": "/etc", "reason": "it holds the system's settings and secrets", "fix": "list only the directory below it that is needed"}}

## the home directory is blocked, directories below it are not
$ mkdir home/app && echo "{\"policy_version\":4,\"fs\":{\"allowed_read\":[\"$HOME\"]}}" > p.json
$ cordon policy check p.json
denied: fs.allowed_read[0]: disallowed allowlist path: '$T/home'
  reason: it is the home directory, with keys and settings
  fix: list only the directory below it that is needed
? 2
$ echo "{\"policy_version\":4,\"fs\":{\"allowed_read\":[\"$HOME/app\"]}}" > p.json && cordon policy check p.json
allowed

## commands
$ echo '{"policy_version":4,"exec":{"allowed_executables":["/usr/bin/env","/bin/sh"]}}' > p.json
$ cordon policy check p.json -- /usr/bin/env -i --json
allowed
$ cordon policy check p.json -- env
denied: command: must be an absolute path: 'env'
  reason: with a policy, programs are not looked up in PATH
  fix: use an absolute path
? 2
$ cordon policy check p.json -- /bin/sh -c true
denied: command: shell execution is disabled by policy: '/bin/sh'
  reason: a shell runs any command in its arguments
  fix: run the program itself, or set exec.allow_shell to true
? 2
$ cordon policy check p.json --cwd "$T" -- /usr/bin/env
denied: cwd: not an allowed directory: '$T'
  reason: $T is not in fs.allowed_read or fs.allowed_write
  fix: add it to fs.allowed_read, or use an allowed directory
? 2
$ ln -s /usr/bin/id env && cordon policy check p.json -- "$T/env" | head -n 1
denied: command: not an allowed program: '$T/env'

## grants as JSON
$ mkdir real && ln -s real link && cat > p.yaml <<P
> policy_version: 4
> fs: {allowed_read: [$T/link], working_dir: $T/real}
> env: {inherit: true, allowlist: [TERM], set: {A: b}}
> P
$ cordon policy check p.yaml --json | python3 -c '
> import json, sys
> g = json.load(sys.stdin)["grants"]
> print(" ".join(g))
> print(json.dumps(g["read"]), json.dumps(g["env"]), g["command"], g["gaps"])'
sandbox read write exec allow_shell working_dir command cwd network allowed_hosts unix_sockets env artifacts budgets limits gaps
[{"given": "$T/link", "resolved": "$T/real", "kind": "directory"}] {"inherit": ["TERM"], "set": ["A"]} None []

## files that are not policies
$ printf 'policy_version: 4\nfs:\n  allowed_raed: []\n' > p.yaml && cordon policy check p.yaml
cordon: p.yaml:3:3: fs.allowed_raed: unknown key; did you mean 'allowed_read'? [E_PROTOCOL]
? 9
$ printf 'policy_version: 4\nnetwork: disabled\nnetwork: enabled\n' > p.yaml && cordon policy check p.yaml
cordon: p.yaml:3:1: duplicate key "network" [E_PROTOCOL]
? 9
$ echo '{"gpu":1,"policy_version":5}' > p.json && cordon policy check p.json
cordon: p.json:1:10: policy_version: version 5 is not supported: expected 4 (or 3, which is read as 4) [E_PROTOCOL_VERSION_MISMATCH]
? 8
$ cordon policy check p.json --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_PROTOCOL_VERSION_MISMATCH","message":"p.json:1:10: policy_version: version 5 is not supported: expected 4 (or 3, which is read as 4)","context":{"provided_version":5,"supported_version":4,"field":"policy_version","line":1,"column":10,"file":"p.json"}}}
? 8
$ printf 'policy_version: 4\nreplay: {normalization_rules: [{target: transcript, pattern: "(", replace: ""}]}\n' > p.yaml && cordon policy check p.yaml
cordon: replay.normalization_rules[0].pattern: invalid pattern at character 2: missing closing parenthesis [E_PROTOCOL]
? 9
$ cordon policy check nothing.yaml
cordon: cannot open the policy 'nothing.yaml': No such file or directory [E_IO]
? 10
$ cordon policy check .
cordon: cannot read '.': Is a directory [E_IO]
? 10

## show
$ echo 'policy_version: 3' > p.yaml && cordon policy show p.yaml | head -n 4
{
  "policy_version": 4,
  "sandbox": "seatbelt",
  "sandbox_unsafe_ack": false,
$ cordon policy show p.yaml > a.json && cordon policy show a.json | cmp - a.json && cordon policy check a.json
allowed
$ cordon policy show p.yaml --json | head -c 60
{"protocol_version":1,"policy":{"policy_version":4,"sandbox"

## presets
$ mkdir app && cd app && for p in build c node python readonly test; do
>   cordon policy check --preset $p -- /usr/bin/env && cordon policy show --preset $p | cordon policy check /dev/stdin
> done | sort | uniq -c
     12 allowed
$ cordon policy show --preset build --root app | grep -c '/app"'
4
$ cordon policy check --preset build --root app --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["grants"]["gaps"])'
["writable executables: files written to '$T/app' can be run"]
$ cordon policy check --preset build --root "$HOME" | head -n 1
denied: fs.allowed_read[0]: disallowed allowlist path: '$T/home'
$ cordon policy show --preset biuld
cordon: invalid value 'biuld' for --preset: expected 'build', 'c', 'node', 'python', 'readonly', 'test'; did you mean 'build'? [E_CLI_INVALID_ARG]
cordon: try 'cordon policy show --help'
? 12

## schema
$ cordon policy schema | python3 -c '
> import json, sys
> s = json.load(sys.stdin)
> print(s["required"], s["additionalProperties"], len(s["properties"]))'
['policy_version'] False 19
$ cordon policy schema --json | head -c 32
{"protocol_version":1,"schema":{
$ for s in policy scenario normalization replay-summary; do cordon policy schema $s | python3 -c 'import json, sys; s = json.load(sys.stdin); print(*s["required"])'; done
policy_version
scenario_version run steps
normalization_version source strict filters rules
replay_version status mismatch source strict filters rules
$ cordon policy schema scenaro
cordon: no such schema 'scenaro': expected one of 'policy', 'scenario', 'normalization', 'replay-summary'; did you mean 'scenario'? [E_CLI_INVALID_ARG]
cordon: try 'cordon policy schema --help'
? 12

## new prints a policy that passes its own check
$ mkdir app && cd app && cordon policy new > ../p.yaml && cordon policy check ../p.yaml
allowed
$ cd app && cordon policy new --for env > ../p.yaml && cordon policy check ../p.yaml -- "$(command -v env)"
allowed
$ cd app && cordon policy new --for sh > ../p.yaml && cordon policy check ../p.yaml -- "$(command -v sh)" && grep allow_shell ../p.yaml
allowed
  allow_shell: true
$ cd app && printf x > 'a "b": #c' && chmod +x a* && cordon policy new --for './a "b": #c' > ../p.yaml && cordon policy check ../p.yaml -- "$T/app/a \"b\": #c"
allowed
$ cd home && cordon policy new > ../p.yaml && cordon policy check ../p.yaml
cordon: warning: the current directory is omitted: a policy cannot name '$T/home'
allowed
$ cordon policy new --for no-such-program
cordon: the program 'no-such-program' was not found in PATH [E_CLI_INVALID_ARG]
? 12
$ cordon policy new --json | head -c 45
{"protocol_version":1,"text":"# A policy: eve

## invalid command lines
$ cordon policy check
cordon: no policy: give a file, or --preset NAME [E_CLI_INVALID_ARG]
? 12
$ cordon policy check --preset c --cwd /
cordon: --cwd requires a command: -- COMMAND [E_CLI_INVALID_ARG]
? 12
$ cordon policy show x --root .
cordon: --root requires --preset [E_CLI_INVALID_ARG]
? 12
$ cordon policy show --preset c x
cordon: FILE and --preset c cannot be combined: 'x' [E_CLI_INVALID_ARG]
? 12
$ cordon policy check --preset c x
cordon: FILE and --preset c cannot be combined: 'x' [E_CLI_INVALID_ARG]
? 12
$ cordon policy
cordon: 'cordon policy' needs a command: check, show, schema, new, learn [E_CLI_INVALID_ARG]
cordon: try 'cordon policy --help'
? 12

## no line of help is wider than 80 columns
$ for c in policy "policy check" "policy show" "policy schema" "policy new"; do cordon help $c; done | awk 'length > 80'

## the sandbox has the name that the policy gives it; the default is seatbelt
$ for w in seatbelt native; do printf 'policy_version: 4\nsandbox: %s\nexec: {allowed_executables: [/usr/bin/true]}\n' $w >$w.yaml; cordon exec --policy $w.yaml --json -- /usr/bin/true 2>/dev/null | jq -r .policy.sandbox; done; cordon exec --json -- true 2>/dev/null | jq -r .policy.sandbox; cordon exec --sandbox native --json -- true 2>/dev/null | jq -r .policy.sandbox
seatbelt
native
seatbelt
native
