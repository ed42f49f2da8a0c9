# cordon replay, cordon replay-report. See run.py for the format.

## a recording replays, and the result is printed
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ ls a a/snapshots | grep .
a:
checksums.json
events.jsonl
normalization.json
policy.json
run.json
scenario.json
snapshots
transcript.log
a/snapshots:
0001.json
0002.json
0003.json
$ cordon replay --artifacts a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cordon replay --artifacts a --require-events --require-checksums --normalize all --json
{"protocol_version":1,"replay":{"replay_version":1,"status":"passed","source":"cli","strict":false,"filters":\["snapshot_id","run_id","run_timestamps","step_timestamps","observation_timestamp","session_id"\],"rules":\[\],"mismatch":null},"diff":null,"dir":"\$T/a/replay-[0-9a-f-]{36}"} (re)
$ cordon replay --artifacts a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ ls -d a/replay-* | wc -l; ls a/replay-*/ | sort -u | grep json
3
checksums.json
events.jsonl
policy.json
replay.json
run.json
scenario.json

## the same run twice gives the same files, except for the six filters
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ mv a b && cordon run s.json --artifacts a > /dev/null
$ cat > strip.py <<'END'
> import json, sys
> def strip(v):
>     if isinstance(v, list):
>         return [strip(x) for x in v]
>     if not isinstance(v, dict):
>         return v
>     drop = {"snapshot_id", "run_id", "session_id", "timestamp_ms", "started_at_ms", "ended_at_ms"}
>     return {k: strip(x) for k, x in v.items() if k not in drop}
> for line in open(sys.argv[1]).read().split("\n") if sys.argv[1].endswith("l") else [open(sys.argv[1]).read()]:
>     print(json.dumps(strip(json.loads(line or "null"))))
> END
$ for f in run.json events.jsonl normalization.json policy.json scenario.json snapshots/0001.json snapshots/0002.json snapshots/0003.json; do cmp <(python3 strip.py a/$f) <(python3 strip.py b/$f) || diff <(python3 strip.py a/$f) <(python3 strip.py b/$f); done
$ cmp a/transcript.log b/transcript.log

## one changed cell of a snapshot: the step, the row, expected and actual text
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ sed -i 's/"lines":\["hello","hello"/"lines":["hello","hellp"/' a/snapshots/0001.json
$ cordon replay --artifacts a
cordon: the artifact 'snapshots/0001.json' or its line in checksums.json was changed: expected the checksum [0-9a-f]{16}, found [0-9a-f]{16} \[E_REPLAY_MISMATCH\] (re)
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
step 1 'type': row 1 differs: expected 'hellp', got 'hello'
row 1:
  - hellp
  + hello
? 11
$ cat a/replay-*/diff.json | grep -v checksum | head -n 30 | tr -d '\n '; rm -r a/replay-*
{"code":"E_REPLAY_MISMATCH","context":{"index":0,"file":"snapshots/0001.json","expected":"[0-9a-f]{16}","actual":"[0-9a-f]{16}","step_id":"type","step":0,"row":1,"snapshot":"snapshots/0001.json","difference":"step1'type':row1differs:expected'hellp',got'hello'"},"index":0,"rows":\[{"row":1,"expected":"hellp","actual":"hello"}\]} (re)
$ rm a/checksums.json; cordon replay --artifacts a
cordon: step 1 'type': row 1 differs: expected 'hellp', got 'hello' [E_REPLAY_MISMATCH]
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
row 1:
  - hellp
  + hello
? 11
$ cordon replay --artifacts a --offline --color always 2>/dev/null | cat -v | sed 's/replay-.*/replay-ID/'
^[[31mfailed^[[0m: $T/a/replay-ID
row 1:
^[[31m  - hellp^[[0m
^[[32m  + hello^[[0m
$ cordon replay --artifacts a --offline --json 2>/dev/null | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["replay"]["status"], r["replay"]["mismatch"], r["diff"]["kind"], r["diff"]["index"], r["diff"]["rows"], r["error"]["code"])'
failed {'kind': 'snapshot', 'index': 0} snapshot 0 [{'row': 1, 'expected': 'hellp', 'actual': 'hello'}] E_REPLAY_MISMATCH
$ cordon replay-report --artifacts a
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
step 1 'type': row 1 differs: expected 'hellp', got 'hello'
row 1:
  - hellp
  + hello

## cells: a colour differs, the text does not
$ printf 'printf "\\033[31mred\\033[m\\n"; read x' > p && echo '{"scenario_version":1,"run":{"command":"/bin/bash","args":["'$T'/p"],"initial_size":{"rows":2,"cols":4}},"steps":[{"id":"see","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"red"}}}}}]}' > s.json && cordon run --cells s.json --artifacts a > /dev/null
$ cordon replay --artifacts a > /dev/null && cordon replay --artifacts a --offline > /dev/null && rm a/checksums.json
$ sed -i '0,/"ansi_16":1/s//"ansi_16":2/' a/snapshots/0001.json && cordon replay --artifacts a
cordon: step 1 'see': row 0 differs in style: 'red' [E_REPLAY_MISMATCH]
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
row 0:
  - red
  + red
  column 0: expected {"ch":"r","width":1,"style":{"fg":{"ansi_16":2},.* got {"ch":"r","width":1,"style":{"fg":{"ansi_16":1},.* (re)
? 11

## the text colour of a blank is invisible: only --strict compares it
$ printf 'printf "\\033[44;37m a \\033[m\\n"; read x' > p && echo '{"scenario_version":1,"run":{"command":"/bin/bash","args":["'$T'/p"],"initial_size":{"rows":2,"cols":4}},"steps":[{"id":"see","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"a"}}}}}]}' > s.json && cordon run --cells s.json --artifacts a > /dev/null
$ rm a/checksums.json; sed -i '0,/"ansi_16":7/s//"ansi_16":6/' a/snapshots/0001.json && cordon replay --artifacts a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cordon replay --artifacts a --offline --strict 2>&1 | grep -o 'row 0 differs in style'
row 0 differs in style
$ sed -i '0,/"ansi_16":4/s//"ansi_16":5/' a/snapshots/0001.json && cordon replay --artifacts a --offline 2>&1 | grep -o 'row 0 differs in style'
row 0 differs in style

## the cursor, the title and the size are also compared
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ rm a/checksums.json; sed -i 's/"cursor":{"row":2/"cursor":{"row":1/' a/snapshots/0001.json; cordon replay --artifacts a --offline > /dev/null
cordon: step 1 'type': cursor differs: expected {"row":1,"col":0,"visible":true}, got {"row":2,"col":0,"visible":true} [E_REPLAY_MISMATCH]
? 11

## the results of steps, command and run are compared
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ rm a/checksums.json; cp a/run.json r; python3 - <<'END'
> import json
> r = json.load(open("r")); r["steps"][1]["status"] = "failed"; json.dump(r, open("a/run.json", "w"))
> END
$ cordon replay --artifacts a > /dev/null
cordon: step 2 'wider': expected 'failed', got 'passed' [E_REPLAY_MISMATCH]
? 11
$ sed 's/"status": "passed",$/"status": "errored",/;n' r | python3 -c 'import json, sys; r = json.load(sys.stdin); s = json.load(open("r")); s["status"] = "canceled"; json.dump(s, sys.stdout)' > a/run.json; cordon replay --artifacts a > /dev/null
cordon: the run's status: expected '"canceled"', got '"passed"' [E_REPLAY_MISMATCH]
? 11
$ cordon exec --artifacts e --pipes -- sh -c 'exit 3' 2> /dev/null
? 6
$ cordon replay --artifacts e
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ rm e/checksums.json; sed -i 's/"exit_code": 3$/"exit_code": 4/; s/"exit_code": 3,$/"exit_code": 4,/' e/run.json; cordon replay --artifacts e > /dev/null
cordon: the command's exit status: expected '{"success":false,"exit_code":4,"signal":null,"terminated_by_harness":false}', got '{"success":false,"exit_code":3,"signal":null,"terminated_by_harness":false}' [E_REPLAY_MISMATCH]
? 11

## a failed run replays as a failing one
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat"},"steps":[{"id":"a","timeout_ms":50,"action":{"type":"text","payload":{"text":"x"}},"assert":[{"type":"screen_contains","payload":{"text":"nothing"}}]},{"id":"b","action":{"type":"terminate"}}]}' > s.json; cordon run s.json --artifacts a > /dev/null 2>&1
? 5
$ cordon replay --artifacts a && cordon replay --artifacts a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## one changed byte anywhere is found and its file named; the replay is still written
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ cat > flip.py <<'END'
> import json, os, shutil, subprocess
> files = [f for f in os.listdir("a") if f != "snapshots"] + ["snapshots/" + f for f in os.listdir("a/snapshots")]
> wrong = n = 0
> for f in sorted(files):
>     data = open("a/" + f, "rb").read()
>     for at in {0, 1, len(data) // 3, len(data) // 2, len(data) - 2, len(data) - 1}:
>         bad = bytearray(data)
>         bad[at] ^= 1
>         open("a/" + f, "wb").write(bad)
>         r = subprocess.run(["cordon", "replay", "--artifacts", "a", "--json"], capture_output=True)
>         out = json.loads(r.stdout)
>         n += 1
>         ok = r.returncode == 11 and out["diff"]["kind"] in ("checksum", "missing") and os.path.exists(out["dir"] + "/diff.json")
>         if f != "checksums.json":
>             ok = ok and out["diff"]["context"]["file"] == f and out["replay"]["mismatch"]["kind"] == "checksum"
>         if not ok:
>             wrong += 1
>             print(f, at, r.returncode, out)
>         shutil.rmtree(out["dir"])
>     open("a/" + f, "wb").write(data)
> print(len(files), "files,", "all found" if not wrong else "not all found")
> END
$ python3 flip.py
10 files, all found
$ cordon replay --artifacts a > /dev/null

## missing and additional files
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ for f in run.json policy.json scenario.json normalization.json transcript.log events.jsonl snapshots/0002.json; do mv a/$f kept; cordon replay --artifacts a 2>&1 >/dev/null; echo $?; mv kept a/$f; done
cordon: the artifact 'run.json' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'policy.json' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'scenario.json' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'normalization.json' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'transcript.log' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'events.jsonl' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'snapshots/0002.json' is missing [E_REPLAY_MISMATCH]
11
$ cp a/snapshots/0001.json a/snapshots/0009.json; cordon replay --artifacts a > /dev/null; rm a/snapshots/0009.json
cordon: the artifact 'snapshots/0009.json' has no checksum in checksums.json [E_REPLAY_MISMATCH]
$ mv a/checksums.json a/events.jsonl .; cordon replay --artifacts a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cordon replay --artifacts a --require-checksums --json 2> /dev/null | grep -o '"mismatch":{[^}]*}\|"file":"[^"]*"' | head -n 2
"mismatch":{"kind":"missing","index":null}
"file":"checksums.json"
$ cordon replay --artifacts a --require-events
cordon: the artifact 'events.jsonl' is missing [E_REPLAY_MISMATCH]
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
? 11
$ for f in policy.json transcript.log scenario.json snapshots/0002.json; do mv a/$f kept; cordon replay --artifacts a 2>&1 >/dev/null; echo $?; mv kept a/$f; done
cordon: the artifact 'policy.json' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'transcript.log' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'scenario.json' is missing [E_REPLAY_MISMATCH]
11
cordon: the artifact 'snapshots/0002.json' is missing [E_REPLAY_MISMATCH]
11

## --strict also compares ids and times, which are new in a new run
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ cordon replay --artifacts a --strict --json 2> /dev/null | grep -o '"strict":true,"filters":\[\],"rules":\[\],"mismatch":{[^}]*}'
"strict":true,"filters":[],"rules":[],"mismatch":{"kind":"run_id","index":null}
$ cordon replay --artifacts a --normalize none > /dev/null
cordon: run_id: expected .* \[E_REPLAY_MISMATCH\] (re)
? 11
$ cordon replay --artifacts a --normalize run_id --normalize session_id > /dev/null
cordon: snapshot_id: expected .* \[E_REPLAY_MISMATCH\] (re)
? 11
$ cordon replay --artifacts a --offline --strict
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cordon replay --artifacts a --strict --normalize none --offline > /dev/null
$ rm a/checksums.json; sed -i 's/hello/hullo/' a/transcript.log; cordon replay --artifacts a --strict
cordon: the transcript differs in line 0: expected 'hullo\r', got 'hello\r' [E_REPLAY_MISMATCH]
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
row 0:
  - hullo\r
  + hello\r
? 11
$ cordon replay --artifacts a > /dev/null

## rules of the policy: values that change from run to run are not compared
$ mkdir out; cat > p.yaml <<END
> policy_version: 4
> fs: {allowed_read: [$T], allowed_write: [$T/out], working_dir: $T}
> fs_write_unsafe_ack: true
> exec: {allowed_executables: [/usr/bin/date]}
> replay:
>   normalization_rules:
>     - {target: snapshot_lines, pattern: 'at [0-9]+', replace: 'at N'}
>     - {target: transcript, pattern: 'at [0-9]+', replace: 'at N'}
> END
$ cordon exec --policy p.yaml --artifacts out/a --json -- /usr/bin/date '+at %N' > /dev/null && cordon replay --ack-unsafe-write --artifacts out/a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cordon exec --policy p.yaml --artifacts out/p --pipes -- /usr/bin/date '+at %N' > /dev/null && cordon replay --ack-unsafe-write --artifacts out/p
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ tr -d '\n ' < out/p/normalization.json
{"normalization_version":1,"source":"policy","strict":false,"filters":["snapshot_id","run_id","run_timestamps","step_timestamps","observation_timestamp","session_id"],"rules":[{"target":"snapshot_lines","pattern":"at[0-9]+","replace":"atN"},{"target":"transcript","pattern":"at[0-9]+","replace":"atN"}]}
$ cordon replay --ack-unsafe-write --artifacts out/a --strict > /dev/null
cordon: the last screen: row 0 differs: expected 'at [0-9]+', got 'at [0-9]+' \[E_REPLAY_MISMATCH\] (re)
? 11
$ cordon replay --ack-unsafe-write --artifacts out/p --strict > /dev/null
cordon: the transcript differs in line 0: expected 'at [0-9]+', got 'at [0-9]+' \[E_REPLAY_MISMATCH\] (re)
? 11

## an invalid rule, an unknown filter
$ mkdir out; printf 'policy_version: 4\nfs: {allowed_read: [%s], allowed_write: [%s/out], working_dir: %s}\nfs_write_unsafe_ack: true\nexec: {allowed_executables: [/usr/bin/true]}\nreplay: {normalization_rules: [{target: transcript, pattern: "(", replace: ""}]}\n' $T $T $T > p.yaml; cordon exec --policy p.yaml --artifacts out/a -- /usr/bin/true
cordon: replay.normalization_rules\[0\].pattern: .* \[E_PROTOCOL\] (re)
? 9
$ sed -i 's/"("/"x"/' p.yaml; cordon exec --policy p.yaml --artifacts out/a -- /usr/bin/true && rm out/a/checksums.json && sed -i 's/"pattern": "x"/"pattern": "("/' out/a/policy.json && cordon replay --artifacts out/a
cordon: replay.normalization_rules\[0\].pattern: .* \[E_PROTOCOL\] (re)
? 9
$ sed -i 's/"strict": false/"strict": false, "normalization_filters": ["run_ids"]/' out/a/policy.json; cordon replay --artifacts out/a
cordon: policy.json:[0-9:]+ replay.normalization_filters\[0\]: 'run_ids' is not one of .*; did you mean 'run_id'\? \[E_PROTOCOL\] (re)
? 9

## a program whose behaviour has changed
$ mkdir d && echo one > d/f && echo '{"scenario_version":1,"run":{"command":"/bin/cat","args":["f"],"cwd":"'$T'/d","initial_size":{"rows":2,"cols":9}},"steps":[{"id":"see","action":{"type":"wait","payload":{"condition":{"type":"process_exited","payload":{}}}}}]}' > s.json && cordon run s.json --artifacts a > /dev/null && cordon replay --artifacts a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ echo two > d/f; cordon replay --artifacts a
cordon: step 1 'see': row 0 differs: expected 'one', got 'two' [E_REPLAY_MISMATCH]
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
row 0:
  - one
  + two
? 11
$ cordon replay --artifacts a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ rm -r d; cordon replay --artifacts a 2>&1 | head -n 1
cordon: fs.allowed_read[0]: allowlist path does not exist: '$T/d' (No such file or directory); create it, or remove it from the list [E_POLICY_DENIED]

## untrusted text of a recording is shown escaped
$ printf 'a\033[31m' > f; cordon exec --artifacts a --pipes -- cat f > /dev/null; printf 'b\033]2;x\007' > f; cordon replay --artifacts a 2> /dev/null
failed: \$T/.+/replay-[0-9a-f-]{36} (re)
row 0:
  - a\x1B[31m
  + b\x1B]2;x\x07
? 11

## the command can't see the recording, and only replay-ID/ is written
$ cordon exec --artifacts a --pipes -- ls a
$ cordon replay --artifacts a && (cd a && md5sum *.* > ../sums) && cordon replay --artifacts a > /dev/null && (cd a && md5sum -c --quiet ../sums)
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## overwriting a recording deletes its replays and its scenario
$ mkdir out; printf 'policy_version: 4\nfs: {allowed_read: [%s], allowed_write: [%s/out], working_dir: %s}\nfs_write_unsafe_ack: true\nexec: {allowed_executables: [/usr/bin/true]}\nartifacts: {enabled: true, dir: %s/out/a, overwrite: true}\n' $T $T $T $T > p.yaml
$ echo '{"scenario_version":1,"run":{"command":"/usr/bin/true"},"steps":[]}' > s.json; cordon run --policy p.yaml s.json > /dev/null && cordon replay --ack-unsafe-write --artifacts out/a > /dev/null && cordon exec --policy p.yaml --pipes -- /usr/bin/true && ls out/a
checksums.json
events.jsonl
normalization.json
policy.json
run.json
transcript.log
$ cordon replay --ack-unsafe-write --artifacts out/a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## links in an old recording: nothing outside is deleted or written
$ mkdir -p a w victim/snapshots; for f in victim/0001.json victim/0001.txt victim/run.json victim/snapshots/0001.json; do echo precious > $f; done; ln -s $T/victim a/snapshots; ln -s $T/victim a/goldens; ln -s $T/victim a/replay-01234567-89ab-4def-8123-456789abcdef
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20},"policy":{"policy_version":4,"fs":{"allowed_read":["'$T/w'"],"allowed_write":["'$T/a'"],"working_dir":"'$T/w'"},"fs_write_unsafe_ack":true,"exec":{"allowed_executables":["/bin/cat"]},"artifacts":{"enabled":true,"dir":"'$T/a'","overwrite":true}}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}},{"type":"screen_matches_golden","payload":{"file":"g.txt"}}]}]}' > s.json; cordon run --update-goldens s.json > /dev/null 2>&1; cat victim/*.* victim/snapshots/*; ls victim; stat -c '%F' a/snapshots a/goldens; ls a/snapshots a/goldens | grep .
precious
precious
precious
precious
0001.json
0001.txt
run.json
snapshots
directory
directory
a/goldens:
0001.txt
a/snapshots:
0001.json
0002.json

## unsafe grants in a recorded policy need the user's flags, not the recording's
$ cordon exec --artifacts a --pipes -- true; cat > change.py <<'END'
> import json, os, sys
> p = json.load(open("a/policy.json"))
> p.update(json.loads(sys.argv[1]), sandbox_unsafe_ack=True, network_unsafe_ack=True, fs_write_unsafe_ack=True)
> p["exec"] = {"allowed_executables": ["/usr/bin/touch"]}
> json.dump(p, open("a/policy.json", "w"))
> r = json.load(open("a/run.json"))
> r.pop("argv0", None)
> r.update(command="/usr/bin/touch", args=[os.environ["T"] + "/made"])
> json.dump(r, open("a/run.json", "w"))
> if os.path.exists("a/checksums.json"):
>     os.remove("a/checksums.json")
> END
$ python3 change.py '{"sandbox": "none"}'; cordon replay --artifacts a; ls -d made
cordon: the recorded policy runs without a sandbox (sandbox), uses the network (network): this needs your acknowledgement, not only its author's; if you trust it, add --ack-unsafe-sandbox --ack-unsafe-network, or use --offline to run nothing [E_POLICY_DENIED]
ls: cannot access 'made': No such file or directory
? 2
$ cordon replay --artifacts a --ack-unsafe-sandbox --json; ls a | grep replay
cordon: the recorded policy uses the network \(network\): .* (re)
{"protocol_version":1,"error":{"code":"E_POLICY_DENIED",.*"context":{"field":"network","fields":"network","missing":"--ack-unsafe-network"}}} (re)
? 1
$ cordon replay --artifacts a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cordon replay --artifacts a --ack-unsafe-sandbox --ack-unsafe-network 2>&1 | grep -v ^passed; ls -d made; rm made
cordon: warning: NO SANDBOX: the policy is not enforced
made
$ python3 change.py '{"sandbox": "landlock"}'; cordon replay --artifacts a
cordon: the recorded policy runs in a weaker sandbox (sandbox): this needs your acknowledgement, not only its author's; if you trust it, add --ack-unsafe-sandbox, or use --offline to run nothing [E_POLICY_DENIED]
? 2
$ python3 change.py '{"sandbox": "native", "network": "enabled"}'; cordon replay --artifacts a
cordon: the recorded policy uses the network (network): this needs your acknowledgement, not only its author's; if you trust it, add --ack-unsafe-network, or use --offline to run nothing [E_POLICY_DENIED]
? 2
$ python3 change.py '{"network": "disabled", "fs": {"allowed_read": ["'$T'"], "allowed_write": ["'$T'"], "working_dir": "'$T'"}}'; cordon replay --artifacts a; ls -d made
cordon: the recorded policy writes '$T' (fs.allowed_write[0]): this needs your acknowledgement, not only its author's; if you trust it, add --ack-unsafe-write, or use --offline to run nothing [E_POLICY_DENIED]
ls: cannot access 'made': No such file or directory
? 2
$ cordon replay --artifacts a --ack-unsafe-write; ls -d made
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
made

## the command is started under the same name
$ cordon exec --artifacts a --pipes -- cat nowhere 2>&1 | head -n 1; cordon replay --artifacts a
cat: nowhere: No such file or directory
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## a driver's recording: each request is repeated once the same amount of output has arrived
$ cat >drive.py <<'EOF'
> import json, subprocess, sys
> p = subprocess.Popen(["cordon", "driver", "--rows", "5", "--cols", "20", "--artifacts", "a", "--", "bash", "-c", 'printf "name? "; read n; printf "\\a\\033]2;t\\7hello $n\\n"; read -t 0.3; echo later; read; echo end; read'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
> def ask(action, **more):
>     p.stdin.write(json.dumps({"protocol_version": 1, "action": action, **more}).encode() + b"\n")
>     p.stdin.flush()
>     return json.loads(p.stdout.readline())
> wait = lambda text: {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": text}}}}
> ask(wait("name?"))
> ask({"type": "text", "payload": {"text": "Ada\r"}}, screen="delta")
> while "later" not in str(ask(wait("later"), timeout_ms=50)["screen"]): pass
> ask({"type": "resize", "payload": {"rows": 6, "cols": 30}}, settle_ms=20)
> ask({"type": "key", "payload": {"key": "Enter"}}, screen="cells")
> ask(wait("end"))
> p.stdin.close()
> print(json.loads(p.stdout.read())["status"])
> EOF
$ python3 drive.py; ls a/snapshots | wc -l; ls a
passed
(8|9|1[0-9]) (re)
checksums.json
events.jsonl
normalization.json
policy.json
run.json
snapshots
transcript.log
$ cordon replay --artifacts a --offline && cordon replay --artifacts a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ rm a/checksums.json; sed -i 's/"text": "Ada\\r"/"text": "Eve\\r"/' a/run.json; cordon replay --artifacts a 2>&1 | head -n 1
cordon: step 2 '2': row 0 differs: expected 'name? Ada', got 'name? Eve' [E_REPLAY_MISMATCH]
$ sed -i 's/"steps": /"steps_cut": true, "steps": /' a/run.json; cordon replay --artifacts a
cordon: nothing to replay: this is the record of a driver, and does not contain all of its input [E_NOT_FOUND]
? 18

## a driver's invalid requests are repeated
$ printf '%s\n' '{"protocol_version":1,"action":{"type":"key","payload":{"key":"a"}}}' '{"protocol_version":1,"action":{"type":"kye"}}' | cordon driver --artifacts a -- cat > /dev/null 2>&1; cordon replay --artifacts a; python3 -c 'import json; print([(s["step_id"], s["status"], s.get("input")) for s in json.load(open("a/run.json"))["steps"]])'
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
[('1', 'passed', None), ('2', 'errored', '{"protocol_version":1,"action":{"type":"kye"}}')]

## events are compared by type, text and size, regardless of their time
$ echo '{"scenario_version":1,"run":{"command":"/bin/bash","args":["'$T'/p"],"initial_size":{"rows":4,"cols":20}},"steps":[{"id":"one","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"one"}}}}},{"id":"size","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json; printf 'printf "\\033]2;first\\7\\a\\033]2;t\\7one"; read x' > p; cordon run s.json --artifacts a > /dev/null && cordon replay --artifacts a && cordon replay --artifacts a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ sed -i 's/first/other/' p; cordon replay --artifacts a 2>&1 | head -n 1
cordon: event 1 differs: expected {"type":"title","message":"first"}, got {"type":"title","message":"other"} [E_REPLAY_MISMATCH]
$ sed -i 's/\\a//' p; sed -i 's/other/first/' p; cordon replay --artifacts a --json 2> /dev/null | grep -o '"mismatch":{[^}]*}'
"mismatch":{"kind":"events","index":1}
$ rm a/checksums.json; sed -i 's/"type":"bell"/"type":"gong"/' a/events.jsonl; cordon replay --artifacts a --offline 2>&1 | head -n 1
cordon: event 2 differs: expected {"type":"gong"}, got {"type":"bell"} [E_REPLAY_MISMATCH]
$ echo '{"half' >> a/events.jsonl; cordon replay --artifacts a --offline
cordon: events.jsonl, line 4:.* \[E_PROTOCOL\] (re)
? 9

## goldens are those of the recording, in any directory and whatever happened to the files
$ mkdir -p d/e && echo '{"scenario_version":1,"run":{"command":"/bin/cat","cwd":"'$T'/d/e","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}},{"type":"screen_matches_golden","payload":{"file":"g.txt"}}]}]}' > d/s.json && cordon run --update-goldens d/s.json --artifacts a > /dev/null 2>&1; ls d; mkdir w; cd w; cordon replay --ack-unsafe-read --artifacts ../a
e
g.txt
s.json
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ rm d/g.txt; cordon replay --artifacts a 2>&1 | grep -o '^passed'
passed

## the new run's record is next to the result
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","args":["f"],"cwd":"'$T'/d","initial_size":{"rows":2,"cols":9}},"steps":[{"id":"see","action":{"type":"wait","payload":{"condition":{"type":"process_exited","payload":{}}}}}]}' > s.json; mkdir d; echo one > d/f; cordon run s.json --artifacts a > /dev/null; echo two > d/f; cordon replay --artifacts a > /dev/null 2>&1; cd a/replay-*; ls; tr -d '\r' < transcript.log; grep -o '"lines":[^]]*]' snapshots/*; grep -o '"run_id": *"[^"]*"' run.json | head -n 1 | grep -c "${PWD##*/replay-}"
checksums.json
diff.json
events.jsonl
policy.json
replay.json
run.json
scenario.json
snapshots
transcript.log
two
snapshots/0001.json:"lines":["two",""]
snapshots/0002.json:"lines":["two",""]
1

## a screen at the end of a synchronized update, after more output was read
$ printf 'printf "\\033[?2026hone\\033[?2026l two\\n"; read x' > p && echo '{"scenario_version":1,"run":{"command":"/bin/bash","args":["'$T'/p"],"initial_size":{"rows":2,"cols":9}},"steps":[{"id":"one","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"one"}}}}},{"id":"two","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"two"}}}}}]}' > s.json && cordon run s.json --artifacts a > /dev/null && grep -o '"lines":.*]' a/snapshots/*
a/snapshots/0001.json:"lines":["one",""]
a/snapshots/0002.json:"lines":["one two",""]
a/snapshots/0003.json:"lines":["one two",""]
$ cordon replay --artifacts a --offline && cordon replay --artifacts a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## a command that had to be killed has an exit status
$ echo 'trap "" TERM HUP; echo ready; while :; do read x; done' > p && echo '{"scenario_version":1,"run":{"command":"/bin/bash","args":["'$T'/p"]},"steps":[{"id":"one","action":{"type":"wait","payload":{"condition":{"type":"screen_contains","payload":{"text":"ready"}}}}}]}' > s.json && cordon run s.json --json | grep -o '"exit_status":[^}]*}'
"exit_status":{"success":false,"exit_code":null,"signal":9,"terminated_by_harness":true}

## interrupted
# a shell ignores SIGINT in its background jobs
$ f=p-$$; echo 'while [ -e go ]; do :; done' > $f; cordon exec --artifacts a --pipes -- bash $f && touch go; env --default-signal=INT cordon replay --artifacts a --json 2> /dev/null & until grep -qszx "[p]-$$" /proc/[0-9]*/cmdline; do sleep 0.05; done; kill -INT $!; wait $!
{"protocol_version":1,"error":{"code":"E_CANCELED","message":"interrupted by signal 2 (SIGINT)","context":{"signal":2}}}
? 130

## invalid command lines
$ cordon replay
cordon: 'cordon replay' needs a recording: --artifacts DIR [E_CLI_INVALID_ARG]
cordon: try 'cordon replay --help'
? 12
$ cordon replay --artifacts nowhere
cordon: cannot open the artifacts directory 'nowhere': No such file or directory [E_NOT_FOUND]
? 18
$ mkdir empty; cordon replay --artifacts empty
cordon: 'empty' does not contain a recording: it has no run.json, which is written at the end of a run [E_NOT_FOUND]
? 18
$ cordon replay --artifacts a --strict --normalize all
cordon: --strict can only be combined with --normalize none [E_CLI_INVALID_ARG]
cordon: try 'cordon replay --help'
? 12
$ cordon replay --artifacts a --normalize none --normalize run_id
cordon: --normalize none cannot be combined with other filters [E_CLI_INVALID_ARG]
cordon: try 'cordon replay --help'
? 12
$ cordon replay --artifacts a --normalize run_ids
cordon: invalid value 'run_ids' for --normalize: expected .*; did you mean 'run_id'\? \[E_CLI_INVALID_ARG\] (re)
cordon: try 'cordon replay --help'
? 12
$ cordon replay-report
cordon: 'cordon replay-report' needs a recording: --artifacts DIR [E_CLI_INVALID_ARG]
cordon: try 'cordon replay-report --help'
? 12

## the report: the newest replay, or an error without one
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ cordon replay-report --artifacts a
cordon: there is no replay yet: run 'cordon replay' [E_NOT_FOUND]
? 18
$ for i in 1 2 3 4 5; do cordon replay --offline --artifacts a --json | grep -o '"dir":.*' > last; done; cordon replay-report --artifacts a --json | grep -o '"dir":.*' | cmp - last
$ cordon replay-report --artifacts a
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ for d in a/replay-*; do echo '{' > $d/replay.json; done; cordon replay-report --artifacts a
cordon: replay-[0-9a-f-]{36}/replay.json:2:1: .* \[E_PROTOCOL\] (re)
? 9

## damaged files without checksums, and other versions
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ rm a/checksums.json; cp -r a b; for f in run.json policy.json scenario.json snapshots/0001.json normalization.json; do echo '{"x": ' > b/$f; cordon replay --artifacts b > out 2>&1; echo $? $(grep -c "cordon: $f:2" out); cp a/$f b/$f; done
9 1
9 1
9 1
9 1
9 1
$ for f in run.json snapshots/0001.json; do echo '[]' > b/$f; cordon replay --artifacts b; cp a/$f b/$f; done
cordon: run.json: expected an object, not a list [E_PROTOCOL]
cordon: snapshots/0001.json: expected an object, not a list [E_PROTOCOL]
? 0
$ sed -i 's/"run_result_version": 1/"run_result_version": 2/' b/run.json; cordon replay --artifacts b; cp a/run.json b
cordon: run.json: run_result_version: version 2 is not supported: expected 1 [E_PROTOCOL_VERSION_MISMATCH]
? 0
$ sed -i 's/"normalization_version": 1/"normalization_version": 7/' b/normalization.json; cordon replay --artifacts b
cordon: normalization.json: normalization_version: version 7 is not supported: expected 1 [E_PROTOCOL_VERSION_MISMATCH]
? 8
$ cp a/normalization.json b; sed -i 's/"snapshot_version":1/"snapshot_version":3/' b/snapshots/0001.json; cordon replay --artifacts b
cordon: snapshots/0001.json: snapshot_version: version 3 is not supported: expected 1 [E_PROTOCOL_VERSION_MISMATCH]
? 8
$ cp a/snapshots/0001.json b/snapshots; sed -i 's/"transcript_bytes": [0-9]*/"transcript_bytes": 99999/' b/run.json; cordon replay --artifacts b
cordon: run.json: steps transcript_bytes (0): expected an offset in the transcript [E_PROTOCOL]
? 9

## symlinks and pipes in a recording are not followed
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":4,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]},{"id":"wider","action":{"type":"resize","payload":{"rows":5,"cols":30}}}]}' > s.json && cordon run s.json --artifacts a
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ rm a/run.json; ln -s /etc/passwd a/run.json; cordon replay --artifacts a
cordon: cannot read the artifact 'run.json': it is a symbolic link, or reached through one [E_IO]
? 10
$ rm a/run.json a/checksums.json; mkfifo a/run.json; cordon replay --artifacts a
cordon: cannot read the artifact 'run.json': it is not a regular file [E_IO]
? 10

## a list of checksums that is damaged or is a symlink
$ cordon exec --artifacts a --pipes -- true; cp a/checksums.json .; sed -i 's/"run.json": "./"run.json": "x/' a/checksums.json; cordon replay --artifacts a 2>&1 | head -n 1
cordon: the artifact 'checksums.json' is damaged: the value for 'run.json' is not a checksum [E_REPLAY_MISMATCH]
$ for f in ../../etc/passwd ./run.json run.json/ snapshots/1.json snapshots/0000.json snapshots/../run.json goldens/01.txt big; do python3 -c 'import json, sys; s = json.load(open("checksums.json")); s[sys.argv[1]] = "0123456789abcdef"; json.dump(s, open("a/checksums.json", "w"))' $f; cordon replay --artifacts a 2>&1 > /dev/null; done
cordon: the artifact 'checksums.json' is damaged: '../../etc/passwd' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: './run.json' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: 'run.json/' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: 'snapshots/1.json' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: 'snapshots/0000.json' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: 'snapshots/../run.json' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: 'goldens/01.txt' is not the name of a file in a record [E_REPLAY_MISMATCH]
cordon: the artifact 'checksums.json' is damaged: 'big' is not the name of a file in a record [E_REPLAY_MISMATCH]
? 11

## one large file under many names is refused without being read
$ cordon exec --artifacts a --pipes -- true; mkdir a/snapshots; truncate -s 900M a/snapshots/0001.json; for i in 2 3 4 5; do ln a/snapshots/0001.json a/snapshots/000$i.json; done; python3 -c '
> import json
> s = json.load(open("a/checksums.json")); s |= {f"snapshots/000{i}.json": "0123456789abcdef" for i in range(1, 6)}; json.dump(s, open("a/checksums.json", "w"))'; cordon replay --offline --artifacts a
cordon: the artifacts are too large: the limit is 4294967296 bytes together [E_IO]
? 10

## a snapshot with values of other types, or a line that no terminal has, does not pass
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat","initial_size":{"rows":12,"cols":20}},"steps":[{"id":"type","action":{"type":"text","payload":{"text":"hello\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"hello"}}]}]}' > s.json && cordon run s.json --artifacts a > /dev/null; rm a/checksums.json; cat > forge.py <<'END'
> import json, sys
> s = json.load(open("a/snapshots/0001.json"))
> s["lines"][10] = {"number": 123, "object": {"x": 1}, "long": "x" * 1400000, "blank": ""}[sys.argv[1]]
> json.dump(s, open("b/snapshots/0001.json", "w"))
> END
$ cp -r a b; for v in number object long blank; do python3 forge.py $v; cordon replay --offline --artifacts b; echo $?; done
cordon: snapshots/0001.json: lines (10): expected a string, not an integer [E_PROTOCOL]
9
cordon: snapshots/0001.json: lines (10): expected a string, not an object [E_PROTOCOL]
9
cordon: snapshots/0001.json: lines (10): expected at most 1 MiB, not more [E_PROTOCOL]
9
passed: \$T/.*replay-[0-9a-f-]{36} (re)
0
$ python3 forge.py number; cordon replay --artifacts b
cordon: snapshots/0001.json: lines (10): expected a string, not an integer [E_PROTOCOL]
? 9

## an invalid scenario is an error, also with --offline
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat"},"steps":[{"id":"end","action":{"type":"terminate"}}]}' > s.json && cordon run s.json --artifacts a > /dev/null; rm a/checksums.json; cordon replay --offline --artifacts a > /dev/null; for how in '' --offline; do for text in '{}' '{"x": '; do echo "$text" > a/scenario.json; cordon replay $how --artifacts a; echo $?; done; done
cordon: scenario.json:1:1: scenario_version: required, but missing [E_PROTOCOL]
9
cordon: scenario.json:2:1: .* \[E_PROTOCOL\] (re)
9
cordon: scenario.json:1:1: scenario_version: required, but missing [E_PROTOCOL]
9
cordon: scenario.json:2:1: .* \[E_PROTOCOL\] (re)
9

## files that are too large are refused without being read
$ cordon exec --artifacts a --pipes -- true; truncate -s 2T a/transcript.log; timeout 60 cordon replay --offline --artifacts a
cordon: the artifact 'transcript.log' is too large: the limit is 1073741824 bytes [E_IO]
? 10
$ rm a/checksums.json; timeout 60 cordon replay --offline --artifacts a
cordon: the artifact 'transcript.log' is too large: 2199023255552 bytes, the limit is [0-9]+ \[E_IO\] (re)
? 10

## a command that was given input is not recorded, since it can't be run again
$ echo hi | cordon exec --artifacts a --pipes -- cat; cordon replay --artifacts a
hi
cordon: the recorded command received input, which is not in the record: use --offline to replay it [E_NOT_FOUND]
? 18
$ echo hi | cordon exec --artifacts b -- cat > /dev/null; cordon replay --artifacts b 2>&1 | tail -n 1; cordon replay --artifacts b --offline
cordon: the recorded command received input, which is not in the record: use --offline to replay it [E_NOT_FOUND]
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ cat /dev/null | cordon exec --artifacts c --pipes -- cat; cordon replay --artifacts c
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## a record requested by the policy is that of a terminal, like one requested by a flag
$ mkdir a w; echo '{"policy_version":4,"fs":{"allowed_read":["'$T/w'"],"working_dir":"'$T/w'","allowed_write":["'$T/a'"]},"fs_write_unsafe_ack":true,"exec":{"allowed_executables":["/usr/bin/printf"]},"artifacts":{"enabled":true,"dir":"'$T/a'","overwrite":true}}' > p.json
$ for how in '' --pty --pipes; do cordon exec --policy p.json $how -- /usr/bin/printf 'a\nb\n' > /dev/null; ls a/snapshots 2> /dev/null; cordon replay --ack-unsafe-write --artifacts a | cut -c 1-6; done
0001.json
passed
0001.json
passed
passed
