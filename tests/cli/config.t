# Settings: which there are, where they come from, and what is said of wrong ones.

## without a file all is default
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
sandbox: {"mode":"native","unsafe_ack":false}  # default
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

## each setting says where it comes from
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

## the variables of the keys say who answers; a key is never shown
$ OPENAI_API_KEY=sk-not-to-be-seen cordon config show | grep -E 'provider|key_command' | sed 's/^#/-/'
provider: "openai"                            # $OPENAI_API_KEY
- key_command:                                # $OPENAI_API_KEY
$ OPENAI_API_KEY=sk-not-to-be-seen cordon config show --json | grep -c not-to-be-seen
0
? 1

## what is shown is a file of settings
$ mkdir -p home/.config/cordon && printf 'keys: {Ctrl+g: open}\ntheme: {code: "bold #ff8800 on 17"}\nallow: ["shell:git *"]\nmodel: "a: b"\n' > home/.config/cordon/config.yaml
$ cordon config show > shown.yaml; cordon config check shown.yaml && cp shown.yaml home/.config/cordon/config.yaml && diff <(cordon config show | sed 's/ *# [^"]*$//') <(sed 's/ *# [^"]*$//' shown.yaml)
ok      shown.yaml

## wrong settings: file, line, column, and what is meant
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
:1:1: provider: there is no 'anthropik'; there are: anthropic, openai, scripted; did you mean 'anthropic'? [E_CONFIG]
:1:1: base_url: 'localhost:8080' is no base URL; one looks like http://127.0.0.1:8080/v1 [E_CONFIG]
:2:1: approval: 'sometimes' is not one of 'never', 'on-request', 'always' [E_CONFIG]
:1:1: colors: 'mono' is not one of 'auto', 'none', 'ansi16', 'ansi256', 'truecolor' [E_CONFIG]
:1:1: history: 1001 is not within 0 to 1000 [E_CONFIG]
:2:3: theme.headng: nothing in a theme has this name; did you mean 'heading'? [E_CONFIG]
:2:3: theme.heading: 'blod' is no part of a style such as "bold bright-cyan on #202020"; did you mean 'bold'? [E_CONFIG]
:1:9: theme.code: after 'on' stands a colour [E_CONFIG]
:1:9: theme.code: '#ff880' is no part of a style such as "bold bright-cyan on #202020" [E_CONFIG]
:1:9: theme.code: a style is such as "bold bright-cyan on #202020", or "plain" [E_CONFIG]
:1:1: theme: expected an object of strings, found a list [E_CONFIG]
:1:8: keys["Ctrl+g"]: there is no action 'opn' ('cordon config keys' lists them); did you mean 'open'? [E_CONFIG]
:1:8: keys["Ctrl+i"]: terminals send the same for this key as for 'Tab' [E_CONFIG]
:1:8: keys.x: this key types text; use one with Ctrl or Alt, or one with a name [E_CONFIG]
:3:3: keys["shift+enter"]: this key has a meaning already, by another of its names [E_CONFIG]
:1:8: keys.Entr: unknown key 'Entr'; did you mean 'Enter'? [E_CONFIG]
:1:23: allow[1]: 'shell' is no rule: write TOOL:PATTERN, such as "shell:git *" [E_CONFIG]
:4:3: agents[1]: there is another 'a' [E_CONFIG]
4:3: agents[0]: keys: '1'

## a project's file has no settings of the user's
$ mkdir .cordon; echo 'provider: openai' > .cordon/config.yaml; cordon config check
cordon: .cordon/config.yaml:1:1: provider: unknown key in a project's settings, which may only add markers; it belongs into the user's ('cordon config path') (project settings are not ignored: correct or remove '$T/.cordon/config.yaml') [E_CONFIG]
? 17
$ cordon config check .cordon/config.yaml
ok      .cordon/config.yaml
$ cordon config check --project .cordon/config.yaml 2>&1 | grep -c 'may only add markers'
1

## a project's settings that can't be read stop what needs the project, and say which file to mend
$ mkdir -p p/.git p/sub p/.cordon && echo 'project_markers: 1' > p/.cordon/config.yaml; cd p/sub && cordon path root
cordon: .cordon/config.yaml:1:1: project_markers: expected a list of strings, found an integer (project settings are not ignored: correct or remove '$T/p/.cordon/config.yaml') [E_CONFIG]
? 17
$ rm -r p/.cordon; mkdir d; ln -s ../d p/.cordon; cd p/sub && cordon path root
cordon: '.cordon/config.yaml' is reached through a link, and links are not followed there: make it a real file in a real directory (project settings are not ignored: correct or remove '$T/p/.cordon') [E_CONFIG]
? 17
$ rm p/.cordon; mkdir p/.cordon; ln -s /dev/zero p/.cordon/config.yaml; cd p/sub && cordon path root 2>&1 | grep -o "remove '.*'"
remove '$T/p/.cordon/config.yaml'
$ rm p/.cordon/config.yaml; mkfifo p/.cordon/config.yaml; cd p/sub && cordon path root
cordon: '.cordon/config.yaml' is not a regular file of at most 1048576 bytes (project settings are not ignored: correct or remove '$T/p/.cordon/config.yaml') [E_CONFIG]
? 17
$ cd p/sub && cordon sessions list && cordon exec -- /bin/true && cordon box list && cordon config path
there are no sessions yet
there are no boxes yet: 'cordon box new NAME DIR' makes one
$T/home/.config/cordon/config.yaml

## a file that is named must be there
$ cordon config check nothing.yaml
cordon: there is no file 'nothing.yaml' [E_IO]
? 10
$ cordon config check --project
cordon: --project says what a FILE is: give one [E_CLI_INVALID_ARG]
? 12
$ env -u HOME -u XDG_CONFIG_HOME cordon config path >/dev/null 2>&1; test $? = 0 -o $? = 17

## keys as the settings have them
$ mkdir -p home/.config/cordon && printf 'keys: {Ctrl+g: open, Ctrl+o: none, F2: send}\n' > home/.config/cordon/config.yaml
$ cordon config keys | grep -E '^(open|send|none|undo) '
send                    Enter, F2        send, or take what is chosen in a list
open                    Ctrl+g           open what is collapsed
undo                    Ctrl+_           undo
none                    Ctrl+o           nothing
$ cordon config keys --json | grep -o '{"action":"open"[^}]*}'
{"action":"open","keys":["Ctrl+g"],"help":"open what is collapsed"}

## the schema names every setting that is shown
$ cordon config show --json | grep -o '"key":"[a-z_]*"' | cut -d '"' -f 4 | while read key; do cordon config schema | grep -q "^    \"$key\": {" || echo "no $key"; done
$ cordon config schema --json | cut -c 1-40
{"protocol_version":1,"schema":{"type":"

## approval is what the settings say, unless an option does
$ mkdir -p home/.config/cordon && echo 'approval: always' > home/.config/cordon/config.yaml
$ cordon tool write_file --arg path=a --arg content=x >/dev/null 2>&1; echo $?; test ! -e a
20
$ cordon tool write_file --arg path=a --arg content=x --approval never >/dev/null && cat a; echo
x
