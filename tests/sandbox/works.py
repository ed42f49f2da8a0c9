#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Things that must work inside the sandbox: a sandbox that blocks everything would pass every other test.

Ordinary work (compilers, make, git, Python) under the presets; small things that programs take
for granted, each under a policy that grants no more than it needs. See harness.py.
"""
import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading

from console import Console
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import PRESET_PYTHON, Skipped, case, main, sanitized  # noqa: E402 pylint: disable=wrong-import-position
from filled_home import (  # noqa: E402 pylint: disable=wrong-import-position
    ALL_LINKED, ALL_TOOLS, HIDDEN, SEE_LINKED, SEE_SECRETS, SEE_TOOLS, TOOLCHAINS, fill_home, home_file, user_home)

BASH = "/usr/bin/bash"


def preset(t, name, *command, options=(), **more):
    return t.exec(*command, options=["--preset", name, "--root", t.work, *options], **more)


def bash(t, script, name="build", **more):
    return preset(t, name, BASH, "-c", script, **more)


def python(t, script, *args, options=("--pipes",), **more):
    return preset(t, "python", PRESET_PYTHON, "-c", script, *args, options=options, **more)


# Building ------------------------------------------------------------------------------------------

HELLO = '#include <stdio.h>\nint main(void) { puts("hello from a"); return 0; }\n'


def compile_and_run(t, name):
    t.file("a.c", HELLO)
    run = bash(t, "gcc -Wall -o a a.c && ./a", name)
    t.same(run.out, b"hello from a\n", run)
    t.true(os.access(os.path.join(t.work, "a"), os.X_OK), "the program is not there outside")


@case("gcc compiles, and the result runs: preset build")
def _(t):
    compile_and_run(t, "build")


@case("gcc compiles, and the result runs: preset c")
def _(t):
    compile_and_run(t, "c")


@case("gcc compiles, and the result runs: preset test, which sets CI")
def _(t):
    compile_and_run(t, "test")
    t.same(bash(t, "echo $CI", "test").out, b"1\n")


@case("gcc without a shell: the command is the compiler")
def _(t):
    t.file("a.c", HELLO)
    preset(t, "c", "/usr/bin/gcc", "-o", "a", "a.c")
    t.same(preset(t, "c", os.path.join(t.work, "a")).out, b"hello from a\n")


@case("make -j4 with its jobserver")
def _(t):
    lines = ["all: sub p1 p2 p3 p4 p5 p6 p7 p8", "sub: ; +$(MAKE) -f sub.mk"]
    lines += [f"p{i}: p{i}.o ; gcc -o $@ $<" for i in range(1, 9)]
    for i in range(1, 9):
        t.file(f"p{i}.c", HELLO)
    t.file("sub.mk", "all: a1 a2 a3 a4\na%: ; echo made > $@\n")
    t.file("Makefile", "\n".join(lines) + "\n")
    run = bash(t, "make -j4 && ./p8")
    t.true(run.out.endswith(b"hello from a\n"), run)
    t.true(b"jobserver" not in run.err, f"make has no jobserver\n{run}")
    t.same(sorted(f for f in os.listdir(t.work) if f in ("a1", "a2", "a3", "a4", "p1", "p7")),
           ["a1", "a2", "a3", "a4", "p1", "p7"])


@case("a jobserver by a named pipe, in /tmp and in the working root")
def _(t):
    for place in ("/tmp/fifo", "./fifo"):
        run = bash(t, f"""mkfifo {place} && exec 5<>{place} && printf ++ >&5
            for i in 1 2 3 4 5 6; do (read -rN1 token <{place} && echo $i >>done && printf + >{place}) & done
            wait; wc -l <done; rm done""")
        t.same(run.out.strip(), b"6", run)


@case("git: init, add, commit, status, log, branch")
def _(t):
    t.file("a.txt", "one\n")
    run = bash(t, """set -e
        git init -q -b main . && git config user.email a@example.com && git config user.name A
        git add a.txt && git commit -q -m first && echo two >>a.txt && git status --short
        git commit -qam second && git checkout -q -b other && git log --format=%s""")
    t.same(run.out, b" M a.txt\nsecond\nfirst\n", run)
    seen = t.run(["/usr/bin/git", "-C", t.work, "log", "--format=%s"])
    t.same(seen.out, b"second\nfirst\n", f"seen from outside\n{seen}")


@case("git in a read-only directory: preset readonly")
def _(t):
    t.file("a.txt", "one\n")
    for args in (["init", "-q"], ["add", "a.txt"],
                 ["-c", "user.email=a@example.com", "-c", "user.name=A", "commit", "-qm", "first"]):
        t.code(t.run(["/usr/bin/git", "-C", t.work, *args]), 0)
    run = preset(t, "readonly", "/usr/bin/git", "log", "--format=%s")
    t.same(run.out, b"first\n", run)
    run = preset(t, "readonly", "/usr/bin/touch", "new", expect=6)
    t.true(not os.path.exists(os.path.join(t.work, "new")), "preset readonly writes")


# Python and node -----------------------------------------------------------------------------------

@case("python: multiprocessing Lock, Queue, Pool, Pipe, shared memory")
def _(t):
    t.file("m.py", """
import multiprocessing as mp
from multiprocessing import shared_memory
def square(x): return x * x
def add(lock, queue, total, n):
    with lock:
        total.value += n
    queue.put(n)
def main():
    lock, queue, total = mp.Lock(), mp.Queue(), mp.Value('i', 0)
    ps = [mp.Process(target=add, args=(lock, queue, total, n)) for n in range(5)]
    for p in ps: p.start()
    got = sorted(queue.get(timeout=60) for _ in ps)
    for p in ps: p.join()
    with mp.Pool(3) as pool: squares = pool.map(square, range(10))
    a, b = mp.Pipe()
    a.send('both ways'); b.send('too')
    m = shared_memory.SharedMemory(create=True, size=64); m.buf[0] = 7; m.close(); m.unlink()
    print(total.value, got, sum(squares), b.recv(), a.recv())
if __name__ == '__main__':
    for method in ('fork', 'spawn'):
        mp.set_start_method(method, force=True)
        main()
""")
    run = preset(t, "python", PRESET_PYTHON, "m.py", options=["--pipes"])
    t.same(run.out, b"10 [0, 1, 2, 3, 4] 285 both ways too\n" * 2, run)


@case("python: threads, subprocesses, a temporary file, random numbers")
def _(t):
    run = python(t, """
import threading, subprocess, tempfile, random, os, concurrent.futures as f
with f.ThreadPoolExecutor(8) as e: print(sum(e.map(lambda x: x + 1, range(100))))
print(subprocess.check_output(['/usr/bin/printf', 'sub']).decode())
with tempfile.TemporaryDirectory() as d:
    open(d + '/x', 'w').write('x'); print(d.startswith('/tmp/'), os.listdir(d))
print(len(os.urandom(8)), len(open('/dev/urandom', 'rb').read(4)), 0 <= random.random() < 1)
""")
    t.same(run.out, b"5050\nsub\nTrue ['x']\n8 4 True\n", run)


@case("python under a policy that lists only its program")
def _(t):
    real = os.path.realpath(PRESET_PYTHON)
    run = t.exec(real, "-c", "import json, ssl, sqlite3, curses; print('imports')",
                 policy=t.policy(execs=[real]), options=["--pipes"])
    t.same(run.out, b"imports\n", run)


@case("/proc is the kernel's, except for parts that are not for the command: keys")
def _(t):
    if not os.path.exists("/proc/keys"):
        raise Skipped("no /proc/keys here")
    run = bash(t, "stat -c %d /proc /proc/version /proc/keys && ! cat /proc/keys")
    proc, version, keys = run.out.split()
    t.true(proc == version != keys, run)


@case("getpwuid, getgrgid: the same names as outside")
def _(t):
    script = """
import pwd, grp, os
def name(f, x):
    try: return f(x)[0]
    except KeyError: return 'none'
print(name(pwd.getpwuid, 0), name(grp.getgrgid, 0), name(pwd.getpwuid, os.getuid()), os.getuid(), os.getgid())
"""
    outside = t.run([PRESET_PYTHON, "-c", script])
    t.true(outside.out.startswith(b"root root"), outside)
    run = python(t, script)
    t.same(run.out, outside.out, run)


@case("node prints hello")
def _(t):
    if not os.path.exists("/usr/bin/node"):
        raise Skipped("node is not installed")
    t.file("a.js", "require('fs').writeFileSync('out', 'x'); setTimeout(() => console.log('hello'), 1)")
    run = preset(t, "node", "/usr/bin/node", "a.js", options=["--pipes"])
    t.same(run.out, b"hello\n", run)
    t.true(os.path.exists(os.path.join(t.work, "out")), "nothing was written")


# Things that programs take for granted -----------------------------------------------------------

for how in ("--pipes", "--pty"):
    @case(f"/dev/stdout, /dev/stderr, /dev/fd/3, <(…), here documents, {how}")
    def _(t, how=how):
        run = bash(t, """echo to stdout >/dev/stdout; echo to stderr >/dev/stderr
            exec 3<<<three; cat /dev/fd/3; cat <(echo substituted) <(echo twice)
            diff <(printf 'a\\n') <(printf 'a\\n') && echo equal; tee >(cat >tee.out) <<<teed
            cat <<END
here
END""", options=[how])
        text = (run.out + run.err).replace(b"\r\n", b"\n")
        for word in (b"to stdout", b"to stderr", b"three", b"substituted", b"twice", b"equal", b"teed", b"here"):
            t.true(word + b"\n" in text, f"no {word}\n{run}")


@case("/dev: null, zero, full, random, urandom, tty, ptmx")
def _(t):
    run = bash(t, """echo x >/dev/null; head -c4 /dev/zero | od -An -tx1; head -c4 /dev/urandom | wc -c
        head -c4 /dev/random | wc -c; echo x >/dev/full; echo $?; echo x >/dev/tty && echo tty
        python3 -c 'import os; print(os.isatty(os.openpty()[1]))'""", options=["--pty"])
    lines = run.out.replace(b"\r", b"").split(b"\n")
    for word in (b" 00 00 00 00", b"4", b"1", b"tty", b"True"):
        t.true(word in lines, f"no {word}\n{run}")


@case("mktemp, and TMPDIR is the private /tmp")
def _(t):
    run = bash(t, 'f=$(mktemp) && d=$(mktemp -d) && echo x >"$f" && echo "${f%/*} ${d%/*} ${TMPDIR-/tmp}"')
    t.same(run.out, b"/tmp /tmp /tmp\n", run)


@case("the private /tmp is not visible outside, nor the host's inside")
def _(t):
    name = "/tmp/" + os.path.basename(t.top) + "-inside"
    run = bash(t, f"touch {name} && ls /tmp")
    t.true(not os.path.exists(name), "a file appeared in the host's /tmp")
    t.same(sorted(run.out.split()), sorted(n.encode() for n in (
        os.path.basename(name), os.path.basename(t.top))), run)


@case("shared memory in /dev/shm")
def _(t):
    t.same(t.exec(t.child, "shm", policy=t.policy(), options=["--pipes"]).out, b"shm\n")


RUN_OWN = """set -e
for dir in /tmp /dev/shm; do printf '#!/bin/sh\\necho "ran in %s"\\n' $dir >$dir/own; chmod +x $dir/own; $dir/own; done
cd "$(mktemp -d)"; cp /bin/true own; ./own; echo copied"""

for name in ("build", "c", "node", "python", "test"):
    @case(f"files in the private /tmp and /dev/shm can be run: preset {name}, which runs what it writes")
    def _(t, name=name):
        t.same(bash(t, RUN_OWN, name).out, b"ran in /tmp\nran in /dev/shm\ncopied\n")


@case("files in the private /tmp and /dev/shm cannot be run: preset readonly")
def _(t):
    run = preset(t, "readonly", PRESET_PYTHON, "-c", """import shutil, subprocess
for own in ("/tmp/own", "/dev/shm/own"):
    shutil.copy("/bin/true", own)
    try: print(subprocess.run(own).returncode)
    except PermissionError: print("refused")""", options=["--pipes"])
    t.same(run.out, b"refused\nrefused\n", run)


MEMORY = """import os
fd = os.memfd_create("own")
os.write(fd, open("/bin/true", "rb").read())
if (pid := os.fork()) == 0:
    os.execve(fd, ["own"], {})
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"""


@case("a program in memory: where files can be run that are written, and not where they cannot")
def _(t):
    t.same(python(t, MEMORY).out, b"0\n")
    run = preset(t, "readonly", PRESET_PYTHON, "-c", MEMORY, options=["--pipes"], expect=6)
    t.true(b"Function not implemented" in run.err, run)


TRACE = """import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
TRACEME, CONT, SEIZE = 0, 7, 0x4206
if (pid := os.fork()) == 0:
    libc.ptrace(TRACEME, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(7)
print(os.WSTOPSIG(os.waitpid(pid, 0)[1]) == signal.SIGSTOP, libc.ptrace(CONT, pid, 0, 0))
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(libc.ptrace(SEIZE, 1, 0, 0), os.strerror(ctypes.get_errno()))
"""


@case("a process can be traced, except for process 1 of the sandbox")
def _(t):
    run = python(t, TRACE)
    t.same(run.out, b"True 0\n7\n-1 Operation not permitted\n", run)


@case("addresses can be fixed, as debuggers do")
def _(t):
    t.same(bash(t, "setarch -R sh -c 'echo fixed'").out, b"fixed\n")


@case("the sandbox's host name has an address, and the user's entry has the home directory inside")
def _(t):
    run = python(t, """import os, pwd, socket
print(socket.gethostname(), socket.gethostbyname(socket.gethostname()))
entry = [e for e in pwd.getpwall() if e.pw_uid == os.getuid()]
print(all(e.pw_dir == os.environ["HOME"] for e in entry[:1]), len(entry))""")
    t.same(run.out, b"cordon 127.0.1.1\nTrue %d\n" % (t.uid is None), run)


# The developer's machine --------------------------------------------------------------------------

@case("toolchains of PATH and of the home directory can be run, and no file with secrets is there: preset")
def _(t):
    fill_home(t)
    t.same(bash(t, SEE_TOOLS).out, ALL_TOOLS)
    t.same(bash(t, SEE_LINKED).out, ALL_LINKED)
    shown = sorted(f"./{name}/tool{i}" for i, name in enumerate(TOOLCHAINS))
    t.same(bash(t, SEE_SECRETS).out.decode().split(), [*shown, "end"])


@case("toolchains of PATH and of the home directory can be run, and no file with secrets is there: tool")
def _(t):
    fill_home(t)

    def shell(command):
        run = t.finish(t.start([t.cordon, "tool", "shell", "--arg", "command=" + command]))
        t.same(run.code, 0, run)
        return run.out
    t.same(shell(SEE_TOOLS), ALL_TOOLS)
    t.same(shell(SEE_LINKED), ALL_LINKED)
    t.true(b"CANARY" not in shell(SEE_SECRETS), "a secret")


@case("hidden credentials are listed by doctor and --explain-policy")
def _(t):
    fill_home(t)
    path = os.path.join(user_home(t), ".nvm/versions/node/v1/etc/npmrc")
    found = json.loads(t.finish(t.start([t.cordon, "doctor", "--json"])).out)["developer"]["hidden"]
    t.true(any(h["path"] == path and "npm" in h["reason"] for h in found), found)
    for args in (["doctor"], ["exec", "--preset", "build", "--root", t.work, "--explain-policy", "--", BASH]):
        run = t.finish(t.start([t.cordon, *args]))
        t.true(b".nvm/versions/node/v1/etc/npmrc" in run.out, run)


@case("credentials in a toolchain stay hidden when they are replaced while the command runs")
def _(t):
    fill_home(t)
    held = t.start(t.command(BASH, "-c", "echo ready; read x; " + SEE_SECRETS,
                             options=["--preset", "build", "--root", t.work, "--pipes"]), stdin=subprocess.PIPE)
    t.same(held.stdout.readline(), b"ready\n")
    for name in HIDDEN:
        path = os.path.join(user_home(t), name)
        home_file(t, name + ".new", "url = https://me:CANARY@new/\n")
        os.rename(path + ".new", path)
    t.true(b"CANARY" not in t.finish(held, b"go\n").out, "a secret")


@case("credentials in a toolchain stay hidden without mounts")
def _(t):
    fill_home(t)
    policy = t.policy(execs=["/usr/bin", "/bin"], shell=True, developer=True, sandbox="landlock", sandbox_unsafe_ack=True)
    run = t.exec(BASH, "-c", f"cd {user_home(t)}; cat .pyenv/versions/3/envs/e/bin/tool13; cat {' '.join(HIDDEN)} 2>/dev/null; true",
                 policy=policy, options=["--pipes"])
    t.same(run.out, b"#!/bin/sh\necho tool13\n", run)


@case("the home directory is private, and toolchains in it are read-only")
def _(t):
    fill_home(t)
    run = bash(t, """touch ~/new ~/.ssh2 && echo made; cd; pwd
        for f in .cargo/bin/new .cargo/bin/tool0; do echo x >$f && echo WRITTEN; done
        rm -f .local/bin/tool1 && echo REMOVED; true""")
    t.same(run.out.decode(), f"made\n{user_home(t)}\n", run)
    t.true(not os.path.exists(os.path.join(user_home(t), "new")), "it was made in the user's home directory")


@case("directories of PATH that are relative, the home directory or above it are not in PATH")
def _(t):
    t.env["PATH"] = f".:bin:{t.home}:{os.path.dirname(t.home)}:/proc:{t.env['PATH']}"
    t.same(bash(t, "echo $PATH").out.decode(), "/usr/local/bin:/usr/bin:/bin\n")


@case("locale, time zone and certificates of the user are passed on; secrets are not")
def _(t):
    certs = home_file(t, "company/ca.pem", "certificate\n")
    t.env.update(TZ="Asia/Tokyo", LC_TIME="C", EDITOR="vi", NODE_EXTRA_CA_CERTS=certs, GITHUB_TOKEN="secret")
    run = bash(t, 'echo "$TZ $LC_TIME $EDITOR $GITHUB_TOKEN$CORDON_TEST_SECRET"; cat "$NODE_EXTRA_CA_CERTS"; ls ~')
    t.same(run.out, b"Asia/Tokyo C vi \ncertificate\ncompany\n", run)


@case("git commits with the user's name, and aliases that are shell commands are not there")
def _(t):
    home_file(t, "more", "[user]\n\temail = me@example.org\n")
    home_file(t, ".gitconfig", "[user]\n\tname = Me Myself\n[include]\n\tpath = more\n[alias]\n\tst = status\n\tevil = !sh\n"
              "[credential]\n\thelper = store --file SECRET\n[core]\n\tpager = SECRET\n[init]\n\tdefaultBranch = trunk\n")
    run = bash(t, "git init -q g && cd g && touch f && git add f && git commit -qm first && git log --format='%an %ae %D'; "
               "git config --get-regexp '^(alias|credential|core.pager)'; git config --global user.name Other && echo kept")
    t.same(run.out.decode(), "Me Myself me@example.org HEAD -> trunk\nalias.st status\nkept\n", run)


@case("a policy in a file shows no toolchains, unless it says so")
def _(t):
    fill_home(t)
    for wanted in (False, True):
        policy = t.policy(execs=["/usr/bin", "/bin"], shell=True, developer=wanted)
        run = t.exec(BASH, "-c", "type -P tool0; ls -A $HOME/.cargo 2>/dev/null; true", policy=policy, options=["--pipes"])
        t.same(run.out != b"", wanted, run)


@case("threads of a static program")
def _(t):
    t.same(t.exec(t.child, "threads", policy=t.policy(), options=["--pipes"]).out, b"threads\n")


for family, kind in (("4", "tcp"), ("6", "tcp"), ("4", "udp"), ("6", "udp")):
    @case(f"a server and a client on the private loopback: IPv{family}, {kind}")
    def _(t, family=family, kind=kind):
        for policy in (t.policy(), t.policy(read=[t.work])):
            run = t.exec(t.child, "loopback", family, kind, policy=policy, options=["--pipes"])
            t.same(run.out, b"hello\n", run)


@case("localhost has a name")
def _(t):
    run = python(t, "import socket; print(sorted({a[4][0] for a in socket.getaddrinfo('localhost', 80)})[0])")
    t.true(run.out.strip() in (b"127.0.0.1", b"::1"), run)


@case("Unix sockets inside work if the policy allows them")
def _(t):
    script = """
import socket, os
a = socket.socket(socket.AF_UNIX); a.bind('/tmp/s'); a.listen(1)
b = socket.socket(socket.AF_UNIX); b.connect('/tmp/s'); b.send(b'through'); print(a.accept()[0].recv(9))
"""
    real = os.path.realpath(PRESET_PYTHON)
    run = t.exec(real, "-c", script, options=["--pipes"],
                 policy=t.policy(execs=[real], write=[t.work], allow_unix_sockets=True,
                                 unix_sockets_unsafe_ack=True))
    t.same(run.out, b"b'through'\n", run)


@case("locale: UTF-8 by default, and the value of env.set")
def _(t):
    t.same(bash(t, "locale charmap; echo $LANG").out, b"UTF-8\nC.UTF-8\n")
    run = t.exec("/usr/bin/locale", "charmap", options=["--pipes"],
                 policy=t.policy(execs=["/usr/bin/locale"], env={"set": {"LC_ALL": "POSIX"}}))
    t.same(run.out, b"ANSI_X3.4-1968\n", run)


@case("time zone: the machine's, and any by TZ")
def _(t):
    args = ["/usr/bin/date", "-d", "@1000000000", "+%H:%M %Z"]
    outside = t.run(args)
    for tz, want in ((None, outside.out), ("Asia/Kolkata", b"07:16 IST\n")):
        env = {"set": {"TZ": tz}} if tz else {}
        run = t.exec(*args, policy=t.policy(execs=args[:1], env=env), options=["--pipes"])
        t.same(run.out, want, run)


def fnv(args):
    value = 14695981039346656037
    for byte in b"".join(args):
        value = (value ^ byte) * 1099511628211 % 2**64
    return b"%d %d %016x\n" % (len(args), sum(map(len, args)), value)


@case("arguments: one of 64 KiB, many of 64 KiB, empty, any bytes")
def _(t):
    for args in ([b"x" * 65536], [b"a%d" % i for i in range(10000)], [b"", b"", b"a b", b""],
                 [bytes(range(1, 256)), b"\xff\xfe", b"--", b"--json", b"-h"]):
        run = t.exec(t.child, "args", *args, policy=t.policy(), options=["--pipes"])
        t.same(run.out, fnv(args), run)


@case("stdin: a pipe with a megabyte of binary data, a file, nothing")
def _(t):
    data = bytes(range(256)) * 4096
    run = t.exec(t.child, "copy", policy=t.policy(), options=["--pipes"], data=data)
    t.true(run.out == data, f"{len(run.out)} of {len(data)} bytes came back, or others")
    with open(t.file("in", data), "rb") as f:
        run = t.exec(t.child, "copy", policy=t.policy(), options=["--pipes"], stdin=f)
    t.true(run.out == data, f"{len(run.out)} of {len(data)} bytes came back, or others")
    t.same(t.exec(t.child, "copy", policy=t.policy(), options=["--pipes"]).out, b"")


@case("stdout and stderr stay separate with pipes")
def _(t):
    run = bash(t, "echo out; echo err >&2", options=["--pipes"])
    t.same((run.out, run.err), (b"out\n", b"err\n"))


# Not affected by limits -----------------------------------------------------------------------------

def needed(*programs):
    for program in programs:
        if not os.path.exists(program):
            raise Skipped(f"{program} is not installed")


@case("a shell, gpg and Python disable core files for themselves")
def _(t):
    run = bash(t, "set -e; ulimit -c 0; ulimit -S -c 0; echo set; ulimit -c", options=["--pipes"])
    t.same(run.out, b"set\n0\n", run)
    run = python(t, "import resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0)); r.setrlimit(r.RLIMIT_NOFILE, (64, 64));"
                    "print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_NOFILE))")
    t.same(run.out, b"(1, 1) (64, 64)\n", run)
    python(t, "import resource as r; r.prlimit(0, r.RLIMIT_CORE, (0, 0)); assert r.getrlimit(r.RLIMIT_CORE) == (1, 1)")
    needed("/usr/bin/gpg")
    bash(t, "mkdir -m 700 /tmp/g && gpg --homedir /tmp/g --batch --list-keys", options=["--pipes"])


@case("space for files: fallocate, posix_fallocate, holes")
def _(t):
    run = bash(t, "set -e; fallocate -l 1M f; stat -c %s f; fallocate -p -o 0 -l 65536 f; stat -c %s f", options=["--pipes"])
    t.same(run.out, b"1048576\n1048576\n", run)
    run = python(t, "import os; fd = os.open('g', os.O_CREAT | os.O_RDWR); os.posix_fallocate(fd, 0, 1 << 20);"
                    "print(os.fstat(fd).st_size)")
    t.same(run.out, b"1048576\n", run)


@case("sqlite with a write-ahead log, shared by two processes")
def _(t):
    run = python(t, """
import sqlite3, os
db = sqlite3.connect('a.db')
print(db.execute('pragma journal_mode=wal').fetchone()[0])
db.execute('create table t(x)'); db.commit()
if os.fork() == 0:
    other = sqlite3.connect('a.db'); other.execute('insert into t values (7)'); other.commit(); os._exit(0)
os.wait()
print(db.execute('select x from t').fetchall())
""")
    t.same(run.out, b"wal\n[(7,)]\n", run)


@case("SysV shared memory, queues and semaphores inside; fakeroot")
def _(t):
    needed("/usr/bin/ipcmk", "/usr/bin/ipcs")
    run = bash(t, "ipcmk -M 8000000 && ipcmk -Q && ipcmk -S 19 && ipcs -m | grep -c 8000000", options=["--pipes"])
    t.same(run.out.splitlines()[-1], b"1", run)
    needed("/usr/bin/fakeroot")
    run = bash(t, "fakeroot sh -c 'id -u; touch z; chown 0:0 z; stat -c %u z'", options=["--pipes"])
    t.same(run.out, b"0\n0\n", run)


@case("anonymous shared memory; pipes up to the usual size")
def _(t):
    run = python(t, """
import mmap, os, fcntl
m = mmap.mmap(-1, 256 << 20)
if os.fork() == 0:
    m[100 << 20] = 7; os._exit(0)
os.wait(); print(m[100 << 20])
r, w = os.pipe()
print(fcntl.fcntl(w, 1032), fcntl.fcntl(w, 1031, 4096), fcntl.fcntl(w, 1031, 65536))
""")
    t.same(run.out, b"7\n65536 4096 65536\n", run)


FOLLOW = """import subprocess, sys
p = subprocess.Popen(['/usr/bin/tail', '-n1', '-s0.1', '-f', 'log'], stdout=subprocess.PIPE)
print(p.stdout.readline())
open('log', 'a').write('second\\n')
print(p.stdout.readline())
p.kill(); p.wait()
"""


@case("tail -f sees a line that is written later")
def _(t):
    t.file("log", "first\n")
    run = python(t, FOLLOW)
    t.same(run.out, b"b'first\\n'\nb'second\\n'\n", run)


@case("sandbox: landlock: tail -f polls; nice, ionice, taskset and kill work on the sandbox's own processes")
def _(t):
    t.file("log", "first\n")
    real = os.path.realpath(PRESET_PYTHON)
    execs = [real, BASH, *(os.path.realpath("/usr/bin/" + n) for n in ("tail", "nice", "ionice", "taskset", "sleep", "true"))]
    policy = t.policy(execs=execs, shell=True, write=[t.work], cwd=t.work, sandbox="landlock", sandbox_unsafe_ack=True)
    run = t.exec(real, "-c", FOLLOW, policy=policy, options=["--pipes"])
    t.same(run.out, b"b'first\\n'\nb'second\\n'\n", run)
    run = t.exec(BASH, "-c", "PATH=/usr/bin; set -e; nice -n 5 true; ionice -c3 true; taskset 1 true; ulimit -c 0;"
                             "sleep 100 & kill $!; wait $! || echo $?", policy=policy, options=["--pipes"])
    t.same(run.out, b"143\n", run)


@case("node sees a file change")
def _(t):
    needed("/usr/bin/node")
    t.file("w.js", """const fs = require('fs'); fs.mkdirSync('d');
const w = fs.watch('d', () => { console.log('seen'); w.close(); }); fs.writeFileSync('d/x', 'x');""")
    t.same(preset(t, "node", "/usr/bin/node", "w.js", options=["--pipes"]).out, b"seen\n")


# Directories ----------------------------------------------------------------------------------------

@case("without a policy: a bare name, the current directory is readable, not writable")
def _(t):
    t.file("a.txt", "here\n")
    run = t.exec("cat", "a.txt")
    t.same(run.out, b"here\n", run)
    t.exec("touch", "a.txt", expect=6)
    t.exec("touch", "b.txt", expect=6)
    t.same(os.listdir(t.work), ["a.txt"])


ODD = {
    "a newline": b"new\nline", "spaces": b"  a  b ", "quotes and what mounts split at": b"a\":,\\b'c",
    "other scripts": "häuser-家-🏠".encode(), "a dash": b"-rf", "a dollar and stars": b"$HOME*?[a]",
    "octal like mountinfo": b"a\\040b", "control characters": b"a\x01\x1b[31m\x7fb", "255 bytes": b"n" * 255,
}
for about, name in ODD.items():
    @case(f"a working root whose name has {about}")
    def _(t, name=name):
        path = os.fsencode(t.work) + b"/" + name
        os.mkdir(path)
        t.own(path)
        text = path.decode()
        run = t.exec(t.child, "cwd", policy=t.policy(write=[text], cwd=text), options=["--pipes"])
        t.same(run.out, path, run)
        t.exec(t.child, "mark", "m", policy=t.policy(write=[text], cwd=text))
        t.same(os.listdir(path), [b"m"])
        run = t.exec(t.child, "cwd", options=["--cwd", path, "--json"])
        t.same(run.result["cwd"], text, run)
        run = t.exec("cat", "m", cwd=path)
        t.same(run.out, b"ran\n", f"without a policy\n{run}")
        # No wider mount: the parent directory contains only this.
        run = t.exec("ls", "-a", "--zero", "..", cwd=path)
        t.same(sorted(run.out.split(b"\0")), sorted([b"", b".", b"..", name]), run)


@case("a working root whose name is not UTF-8: works, or is refused before anything runs")
def _(t):
    path = os.fsencode(t.work) + b"/\xff\xfe\x80"
    os.mkdir(path)
    t.own(path)
    for options in (["--pipes"], ["--pipes", "--preset", "build", "--root", path]):
        run = t.exec(t.child if len(options) == 1 else "/usr/bin/pwd", *["cwd"][:2 - len(options)],
                     options=options, cwd=path, expect=None)
        t.code(run, 0, 2, 12)
        if run.code == 0:
            t.same(run.out.rstrip(b"\n"), path, run)
        else:
            t.same(run.out, b"", run)


@case("a working root with a path of 3,900 bytes: works, or is refused before anything runs")
def _(t):
    path = os.path.join(t.work, *["d" * 199] * 19)
    os.makedirs(path)
    for parent, names, _ in os.walk(t.work):
        for name in names:
            t.own(os.path.join(parent, name))
    run = t.exec(t.child, "mark", "m", policy=t.policy(write=[path], cwd=path), expect=None)
    t.code(run, 0, 2)
    t.same(os.listdir(path), ["m"] if run.code == 0 else [])


@case("roots outside /tmp appear at their own path")
def _(t):
    parent = os.path.join("/var/tmp", os.path.basename(t.top))
    os.mkdir(parent)
    try:
        t.own(parent)
        path = os.path.join(parent, "root")
        os.mkdir(path)
        t.own(path)
        t.exec(t.child, "mark", path + "/m", policy=t.policy(write=[path]))
        t.same(os.listdir(path), ["m"])
        run = t.exec("/usr/bin/ls", "/var/tmp", policy=t.policy(write=[path], execs=["/usr/bin/ls"]),
                     options=["--pipes"])
        t.same(run.out, os.path.basename(parent).encode() + b"\n", run)
    finally:
        for top, _, files in os.walk(parent, topdown=False):
            for name in files:
                os.unlink(os.path.join(top, name))
            os.rmdir(top)


def try_marks(t, policy, tries):
    """Tries each (path, expected to be writable), checked from outside."""
    for path, may in tries:
        run = t.exec(t.child, "mark", path, policy=policy, expect=None)
        t.code(run, 0 if may else 6)
        t.same(os.path.exists(path), may, f"{path} with {open(policy, encoding='utf-8').read()}")
        if may:
            os.unlink(path)
            run = t.exec(t.child, "show", os.path.join(os.path.dirname(path), "seen"), policy=policy)


def nest(t):
    """work/a, work/a/b, work/a/b/c, each with a file to read."""
    path = t.work
    for name in "abc":
        path = os.path.join(path, name)
        os.mkdir(path)
        t.own(path)
        t.own(t.file(os.path.relpath(os.path.join(path, "seen"), t.work), "x"))
    return [os.path.join(t.work, *"abc"[:n]) for n in (1, 2, 3)]


@case("a read root inside a write root: the most specific wins")
def _(t):
    a, b, c = nest(t)
    for write in ([a], [a, c], [c, a]):
        policy = t.policy(read=[b], write=write)
        try_marks(t, policy, [(a + "/x", True), (b + "/x", False), (c + "/x", c in write)])


@case("a write root inside a read root: the most specific wins")
def _(t):
    a, b, c = nest(t)
    for read in ([a], [a, c], [c, a]):
        policy = t.policy(read=read, write=[b])
        try_marks(t, policy, [(a + "/x", False), (b + "/x", True), (c + "/x", c not in read)])


@case("the same root for reading and writing, given twice and with a slash, is writable")
def _(t):
    a = nest(t)[0]
    try_marks(t, t.policy(read=[a, a + "/"], write=[a + "/", a]), [(a + "/x", True)])


@case("single files as roots")
def _(t):
    secret, read, write = t.file("secret", "s"), t.file("read", "r"), t.file("write", "w")
    policy = t.policy(read=[read], write=[write])
    t.same(t.exec(t.child, "show", read, policy=policy, options=["--pipes"]).out, b"r")
    t.exec(t.child, "show", secret, policy=policy, expect=6)
    t.exec(t.child, "fill", read, "1", policy=policy, expect=6)
    t.exec(t.child, "fill", write, "1", policy=policy)
    t.same((open(read, "rb").read(1), os.path.getsize(read)), (b"r", 1))
    t.true(os.path.getsize(write) > 1, "the file to write is not written")


@case("a symlink as a root: its target is allowed")
def _(t):
    real = t.directory("real")
    link = os.path.join(t.top, "link")
    os.symlink(real, link)
    t.exec(t.child, "mark", real + "/m", policy=t.policy(write=[link]))
    t.same(os.listdir(real), ["m"])


@case("500 roots at once")
def _(t):
    roots = []
    for i in range(500):
        roots.append(os.path.join(t.work, f"r{i}"))
        os.mkdir(roots[-1])
        t.own(roots[-1])
    t.exec(t.child, "mark", roots[123] + "/m", policy=t.policy(read=roots[::2], write=roots[1::2]))
    t.same(os.listdir(roots[123]), ["m"])


@case("files made inside belong to the caller outside, and modes are kept")
def _(t):
    bash(t, "umask 027; touch f; mkdir d; chmod 751 f")
    uid = t.uid if t.uid is not None else os.getuid()
    for name, mode in (("f", 0o100751), ("d", 0o040750)):
        stat = os.stat(os.path.join(t.work, name))
        t.same((stat.st_uid, stat.st_gid, oct(stat.st_mode)), (uid, uid, oct(mode)), name)


@case("the environment is exactly that of the policy")
def _(t):
    run = t.exec("/usr/bin/env", options=["--pipes"], policy=t.policy(
        execs=["/usr/bin/env"],
        env={"inherit": True, "allowlist": ["PASSED", "MISSING"], "set": {"GIVEN": "a=b\nc"}}),
        env={**t.env, "PASSED": "yes"})
    names = {line.partition(b"=")[0] for line in run.out.split(b"\n") if b"=" in line}
    t.true({b"PASSED", b"GIVEN"} <= names and b"GIVEN=a=b\nc\n" in run.out, run)
    t.true(b"LANG=C.UTF-8\n" in run.out and b"TERM=xterm-256color\n" in run.out, run)
    t.true(not names & {b"CORDON_TEST_SECRET", b"COLUMNS", b"LINES", b"MISSING"}, run)


# On a terminal --------------------------------------------------------------------------------------

CURSES = """
import curses
def show(w):
    curses.curs_set(0); w.timeout(50)  # a signal just before it reads would be seen with the next key
    while True:
        w.clear(); w.addstr(1, 2, 'size %dx%d' % w.getmaxyx()); w.refresh()
        k = w.getch()
        if k == ord('q'): return
        if k not in (-1, curses.KEY_RESIZE): w.addstr(2, 2, 'key %d' % k); w.refresh()
curses.wrapper(show)
print('after')
"""


@case("a curses program draws, sees keys and a new size")
def _(t):
    t.file("c.py", CURSES)
    argv = t.command(PRESET_PYTHON, "c.py", options=["--preset", "python", "--root", t.work])
    with Console(t, argv) as c:
        c.expect(b"size 24x80")
        c.send(b"\x1bOA")
        c.expect(b"key 259")
        c.resize(31, 97)
        c.expect(b"31x97")
        c.resize(10, 40)
        c.expect(b"10x40")
        c.send(b"q")
        c.expect(b"after\r\n")
        t.same(c.finish(), 0)


@case("job control: a shell stops, resumes and interrupts its jobs")
def _(t):
    job = os.path.join(t.work, "job")
    shutil.copy(t.child, job)
    t.own(job)
    argv = t.command(BASH, "--norc", "--noediting", "-i", options=["--preset", "build", "--root", t.work])
    with Console(t, argv) as c:
        c.send(b"PS1='>''>'\n")
        before = c.expect(rb"^(.*)>>").group(1)
        t.true(b"job control" not in before, f"no job control: {before}")
        c.send(b"./job pause\n")
        c.expect(b"ready\r\n")  # so it is in the foreground
        c.send(b"\x1a")
        c.expect(rb"Stopped +./job pause.*>>")
        t.true(c.is_running(), "cordon itself was stopped")
        c.send(b"jobs\n")
        c.expect(rb"\[1\]\+ +Stopped.*>>")
        c.send(b"fg\n")
        c.expect(b"again\r\n")  # it has the terminal
        c.send(b"\x03")
        c.expect(rb">>")
        c.send(b"echo code $?\n")
        c.expect(rb"code 130\r\n")
        c.send(b"./job lock l & kill %1; wait; echo waited\n")
        c.expect(rb"\nwaited\r\n|Terminated.*waited\r\n")
        c.send(b"exit 0\n")
        t.same(c.finish(), 0)


@case("tty, ttyname and /dev/tty refer to the sandbox's terminal")
def _(t):
    argv = t.command(t.child, "tty", policy=t.policy())
    with Console(t, argv) as c:
        name = c.expect(rb"(/dev/[a-z0-9/]+)\r\n").group(1)
        t.same(c.finish(), 0)
    t.true(name == b"/dev/console" or name.startswith(b"/dev/pts/"), name)
    run = t.exec("/usr/bin/tty", policy=t.policy(execs=["/usr/bin/tty"]), options=["--pipes"], expect=6)
    t.same(run.out, b"not a tty\n")


@case("sandbox: landlock: the program's terminal has a name, can be opened by it and by /dev/tty")
def _(t):
    for options in ((), ("--pty",)):
        policy = t.policy(sandbox="landlock", sandbox_unsafe_ack=True)
        with Console(t, t.command(t.child, "tty", policy=policy, options=options)) as c:
            own = os.fsencode(os.ttyname(c.slave))
            t.true(c.expect(rb"(/dev/pts/[0-9]+)\r\n").group(1) != own, "it is the caller's own terminal")
            t.same(c.finish(), 0)


@case("--pty without a terminal: a separate session, a size, and ps sees only the sandbox")
def _(t):
    run = bash(t, "stty -F /dev/tty size; tty <&1; ps -e -o comm=; true", options=["--pty"])
    lines = run.out.replace(b"\r", b"").split(b"\n")
    t.same(lines[0], b"24 80", run)
    t.true(lines[1].startswith(b"/dev/"), run)
    t.true({b"bash", b"ps"} <= set(lines[2:]) <= {b"bash", b"ps", b"cordon-init", b""}, run)


@case("a script without its interpreter: the remedy is a policy of your own, or a preset", who="root")
def _(t):
    script = t.file("x", "#!/nope/sh\n")
    os.chmod(script, 0o755)
    if sanitized():  # after a failed exec the sanitizer needs more memory than the limits allow
        return
    for options, want in ((("--preset", "test"), b"allowed: use a policy of your own"), ((), b"allowed: use --preset build")):
        run = t.run([t.cordon, "exec", *options, "--", script], cwd=t.work)
        t.code(run, 10)
        t.true(want in run.err, run)


# A list of hosts ---------------------------------------------------------------------------------------

# argv: the proxy's answer to a request for each target, or what a direct connection brings. One line each.
ASK = r"""
import os, socket, sys
port = int(os.environ["HTTP_PROXY"].rsplit(":", 1)[1])
def talk(target):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        first = s.recv(4096).split(b"\r\n")[0].decode()
        if " 200 " not in first: return first
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return s.makefile("rb").read().splitlines()[-1].decode()
def direct(target):
    host, port = target.rsplit(":", 1)
    try:
        with socket.create_connection((host, int(port)), timeout=5) as s: return "connected"
    except OSError as e: return type(e).__name__
def name(host):
    try: return "resolved " + socket.getaddrinfo(host, 80)[0][4][0]
    except OSError as e: return type(e).__name__
def datagram(target):
    host, port = target.rsplit(":", 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect((host, int(port)))
            s.send(b"x")
            s.settimeout(1)
            s.recv(1)
            return "answered"
        except OSError as e: return type(e).__name__
for word in sys.argv[1:]:
    how, target = word.split("=", 1)
    print(word, "->", {"talk": talk, "direct": direct, "name": name, "datagram": datagram}[how](target))
"""


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"from the host\n")

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass


@contextlib.contextmanager
def web_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@case("--allow-host: the proxy reaches that host and port; others, other ways and DNS do not; refusals are said")
def _(t):
    t.file("ask.py", ASK)
    with web_server() as port, web_server() as other:
        asks = [f"talk=127.0.0.1:{port}", f"talk=127.0.0.1:{other}", "talk=192.0.2.1:443", f"talk=localhost:{port}",
                "talk=169.254.169.254:80", f"direct=127.0.0.1:{port}", "direct=192.0.2.1:443", "name=host.invalid",
                f"datagram=127.0.0.1:{port}"]
        outside = t.run([PRESET_PYTHON, "ask.py", f"direct=127.0.0.1:{port}"], env={**t.env, "HTTP_PROXY": "x:1"})
        t.true(outside.out.endswith(b"-> connected\n"), outside)
        run = t.exec(PRESET_PYTHON, "ask.py", *asks, options=["--allow-host", f"127.0.0.1:{port}", "--json"])
        lines = run.result["final_observation"]["transcript_delta"].split("\r\n")[:-1]
        refused = "HTTP/1.1 403 Refused by cordon"
        want = ["from the host", refused, refused, refused, refused, "ConnectionRefusedError", "OSError", "gaierror",
                "ConnectionRefusedError"]
        t.same([line.split(" -> ", 1)[1] for line in lines], want, lines)
        hosts = [(d["op"], d["target"], d["fix"]) for d in run.result["denied"] if d["op"] == "host"]
        t.same(hosts[0], ("host", f"127.0.0.1:{other}", f"--allow-host 127.0.0.1:{other}"), hosts)
        t.true(any(d[1].startswith("169.254.169.254") for d in hosts), hosts)
        t.same(run.result["policy"]["allowed_hosts"], [f"127.0.0.1:{port}"])
        plain = t.exec(PRESET_PYTHON, "ask.py", *asks[:2], options=["--allow-host", f"127.0.0.1:{port}", "--pipes"])
        t.true(f"denied: host 127.0.0.1:{other}".encode() in plain.err, plain)


@case("--allow-host for tools: both calls of a session, and a single call")
def _(t):
    t.file("ask.py", ASK)
    with web_server() as port, web_server() as other:
        asks = [f"talk=127.0.0.1:{port}", f"talk=127.0.0.1:{other}", f"direct=127.0.0.1:{port}"]
        command = " ".join([PRESET_PYTHON, "ask.py", *asks])
        call = json.dumps({"name": "shell", "arguments": {"command": command}})
        argv = [t.cordon, "tool", "--serve", "--allow-host", f"127.0.0.1:{port}"]
        run = t.run(argv, data=(call + "\n" + call + "\n").encode())
        want = ["from the host", "HTTP/1.1 403 Refused by cordon", "ConnectionRefusedError"]
        results = [json.loads(line) for line in run.out.splitlines()]
        t.same([[line.split(" -> ", 1)[1] for line in r["content"].splitlines()] for r in results], [want, want], run)
        one = t.run([t.cordon, "tool", "shell", "--allow-host", f"127.0.0.1:{port}", "--arg", f"command={command}"])
        t.same([line.split(" -> ", 1)[1] for line in one.out.decode().splitlines()], want, one)
    shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


@case("--allow-host: no process is left, and nothing listens outside")
def _(t):
    t.file("ask.py", ASK)
    run = t.exec(PRESET_PYTHON, "-c", "import os; print(os.environ['HTTP_PROXY'])", options=["--allow-host", "host.invalid", "--pipes"])
    port = int(run.out.decode().strip().rsplit(":", 1)[1])
    with socket.socket() as s:
        t.true(s.connect_ex(("127.0.0.1", port)) != 0, "something listens on the proxy's port of the host")
    held = t.start([t.cordon, "exec", "--allow-host", "host.invalid", "--pipes", "--", "/usr/bin/cat"], stdin=subprocess.PIPE)
    held.stdin.write(b"ready\n")
    held.stdin.flush()
    t.same(held.stdout.readline(), b"ready\n")
    children = proxies(held.pid)
    t.same(len(children), 1, "proxies")
    held.kill()
    t.killed = True  # the harness waits for its processes


def proxies(pid):
    found = []
    for one in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{one}/stat", encoding="ascii", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        if "(cordon-proxy)" in text and text.rsplit(") ", 1)[1].split()[1] == str(pid):
            found.append(int(one))
    return found


# Without a policy: tests/cli/first.t has more ----------------------------------------------------------

FIRST = (
    (("make",), b"made by Linux\n"),
    (("python3", "x.py"), b"ls\n"),
    (("./x.py",), b"ls\n"),
    (("bash", "-c", "./own | cat"), b"own\n"),
    (("git", "log", "--format=%s"), b"first\n"),
)


@case("without a policy: make, python3, a script, a shell and git find what they need, and write nothing")
def _(t):
    t.file("Makefile", "all:\n\t@echo made by $$(uname)\n")
    t.file("own", "#!/bin/sh\necho own\n")
    t.file("x.py", "#!/usr/bin/env python3\nimport os\n"
                   "print('ls' if os.path.exists('/usr/bin/ls') else 'no ls')\n")
    for name in ("own", "x.py"):
        os.chmod(os.path.join(t.work, name), 0o755)
    for args in (["init", "-q"], ["add", "x.py"],
                 ["-c", "user.email=a@example.com", "-c", "user.name=A", "commit", "-qm", "first"]):
        t.code(t.run(["/usr/bin/git", "-C", t.work, *args]), 0)
    for command, want in FIRST:
        # The system's own Python: a version manager's shims are tests/cli/first.t's.
        run = t.exec(*command, env={**t.env, "PATH": "/usr/bin:/bin"})
        t.same(run.out, want, run)
    run = t.exec("bash", "-c", "touch new", expect=6)
    t.true(not os.path.exists(os.path.join(t.work, "new")), run)


sys.exit(main())
