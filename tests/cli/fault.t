# Scenarios that are invalid or too large; the exact end of waits. See run.py for the format.

## a wrong type, an unknown action, a duplicate id: reported with position; nothing starts, no record is made
$ cat >wrong.sh <<'EOF'
> printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo ran >ran"]}\nsteps:\n  - {id: a, action: {type: terminate}}\n  - %s\n' "$1" >s.yaml
> cordon run --artifacts art s.yaml; echo $?; ls -d art ran 2>/dev/null || :
> EOF
$ for s in '{id: b, timeout_ms: soon, action: {type: terminate}}' '{id: b, action: {type: presss}}' '{id: a, action: {type: terminate}}' '{id: b, action: {type: key, payload: {key: 7}}}' '{id: b, action: {type: terminate}, assert: {}}'; do bash wrong.sh "$s"; done
cordon: s.yaml:5:13: steps[1].timeout_ms: expected an integer, found a string [E_PROTOCOL]
9
cordon: s.yaml:5:22: steps[1].action.type: unknown action 'presss'; 'cordon protocol-help' lists the actions [E_PROTOCOL]
9
cordon: s.yaml:5:6: steps[1].id: 'a' is also the id of an earlier step [E_PROTOCOL]
9
cordon: s.yaml:5:43: steps[1].action.payload.key: expected a string, found an integer [E_PROTOCOL]
9
cordon: s.yaml:5:40: steps[1].assert: expected a list [E_PROTOCOL]
9

## 20,000 steps: over the budget fails quickly; a larger budget accepts them
$ cat >many.py <<'EOF'
> import json, subprocess, sys, time
> def scenario(n, **budgets):
>     return {"scenario_version": 1, "run": {"command": "/usr/bin/true", "policy": {"policy_version": 4, "exec": {"allowed_executables": ["/usr/bin/true"]}, "budgets": budgets}},
>             "steps": [{"id": str(i), "action": {"type": "key", "payload": {"key": "a"}}, "assert": [{"type": "screen_contains", "payload": {"text": "x"}}]} for i in range(n)]}
> def run(tree, name, text):
>     open(name, "w").write(text)
>     start = time.monotonic()
>     p = subprocess.run(["cordon", "run", "--json", "--artifacts", "art", name], capture_output=True)
>     d = json.loads(p.stdout)
>     print(name, p.returncode, d["error"]["code"], d["error"]["context"].get("budget"), d["error"]["context"].get("limit"), "soon" if time.monotonic() - start < 10 else "late")
>     return d
> tree = scenario(20000)
> run(tree, "s.json", json.dumps(tree))
> run(tree, "s.yaml", "scenario_version: 1\nrun: " + json.dumps(tree["run"]) + "\nsteps:\n" + "".join("  - " + json.dumps(s) + "\n" for s in tree["steps"]))
> tree["steps"][19999]["id"] = "0"
> print(run(tree, "d.json", json.dumps(tree))["error"]["message"])
> tree = scenario(20000, max_steps=20000)
> tree["steps"] = [{"id": s["id"], "action": {"type": "terminate"}} for s in tree["steps"]]
> open("l.json", "w").write(json.dumps(tree))
> p = subprocess.run(["cordon", "run", "--explain-policy", "--json", "l.json"], capture_output=True)
> print(p.returncode, json.loads(p.stdout)["allowed"])
> EOF
$ python3 many.py; ls -d art
s.json 4 E_TIMEOUT max_steps 10000 soon
s.yaml 4 E_TIMEOUT max_steps 10000 soon
d.json 9 E_PROTOCOL None None soon
d.json:1:.*: steps\[19999\].id: '0' is also the id of an earlier step (re)
0 True
ls: cannot access 'art': No such file or directory
? 2

## a budget of 0 allows nothing
$ printf 'scenario_version: 1\nrun: {command: /usr/bin/true, policy: {policy_version: 4, exec: {allowed_executables: [/usr/bin/true]}, budgets: {max_steps: 0}}}\nsteps: [{id: a, action: {type: terminate}}]\n' >s.yaml; cordon run s.yaml
cordon: the scenario has 1 steps, but the budget max_steps is 0 [E_TIMEOUT]
? 4
$ printf 'scenario_version: 1\nrun: {command: /usr/bin/echo, args: [x], policy: {policy_version: 4, exec: {allowed_executables: [/usr/bin/echo]}, budgets: {max_output_bytes: 0}}}\nsteps: [{id: a, action: {type: wait, payload: {condition: {type: process_exited}}}}]\n' >s.yaml; cordon run s.yaml 2>&1 | grep -o 'max_output.*'
max_output_bytes in a policy (--policy) to allow more [E_TIMEOUT]

## a mask whose pattern needs too many steps: the assertion fails with the reason, and nothing is written
$ mkdir s; printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "printf %%070d 0; read"]}\nsteps: [{id: up, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "000"}}}}}, {id: a, timeout_ms: 300, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "000"}}}}, assert: [{type: screen_matches_golden, payload: {file: g, mask: [{pattern: "((0+)+)+[xy]"}]}}]}]\n' >s/a.yaml; echo other >s/g
$ cordon run --update-goldens none s/a.yaml 2>&1 | grep '^cordon'
cordon: step 'a': the golden 'g', mask[0], pattern '((0+)+)+[xy]': the pattern needs too many steps to match [E_ASSERTION_FAILED]
$ for m in changed all; do cordon run --update-goldens $m s/a.yaml 2>&1 | grep '^cordon'; cat s/g; done
cordon: step 'a': the golden 'g', mask[0], pattern '((0+)+)+[xy]': the pattern needs too many steps to match [E_PROTOCOL]
other
cordon: step 'a': the golden 'g', mask[0], pattern '((0+)+)+[xy]': the pattern needs too many steps to match [E_PROTOCOL]
other

## a wait ends by change, frame, quiet or exit
$ cat >prog.py <<'EOF'
> import os, select, sys, time, tty
> tty.setraw(0)
> os.write(1, b"prompt ok ")
> def spin(ms):
>     end = time.monotonic() + ms / 1000
>     while time.monotonic() < end: pass
> while True:
>     key = os.read(0, 1)
>     if key == b"c": spin(10); os.write(1, b"[c]")
>     if key == b"f": os.write(1, b"\x1b[?2026h[f"); spin(10); os.write(1, b"]\x1b[?2026l")
>     if key == b"s":
>         for i in range(5): os.write(1, b"%d" % i); spin(20)
>     if key == b"x": sys.exit(3)
> EOF
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run:
>   command: /usr/bin/python3
>   args: [prog.py]
>   policy: {policy_version: 4, fs: {allowed_write: [DIR], working_dir: DIR}, fs_write_unsafe_ack: true, exec: {allowed_executables: [/usr/bin/python3]}}
> steps:
>   - {id: up, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "ok"}}}}}
>   - {id: c, action: {type: key, payload: {key: c}}, assert: [{type: screen_contains, payload: {text: "ok"}}]}
>   - {id: f, action: {type: key, payload: {key: f}}, assert: [{type: screen_contains, payload: {text: "[f]"}}]}
>   - {id: n, action: {type: key, payload: {key: n}}, assert: [{type: screen_contains, payload: {text: "ok"}}]}
>   - {id: s, action: {type: key, payload: {key: s}}, assert: [{type: screen_stable, payload: {quiet_ms: 1000}}]}
>   - {id: x, action: {type: key, payload: {key: x}}, assert: [{type: exit_code, payload: {code: 3}}]}
> EOF
$ sed -i "s|DIR|$PWD|g" s.yaml; cordon run --json --artifacts art s.yaml >out.json; python3 -c '
> import json
> d = json.load(open("out.json"))
> for s in d["steps"][1:]: print(s["step_id"], s["status"], s["matched_by"], json.load(open("art/" + s["snapshot"]))["lines"][0])
> print([e for l in open("art/events.jsonl") for e in json.loads(l)["events"]])'
c passed change prompt ok [c]
f passed frame prompt ok [c][f]
n passed quiet prompt ok [c][f]
s passed quiet prompt ok [c][f]01234
x passed exit prompt ok [c][f]01234
[{'type': 'exit', 'details': {'success': False, 'exit_code': 3, 'signal': None, 'terminated_by_harness': False}}]

## a driver's timeout contains the screen, the condition and unanswered queries; settle_ms waits for all output
$ cat >prog.py <<'EOF'
> import os, time, tty
> tty.setraw(0)
> os.write(1, b"here\x1b[8;12;50t")
> os.read(0, 100)
> for i in range(5):
>     os.write(1, b"%d" % i)
>     end = time.monotonic() + 0.02
>     while time.monotonic() < end: pass
> os.read(0, 100)
> EOF
$ printf '%s\n' '{"protocol_version":1,"action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"here"}}}}}' '{"protocol_version":1,"timeout_ms":300,"action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"never"}}}}}' '{"protocol_version":1,"settle_ms":1000,"action":{"type":"key","payload":{"key":"a"}}}' | cordon driver -- python3 prog.py | python3 -c '
> import json, sys
> _, a, b, r = map(json.loads, sys.stdin)
> c = a["error"]["context"]
> print(a["error"]["code"], c["condition"], c["budget"], repr(c["screen"]), c["unanswered_queries"], a["screen"]["lines"][0], "matched_by" in a)
> print(b["matched_by"], b["screen"]["lines"][0], r["status"], r["final_observation"]["transcript_bytes"] == b["transcript_bytes"])'
E_TIMEOUT screen_contains timeout_ms 'here\n' \x1B[8;12;50t here False
quiet here01234 passed True

## protocol-help lists exactly the members of an observation
$ printf '%s\n' '{"protocol_version":1,"request_id":1,"timeout_ms":20000,"action":{"type":"wait","payload":{"condition":{"type":"process_exited"}}}}' | cordon driver -- bash -c 'for i in {1..2000}; do printf "\a"; done; printf "%0600000d" 0; exit 4' >out; cordon protocol-help --json | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> names = {f["name"] for f in d["observation"]}
> answer = json.loads(open("out").readline())
> print(names - set(answer), set(answer) - names, all(f["help"] for f in d["observation"]))
> print({e["type"] for e in answer["events"]} <= {e["type"] for e in d["events"]}, all(e["help"] for e in d["events"]))'
{'error'} set() True
True True
