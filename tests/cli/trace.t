# cordon trace. See run.py for the format.

## a page: one file that contains its data and loads nothing
$ cat > rec.py <<'EOF'
> import json, os, sys
> d, out = sys.argv[1], [b"one\r\n", b"\x1b[31mt\xc3\xa9wo\x1b[m"]
> os.mkdir(d)
> def put(n, t): open(f"{d}/{n}", "wb").write(t if isinstance(t, bytes) else t.encode())
> steps = [{"step_id": i, "name": i, "status": s, "started_at_ms": 0, "ended_at_ms": 0, "action": {"type": "key", "payload": {"key": "a"}}, "assertions": []} for i, s in (("first", "passed"), ("second", "passed"), ("third", "skipped"))]
> put("transcript.log", b"".join(out))
> put("run.json", json.dumps({"status": "passed", "command": "/bin/x", "args": [], "ended_at_ms": 3000, "steps": steps}))
> put("scenario.json", json.dumps({"name": "demo", "run": {"command": "/bin/x", "initial_size": {"rows": 2, "cols": 20}}, "steps": [{"id": s["step_id"], "name": s["name"]} for s in steps]}))
> put("events.jsonl", json.dumps({"timestamp_ms": 1000, "screen": {"rows": 2, "cols": 20}, "transcript_bytes": 5, "events": [{"type": "bell"}]}) + "\n" +
>   json.dumps({"timestamp_ms": 2500, "screen": {"rows": 3, "cols": 30}, "transcript_bytes": len(b"".join(out)), "events": [{"type": "resize", "details": {"rows": 3, "cols": 30, "transcript_bytes": 5}}]}) + "\n")
> EOF
$ python3 rec.py a && cordon trace a -o a.html && cordon trace --artifacts a > b.html && cmp a.html b.html
$ head -n 1 a.html && grep -c '<script id="data"' a.html && grep -oE "default-src 'none'; script-src 'sha256" a.html
<!doctype html>
1
default-src 'none'; script-src 'sha256
$ python3 -c '
> import json, re
> s = open("a.html").read()
> d = json.loads(re.search(r"<script id=\"data\"[^>]*>(.*?)</script>", s, re.S).group(1))
> print(d["run"]["status"], d["run"]["duration"], d["t"], d["size"], d["keys"], d["marks"])
> print([(x["name"], x["status"], x["start"], x["end"], x["before"], x["after"]) for x in d["steps"]])
> print(re.search(r"<script id=\"rows\"[^>]*>(.*?)</script>", s, re.S).group(1))
> print(re.search(r"<script id=\"text\"[^>]*>(.*?)</script>", s, re.S).group(1))
> print(d["events"])'
passed 3000 [0.0, 1000.0, 1000.0, 2500.0] [2, 20, 2, 20, 3, 30, 3, 30] [0, 2] [1000, 1, 2500, 3]
[('first', 'passed', 0, 1000, 0, 1), ('second', 'passed', 1000, 2500, 1, 3), ('third', 'skipped', 3000, 3000, 3, 3)]
[]
[0,"one"]
[1,"téwo"]
"one\r\n"
"\u001b[31mtéwo\u001b[m"
[{'t': 1000, 'type': 'bell'}, {'t': 2500, 'type': 'resize', 'details': {'rows': 3, 'cols': 30, 'transcript_bytes': 5}}]

## no record
$ cordon trace nothing -o x
cordon: cannot open the artifacts directory 'nothing': No such file or directory [E_NOT_FOUND]
? 18
$ mkdir empty && cordon trace empty -o x
cordon: 'empty' has no transcript.log: not the record of a run (see cordon run --artifacts) [E_NOT_FOUND]
? 18
$ ls -d x
ls: cannot access 'x': No such file or directory
? 2

## a recording: asciicast v2
$ mkdir r && printf 'a\xe6\x97' > r/transcript.log && printf '\xa5b\xff' >> r/transcript.log
$ cat > r/events.jsonl <<'EOF'
> {"timestamp_ms":500,"screen":{"rows":2,"cols":9},"transcript_bytes":3,"events":[]}
> {"timestamp_ms":1500,"screen":{"rows":4,"cols":9},"transcript_bytes":6,"events":[{"type":"resize","details":{"rows":4,"cols":9,"transcript_bytes":3}}]}
> EOF
$ echo '{"status":"passed","command":"/bin/x","ended_at_ms":2000,"steps":[{"step_id":"a","name":"first","status":"passed"}]}' > r/run.json
$ cordon trace r --format asciicast
{"version":2,"width":9,"height":2,"duration":2.0,"command":"/bin/x","env":{"TERM":"xterm-256color"}}
[0.500000,"o","a"]
[0.500000,"m","first"]
[0.500000,"r","9x4"]
[1.500000,"o","日b�"]
$ cordon trace r --format asciicast --at a
cordon: --at requires --format html or svg [E_CLI_INVALID_ARG]
cordon: try 'cordon trace --help'
? 12

## an SVG of one screen: by step, by time, at the end
$ mkdir r && printf 'one\r\ntwo' > r/transcript.log
$ printf '%s\n' '{"timestamp_ms":10,"screen":{"rows":3,"cols":9},"transcript_bytes":3,"events":[]}' '{"timestamp_ms":20,"screen":{"rows":3,"cols":9},"transcript_bytes":8,"events":[]}' > r/events.jsonl
$ echo '{"status":"passed","command":"x","ended_at_ms":20,"steps":[{"step_id":"a","status":"passed"},{"step_id":"b","status":"passed"},{"step_id":"c","status":"skipped"}]}' > r/run.json
$ for at in a b 15 15ms 20; do cordon trace r --format svg --at $at | grep -oE '>(one|two)<' | tr -d '\n'; echo; done
>one<
>one<>two<
>one<
>one<
>one<>two<
$ cordon trace r --format svg | grep -oE '>(one|two)<'
>one<
>two<
$ cordon trace r --format svg --at c
cordon: the step 'c' was not run and has no screen [E_NOT_FOUND]
? 18
$ cordon trace r --format svg --at nowhere
cordon: 'nowhere' is neither a step of this run nor a number of milliseconds [E_NOT_FOUND]
? 18
$ cordon trace r -o x.html --json
{"protocol_version":1,"format":"html","file":"x.html","bytes":[0-9]+,"ended_early":false} (re)
$ cordon trace r --json
cordon: --json requires an output file: use -o [E_CLI_INVALID_ARG]
cordon: try 'cordon trace --help'
{"protocol_version":1,"error":{"code":"E_CLI_INVALID_ARG","message":"--json requires an output file: use -o","context":{"command":"cordon trace"}}}
? 12
$ cordon trace r -o r/run.json
cordon: 'r/run.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
? 12
$ cordon trace
cordon: 'cordon trace' needs DIR: cordon trace [OPTION…] DIR [E_CLI_INVALID_ARG]
cordon: try 'cordon trace --help'
? 12

## a complete run, and a killed one
$ cat > s.json <<'EOF'
> {"scenario_version": 1, "run": {"command": "/usr/bin/bash", "args": ["-c", "echo ready; read x; echo got"]}, "steps": [
>  {"id": "up", "action": {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "ready"}}}}},
>  {"id": "go", "action": {"type": "key", "payload": {"key": "Enter"}}, "assert": [{"type": "screen_contains", "payload": {"text": "got"}}]}]}
> EOF
$ cordon run --artifacts r s.json | sed 's/, [0-9]* ms//'
passed: 2 of 2 steps passed
$ cordon trace r --format svg --at up | grep -oE '>(ready|got)<'
>ready<
$ cordon trace r --format svg --at go | grep -oE '>(ready|got)<'
>ready<
>got<
$ rm r/run.json r/checksums.json && cordon trace r -o k.html
cordon: warning: the run ended early: run.json is missing
$ python3 -c '
> import json, re
> d = json.loads(re.search(r"<script id=\"data\"[^>]*>(.*?)</script>", open("k.html").read(), re.S).group(1))
> print(d["run"]["status"], d["run"]["ended_early"], d["run"]["command"], [s["status"] for s in d["steps"]])'
canceled True /usr/bin/bash ['done', 'done']
$ head -c 100 r/events.jsonl > e && mv e r/events.jsonl && cordon trace r -o k.html
cordon: warning: the run ended early: run.json is missing

## a program that prints markup, NUL and partial characters
$ cat > s.json <<'EOF'
> {"scenario_version": 1, "run": {"command": "/usr/bin/bash", "args": ["-c", "printf '</script><img src=x>\\0\\xe2\\x80\\xa8\\xff\\xe6 end'; read x"]}, "steps": [
>  {"id": "</script>", "action": {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "end"}}}}}]}
> EOF
$ cordon run --artifacts r s.json | sed 's/, [0-9]* ms//'
passed: 1 of 1 steps passed
$ cordon trace r -o x.html && grep -c '<img' x.html
0
? 1
$ LC_ALL=C grep -c "$(printf '\xe2\x80\xa8')" x.html
0
? 1
$ cordon trace r --format asciicast | tail -n 2
\[0.[0-9]*,"o","</script><img src=x>\\u0000\\u2028.* end"\] (re)
\[0.[0-9]*,"m","</script>"\] (re)

## damaged records
$ mkdir r && : > r/transcript.log && cordon trace r -o x.html 2>&1
cordon: warning: the run ended early: run.json is missing
$ echo '[1]' > r/run.json && cordon trace r -o x.html
cordon: warning: ignoring a damaged part of the record: run.json: expected an object, not a list
$ echo '{"status":' > r/run.json && cordon trace r -o x.html
cordon: warning: ignoring a damaged part of the record: run.json:2:1: .* (re)
$ : > r/run.json && cordon trace r -o x.html && grep -o '"ended_early":true,"damaged":\["run.json[^]]*\]' x.html
cordon: warning: ignoring a damaged part of the record: run.json: empty, where JSON was expected
"ended_early":true,"damaged":["run.json: empty, where JSON was expected"]
$ echo '{"status":7,"steps":[1,{"status":[]},null],"args":5,"ended_at_ms":-4}' > r/run.json && cordon trace r -o x.html
$ printf 'null\n' > r/events.jsonl && cordon trace r -o x.html
cordon: events.jsonl, line 1: expected an object, not null [E_PROTOCOL]
? 9
$ printf '{}\n{"timestamp_ms":-1,"transcript_bytes":99999999999,"screen":{"rows":-5,"cols":1e9},"events":{"a":1}}\n{"timestamp_ms":"x","events":[1,{"type":"resize","details":{"rows":9999999,"cols":3,"transcript_bytes":-7}}]}\n' > r/events.jsonl && cordon trace r -o x.html
$ printf '{}\n{"a' > r/events.jsonl && cordon trace r -o x.html
cordon: events.jsonl, line 2.* \[E_PROTOCOL\] (re)
? 9
$ rm r/events.jsonl && ln -s /etc/passwd r/events.jsonl && cordon trace r -o x.html
cordon: cannot read the artifact 'events.jsonl': it is a symbolic link, or reached through one [E_IO]
? 10
$ rm r/events.jsonl && mkfifo r/events.jsonl && cordon trace r -o x.html
cordon: cannot read the artifact 'events.jsonl': it is not a regular file [E_IO]
? 10
$ rm r/events.jsonl && mkdir r/replay-1 && echo nonsense > r/replay-1/diff.json && cordon trace r -o x.html
cordon: warning: ignoring a damaged part of the record: replay-1: diff.json:.* (re)
$ truncate -s 80M r/replay-1/diff.json && cordon trace r -o x.html
cordon: warning: ignoring a damaged part of the record: replay-1: the artifact 'diff.json' is too large: 83886080 bytes, the limit is 67108864
$ rm -r r/replay-1 && cordon trace r -o none/x.html
cordon: cannot write 'none/x.html': No such file or directory [E_IO]
? 10

## damaged parts with any names and texts
$ mkdir r && : > r/transcript.log && python3 -c 'k = "é" * 100; print("{\"%s\":1,\"%s\":2}" % (k, k))' > r/run.json && cordon trace r -o x.html && grep -o '"damaged":\["run.json' x.html
cordon: warning: ignoring a damaged part of the record: run.json:1:.* (re)
"damaged":["run.json
$ rm r/run.json; d=r/replay-$(printf '\xff'); mkdir $d && echo '{' > $d/diff.json && cordon trace r -o x.html; rm -r $d
cordon: warning: ignoring a damaged part of the record: replay-�: diff.json:2:1: .* (re)
$ d=r/replay-$(python3 -c 'print("é" * 50)'); mkdir $d && echo '{' > $d/diff.json && cordon trace r -o x.html; echo '{}' > $d/diff.json; echo '[]' > $d/run.json; : > $d/transcript.log; cordon trace r -o x.html
cordon: warning: ignoring a damaged part of the record: replay-(é){36}�: diff.json:2:1: .* (re)
cordon: warning: ignoring a damaged part of the record: replay-(é){36}�: run.json: expected an object, not a list (re)

## fields that the viewer reads have the expected types
$ mkdir r && echo x > r/transcript.log && echo '{"status":"passed","command":"/bin/x","args":"x","exit_status":[1],"sandbox_report":"s","steps":[{"name":"one","status":"passed","action":"a","assertions":[null]},{"name":"two","status":"passed","assertions":"x"},{"name":"three","status":"passed","assertions":[{"type":"t"}]}]}' > r/run.json && cordon trace r -o x.html && python3 -c '
> import json, re
> d = json.loads(re.search(r"<script id=\"data\"[^>]*>(.*?)</script>", open("x.html").read(), re.S).group(1))
> print([k for k in ("args", "exit_status", "sandbox_report") if k in d["run"]], [(s["name"], s.get("action"), s.get("assertions")) for s in d["steps"]])'
[] [('one', None, None), ('two', None, None), ('three', None, [{'type': 't'}])]

## no file of the record is overwritten or added
$ cordon exec --artifacts r -- echo hi > /dev/null; mkdir r/goldens r/replay-1; echo g > r/goldens/0001.txt; echo '{}' > r/replay-1/diff.json; ln r/checksums.json hard; ln -s r/snapshots/0001.json soft; find r -type f | sort | xargs md5sum > sums
$ for f in r/run.json r/policy.json r/checksums.json r/normalization.json r/snapshots/0001.json r/snapshots/0002.json r/goldens/0001.txt r/replay-1/diff.json r/replay-1/new hard soft; do cordon trace r -o $f; echo $?; done 2>&1 | sort | uniq -c | sed 's/^ *//'
11 12
1 cordon: 'hard' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/checksums.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/goldens/0001.txt' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/normalization.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/policy.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/replay-1/diff.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/replay-1/new' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/run.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/snapshots/0001.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'r/snapshots/0002.json' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
1 cordon: 'soft' is part of the record and would be overwritten [E_CLI_INVALID_ARG]
$ md5sum -c --quiet sums; find r -type f | wc -l; wc -l < sums; cordon trace r -o r/trace.html && cordon trace r -o r/trace.html
9
9

## a recording has no marker for a step that never ran
$ mkdir r && printf ab > r/transcript.log && printf '{"timestamp_ms":500,"screen":{"rows":2,"cols":9},"transcript_bytes":1,"events":[]}\n{"timestamp_ms":900,"screen":{"rows":2,"cols":9},"transcript_bytes":2,"events":[]}\n' > r/events.jsonl; echo '{"status":"failed","command":"/bin/x","ended_at_ms":2000,"steps":[{"step_id":"a","name":"one","status":"failed"},{"step_id":"b","name":"two","status":"skipped"}]}' > r/run.json; cordon trace r --format asciicast | grep '"m"'
[0.500000,"m","one"]

## endless changes of the size are followed up to a limit
$ mkdir r && printf abcdefghij > r/transcript.log && python3 -c 'for i in range(20000): print("{\"timestamp_ms\":%d,\"screen\":{\"rows\":%d,\"cols\":1000},\"transcript_bytes\":1,\"events\":[]}" % (i, 999 + i % 2))' > r/events.jsonl; ulimit -t 60; cordon trace r --format svg -o x.svg
cordon: warning: the run ended early: run.json is missing

## a resize also rewraps the scrollback, which counts for the limit
$ mkdir r && python3 - <<'EOF'
> text = ("x" * 999 + "\r\n") * 1100 + "\x1b[?1049hend"
> open("r/transcript.log", "w", newline="").write(text)
> for name, before in (("main", text.index("\x1b")), ("alternate", len(text) - 1)):
>     open(name, "w").writelines('{"timestamp_ms":%d,"screen":{"rows":2,"cols":%d},"transcript_bytes":%d,"events":[]}\n' % (i, 999 + i % 2, before) for i in range(60000))
> EOF
$ for screen in main alternate; do mv $screen r/events.jsonl; (ulimit -t 60; cordon trace r --format svg -o x.svg); done
cordon: warning: the run ended early: run.json is missing
cordon: warning: the run ended early: run.json is missing

## output without a terminal: line feeds are line ends
$ cordon exec --pipes --artifacts r -- printf 'a\nb\n' && cordon trace r --format svg | grep -oE 'x="[0-9]+" y="[0-9]+">[ab]<'
a
b
x="0" y="14">a<
x="0" y="33">b<

## of many replays the newest are shown, in order
$ cordon exec --artifacts r -- echo hi >/dev/null; for i in $(seq 10 29); do mkdir r/replay-$i; echo '{"replay_diff_version": 1}' >r/replay-$i/diff.json; touch -d "2026-01-01 00:00:$((40 - i))" r/replay-$i/diff.json; done
$ cordon trace r -o x.html 2>/dev/null; grep -o 'replay-[0-9][0-9]' x.html | uniq | paste -sd' '
replay-10 replay-11 replay-12 replay-13 replay-14 replay-15 replay-16 replay-17 replay-18 replay-19 replay-20 replay-21 replay-22 replay-23 replay-24 replay-25
