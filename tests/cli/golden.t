# Goldens: screens in files beside the scenario. See run.py for the format.

## a missing golden fails at once, and is written only with --update-goldens
$ mkdir s && cat >s/a.yaml <<'EOF'
> scenario_version: 1
> run: {command: bash, args: ["-c", "printf 'Title\\r\\nat 12:30:45, pid 4711\\r\\n> '; read"]}
> steps:
>   - {id: up, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "> "}}}}}
>   - id: look
>     timeout_ms: 90000
>     action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: "> "}}}}
>     assert: [{type: screen_matches_golden, payload: {file: goldens/a.txt}}]
> EOF
$ timeout 60 cordon run s/a.yaml
the screen was:
  | Title
  | at 12:30:45, pid 4711
  | >
cordon: step 'look': no golden 'goldens/a.txt'; use --update-goldens to write it from the actual screen [E_ASSERTION_FAILED]
failed: 1 of 2 steps passed, [0-9]+ ms (re)
? 5
$ ls s
a.yaml
$ timeout 60 cordon run --update-goldens=changed s/a.yaml 2>&1 | grep -o 'no golden.*write it'; ls s
no golden 'goldens/a.txt'; use --update-goldens to write it
a.yaml
$ cordon run --update-goldens=missing s/a.yaml; cat s/goldens/a.txt; ls -A s/goldens
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
Title
at 12:30:45, pid 4711
>
a.txt
$ cordon run s/a.yaml
passed: 2 of 2 steps passed, [0-9]+ ms (re)
# a golden that differs fails, with the place
$ sed -i s/12:30/12:31/ s/a.yaml; sed -i 's/timeout_ms: 90000/timeout_ms: 100/' s/a.yaml; cordon run s/a.yaml 2>&1 | grep cordon:; cordon run --update-goldens missing s/a.yaml 2>&1 | grep -c 'differs from the golden'
cordon: step 'look': the screen differs from the golden 'goldens/a.txt' in 1 line: line 1 is 'at 12:31:45, pid 4711', expected 'at 12:30:45, pid 4711' [E_ASSERTION_FAILED]
1
# masks: patterns and regions, also in an existing golden; recorded
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
$ cordon run s/a.yaml
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ sed -i s/Title/Other/ s/a.yaml; cordon run s/a.yaml --update-goldens; head -n 1 s/goldens/a.txt
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
Other
$ rm s/goldens/a.txt; cordon run --update-goldens -- s/a.yaml; cordon run --update-goldens s/a.yaml
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
passed: 2 of 2 steps passed, [0-9]+ ms (re)
$ cordon run --update-goldens=some s/a.yaml
cordon: invalid value 'some' for --update-goldens: expected .* (re)
.* (re)
? 12
# never outside, never through a symlink, and no other file is left
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
mask\[0\].pattern: invalid pattern at character 2: .* (re)
mask[0]: expected {"row", "col", "rows", "cols"} or {"pattern"} [E_PROTOCOL]
mask[0].rwo: unknown key; did you mean 'row'? [E_PROTOCOL]

## a wait for a missing golden fails at once
$ mkdir s && printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x; read"]}\nsteps: [{id: x, timeout_ms: 90000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}}, {id: a, timeout_ms: 90000, action: {type: wait, payload: {condition: {type: screen_matches_golden, payload: {file: g}}}}}]\n' >s/a.yaml; timeout 60 cordon run s/a.yaml 2>&1 | grep cordon:; timeout 60 cordon run s/a.yaml --json 2>/dev/null | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["status"], d["error"]["code"])'; ls s
cordon: step 'a': no golden 'g'; use --update-goldens to write it from the actual screen [E_ASSERTION_FAILED]
failed E_ASSERTION_FAILED
a.yaml
$ cordon run s/a.yaml --update-goldens; cat s/g
1 golden written
passed: 2 of 2 steps passed, [0-9]+ ms (re)
x

## program output is never written to a file that is executed automatically, with or without the flag
$ mkdir -p s/evil s/bare/objects s/bare/refs && cd s && git init -q . 2>/dev/null && printf '[core]\n\tfsmonitor = touch %s/ESCAPED\n' "$T" > evil/config && touch bare/HEAD && printf '#!/bin/sh\n' > tool && chmod +x tool && find . | sort > ../before && cat > ../try.sh <<'END'
> for f; do
>   printf 'scenario_version: 1\nrun: {command: printf, args: ["../evil"]}\nsteps: [{id: a, timeout_ms: 9000, action: {type: wait, payload: {condition: {type: process_exited}}}, assert: [{type: screen_matches_golden, payload: {file: "%s"}}]}]\n' "$f" > $T/s/${S:-a.yaml}
>   cordon run $T/s/${S:-a.yaml} > $T/out 2>&1; one=$?
>   cordon run --update-goldens $T/s/${S:-a.yaml} > $T/out 2>&1; echo "$f $one $?"
> done
> rm $T/s/${S:-a.yaml}; cd $T/s; git status --short > $T/out 2>&1; find . | grep -v '^./.git/index$' | sort | diff $T/before -; ! ls -d $T/ESCAPED 2>/dev/null
> END
$ bash try.sh .git/commondir .git/hooks/pre-commit .git/info/attributes .GIT/config .Git/x sub/.git/config .git .envrc a/.envrc .vscode/tasks.json .cordon/config.yaml .CORDON/x .husky/pre-commit .bashrc '.git./config' '.git /config' '.Git::INDEX/x' git~1/x
.git/commondir 5 2
.git/hooks/pre-commit 5 2
.git/info/attributes 5 2
.GIT/config 5 2
.Git/x 5 2
sub/.git/config 5 2
.git 5 2
.envrc 5 2
a/.envrc 5 2
.vscode/tasks.json 5 2
.cordon/config.yaml 5 2
.CORDON/x 5 2
.husky/pre-commit 5 2
.bashrc 5 2
.git./config 5 2
.git /config 5 2
.Git::INDEX/x 5 2
git~1/x 5 2
$ cordon run --update-goldens --json s/none.yaml > /dev/null 2>&1; printf 'scenario_version: 1\nrun: {command: "true"}\nsteps: [{id: a, action: {type: wait, payload: {condition: {type: screen_matches_golden, payload: {file: .git/commondir}}}}}]\n' > a.yaml; cordon run --update-goldens a.yaml; cordon run a.yaml 2>&1 | grep cordon:; rm a.yaml
cordon: the golden '.git/commondir' cannot be written: belongs to git; choose another name, or omit --update-goldens [E_POLICY_DENIED]
cordon: step 'a': no golden '.git/commondir', and it cannot be written: belongs to git [E_ASSERTION_FAILED]
# a repository under another name, a program, a scenario inside a directory whose files are executed
$ bash try.sh bare/config bare/hooks/x tool
bare/config 5 2
bare/hooks/x 5 2
tool 5 2
$ mkdir s/.vscode s/.git/hooks/x && cd s && find . | sort > ../before && cd .. && S=.vscode/a.yaml bash try.sh tasks.json && S=.git/hooks/x/a.yaml bash try.sh ../x y
tasks.json 5 2
../x 9 9
y 5 2

## only a passing step writes its golden
$ mkdir s && printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x; read"]}\nsteps: [{id: up, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}}, {id: a, timeout_ms: 1000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}, assert: [{type: screen_matches_golden, payload: {file: g}}, {type: title_is, payload: {text: t}}]}]\n' >s/a.yaml; cordon run --update-goldens s/a.yaml >/dev/null 2>&1; echo $?; ls s
5
a.yaml

## a replay compares with the recorded golden, in any directory and whatever happened to the file
$ mkdir s && printf 'scenario_version: 1\nrun: {command: bash, args: ["-c", "echo x; read"]}\nsteps: [{id: a, timeout_ms: 20000, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: x}}}}, assert: [{type: screen_matches_golden, payload: {file: g/x.txt}}]}]\n' >s/a.yaml; cordon run --update-goldens s/a.yaml --artifacts a >/dev/null; cat a/goldens/0001.txt
1 golden written
x
$ echo y >s/g/x.txt; cordon replay --artifacts a; cd s && cordon replay --artifacts ../a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
passed: \$T/.+/replay-[0-9a-f-]{36} (re)
$ echo z >a/goldens/0001.txt; cordon replay --artifacts a >/dev/null
cordon: the artifact 'goldens/0001.txt' or its line in checksums.json was changed: expected the checksum [0-9a-f]{16}, found [0-9a-f]{16} \[E_REPLAY_MISMATCH\] (re)
? 11
$ echo x >a/goldens/0001.txt; echo >a/goldens/0002.txt; cordon replay --artifacts a >/dev/null
cordon: the artifact 'goldens/0002.txt' has no checksum in checksums.json [E_REPLAY_MISMATCH]
? 11
$ rm a/goldens/0002.txt a/checksums.json; echo z >a/goldens/0001.txt; sed -i 's/"timeout_ms": *20000/"timeout_ms": 1000/' a/scenario.json; grep -c '"timeout_ms": 1000' a/scenario.json; cordon replay --artifacts a >/dev/null
1
cordon: step 1 'a': expected 'passed', got 'failed' [E_REPLAY_MISMATCH]
? 11
