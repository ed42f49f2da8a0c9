# Goldens: screens in files beside the scenario. See run.py for the format.

## missing ones are written outside CI, and fail in it
$ mkdir s && cat >s/a.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "printf 'Title\\r\\nat 12:30:45, pid 4711\\r\\n> '; read"]}
> steps:
>   - {id: up, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "> "}}}}}
>   - id: look
>     timeout_ms: 1000
>     action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "> "}}}}
>     assert: [{type: screen_matches_golden, payload: {file: goldens/a.txt}}]
> EOF
$ CI=true cordon run s/a.yaml
the screen was:
  | Title
  | at 12:30:45, pid 4711
  | >
cordon: step 'look': there is no golden 'goldens/a.txt'; --update-goldens missing writes what is shown [E_ASSERTION_FAILED]
failed: 1 of 2 steps passed, [0-9]+ ms (re)
? 5
$ ls s
a.yaml
$ cordon run s/a.yaml; cat s/goldens/a.txt; ls -A s/goldens
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
Title
at 12:30:45, pid 4711
>
a.txt
$ CI=true cordon run s/a.yaml
passed: 2 of 2 steps passed, [0-9]+ ms (re)
# one that differs fails, and says where
$ sed -i s/12:30/12:31/ s/a.yaml; sed -i 's/timeout_ms: 1000/timeout_ms: 100/' s/a.yaml; cordon run s/a.yaml 2>&1 | grep cordon:
cordon: step 'look': the screen differs from the golden 'goldens/a.txt' in 1 line: line 1 is 'at 12:31:45, pid 4711', and was to be 'at 12:30:45, pid 4711' [E_ASSERTION_FAILED]
# masks: patterns and regions, also on a golden from before; recorded
$ sed -i 's/file: goldens\/a.txt/file: goldens\/a.txt, mask: [{pattern: "\\\\d\\\\d:\\\\d\\\\d"}, {row: 1, col: 17, cols: 4}]/' s/a.yaml; cordon run --json s/a.yaml | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d["steps"][1]["assertions"])'
passed [{'type': 'screen_matches_golden', 'passed': True, 'details': {'golden': 'goldens/a.txt', 'mask': [{'pattern': '\\d\\d:\\d\\d'}, {'row': 1, 'col': 17, 'cols': 4}], 'written': False}}]
$ sed -i 's/pid 4711/pid 9/; s/timeout_ms: 100/timeout_ms: 2000/' s/a.yaml; cordon run --update-goldens changed s/a.yaml; cat s/goldens/a.txt
passed: 2 of 2 steps passed, [0-9]+ ms (re)
Title
at 12:30:45, pid 4711
>
$ cordon run --update-goldens all s/a.yaml; cat s/goldens/a.txt
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
Title
at ***:45, pid ****
>
$ CI=true cordon run s/a.yaml
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ sed -i s/Title/Other/ s/a.yaml; cordon run --update-goldens changed s/a.yaml; head -n 1 s/goldens/a.txt
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
Other
# never outside, never through a link, and nothing is left beside it
$ rm -r s/goldens; mkdir out; ln -s ../out s/goldens; cordon run --update-goldens all s/a.yaml 2>&1 | grep cordon:; ls -A out
cordon: step 'look': cannot read the golden 'goldens/a.txt': Too many levels of symbolic links [E_ASSERTION_FAILED]
$ rm s/goldens; mkdir s/goldens; ln -s ../../out/x s/goldens/a.txt; cordon run --update-goldens all s/a.yaml >/dev/null 2>&1; echo $?; ls -A out; ls -A s/goldens
5
a.txt
$ for f in ../x /tmp/x a/../../x '' .; do sed "s|file: goldens/a.txt|file: '$f'|" s/a.yaml >s/b.yaml; cordon run s/b.yaml 2>&1 | grep -o 'file: expected.*'; done
file: expected a path below the scenario's directory, without '..' [E_PROTOCOL]
file: expected a path below the scenario's directory, without '..' [E_PROTOCOL]
file: expected a path below the scenario's directory, without '..' [E_PROTOCOL]
file: expected a path below the scenario's directory, without '..' [E_PROTOCOL]
file: expected a path below the scenario's directory, without '..' [E_PROTOCOL]
$ for m in '3' '[{row: 1}]' '[{pattern: "("}]' '[{pattern: x, row: 1}]' '[{rwo: 1}]'; do sed "s|mask: .*}]}}]|mask: $m}}]|" s/a.yaml >s/b.yaml; cordon run s/b.yaml 2>&1 | grep -o 'mask.*'; done
mask: expected a list [E_PROTOCOL]
mask[0]: expected {"row", "col", "rows", "cols"} or {"pattern"} [E_PROTOCOL]
mask\[0\].pattern: the pattern is wrong at character 2: .* (re)
mask[0]: expected {"row", "col", "rows", "cols"} or {"pattern"} [E_PROTOCOL]
mask[0].rwo: unknown key; did you mean 'row'? [E_PROTOCOL]

## only a step that passes writes
$ mkdir s && printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x; read"]}\nsteps: [{id: a, timeout_ms: 1000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}, assert: [{type: screen_matches_golden, payload: {file: g}}, {type: title_is, payload: {text: t}}]}]\n' >s/a.yaml; cordon run s/a.yaml >/dev/null 2>&1; echo $?; ls s
5
a.yaml

## a replay compares with what the run compared with, wherever it is started and whatever became of the file
$ mkdir s && printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x; read"]}\nsteps: [{id: a, timeout_ms: 2000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}, assert: [{type: screen_matches_golden, payload: {file: g/x.txt}}]}]\n' >s/a.yaml; cordon run s/a.yaml --artifacts a >/dev/null; cat a/goldens/0001.txt
1 golden written
x
$ echo y >s/g/x.txt; cordon replay --artifacts a; cd s && cordon replay --artifacts ../a --offline
passed: replay-[0-9a-f-]{36} (re)
passed: replay-[0-9a-f-]{36} (re)
$ echo z >a/goldens/0001.txt; cordon replay --artifacts a >/dev/null
cordon: the artifact 'goldens/0001.txt' was changed, or its line in checksums.json: its checksum is [0-9a-f]{16} \[E_REPLAY_MISMATCH\] (re)
? 11
$ echo x >a/goldens/0001.txt; echo >a/goldens/0002.txt; cordon replay --artifacts a >/dev/null
cordon: the artifact 'goldens/0002.txt' has no checksum in checksums.json [E_REPLAY_MISMATCH]
? 11
$ rm a/goldens/0002.txt a/checksums.json; echo z >a/goldens/0001.txt; cordon replay --artifacts a >/dev/null
cordon: step 1 'a': expected 'passed', got 'failed' [E_REPLAY_MISMATCH]
? 11
