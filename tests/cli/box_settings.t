# agents: in the settings. See run.py for the format.

## a row that is right is taken
$ mkdir -p home/.config/cordon; printf 'agents:\n- name: mine\n  command: mine --go\n  headless_command: mine -p "PROMPT"\n  keys: [MY_KEY]\n  state_dir: /home/me/.mine\n' > home/.config/cordon/config.yaml; cordon path root >/dev/null

## what is wrong in one is told with its place
$ mkdir -p home/.config/cordon; printf 'agents:\n- name: mine\n  comand: x\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:3:3: agents[0].comand: unknown key; did you mean 'command'? [E_CONFIG]
? 17
$ printf 'agents:\n- name: mine\n  command: x\n  headless_command: x\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:4:3: agents[0]: headless_command: 'x': PROMPT must stand in exactly one argument, and not in the program's name [E_CONFIG]
? 17
$ printf 'agents:\n- name: mine\n  command: x\n  keys: [LD_PRELOAD]\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:4:3: agents[0]: keys: 'LD_PRELOAD': the dynamic loader obeys it [E_CONFIG]
? 17
$ printf 'agents:\n- name: a\n  command: x\n- name: a\n  command: y\n' > home/.config/cordon/config.yaml; cordon path root
cordon: $T/home/.config/cordon/config.yaml:4:3: agents[1]: there is another 'a' [E_CONFIG]
? 17

## a project adds none
$ mkdir -p .cordon; printf 'agents:\n- name: a\n  command: x\n' > .cordon/config.yaml; cordon path root
cordon: .cordon/config.yaml:1:1: agents: unknown key in a project's settings, which may only add markers; it belongs into the user's ('cordon config path') (project settings are not ignored: correct or remove '$T/.cordon/config.yaml') [E_CONFIG]
? 17
