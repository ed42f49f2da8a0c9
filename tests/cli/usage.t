# The command line itself: help, versions, wrong words. See run.py for the format.

## the overview fits one screen
$ test "$(cordon | wc -l)" -le 24 && cordon | head -n 1
cordon 0.1.0: run coding agents and terminal programs inside a boundary
$ cordon --help | cmp - <(cordon) && cordon help | cmp - <(cordon)

## version
$ cordon --version
cordon 0.1.0
$ cordon --version --json
{"protocol_version":1,"version":"0.1.0"}
$ cordon path --version
cordon 0.1.0

## help for each command, three ways
$ for c in encode decode parse root resolve check glob; do
>   cordon help path $c | head -n 1
>   cmp <(cordon help path $c) <(cordon path $c --help) && cmp <(cordon help path $c) <(cordon path $c -h)
> done
cordon path encode: write a path as one file name
cordon path decode: read back what encode wrote
cordon path parse: take a directory argument apart
cordon path root: find where the project begins
cordon path resolve: say where a path leads, links followed
cordon path check: say what a path is to an agent: class, access, warnings
cordon path glob: list the project's files that match a pattern

## no line of help is wider than 80 columns
$ for c in "" path completions "path encode" "path glob" "path check"; do cordon help $c; done | awk 'length > 80'

## unknown words name the nearest right one
$ cordon pth
cordon: 'cordon' has no command 'pth'; did you mean 'path'? [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12
$ cordon path golb x
cordon: 'cordon path' has no command 'golb'; did you mean 'glob'? [E_CLI_INVALID_ARG]
cordon: try 'cordon path --help'
? 12
$ cordon path zebra
cordon: 'cordon path' has no command 'zebra' [E_CLI_INVALID_ARG]
cordon: try 'cordon path --help'
? 12
$ cordon help path gl
cordon: 'cordon path' has no command 'gl'; did you mean 'glob'? [E_CLI_INVALID_ARG]
cordon: try 'cordon help --help'
? 12
$ cordon path check --agnet=x y
cordon: 'cordon path check' has no option '--agnet'; did you mean '--agent'? [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
? 12
$ cordon path check -q x
cordon: 'cordon path check' has no option '-q' [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
? 12
$ cordon --color sometimes
cordon: 'sometimes' is no value for --color, which takes 'auto', 'always', 'never' [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12
$ cordon completions basch
cordon: there are completions for 'bash', 'zsh', 'fish', not for 'basch'; did you mean 'bash'? [E_CLI_INVALID_ARG]
cordon: try 'cordon completions --help'
? 12

## missing and surplus words
$ cordon path
cordon: 'cordon path' needs a command: encode, decode, parse, root, resolve, check, glob [E_CLI_INVALID_ARG]
cordon: try 'cordon path --help'
? 12
$ cordon path encode
cordon: 'cordon path encode' needs an argument: cordon path encode PATH [E_CLI_INVALID_ARG]
cordon: try 'cordon path encode --help'
? 12
$ cordon path encode a b
cordon: 'cordon path encode' takes no further argument: 'b' [E_CLI_INVALID_ARG]
cordon: try 'cordon path encode --help'
? 12
$ cordon path check --agent
cordon: --agent needs a value: --agent NAME [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
? 12
$ cordon path glob --null=yes x
cordon: --null takes no value ('yes') [E_CLI_INVALID_ARG]
cordon: try 'cordon path glob --help'
? 12

## a usage error with --json is JSON on stdout, words on stderr
$ cordon path golb --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_CLI_INVALID_ARG","message":"'cordon path' has no command 'golb'; did you mean 'glob'?","context":{"word":"golb","command":"cordon path"}}}
? 12
$ cordon --json pth 2>&1 >/dev/null
cordon: 'cordon' has no command 'pth'; did you mean 'path'? [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12

## with --json even words for people are JSON
$ for c in "" "--help" "help path" "path glob --help" "completions bash"; do
>   cordon $c --json --color=always | python3 -c 'import json,sys; o=json.load(sys.stdin); print(o["protocol_version"], sorted(o)[0], any("\x1b" in str(v) for v in o.values()))'
> done
1 help False
1 help False
1 help False
1 help False
1 protocol_version False

## paragraphs of a help have one empty line between them
$ for c in "box new" "policy new"; do cordon $c --help | cat -s | cmp - <(cordon $c --help); done

## options may stand anywhere, "--" ends them
$ cordon --json path encode /a | cmp - <(cordon path encode /a --json)
$ cordon path encode -- --json
--json
$ cordon path encode -- -x
-x
$ cordon path encode -x
cordon: 'cordon path encode' has no option '-x' [E_CLI_INVALID_ARG]
cordon: try 'cordon path encode --help'
? 12
$ cordon path encode -
-

## colours
$ cordon --color always | head -n 1
\x1B[1mcordon\x1B[0m 0.1.0: run coding agents and terminal programs inside a boundary (esc)
$ cordon --color=never --version
cordon 0.1.0
$ cordon --color always pth 2>&1 | head -n 1
\x1B[31mcordon:\x1B[0m 'cordon' has no command 'pth'; did you mean 'path'? \x1B[2m[E_CLI_INVALID_ARG]\x1B[0m (esc)
$ script -qec 'cordon' /dev/null </dev/null | grep -c $'\x1b\\[1m'
[1-9][0-9]* (re)
$ NO_COLOR=1 script -qec 'cordon' /dev/null </dev/null | grep -c $'\x1b'
0
? 1
$ TERM=dumb script -qec 'cordon' /dev/null </dev/null | grep -c $'\x1b'
0
? 1

## what cannot be written is an error
$ cordon --version >/dev/full
cordon: cannot write to stdout: No space left on device [E_IO]
? 10
$ cordon --version >&-
cordon: cannot write to stdout: Bad file descriptor [E_IO]
? 10

## a hostile word cannot speak to the terminal
$ cordon $'x\x1b]0;title\x07\ny'
cordon: 'cordon' has no command 'x\x1B]0;title\x07\ny' [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12
$ cordon path decode $'\xff^' --json 2>&1
cordon: '\xFF^' is no caret encoding: the encoding ends within the sequence at byte 1, which needs 2 hex digits [E_CLI_INVALID_ARG]
{"protocol_version":1,"error":{"code":"E_CLI_INVALID_ARG","message":"'�^' is no caret encoding: the encoding ends within the sequence at byte 1, which needs 2 hex digits","context":{"position":1}}}
? 12

## the log is off unless asked for
$ CORDON_LOG=nonsense cordon --version
cordon 0.1.0
