# protocol-help: every example in it is run against a real session. See run.py for the format.

## every action and every condition of the help works
$ cat >check.py <<'EOF'
> import json, subprocess
> doc = json.loads(subprocess.check_output(["cordon", "protocol-help", "--json"]))
> def drive(printed, actions, after=""):
>     script = "printf '%b' '" + printed + "'; " + (after or "while read x; do :; done; read")
>     lines = [json.dumps({"protocol_version": 1, "timeout_ms": 30000, "action": a}) for a in actions]
>     p = subprocess.run(["cordon", "driver", "--", "bash", "-c", script], input="\n".join(lines), text=True, capture_output=True)
>     return [json.loads(l) for l in p.stdout.splitlines()], p.returncode
> ready = {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "ready"}}}}
> for a in doc["actions"]:
>     out, code = drive("\\033[?1000h\\033[?1006hready", [ready, a["example"]])
>     if code or len(out) != 3 or any("error" in o for o in out): print(a["type"], code, out[1:])
> # What a program prints so that the example holds.
> shows = {"screen_matches": "total: 7", "screen_empty": "", "cursor_at": "\\033[3;6H", "cursor_hidden": "\\033[?25l",
>          "title_is": "\\033]2;editor\\007", "style_at": "\\033[1;31mready", "selected": "\\033[7m Open \\033[0m"}
> open("main.txt", "w").write("ready\nanything\n")
> for c in doc["conditions"]:
>     out, code = drive(shows.get(c["type"], "ready"), [{"type": "wait", "payload": {"condition": c["example"]}}],
>                       "exit 0" if c["type"] in ("process_exited", "exit_code") else "")
>     if code or len(out) != 2 or "error" in out[0]: print(c["type"], code, out[0].get("error"))
> print(len(doc["actions"]), "actions,", len(doc["conditions"]), "conditions")
> EOF
$ python3 check.py
6 actions, 20 conditions

## the session
$ cat >session.py <<'EOF'
> import json, subprocess
> e = json.loads(subprocess.check_output(["cordon", "protocol-help", "--json"]))["example"]
> p = subprocess.Popen(["cordon", "driver", "--"] + e["command"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
> for l in e["lines"]:
>     p.stdin.write(l["input"] + "\n"); p.stdin.flush()
>     answer = p.stdout.readline()
>     if l["answer_has"] not in answer: print(l, answer)
> print(json.loads(p.stdout.readline())["status"], p.wait())
> EOF
$ python3 session.py
passed 0

## its lists are complete
$ cordon protocol-help --json | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> print(d["protocol_version"], sorted(d["input"]["properties"]))
> print([e["type"] for e in d["events"]])
> print(len(d["errors"]), d["errors"][1])'
1 ['action', 'protocol_version', 'request_id', 'screen', 'settle_ms', 'timeout_ms']
['title', 'bell', 'unknown_sequence', 'unanswered_query', 'replaced_character', 'truncated_sequence', 'clipboard_refused', 'budget_near', 'resize', 'exit']
24 {'code': 'E_POLICY_DENIED', 'exit_status': 2, 'help': 'the policy does not allow it'}
$ cordon protocol-help | head -n 1
Driver protocol, version 1
