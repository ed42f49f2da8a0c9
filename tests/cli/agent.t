# cordon agent, played by scripts. See run.py for the format.

## the embedded script answers if no key is set, and the warning names it
$ cordon agent -p hello 2>&1 >/dev/null
cordon: no API key found: answering from the built-in demo script
$ cordon agent -p hello 2>/dev/null | grep -c 'I am a script'
1

## the answer goes to stdout; read-only calls, an unknown tool, a failing command, arguments that are not JSON
$ echo hello > a; cat > s.json <<'END'
> {"version": 1, "turns": [
>   {"content": [{"text": "Looking."},
>     {"tool_call": {"name": "read_file", "arguments": {"path": "a"}}},
>     {"tool_call": {"name": "raed_file", "arguments": {"path": "a"}}},
>     {"tool_call": {"name": "shell", "arguments": {"command": "echo out; exit 3"}}},
>     {"tool_call": {"name": "write_file", "arguments": "{\"path"}},
>     {"tool_call": {"name": "list_dir", "arguments": {"depht": 1}}}]},
>   {"content": [{"thinking": "hm"}, {"text": "It says hello."}]}]}
> END
$ cordon agent --script s.json -p 'what is in a?'
Looking.
It says hello.
$ cordon agent --script s.json -p x --json | grep tool_result | cut -c 44-141
"id":"call_1","name":"read_file","content":"hello\n","is_error":false}
"id":"call_2","name":"raed_file","content":"error: no such tool 'raed_file'; available: 'list_dir'
"id":"call_3","name":"shell","content":"out\n[the command failed with exit status 3]\n","is_error"
"id":"call_4","name":"write_file","content":"error: not run: the arguments are not valid JSON","is
"id":"call_5","name":"list_dir","content":"error: list_dir: depht: unknown key; did you mean 'dept

## events: every line has a version, the last one is done
$ echo '{"version": 1, "turns": [{"content": [{"thinking": "hm", "signature": "s"}, {"text": "a\u001b[1m"}, {"tool_call": {"name": "glob_files", "arguments": {"pattern": "*.none"}}}], "usage": {"input_tokens": 7, "output_tokens": 2}}, {"content": [{"text": "b"}]}]}' > s.json
$ cordon agent --script s.json -p x --json | sed 's/"timestamp":"[^"]*"/"timestamp":"T"/; s/"session_id":"[^"]*"/"session_id":"I"/'
{"protocol_version":1,"type":"thinking_delta","index":0,"delta":"hm"}
{"protocol_version":1,"type":"text_delta","index":1,"delta":"a\u001b[1m"}
{"protocol_version":1,"type":"tool_call_begin","id":"call_1","name":"glob_files"}
{"protocol_version":1,"type":"tool_call_delta","id":"call_1","delta":"{\"pattern\":\"*.none\"}"}
{"protocol_version":1,"type":"tool_call_end","id":"call_1","name":"glob_files","arguments":{"pattern":"*.none"}}
{"protocol_version":1,"type":"usage","input_tokens":7,"output_tokens":2}
{"protocol_version":1,"type":"message","message":{"type":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a\u001b[1m"},{"type":"tool_call","id":"call_1","name":"glob_files","arguments":{"pattern":"*.none"}}],"stop_reason":"tool_use","raw_stop_reason":"tool_use","usage":{"input_tokens":7,"output_tokens":2},"timestamp":"T"}}
{"protocol_version":1,"type":"tool_result","id":"call_1","name":"glob_files","content":"(no file matches; without a leading **/ only the directory itself is searched)\n","is_error":false}
{"protocol_version":1,"type":"text_delta","index":0,"delta":"b"}
{"protocol_version":1,"type":"message","message":{"type":"assistant","content":[{"type":"text","text":"b"}],"stop_reason":"end_turn","raw_stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":0},"timestamp":"T"}}
{"protocol_version":1,"type":"done","session_id":"I","stop_reason":"end_turn","raw_stop_reason":"end_turn","turns":2,"usage":{"input_tokens":7,"output_tokens":2}}

## reasons for the end: refusal, length, turns, tokens, time; an unknown reason is reported as none
$ echo '{"version": 1, "turns": [{"content": [{"text": "no"}], "stop_reason": "refusal"}]}' > s.json; cordon agent --script s.json -p x
no
cordon: the model refused to answer [E_PROVIDER]
? 16
$ cordon agent --script s.json -p x --json 2>/dev/null | tail -n 1 | grep -o '"context":{"stop_reason":"refusal"'
"context":{"stop_reason":"refusal"
$ echo '{"version": 1, "turns": [{"content": [{"text": "lon"}, {"tool_call": {"name": "shell", "arguments": {"command": "touch bad"}}}], "stop_reason": "length"}]}' > s.json; cordon agent --script s.json -p x; s=$?; ls bad; exit $s
lon
cordon: the answer was truncated: it reached the token limit (--max-tokens) [E_TIMEOUT]
ls: cannot access 'bad': No such file or directory
? 4
$ cordon agent --script s.json -p x --json 2>/dev/null | grep -o 'not run: the answer was truncated at the token limit'
not run: the answer was truncated at the token limit
$ cordon agent --script s.json -p x --json 2>/dev/null | tail -n 1 | grep -o '"budget":"length"'
"budget":"length"
$ echo '{"version": 1, "turns": [{"repeat": true, "content": [{"tool_call": {"name": "list_dir"}}], "usage": {"input_tokens": 60}}]}' > s.json; cordon agent --script s.json -p x --max-turns 2 --json 2>/dev/null | tail -n 1 | grep -o '"turns":2,"budget":"turns"'
"turns":2,"budget":"turns"
$ cordon agent --script s.json -p x --max-turns 2
cordon: the maximum number of requests to the model was reached (--max-turns) [E_TIMEOUT]
? 4
$ cordon agent --script s.json -p x --max-total-tokens 100 --json 2>/dev/null | tail -n 1 | grep -o '"turns":2,"budget":"tokens"'
"turns":2,"budget":"tokens"
$ echo '{"version": 1, "turns": [{"content": [{"tool_call": {"name": "shell", "arguments": {"command": "sleep 60"}}}]}]}' > s.json; cordon agent --script s.json -p x --max-time-ms 300
cordon: timeout: --max-time-ms has elapsed [E_TIMEOUT]
? 4
$ echo '{"version": 1, "turns": [{"content": [{"delay_ms": 60000}]}]}' > s.json; cordon agent --script s.json -p x --max-time-ms 300
cordon: timeout: --max-time-ms has elapsed [E_TIMEOUT]
? 4
$ echo '{"version": 1, "turns": [{"content": [{"text": "ok"}], "stop_reason": "something_new"}]}' > s.json; cordon agent --script s.json -p x --json | tail -n 1 | grep -o '"stop_reason.*new"'
"stop_reason":"unknown","raw_stop_reason":"something_new"

## a failing service: the received part is kept
$ echo '{"version": 1, "turns": [{"content": [{"text": "half of"}], "error": {"message": "on fire", "type": "api_error"}}]}' > s.json; cordon agent --script s.json -p x --max-retries 0 --json 2>/dev/null | grep -o '"type":"message".*"stop_reason":"error"' | cut -c -105
"type":"message","message":{"type":"assistant","content":[{"type":"text","text":"half of"}],"stop_reason"
$ cordon agent --script s.json -p x --max-retries 0 2>&1 | head -n 1
half of
$ cordon agent --script s.json -p x --max-retries 0 > /dev/null 2>&1
? 16

## the prompt: standard input, an attachment, an image, missing
$ echo '{"version": 1, "turns": [{"when": "from stdin", "content": [{"text": "yes"}]}]}' > s.json; echo from stdin | cordon agent --script s.json; echo from stdin | cordon agent --script s.json -p -; echo from stdin | cordon agent --script s.json -p look
yes
yes
yes
$ cordon agent --script s.json
cordon: the prompt is empty [E_CLI_INVALID_ARG]
? 12
$ cordon agent --script s.json -p 'from stdin' <&-
yes
$ cordon agent --script s.json <&-
cordon: no prompt: use -p TEXT, or standard input [E_CLI_INVALID_ARG]
? 12
$ cordon agent --script s.json -p ' ' --json 2>/dev/null
{"protocol_version":1,"type":"error","error":{"code":"E_CLI_INVALID_ARG","message":"the prompt is empty","context":{}}}
? 12
$ cordon agent --script s.json -p x --image s.json
cordon: 's.json' is not a supported image: only PNG, JPEG, GIF and WebP can be sent [E_TOOL_VALIDATION]
? 15
$ cordon agent --script s.json -p x --image none.png
cordon: --image: cannot open 'none.png': No such file or directory [E_IO]
? 10
$ printf '\x89PNG\r\n\x1a\n' > i.png; head -c 6000000 /dev/zero >> i.png; cordon agent --script s.json -p x --image i.png 2>&1 | grep -o 'E_TOOL_VALIDATION'
E_TOOL_VALIDATION

## invalid options
$ cordon agent -p x --temperature 2.1
cordon: invalid value '2.1' for --temperature: expected a number from 0 to 2 [E_CLI_INVALID_ARG]
? 12
$ cordon agent -p x --temperature nan
cordon: invalid value 'nan' for --temperature: expected a number from 0 to 2 [E_CLI_INVALID_ARG]
? 12
$ cordon agent -p x --max-retries 9
cordon: invalid value for --max-retries: expected a whole number from 0 to 4, not '9' [E_CLI_INVALID_ARG]
? 12
$ cordon agent -p x --continue --session y
cordon: --session, --continue and --fork cannot be combined [E_CLI_INVALID_ARG]
? 12
$ cordon agent -p x --script none.json
cordon: cannot open the script 'none.json': No such file or directory [E_IO]
? 10
$ cordon agent -p x --script s --provider openai
cordon: --script requires --provider scripted [E_CLI_INVALID_ARG]
? 12
$ cordon agent -p x --provider anthropic
cordon: no API key for anthropic: set ANTHROPIC_API_KEY, or use --provider scripted, which needs no key [E_CONFIG]
? 17
$ cordon agent -p x --system @none
cordon: --system: cannot open 'none': No such file or directory [E_IO]
? 10
$ echo '{"version": 1, "turns": []}' > s.json; cordon agent -p x --script s.json --record none/r.json
cordon: cannot write the script 'none/r.json': No such file or directory [E_IO]
? 10

## sessions: created, resumed, forked
$ echo '{"version": 1, "turns": [{"when": "two", "content": [{"text": "second"}]}, {"when": "one", "content": [{"text": "first"}]}]}' > s.json; cordon agent --script s.json -p one --session my.jsonl; cordon agent --script s.json -p two --session my.jsonl; grep -c '"type":"\(user\|assistant\)"' my.jsonl
first
second
4
$ cordon agent --script s.json -p one; cordon agent --script s.json -p two --continue --json | grep -o '"type":"done"'; cat home/.cordon/sessions/*.jsonl | grep -c '"type":"\(user\|assistant\)"'
first
"type":"done"
4
$ id=$(basename home/.cordon/sessions/*.jsonl .jsonl); cordon agent --script s.json -p two --fork $id@2 --json | grep -c "$id"; ls home/.cordon/sessions/*.jsonl | wc -l
0
2
? 0
$ cordon agent --script s.json -p x --session 00000000
cordon: no such session '00000000'; 'cordon sessions list' lists all sessions [E_NOT_FOUND]
? 18
$ mkdir $'d\xff'; cd $'d\xff'; cordon agent --script ../s.json -p one; cordon agent --script ../s.json -p two --continue
first
second
$ mkdir e; cd e; cordon agent --script ../s.json -p x --continue 2>&1 | grep -o E_NOT_FOUND
E_NOT_FOUND

## an envelope and the leftovers of a killed run: resumed, and ignored
$ echo '{"version": 1, "turns": [{"repeat": true, "content": [{"text": "ok"}]}]}' > s.json; cordon agent --script s.json -p one --session e.json; cp e.json first; cordon agent --script s.json -p other --session other.jsonl
ok
ok
$ cordon sessions import first; grep -v '"type":"imported"' home/.cordon/sessions/*.jsonl > .e.json.jsonl; cordon agent --script s.json -p two --session e.json 2>&1 | sed 's/: .*: /: I: /'; grep -o '"text": "[a-z]*"' e.json; ls .e.json.jsonl
[0-9a-f-]* (re)
cordon: I: its messages are recovered from its log
ok
"text": "one"
"text": "ok"
"text": "two"
"text": "ok"
ls: cannot access '.e.json.jsonl': No such file or directory
? 2
$ mv other.jsonl .e.json.jsonl; cp e.json before; cordon agent --script s.json -p three --session e.json; s=$?; cmp e.json before; grep -c other .e.json.jsonl; exit $s
cordon: 'e.json' has changed since the interrupted run that left '.e.json.jsonl': move one of them away [E_CONFLICT]
1
? 19
$ cp home/.cordon/sessions/*.jsonl .e.json.jsonl; cordon sessions show e.json
cordon: 'e.json' has changed since the interrupted run that left '.e.json.jsonl': move one of them away [E_CONFLICT]
? 19

## a run is recorded as a script, and the script gives the same run
$ echo hello > a; echo '{"version": 1, "turns": [{"content": [{"thinking": "hm", "signature": "s"}, {"text": "one"}, {"tool_call": {"name": "read_file", "arguments": {"path": "a"}}}]}, {"content": [{"text": "two"}], "stop_reason": "length"}]}' > s.json
$ cordon agent --script s.json -p x --record r.json 2>/dev/null; cordon agent --script r.json -p x --record r2.json; cmp r.json r2.json
one
two
one
two
cordon: the answer was truncated: it reached the token limit (--max-tokens) [E_TIMEOUT]

$ cordon agent --script s.json -p x --model $'m\xff' --record r3.json > /dev/null 2>&1; grep model r3.json
  "model": "m\xEF\xBF\xBD", (esc)
$ mkfifo f; cordon agent --script s.json -p x --record f
cordon: cannot write the script 'f': No such device or address [E_IO]
? 10

## the project's instructions are read, and their problems reported
$ mkdir -p p/.git p/sub; echo 'Be brief.' > p/AGENTS.md; ln -s /etc/passwd p/sub/AGENTS.md; echo '{"version": 1, "turns": []}' > s.json; cd p/sub; cordon agent -p x --script $T/s.json --session $T/a.jsonl 2>&1 >/dev/null | grep -o "is outside"; head -n 1 $T/a.jsonl | grep -o 'Instructions from [^:]*:\\nBe brief.\|root:x' | sed "s#$T#T#"
is outside
Instructions from T/p/AGENTS.md:\nBe brief.
$ cd p/sub; cordon agent -p x --script $T/s.json --session $T/b.jsonl --system 'Be kind.' > /dev/null 2>&1; head -n 1 $T/b.jsonl | grep -o '"system_prompt":"Be kind.\\n\\nWorking'
"system_prompt":"Be kind.\n\nWorking

## the context window is nearly full: summarised once
$ cat > s.json <<'END'
> {"version": 1, "turns": [
>   {"when": "about to be truncated", "content": [{"text": "We listed files."}]},
>   {"when": "start", "content": [{"tool_call": {"name": "list_dir"}}], "usage": {"input_tokens": 9000, "output_tokens": 10}},
>   {"content": [{"text": "done"}], "usage": {"input_tokens": 500, "output_tokens": 10}}]}
> END
$ cordon agent --script s.json -p start --context-window 10000 --session c.jsonl --json | grep -o '"type":"compaction","kept":[0-9]*\|"type":"done"'
"type":"compaction","kept":2
"type":"done"
$ grep -c '"type":"compaction"' c.jsonl; grep -c '"type":"user"' c.jsonl
1
2
$ cat > s.json <<'END'
> {"version": 1, "turns": [
>   {"when": "about to be truncated", "repeat": true, "content": [{"text": "We listed files."}]},
>   {"repeat": true, "content": [{"tool_call": {"name": "list_dir"}}], "usage": {"input_tokens": 9000, "output_tokens": 10}}]}
> END
$ cordon agent --script s.json -p start --context-window 10000
cordon: the conversation uses about 9026 of the model's 10000 tokens, and a summary did not shorten it enough: start a new session, or one from an earlier message with --fork [E_TIMEOUT]
? 4

$ sed -i 's/"We listed files."}\]/"No."}], "stop_reason": "refusal"/' s.json; cordon agent --script s.json -p start --context-window 10000 --session r.jsonl; s=$?; grep -c compaction r.jsonl; exit $s
cordon: the model refused to summarize the conversation [E_PROVIDER]
0
? 16

## a truncated summary is not used: a short one is requested once
$ cat > s.json <<'END'
> {"version": 1, "turns": [
>   {"when": "at most 300 words", "content": [{"text": "Files."}]},
>   {"when": "about to be truncated", "content": [{"text": "We listed"}], "stop_reason": "length"},
>   {"when": "start", "content": [{"tool_call": {"name": "list_dir"}}], "usage": {"input_tokens": 9000, "output_tokens": 10}},
>   {"content": [{"text": "done"}], "usage": {"input_tokens": 500, "output_tokens": 10}}]}
> END
$ cordon agent --script s.json -p start --context-window 10000 --session l.jsonl; grep -o 'We listed\|Files[.]' l.jsonl
done
Files.
$ sed -i 's/"Files."}\]/"We"}], "stop_reason": "length"/' s.json; cordon agent --script s.json -p start --context-window 10000 --session m.jsonl; s=$?; grep -c compaction m.jsonl; exit $s
cordon: the model's summary of the conversation was truncated: it reached the token limit (--max-tokens) [E_PROVIDER]
0
? 16

## an envelope through a symlink: its target is resumed, and the link stays
$ echo '{"version": 1, "turns": [{"repeat": true, "content": [{"text": "ok"}]}]}' > s.json; mkdir real; cordon agent --script s.json -p one --session real/e.json; ln -s real/e.json l.json; cordon agent --script s.json -p two --session l.json; test -L l.json && grep -o '"user"' real/e.json; ls -A real
ok
ok
"user"
"user"
e.json

## settings: invalid ones are reported, and so is a failing key command
$ mkdir -p home/.config/cordon; echo 'provider: anthropik' > home/.config/cordon/config.yaml; cordon agent -p x
cordon: $T/home/.config/cordon/config.yaml:1:1: provider: no such provider 'anthropik': expected one of anthropic, openai, scripted; did you mean 'anthropic'? [E_CONFIG]
? 17
$ printf 'provider: anthropic\nkey_command: "echo secret-key; exit 3"\n' > home/.config/cordon/config.yaml; cordon agent -p x
cordon: key_command: the command failed (exit status 3) [E_CONFIG]
? 17
$ printf 'provider: anthropic\nkey_command: "true"\n' > home/.config/cordon/config.yaml; cordon agent -p x
cordon: key_command: the first line of the output is empty [E_CONFIG]
? 17
$ printf 'provider: anthropic\nkey_command: exec sleep 1000\n' > home/.config/cordon/config.yaml; cordon agent -p x --max-time-ms 100
cordon: timeout: --max-time-ms has elapsed [E_TIMEOUT]
? 4
$ printf 'models:\n- name: script\n  context_window: 10\n  input_price: -1\n' > home/.config/cordon/config.yaml; cordon agent -p x 2>&1 | grep -o 'models\[0\].input_price'
models[0].input_price
$ printf 'provider: scripted\nmodel: little\nmodels:\n- name: lit\n  context_window: 10\n' > home/.config/cordon/config.yaml; cordon agent -p x --json 2>/dev/null | tail -n 1 | grep -o '"budget":"context"'
"budget":"context"
