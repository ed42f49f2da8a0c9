# SPDX-License-Identifier: Apache-2.0
"""Files that commands in git's settings run: rows for protect.py, in the form of rows_names.py."""
from rows_names import FILTER, SCRIPTS

ADD = "echo x >b; git add b"
EVIL = 'echo "$PAYLOAD" >tools/a.sh'


def clean(title, command):
    """A filter that runs tools/a.sh; the command is in single quotes."""
    return (title, "p", f"{SCRIPTS}git config filter.f.clean '{command}'", EVIL, ADD)


NAMES = [
    clean("a program after flock and its options", "flock -n .git/l tools/a.sh"),
    clean("a program after flock and a time", "flock -w 10 -x .git/l tools/a.sh"),
    clean("commands for flock", 'flock .git/l -c "exec tools/a.sh"'),
    clean("PATH with a colon in braces", 'PATH="$PWD/tools${PATH:+:$PATH}" a.sh'),
    clean("PATH with a default", "PATH=${NONE:-tools}:$PATH a.sh"),
    clean("PATH with an empty directory", "cd tools; PATH=:$PATH a.sh"),
    clean("a shell by a substitution", "$(which sh) tools/a.sh"),
    clean("a shell by a variable", "SHELL=/bin/sh; $SHELL tools/a.sh"),
    clean("a program after a time by a variable", "T=5; timeout $T tools/a.sh"),
    clean("a program that an unknown one runs", 'X="env A=b"; $X tools/a.sh'),
    clean("a script by its real path", 'sh "$(realpath tools/a.sh)"'),
    clean("a script after the way up", 'sh "$(git rev-parse --show-cdup)tools/a.sh"'),
    clean("an option in quotes", 'sh "-c" "tools/a.sh"'),
    clean("a script that is open for writing", "sh <>tools/a.sh"),
    clean("a script by another descriptor", "exec 3<tools/a.sh; sh <&3"),
    clean("a file that find runs", "find tools/a.sh -exec {} \\;"),
    clean("commands for script", 'script -qec "tools/a.sh" /dev/null'),
    ("a script of a program that no list has", "p", SCRIPTS + "printf '#!/bin/sh\\nexec \"$@\"\\n' >$OUT/runner; chmod +x $OUT/runner; "
     "git config filter.f.clean \"$OUT/runner tools/a.sh\"", EVIL, ADD),
    ("a program in the home directory", "p", FILTER + "mkdir h; git config filter.f.clean '\"${HOME:?}/a.sh\"'", "hook h/a.sh", ADD, {"HOME": "h"}),
    ("a program after cd to the home directory", "p", FILTER + "mkdir h; git config filter.f.clean 'cd && ./a.sh'", "hook h/a.sh", ADD, {"HOME": "h"}),
    ("a module of Python", "p", FILTER + "mkdir tools; echo 1 >tools/a.py; git config filter.f.clean 'python3 -m tools.a'", "echo \"import os; os.system('$PAYLOAD')\" >tools/a.py", ADD),
    ("a program for signatures with spaces in its name", "p", "git config gpg.program 'my tools/gpg'", "hook 'my tools/gpg'", "git commit -q --allow-empty -S -m next"),
    ("a program for passwords with spaces in its name", "p", ":", "hook 'my tools/ask'", "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill", {"GIT_ASKPASS": "my tools/ask"}),
    ("an update of a submodule", "p", "git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git sub; git commit -qm sub; "
     "git config submodule.sub.update '!./up.sh'", "hook sub/up.sh", "git submodule update --force"),
    ("an editor by the environment", "p", ":", "hook tools/editor", "unset GIT_EDITOR VISUAL; git commit -q --allow-empty", {"EDITOR": "tools/editor"}),
    ("another editor by the environment", "p", ":", "hook tools/editor", "unset GIT_EDITOR EDITOR; TERM=xterm git commit -q --allow-empty", {"VISUAL": "tools/editor"}),
]

# Ordinary use.
NAMES_WORK = [
    ("files that aliases give to programs", r"""cat >$HOME/.gitconfig <<'E'
[alias]
	a = !jq . package.json && yq . conf/a.yaml
	b = !prettier --write package.json src/main.c --config=conf/a.yaml
	c = !$EDITOR package.json && exec \"$VISUAL\" src/main.c
	d = !timeout 60 npm test -- package.json && flock -n .git/sync.lock git fetch
	e = !cat tools/a.sh && git log -- tools/a.sh && shellcheck tools/a.sh && code tools/a.sh
	f = "!cd \"$HOME\" && cargo run -- conf/a.yaml"
[gpg]
	program = gpg2
[core]
	askpass = /usr/bin/ssh-askpass
E
mkdir src conf tools; touch package.json src/main.c conf/a.yaml; echo '#!/bin/sh' >tools/a.sh; chmod +x tools/a.sh; git add -A; git commit -qm f""",
     "for f in package.json src/main.c conf/a.yaml tools/a.sh; do echo x >t; mv t $f; echo y >>$f; done; touch .git/sync.lock; git add -A; git commit -qm two"),
]
