# Settings: their list, their origin, errors in them. See run.py for the format.

## without a file everything has its default
$ cordon config show | sed 's/^#/-/'
project_markers: []                           # default
provider: "scripted"                          # default
- model:                                      # not set
- base_url:                                   # not set
- key_command:                                # not set
models: []                                    # default
agents: []                                    # default
allow: []                                     # default
approval: "never"                             # default
sandbox: {"mode":"native","unsafe_ack":false,"env":{},"limits":{"processes":0,"memory_bytes":0,"open_files":0,"file_bytes":0,"tmp_bytes":0}}  # default
colors: "auto"                                # default
theme: {}                                     # default
keys: {}                                      # default
history: 1000                                 # default
$ cordon config check
absent  $T/home/.config/cordon/config.yaml
absent  .cordon/config.yaml
$ cordon config path
$T/home/.config/cordon/config.yaml
$ XDG_CONFIG_HOME=$T/x cordon config path --json
{"protocol_version":1,"path":"$T/x/cordon/config.yaml"}

## each setting has its origin
$ mkdir -p home/.config/cordon .cordon && printf '# mine\nprovider: anthropic\nmodel: m\nproject_markers: [a]\nhistory: 5\n' > home/.config/cordon/config.yaml
$ echo 'project_markers: [b]' > .cordon/config.yaml
$ cordon config show | grep -v default | sed 's/^#/-/'
project_markers: ["a","b"]                    # $T/home/.config/cordon/config.yaml:4, .cordon/config.yaml:1
provider: "anthropic"                         # $T/home/.config/cordon/config.yaml:2
model: "m"                                    # $T/home/.config/cordon/config.yaml:3
- key_command:                                # not set
history: 5                                    # $T/home/.config/cordon/config.yaml:5
$ ANTHROPIC_MODEL=other OPENAI_MODEL=no cordon config show | grep -E '^(model|base_url):'
model: "other"                                # $ANTHROPIC_MODEL
base_url: "https://api.anthropic.com"         # default
$ cordon config show --json | grep -o '{"key":"model"[^]]*]}'
{"key":"model","value":"m","from":[{"source":"user","file":"$T/home/.config/cordon/config.yaml","line":3}]}
$ cordon config check
ok      $T/home/.config/cordon/config.yaml
ok      .cordon/config.yaml
$ cordon config check --json
{"protocol_version":1,"files":[{"file":"$T/home/.config/cordon/config.yaml","is_there":true},{"file":".cordon/config.yaml","is_there":true}]}

## key variables select the provider; a key is never shown
$ OPENAI_API_KEY=sk-not-to-be-seen cordon config show | grep -E 'provider|key_command' | sed 's/^#/-/'
provider: "openai"                            # $OPENAI_API_KEY
- key_command:                                # $OPENAI_API_KEY
$ OPENAI_API_KEY=sk-not-to-be-seen cordon config show --json | grep -c not-to-be-seen
0
? 1

## the output is a valid settings file
$ mkdir -p home/.config/cordon && printf 'keys: {Ctrl+g: open}\ntheme: {code: "bold #ff8800 on 17"}\nallow: ["shell:git *"]\nmodel: "a: b"\n' > home/.config/cordon/config.yaml
$ cordon config show > shown.yaml; cordon config check shown.yaml && cp shown.yaml home/.config/cordon/config.yaml && diff <(cordon config show | sed 's/ *# [^"]*$//') <(sed 's/ *# [^"]*$//' shown.yaml)
ok      shown.yaml

## invalid settings: file, line, column and a suggestion
$ wrong() { mkdir -p home/.config/cordon; printf "$1" > home/.config/cordon/config.yaml; (cd home/.config/cordon && cordon config check 2>&1 | sed "s|^cordon: .*config.yaml||"); }
> wrong 'modle: x\n'
> wrong 'model: 5\n'
> wrong 'provider: anthropik\n'
> wrong 'base_url: localhost:8080\n'
> wrong 'model: m\napproval: sometimes\n'
> wrong 'colors: mono\n'
> wrong 'history: 1001\n'
> wrong 'theme:\n  headng: bold\n'
> wrong 'theme:\n  heading: blod\n'
> wrong 'theme: {code: red on}\n'
> wrong 'theme: {code: "#ff880"}\n'
> wrong 'theme: {code: " "}\n'
> wrong 'theme: [code]\n'
> wrong 'keys: {Ctrl+g: opn}\n'
> wrong 'keys: {Ctrl+i: open}\n'
> wrong 'keys: {x: open}\n'
> wrong 'keys:\n  Shift+Enter: send\n  shift+enter: open\n'
> wrong 'keys: {Entr: open}\n'
> wrong 'allow: ["shell:ls *", "shell"]\n'
> wrong 'agents:\n- name: a\n  command: x\n- name: a\n  command: x\n'
> wrong 'agents:\n- name: a\n  command: x\n  keys: ["1"]\n' | cut -d: -f 2-6
:1:1: modle: unknown key; did you mean 'model'? [E_CONFIG]
:1:1: model: expected a string, found an integer [E_CONFIG]
:1:1: provider: no such provider 'anthropik': expected one of anthropic, openai, scripted; did you mean 'anthropic'? [E_CONFIG]
:1:1: base_url: 'localhost:8080' is not a valid base URL; expected one such as http://127.0.0.1:8080/v1 [E_CONFIG]
:2:1: approval: 'sometimes' is not one of 'never', 'on-request', 'always' [E_CONFIG]
:1:1: colors: 'mono' is not one of 'auto', 'none', 'ansi16', 'ansi256', 'truecolor' [E_CONFIG]
:1:1: history: 1001 is not within 0 to 1000 [E_CONFIG]
:2:3: theme.headng: no such part of a theme; did you mean 'heading'? [E_CONFIG]
:2:3: theme.heading: 'blod' is not valid in a style; expected a style such as "bold bright-cyan on #202020"; did you mean 'bold'? [E_CONFIG]
:1:9: theme.code: expected a colour after 'on' [E_CONFIG]
:1:9: theme.code: '#ff880' is not valid in a style; expected a style such as "bold bright-cyan on #202020" [E_CONFIG]
:1:9: theme.code: expected a style such as "bold bright-cyan on #202020", or "plain" [E_CONFIG]
:1:1: theme: expected an object of strings, found a list [E_CONFIG]
:1:8: keys["Ctrl+g"]: no such action 'opn' ('cordon config keys' lists them); did you mean 'open'? [E_CONFIG]
:1:8: keys["Ctrl+i"]: terminals send the same bytes for this key and for 'Tab' [E_CONFIG]
:1:8: keys.x: this key types text; use a key with Ctrl or Alt, or a named key [E_CONFIG]
:3:3: keys["shift+enter"]: this key is already bound under another name [E_CONFIG]
:1:8: keys.Entr: 'Entr' is not the name of a keyboard key; did you mean 'Enter'? [E_CONFIG]
:1:23: allow[1]: 'shell' is not a rule: expected TOOL:PATTERN, such as "shell:git *" [E_CONFIG]
:4:3: agents[1]: duplicate name 'a' [E_CONFIG]
4:3: agents[0]: keys: '1'

## all errors are reported, not only the first
$ printf 'model: m\nproviderr: x\nhistory: 1001\nallow: ["shell:ls *", "shell", "bash"]\ntheme:\n  headng: bold\n  code: blod\n  heading: bold\nagents:\n- name: a\n  command: x\n- name: b\n- name: c\n  command: x\n  keys: ["1"]\nkeys: {x: open}\nsandbox: {mode: landlock, unsafe_ack: true}\n' >c.yaml; cordon config check c.yaml
cordon: c.yaml:2:1: providerr: unknown key; did you mean 'provider'? [E_CONFIG]
cordon: c.yaml:3:1: history: 1001 is not within 0 to 1000 [E_CONFIG]
cordon: c.yaml:4:23: allow[1]: 'shell' is not a rule: expected TOOL:PATTERN, such as "shell:git *" [E_CONFIG]
cordon: c.yaml:4:32: allow[2]: 'bash' is not a rule: expected TOOL:PATTERN, such as "shell:git *" [E_CONFIG]
cordon: c.yaml:6:3: theme.headng: no such part of a theme; did you mean 'heading'? [E_CONFIG]
cordon: c.yaml:7:3: theme.code: 'blod' is not valid in a style; expected a style such as "bold bright-cyan on #202020"; did you mean 'bold'? [E_CONFIG]
cordon: c.yaml:12:3: agents[1].command: required, but missing [E_CONFIG]
cordon: c.yaml:15:3: agents[2]: keys: '1': not a valid name of an environment variable [E_CONFIG]
cordon: c.yaml:16:8: keys.x: this key types text; use a key with Ctrl or Alt, or a named key [E_CONFIG]
? 17
$ cordon config check c.yaml --json 2>/dev/null | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["error"] == d["errors"][0], [e["context"]["field"] for e in d["errors"]])'
True ['providerr', 'history', 'allow[1]', 'allow[2]', 'theme.headng', 'theme.code', 'agents[1].command', 'agents[2].keys', 'keys.x']
$ printf 'sandbox: {mode: landlock}\nagents:\n- {name: a, command: x}\n- {name: a, command: y}\n' >d.yaml; cordon config check d.yaml
cordon: d.yaml:1:11: sandbox.mode: 'landlock' is a weaker sandbox: acknowledge it with 'unsafe_ack: true', or use 'native' [E_CONFIG]
cordon: d.yaml:4:3: agents[1]: duplicate name 'a' [E_CONFIG]
? 17
$ printf 'project_markers: [a/b, c, d/e]\nmodel: m\n' >p.yaml; cordon config check --project p.yaml 2>&1 | cut -c1-80
cordon: p.yaml:2:1: model: unknown key in a project's settings, which may contai
cordon: p.yaml:1:19: project_markers[0]: 'a/b' is not a single file name [E_CONF
cordon: p.yaml:1:27: project_markers[2]: 'd/e' is not a single file name [E_CONF
$ printf 'a: [\n' >e.yaml; cordon config check e.yaml 2>&1 | wc -l
1
$ { echo allow:; seq 60 | sed 's/^/- bad/'; } >m.yaml; cordon config check m.yaml 2>&1 | tail -n 2
cordon: m.yaml:51:3: allow[49]: 'bad50' is not a rule: expected TOOL:PATTERN, such as "shell:git *" [E_CONFIG]
10 more errors are not shown

## a project's file can't contain user settings
$ mkdir .cordon; echo 'provider: openai' > .cordon/config.yaml; cordon config check
cordon: .cordon/config.yaml:1:1: provider: unknown key in a project's settings, which may contain only project_markers and sandbox; put it in your own settings ('cordon config path') (project settings cannot be skipped: correct or remove '$T/.cordon/config.yaml') [E_CONFIG]
? 17
$ cordon config check .cordon/config.yaml
ok      .cordon/config.yaml
$ cordon config check --project .cordon/config.yaml 2>&1 | grep -c 'may contain only project_markers'
1

## unreadable project settings stop commands that need the project, and the error names the file
$ mkdir -p p/.git p/sub p/.cordon && echo 'project_markers: 1' > p/.cordon/config.yaml; cd p/sub && cordon path root
cordon: .cordon/config.yaml:1:1: project_markers: expected a list of strings, found an integer (project settings cannot be skipped: correct or remove '$T/p/.cordon/config.yaml') [E_CONFIG]
? 17
$ rm -r p/.cordon; mkdir d; ln -s ../d p/.cordon; cd p/sub && cordon path root
cordon: '.cordon/config.yaml' is reached through a symbolic link, which is not followed there: make it a regular file in a real directory (project settings cannot be skipped: correct or remove '$T/p/.cordon') [E_CONFIG]
? 17
$ rm p/.cordon; mkdir p/.cordon; ln -s /dev/zero p/.cordon/config.yaml; cd p/sub && cordon path root 2>&1 | grep -o "remove '.*'"
remove '$T/p/.cordon/config.yaml'
$ rm p/.cordon/config.yaml; mkfifo p/.cordon/config.yaml; cd p/sub && cordon path root
cordon: '.cordon/config.yaml' is not a regular file of at most 1048576 bytes (project settings cannot be skipped: correct or remove '$T/p/.cordon/config.yaml') [E_CONFIG]
? 17
$ cd p/sub && cordon sessions list && cordon exec -- /bin/true && cordon box list && cordon config path
there are no sessions yet
there are no boxes yet: create one with 'cordon box new NAME DIR'
$T/home/.config/cordon/config.yaml

## a file that is named must exist
$ cordon config check nothing.yaml
cordon: no such file: 'nothing.yaml' [E_IO]
? 10
$ cordon config check --project
cordon: --project requires a FILE [E_CLI_INVALID_ARG]
? 12
$ env -u HOME -u XDG_CONFIG_HOME cordon config path >/dev/null 2>&1; test $? = 0 -o $? = 17

## keys as configured
$ mkdir -p home/.config/cordon && printf 'keys: {Ctrl+g: open, Ctrl+o: none, F2: send}\n' > home/.config/cordon/config.yaml
$ cordon config keys | grep -E '^(open|send|none|undo) '
send                    Enter, F2        send the message, or accept the selected entry of a list
open                    Ctrl+g           view collapsed items
undo                    Ctrl+_           undo
none                    Ctrl+o           do nothing
$ cordon config keys --json | grep -o '{"action":"open"[^}]*}'
{"action":"open","keys":["Ctrl+g"],"help":"view collapsed items"}

## the schema contains every setting that is shown
$ cordon config show --json | grep -o '"key":"[a-z_]*"' | cut -d '"' -f 4 | while read key; do cordon config schema | grep -q "^    \"$key\": {" || echo "no $key"; done
$ cordon config schema --json | cut -c 1-40
{"protocol_version":1,"schema":{"type":"

## approval follows the settings, unless an option is given
$ mkdir -p home/.config/cordon && echo 'approval: always' > home/.config/cordon/config.yaml
$ cordon tool write_file --arg path=a --arg content=x >/dev/null 2>&1; echo $?; test ! -e a
20
$ cordon tool write_file --arg path=a --arg content=x
cordon: write_file needs consent ('approval: always' in your settings requires consent for every change), but there is no terminal to ask on: use --approval never to allow it [E_APPROVAL_REQUIRED]
? 20
$ cordon tool write_file --arg path=a --arg content=x --approval never >/dev/null && cat a; echo
x
