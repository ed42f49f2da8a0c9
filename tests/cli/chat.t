# The command itself; what it does in a terminal is in tests/tui/chat.py.

## without a terminal: a prompt a line, and plain lines out
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
cordon: 'cordon chat --session ID' goes on
$ cordon chat --script s.json </dev/null

## a turn that fails ends it, with its status; what follows is not sent
$ echo '{"version":1,"model":"m","turns":[{"content":[],"error":{"status":400,"message":"no such thing"}},{"content":[{"text":"Never."}]}]}' > s.json
$ printf 'one\ntwo\n' | cordon chat --script s.json 2>&1 | grep -v goes.on | sed 's/^/|/'
|> one
|cordon: the script fails: no such thing [E_PROVIDER]
$ printf 'one\ntwo\n' | cordon chat --script s.json >/dev/null 2>&1
? 16

## commands work without a terminal, too; nothing in a line is a key or completed
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"Ok."}]}]}' > s.json; touch alpha
$ printf '/model\nsee @alp\n/quit\nnever\n' | cordon chat --script s.json 2>/dev/null | sed 's/^/|/'
|· m answers, scripted
|
|> see @alp
|
|Ok.
$ printf 'a\tb \003\004 \033[A c\n' | cordon chat --script s.json --session s.jsonl >/dev/null 2>&1; grep -o '"text":"a[^}]*' s.jsonl | head -n 1
"text":"a\tb \u0003\u0004 \u001b[A c"

## what can't be written is an error
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"Ok."}]}]}' > s.json
$ echo one | cordon chat --script s.json 2>/dev/null >/dev/full
? 10
$ echo one | cordon chat --script s.json 2>&1 >/dev/full | grep -v goes.on
cordon: cannot write to standard output [E_IO]
$ head -c 3000000 /dev/zero | tr '\0' x | cordon chat --script s.json 2>&1 | tail -n 1
cordon: a line of standard input has more than 2097152 bytes [E_CLI_INVALID_ARG]

## nobody is asked without a terminal
$ echo '{"version":1,"model":"m","turns":[{"content":[{"tool_call":{"id":"1","name":"write_file","arguments":{"path":"a","content":"x"}}}]},{"content":[{"text":"Ok."}]}]}' > s.json
$ echo one | setsid cordon chat --script s.json --approval always >/dev/null 2>&1; test -e a
? 1

## an interruption ends it
$ echo '{"version":1,"model":"m","turns":[{"content":[{"text":"I begin. "},{"delay_ms":60000}]}]}' > s.json; mkfifo in out
$ cordon chat --script s.json <in >out 2>err & exec 3>in 4<out; echo one >&3; read -r first <&4; echo "|$first"; kill -TERM $!; wait $!
|> one
? 130

## it has no JSON
$ cordon chat --json 2>/dev/null | grep -o '"message":"[^"]*"'
"message":"a conversation has no JSON; 'cordon agent' has"

## options are the agent's
$ cordon chat --fs-mode nowhere
cordon: 'nowhere' is no value for --fs-mode, which takes 'restricted', 'workspace', 'unrestricted' [E_CLI_INVALID_ARG]
cordon: try 'cordon chat --help'
? 12
$ cordon chat --help | head -n 1
cordon chat: talk to a model that works with the tools
