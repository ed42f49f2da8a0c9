# Commands on a terminal, in one call; tests/sandbox/tools.py has many. See run.py for the format.

## a command that ends
$ cordon tool exec_command --json '{"cmd": "echo a; exit 3", "yield_time_ms": 60000}'
{"protocol_version":1,"status":"error","code":"E_COMMAND_FAILED","message":"the command ended with exit code 3","truncated":false,"content":"a\n[the command ended with exit code 3]\n","details":{"output_bytes":3,"exit_code":3}}
? 6
$ cordon tool exec_command --arg command='stty size' --arg rows=7 --arg cols=33 --arg yield_time_ms=60000
7 33

## one that runs on is ended, and that is said
$ cordon tool exec_command --json '{"cmd": "sleep 1000", "yield_time_ms": 0}'
{"protocol_version":1,"status":"ok","message":"still running, and ended with this call; cordon tool --serve keeps it","truncated":false,"content":"[still running, and ended with this call; cordon tool --serve keeps it]\n","details":{"output_bytes":0,"ended":true}}

## arguments
$ cordon tool exec_command --arg cmd=x --arg yield_time_ms=3600001
cordon: exec_command: yield_time_ms: 3600001 is not within 0 to 3600000; for example {"cmd": "python3", "yield_time_ms": 1000} [E_TOOL_VALIDATION]
? 15
$ cordon tool write_stdin --json '{"session_id": "7"}' | grep -o '"message":"[^"]*"'
"message":"there is no session 7, nor any other: exec_command starts one"
$ cordon tool write_stdin --arg session_id=x
cordon: write_stdin: session_id: expected an integer, found a string; for example {"session_id": 1, "chars": "print(1)\n"} [E_TOOL_VALIDATION]
? 15
$ cordon tools --json | python3 -c 'import json, sys; print([t["parameters"]["properties"]["session_id"]["type"] for t in json.load(sys.stdin)["tools"] if t["name"] == "write_stdin"])'
['integer']

## --serve
$ printf '%s\n' '{"name": "exec_command", "arguments": {"cmd": "cat", "yield_time_ms": 0}, "request_id": "a"}' '{"name": "write_stdin", "arguments": {"session_id": 1, "chars": "\u0004", "yield_time_ms": 60000}}' | cordon tool --serve
{"protocol_version":1,"request_id":"a","status":"ok","message":"still running; session_id 1","truncated":false,"content":"[still running; session_id 1]\n","details":{"output_bytes":0,"session_id":1}}
{"protocol_version":1,"status":"ok","message":"exit code 0","truncated":false,"content":"","details":{"output_bytes":0,"exit_code":0}}
$ cordon tool --serve < /dev/null
$ cordon tool --serve shell
cordon: --serve takes the tools' names and arguments from standard input [E_CLI_INVALID_ARG]
? 12
$ cordon tool
cordon: the tool's NAME is missing; cordon tools lists them [E_CLI_INVALID_ARG]
? 12
