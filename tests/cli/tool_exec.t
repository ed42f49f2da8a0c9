# Commands on a terminal in one call; tests/sandbox/tools.py has more calls. See run.py for the format.

## a command that ends
$ cordon tool exec_command --json '{"cmd": "echo a; exit 3", "yield_time_ms": 60000}'
{"protocol_version":1,"status":"error","code":"E_COMMAND_FAILED","message":"the command failed with exit status 3","truncated":false,"content":"a\n[the command failed with exit status 3]\n","details":{"output_bytes":3,"exit_code":3,"denied":[]}}
? 6
$ cordon tool exec_command --arg command='stty size' --arg rows=7 --arg cols=33 --arg yield_time_ms=60000
7 33

## a command that keeps running is killed, and the result tells so
$ cordon tool exec_command --json '{"cmd": "sleep 1000", "yield_time_ms": 0}'
{"protocol_version":1,"status":"ok","message":"still running, and killed at the end of this call; use cordon tool --serve to keep it running","truncated":false,"content":"[still running, and killed at the end of this call; use cordon tool --serve to keep it running]\n","details":{"output_bytes":0,"ended":true}}

## arguments
$ cordon tool exec_command --arg cmd=x --arg yield_time_ms=3600001
cordon: exec_command: yield_time_ms: 3600001 is not within 0 to 3600000; for example {"cmd": "python3", "yield_time_ms": 1000} [E_TOOL_VALIDATION]
? 15
$ cordon tool write_stdin --json '{"session_id": "7"}' | grep -o '"message":"[^"]*"'
"message":"no session 7: start one with exec_command"
$ cordon tool write_stdin --arg session_id=x
cordon: write_stdin: session_id: expected an integer, found a string; for example {"session_id": 1, "chars": "print(1)\n"} [E_TOOL_VALIDATION]
? 15
$ cordon tools --json | python3 -c 'import json, sys; print([t["parameters"]["properties"]["session_id"]["type"] for t in json.load(sys.stdin)["tools"] if t["name"] == "write_stdin"])'
['integer']

## --serve
$ printf '%s\n' '{"name": "exec_command", "arguments": {"cmd": "cat", "yield_time_ms": 0}, "request_id": "a"}' '{"name": "write_stdin", "arguments": {"session_id": 1, "chars": "\u0004", "yield_time_ms": 60000}}' | cordon tool --serve
{"protocol_version":1,"request_id":"a","status":"ok","message":"still running; session_id 1","truncated":false,"content":"[still running; session_id 1]\n","details":{"output_bytes":0,"session_id":1}}
{"protocol_version":1,"status":"ok","message":"exit status 0","truncated":false,"content":"","details":{"output_bytes":0,"exit_code":0,"denied":[]}}
$ cordon tool --serve < /dev/null
$ cordon tool --serve shell
cordon: --serve reads names and arguments of tools from standard input: it takes no NAME, --json or --arg [E_CLI_INVALID_ARG]
? 12
$ cordon tool
cordon: 'cordon tool' needs NAME; 'cordon tools' lists the tools [E_CLI_INVALID_ARG]
? 12

## a command that did not start has no exit code
$ printf 'policy_version: 4\nfs: {allowed_read: [%s]}\nexec: {allowed_executables: [/bin/bash], allow_shell: true}\nlimits: {memory_bytes: 4611686018427387904}\n' $T >p.yaml
$ python3 -c 'import json; print(json.dumps({"command": "true #" + "x" * 200000}))' >big.json; cordon tool shell --policy p.yaml --json @big.json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["code"], d["message"], d["details"]["exit_code"])'
E_COMMAND_FAILED the command did not start: cannot start '/usr/bin/bash': Argument list too long None

## output that is too long, with no place for the rest
$ CORDON_HOME=/proc/none cordon tool shell --json '{"command": "seq 1000"}' 2>/dev/null | python3 -c 'import json,sys; d=json.load(sys.stdin); print([l for l in d["content"].split("\n") if l.startswith("[truncated]")], d["details"].get("log"))'
['[truncated] 800 lines, 3151 bytes left out; the complete output was not saved'] None
