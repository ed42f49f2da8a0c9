# The first commands: what 'cordon exec' allows without a policy. See run.py for the format.

## make: it starts a shell and other programs, here those of the system and of the directory; nothing can be written
$ mkdir w && cd w && printf 'all:\n\t@uname -s; ./own; touch made 2>/dev/null || echo read-only\n' >Makefile && printf '#!/bin/sh\necho own\n' >own && chmod +x own && make && rm made; cordon exec -- make
Linux
own
Linux
own
read-only

## a shell, and a script for it
$ mkdir w && cd w && printf '#!/bin/bash\nls\n' >list && chmod +x list && ./list && cordon exec -- ./list && cordon exec -- bash -c ls
list
list
list

## an ordinary program alone: it can start nothing else, and its environment has only PATH
$ echo x | sed '1e /bin/echo started'; echo x | cordon exec -- sed '1e /bin/echo started' 2>/dev/null
started
x
? 6
$ cordon exec --json --explain-policy -- sed | python3 -c 'import json,sys; d=json.load(sys.stdin); print([e["given"] for e in d["grants"]["exec"]], d["policy"]["developer"], d["policy"]["env"]["set"])'
['/usr/bin/sed'] False {'PATH': '/usr/local/bin:/usr/bin:/bin'}

## Python: it finds itself, its modules in the home directory, and other programs
$ d=$HOME/.local/lib/$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')/site-packages; mkdir -p $d w; echo 'text = "a module"' >$d/of_the_user.py
> printf '#!/usr/bin/env python3\nimport of_the_user, subprocess, sys\nprint(of_the_user.text, sys.executable, flush=True)\nsubprocess.run([sys.executable, "-c", "print(1)"])\nsubprocess.run(["uname", "-s"])\n' >w/x.py; chmod +x w/x.py
> cd w; c=$(command -v cordon); PATH=/usr/bin:/bin; $c exec -- python3 x.py && $c exec -- /usr/bin/python3 x.py && $c exec -- ./x.py
a module /usr/bin/python3
1
Linux
a module /usr/bin/python3
1
Linux
a module /usr/bin/python3
1
Linux
$ cd w; printf 'import multiprocessing as m\ndef f(x):\n    return x + 1\nif __name__ == "__main__":\n    with m.get_context("spawn").Pool(1) as p:\n        print(p.map(f, [1]))\n' >y.py; PATH=/usr/bin:/bin $(command -v cordon) exec -- python3 y.py
[2]

## other interpreters start programs
$ cordon exec -- perl -e 'system("uname -s")'; cordon exec -- awk 'BEGIN {system("uname -s")}'; cordon exec -- node -e 'require("child_process").spawnSync("uname", ["-s"], {stdio: "inherit"})'
Linux
Linux
Linux

## programs that run the command in their arguments
$ cordon exec -- env A=1 uname -s; cordon exec -- timeout 60 uname -s; cordon exec -- nice uname -s; cordon exec -- nohup uname -s; echo -s | cordon exec -- xargs uname; cordon exec -- find . -maxdepth 0 -exec uname -s \;
Linux
Linux
Linux
Linux
Linux
Linux

## programs with helpers of their own: tar starts compressors, git its commands, man a pager
$ mkdir w; cd w; echo text >f; tar cJf f.tar.xz f; tar czf f.tar.gz f; cordon exec -- tar xJOf f.tar.xz; cordon exec -- tar xzOf f.tar.gz; git init -q; cordon exec -- git submodule status && cordon exec -- git --exec-path
text
text
/usr/lib/git-core

## a symlink to a script: the script gets the name that was used
$ mkdir -p w/bin w/lib; cd w; printf '#!/bin/sh\necho "${0##*/}"\n' >lib/wrapper; chmod +x lib/wrapper; ln -s ../lib/wrapper bin/one; ln -s wrapper lib/two; bin/one; cordon exec -- bin/one; cordon exec --preset build -- bin/one; cordon exec --preset build -- lib/two
one
one
one
two
$ cd w; printf '{"policy_version": 4, "exec": {"allowed_executables": ["%s", "/bin/sh"], "allow_shell": true}}' $PWD/bin/one >p.json; cordon exec --policy p.json -- $PWD/bin/one 2>/dev/null; cordon exec --sandbox landlock --ack-unsafe-sandbox -- bin/one 2>/dev/null
one
one

## pyenv: its shims are shell scripts that start a Python of the home directory
$ e=$HOME/.pyenv; mkdir -p $e/shims $e/libexec $e/versions/3.9/bin w; printf '#!/usr/bin/env bash\nexec "$PYENV_ROOT/libexec/pyenv" exec "${0##*/}" "$@"\n' >$e/shims/python3
> printf '#!/usr/bin/env bash\nread -r v <"$PYENV_ROOT/version"; shift; p=$1; shift; exec "$PYENV_ROOT/versions/$v/bin/$(basename "$p")" "$@"\n' >$e/libexec/pyenv
> printf '#!/bin/sh\necho "pyenv $*"\n' >$e/versions/3.9/bin/python3; echo 3.9 >$e/version; chmod +x $e/*/* $e/versions/3.9/bin/*; printf '#!/usr/bin/env python3\n' >w/x.py; chmod +x w/x.py
> export PYENV_ROOT=$e PATH=$e/shims:$PATH; cd w; python3 x.py; cordon exec -- python3 x.py; cordon exec -- ./x.py
pyenv x.py
pyenv x.py
pyenv $T/w/x.py
$ echo secret >$HOME/.netrc; export PYENV_ROOT=$HOME/.pyenv; cd w; PATH=$PYENV_ROOT/shims:$PATH cordon exec -- bash -c 'ls -A ~'
.pyenv

## a toolchain elsewhere, by the directory of its programs
$ mkdir -p t/bin t/lib w; echo data >t/lib/file; printf '#!/bin/sh\ncat "${0%%/*}/../lib/file"\n' >t/bin/tool; chmod +x t/bin/tool; cd w; PATH=$T/t/bin:$PATH cordon exec -- tool
data

## npm: node, and a shell that starts more
$ mkdir w && cd w && printf '{"scripts": {"test": "echo tested | cat"}}' >package.json && cordon exec -- npm test 2>&1 | tail -n 1; cordon exec --preset node -- npm test 2>&1 | tail -n 1
tested
tested

## presets: names are looked up in PATH, and paths start at the current directory
$ mkdir w && cd w && printf '#!/bin/sh\necho own\n' >own && chmod +x own && cordon exec --preset readonly -- uname -s && cordon exec --preset build -- ./own
Linux
own
$ cordon policy check --preset readonly -- uname && cd w && cordon policy check --preset build -- ./own
allowed
allowed
$ cordon exec --preset build -- no-such-program
cordon: the program 'no-such-program' was not found in PATH [E_CLI_INVALID_ARG]
? 12

## the working directory is the home directory: its programs are not shown
$ printf '#!/bin/sh\necho own\n' >$HOME/own; chmod +x $HOME/own; cd $HOME; cordon exec -- make --version 2>&1 | sed -n '1s/ cannot be.*//p; 2p'
cordon: warning: '$T/home'
GNU Make (.*) (re)

## policy new --for finds the same programs
$ mkdir w && cd w && cordon policy new --for make >p.yaml && grep -c 'developer: true' p.yaml && printf 'all:\n\t@uname -s\n' >Makefile && cordon exec --policy p.yaml -- /usr/bin/make
1
Linux
$ cd w && cordon policy new --for sed | grep -c developer
0
? 1

## a recording that is replayed sees the toolchains of the home directory only with consent
$ mkdir -p $HOME/.pyenv/shims w; cd w; cordon exec --pipes --artifacts ../a -- bash -c 'test -e ~/.pyenv/shims && echo seen || echo none'; cordon replay --artifacts ../a 2>&1 | sed -n 1p; cordon replay --artifacts ../a --ack-unsafe-read | sed 's/:.*//'
seen
cordon: the transcript differs in line 0: expected 'seen', got 'none' [E_REPLAY_MISMATCH]
passed

## what a command that starts others still cannot do: write, run what it wrote, read the home directory, reach another process
$ mkdir -p $HOME/.ssh $HOME/.cargo/bin w; echo secret >$HOME/.ssh/id; echo secret >$HOME/.cargo/credentials.toml; cd w; cordon exec -- bash -c 'touch f; cp /bin/true /tmp/x && /tmp/x; cat ~/.ssh/id ~/.cargo/credentials.toml; ls -A ~ 2>&1; kill -0 '$$' 2>/dev/null || echo no process' 2>&1
touch: cannot touch 'f': Read-only file system
bash: line 1: /tmp/x: Permission denied
cat: $T/home/.ssh/id: No such file or directory
cat: $T/home/.cargo/credentials.toml: No such file or directory
.cargo
no process

## without a sandbox no home directory is private, and none is named
$ cordon exec --no-sandbox --ack-unsafe-sandbox --ack-unsafe-network -- bash -c 'echo "$HOME."' 2>/dev/null; cordon exec --preset build --no-sandbox --ack-unsafe-sandbox --ack-unsafe-network -- bash -c 'echo $HOME' 2>/dev/null
.
/tmp
