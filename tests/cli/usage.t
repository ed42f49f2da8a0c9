# The command line: help, versions, invalid arguments. See run.py for the format.

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

## help for each command, in three ways
$ for c in encode decode parse root resolve check glob; do
>   cordon help path $c | head -n 1
>   cmp <(cordon help path $c) <(cordon path $c --help) && cmp <(cordon help path $c) <(cordon path $c -h)
> done
cordon path encode: encode a path as one file name
cordon path decode: decode the output of encode
cordon path parse: split a directory argument into its parts
cordon path root: find the root of the project
cordon path resolve: print the target of a path, following links
cordon path check: print the class, access and warnings of a path
cordon path glob: list the project's files that match a pattern

## no line of help is wider than 80 columns
$ for c in "" path completions "path encode" "path glob" "path check"; do cordon help $c; done | awk 'length > 80'

## unknown words are answered with the nearest valid one
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
$ cordon path check --worskpace=x y
cordon: 'cordon path check' has no option '--worskpace'; did you mean '--workspace'? [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
? 12
$ cordon path check -q x
cordon: 'cordon path check' has no option '-q' [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
? 12
$ cordon --color sometimes
cordon: invalid value 'sometimes' for --color: expected 'auto', 'always', 'never' [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12
$ cordon completions basch
cordon: completions are available for 'bash', 'zsh', 'fish', not for 'basch'; did you mean 'bash'? [E_CLI_INVALID_ARG]
cordon: try 'cordon completions --help'
? 12

## missing and surplus arguments
$ cordon path
cordon: 'cordon path' needs a command: encode, decode, parse, root, resolve, check, glob [E_CLI_INVALID_ARG]
cordon: try 'cordon path --help'
? 12
$ cordon path encode
cordon: 'cordon path encode' needs PATH: cordon path encode [OPTION…] PATH [E_CLI_INVALID_ARG]
cordon: try 'cordon path encode --help'
? 12
$ cordon path encode a b
cordon: unexpected argument 'b' [E_CLI_INVALID_ARG]
cordon: try 'cordon path encode --help'
? 12
$ cordon path check --workspace
cordon: --workspace needs a value: --workspace NAME [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
? 12
$ cordon path glob --null=yes x
cordon: --null takes no value ('yes') [E_CLI_INVALID_ARG]
cordon: try 'cordon path glob --help'
? 12

## a usage error with --json is JSON on stdout, text on stderr
$ cordon path golb --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_CLI_INVALID_ARG","message":"'cordon path' has no command 'golb'; did you mean 'glob'?","context":{"word":"golb","command":"cordon path"}}}
? 12
$ cordon --json pth 2>&1 >/dev/null
cordon: 'cordon' has no command 'pth'; did you mean 'path'? [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12

## with --json, text for people is also JSON
$ for c in "" "--help" "help path" "path glob --help" "completions bash"; do
>   cordon $c --json --color=always | python3 -c 'import json,sys; o=json.load(sys.stdin); print(o["protocol_version"], sorted(o)[0], any("\x1b" in str(v) for v in o.values()))'
> done
1 help False
1 help False
1 help False
1 help False
1 protocol_version False

## paragraphs of help are separated by one empty line
$ for c in "box new" "policy new"; do cordon $c --help | cat -s | cmp - <(cordon $c --help); done

## options may be anywhere, "--" ends them
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

## on a terminal an error is shown without its code, unless --verbose is given
$ NO_COLOR=1 script -qec 'cordon pth; cordon -v pth; cordon path resolve "" --verbose; cordon pth --verbose; cordon path check --nope -v; cordon pth 2>file' /dev/null </dev/null | tr -d '\r'; cat file
cordon: 'cordon' has no command 'pth'; did you mean 'path'?
cordon: try 'cordon --help'
cordon: 'cordon' has no command 'pth'; did you mean 'path'? [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
cordon: the path is empty [E_CLI_INVALID_ARG]
cordon: 'cordon' has no command 'pth'; did you mean 'path'? [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
cordon: 'cordon path check' has no option '--nope' [E_CLI_INVALID_ARG]
cordon: try 'cordon path check --help'
cordon: 'cordon' has no command 'pth'; did you mean 'path'? [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'

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

## unwritable output is an error
$ cordon --version >/dev/full
cordon: cannot write to standard output: No space left on device [E_IO]
? 10
$ cordon --version >&-
cordon: cannot write to standard output: Bad file descriptor [E_IO]
? 10

## hostile arguments can't control the terminal
$ cordon $'x\x1b]0;title\x07\ny'
cordon: 'cordon' has no command 'x\x1B]0;title\x07\ny' [E_CLI_INVALID_ARG]
cordon: try 'cordon --help'
? 12
$ cordon path decode $'\xff^' --json 2>&1
cordon: '\xFF^' is not a valid caret encoding: the encoding ends within the sequence at byte 1, which needs 2 hex digits [E_CLI_INVALID_ARG]
{"protocol_version":1,"error":{"code":"E_CLI_INVALID_ARG","message":"'�^' is not a valid caret encoding: the encoding ends within the sequence at byte 1, which needs 2 hex digits","context":{"position":1}}}
? 12

## the log is off by default, and an unknown level is reported once
$ cordon --version; CORDON_LOG= cordon --version; CORDON_LOG=off cordon --version
cordon 0.1.0
cordon 0.1.0
cordon 0.1.0
$ CORDON_LOG=nonsense cordon --version
cordon: warning: CORDON_LOG: unknown level 'nonsense': expected off, warn, info or debug
cordon 0.1.0

## --json is not offered by commands that refuse it
$ for c in chat "box exec" "box log"; do cordon $c --help | grep -c -e '--json  '; done
0
0
1
$ cordon chat --json </dev/null 2>&1 >/dev/null
cordon: 'cordon chat' does not support --json; use 'cordon agent' [E_CLI_INVALID_ARG]
? 12

## usage: optional forms, and headings of the manual without a trailing blank
$ for c in "box destroy" trust completions; do cordon help $c | sed -n '4p'; done
  cordon box destroy [OPTION…] NAME…|--all
  cordon trust [OPTION…] FILE…|--list
  cordon completions [OPTION…] SHELL
$ printf '@usage version@\n' > page; cordon manual-source page | grep '^##' | tr ' ' _
##_cordon_version_[OPTION…]

## an empty value for a file, session or box
$ cordon exec --artifacts '' -- true
cordon: --artifacts needs a value: --artifacts DIR [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12
$ cordon exec --cwd= -- true
cordon: --cwd needs a value: --cwd DIR [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12

## long helps have headings, and the values of an option are listed once
$ for c in agent chat tool exec run record driver "box new" "path check"; do cordon $c --help | sed -n '/^Options$/,/^Examples$/p; /^Agent$/,/^Examples$/p' | grep '^[A-Z]' | grep -v '^Examples' | tr '\n' ','; echo; done
Options,Model,Session,Limits,Files and commands,Global options,
Options,Model,Session,Limits,Files and commands,Global options,
Options,Files and commands,Global options,
Options,Policy and record,Sandbox and acknowledgements,Global options,
Options,Policy and record,Sandbox and acknowledgements,Global options,
Options,Policy and record,Sandbox and acknowledgements,Global options,
Options,Policy and record,Sandbox and acknowledgements,Global options,
Agent,Box,Network,Limits,Global options,
Options,Global options,
$ cordon render --help | tr -s ' \n' ' ' | grep -o 'output format:.*or svg'
output format: text (default), json, ansi (text with escape sequences), html or svg
$ cordon path check --help | tr -s ' \n' ' ' | grep -o 'when to use colours: auto, always or never'
when to use colours: auto, always or never
$ cordon box new --help | tr -s ' \n' ' ' | grep -o 'agent to run in the box:.*default: claude'
agent to run in the box: claude, test, cordon, codex, gemini, opencode or aider, or one from your settings; default: claude

## an option that was given too often
$ a=; for i in $(seq 65); do a="$a --dir /x"; done; cordon box new n . $a
cordon: --dir may be given at most 64 times [E_CLI_INVALID_ARG]
cordon: try 'cordon box new --help'
? 12
$ a=; for i in $(seq 17); do a="$a --normalize none"; done; cordon replay --artifacts x $a
cordon: --normalize may be given at most 16 times [E_CLI_INVALID_ARG]
cordon: try 'cordon replay --help'
? 12

## usage lines have the options before the command's own words
$ for c in exec record driver run "policy new" "box new" "box diff" "box apply" "box exec" tool; do cordon $c --help | sed -n '/^Usage/{n;p}'; done
  cordon exec [OPTION…] [--] COMMAND [ARGUMENT…]
  cordon record [OPTION…] [--] COMMAND [ARGUMENT…]
  cordon driver [OPTION…] [--] COMMAND [ARGUMENT…]
  cordon run [OPTION…] FILE…|DIR…
  cordon policy new [OPTION…] [--learn -- COMMAND [ARGUMENT…]]
  cordon box new [OPTION…] NAME DIR[:copy|:overlay|:rw][:force] [-- ARG…]
  cordon box diff [OPTION…] NAME [-- PATH…]
  cordon box apply [OPTION…] NAME [-- PATH…]
  cordon box exec [OPTION…] NAME [--] COMMAND [ARGUMENT…]
  cordon tool [OPTION…] NAME|--serve

## every command that the overview lists exists
$ { cordon --help | sed -n '/^Commands$/,/^$/p' | awk 'NR > 1 && NF { print $1 }'; cordon --help | sed -n '/^Other commands:/,/^$/p' | tr -d '\n' | sed 's/^Other commands://' | tr ',' '\n'; echo; } >names
> wc -l <names; while read -r c; do cordon help $c >/dev/null || echo "no $c"; done <names
25

## the former name of --workspace is accepted, and not shown
$ mkdir -p p/.git; cd p; for o in --workspace --agent; do cordon tool write_file --fs-mode workspace $o bot --arg path=.cordon/workspaces/bot/a$o --arg content=x >/dev/null; done; ls .cordon/workspaces/bot; cordon tool --help | grep -c -- '--agent '
a--agent
a--workspace
0
? 1
