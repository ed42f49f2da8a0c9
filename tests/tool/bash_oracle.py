#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that a rule sees in a command line are those that bash runs.

Random command lines; whenever ours classifies one as plain, bash must run exactly its commands: no command is found
on its PATH, so that a separate handler logs every one that it looks for.

Random uses of bash's builtins with substitutions in quotes, whenever rules `shell:NAME *` match them: bash must not run
the contents of the quotes.

Random commands in the place of git's settings, written with quotes, substitutions and other shells: each file that bash
runs must be found.

And lines that make git, tar and others run something else: each does so if the program is installed, and no pattern
matches one.

    tests/tool/bash_oracle.py --lines build/tests/cmdline_lines [--seconds 20] [--seed 1]
"""
import argparse
import fcntl
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

# Every process writes its own file: background commands run in parallel.
HANDLER = '() { printf "%s\\0" "$#" "$@" >>"$LOG/$BASHPID"; }'
HIGH_FD = 100  # no redirection of the lines above uses it
ENDS_S = 120  # only a hang takes that long
PLAIN_AT_LEAST = 100  # fewer would prove nothing
COMMANDS = ["ls", "git", "rm", "x"]
WORDS = ["a", "-f", '"q w"', "'z'", "2>&1", ">/dev/null", "12", "</dev/null", "<<EOF", '<<"ls"', "<<-ls", "<<<a", "#c", "''",
         'a"b"c', "env", "1>&2"]
BLANKS = [" ", " ", " ", "  ", "\t", "\r", " \\\n", "\x0b", "\xa0"]
ENDS = [";", " && ", "|", "||", "\n", "\n", "\nEOF\n", "\nls\n", "\n\tls\n", " & "]
SOUP = COMMANDS + WORDS + BLANKS + ENDS + [
    '"', "'", "\\", "\\\n", "#", "$", "$x", "$(", "`", "(", ")", "{", "}", "*", "?", "~", "=", "x=1", "!", "<<", "<<-", "<>", ">|", "&>",
    ">>", "12>", "0<", "<&-", ">&2", "if", "then", "fi", "for", "do", "done", "case", "esac", "in", "[[", "]]", "time", "function",
    "((", "))", "$'a'", '$"a"', "\x01", "\x7f", "\u2003", "\u0085", "é", "\ufeff", ":", "%1"]

# Builtins, each with its options; kill and suspend would affect other processes.
HIDDEN = ["x[$(zz)]", "x[$(zz)]=1", "$(zz)", "x=$(zz)", "`zz`", "zz", "a[$(zz)]+1", "SECONDS=a[$(zz)]", "OPTIND=x[$(zz)]", "x[0$(zz)]",
          "-x[$(zz)]", "1+x[$(zz)]", "${x[$(zz)]}", "<(zz)", "x[`zz`]"]
PAYLOADS = [f"'{h}'" for h in HIDDEN]
BUILTINS = {".": "", ":": "", "'['": "vR", "alias": "p", "bind": "xpmq", "builtin": "", "caller": "", "cd": "LP", "command": "vVp",
            "compgen": "CFWGA", "complete": "CFWo", "compopt": "o", "declare": "aAilnrux", "dirs": "clpv", "disown": "ah", "echo": "neE",
            "enable": "fnad", "eval": "", "exec": "a", "exit": "", "export": "fnp", "fc": "es", "getopts": "", "hash": "pdrt", "help": "dms",
            "history": "acdnrwps", "jobs": "xlp", "let": "", "local": "ain", "mapfile": "CcnOstu", "popd": "n", "printf": "v", "pushd": "n",
            "pwd": "LP", "read": "aadeinNprstu", "readarray": "CcnOstu", "readonly": "aAfp", "return": "", "set": "euxo", "shift": "",
            "shopt": "sqo", "source": "", "test": "vRnzefo", "times": "", "trap": "lp", "true": "", "type": "afPpt", "typeset": "aAilnrux",
            "ulimit": "acn", "umask": "pS", "unalias": "a", "unset": "fvn", "wait": "fnp"}
OPERANDS = ["x", "a", "1", "y", "PATH", "SECONDS", "-eq", "=", "-a", "-o", "'!'", "-v", "-R", "%s", "%n", "%d", "'%*d'", "--", "EXIT",
            "DEBUG", "ab", "x=1"]
INPUTS = ["", "", "", " <<<'x[$(zz)]'", " <<<zz", " <<<a"]
JOINTS = [" ; ", " && ", " || ", " | ", "\n"]
COVERED_AT_LEAST = 100

# Lines that make the file M, by a program that is found: even with a pattern for each of their commands they need confirmation.
RUNS = [
    ("git", "git -c alias.x='!touch M' x"),
    ("git", "git --no-pager -c alias.x='!touch M' x"),
    ("git", "git --config-env=alias.x=EVIL x"),
    ("git", "git --config-env alias.x=EVIL x"),
    ("git", "git --exec-path=exec evil"),
    ("git", "git -C other x"),
    ("git", "git --git-dir=other/.git x"),
    ("git", "git --git-dir other/.git x"),
    ("git", "git ls-remote --upload-pack='touch M;git-upload-pack' ."),
    ("git", "git ls-remote --upload-pa='touch M;git-upload-pack' ."),
    ("git", "git ls-remote --exec 'touch M;git-upload-pack' ."),
    ("git", "git fetch --upload-pack='touch M;git-upload-pack' ."),
    ("git", "git fetch --upload-pack 'touch M;git-upload-pack' ."),
    ("git", "git pull --upload-pack='touch M;git-upload-pack' ."),
    ("git", "git clone -u 'touch M;git-upload-pack' . new"),
    ("git", "git clone --upload-pack 'touch M;git-upload-pack' . new"),
    ("git", "git clone -c core.fsmonitor=../evil . new"),
    ("git", "git clone --config core.fsmonitor=../evil . new"),
    ("git", "git clone --template=template . new"),
    ("git", "git init --template=template new"),
    ("git", "git push --receive-pack='touch M;git-receive-pack' . HEAD:refs/heads/new"),
    ("git", "git push --exec='touch M;git-receive-pack' . HEAD:refs/heads/new"),
    ("git", "git archive --remote=. --exec='touch M;git-upload-archive' HEAD"),
    ("git", "git archive --output=M HEAD"),
    ("git", "git archive -o M HEAD"),
    ("git", "git log --output=M"),
    ("git", "git diff --output M HEAD"),
    ("git", "git grep -Otouch\\ M line"),
    ("git", "git grep --open-files-in-pager='touch M;:' line"),
    ("git", "git grep --open='touch M;:' line"),
    ("git", "git rebase -x 'touch M' HEAD~1"),
    ("git", "git rebase --exec 'touch M' HEAD~1"),
    ("git", "git bisect start HEAD HEAD~1 && git bisect run touch M"),
    ("git", "git submodule foreach 'touch ../M'"),
    ("git", "git filter-branch -f --msg-filter 'touch \"$TOP/M\";cat' HEAD"),
    ("git", "git difftool -y -x 'touch M;:' HEAD~1"),
    ("git", "git difftool -y --extcmd='touch M;:' HEAD~1"),
    ("git", "git config alias.x '!touch M' && git x"),
    ("git", "git config core.hooksPath list && git checkout -b new"),
    ("git", "git config --local core.fsmonitor ./evil && git status"),
    ("git", "git config --add core.fsmonitor ./evil && git status"),
    ("git", "env GIT_SSH_COMMAND='touch M;:' git ls-remote ssh://localhost/x"),
    ("env", "env PATH=exec ls-evil"),
    ("tar", "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch M' line"),
    ("tar", "tar -cf /dev/null --checkpoint=1 --checkpoint-act exec='touch M' line"),
    ("tar", "tar -cf a.tar -I ./evil line"),
    ("tar", "tar cIf ./evil a.tar line"),
    ("tar", "tar -cf a.tar --use-compress-program=./evil line"),
    ("tar", "tar -cf b.tar line && tar -xf b.tar --to-command='touch M'"),
    ("tar", "tar -cf localhost:b.tar --rsh-command=./evil line"),
    ("find", "find . -name line -fprint M"),
    ("find", "find . -maxdepth 1 -name line -fprintf M x"),
    ("find", "find . -maxdepth 1 -name line -fls M"),
    ("sort", "sort --compress-program=./evil -S 1k many"),
    ("sort", "sort --compress-p ./evil -S 1k many"),
    ("sort", "sort -o M line"),
    ("shuf", "shuf -o M line"),
    ("split", "split --filter='touch M' line"),
    ("split", "split --fil 'touch M' line"),
    ("sed", "sed '1e touch M' line"),
    ("sed", "sed -n 's/line/touch M/e' line"),
    ("sed", "sed 'w M' line"),
    ("sed", "sed -ne 's/l/x/w M' line"),
    ("sed", "sed --expression='1{;e touch M\n}' line"),
    ("sed", "sed -f script line"),
    ("sed", "sed 's|l|touch M #|;s,\\(.*\\),touch M,e' line"),
    ("awk", "awk 'BEGIN{system(\"touch M\")}'"),
    ("awk", "awk 'BEGIN{print \"x\" > \"M\"}'"),
    ("awk", "awk 'BEGIN{\"touch M\" | getline}'"),
    ("awk", "awk 'BEGIN{print | \"touch M\"}'"),
    ("xargs", "echo touch M | xargs env"),
    ("xargs", "echo '-c alias.x=!touch${IFS}M x' | xargs git"),
    ("make", "make SHELL=./evil-shell"),
    ("make", "make --eval='$(shell touch M)'"),
    ("make", "make -f evil.mk"),
    ("make", "make -C sub"),
    ("gcc", "gcc -wrapper ./evil -c x.c"),
    ("gcc", "gcc -Bexec/ -c x.c"),
    ("rsync", "rsync -e ./evil line localhost:x"),
    ("rsync", "rsync --rsh=./evil line localhost:x"),
    ("ssh", "ssh -o ProxyCommand='touch M' localhost"),
    ("ssh", "ssh -oProxyCommand='touch M' localhost"),
    ("zip", "zip a.zip line -T -TT 'touch M;:'"),
    ("vim", "vim -es -c '!touch M' -c q"),
    ("vim", "vim -es '+!touch M' +q"),
    ("uniq", "uniq line M"),
    ("install", "install -s --strip-program=./evil line copy"),
    ("diff3", "diff3 --diff-program=./evil line line line"),
    ("flock", "flock line -c 'touch M'"),
    ("watch", "script -qc 'touch M' /dev/null"),
    ("bash", "bash <<<'touch M'"),
    ("bash", "bash <<EOF\ntouch M\nEOF"),
    ("bash", "bash /dev/stdin <<<'touch M'"),
    ("bash", "echo touch M | bash"),
    ("bash", "echo touch M | bash -c bash"),
    ("bash", "test -v 'x[$(touch M)]'"),
    ("bash", "'[' -v 'x[$(touch M)]' ']'"),
    ("bash", "test ! -v 'x[$(touch M)]'"),
    ("bash", "test a -a -v 'x[$(touch M)]'"),
    ("bash", "printf -v 'x[$(touch M)]' %s y"),
    ("bash", "printf '-vx[$(touch M)]' y"),
    ("bash", "builtin printf -v 'x[$(touch M)]' y"),
    ("bash", "command test -v 'x[$(touch M)]'"),
    ("bash", "let 'x[$(touch M)]'"),
    ("bash", "read 'x[$(touch M)]' <<<1"),
    ("bash", "read x <<<'a[$(touch M)]' ; let x"),
    ("bash", "export 'OPTIND=x[$(touch M)]'"),
    ("bash", "declare -i x ; printf -v x '%s' 'a[$(touch M)]'"),
    ("bash", "declare -n x='a[$(touch M)]' ; printf -v x y"),
    ("bash", "declare 'x[$(touch M)]=1'"),
    ("bash", "mapfile -C 'touch M;:' -c 1 x <<<1"),
    ("bash", "compgen -W '$(touch M)'"),
    ("bash", "compgen -C 'touch M'"),
    ("bash", "trap -- 'touch M' EXIT"),
    ("bash", "jobs -x touch M"),
    ("bash", ". ./evil"),
    ("bash", "source ./evil"),
    ("bash", "hash -p ./evil ls ; ls"),
    ("bash", "export PATH=exec ; ls-evil"),
    ("bash", "enable -f ./no.so x ; eval 'touch M'"),
    ("bash", "printf %n PATH ; ls-evil"),
]


def line(rng):
    if rng.random() < 0.5:
        return "".join(rng.choice(SOUP) for _ in range(rng.randint(2, 12)))
    text = ""
    for _ in range(rng.randint(1, 4)):
        words = [rng.choice(COMMANDS)] + [rng.choice(WORDS) for _ in range(rng.randint(0, 3))]
        text += rng.choice(BLANKS).join(words) + rng.choice(ENDS)
    for _ in range(rng.randint(0, 2)):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(SOUP) + text[at + rng.randint(0, 1):]
    return text


def builtin_line(rng):
    """One to three builtins with options, plain operands and quoted substitutions."""
    commands = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        name = rng.choice(list(BUILTINS))
        words = [rng.choice(["", "", "", "builtin ", "command "]) + name]
        for _ in range(rng.randint(0, 2)):
            if BUILTINS[name]:
                words.append("-" + "".join(rng.choice(BUILTINS[name]) for _ in range(rng.randint(1, 2))) +
                             (rng.choice(PAYLOADS) if rng.random() < 0.1 else ""))
        for _ in range(rng.randint(0, 3)):
            words.append(rng.choice(PAYLOADS if rng.random() < 0.5 else OPERANDS))
        if name == "'['":
            words.append("']'")
        commands.append(" ".join(words) + rng.choice(INPUTS))
    return "".join(c + rng.choice(JOINTS) for c in commands[:-1]) + commands[-1]


class Ours:
    def __init__(self, path):
        self.child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.files = set()  # of the last line

    def commands(self, text):
        self.child.stdin.write(b"%d\n" % len(text) + text)
        self.child.stdin.flush()
        state, *commands = self.child.stdout.readline().decode().rstrip("\n").split(" ")
        self.files = {bytes.fromhex(w[1:]) for w in self.child.stdout.readline().decode().split()}
        return state[0] == "-", [tuple(bytes.fromhex(w[1:]) for w in c.split(",")) for c in commands], state[1] == "+"


def written(path):
    with open(path, "rb") as f:
        parts = f.read().split(b"\0")
    found, at = [], 0
    while at < len(parts) and parts[at]:
        n = int(parts[at])
        found.append(tuple(parts[at + 1:at + 1 + n]))
        at += 1 + n
    return found


def wait_for_all(pipe, seconds):
    """Waits until no process holds the other end: bash does not wait for background commands."""
    end = time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0, end - time.monotonic()))
        if not ready:
            return False
        if not os.read(pipe, 4096):
            return True


def by_bash(text, work):
    """The commands that bash looks for, or None if it does not end."""
    log, cwd = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    env = {"PATH": "/nonexistent", "LOG": log, "BASH_FUNC_command_not_found_handle%%": HANDLER, "LANG": "C.UTF-8"}
    alive, end = os.pipe()
    held = fcntl.fcntl(end, fcntl.F_DUPFD, HIGH_FD)
    os.close(end)
    child = subprocess.Popen(["/bin/bash", "-c", text], env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, pass_fds=[held], start_new_session=True)
    os.close(held)
    ended = wait_for_all(alive, ENDS_S)
    os.close(alive)
    if not ended:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    found = [c for name in os.listdir(log) for c in written(f"{log}/{name}")]
    shutil.rmtree(log)
    shutil.rmtree(cwd)
    return found if ended else None


def compare_plain(rng, ours, work, seconds):
    """Lines of any kind: (plain ones, wrong ones)."""
    plain = bad = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end or plain < PLAIN_AT_LEAST:
        text = line(rng).encode()
        is_plain, commands, _ = ours.commands(text)
        if not is_plain:
            continue
        plain += 1
        # Not every command need run (`a || b`), but each that does must be one of ours. The commands that env and others
        # would run are also in our list: bash does not find env here.
        ran = by_bash(text, work)
        if ran is None or any(c not in commands for c in ran):
            bad += 1
            print(f"# {text!r}: bash runs {ran}, we see {commands}")
    return plain, bad


def compare_builtins(rng, ours, work, seconds):
    """Builtins: (lines, matched ones, wrong ones)."""
    lines = covered = bad = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end or covered < COVERED_AT_LEAST:
        text = builtin_line(rng).encode()
        _, commands, is_covered = ours.commands(text)
        lines += 1
        if not is_covered:
            continue
        covered += 1
        ran = by_bash(text, work)
        if ran is None or any(c not in commands for c in ran):
            bad += 1
            print(f"# {text!r} is covered: bash runs {ran}, we see {commands}")
    return lines, covered, bad


# Files whose names need quotes, and the ways of a command to run one.
NAMES = ["a", "b c", "d\\e", "f'g", 'h"i', "$j", "k`l", "m;n", "o)p"]
STARTS = ["./p/", "p/", "./p/", "$PWD/p/", "${PWD}/p/", '"$PWD"/p/', "$(pwd)/p/", "`pwd`/p/"]
BEFORE = ["", "", "", "X=1 ", "env ", "env X=1 ", "env \\\n ", "exec ", "! ", "command ", ">/dev/null ", ">\\\n /dev/null ", "2>&1 ", "x=${y:-'}'}; ", 'x="${y%\'}\'}" ',
          "cat <<E\nit's )\nE\n", "cd . && "]
AFTER = ["", " x", " 'y z'", " >/dev/null", " </dev/null", " # it's", ' # "', " 2>&1", " $(echo ')') ", ' "$(echo "(")"', " `echo \\`echo 1\\``",
         " ${X:-'}'}", ' "${X:-\'}\'}"', " ${X%%\"}\"*}", " $'it\\'s'", ' "`echo ")"`"', " ${X:-$(echo '}' \"}\")}", " <<E\nit's\nE", " <<'E'\n\"$(\nE"]
RAN_AT_LEAST = 200
LOGGER = '#!/bin/sh\nprintf "%s\\0" "${0##*/}" >>"$LOG"\n'


def escaped(text):
    """As it is written in double quotes."""
    return "".join("\\" + c if c in '"$`\\' else c for c in text)


def spelled(rng, text):
    """A word, in one of the ways in which a shell writes it."""
    style = rng.random()
    if style < 0.2 and "'" not in text:
        return f"'{text}'"
    if style < 0.4:
        return '"' + escaped(text).replace("\\\\e", rng.choice(["\\e", "\\\\e"])) + '"'
    out = ""
    while text:
        n = rng.randint(1, 4)
        part, text = text[:n], text[n:]
        style = rng.random()
        if style < 0.3 and "'" not in part:
            out += f"'{part}'"
        elif style < 0.6:
            out += f'"{escaped(part)}"'
        else:
            out += "".join("\\" + c if c in " '\"$`\\;()" or rng.random() < 0.1 else rng.choice(["\\\n", *19 * [""]]) + c for c in part)
    return out


def file_command(rng, depth=0):
    start, name = rng.choice(STARTS), rng.choice(NAMES)
    plain = start in ("./p/", "p/")
    word = spelled(rng, start + name) if plain else start + spelled(rng, name)
    if plain and rng.random() < 0.05:
        word = "${X:-" * 2 + "p/a" + "}" * 2
    text = rng.choice(BEFORE) + word + rng.choice(AFTER)
    forms = [lambda: f"({text}\n)", lambda: f"{{ {text}\n}}", lambda: f"echo $({text}\n)", lambda: f'echo "$({text}\n)"',
             lambda: f"if {text}\nthen {file_command(rng, depth + 1)}\nelse {file_command(rng, depth + 1)}\nfi",
             lambda: f'bash -c "{escaped(text)}"', lambda: f'eval "{escaped(text)}"', lambda: f"while {text}\ndo break\ndone",
             lambda: text if "'" in text else f"sh -c '{text}'"]
    return rng.choice(forms)() if depth < 2 and rng.random() < 0.5 else text


# Files that are run in other ways, or after text whose end is hard to find: a line and its file.
RUN_FILES = [
    ("d=${1:-$(git log -1 | awk '{print $1}')}; sh p/a", "p/a"),
    ('x=${y%%"}"*}; sh p/a', "p/a"),
    ("echo ${x:-'}'}; p/a", "p/a"),
    ("echo \"${x:-'}'}\"; p/a", "p/a"),
    ("echo \"${x:-'\"'}\"; p/a", "p/a"),
    ("echo \"${x%'}'}\"; p/a", "p/a"),
    ("echo ${x:-`echo '}'`}; p/a", "p/a"),
    ("echo $'it\\'s'; p/a", "p/a"),
    ("$'p\\x2f\\141'", "p/a"),
    ("sh -c $'echo it\\\\\\'s\\np/a'", "p/a"),
    ("cat <<E\nit's\nE\np/a", "p/a"),
    ("cat <<-'E' <<\\F\n\tit's\n\tE\n\"\nF\np/a", "p/a"),
    ("cat <<E\nit's $(p/a)\nE", "p/a"),
    ("sh <<E\np/a\nE", "p/a"),
    ("x=$(cat <<E\nit's )\nE\n); p/a", "p/a"),
    ('x=$(echo "`echo ")"`"; sh p/a)', "p/a"),
    ('x="$(case x in x) p/a;; esac)"', "p/a"),
    ("x=1; echo ${x%$(p/a)}", "p/a"),
    ("sh <(cat p/a)", "p/a"),
    ("sh < <(cat p/a)", "p/a"),
    ("echo x > >(p/a); wait $!", "p/a"),
    ("cat p/a | sh", "p/a"),
    ("{ true; cat <p/a; } | (true; bash)", "p/a"),
    ("cat p/a |\nsh -s", "p/a"),
    ("cat p/a | sh /dev/stdin", "p/a"),
    ('eval "$(cat p/a)"', "p/a"),
    ('sh -c "$(cat p/a)"', "p/a"),
    ("eval $(p/a)", "p/a"),
    ("find p -maxdepth 0 -exec p/a {} +", "p/a"),
    ("find p -maxdepth 0 -exec true {} \\; -exec sh p/a \\;", "p/a"),
    ("make -sf p/make", "p/make"),
    ("awk -f p/awk", "p/awk"),
    ("echo x | sed -n -f p/sed", "p/sed"),
    ("PATH=p:$PATH a", "p/a"),
    ('export PATH="$PWD/p:$PATH"; a', "p/a"),
    ("cd p && ./a", "p/a"),
    ("((x<<2)); cat <<E\nit's\nE\np/a", "p/a"),
    ('bash -c "$(<p/a)"', "p/a"),
    ('echo "$(cat p/a)" | sh', "p/a"),
    ("source <(cat p/a)", "p/a"),
    ("cd p; cd ../p || exit; sh a", "p/a"),
    ("(cd p && pwd); cd /; cd - && cd p && $PWD/a", "p/a"),
    ("PWD=x; ${PWD:+p/a}", "p/a"),
    ("${X:-sh -e} p/a", "p/a"),
    ("sh ${X:--e p/a}", "p/a"),
    ("flock -n p p/a", "p/a"),
    ("flock -w 10 -x p sh p/a", "p/a"),
    ('flock p -c "exec p/a"', "p/a"),
    ('PATH="$PWD/p${PATH:+:$PATH}" a', "p/a"),
    ('PATH="${PATH:+$PATH:}p" a', "p/a"),
    ("PATH=${NONE:-p}:$PATH a", "p/a"),
    ("cd p; PATH=$PATH: a", "p/a"),
    ("$(which sh) p/a", "p/a"),
    ('"$(command -v bash)" p/a', "p/a"),
    ("SHELL=/bin/sh; $SHELL p/a", "p/a"),
    ("T=5; timeout $T p/a", "p/a"),
    ('X="env A=b"; $X p/a', "p/a"),
    ("S=p/a; sh $S", "p/a"),
    ("for f in p/a; do sh $f; done", "p/a"),
    ('sh "$(realpath p/a)"', "p/a"),
    ('sh "-c" "p/a"', "p/a"),
    ("sh <>p/a", "p/a"),
    ("exec 3<p/a; sh <&3", "p/a"),
    ("find p/a -exec {} \\;", "p/a"),
]
OTHER_SCRIPTS = {"make": "all:\n\t@echo >>$(LOG)\n", "awk": 'BEGIN { system("echo >>$LOG") }\n', "sed": "1e echo >>$LOG\n"}


def check_run_files(ours, work):
    """Lines of the table: (those in which bash runs nothing, those whose file is not found)."""
    idle = missed = 0
    top, log = tempfile.mkdtemp(dir=work), f"{work}/ran"
    os.mkdir(f"{top}/p")
    for name, text in {"a": LOGGER, **OTHER_SCRIPTS}.items():
        with open(f"{top}/p/{name}", "w", encoding="utf-8") as f:
            f.write(text)
            os.fchmod(f.fileno(), 0o755)
    for text, path in RUN_FILES:
        with open(log, "wb"):
            pass
        subprocess.run(["/bin/bash", "-c", text], env={"PATH": "/usr/bin:/bin", "LOG": log}, cwd=top, check=False, **QUIET)
        if os.path.getsize(log) == 0:
            idle += 1
            print(f"# {text!r} runs no file: it shows nothing")
        ours.commands(text.encode())
        found = {os.path.normpath(name.decode()) for name in ours.files}
        if path not in found:
            missed += 1
            print(f"# {text!r}: bash runs {path}, we find {found}")
    return idle, missed


def compare_files(rng, ours, work, seconds):
    """Commands of git's settings: (files that bash ran, lines with one that is not found)."""
    ran = bad = 0
    top, log = tempfile.mkdtemp(dir=work), f"{work}/ran"
    os.mkdir(f"{top}/p")
    for name in NAMES:
        with open(f"{top}/p/{name}", "w", encoding="utf-8") as f:
            f.write(LOGGER)
            os.fchmod(f.fileno(), 0o755)
    end = time.monotonic() + seconds
    while time.monotonic() < end or ran < RAN_AT_LEAST:
        text = "\n".join(file_command(rng) for _ in range(rng.randint(1, 2))).encode()
        with open(log, "wb"):
            pass
        subprocess.run(["/bin/bash", "-c", text], env={"PATH": "/usr/bin:/bin", "LOG": log}, cwd=top, check=False, **QUIET)
        with open(log, "rb") as f:
            names = f.read().split(b"\0")[:-1]
        ours.commands(text)
        found = {os.path.basename(name) for name in ours.files}
        ran += len(names)
        if any(name not in found for name in names):
            bad += 1
            print(f"# {text!r}: bash runs {names}, we find {ours.files}")
    return ran, bad


PREPARE = r"""
mkdir -p exec template/hooks other sub list 0
printf '#!/bin/sh\n/usr/bin/touch "$TOP/M"\n' >evil
printf '#!/bin/sh\n/usr/bin/touch "$TOP/M"\nexec /bin/sh "$@"\n' >evil-shell
chmod +x evil evil-shell
for n in exec/git-evil exec/ls-evil exec/as 0/ls-evil template/hooks/post-checkout list/post-checkout; do cp evil $n; done
printf '[core]\n\tfsmonitor = "\\"$TOP/evil\\""\n' >template/config
echo line >line; seq 20000 >many; echo '1e touch M' >script; printf 'all:\n\ttrue\n' >Makefile
printf 'all:\n\ttouch M\n' >evil.mk; printf 'all:\n\ttouch ../M\n' >sub/Makefile; echo 'int x;' >x.c
git init -q . && git add line && git commit -qm one && echo more >>line && git commit -qam two
git init -q other && git -C other config alias.x '!touch "$TOP/M"' && git -C other commit -q --allow-empty -m x
git -c protocol.file.allow=always submodule --quiet add "$PWD/other" nested && git commit -qm three
"""
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
PEOPLE = {f"GIT_{who}_{what}": "a@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def run_env(top):
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "TOP": top, "HOME": top, "LANG": "C.UTF-8", "TERM": "dumb",
            "EVIL": "!touch M", "FILTER_BRANCH_SQUELCH_WARNING": "1", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", **PEOPLE}


def makes_file(text, prepared, work):
    """Returns whether the line makes M, or clones something that does, with programs that are found."""
    top = f"{work}/top"
    shutil.copytree(prepared, top, symlinks=True)
    child = subprocess.Popen(["/bin/bash", "-c", text], env=run_env(top), cwd=top, start_new_session=True, **QUIET)
    try:
        child.wait(ENDS_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    if os.path.exists(f"{top}/new"):
        subprocess.run(["git", "-C", "new", "status"], env=run_env(top), cwd=top, check=False, **QUIET)
    made = os.path.exists(f"{top}/M")
    shutil.rmtree(top)
    return made


def check_runs(ours, work):
    """Lines that run more than they show: (tried, matched ones, those that make nothing)."""
    tried = covered = idle = 0
    prepared = tempfile.mkdtemp(dir=work)
    subprocess.run(["/bin/bash", "-c", PREPARE], env=run_env(prepared), cwd=prepared, check=True, **QUIET)
    for program, text in RUNS:
        if ours.commands(text.encode())[2]:
            covered += 1
            print(f"# {text!r} is covered by a pattern")
        if not shutil.which(program):
            continue
        tried += 1
        if not makes_file(text, prepared, work):
            idle += 1
            print(f"# {text!r} makes no file: it shows nothing")
    return tried, covered, idle


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, ours = random.Random(args.seed), Ours(args.lines)
    with tempfile.TemporaryDirectory(prefix="cordon-bash-") as work:
        plain, bad = compare_plain(rng, ours, work, args.seconds / 3)
        lines, allowed, wrong = compare_builtins(rng, ours, work, args.seconds / 3)
        none, lost = check_run_files(ours, work)
        ran, missed = compare_files(rng, ours, work, args.seconds / 3)
        tried, covered, idle = check_runs(ours, work)
    ours.child.stdin.close()
    ours.child.wait()
    tap = Tap()
    for failed, name in (
            (bad, f"{plain} plain lines: bash runs nothing that a rule does not see"),
            (plain < PLAIN_AT_LEAST, "enough of them were plain"),
            (wrong, f"{lines} lines of builtins, {allowed} covered by patterns: bash evaluates nothing in quotes"),
            (allowed < COVERED_AT_LEAST, "enough of them were covered"),
            (missed, f"{ran} files that commands of git's settings run: all are found"),
            (lost, f"{len(RUN_FILES)} lines with a file of such a command: each is found"),
            (none, "and bash runs each"),
            (covered, f"{len(RUNS)} lines that run something else: no pattern covers one"),
            (idle, f"{tried} of them, by programs that are here, do run it")):
        tap.report(name, ["see above"] if failed else [])
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
