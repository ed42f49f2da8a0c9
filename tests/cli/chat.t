# The command itself; what it does in a terminal is in tests/tui/chat.py.

## it needs a terminal
$ cordon chat </dev/null
cordon: this needs a terminal, and standard input is none; 'cordon agent' works without one [E_CLI_INVALID_ARG]
? 12

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
