# The command line; its behaviour on a terminal is tested by tests/tui/chat.py.

## without a terminal: one prompt per line, plain text output
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"First **answer**, [x](https://x.org)."}]},{"content":[{"text":"Second."}]},{"content":[],"error":{"status":400,"message":"no such thing"}},{"content":[{"text":"Fourth."}]}]}' > s.json
$ printf 'one\r\n\n  \ntwo' | cordon chat --script s.json 2>note | sed 's/^/|/'
|> one
|
|First answer, x (https://x.org).
|
|> two
|
|Second.
$ sed 's/[0-9a-f-]\{36\}/ID/' note
To resume: cordon chat --session ID
$ cordon chat --script s.json </dev/null

## a failing turn ends it with its status, and the next lines are not sent
$ echo '{"version":1,"model":"m","turns":[{"content":[],"error":{"status":400,"message":"no such thing"}},{"content":[{"text":"Never."}]}]}' > s.json
$ printf 'one\ntwo\n' | cordon chat --script s.json 2>&1 | grep -v '^To resume: ' | sed 's/^/|/'
|> one
|cordon: error in the script: no such thing [E_PROVIDER]
$ printf 'one\ntwo\n' | cordon chat --script s.json >/dev/null 2>&1
? 16

## commands also work without a terminal; lines are neither keys nor completed
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"Ok."}]}]}' > s.json; touch alpha
$ printf '/model\nsee @alp\n/quit\nnever\n' | cordon chat --script s.json 2>/dev/null | sed 's/^/|/'
|· model: m (scripted)
|
|> see @alp
|
|Ok.
$ printf 'a\tb \003\004 \033[A c\n' | cordon chat --script s.json --session s.jsonl >/dev/null 2>&1; grep -o '"text":"a[^}]*' s.jsonl | head -n 1
"text":"a\tb \u0003\u0004 \u001b[A c"

## unwritable output is an error
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"Ok."}]}]}' > s.json
$ echo one | cordon chat --script s.json 2>/dev/null >/dev/full
? 10
$ echo one | cordon chat --script s.json 2>&1 >/dev/full | grep -v '^To resume: '
cordon: cannot write to standard output [E_IO]
$ head -c 3000000 /dev/zero | tr '\0' x | cordon chat --script s.json 2>&1 | tail -n 1
cordon: a line of standard input is longer than 2097152 bytes [E_CLI_INVALID_ARG]

## without a terminal nothing is confirmed
$ echo '{"version":1,"model":"m","turns":[{"content":[{"tool_call":{"id":"1","name":"write_file","arguments":{"path":"a","content":"x"}}}]},{"content":[{"text":"Ok."}]}]}' > s.json
$ echo one | setsid cordon chat --script s.json --approval always >/dev/null 2>&1; test -e a
? 1

## an interrupt ends it
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"I begin. "},{"delay_ms":60000}]}]}' > s.json; mkfifo in out
$ cordon chat --script s.json <in >out 2>err & exec 3>in 4<out; echo one >&3; read -r first <&4; echo "|$first"; kill -TERM $!; wait $!
|> one
? 130

## --json is not an option of chat
$ cordon chat --json 2>/dev/null | grep -o '"message":"[^"]*"'
"message":"'cordon chat' does not support --json; use 'cordon agent'"

## it has the options of agent
$ cordon chat --fs-mode nowhere
cordon: invalid value 'nowhere' for --fs-mode: expected 'restricted', 'workspace', 'unrestricted' [E_CLI_INVALID_ARG]
cordon: try 'cordon chat --help'
? 12
$ cordon chat --help | head -n 1
cordon chat: chat with a model that works with tools
