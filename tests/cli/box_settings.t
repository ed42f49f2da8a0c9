# agents: in the settings. See run.py for the format.

## a valid row is accepted
$ mkdir -p home/.config/cordon; printf 'agents:\n- name: mine\n  command: mine --go\n  headless_command: mine -p "PROMPT"\n  keys: [MY_KEY]\n  state_dir: /home/me/.mine\n' > home/.config/cordon/config.yaml; cordon path root >/dev/null

## errors in a row are reported with their position
$ mkdir -p home/.config/cordon; printf 'agents:\n- name: mine\n  comand: x\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:3:3: agents[0].comand: unknown key; did you mean 'command'? [E_CONFIG]
? 17
$ printf 'agents:\n- name: mine\n  command: x\n  headless_command: x\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:4:3: agents[0]: headless_command: 'x': PROMPT must occur in exactly one argument, and not in the program's name [E_CONFIG]
? 17
$ printf 'agents:\n- name: mine\n  command: x\n  keys: [LD_PRELOAD]\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:4:3: agents[0]: keys: 'LD_PRELOAD': it controls the dynamic loader [E_CONFIG]
? 17
$ printf 'agents:\n- name: a\n  command: x\n- name: a\n  command: y\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:4:3: agents[1]: duplicate name 'a' [E_CONFIG]
? 17

## a project's settings can't add rows
$ mkdir -p .cordon; printf 'agents:\n- name: a\n  command: x\n' > .cordon/config.yaml; cordon path root
cordon: .cordon/config.yaml:1:1: agents: unknown key in a project's settings, which may contain only project_markers and sandbox; put it in your own settings ('cordon config path') (project settings cannot be skipped: correct or remove '$T/.cordon/config.yaml') [E_CONFIG]
? 17
