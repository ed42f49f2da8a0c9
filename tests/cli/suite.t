# Suites: several scenarios, each in its own process. See run.py for the format.

## a directory: a table, the worst exit status
$ mkdir d && for n in a b; do printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo hi; read"]}\nsteps: [{id: one, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: hi}}}}}]\n' >d/$n.scenario.yaml; done; echo 'policy_version: 4' >d/policy.yaml
$ cordon run d
a         passed   +[0-9]+ ms (re)
b         passed   +[0-9]+ ms (re)
2 of 2 scenarios passed, [0-9]+ ms (re)
$ sed 's/]$/, {id: two, timeout_ms: 30, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: ho}}}}}]/' d/a.scenario.yaml >d/c.scenario.yaml; sed 's/]$/, {id: two, timeout_ms: 30, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: hi}}}}, assert: [{type: screen_contains, payload: {text: "<\&>"}}]}]/' d/a.scenario.yaml >d/d.scenario.yml; echo '{' >d/e.scenario.json
$ cordon run -j 3 d 2>words; echo $?
a         passed   +[0-9]+ ms (re)
b         passed   +[0-9]+ ms (re)
c         errored  +[0-9]+ ms (re)
d         failed   +[0-9]+ ms (re)
e         errored  +[0-9]+ ms (re)
2 of 5 scenarios passed, [0-9]+ ms (re)
4
$ grep -c 'cordon: ' words; grep 'c:' -A 3 words | head -4
3
c:
  the screen was:
    | hi
  cordon: step 'two': timeout after 30 ms: the screen does not show 'ho' [E_TIMEOUT]
$ cordon run --json -j 2 d 2>/dev/null | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> print(d["status"], d["counts"], [(s["name"], s["status"], s["exit"]) for s in d["scenarios"]], d["scenarios"][4]["error"]["code"])'
errored {'passed': 2, 'failed': 1, 'errored': 2, 'canceled': 0} [('a', 'passed', 0), ('b', 'passed', 0), ('c', 'errored', 4), ('d', 'failed', 5), ('e', 'errored', 9)] E_PROTOCOL
# several files, one name twice, a record for each
$ cp d/a.scenario.yaml a.yaml; mkdir w && cd w && cordon run --artifacts ../art ../a.yaml ../d/a.scenario.yaml ../d/d.scenario.yml >/dev/null 2>&1; echo $?; cd ..; ls art; ls art/a-2
5
a
a-2
d
checksums.json
events.jsonl
normalization.json
policy.json
run.json
scenario.json
snapshots
transcript.log
# TAP
$ cordon run --tap d 2>/dev/null
TAP version 14
1..5
ok 1 - a # time=[0-9]+ms (re)
ok 2 - b # time=[0-9]+ms (re)
not ok 3 - c # time=[0-9]+ms (re)
  ---
  message: "step 'two': timeout after 30 ms: the screen does not show 'ho'"
  code: E_TIMEOUT
  step: "two"
  screen: "hi\n"
  ...
not ok 4 - d # time=[0-9]+ms (re)
  ---
  message: "step 'two': the screen does not show '<&>'"
  code: E_ASSERTION_FAILED
  step: "two"
  screen: "hi\n"
  ...
not ok 5 - e # time=[0-9]+ms (re)
  ---
  message: ".*" (re)
  code: E_PROTOCOL
  ...
? 4
$ cordon run --tap a.yaml
TAP version 14
1..1
ok 1 - a # time=[0-9]+ms (re)
# JUnit
$ cordon run --junit r.xml d >/dev/null 2>&1; python3 -c '
> import xml.etree.ElementTree as x
> r = x.parse("r.xml").getroot()
> print(r.tag, {k: r.get(k) for k in ("tests", "failures", "errors", "skipped")})
> for s in r:
>     for c in s: print(s.get("name"), c.get("name"), [(e.tag, e.get("type"), e.get("message")[:49]) for e in c])'
testsuites {'tests': '7', 'failures': '1', 'errors': '2', 'skipped': '0'}
a one []
b one []
c one []
c two [('error', 'E_TIMEOUT', "step 'two': timeout after 30 ms: the screen does ")]
d one []
d two [('failure', 'E_ASSERTION_FAILED', "step 'two': the screen does not show '<&>'")]
e scenario [('error', 'E_PROTOCOL', "d/e.scenario.json:2:1: string or '}' expected nea")]
$ cordon run --junit r.xml d/e.scenario.json >/dev/null 2>&1; echo $?; grep -c '<error' r.xml
9
1
# usage
$ mkdir empty; cordon run empty
cordon: no scenario in 'empty' [E_CLI_INVALID_ARG]
? 12
$ cordon run --tap --json d 2>/dev/null >/dev/null
? 12

## interrupted: running and waiting scenarios are canceled, nothing is left
$ mark=mark$$; mkdir d; for n in a b c; do printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo up; read; : %s"]}\nsteps: [{id: one, timeout_ms: 50000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: never}}}}}]\n' $mark >d/$n.yaml; done
> cd d; python3 -c '
> import json, os, signal, subprocess
> p = subprocess.Popen(["cordon", "run", "-j", "2", "--json", "--artifacts", "../art", "."], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
> up = lambda n: os.path.exists("../art/%s/transcript.log" % n) and os.path.getsize("../art/%s/transcript.log" % n)
> while not (up("a") and up("b")): pass
> p.send_signal(signal.SIGINT)
> d = json.loads(p.communicate()[0])
> print(p.returncode, d["status"], [s["status"] for s in d["scenarios"]], sorted(os.listdir("../art")), os.path.exists("../art/a/checksums.json"))'
> grep -l [m]${mark#m} /proc/[0-9]*/cmdline 2>/dev/null | wc -l
130 canceled ['canceled', 'canceled', 'canceled'] ['a', 'b'] True
0

## an unwritable report is detected before anything runs
$ printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo hi; read"]}\nsteps: [{id: one, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: hi}}}}}]\n' >a.yaml; mkdir d w; cp a.yaml d/a.yaml; cp a.yaml d/b.yaml
$ cd w; cordon run --artifacts $T/art --junit /nonexistent/x.xml $T/a.yaml; ls $T/art
cordon: cannot write '/nonexistent/x.xml': No such file or directory [E_IO]
ls: cannot access '$T/art': No such file or directory
? 2
$ cd w; cordon run --artifacts $T/art --junit /nonexistent/x.xml $T/d; ls $T/art
cordon: cannot write '/nonexistent/x.xml': No such file or directory [E_IO]
ls: cannot access '$T/art': No such file or directory
? 2
# a report that can't be completed leaves the result unchanged
$ cd w; cordon run --json --junit /dev/full $T/a.yaml | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["status"], len(d["steps"]))'; echo ${PIPESTATUS[0]}
cordon: cannot write '/dev/full': No space left on device [E_IO]
passed 1
10
# an older report is replaced completely
$ python3 -c 'print("x" * 100000)' >$T/r.xml; cordon run --junit $T/r.xml $T/a.yaml >/dev/null; python3 -c 'import xml.etree.ElementTree as x; print(x.parse("r.xml").getroot().get("tests"))'
1

## JUnit: valid XML with any output, file and step names
$ cat >n.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "printf 'x\\357\\277\\277\\357\\277\\276y\\357\\277\\275\\360\\237\\277\\277'; read x"]}
> steps:
>   - {id: up, timeout_ms: 20000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "y"}}}}}
>   - {id: a, name: "n\uFFFE\uFFFF\u0085<", timeout_ms: 200, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "y"}}}}, assert: [{type: screen_contains, payload: {text: nope}}]}
> EOF
$ cp n.yaml $'b\xff\xef\xbf.yaml'; cordon run --junit r.xml n.yaml $'b\xff\xef\xbf.yaml' >/dev/null 2>&1; python3 -c '
> import xml.etree.ElementTree as x
> for s in x.parse("r.xml").getroot():
>     print(ascii(s.get("name")), [(ascii(c.get("name")), ascii(c[0].text)) for c in s if len(c)])'
'n' [("'n\\ufffd\\ufffd\\x85<'", "'x\\ufffd\\ufffdy\\ufffd\\U0001ffff\\n'")]
'b\\ufffd\\ufffd' .* (re)

## files without a usable name get records named 'scenario'
$ printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo hi; read"]}\nsteps: [{id: one, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: hi}}}}}]\n' >...yaml; cp ...yaml ..yml; mkdir w d
$ cd w; cordon run --artifacts $T/d/art ../...yaml ../..yml | cut -d ' ' -f 1; ls $T/d; ls $T/d/art
scenario
scenario-2
2
art
scenario
scenario-2

## long output of a worker: its end is shown, and the omission reported
$ python3 -c '
> import json
> name = "x" * 1000
> step = {"type": "wait", "payload": {"condition": {"type": "cursor_visible"}}}
> steps = [{"id": f"{i}", "name": f"{i} {name}", "action": step} for i in range(1200)]
> steps.append({"id": "last", "timeout_ms": 30, "action": {"type": "wait", "payload": {"condition": {"type": "title_is", "payload": {"text": "t"}}}}})
> json.dump({"scenario_version": 1, "run": {"command": "bash", "args": ["-c", "read"]}, "steps": steps}, open("a.json", "w"))'
> printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "read"]}\nsteps: []\n' >b.yaml
$ cordon run -v a.json b.yaml 2>words >/dev/null; cut -c 1-70 words | sed -n '1,2p;$p'; sed -n 3p words | cut -c 1-20
a:
  \[the first [0-9]+ bytes are omitted\] (re)
  cordon: step 'last': timeout after 30 ms: the title is '', expected.* (re)
  [0-9]+/1201 passed .* (re)
