# cordon run: output and exit statuses. Conditions are tested by tests/unit/test_run.c.

## a scenario, its steps, its summary
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "printf 'name? '; read n; echo hello $n; read; exit 3"]}
> steps:
>   - {id: ask, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "name? "}}}}}
>   - {id: answer, action: {type: text, payload: {text: "Ada\r"}}, assert: [{type: screen_contains, payload: {text: hello Ada}}]}
>   - {id: end, action: {type: key, payload: {key: Enter}}, assert: [{type: exit_code, payload: {code: 3}}]}
> EOF
$ cordon run s.yaml
passed: 3 of 3 steps passed, [0-9]+ ms (re)
$ cordon run -v --scenario s.yaml 2>&1 >/dev/null
1/3 passed  +[0-9]+ ms  ask (re)
2/3 passed  +[0-9]+ ms  answer (re)
3/3 passed  +[0-9]+ ms  end (re)
$ cordon run --json s.yaml | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> print(d["status"], d["run_result_version"], [(s["step_id"], s["status"], s["attempts"], s.get("sent")) for s in d["steps"]])
> print(d["exit_status"], d["final_observation"]["screen"]["lines"][:2], "error" in d)
> print([e["type"] for e in d["final_observation"]["events"]], d["scenario"]["steps"][0]["timeout_ms"])'
passed 1 [('ask', 'passed', 1, None), ('answer', 'passed', 1, 'Ada\\r'), ('end', 'passed', 1, '\\r')]
{'success': False, 'exit_code': 3, 'signal': None, 'terminated_by_harness': False} ['name? Ada', 'hello Ada'] False
[] 5000

## a failing assertion: the screen, the nearest match, skipped steps
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo Welcome, Ada; read"]}
> steps:
>   - {id: up, action: {type: wait, payload: {condition: {type: screen_matches, payload: {pattern: "W.*A"}}}}}
>   - id: greets
>     timeout_ms: 50
>     retries: 2
>     action: {type: wait, payload: {condition: {type: cursor_visible}}}
>     assert: [{type: screen_contains, payload: {text: "Welcome, Eda"}}]
>   - {id: later, action: {type: terminate}}
> EOF
$ cordon run s.yaml
the screen was:
  | Welcome, Ada
cordon: step 'greets': the screen does not show 'Welcome, Eda'; the nearest is line 0: 'Welcome, Ada' [E_ASSERTION_FAILED]
failed: 1 of 3 steps passed, [0-9]+ ms (re)
? 5
$ cordon run --json s.yaml 2>/dev/null | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> print(d["status"], [(s["status"], s["attempts"]) for s in d["steps"]], d["steps"][1]["assertions"][0]["passed"])
> c = d["error"]["context"]
> print(d["error"]["code"], c["step_id"], c["assertion"], c["index"], repr(c["screen"]))'
failed [('passed', 1), ('failed', 3), ('skipped', 0)] False
E_ASSERTION_FAILED greets screen_contains 0 'Welcome, Ada\n'

## a timeout reports its condition and unanswered queries
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "printf '\\033[>7qx'; read"]}
> steps:
>   - {id: x, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}}
>   - {id: w, timeout_ms: 80, action: {type: wait, payload: {condition: {type: title_is, payload: {text: t}}}}}
> EOF
$ cordon run --json s.yaml 2>/dev/null | python3 -c '
> import json, sys
> d = json.load(sys.stdin); c = d["error"]["context"]
> print(d["status"], d["error"]["code"], d["error"]["message"])
> print(c["condition"], c["budget"], repr(c["screen"]), c["unanswered_queries"])'; echo ${PIPESTATUS[0]}
errored E_TIMEOUT step 'w': timeout after 80 ms: the title is '', expected 't'
title_is timeout_ms 'x\n' \x1B[>7q
4

## budgets
$ run() { printf 'scenario_version: 1\nrun: {command: /usr/bin/bash, args: ["-c", "%s"], policy: {policy_version: 4, exec: {allowed_executables: [/usr/bin/bash], allow_shell: true}, budgets: {%s}}}\nsteps: [{id: a, timeout_ms: 20000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: NEVER}}}}}]\n' "$1" "$2" >b.yaml
>   cordon run --json b.yaml 2>/dev/null | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> print(d["status"], d["error"]["code"], d["error"]["context"].get("budget"), (d["exit_status"] or {}).get("terminated_by_harness"))'; echo ${PIPESTATUS[0]}; }
> run 'read' 'max_runtime_ms: 100'
> run 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done' 'max_output_bytes: 50000'
> run 'read' 'max_wait_ms: 60'
> run 'echo NEVER; read' 'max_snapshot_bytes: 200'
errored E_TIMEOUT max_runtime_ms True
4
errored E_TIMEOUT max_output_bytes True
4
errored E_TIMEOUT max_wait_ms True
4
errored E_TIMEOUT max_snapshot_bytes True
4

## more steps than the budget allows: nothing starts, no record is made
$ python3 -c '
> import json
> json.dump({"scenario_version": 1, "run": {"command": "bash"}, "steps": [{"id": str(i), "action": {"type": "terminate"}} for i in range(20000)]}, open("s.json", "w"))'
$ cordon run --artifacts art s.json; ls
cordon: the scenario has 20000 steps, but the budget max_steps is 10000 [E_TIMEOUT]
home
s.json
$ cordon run s.json 2>/dev/null
? 4

## invalid scenarios
$ printf 'scenario_version: 1\nrun: {command: bash}\nsteps:\n- id: a\n  action: {type: kye}\n' >s.yaml; cordon run s.yaml
cordon: s.yaml:5:12: steps[0].action.type: unknown action 'kye'; did you mean 'key'? [E_PROTOCOL]
? 9
$ printf 'scenario_version: 7\nrun: {command: bash}\nsteps: []\n' >s.yaml; cordon run --json s.yaml 2>/dev/null
{"protocol_version":1,"error":{"code":"E_PROTOCOL_VERSION_MISMATCH","message":"s.yaml:1:1: scenario_version: version 7 is not supported: expected 1","context":{"provided_version":7,"supported_version":1,"field":"scenario_version","line":1,"column":1,"file":"s.yaml"}}}
? 8
$ cordon run gone.yaml
cordon: cannot open the scenario 'gone.yaml': No such file or directory [E_IO]
? 10
$ cordon run
cordon: 'cordon run' needs FILE or DIR: cordon run [OPTION…] FILE…|DIR… [E_CLI_INVALID_ARG]
? 12
$ cordon run --scenario a.yaml b.yaml
cordon: --scenario and FILE cannot be combined [E_CLI_INVALID_ARG]
? 12

## a denial by the scenario's own policy names the file
$ printf 'scenario_version: 1\nrun: {command: /usr/bin/true, policy: {policy_version: 4, exec: {allowed_executables: [/usr/bin/true]}, fs: {working_dir: x}}}\nsteps: []\n' >s.yaml; cordon run s.yaml
cordon: s.yaml: run.policy: fs.working_dir: must be an absolute path: 'x' (the meaning of a relative path depends on the current directory); use an absolute path [E_POLICY_DENIED]
? 2
$ sed -i 's/, fs: {working_dir: x}//; s/command: .usr.bin.true/command: \/usr\/bin\/false/' s.yaml; cordon run s.yaml
cordon: s.yaml: run: command: not an allowed program: '/usr/bin/false' (/usr/bin/false is not in exec.allowed_executables); add it there, or run an allowed program [E_POLICY_DENIED]
? 2
$ sed -i 's/command: .usr.bin.false/command: \/usr\/bin\/true/' s.yaml; cordon run --cwd /no/such s.yaml
cordon: cwd: cannot be entered: '/no/such' (No such file or directory); use --cwd with another directory [E_POLICY_DENIED]
? 2

## a missing program
$ printf 'scenario_version: 1\nrun: {command: /nowhere/x}\nsteps: []\n' >s.yaml; cordon run s.yaml 2>&1 | grep -o 'E_[A-Z_]*'; echo ${PIPESTATUS[0]}
E_CLI_INVALID_ARG
12

## the command ends before the condition holds
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo last words; exit 4"]}
> steps:
>   - {id: w, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: more}}}}}
> EOF
$ cordon run s.yaml
the screen was:
  | last words
cordon: step 'w': the command ended with exit status 4 before the step was complete [E_PROCESS_EXIT]
errored: 0 of 1 steps passed, [0-9]+ ms (re)
? 6
$ sed -i 's/text: more/text: words/; s/exit 4/kill -SEGV $$/' s.yaml; cordon run s.yaml
passed: 1 of 1 steps passed, [0-9]+ ms (re)
$ sed -i 's/^  - .*/  - {id: n, timeout_ms: 20000, action: {type: wait, payload: {condition: {type: process_exited}}}, assert: [{type: no_crash}]}/' s.yaml; cordon run s.yaml 2>&1 | grep cordon:
cordon: step 'n': the command was killed by signal 11 [E_ASSERTION_FAILED]

## input to a command that has ended is an error
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "exit 0"]}
> steps:
>   - {id: w, action: {type: wait, payload: {condition: {type: process_exited}}}}
>   - {id: k, action: {type: key, payload: {key: a}}}
> EOF
$ cordon run s.yaml 2>&1 | grep cordon:
cordon: step 'k': the command ended with exit status 0 before the step was complete [E_PROCESS_EXIT]

## every action
$ cat >prog.py <<'EOF'
> import os, signal, sys, tty
> tty.setraw(0)
> out = lambda s: os.write(1, s.encode())
> def size(*_): out("[%dx%d]" % (os.get_terminal_size().lines, os.get_terminal_size().columns))
> signal.signal(signal.SIGWINCH, size)
> signal.signal(signal.SIGTERM, lambda *_: (out("[bye]"), sys.exit(7)))
> out("\x1b[?2004h\x1b[?1000h\x1b[?1006h[ready]")
> while True: out(repr(os.read(0, 1000))[1:])
> EOF
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: /usr/bin/python3, args: [prog.py], initial_size: {rows: 10, cols: 200}}
> steps:
>   - {id: ready, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "[ready]"}}}}}
>   - {id: key, action: {type: key, payload: {key: Ctrl+c}}, assert: [{type: screen_contains, payload: {text: "'\\x03'"}}]}
>   - {id: up, action: {type: key, payload: {key: Up}}, assert: [{type: screen_contains, payload: {text: "'\\x1b[A'"}}]}
>   - {id: text, action: {type: text, payload: {text: "é\n"}}, assert: [{type: screen_contains, payload: {text: "'\\xc3\\xa9\\n'"}}]}
>   - {id: paste, action: {type: text, payload: {text: "p", paste: true}}, assert: [{type: screen_contains, payload: {text: "\\x1b[200~p\\x1b[201~"}}]}
>   - {id: mouse, action: {type: mouse, payload: {button: left, event: click, row: 1, col: 2}}, assert: [{type: screen_contains, payload: {text: "[<0;3;2M"}}]}
>   - {id: resize, action: {type: resize, payload: {rows: 12, cols: 50}}, assert: [{type: screen_contains, payload: {text: "[12x50]"}}]}
>   - {id: end, action: {type: terminate}, assert: [{type: process_exited}, {type: no_crash}]}
> EOF
$ cordon run s.yaml
passed: 8 of 8 steps passed, [0-9]+ ms (re)
$ sed -i 's/?1000h/?1000l/' prog.py; cordon run s.yaml 2>&1 | grep cordon:
cordon: step 'mouse': the program has not enabled these mouse reports [E_PROTOCOL]

## no process is left: it ignores signals, floods, forks twice
$ cat >prog.py <<'EOF'
> import os, signal, sys, time
> for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
> if os.fork() == 0:
>     os.setsid()
>     if os.fork() == 0:
>         os.setsid()
>         while True: time.sleep(1)
>     os._exit(0)
> os.wait()
> while True: os.write(1, (sys.argv[1] * 1000 + "\r\n").encode())
> EOF
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run:
>   command: /usr/bin/python3
>   args: [prog.py, MARK]
>   policy: {policy_version: 4, fs: {allowed_read: [DIR], working_dir: DIR}, exec: {allowed_executables: [/usr/bin/python3]}, budgets: {max_output_bytes: 100000000000}}
> steps: [{id: w, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: MARK}}}}}]
> EOF
$ mark=mark$$; sed -i "s|DIR|$PWD|g; s/MARK/$mark/g" s.yaml; cordon run s.yaml; grep -l [m]${mark#m} /proc/[0-9]*/cmdline 2>/dev/null | wc -l
passed: 1 of 1 steps passed, [0-9]+ ms (re)
0

## a command that closes its terminal continues
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo shown; exec 3</dev/tty 0<&- 1>&- 2>&-; read -u 3; exit 5"]}
> steps:
>   - {id: w, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: shown}}}}}
>   - {id: e, action: {type: key, payload: {key: Enter}}, assert: [{type: exit_code, payload: {code: 5}}]}
> EOF
$ cordon run s.yaml
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ sed -i 's/exec 3.*exit 5/exec 0<\&- 1>\&- 2>\&-; while :; do :; done/; s/- {id: e.*/- {id: t, timeout_ms: 40, action: {type: wait, payload: {condition: {type: process_exited}}}}/' s.yaml
$ cordon run s.yaml 2>&1 | tail -n 2
cordon: step 't': timeout after 40 ms: the command is still running [E_TIMEOUT]
errored: 1 of 2 steps passed, [0-9]+ ms (re)

## a screen without quiet time: the end of a synchronized update, and others
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo up; read; printf '\\033[?2026hhalf'; read; printf ' whole\\033[?2026l'; read"]}
> steps:
>   - {id: up, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: up}}}}}
>   - {id: half, timeout_ms: 400, action: {type: key, payload: {key: Enter}}, assert: [{type: screen_contains, payload: {text: half}}]}
>   - {id: whole, action: {type: key, payload: {key: Enter}}, assert: [{type: screen_contains, payload: {text: whole}}]}
> EOF
$ cordon run --json s.yaml | python3 -c 'import json,sys; print([(s["status"], s["matched_by"]) for s in json.load(sys.stdin)["steps"][1:]])'
[('passed', 'quiet'), ('passed', 'frame')]

## the record is complete, also for a failed run
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo shown; read"]}
> steps:
>   - {id: a, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: shown}}}}}
>   - {id: b, timeout_ms: 30, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: never}}}}}
>   - {id: c, action: {type: terminate}}
> EOF
$ mkdir w && cp s.yaml w && cd w && cordon run --artifacts ../art s.yaml 2>/dev/null; cd .. && find art -type f | sort
errored: 1 of 3 steps passed, [0-9]+ ms (re)
art/checksums.json
art/events.jsonl
art/normalization.json
art/policy.json
art/run.json
art/scenario.json
art/snapshots/0001.json
art/snapshots/0002.json
art/snapshots/0003.json
art/transcript.log
$ python3 -c '
> import json
> d = json.load(open("art/run.json"))
> print(d["status"], [(s["status"], s.get("snapshot")) for s in d["steps"]])
> print(len(open("art/events.jsonl").read().splitlines()))
> sums = json.load(open("art/checksums.json"))
> def fnv(b):
>     h = 0xcbf29ce484222325
>     for c in b: h = (h ^ c) * 0x100000001b3 % 2**64
>     return "%016x" % h
> print(all(fnv(open("art/" + k, "rb").read()) == v for k, v in sums.items()), len(sums))'
errored [('passed', 'snapshots/0001.json'), ('errored', 'snapshots/0002.json'), ('skipped', None)]
3
True 9

## an interrupted run: status canceled, its record complete, nothing left
$ mark=mark$$; printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo up; read; : %s"]}\nsteps: [{id: a, timeout_ms: 50000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: never}}}}}, {id: b, action: {type: terminate}}]\n' $mark >s.yaml
> mkdir w; cp s.yaml w; cd w
> python3 -c '
> import json, os, signal, subprocess, sys
> p = subprocess.Popen(["cordon", "run", "--json", "--artifacts", "../art", "s.yaml"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
> while not (os.path.exists("../art/transcript.log") and os.path.getsize("../art/transcript.log")): pass
> p.send_signal(signal.SIGINT)
> out, err = p.communicate()
> d = json.loads(out)
> print(p.returncode, d["status"], d["error"]["code"], [s["status"] for s in d["steps"]], err.decode().strip())
> print(json.load(open("../art/run.json")) == {k: d[k] for k in json.load(open("../art/run.json"))}, os.path.exists("../art/checksums.json"))'
> grep -l [m]${mark#m} /proc/[0-9]*/cmdline 2>/dev/null | wc -l
130 canceled E_CANCELED ['errored', 'skipped'] cordon: step 'a': interrupted [E_CANCELED]
True True
0

## a result that is not read
$ printf 'scenario_version: 1\nrun: {command: bash}\nsteps: []\n' >s.yaml
$ python3 -c '
> import os, subprocess
> r, w = os.pipe(); os.close(r)
> p = subprocess.run(["cordon", "run", "--json", "s.yaml"], stdout=w, stderr=subprocess.PIPE)
> print(p.returncode, p.stderr.decode().strip())'
10 cordon: cannot write to standard output: Broken pipe [E_IO]

## --explain-policy runs nothing
$ printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x >&2"]}\nsteps: []\n' >s.yaml; cordon run --explain-policy --json s.yaml | python3 -c 'import json,sys; print(json.load(sys.stdin)["allowed"])'
True

## a report for a run that does not start
$ printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x"]}\nsteps: []\n' >s.yaml; cordon run --explain-policy --tap s.yaml
cordon: --explain-policy runs nothing and cannot be combined with --tap [E_CLI_INVALID_ARG]
? 12
$ cordon run --explain-policy --junit r.xml s.yaml 2>/dev/null
? 12

## an earlier screen does not count as the answer to input
# the program answers 300 ms after reading, and does not echo
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run:
>   command: /usr/bin/bash
>   policy: {policy_version: 4, exec: {allow_shell: true, allowed_executables: [/usr/bin/bash, /usr/bin/stty]}}
>   args: ["-c", "stty -echo; echo OK; read x; read -t 0.3 z; printf '\\033[2J\\033[HGONE'; read y; read y"]
> steps:
>   - {id: a, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: OK}}}}}
>   - {id: b, timeout_ms: 3000, action: {type: text, payload: {text: "x\n"}}, assert: [{type: screen_contains, payload: {text: OK}}]}
> EOF
$ cordon run s.yaml 2>&1 | grep -v warning; echo ${PIPESTATUS[0]}
the screen was:
  | GONE
cordon: step 'b': the screen does not show 'OK' [E_ASSERTION_FAILED]
failed: 1 of 2 steps passed, [0-9]+ ms (re)
5
# input that changes nothing: assertions are tested long before the timeout
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run:
>   command: /usr/bin/bash
>   policy: {policy_version: 4, exec: {allow_shell: true, allowed_executables: [/usr/bin/bash, /usr/bin/stty]}}
>   args: ["-c", "stty -echo; echo OK; read x; printf '\\a'; read y; read z"]
> steps:
>   - {id: a, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: OK}}}}}
>   - {id: bell, timeout_ms: 50000, action: {type: text, payload: {text: "x\n"}}, assert: [{type: line_equals, payload: {line: 0, text: OK}}]}
>   - {id: silence, timeout_ms: 50000, action: {type: text, payload: {text: "y\n"}}, assert: [{type: line_equals, payload: {line: 0, text: OK}}]}
>   - {id: nothing, timeout_ms: 50000, action: {type: text, payload: {text: ""}}, assert: [{type: line_equals, payload: {line: 0, text: OK}}]}
> EOF
# on a busy machine the bell may come too late: try again
$ for i in {1..9}; do cordon run --json s.yaml 2>/dev/null | python3 -c '
> import json, sys
> for s in json.load(sys.stdin)["steps"][1:]:
>     ms = s["ended_at_ms"] - s["started_at_ms"]
>     print(s["step_id"], s["status"], s["matched_by"], ms >= 30, ms >= 1000, ms < 25000)' >out; ! grep -q '^bell passed quiet True True' out && break; done; cat out
bell passed quiet True False True
silence passed quiet True True True
nothing passed quiet False False True

## a wait also has windows, and shares them with the assertions after it
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo up; read -t 3 x; echo later; read"]}
> steps:
>   - {id: a, timeout_ms: 400, retries: 100, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: later}}}}}
>   - {id: b, timeout_ms: 100, retries: 2, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: never}}}}}
> EOF
$ cordon run --json s.yaml 2>words | python3 -c '
> import json, sys
> for s in json.load(sys.stdin)["steps"]:
>     print(s["status"], s["attempts"] > 1, s["attempts"] < 101, s["attempts"])'; cat words
passed True True [0-9]+ (re)
errored True True 3
the screen was:
  | up
  | later
cordon: step 'b': timeout after 300 ms: the screen does not show 'never' [E_TIMEOUT]
# the condition holds after a part of the timeout: the assertions have the rest
$ cat >s.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "echo go; read -t 1.5 x; echo up; read -t 4.8 x; echo late; read"]}
> steps:
>   - {id: go, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: go}}}}}
>   - {id: a, timeout_ms: 5000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: up}}}}, assert: [{type: screen_contains, payload: {text: late}}]}
> EOF
$ cordon run s.yaml
the screen was:
  | go
  | up
cordon: step 'a': the screen does not show 'late' [E_ASSERTION_FAILED]
failed: 1 of 2 steps passed, [0-9]+ ms (re)
? 5

## a scenario that is not a regular file
$ mkfifo f.yaml; timeout 60 cordon run f.yaml
cordon: the scenario 'f.yaml' is not a regular file [E_IO]
? 10
$ printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x"]}\nsteps: []\n' | cordon run /dev/stdin
passed: 0 of 0 steps passed, [0-9]+ ms (re)
$ cordon run <(printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x"]}\nsteps: []\n')
passed: 0 of 0 steps passed, [0-9]+ ms (re)
