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

## an ordinary program alone: it can start nothing else, and its environment is empty
$ cordon exec -- find . -maxdepth 0 -exec ls {} \; 2>&1 | head -n 1
find: ‘ls’: No such file or directory
$ cordon exec -- find . -maxdepth 0 -exec /bin/ls {} \; 2>&1 | head -n 1
find: ‘/bin/ls’: No such file or directory
$ cordon exec --json --explain-policy -- find | python3 -c 'import json,sys; d=json.load(sys.stdin); print([e["given"] for e in d["grants"]["exec"]], d["policy"]["developer"])'
['/usr/bin/find'] False

## Python: the interpreter of a script is allowed, and nothing else
$ mkdir w && cd w && printf '#!/usr/bin/env python3\nimport os\nprint(os.path.exists("/usr/bin/ls"))\n' >x.py && chmod +x x.py && export PATH=/usr/bin:/bin; python3 x.py; ./x.py
True
True
$ cd w && c=$(command -v cordon); PATH=/usr/bin:/bin; $c exec -- python3 x.py; $c exec -- ./x.py
False
False

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
$ cd w && cordon policy new --for find | grep -c developer
0
? 1

## a recording that is replayed sees the toolchains of the home directory only with consent
$ mkdir -p $HOME/.pyenv w; cd w; cordon exec --pipes --artifacts ../a -- bash -c 'test -e ~/.pyenv && echo seen || echo none'; cordon replay --artifacts ../a 2>&1 | sed -n 1p; cordon replay --artifacts ../a --ack-unsafe-read | sed 's/:.*//'
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
