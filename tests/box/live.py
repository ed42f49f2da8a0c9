#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Running boxes: start, attach, input, `exec`, stop and kill.

The cases are those of tests/harness.py, and the terminals those of tests/tui. A box's agent is a row of the
user's settings that points to a small script in the project.
"""
import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, ".."), os.path.join(HERE, "..", "sandbox"), os.path.join(HERE, "..", "tui")]
from console import EXPECT_S  # noqa: E402 pylint: disable=wrong-import-position
from harness import PRESET_PYTHON, TIMEOUT_S, Failed, case, children, main, sanitized  # noqa: E402 pylint: disable=wrong-import-position
from running import OURS, Boxes, row, until  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position

KEY = "sk-test-0123456789abcdef"
AT_ONCE = 20
F_OFD_GETLK = 36  # of <fcntl.h>; not in every version of the module

# A program that accepts prompts as one with its own line editor does; it writes its input to a file.
EDITOR = r'''
import os, select, sys, termios, tty
paste = "paste" in sys.argv
mute = "mute" in sys.argv
if "slow" in sys.argv:
    print("loading", flush=True)
    while not os.path.exists("go"):
        import time; time.sleep(0.01)
tty.setraw(0)
def ask(patience):
    sys.stdout.write("\x1b[?1049h\x1b[2J\x1b[H> 1. Trust this directory\r\n")
    sys.stdout.flush()
    if not select.select([0], [], [], patience)[0]:
        sys.stdout.write("no answer comes")
        sys.stdout.flush()
    answer = os.read(0, 4096)
    with open("answer", "ab") as f:
        f.write(answer)
    sys.stdout.write("\x1b[?1049l")
if "asks" in sys.argv:
    ask(1)
sys.stdout.write(("\x1b[?2004h" if paste else "") + "READY> ")
sys.stdout.flush()
if "covers" in sys.argv or "amid" in sys.argv:
    select.select([], [], [], 1.5 if "amid" in sys.argv else 0.3)
    ask(2)
    sys.stdout.flush()
got = b""
while not got.endswith(b"\r\r"):
    part = os.read(0, 4096)
    got += part
    if "late" in sys.argv and part != b"\r":
        os.write(1, part)
        ask(7)
        sys.stdout.flush()
    elif not mute:
        os.write(1, part.replace(b"\r", b"").replace(b"\n", b" ").replace(b"\x1b", b""))
with open("got.tmp", "wb") as f:
    f.write(got)
os.rename("got.tmp", "got")
sys.stdout.write("\r\nWORKING\r\n")
sys.stdout.flush()
while os.read(0, 100) != b"q":
    pass
'''

# A client that attaches and never reads the output.
DEAF = r'''
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.send(struct.pack("IIHH", 1, 1, 24, 80))
print("on", flush=True)
sys.stdin.read()
'''

PROMPT = r"[#$]$"  # of a shell, as /etc/bash.bashrc sets it or as it is without


# Holds descriptors in flight until its input ends.
FLIGHT = r'''
import array, os, socket, sys
fds = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 250)
pairs = []
for _ in range(5):
    pairs.append(socket.socketpair())
    pairs[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
print("held", flush=True)
sys.stdin.read()
'''


def is_held(path):
    """Returns whether a process holds the lock of a running box."""
    try:
        with open(path, "rb+") as f:
            asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
            return struct.unpack("hhqqi4x", fcntl.fcntl(f, F_OFD_GETLK, asked))[0] != fcntl.F_UNLCK
    except FileNotFoundError:
        return False


def reap_orphan():
    """Reaps the process between a killed command and a supervisor, which is now our child."""
    mine = [(pid, state) for pid, state, name in children() if name == b"(cordon)"]
    for pid, state in mine:
        if state == "Z":
            os.waitpid(pid, 0)
    return not mine


# Commands ---------------------------------------------------------------------------------------------

@case("exec: works in a stopped box, with exit status, directory and streams")
def _(t):
    with Boxes(t) as b:
        t.file("a", "hello\n")
        b.new("b", "--no-start")
        t.same(b.exec("cat", "a").out, b"hello\n")
        run = b.exec("sh", "-c", "pwd; echo wrong >&2; exit 7", expect=7)
        t.same((run.out, run.err), (t.work.encode() + b"\n", b"wrong\n"))
        b.exec("sh", "-c", "kill -9 $$", expect=137)
        b.exec("sh", "-c", "kill -TERM $$", expect=143)
        b.exec("./none", expect=18)
        t.true(b"'nosuch' is not installed" in b.exec("nosuch", expect=18).err, "no words for it")
        t.same(b("list").out.split(b"\n")[1].split()[1], b"stopped")


@case("exec: tells what was denied to a command that failed, and show keeps the list")
def _(t):
    secret = os.path.join(t.directory("other"), "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("x")
    os.chmod(secret, 0o644)
    t.code(t.run(["/usr/bin/cat", secret]), 0)
    with Boxes(t) as b:
        b.new("b", "--no-start")
        run = b.exec("cat", secret, expect=1)
        fix = f"Allow: cordon box new \u2026 --dir {os.path.dirname(secret)}\n"
        t.true(f"denied: read {secret} (not in the policy). {fix}".encode() in run.err, run)
        t.same(b.exec("sh", "-c", f"cat {secret} 2>/dev/null; true").err, b"")
        t.same(b.exec("sh", "-c", "exit 3", expect=3).err, b"")
        shown = json.loads(b("show", "b", "--json").out)["denied"]
        t.same([(e["op"], e["target"], e["program"]) for e in shown], [("read", secret, os.path.realpath("/usr/bin/cat"))])
        t.true(b"denied      read " in b("show", "b").out, "not in the text")
        t.same(b("exec", "--no-denials", "b", "cat", secret, expect=1).err.count(b"denied:"), 0)
        b.new("b", "--no-start", "--replace", "--no-denials", "--dir", os.path.dirname(secret))
        t.same(b.exec("cat", secret).out, b"x")


@case("start --no-denials: nothing is collected")
def _(t):
    secret = os.path.join(t.directory("other"), "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("x")
    with Boxes(t) as b:
        b.new("b", "--no-start")
        b("start", "b", "--no-denials")
        t.same(b.exec("cat", secret, expect=1).err.count(b"denied:"), 0)
        b("stop", "b")
        t.same(json.loads(b("show", "b", "--json").out)["denied"], [])


@case("exec: binary data passes in both directions, and so does end of file")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        data = os.urandom(1 << 20)
        t.same(b.exec("cat", data=data).out == data, True, "bytes were changed")
        t.same(b.exec("sh", "-c", "cat >/dev/null; echo end", data=b"x" * 100000).out, b"end\n")
        t.same(b.exec("sh", "-c", "head -c 1", data=data).out, data[:1])
        t.same(len(b.exec("head", "-c", "3000000", "/dev/zero").out), 3000000)


@case("exec: arguments after the name belong to the command")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        t.same(b.exec("echo", "--json", "-h", "--", "--help").out, b"--json -h -- --help\n")
        b("exec", "b", expect=12)
        b("exec", "none", "true", expect=18)
        t.true(b"name is empty" in b("exec", "b", "", expect=12).err, "not that there is no command")
        t.same(b.exec("--", "echo", "--").out, b"--\n")
        b.exec("--", "nosuch", expect=18)


@case("exec: a command gets SIGPIPE if its output or errors are not read")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        for stream in ("stdout", "stderr"):
            command = [t.cordon, "box", "exec", "b", "sh", "-c", f"yes >&{1 if stream == 'stdout' else 2}"]
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            run = t.start(command, **{**streams, stream: subprocess.PIPE})
            pipe = getattr(run, stream)
            pipe.read(2)
            pipe.close()
            t.same((stream, run.wait(TIMEOUT_S)), (stream, 141))


def waits(t, b, process):
    """Waits until an `exec` has opened the box and watches for signals."""
    def has_opened():
        t.true(process.poll() is None, "it did not wait")
        fds = f"/proc/{process.pid}/fd"
        with contextlib.suppress(OSError):
            opened = [os.readlink(os.path.join(fds, fd)) for fd in os.listdir(fds)]
            return b.host() in opened and "anon_inode:[signalfd]" in opened
        return False
    until(has_opened, "it never opened the box")


@case("exec: while another command uses the box it waits, can be interrupted, and notices that the box is gone")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        sandboxes = os.path.join(t.env["CORDON_HOME"], "sandboxes")
        with open(os.path.join(sandboxes, ".locks", "b"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            run = t.start([t.cordon, "box", "exec", "b", "true"])
            waits(t, b, run)
            run.send_signal(signal.SIGINT)
            t.code(t.finish(run), 130)
            run = t.start([t.cordon, "box", "exec", "b", "true"])
            waits(t, b, run)
            os.rename(os.path.join(sandboxes, "b"), os.path.join(sandboxes, ".trash", "b"))
        t.code(t.finish(run), 18)


@case("reset, destroy: work on a box whose supervisor has just started")
def _(t):
    with Boxes(t) as b:
        b.new("b")
        for last in (["reset", "b", "--yes"], ["destroy", "b", "--yes"]):
            b("stop", "b")
            start = t.start([t.cordon, "box", "start", "b"], stderr=subprocess.DEVNULL)
            until(lambda: is_held(b.host("running")), "it never began")
            start.kill()
            start.wait()
            until(reap_orphan, "what it had begun with goes on")
            b(*last)


@case("a killed apply is finished or undone by the next command; doctor reports and fixes it")
def _(t):
    names = [f"f{i}" for i in range(300)]
    rounds = iter(range(1, 1000))
    for name in names:
        t.file(name, "0\n")

    def contents():
        """The distinct contents of the files: only one if no apply is half done."""
        texts = set()
        for name in names:
            with open(os.path.join(t.work, name), encoding="utf-8") as f:
                texts.add(f.read())
        return texts

    def cut_off(b):
        for _ in range(50):
            now = next(rounds)
            b.new("b", "--no-start", "--replace", "--abandon-unapplied")
            b.exec("sh", "-c", f"for i in $(seq 0 299); do echo {now} > f$i; done")
            before = os.stat(os.path.join(t.work, "f1")).st_ino
            apply = t.start([t.cordon, "box", "apply", "b", "--yes"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while apply.poll() is None and os.stat(os.path.join(t.work, "f1")).st_ino == before:
                pass
            apply.kill()
            apply.wait()
            if len(contents()) == 2:
                return
        raise Failed("no apply was cut off")

    def changes(b):
        return next(c["status"] for c in b.json("doctor")["checks"] if c["name"] == "changes")

    with Boxes(t) as b:
        for fix in (["doctor", "--fix"], ["diff", "b"], ["reset", "b", "--yes", "--abandon-unapplied"],
                    ["new", "c", t.work, "--agent", "test", "--yes", "--no-start"],
                    ["destroy", "b", "--yes", "--abandon-unapplied"]):
            cut_off(b)
            t.same(changes(b), "left over")
            b(*fix)
            t.same((fix, len(contents())), (fix, 1), "the project is half done")
        t.same(changes(b), "ok")


@case("exec: many at once in a stopped and in a running box")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        for _ in range(2):
            runs = [t.start([t.cordon, "box", "exec", "b", "sh", "-c", f"echo {i}; exit {i}"]) for i in range(AT_ONCE)]
            for i, process in enumerate(runs):
                run = t.finish(process)
                t.same((run.code, run.out), (i, b"%d\n" % i), run)
            if not os.path.exists(b.host("socket")):
                b("start", "b")


@case("exec: in a running box it sees the agent and its changes")
def _(t):
    with Boxes(t) as b:
        b.new("b", agent="test")
        b.exec("sh", "-c", "echo made > made")
        t.same(b.exec("cat", "made").out, b"made\n")
        t.true(b"bash" in b.exec("sh", "-c", "cat /proc/*/comm").out, "the agent is not there")
        t.true(not os.path.exists(os.path.join(t.work, "made")), "the project was changed")


@case("exec: has its own terminal, with size, keys and hangup")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        with Screen(t, [t.cordon, "box", "exec", "b", "sh", "-c",
                        "trap 'stty size' WINCH; stty size; tty; read x; echo got $x; while :; do sleep 0.05; done"],
                    31, 77) as c:
            c.expect(b"31 77\r\n/dev/pts/")
            t.true(c.is_raw(), "the terminal is not raw")
            c.send(b"word\r")
            c.expect(b"got word")
            c.resize(20, 60)
            c.expect(b"20 60")
            c.send(b"\x03")
            t.same(c.finish(), 130)


@case("exec: signals are forwarded to the command")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        for number, name in ((signal.SIGTERM, "TERM"), (signal.SIGINT, "INT"), (signal.SIGHUP, "HUP")):
            script = f"trap 'echo got; exit 3' {name}; echo ready; while :; do sleep 0.02; done"
            process = t.start([t.cordon, "box", "exec", "b", "bash", "-c", script])
            t.until(process, b"ready\n")
            process.send_signal(number)
            run = t.finish(process)
            t.same((run.code, run.out), (3, b"got\n"), run)


@case("exec: a command whose client is killed also ends")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        process = t.start([t.cordon, "box", "exec", "b", "sh", "-c", "trap '' HUP TERM; echo ready; exec sleep 1000"])
        t.until(process, b"ready\n")
        process.kill()
        t.killed = True
        process.wait()
        b.reap()


@case("exec: processes that the command leaves behind do not delay it")
def _(t):
    with Boxes(t) as b:
        b.new("b")
        t.same(b.exec("sh", "-c", "sleep 1000 & echo done").out, b"done\n")


# Open files -------------------------------------------------------------------------------------------

def with_files(t, files, *args):
    return t.run(["prlimit", f"--nofile={files}", t.cordon, "box", *args])


@case("a low soft limit of open files is raised; with a low hard one nothing starts, and the error names the limit")
def _(t):
    with Boxes(t) as b:
        t.code(with_files(t, "256:4096", "new", "b", t.work, "--agent", "test", "--yes"), 0)
        t.same(b.exec("echo", "x").out, b"x\n")
        b("stop", "b")
        run = with_files(t, "200:200", "start", "b", "--json")
        t.same(run.error["code"], "E_IO", run)
        t.true("ulimit -n" in run.error["context"]["remedy"], run)


@case("a supervisor whose limit of open files is reduced ends its box", who="root")
def _(t):
    with Boxes(t) as b:
        b.new()
        for pid, _, name in children():
            if name == b"(cordon-box)":
                subprocess.run(["prlimit", f"--pid={pid}", "--nofile=100:100"], check=True)
        b("stop", "b")
        b.reap()


@case("descriptors in flight: a command that holds many makes others fail at once, with the reason", who="user")
def _(t):
    with Boxes(t) as b:
        t.code(with_files(t, "1024:1024", "new", "b", t.work, "--agent", "test", "--yes"), 0)
        argv = [t.cordon, "box", "exec", "b", "python3", "-c", FLIGHT]
        holder = t.start(argv, stdin=subprocess.PIPE)
        t.until(holder, b"held")
        for files in ("1024:1024", "4096:4096"):  # of the client; the supervisor has less in any case
            run = with_files(t, files, "exec", "b", "echo", "x")
            t.true(run.code == 10 and b"ulimit -n" in run.err and b"in flight (SCM_RIGHTS)" in run.err, run)
        t.code(t.finish(holder), 0)
        t.same(b.exec("echo", "x").out, b"x\n")


# Running ----------------------------------------------------------------------------------------------

@case("start and stop: each twice, then start again")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        b.exec("sh", "-c", "echo kept > kept")
        b("start", "b")
        t.same(b.json("start", "b", expect=19)["error"]["code"], "E_CONFLICT")
        t.same(b.json("list")["boxes"][0]["status"], "running")
        t.same(b.json("stop", "b")["status"], "stopped")
        t.same(b.json("stop", "b")["status"], "stopped")
        t.same(b.json("start", "b")["status"], "running")
        t.same(b.exec("cat", "kept").out, b"kept\n")
        b("start", "none", expect=18)


@case("stop: a process that ignores it is killed after the grace time")
def _(t):
    t.file("deaf.sh", "trap '' TERM HUP INT\necho deaf\nwhile :; do sleep 1000; done\n")
    with Boxes(t, row(command="bash deaf.sh")) as b:
        b.new(agent="own")
        until(lambda: b"deaf" in b("log", "b").out, "it did not begin")
        before = time.monotonic()
        b("stop", "b", "--grace", "1")
        t.true(time.monotonic() - before >= 1, "it was not given its time")
        t.same(b.state()["status"], "stopped")


@case("status is done or failed, by how the agent ended")
def _(t):
    t.file("end.sh", 'echo ends; exit "$1"\n')
    with Boxes(t, row("good", "bash end.sh 0"), row("bad", "bash end.sh 5"), row("shot", "bash -c 'kill -9 $$'")) as b:
        for name, want in (("good", ("done", 0, 0)), ("bad", ("failed", 5, 0)), ("shot", ("failed", -1, 9))):
            b.new(name, agent=name)
            b.until_status(want[0], name)
            until(lambda n=name: b.state(n)["status"] != "running", "no end")
            state = b.state(name)
            t.same((state["status"], state["exit_code"], state["signal"]), want)
            t.true(state["ended_at"] >= state["started_at"], state)


@case("idle: set by a pattern as soon as it is on the screen, and cleared")
def _(t):
    t.file("work.sh", 'while :; do printf "\\033[2J\\033[HWAITING"; read x; printf "\\033[2J\\033[HBUSY"; read x; done\n')
    with Boxes(t, row(command="bash work.sh", idle_pattern="WAITING$")) as b:
        b.new(agent="own")
        b.until_status("idle")
        with b.attach() as c:
            c.shows("WAITING")
            c.send(b"\r")
            c.shows("BUSY")
            b.until_status("running")
            c.send(b"\r")
            b.until_status("idle")
            c.send(b"\x1dd")
            t.same(c.finish(), 0)


@case("a killed supervisor leaves nothing running, and the box can be started again")
def _(t):
    with Boxes(t) as b:
        b.new()
        b.exec("sh", "-c", "echo kept > kept")
        with b.attach() as c:
            c.shows(PROMPT)
            ran = t.start([t.cordon, "box", "exec", "b", "sh", "-c", "echo ready; exec sleep 1000"])
            t.until(ran, b"ready\n")
            state = b.state()
            os.kill(state["pid"], signal.SIGKILL)
            t.killed = True
            t.same(c.finish(), 10)
        t.code(t.finish(ran), 6)
        b.reap()
        t.true(not os.path.exists(f"/proc/{state['first']}"), "the sandbox is still there")
        t.same(b.json("list")["boxes"][0]["status"], "stopped")
        b("start", "b")
        t.same(b.exec("cat", "kept").out, b"kept\n")
        t.same(b.state()["run"], 2)


@case("a supervisor may be killed repeatedly while it starts")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--no-start")
        for i in range(3 if sanitized() else 10):
            process = t.start([t.cordon, "box", "start", "b"])
            t.killed = True
            deadline = time.monotonic() + 0.002 * i
            while time.monotonic() < deadline:
                pass
            for pid, _, name in children():
                if name == b"(cordon-box)":
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            process.wait(TIMEOUT_S)
            b("stop", "b")
        b("start", "b")
        t.same(b.exec("echo", "there").out, b"there\n")


@case("SIGTERM to the supervisor shuts the box down cleanly")
def _(t):
    with Boxes(t) as b:
        b.new()
        os.kill(b.state()["pid"], signal.SIGTERM)
        b.reap()
        t.same(b.state()["status"], "stopped")
        t.true(os.path.exists(b.host("runs", "1", "run.json")), "there is no run.json")


# Attached ---------------------------------------------------------------------------------------------

@case("attach: shows the screen, sends keys, detaches, and attaches again")
def _(t):
    with Boxes(t) as b:
        b.new()
        with b.attach() as c:
            c.shows("box b .*Ctrl-] d detaches")
            c.send(b"PS1=; clear; echo one $((1+1)) three\r")
            c.shows("^one 2 three$")
            c.send(b"\x1d")
            c.shows("d detach")
            c.send(b"d")
            t.same(c.finish(), 0)
        with b.attach() as c:
            c.shows("^one 2 three$")
            c.send(b"exit\r")
            t.same(c.finish(), 0)
            t.true(b"the agent has ended: done" in c.all, c.all[-300:])
        b("attach", "b", expect=12)
        with b.attach() as c:
            t.same(c.finish(), 18)


@case("attach: two terminals of different sizes; the box has the size of the one that typed last")
def _(t):
    with Boxes(t) as b:
        b.new()
        with b.attach(24, 80) as one, b.attach(10, 40) as two:
            one.shows(PROMPT)
            two.send(b"PS1=; clear; stty size\r")
            two.shows("^10 40$")
            one.shows("^10 40$")
            one.send(b"clear; stty size\r")
            one.shows("^24 80$")
            two.shows("^24 80$")
            one.resize(30, 100)
            one.send(b"clear; stty size\r")
            one.shows("^30 100$")
            two.send(b"\x1dd")
            t.same(two.finish(), 0)
            one.send(b"echo still\r")
            one.shows("^still$")
            one.send(b"\x1dd")
            t.same(one.finish(), 0)


@case("attach: Ctrl-] twice sends one; other keys are encoded as the program wants them")
def _(t):
    t.file("keys.py", "import os,tty\ntty.setraw(0)\nos.write(1,b'\\x1b[?1hREADY')\n"
           "while True:\n  k=os.read(0,99)\n  os.write(1,b'\\r\\n<'+repr(k).encode()+b'>')\n")
    with Boxes(t, row(command="python3 keys.py")) as b:
        b.new(agent="own")
        with b.attach() as c:
            c.shows("READY")
            for keys, want in ((b"\x1d\x1d", r"<b'\\x1d'>"), (b"\x1b[A", r"<b'\\x1bOA'>"), (b"\xc3\xa9", r"<b'\\xc3\\xa9'>"),
                               (b"\x03", r"<b'\\x03'>"), (b"\x1b[200~a\nb\x1b[201~", r"<b'a\\rb'>")):
                c.send(keys)
                c.shows(want)
            c.send(b"\x1dd")
            t.same(c.finish(), 0)


@case("attach: scrolls back and returns")
def _(t):
    with Boxes(t) as b:
        b.new()
        with b.attach(12, 60) as c:
            c.shows(PROMPT)
            c.send(b"PS1='$ '; clear; seq 1 200; echo end\r")
            c.shows("^end$")
            c.send(b"\x1d[")
            c.shows("lines back")
            c.send(b"\x1b[5~")
            c.shows("^185$")
            c.send(b"g")
            c.shows("^3$")
            c.send(b"q")
            c.shows("^end$")
            c.send(b"echo typed\r")
            c.shows("^typed$")
            c.send(b"\x1dd")
            t.same(c.finish(), 0)


@case("attach: a signal or a closed window leaves the box running")
def _(t):
    with Boxes(t) as b:
        b.new()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with b.attach() as c:
                c.shows(PROMPT)
                c.kill(number)
                t.same(c.finish(), 0)
        with b.attach() as c:
            c.shows(PROMPT)
            c.hang_up()
            c.event("end", read=False)
        t.same(b.json("list")["boxes"][0]["status"] in ("running", "idle"), True)


@case("attach: a client that does not read does not block others")
def _(t):
    t.file("flood.sh", "while [ ! -e go ]; do sleep 0.02; done\nseq 1 300000\ntouch over\nexec sleep 1000\n")
    with Boxes(t, row(command="bash flood.sh")) as b:
        b.new(agent="own")
        deaf = t.start([PRESET_PYTHON, "-c", DEAF, b.host("socket")], stdin=subprocess.PIPE)
        t.until(deaf, b"on\n")
        with b.attach() as blind, b.attach() as c:
            c.shows("box b")
            b.exec("touch", "go")
            c.shows("^300000$")
            b.exec("test", "-e", "over")
            c.send(b"\x1dd")
            t.same(c.finish(), 0)
            blind.shows("^300000$")
            blind.send(b"\x1dd")
            t.same(blind.finish(), 0)
        t.code(t.finish(deaf, b""), 0)


@case("only its own user can connect to a box's supervisor", who="user")
def _(t):
    with Boxes(t) as b:
        b.new()
        if os.getuid() != 0:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(EXPECT_S)
            s.connect(b.host("socket"))
            t.same(s.recv(100), b"")


LINK_WORDS, LINK_EXEC, LINK_SIGNAL, LINK_EXITED = 8, 9, 10, 17


def packet(word, body):
    """Returns a packet for the supervisor."""
    return struct.pack("II", 1, word) + body


@case("exec: a signal before the command is started reaches it", who="root")
def _(t):
    with Boxes(t) as b:
        b.new()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(EXPECT_S)
            s.connect(b.host("socket"))
            # Not in the first directory of PATH, so that starting takes several attempts.
            s.send(packet(LINK_WORDS, b"sleep\0001000\0"))
            s.send(packet(LINK_EXEC, struct.pack("HHI", 24, 80, 1)))
            s.send(packet(LINK_SIGNAL, struct.pack("I", signal.SIGTERM)))
            got, fds = b"", []
            while got[4:8] != struct.pack("I", LINK_EXITED):
                got, new, _, _ = socket.recv_fds(s, 65536, 4)
                fds += new  # the terminal stays open, so that its end is not the end of the command
                t.true(got, "the supervisor closed the connection")
            for fd in fds:
                os.close(fd)
            t.same(os.WTERMSIG(struct.unpack("i", got[8:12])[0]), signal.SIGTERM)


@case("attach: escape sequences of the program do not reach the terminal")
def _(t):
    t.file("evil.sh", "printf '\\033]52;c;aGk=\\007\\033]0;title\\007\\033[c\\033P+q\\033\\\\\\033[?1049h\\033[21tEVIL'; exec sleep 1000\n")
    with Boxes(t, row(command="bash evil.sh")) as b:
        b.new(agent="own")
        with b.attach() as c:
            c.shows("EVIL")
            c.send(b"\x1dd")
            t.same(c.finish(), 0)
            for bad in (b"\033]", b"\033P", b"\033[c", b"\033[21t", b"aGk"):
                t.true(bad not in c.all, f"{bad!r} reached the terminal")


# Prompts ----------------------------------------------------------------------------------------------

def editor(t, *words, **more):
    t.file("editor.py", EDITOR)
    return row(command=" ".join(["python3 editor.py", *words]), submit_sequence="Enter Enter", **more)


def got(b):
    def read():
        run = b.exec("cat", "got", expect=None)
        return run.out if run.code == 0 else None
    return until(read, "the prompt did not arrive")


@case("prompt: typed when the pattern appears, confirmed, and sent")
def _(t):
    with Boxes(t, editor(t, ready_pattern="^READY> $|^READY>")) as b:
        b.new("b", "--prompt", "fix the bug", agent="own")
        t.same(got(b), b"fix the bug\r\r")
        b.until_state(prompt="delivered")


@case("prompt: a program that starts slowly gets it when ready, not before")
def _(t):
    with Boxes(t, editor(t, "slow", ready_pattern="READY>", startup_delay_ms=1)) as b:
        b.new("b", "--prompt", "late", agent="own")
        until(lambda: b"loading" in b("log", "b").out, "it did not begin")
        t.same(b.state()["prompt"], "pending")
        b.exec("touch", "go")
        t.same(got(b), b"late\r\r")
        b.until_state(prompt="delivered")
        t.true(b"late" not in b("log", "b").out.split(b"READY")[0], "it was typed too early")


@case("prompt: a question is left to the user, before the pattern, over it, and over the prompt")
def _(t):
    ways = {"asks": "go on", "covers": "go on", "late": "go on", "amid": "go\non"}  # the last one waits for pastes
    with Boxes(t, *(dict(editor(t, way, ready_pattern="^READY>"), name=way) for way in ways)) as b:
        for way, text in ways.items():
            b.new(way, "--prompt", text, agent=way)
            with b.attach(name=way) as c:
                c.shows("Trust this directory\\nno answer comes")
                t.same(b.state(way)["prompt"], "pending")
                shown = b("show", way).out
                t.true(b"'cordon box attach' to see whether it asks" in shown, shown)
                c.send(b"y")
                until(lambda: b.exec("cat", "got", name=way, expect=None).out == b"go on\r\r", "the prompt did not arrive")
                until(lambda: b.state(way)["prompt"] == "delivered", "it is not delivered")
                t.same(b.exec("cat", "answer", name=way).out, b"y")
                c.send(b"\x1dd")
                t.same(c.finish(), 0)


@case("prompt: several lines are one paste, or one line if the program does not support pastes")
def _(t):
    text = "first line\nsecond \u00e9\n\nlast"
    with Boxes(t, editor(t, "paste", ready_pattern="READY>"), dict(editor(t, ready_pattern="READY>"), name="plain")) as b:
        b.new("b", "--prompt", text, agent="own")
        t.same(got(b), b"\x1b[200~first line\rsecond \xc3\xa9\r\rlast\x1b[201~\r\r")
        b.until_state(prompt="delivered")
        b("stop", "b")
        b.new("b", "--prompt", text, "--replace", "--abandon-unapplied", agent="plain")
        t.same(got(b), b"first line second \xc3\xa9  last\r\r")


@case("prompt: typed after the delay if there is no pattern; unconfirmed if it does not appear")
def _(t):
    with Boxes(t, editor(t, "mute", startup_delay_ms=100)) as b:
        b.new("b", "--prompt", "silent", agent="own")
        t.same(got(b), b"silent\r\r")
        b.until_state(prompt="unconfirmed")


@case("prompt: passed as an argument, with any contents; not at all with --no-prompt")
def _(t):
    with Boxes(t) as b:
        b.new("b", "--prompt", "printf '%s|' \"$0\" '$(id)' \"a b\"; echo")
        b.until_state(status="done", prompt="delivered")
        t.true(b"$(id)|a b|" in b("log", "b").out, b("log", "b"))
        b("start", "b", "--no-prompt")
        t.same(b.state()["prompt"], "none")


# Records ----------------------------------------------------------------------------------------------

@case("runs: the newest ten are kept, the running one is never deleted; doctor and prune report them")
def _(t):
    def runs():
        return sorted(int(n) for n in os.listdir(b.host("runs")))

    def told():
        return next((c["status"], c["detail"]) for c in b.json("doctor")["checks"] if c["name"] == "recordings")

    with Boxes(t, row(command="sleep 1000")) as b:
        b.new("b", agent="own")
        for n in range(2, 13):
            os.makedirs(b.host("runs", str(n), "deeper"))
            for name in ("transcript.log", "deeper/x"):
                with open(b.host("runs", str(n), name), "wb"):
                    pass
        os.symlink(t.work, b.host("runs", "13"))
        owner = os.stat(b.host("runs"))
        for base, dirs, files in os.walk(b.host("runs")):
            for name in dirs + files:
                os.lchown(os.path.join(base, name), owner.st_uid, owner.st_gid)
        t.file("stays", "x")
        t.same(told()[0], "left over")
        t.same(b.json("prune", "--yes", "--dry-run")["recordings"], 2)
        t.same(len(runs()), 13)
        t.same(b.json("prune", "--yes")["recordings"], 2)
        t.same(runs(), [1, *range(4, 14)], "the running one is 1")
        t.same(told(), ("ok", "at most 10 for each box"))
        b("stop", "b")
        b("start", "b")
        t.same(b.state()["run"], 14)
        t.same(runs(), list(range(5, 15)))
        gone = b("log", "b", "--run", "1", expect=18)
        t.true(b"the newest 10 are kept" in gone.err, gone.err)
        t.true(os.path.exists(os.path.join(t.work, "stays")), "a link was followed")


@case("log: text, bytes, runs, JSON, and a recording for trace")
def _(t):
    t.file("say.sh", 'printf "\\033[31mred\\033[0m %s\\n" "$1" "\\033[2J"; printf "%0250d\\n" 7; yes "" | head -n 3000; seq 1 100\n')
    with Boxes(t, row(command="bash say.sh one")) as b:
        b("log", "none", expect=18)
        b.new("b", "--no-start", agent="own")
        t.same(b.json("log", "b", expect=18)["error"]["code"], "E_NOT_FOUND")
        b("start", "b")
        b.until_state(status="done")
        want = b"red one\nred \\033[2J\n" + b"%0250d\n" % 7 + b"\n" * 3000 + b"".join(b"%d\n" % i for i in range(1, 101))
        t.same(b("log", "b").out, want)
        raw = b("log", "b", "--raw").out
        t.true(raw.startswith(b"\033[31mred\033[0m one\r\n"), raw[:100])
        t.same(b.json("log", "b")["text"].encode(), want)
        b("start", "b")
        until(lambda: b.state()["run"] == 2 and b.state()["status"] == "done", "no second run")
        t.same(b("log", "b", "--run", "1").out, want)
        b("log", "b", "--run", "3", expect=18)
        b("log", "b", "--json", "--raw", expect=12)
        page = os.path.join(t.work, "x.html")
        t.code(t.run([t.cordon, "trace", b.host("runs", "1"), "-o", page]), 0)
        t.true(os.path.getsize(page) > 1000, "the page is empty")
        with open(b.host("runs", "1", "run.json"), encoding="utf-8") as f:
            run = json.load(f)
        t.same((run["mode"], run["status"], run["exit_status"]["exit_code"]), ("box", "passed", 0))


@case("log: output without a final newline gets one")
def _(t):
    t.file("say.sh", "printf 'a\\nb'\n")
    with Boxes(t, row(command="bash say.sh")) as b:
        b.new(agent="own")
        b.until_state(status="done")
        t.same(b("log", "b").out, b"a\nb\n")


@case("log: --follow ends with the agent")
def _(t):
    t.file("slow.sh", "echo begins; while [ ! -e go ]; do sleep 0.02; done; echo ends\n")
    with Boxes(t, row(command="bash slow.sh")) as b:
        b.new(agent="own")
        process = t.start([t.cordon, "box", "log", "b", "--follow"])
        t.until(process, b"begins\n")
        b.exec("touch", "go")
        t.same(t.finish(process).out, b"ends\n")


@case("the agent's keys are in no file, log or process list")
def _(t):
    t.env["TEST_KEY"] = KEY
    t.file("tell.sh", 'echo "key: $TEST_KEY"; printf "\\033]0;%s\\007" "$TEST_KEY"; for i in 1 2 3; do printf %s "${TEST_KEY:0:9}"; '
           'sleep 0.02; printf "%s\\n" "${TEST_KEY:9}"; done; echo over; read x\n')
    with Boxes(t, row(command="bash tell.sh", keys=["TEST_KEY"])) as b:
        b.new(agent="own")
        with b.attach() as c:
            c.shows("^over")
            c.shows(f"key: {KEY}")
            for pid, *_ in children():
                with open(f"/proc/{pid}/cmdline", "rb") as f, open(f"/proc/{pid}/environ", "rb") as e:
                    t.true(KEY.encode() not in f.read() + e.read(), "a process shows the key")
            c.send(b"\r")
            t.same(c.finish(), 0)
        b.reap()
        t.true(b"key: [masked]" in b("log", "b").out, b("log", "b"))
        for base, _, files in os.walk(t.env["CORDON_HOME"]):
            for path in (os.path.join(base, name) for name in files):
                if stat.S_ISCHR(os.lstat(path).st_mode):
                    continue  # a name that is hidden in a cache
                with open(path, "rb") as f:
                    t.true(KEY.encode() not in f.read(), f"the key is in {path}")


# Network and limits -----------------------------------------------------------------------------------

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@case("hosts: a loopback name in the list goes through the proxy, others are the box's own")
def _(t):
    with Boxes(t) as b:
        for hosts, direct in ((["a.example"], b"localhost,127.0.0.1"), (["127.0.0.1:8080", "a.example"], b"localhost"),
                              (["localhost"], b"127.0.0.1"), (["localhost:1", "127.0.0.1"], b"")):
            b.new("b", "--no-start", "--replace", *(word for host in hosts for word in ("--allow-host", host)))
            t.same(b.exec("sh", "-c", "echo $no_proxy $NO_PROXY").out, b" ".join([direct] * 2).strip() + b"\n")


@case("port: a host port is forwarded into the box")
def _(t):
    t.file("serve.py", "import socket\ns=socket.socket()\ns.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)\n"
           "s.bind(('127.0.0.1',8080))\ns.listen()\nprint('up',flush=True)\n"
           "while True:\n  c,_=s.accept()\n  c.sendall(b'hello '+c.recv(100))\n  c.close()\n")
    port = free_port()
    with Boxes(t, row(command="python3 serve.py")) as b:
        b.new("b", "--port", f"{port}:8080", agent="own")
        until(lambda: b"up" in b("log", "b").out, lambda: b("log", "b"))
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port), EXPECT_S) as c:
                c.settimeout(EXPECT_S)
                c.sendall(b"you")
                answer = b""
                while part := c.recv(100):
                    answer += part
                t.same(answer, b"hello you")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            failed = b.new("c", "--port", f"{taken.getsockname()[1]}:1", agent="own", expect=19)
            t.true(b"cannot listen on port" in failed.err, failed.err)
        t.true(not os.path.exists(b.host("runs", name="c")) or not os.listdir(b.host("runs", name="c")), "a recording of nothing")
        b("stop", "b")
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 5):
            raise Failed("the port is still there")


@case("network: hosts that are not in the list are refused and reported")
def _(t):
    ask = ("import os,urllib.request as u\nt=''\n"
           "try:\n  u.urlopen('http://other.example/')\nexcept Exception as e:\n  t=str(e)\nprint(t)\n")
    with Boxes(t) as b:
        b.new("b", "--no-start", "--allow-host", "only.example")
        run = b.exec("python3", "-c", ask)
        t.true(b"403" in run.out, run)
        refused = until(lambda: b.json("show", "b")["network"]["refused"], "nothing was told")
        t.same(refused[0]["host"], "other.example", refused)


def name_of(pid):
    """Returns None if the process is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="ascii") as f:
        return f.read()
    return None


@case("network: a killed proxy is restarted three times, and reported")
def _(t):
    def proxy():
        """Returns the supervisor's child that is its proxy."""
        parent = b.state()["pid"]
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as f:
            pids = [int(pid) for pid in f.read().split()]
        return next((pid for pid in pids if name_of(pid) == "cordon-proxy\n"), None)

    ask = ("import urllib.request as u\n"
           "try:\n  u.urlopen('http://other.example/')\nexcept Exception as e:\n  print(e)\n")
    with Boxes(t, row(command="sleep 1000")) as b:
        b.new("b", "--allow-host", "only.example", agent="own")
        for times in range(1, 5):
            os.kill(until(proxy, "there is no proxy"), signal.SIGKILL)
            b.until_state(proxy_ends=times)
            run = b.exec("python3", "-c", ask)
            t.true((b"403" if times < 4 else b"refused") in run.out, run)
            said = f"the proxy exited unexpectedly {times} time{'s' * (times > 1)} and was {'not ' * (times > 3)}restarted".encode()
            t.true(said in b("show", "b").out and said in b("log", "b").err, (b("show", "b").out, b("log", "b").err))
        t.same(proxy(), None)
        b("stop", "b")
        b("start", "b")
        run = b.exec("python3", "-c", ask)
        t.true(b"403" in run.out and b"proxy exited" not in b("show", "b").out, run)


@case("limits: a layer that grows too large ends the box with an error")
def _(t):
    t.file("fill.sh", "for i in $(seq 1 400); do head -c 1000000 /dev/zero > f$i; done; exec sleep 1000\n")
    with Boxes(t, row(command="bash fill.sh")) as b:
        b.new("b", "--disk", "5M", agent="own")
        b.until_state(status="failed")
        t.true("limit" in b.state()["error"], b.state())
        t.true(any(g.startswith("disk:") for g in b.state()["gaps"]), b.state())


@case("limits: CPU time, memory and processes, for the agent and for commands; weaker limits are reported")
def _(t):
    t.file("spin.sh", "echo spins; while :; do :; done\n")
    with Boxes(t, row(command="bash spin.sh")) as b:
        made = b.new("b", "--cpu", "1", "--memory", "200M", "--processes", "30", agent="own")
        t.true(b"warning: weaker limit: memory: limited for each process" in made.err, made)
        many = b.exec("bash", "-c", "for i in $(seq 1 60); do sleep 1000 & done 2>&1; jobs | wc -l", expect=None)
        t.true(b"fork" in many.out, many)
        grows = b.exec("python3", "-c", "import signal; x = b'x' * (1 << 30); signal.pause()", expect=6)
        t.true(b"more memory than --memory allows" in grows.err, grows)
        b.until_state(status="failed", signal=signal.SIGXCPU)
        t.same(sorted(g.split(":")[0] for g in b.state()["gaps"]), ["cpu", "memory"])


@case("command line errors")
def _(t):
    with Boxes(t, row("gone", "no-such-agent-program")) as b:
        b.new("b", "--no-start")
        b("attach", "b", expect=12)
        b("exec", "b", "true", "--json", expect=0)
        b("start", "--bad", "b", expect=12)
        b("log", "b", "--run", "0", expect=12)
        b("stop", "a/b", expect=12)


if __name__ == "__main__":
    sys.exit(main())
