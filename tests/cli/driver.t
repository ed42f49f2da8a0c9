# cordon driver: a line of JSON per action and answer. See run.py for the format.

## one observation for each action, then the result
$ cat >show.py <<'EOF'
> import json, sys
> for line in sys.stdin:
>     d = json.loads(line)
>     if "run_result_version" in d:
>         print("result", d["status"], d["exit_status"] and (d["exit_status"]["exit_code"], d["exit_status"]["signal"], d["exit_status"]["terminated_by_harness"]), d.get("error", {}).get("code"))
>     elif "screen" not in d:
>         print("error", d.get("request_id"), d["error"]["code"], d["error"]["message"])
>     else:
>         s = d["screen"]
>         rows = s and ([l for l in s["lines"] if l] if "lines" in s else s["changed"])
>         print(d.get("request_id"), d.get("matched_by"), rows, [e["type"] for e in d["events"]], *([d["error"]["code"], d["error"]["context"].get("budget")] if "error" in d else []))
> EOF
$ cat >lines <<'EOF'
> {"protocol_version":1,"request_id":1,"action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"name? "}}}}}
> {"protocol_version":1,"request_id":{"any":"thing"},"settle_ms":1000,"action":{"type":"text","payload":{"text":"Ada\r"}}}
> {"protocol_version":1,"request_id":"d","screen":"delta","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"hello Ada"}}}}}
> {"protocol_version":1,"screen":"delta","settle_ms":20,"action":{"type":"resize","payload":{"rows":24,"cols":100}}}
> {"protocol_version":1,"screen":"delta","settle_ms":1000,"action":{"type":"key","payload":{"key":"x"}}}
> {"protocol_version":1,"timeout_ms":40,"action":{"type":"wait","payload":{"condition":{"type":"title_is","payload":{"text":"t"}}}}}
> EOF
$ cordon driver --stdio -- bash -c 'printf "name? "; read n; echo hello $n; read; exit 3' < <(head -n 1 lines; echo; printf ' \r\n'; tail -n +2 lines) | python3 show.py; echo ${PIPESTATUS[0]}
1 (change|quiet) \['name\?'\] \[\] (re)
{'any': 'thing'} quiet ['name? Ada', 'hello Ada'] []
d quiet {} []
None quiet {} ['resize']
None quiet {'2': 'x'} []
None None ['name? Ada', 'hello Ada', 'x'] [] E_TIMEOUT timeout_ms
result passed (None, 15, True) None
0

## cells are included only on request
$ printf '%s\n' '{"protocol_version":1,"screen":"cells","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"x"}}}}}' '{"protocol_version":1,"action":{"type":"terminate"}}' | cordon driver --rows 2 --cols 3 -- bash -c 'printf "\033[1mx"; read' | python3 -c '
> import json, sys
> a, b, r = map(json.loads, sys.stdin)
> print(a["screen"]["cells"][0][0]["ch"], a["screen"]["cells"][0][0]["style"]["bold"], "cells" in b["screen"], b["matched_by"], r["status"])'
x True False exit passed

## invalid input ends it, unless it should continue
$ cat >show.py <<'EOF'
> import json, sys
> for line in sys.stdin:
>     d = json.loads(line)
>     print(*(["result", d["status"]] if "run_result_version" in d else ["answer", d.get("request_id")]), d.get("error", {}).get("code"), d.get("error", {}).get("message"))
> EOF
$ for l in 'nonsense' '{"protocol_version":1,"request_id":7,"action":{"type":"kye"}}' '{"protocol_version":2,"request_id":8,"action":{"type":"terminate"}}' '{"action":{"type":"terminate"}}' '[]' '{"protocol_version":1,"action":{"type":"terminate"},"extra":1}'; do
>   echo "$l" | cordon driver -- bash -c read 2>/dev/null | python3 show.py; echo ${PIPESTATUS[1]}
> done
answer None E_PROTOCOL input:1:1: invalid token near 'nonsense'
result errored E_PROTOCOL input:1:1: invalid token near 'nonsense'
9
answer 7 E_PROTOCOL action.type: unknown action 'kye'; did you mean 'key'?
result errored E_PROTOCOL action.type: unknown action 'kye'; did you mean 'key'?
9
answer 8 E_PROTOCOL_VERSION_MISMATCH protocol_version 2 is not supported: expected 1
result errored E_PROTOCOL_VERSION_MISMATCH protocol_version 2 is not supported: expected 1
8
answer None E_PROTOCOL protocol_version: required, but missing
result errored E_PROTOCOL protocol_version: required, but missing
9
answer None E_PROTOCOL .* (re)
result errored E_PROTOCOL .* (re)
9
answer None E_PROTOCOL extra: unknown key.* (re)
result errored E_PROTOCOL extra: unknown key.* (re)
9
$ printf '%s\n' 'nonsense' '{"protocol_version":2,"action":{"type":"terminate"}}' '{"protocol_version":1,"request_id":3,"action":{"type":"mouse","payload":{"button":"left","event":"click","row":0,"col":0}}}' '{"protocol_version":1,"request_id":4,"action":{"type":"key","payload":{"key":"a"}}}' | cordon driver --keep-going -- bash -c read | python3 show.py; echo ${PIPESTATUS[1]}
answer None E_PROTOCOL .* (re)
answer None E_PROTOCOL_VERSION_MISMATCH protocol_version 2 is not supported: expected 1
answer 3 E_PROTOCOL the program has not enabled these mouse reports
answer 4 None None
result passed None None
0

# end of input, immediately or within a line
$ cordon driver -- bash -c read </dev/null | python3 show.py
result passed None None
$ printf '{"protocol_version":1,"request_id":1,"action":{"type":"terminate"}}' | cordon driver -- bash -c read | python3 show.py
answer 1 None None
result passed None None

# after the command has ended: input, waits
$ printf '%s\n' '{"protocol_version":1,"request_id":1,"action":{"type":"wait","payload":{"condition":{"type":"exit_code","payload":{"code":3}}}}}' '{"protocol_version":1,"request_id":2,"action":{"type":"key","payload":{"key":"a"}}}' '{"protocol_version":1,"request_id":3,"action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"bye"}}}}}' '{"protocol_version":1,"request_id":4,"action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"no"}}}}}' | cordon driver -- bash -c 'echo bye; exit 3' | python3 show.py
answer 1 None None
answer 2 E_PROCESS_EXIT the command has ended
answer 3 None None
answer 4 E_PROCESS_EXIT the command has ended
result passed None None

# budgets: the action is answered, then the result
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/bash], allow_shell: true}\nbudgets: {max_output_bytes: 20000, max_wait_ms: 50}\n' >p.yaml
$ echo '{"protocol_version":1,"request_id":1,"action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"never"}}}}}' | cordon driver --policy p.yaml -- /usr/bin/bash -c 'read' 2>/dev/null | python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["error"]["context"]["budget"])'
max_wait_ms
$ sed -i 's/, max_wait_ms: 50//' p.yaml; printf '%s\n' '{"protocol_version":1,"request_id":1,"settle_ms":3000,"action":{"type":"key","payload":{"key":"Enter"}}}' | cordon driver --policy p.yaml -- /usr/bin/bash -c 'read; for ((i = 0; i < 30000; i++)); do echo x; done; read' 2>/dev/null | python3 show.py; echo ${PIPESTATUS[1]}
answer 1 E_TIMEOUT the command printed more than 20000 bytes and was killed; set budgets.max_output_bytes in a policy (--policy) to allow more
result errored E_TIMEOUT the command printed more than 20000 bytes and was killed; set budgets.max_output_bytes in a policy (--policy) to allow more
4
$ sed -i 's/budgets.*/budgets: {max_snapshot_bytes: 200}/' p.yaml; printf '%s\n' '{"protocol_version":1,"request_id":1,"action":{"type":"key","payload":{"key":"a"}}}' | cordon driver --policy p.yaml -- /usr/bin/bash -c 'read' 2>/dev/null | python3 show.py
answer 1 E_TIMEOUT a snapshot is larger than 200 bytes; set budgets.max_snapshot_bytes in a policy (--policy) to allow more
result errored E_TIMEOUT a snapshot is larger than 200 bytes; set budgets.max_snapshot_bytes in a policy (--policy) to allow more

## interrupted, and with unread output
$ cat >drive.py <<'EOF'
> import json, os, signal, subprocess, sys
> p = subprocess.Popen(["cordon", "driver", "--artifacts", "../art" + sys.argv[1], "--", "bash", "-c", "echo up; read"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
> ask = lambda o: (p.stdin.write(json.dumps(o).encode() + b"\n"), p.stdin.flush())
> ask({"protocol_version": 1, "action": {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "up"}}}}})
> p.stdout.readline()
> if sys.argv[1] == "int":
>     p.send_signal(signal.SIGINT)
> else:
>     p.stdout.close()
>     ask({"protocol_version": 1, "action": {"type": "key", "payload": {"key": "a"}}})
> code = p.wait()
> d = json.load(open("../art" + sys.argv[1] + "/run.json"))
> print(code, d["status"], d["error"]["code"], sorted(os.listdir("../art" + sys.argv[1])))
> EOF
$ mkdir w && cd w && python3 ../drive.py int && python3 ../drive.py pipe
130 canceled E_CANCELED ['checksums.json', 'events.jsonl', 'normalization.json', 'policy.json', 'run.json', 'snapshots', 'transcript.log']
10 errored E_IO ['checksums.json', 'events.jsonl', 'normalization.json', 'policy.json', 'run.json', 'snapshots', 'transcript.log']

## request_id and timeout_ms are returned unchanged
$ printf '%s\n' '{"protocol_version":1,"request_id":"a","timeout_ms":4000,"action":{"type":"key","payload":{"key":"a"}}}' '{"protocol_version":1,"action":{"type":"key","payload":{"key":"b"}}}' '{"protocol_version":1,"request_id":"c","timeout_ms":"long","action":{"type":"terminate"}}' | cordon driver --keep-going -- bash -c read | python3 -c '
> import json, sys
> for line in list(sys.stdin)[:-1]: d = json.loads(line); print(d.get("request_id"), d.get("timeout_ms"), "error" in d)'
a 4000 False
None None False
c long True

## usage
$ cordon driver
cordon: 'cordon driver' needs COMMAND: cordon driver [OPTION…] [--] COMMAND [ARGUMENT…] [E_CLI_INVALID_ARG]
cordon: try 'cordon driver --help'
? 12
$ cordon driver --rows 0 -- bash 2>/dev/null </dev/null
? 12
