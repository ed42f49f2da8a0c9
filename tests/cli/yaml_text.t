# Invisible characters in YAML: refused, with their position. See run.py for the format.

## a comment ends at LF, also in policies: no other line break enables the network
$ for b in '\u0085' '\u2028' '\u2029' '\r'; do printf "policy_version: 4\n# the network stays off${b}network: enabled${b}network_unsafe_ack: true\n" > p.yaml; cordon policy check p.yaml; done
cordon: p.yaml:2:24: the line break U+0085 is not allowed, only LF and CR LF end a line: remove it, or write "\u0085" in double quotes [E_PROTOCOL]
cordon: p.yaml:2:24: the line break U+2028 is not allowed, only LF and CR LF end a line: remove it, or write "\u2028" in double quotes [E_PROTOCOL]
cordon: p.yaml:2:24: the line break U+2029 is not allowed, only LF and CR LF end a line: remove it, or write "\u2029" in double quotes [E_PROTOCOL]
cordon: p.yaml:2:24: a carriage return without a line feed after it is not allowed: remove it, or write "\r" in double quotes [E_PROTOCOL]
? 9
$ cordon exec --policy p.yaml -- /bin/true
cordon: p.yaml:2:24: a carriage return without a line feed after it is not allowed: remove it, or write "\r" in double quotes [E_PROTOCOL]
? 9
$ printf 'policy_version: 4\r\nnetwork: disabled # off\r\n' > p.yaml; cordon policy check p.yaml
allowed

## other line breaks do not end a quoted text, a block or a key either
$ for t in '"x\u2028y"' "'x\u0085y'" '|\n  x\u2029  y' 'x\u2028  y' '{a:\u2028 b}'; do printf "policy_version: 4\nnetwork: $t\n" > p.yaml; cordon policy check p.yaml 2>&1 | sed 's/ is not.*//'; done
cordon: p.yaml:2:12: the line break U+2028
cordon: p.yaml:2:12: the line break U+0085
cordon: p.yaml:3:4: the line break U+2029
cordon: p.yaml:2:11: the line break U+2028
cordon: p.yaml:2:13: the line break U+2028

## invisible characters outside quotes
$ for c in 00A0 00AD 034F 061C 115F 1160 1680 17B4 180E 2000 2002 200A 200B 200C 200D 200E 200F 202A 202E 202F 205F 2060 2064 2066 2069 206F 2800 3000 3164 FE00 FE0F FEFF FFA0 FFF9 E0001 E0041 E007F E0100; do for t in 'network:\U disabled' 'network: disabled\U' 'network: disabled #\U' '#\U x' 'net\Uwork: disabled' '\Unetwork: disabled'; do printf "policy_version: 4\n${t/\\U/\\U$(printf %08x 0x$c)}\n" > p.yaml; cordon policy check p.yaml 2>&1 | grep -qE "p.yaml:2:[0-9]+: the [a-z ]* U\+$c is (outside quotes|in a comment|not between visible characters of a comment)" || echo "$c: $t"; done; done
$ printf 'policy_version: 4\nnetwork:\u00a0disabled\n' > p.yaml; cordon policy check p.yaml
cordon: p.yaml:2:9: the blank U+00A0 is outside quotes: use a space, or write "\u00A0" in double quotes [E_PROTOCOL]
? 9
$ printf 'policy_version: 4\n# \U000e0041\n' > p.yaml; cordon policy check p.yaml
cordon: p.yaml:2:3: the invisible character U+E0041 is in a comment: remove it [E_PROTOCOL]
? 9

## in quotes they are data, unless they reorder the text after the quotes
$ printf 'policy_version: 4\nenv: {set: {A: "x\u200by\u00a0", B: "\u2067x\u2069"}} # \u65e5\u3000\u672c \u2764\ufe0f\n' > p.yaml; cordon policy check p.yaml
allowed
$ printf 'policy_version: 4\nenv: {set: {A: "\u202ex"}} # end\n' > p.yaml; cordon policy check p.yaml
cordon: p.yaml:2:17: the direction control U+202E is not ended within its quotes: remove it, or write "\u202E" in double quotes [E_PROTOCOL]
? 9

## scenarios, scripts and settings follow the same rules
$ printf 'scenario_version: 1\nname: s # x\u2028run: {command: /bin/false}\nrun: {command: /bin/true}\nsteps: []\n' > s.scenario.yaml; cordon run s.scenario.yaml
cordon: s.scenario.yaml:2:12: the line break U+2028 is not allowed, only LF and CR LF end a line: remove it, or write "\u2028" in double quotes [E_PROTOCOL]
? 9
$ mkdir -p home/.config/cordon .cordon; printf '# mine\u2028allow: ["shell:*"]\n' > home/.config/cordon/config.yaml; cordon config check 2>&1 | sed 's/ is not.*//'
cordon: $T/home/.config/cordon/config.yaml:1:7: the line break U+2028
$ printf 'agents:\n- name: mine # x\u0085  command: evil\n  command: x\n' > home/.config/cordon/config.yaml; cordon config check 2>&1 | sed 's/ is not.*//'
cordon: $T/home/.config/cordon/config.yaml:2:17: the line break U+0085
$ rm home/.config/cordon/config.yaml; printf 'project_markers: [a] # x\u200b\n' > .cordon/config.yaml; cordon config check 2>&1 | sed 's/ is in a comment.*//'
cordon: .cordon/config.yaml:1:25: the invisible character U+200B
$ rm -r .cordon; printf 'turns: [] # x\ry: 1\n' > m.yaml; cordon agent -p x --provider scripted --script m.yaml 2>&1 | sed 's/ without.*//'
cordon: m.yaml:1:14: a carriage return

## a byte order mark at the start is skipped, in YAML and JSON
$ printf '\ufeffpolicy_version: 4\nnetwork: disabled\n' > p.yaml; cordon policy check p.yaml
allowed
$ printf '\ufeff{"policy_version": 4}' > p.json; cordon policy check p.json
allowed
$ printf '\ufeff{"policy_version": 4}' | cordon policy check /dev/stdin
allowed
$ printf '\ufeffpolicy_version: 4\nnetwork: on\n' > p.yaml; cordon policy check p.yaml 2>&1 | cut -c1-28
cordon: p.yaml:2:1: network:
$ mkdir -p home/.config/cordon; printf '\ufeff# nothing yet\n' > home/.config/cordon/config.yaml; cordon config check | grep -c ok
1
$ printf '\ufeff\ufeffpolicy_version: 4\n' > p.yaml; cordon policy check p.yaml
cordon: p.yaml:1:1: the invisible character U+FEFF is outside quotes: remove it, or write "\uFEFF" in double quotes [E_PROTOCOL]
? 9
$ printf 'policy_version: 4\n' | iconv -t UTF-16 > p.yaml; cordon policy check p.yaml
cordon: p.yaml:1:1: not valid UTF-8 but UTF-16: save it as UTF-8 [E_PROTOCOL]
? 9
$ printf '{"policy_version": 4}' | iconv -t UTF-32 > p.json; cordon policy check p.json
cordon: p.json:1:1: not valid UTF-8 but UTF-32: save it as UTF-8 [E_PROTOCOL]
? 9

## files that 'policy new' writes can be read, with any characters in paths
$ d=$(printf 'a\u2028b\u00a0c\U000e0041'); mkdir "$d" && cd "$d" && cordon policy new --for true > ../p.yaml && cordon policy check ../p.yaml && grep -c 'a\\u2028b\\u00A0c\\U000E0041' ../p.yaml
allowed
2

## JSON follows the same rules: the reviewer sees the parsed text
$ printf '{"policy_version": 4, "network": "dis\u2028abled"}' > p.json; cordon policy check p.json
cordon: p.json:1:38: the line break U+2028 is not allowed, only LF and CR LF end a line: remove it, or write "\u2028" in double quotes [E_PROTOCOL]
? 9
$ printf '{"policy_version": 4,\n "network": "disabled\u202e"}' > p.json; cordon policy check p.json
cordon: p.json:2:22: the direction control U+202E is not ended within its quotes: remove it, or write "\u202E" in double quotes [E_PROTOCOL]
? 9
$ printf '{"policy_version": 4,\r\n "network": "disabled"}\r\n' > p.json; cordon policy check p.json
allowed
