#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tools that run commands: sessions on terminals over many calls, and confirmations on a terminal.

A `Server` is `cordon tool --serve` (tool_server.py); harness.py has the rest.
"""
import array
import fcntl
import glob
import json
import os
import pty
import resource
import shutil
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import KILLED_S, TIMEOUT_S, Failed, Skipped, case, in_time, main, sanitized  # noqa: E402 pylint: disable=wrong-import-position
from tool_server import Server  # noqa: E402 pylint: disable=wrong-import-position


def screen(result):
    return "\n".join(result["details"].get("screen", {"lines": []})["lines"])


def forget_logs(t):
    shutil.rmtree(t.home)
    t.directory("home")


LONG = 60000  # ms, never waited for in full
SLEEP = "sleep 1000"


@case("a command that ends: its output and exit code, immediately")
def _(t):
    s = Server(t)
    begun = time.monotonic()
    r = s.exec("echo out; echo err >&2; exit 3", yield_time_ms=LONG)
    t.true(time.monotonic() - begun < 50, "it did not return when the command ended")
    t.same((r["status"], r["code"], r["details"]["exit_code"]), ("error", "E_COMMAND_FAILED", 3))
    t.same(r["content"], "out\nerr\n[the command failed with exit status 3]\n")
    r = s.call("exec_command", command="tty >/dev/null && printf %s $TERM", yield_time_ms=LONG)
    t.same((r["content"], r["status"]), ("xterm-256color\n", "ok"))
    r = s.exec("kill -KILL $$", yield_time_ms=LONG)
    t.same((r["details"]["exit_code"], r["details"]["signal"]), (137, 9))
    s.end()


@case("a command that cannot be started has no exit code")
def _(t):
    text = ": " + "x" * 200000  # longer than an argument may be
    s = Server(t)
    for name, key in (("shell", "command"), ("exec_command", "cmd")):
        arguments = {key: text}
        one = json.loads(t.run([t.cordon, "tool", name, "--json", "-"], json.dumps(arguments).encode()).out)
        for r in (one, s.call(name, **arguments)):
            t.same((r["status"], r["code"], r["details"]["exit_code"], r["details"].get("signal")), ("error", "E_COMMAND_FAILED", None, None), name)
            t.true(r["message"].startswith("the command did not start: cannot start '"), r["message"])
            t.true("Argument list too long" in r["content"], r["content"])
    s.end()


@case("a command that ended immediately reports its end a second time")
def _(t):
    s = Server(t)
    for n in range(1, 12):  # more than are kept
        t.same(s.exec(f"exit {n}", yield_time_ms=LONG)["details"]["exit_code"], n)
    t.same(s.type(11)["details"]["exit_code"], 11)
    t.same(s.type(11)["code"], "E_NOT_FOUND")
    t.same(s.type(10)["details"]["exit_code"], 10)
    t.same(s.type(1)["code"], "E_NOT_FOUND")
    s.end()


@case("a session: running, typed into, ended, reported again, gone")
def _(t):
    s = Server(t)
    r = s.exec("read x; echo got $x; exit 4", yield_time_ms=0)
    n = r["details"]["session_id"]
    t.same(r["status"], "ok")
    r = s.type(n, "word\n", yield_time_ms=LONG)
    t.true("got word\n" in r["content"], r)
    t.same(r["details"]["exit_code"], 4)
    r = s.type(str(n), "more\n")
    t.same((r["details"]["exit_code"], len(r["details"]["warnings"])), (4, 1))
    other = s.exec(SLEEP, yield_time_ms=0)["details"]["session_id"]
    r = s.type(n)
    t.same(r["code"], "E_NOT_FOUND")
    t.true(f"open sessions: {other} ({SLEEP})" in r["message"], r["message"])
    t.same(s.call("write_stdin", session_id="x")["code"], "E_TOOL_VALIDATION")
    s.end()


@case("Ctrl-C interrupts")
def _(t):
    s = Server(t)
    n = s.exec("echo set; exec " + SLEEP, yield_time_ms=0)["details"]["session_id"]
    s.until(n, lambda r, c: "set" in c)
    r = s.type(n, "\x03", yield_time_ms=LONG)
    t.same((r["details"]["exit_code"], r["details"]["signal"]), (130, 2))
    n = s.exec("trap 'echo caught; exit 7' INT; echo set; while :; do sleep 0.01; done",
               yield_time_ms=0)["details"]["session_id"]
    s.until(n, lambda r, c: "set" in c)
    t.same(s.type(n, "\x03", yield_time_ms=LONG)["details"]["exit_code"], 7)
    s.end()


@case("python3 can be driven")
def _(t):
    s = Server(t)
    n = s.exec("python3 -q", yield_time_ms=0)["details"]["session_id"]
    s.until(n, lambda r, c: ">>>" in c)
    s.until(n, lambda r, c: "\n42\n" in c, "print(6*7)\n")
    r = s.type(n, "exit(5)\n", yield_time_ms=LONG)
    t.same(r["details"]["exit_code"], 5)
    s.end()


@case("vim can be driven: the screen is shown, and the file is written")
def _(t):
    if not shutil.which("vim"):
        raise Skipped("no vim")
    s = Server(t)
    t.file("f", "one\ntwo\n")
    n = s.exec("vim -u NONE -i NONE -n f", yield_time_ms=0, rows=10, cols=40)["details"]["session_id"]
    r, _ = s.until(n, lambda r, c: "two" in screen(r))
    t.true(r["details"]["screen"]["alternate_screen"], r)
    t.same((r["details"]["screen"]["rows"], r["details"]["screen"]["cols"]), (10, 40))
    t.true(r["content"].startswith("one\ntwo\n~"), r["content"])
    s.until(n, lambda r, c: "newone" in screen(r), "inew\x1b")
    t.same(s.type(n, ":wq\r", yield_time_ms=LONG)["details"]["exit_code"], 0)
    with open(os.path.join(t.work, "f"), encoding="utf-8") as f:
        t.same(f.read(), "newone\ntwo\n")
    s.end()


@case("less can be driven")
def _(t):
    if not shutil.which("less"):
        raise Skipped("no less")
    s = Server(t)
    t.file("f", "".join(f"line {i}\n" for i in range(1000)))
    n = s.exec("less f", yield_time_ms=0)["details"]["session_id"]
    s.until(n, lambda r, c: "line 22" in screen(r))
    s.until(n, lambda r, c: "line 999" in screen(r), "G")
    t.same(s.type(n, "q", yield_time_ms=LONG)["details"]["exit_code"], 0)
    s.end()


@case("a screen is reported only if one is drawn")
def _(t):
    s = Server(t)
    for command, drawn in (
            ("printf 'a\\n\\033[31mb\\033[0m\\r\\033[Kc\\n'", False), ("printf '\\033[2J\\033[Hx'", True),
            ("printf 'a\\nb\\n\\033[2Ac\\n'", True), ("printf '\\033[?1049hx'; printf '\\033[?1049l'", True)):
        t.same("screen" in s.exec(command, yield_time_ms=LONG)["details"], drawn, command)
    s.end()


@case("text for a model: without colours, overwritten lines once; raw: unchanged")
def _(t):
    s = Server(t)
    command = "for i in 1 2 3; do printf '\\r%d0%%' $i; done; printf '\\n\\033[1mbold\\033[0m\\n'"
    t.same(s.exec(command, yield_time_ms=LONG)["content"], "30%\nbold\n")
    t.same(s.exec(command, yield_time_ms=LONG, raw=True)["content"],
           "\r10%\r20%\r30%\r\n\x1b[1mbold\x1b[0m\r\n")
    s.end()


@case("a character or an escape sequence that comes in two parts is not broken")
def _(t):
    s = Server(t)
    for first, second, whole in ((b"a\xe6\x97", b"\xa5b", "a\u65e5b"), (b"a\x1b[3", b"1mb", "ab")):
        for raw in (False, True):
            t.file("first", first)
            t.file("second", second)
            r = s.exec("stty -echo; cat first; read x; cat second; read x", yield_time_ms=0, raw=raw)
            n, content = r["details"]["session_id"], r["content"]
            while "a" not in content:
                r = s.type(n, yield_time_ms=20, raw=raw)
                content += r["content"]
            r = s.type(n, yield_time_ms=20, raw=raw)
            content += r["content"]
            t.true("\ufffd" not in content, content)
            content += s.type(n, "\n", yield_time_ms=0, raw=raw)["content"]
            while "b" not in content.replace("[still running; session_id", ""):
                content += s.type(n, yield_time_ms=20, raw=raw)["content"]
            plain = "".join(line for line in content.split("\n") if not line.startswith("[still"))
            plain = plain.replace(f"[still running; session_id {n}]", "")
            want = whole if not raw else (first + second).decode()
            t.same(plain.replace("\r", ""), want)
            s.type(n, "\n", yield_time_ms=LONG)
            s.type(n)
    # At the end nothing more can come.
    t.file("first", b"a\xe6\x97")
    t.same(s.exec("cat first", yield_time_ms=LONG)["content"], "a\ufffd\n")
    s.end()


@case("truncated output: the caps, and all of it in a file")
def _(t):
    s = Server(t)
    r = s.exec("seq 5000", yield_time_ms=LONG)
    t.true(r["truncated"] and "[truncated] 4800 lines" in r["content"], r["content"])
    with open(r["details"]["log"], "rb") as f:
        t.same(f.read(), b"".join(b"%d\r\n" % i for i in range(1, 5001)))
    for tokens, most in ((1, 1024), (500, 2000), (8000, 32000), (4000000000, 32768)):
        r = s.exec("head -c 100000 /dev/zero | tr '\\0' x", yield_time_ms=LONG, max_output_tokens=tokens)
        shown = r["content"].count("x")
        t.true(most - 8 <= shown <= most + 8, f"{shown} bytes for {tokens} tokens, wanted {most}")
    # Output after the cut goes to the same file.
    n = s.exec("seq 1000; read x; echo end", yield_time_ms=0)["details"]["session_id"]
    s.until(n, lambda r, c: "1000" in c)
    r = s.type(n, "\n", yield_time_ms=LONG)
    with open(r["details"]["log"], "rb") as f:
        t.true(f.read().endswith(b"1000\r\n\r\nend\r\n"), "the log lacks the end")
    s.end()
    forget_logs(t)


@case("a model that polls often sees less and less, and never more than the cap")
def _(t):
    s = Server(t)
    n = s.exec("stty -echo; while read x; do head -c 40000 /dev/zero | tr '\\0' x; echo; done",
               yield_time_ms=0)["details"]["session_id"]
    total = 0
    for _ in range(45):
        r, content = s.until(n, lambda r, c: c.rstrip().endswith(f"session_id {n}]") and "x\n" in c, "\n")
        total += len(content)
    t.true(total < 45 * 33 * 1024 and len(r["content"]) < 2000, f"{total} {len(r['content'])}")
    s.end()
    forget_logs(t)


@case("sessions continue between calls, and their output does not block them")
def _(t):
    s = Server(t)
    # More than any terminal buffers; the file shows that it was printed.
    n = s.exec("head -c 3000000 /dev/zero | tr '\\0' x | fold; touch done; " + SLEEP,
               yield_time_ms=0)["details"]["session_id"]
    deadline = time.monotonic() + TIMEOUT_S
    while not os.path.exists(os.path.join(t.work, "done")):
        t.true(time.monotonic() < deadline, "it stands still")
        time.sleep(0.005)
    r = s.type(n, yield_time_ms=0)
    t.true(r["truncated"], r["details"])
    t.same(os.path.getsize(r["details"]["log"]), 3000000 + 2 * (3000000 // 80) - 2)
    s.end()
    forget_logs(t)


@case("sessions continue during another call")
def _(t):
    s = Server(t)
    print_much = "read x; head -c 3000000 /dev/zero | tr '\\0' x | fold; touch done"
    n = [s.exec(print_much, yield_time_ms=0)["details"]["session_id"] for _ in range(2)]
    s.type(n[0], "\n", yield_time_ms=0)
    r = s.call("shell", command="while [ ! -e done ]; do sleep 0.01; done; echo seen", timeout_ms=60000)
    t.same(r["content"], "seen\n", r)
    os.unlink(os.path.join(t.work, "done"))
    s.type(n[1], "\n", yield_time_ms=0)
    r = s.type(n[0], yield_time_ms=LONG)
    t.same((r["details"]["exit_code"], r["truncated"]), (0, True))
    s.end()
    forget_logs(t)


@case("a command that prints forever is ended, with bounded memory")
def _(t):
    s = Server(t)
    r = s.exec("yes", yield_time_ms=600000)
    t.same((r["code"], r["details"]["exit_code"]), ("E_TIMEOUT", 137))
    t.true("max_output_bytes" in r["message"], r["message"])
    with open(f"/proc/{s.process.pid}/status", encoding="ascii") as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    t.true(sanitized() or peak < 150 * 1024, f"{peak} KiB")
    s.end()
    forget_logs(t)


@case("at most 64 sessions", who="user")
def _(t):
    s = Server(t)
    first = [s.exec(SLEEP, yield_time_ms=0)["details"]["session_id"] for _ in range(64)]
    r = s.call("exec_command", cmd=SLEEP)
    t.same(r["code"], "E_CONFLICT")
    t.true(f"the oldest are {first[0]} ({SLEEP}), {first[1]} (" in r["message"], r["message"])
    # An ended one frees its slot.
    t.same(s.type(first[3], "\x03", yield_time_ms=LONG)["details"]["exit_code"], 130)
    t.true("session_id" in s.exec(SLEEP, yield_time_ms=0)["details"], "no room")
    s.end()


def locked_session(t, s):
    lock = t.file("lock")
    s.exec(f"setsid nohup flock lock sleep 1000 & flock lock2 {SLEEP}", yield_time_ms=0)
    t.until_locked(lock)
    return lock


@case("sessions end with their owner: end of input, SIGTERM, SIGKILL")
def _(t):
    t.env["CORDON_HOME"] = t.directory("cordon-home")  # a killed session leaves its file there
    t.file("lock2")
    for end in (None, signal.SIGTERM, signal.SIGKILL):
        s = Server(t)
        lock = locked_session(t, s)
        if end is None:
            s.end()
        else:
            s.process.send_signal(end)
            t.same(s.process.wait(TIMEOUT_S), 130 if end == signal.SIGTERM else -end)
            t.killed = True
        t.unlocked(lock, KILLED_S)


@case("one call: the session ends with it, and this is reported")
def _(t):
    lock = t.file("lock")

    def attempt(limit):
        run = t.run([t.cordon, "tool", "exec_command", "--json",
                     json.dumps({"cmd": f"flock lock sh -c 'touch begun; {SLEEP}'", "yield_time_ms": limit})])
        t.code(run, 0)
        t.same((run.result["details"]["ended"], "exit_code" in run.result["details"],
                "session_id" in run.result["details"]), (True, False, False))
        t.unlocked(lock)
        return os.path.exists(os.path.join(t.work, "begun")) or None
    in_time(attempt, 300, 3000, 30000)


@case("an interrupt ends the call, not the server")
def _(t):
    s = Server(t)
    n = s.exec("echo ready; " + SLEEP, yield_time_ms=0)["details"]["session_id"]
    s.until(n, lambda r, c: "ready" in c)
    for name, arguments in (("write_stdin", {"session_id": n, "yield_time_ms": LONG}),
                            ("exec_command", {"cmd": SLEEP, "yield_time_ms": LONG}),
                            ("shell", {"command": SLEEP})):
        marker = os.path.join(t.work, "at-work")
        if name != "write_stdin":
            key = "cmd" if name == "exec_command" else "command"
            arguments[key] = f"touch at-work; {SLEEP}"
        s.send(json.dumps({"name": name, "arguments": arguments}).encode() + b"\n")
        deadline = time.monotonic() + TIMEOUT_S
        while name != "write_stdin" and not os.path.exists(marker) and time.monotonic() < deadline:
            time.sleep(0.005)
        # The call has started when the line is gone from the pipe.
        while pending(s.process.stdin) and time.monotonic() < deadline:
            time.sleep(0.005)
        s.process.send_signal(signal.SIGINT)
        t.same(s.answer()["code"], "E_CANCELED", name)
        if os.path.exists(marker):
            os.unlink(marker)
    t.same(s.type(n)["status"], "ok")
    s.end()


def wait_for(t, condition, why):
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        t.true(time.monotonic() < deadline, why)
        time.sleep(0.001)


def at_work(t, name, arguments, *options):
    """Starts a separate call, and waits until it has reported its start."""
    events = os.path.join(t.work, "events")
    path = os.path.join(t.top, "arguments")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(arguments, f)
    process = t.start([t.cordon, "tool", name, "--events", events, *options, "--json", "@" + path])
    begins(t)
    return process


def begins(t):
    events = os.path.join(t.work, "events")
    wait_for(t, lambda: os.path.exists(events) and os.path.getsize(events), "it did not begin")


def names_in(directory):
    try:
        return os.listdir(directory)
    except FileNotFoundError:
        return []


def events_of(t):
    path = os.path.join(t.work, "events")
    with open(path, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    os.unlink(path)
    return events


@case("calls that do not wait can also be interrupted: immediately, with a result, and nothing is changed")
def _(t):
    content = b"ab " * (20 << 20)
    path = t.file("big", content)
    hunk = "".join(" ab ab\n" * 3000 + f"-{i}\n" for i in range(20))
    t.file("lines", "ab ab\n" * 300000)
    for name, arguments in (
            ("edit_file", {"path": "big", "old_string": "x" * 1000 + "y", "new_string": "z"}),
            ("apply_patch_freeform", {"patch": f"*** Begin Patch\n*** Update File: lines\n@@\n{hunk}*** End Patch"}),
            ("grep_files", {"pattern": "(a|b| )+?(a|b| )+?[^ab ]$|(?=x)y", "path": "big", "timeout_ms": 600000})):
        for sig in (signal.SIGINT, signal.SIGTERM):
            process = at_work(t, name, arguments)
            begun = time.monotonic()
            process.send_signal(sig)
            run = t.finish(process)
            t.true(time.monotonic() - begun < 60, f"{name}: {time.monotonic() - begun} s")
            t.same((run.code, run.result["code"], run.result["details"]["context"]["signal"]),
                   (130, "E_CANCELED", int(sig)), name)
            t.same([e["phase"] for e in events_of(t)], ["start", "error"], name)
    with open(path, "rb") as f:
        t.true(f.read() == content, "the file was changed")
    t.same(sorted(os.listdir(t.work)), ["big", "lines"])


@case("a change that has started is completed despite any interrupt")
def _(t):
    n = 300 if sanitized() else 3000
    patch = "".join(f"*** Add File: d{i % 50}/f{i}\n+text\n" for i in range(n))
    journal = os.path.join(t.home, ".cordon", "journal")
    process = at_work(t, "apply_patch_freeform", {"patch": "*** Begin Patch\n" + patch + "*** End Patch"})
    wait_for(t, lambda: any(name.endswith(".journal") for name in names_in(journal)), "it does not commit")
    process.send_signal(signal.SIGINT)
    run = t.finish(process)
    t.same((run.code, run.result["status"], len(run.result["changes"]["files"])), (0, "ok", n))
    events_of(t)
    names = [name for _, _, files in os.walk(t.work) for name in files]
    t.same(sorted(names), sorted(f"f{i}" for i in range(n)))
    t.same(names_in(journal), [])


@case("--serve: a call that does not wait is interrupted with the server, and answered")
def _(t):
    t.file("big", b"ab " * (20 << 20))
    s = Server(t, "--events", os.path.join(t.work, "events"))
    arguments = {"path": "big", "old_string": "x" * 1000 + "y", "new_string": "z"}
    s.send(json.dumps({"name": "edit_file", "arguments": arguments, "request_id": "r"}).encode() + b"\n")
    begins(t)
    s.process.send_signal(signal.SIGTERM)
    r = s.answer()
    t.same((r["code"], r["request_id"]), ("E_CANCELED", "r"))
    t.same(s.process.wait(TIMEOUT_S), 130)


def fill(t, s):
    """Sends calls whose responses are not read, until the pipe is full."""
    os.set_blocking(s.process.stdin.fileno(), False)
    line = b'{"name":"list_dir"}\n' * 100
    while True:
        try:
            os.write(s.process.stdin.fileno(), line)
        except BlockingIOError:
            break
    os.set_blocking(s.process.stdin.fileno(), True)
    # Opened for writing, the pipe tells whether it is full.
    end = os.open(f"/proc/self/fd/{s.process.stdout.fileno()}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        wait_for(t, lambda: not select.select([], [end], [], 0)[1], "the pipe does not fill up")
    finally:
        os.close(end)


@case("--serve: a client that does not read responses blocks neither sessions nor the end")
def _(t):
    lock = t.file("lock2")
    for sig in (signal.SIGTERM, signal.SIGINT):
        for i in range(100):
            t.file(f"{i}-{'n' * 60}")
        s = Server(t)
        lock = locked_session(t, s)
        os.mkfifo(t.own(t.file("go")) + ".fifo")
        t.own(os.path.join(t.work, "go.fifo"))
        s.exec("cat go.fifo; head -c 3000000 /dev/zero | tr '\\0' x | fold; touch done; " + SLEEP, yield_time_ms=0)
        fill(t, s)
        with open(os.path.join(t.work, "go.fifo"), "w", encoding="ascii") as f:
            f.write("go\n")
        wait_for(t, lambda: os.path.exists(os.path.join(t.work, "done")), "the session stands still")
        s.process.send_signal(sig)
        t.same(s.process.wait(10), 130)
        t.killed = True
        t.unlocked(lock, KILLED_S)
        for name in ("done", "go", "go.fifo"):
            os.unlink(os.path.join(t.work, name))
    forget_logs(t)


def pending(pipe):
    number = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, number)
    return number[0]


@case("invalid lines get a response, and the next one is read")
def _(t):
    s = Server(t)
    for line, code in (
            (b"junk", "E_PROTOCOL"), (b"[]", "E_PROTOCOL"), (b"{}", "E_PROTOCOL"), (b"\xff\xfe", "E_PROTOCOL"),
            (b'{"name":"shell","arguments":{},"protocol_version":9}', "E_PROTOCOL"),
            (b'{"name":"nothing"}', "E_TOOL_VALIDATION"),
            (b'{"name":"shell","arguments":[1]}', "E_TOOL_VALIDATION"),
            (b'{"name":"shell","arguments":"{"}', "E_TOOL_VALIDATION"),
            (b'{"name":"' + b"x" * (33 << 20) + b'"}', "E_PROTOCOL")):
        s.send(line + b"\n")
        t.same(s.answer()["code"], code, line[:60])
    s.send(b'\n  \n{"name":"shell","arguments":"{\\"command\\":\\"echo a\\"}","request_id":{"x":[1]}}\n')
    r = s.answer()
    t.same((r["content"], r["request_id"]), ("a\n", {"x": [1]}))
    s.send(b'{"name":"shell","arguments":{"command":"echo b"}}')  # no newline at the end
    s.process.stdin.close()
    t.same(s.answer()["content"], "b\n")
    t.same(s.process.wait(TIMEOUT_S), 0)


@case("responses are not read: it ends, with its sessions")
def _(t):
    t.file("lock2")
    s = Server(t)
    lock = locked_session(t, s)
    s.process.stdout.close()
    s.send(b'{"name":"list_dir"}\n')
    t.same(s.process.wait(TIMEOUT_S), 10)
    t.unlocked(lock, KILLED_S)
    s.process.stdout = None


@case("events have the exit status")
def _(t):
    s = Server(t, "--events", os.path.join(t.work, "events"))
    s.exec("exit 3", yield_time_ms=LONG)
    s.exec("seq 1000", yield_time_ms=LONG)
    s.end()
    with open(os.path.join(t.work, "events"), encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    t.same(len({e["run_id"] for e in events}), 1)
    t.true(all(e["time"].startswith("20") and e["time"].endswith("Z") for e in events), events)
    t.same([(e["phase"], e.get("exit_status"), e.get("truncated")) for e in events],
           [("start", None, None), ("error", 3, False),
            ("start", None, None), ("truncation", 0, True), ("end", 0, True)])
    forget_logs(t)


@case("the sandbox applies to tools: no writes outside, no network, no secrets")
def _(t):
    s = Server(t)
    r = s.exec("cat /etc/shadow; echo x > /usr/never; ls /sys/class/net; env", yield_time_ms=LONG)
    t.true("Read-only file system" in r["content"] and "hidden" not in r["content"], r["content"])
    t.same(s.call("exec_command", cmd="true", workdir="/etc")["code"], "E_FS_VIOLATION")
    s.end()


@case("unrestricted: /, /run and /tmp can be read; writes to /tmp are private to the command")
def _(t):
    with tempfile.TemporaryDirectory(prefix="cordon-left-", dir="/tmp") as other:
        os.chmod(other, 0o755)
        with open(os.path.join(other, "f"), "w", encoding="ascii") as f:
            f.write("from outside\n")
        os.chmod(os.path.join(other, "f"), 0o644)
        def shell_of(command):
            return t.run([t.cordon, "tool", "shell", "--fs-mode", "unrestricted", "--json",
                          json.dumps({"command": command})]).result
        r = shell_of(f"cat {other}/f; ls -d /run/*/ | head -n 1; echo mine > /tmp/mine && cat /tmp/mine")
        t.same(r["status"], "ok", r)
        t.true(r["content"].startswith("from outside\n/run/") and r["content"].endswith("\nmine\n"), r)
        t.true(not os.path.exists("/tmp/mine"), "it was written outside")
        for command in (f"echo x > {other}/f", f"rm -rf {other}", f"touch {other}/g", "touch /run/x"):
            t.same(shell_of(command)["status"], "error", command)
        t.same(os.listdir(other), ["f"])


CHURN = """
import os, sys
while True:
    for change in (os.mkdir, os.rmdir):
        for i in range(100):
            change(f"{sys.argv[1]}-{i}")
"""


@case("unrestricted: files that come and go in /tmp do not block a command")
def _(t):
    with tempfile.TemporaryDirectory(prefix="cordon-left-", dir="/tmp") as base:
        churn = subprocess.Popen([sys.executable, "-c", CHURN, base])
        try:
            for _ in range(10 if sanitized() else 40):
                t.code(t.run([t.cordon, "tool", "shell", "--fs-mode", "unrestricted", "--arg", "command=true"]), 0)
        finally:
            churn.kill()
            churn.wait()
            for left in glob.glob(f"{base}-*"):
                os.rmdir(left)


# Shell ------------------------------------------------------------------------------------------

def shell(t, **arguments):
    return t.run([t.cordon, "tool", "shell", "--json", json.dumps(arguments)])


@case("shell: background processes neither delay nor outlive it")
def _(t):
    lock = t.file("lock")
    begun = time.monotonic()
    run = shell(t, command="flock lock sleep 1000 & while flock -n lock true; do :; done; echo a")
    t.same((run.code, run.result["content"]), (0, "a\n"))
    t.true(time.monotonic() - begun < 120, "it waited for the background")
    t.unlocked(lock)


@case("shell: a command that ignores SIGTERM is ended in time, with all its children, and its output is kept")
def _(t):
    lock = t.file("lock")

    def attempt(limit):
        run = shell(t, command="trap '' TERM HUP INT; echo a; flock lock sleep 1000 & sleep 1000", timeout_ms=limit)
        t.code(run, 4)
        t.same(run.result["code"], "E_COMMAND_TIMEOUT")
        t.unlocked(lock)
        return "a" if run.result["content"].split("\n")[0] == "a" else None
    in_time(attempt, 1000, 10000, 100000)


@case("shell: a command that prints forever, with bounded memory")
def _(t):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    run = shell(t, command="yes")
    t.true(run.result["status"] == "error" and "max_output_bytes" in run.result["message"], run)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    t.true(sanitized() or max(before, after) < 150 * 1024, f"{after} KiB")
    forget_logs(t)


@case("shell: a timeout of more than ten minutes is accepted")
def _(t):
    t.same(shell(t, command="true", timeout_ms=86400000).code, 0)
    t.same(shell(t, command="true", timeout_ms=86400001).code, 15)


@case("tools can read the logs of their session, and no others")
def _(t):
    s, other = Server(t), Server(t)
    r = s.call("shell", command="seq 100000")
    log = r["details"]["log"]
    t.true(log in r["content"], r["content"])
    r = s.call("read_file", path=log, offset=50000, limit=3)
    t.true("50001\n" in r["content"], str(r))
    r = s.call("grep_files", pattern="^77777$", path=log)
    t.true("77777:77777" in r["content"], str(r))
    t.same(s.call("write_file", path=log, content="")["code"], "E_FS_VIOLATION")
    t.same(other.call("read_file", path=log)["code"], "E_FS_VIOLATION")
    n = other.exec("seq 100000; " + SLEEP, yield_time_ms=0)["details"]["session_id"]
    r = other.until(n, lambda r, c: "\n100000\n" in c)[0]
    t.true("99999" in other.call("read_file", path=r["details"]["log"], offset=99990)["content"], "a session's log")
    t.same(s.call("read_file", path=r["details"]["log"])["code"], "E_FS_VIOLATION")
    s.end()
    other.end()
    forget_logs(t)


@case("a session whose logs another one has deleted can read its next log")
def _(t):
    s, other = Server(t, cwd=t.work), Server(t, cwd=t.work)
    own = s.call("shell", command="seq 100000")["details"]["log"]
    os.utime(own, (1, 1))
    for _ in range(2):
        other.call("shell", command="seq 100000")
    t.true(not os.path.exists(own), "a control")
    own = s.call("shell", command="seq 100000")["details"]["log"]
    t.same(s.call("read_file", path=own, limit=1)["status"], "ok")
    s.end()
    other.end()
    forget_logs(t)


@case("old logs are deleted, the oldest first; a session's own is kept as long as it runs")
def _(t):
    s = Server(t)
    n = s.exec("seq 1000; " + SLEEP, yield_time_ms=0)["details"]["session_id"]
    r = s.until(n, lambda r, c: "1000" in c)[0]
    own = r["details"]["log"]
    logs = os.path.dirname(own)
    names = [f"{uuid.uuid4()}.log" for _ in range(300)]
    now = time.time()
    places = {name: os.path.join(os.path.dirname(logs) if i % 2 else logs, name) for i, name in enumerate(names + ["other.log"])}
    for i, path in enumerate(places.values()):
        with open(path, "wb"):
            pass
        t.own(path)
        os.utime(path, (now - 1000 + i,) * 2)
    os.utime(own, (now - 5000,) * 2)
    os.utime(places[names[299]], (now - 40 * 86400,) * 2)
    new = s.call("shell", command="seq 1000")["details"]["log"]
    t.same({name for name, path in places.items() if os.path.exists(path)}, set(names[101:299]) | {"other.log"})
    t.true(os.path.exists(own) and os.path.exists(new), "too much went")
    s.end()
    forget_logs(t)


# Confirmations -----------------------------------------------------------------------------------

class Asked:
    """A call on a terminal, where the user can be asked."""

    def __init__(self, t, *arguments, mode="on-request"):
        self.t = t
        pid, self.fd = pty.fork()
        if pid == 0:
            try:
                os.chdir(t.work)
                if t.uid is not None:
                    os.setgroups([])
                    os.setresgid(t.uid, t.uid, t.uid)
                    os.setresuid(t.uid, t.uid, t.uid)
                os.execve(t.cordon, [t.cordon, "tool", *arguments, "--approval", mode], t.env)
            finally:
                os._exit(99)
        self.pid, self.seen = pid, b""

    def until(self, word):
        deadline = time.monotonic() + TIMEOUT_S
        while word not in self.seen and time.monotonic() < deadline:
            if not self.more():
                break
        if word not in self.seen:
            raise Failed(f"no {word!r} in {self.seen!r}")

    def more(self):
        if not select.select([self.fd], [], [], TIMEOUT_S)[0]:
            raise Failed(f"nothing more after {self.seen!r}")
        try:
            part = os.read(self.fd, 65536)
        except OSError:
            part = b""
        self.seen += part
        return part

    def type(self, data):
        os.write(self.fd, data)

    def end(self, code):
        while self.more():
            pass
        os.close(self.fd)
        self.t.same(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), code, self.seen)


WRITE = ("write_file", "--arg", "path=f", "--arg", "content=x")


@case("confirmations: yes, no, nothing, nonsense, end of file, an interrupt")
def _(t):
    path = os.path.join(t.work, "f")
    for keys, code in ((b"y\r", 0), (b"YES\r", 0), (b"a\r", 0), (b"n\r", 20), (b"\r", 20), (b"\x04", 20),
                       (b"\x03", 130), (b"yellow\ry", 130), (b"yellow\r", 0)):
        a = Asked(t, *WRITE)
        a.until(b"? ")
        t.true(b"Allow write_file to change:\r\n    f\r\n" in a.seen, a.seen)
        if keys == b"yellow\r":
            a.type(keys)
            a.seen = b""
            a.until(b"? ")
            a.type(b"yes\r")
        elif keys == b"yellow\ry":
            a.type(b"yellow\r")
            a.seen = b""
            a.until(b"? ")
            a.type(b"\x03")
        else:
            a.type(keys)
        a.end(code)
        t.same(os.path.exists(path), code == 0, keys)
        if code == 0:
            os.unlink(path)


@case("confirmations: SIGTERM also ends them")
def _(t):
    a = Asked(t, *WRITE)
    a.until(b"? ")
    os.kill(a.pid, signal.SIGTERM)
    a.end(130)


@case("confirmations: text chosen by a model cannot control the terminal")
def _(t):
    hostile = "\x1b[2J\x1b]0;x\x07\u202eecho\r ok\nrm -rf x"
    a = Asked(t, "shell", "--json", json.dumps({"command": hostile}))
    a.until(b"? ")
    question = a.seen
    for bad in (b"\x1b[2J", b"\x1b]0", b"\x07", "\u202e".encode(), b"echo\r ok"):
        t.true(bad not in question, question)
    t.true(b"    rm -rf x\r\n" in question, question)
    a.type(b"n\r")
    a.end(20)


@case("confirmations: typing into a session is a change, reading is not")
def _(t):
    s = Server(t, "--approval", "always", start_new_session=True)
    t.same(s.call("exec_command", cmd="true")["code"], "E_APPROVAL_REQUIRED")
    t.same(s.call("write_stdin", session_id=1, chars="ls\n")["code"], "E_APPROVAL_REQUIRED")
    t.same(s.call("write_stdin", session_id=1)["code"], "E_NOT_FOUND")
    t.same(s.call("write_stdin", session_id=1, chars="\x03")["code"], "E_NOT_FOUND")
    s.end()


# Files that take effect without being started ----------------------------------------------------

# path; whether its class is "runs without being started", and tools need consent for it
AUTORUN = (
    (".envrc", True),
    (".vscode/tasks.json", True),
    (".husky/pre-commit", True),
    (".github/workflows/ci.yml", True),
    (".gitattributes", True),
    ("sub/.envrc", True),
    ("package.json", False),
    ("Makefile", False),
    ("AGENTS.md", False),
    (".github/CODEOWNERS", False),
    (".venv/pyvenv.cfg", False),
)


def project(t, name, paths):
    """A repository of the user's with these files, as the working directory."""
    top = t.directory("projects", name)
    git(t, top, "init", "-q", "-b", "main")
    for path in paths:
        at = os.path.join(top, path)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "w", encoding="utf-8") as f:
            f.write("old\n")
    own_all(t, top)
    return top


def own_all(t, top):
    for at, names, files in os.walk(top):
        for entry in (at, *(os.path.join(at, n) for n in names + files)):
            t.own(entry)


def git(t, top, *words):
    r = t.run(["git", "-C", top, "-c", "user.name=x", "-c", "user.email=x@x", *words])
    t.same(r.code, 0, r.err)
    return r.out.decode()


def text_of(top, path):
    try:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return None


def tool_in(t, top, name, *options, **arguments):
    r = t.run([t.cordon, "tool", name, "--json", "-", *options], json.dumps(arguments).encode(), cwd=top)
    return json.loads(r.out)


def file_calls(path):
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+new\n"
    envelope = f"*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+new\n*** End Patch\n"
    return (("write_file", {"path": path, "content": "new\n"}),
            ("edit_file", {"path": path, "old_string": "old", "new_string": "new"}),
            ("apply_patch_json", {"patch": patch}),
            ("apply_patch_freeform", {"patch": envelope}))


@case("file tools: files that take effect without being started need --write under never")
def _(t):
    top = project(t, "never", [path for path, _ in AUTORUN])
    for path, guarded in AUTORUN:
        at = os.path.join(top, path)
        for name, arguments in file_calls(path):
            if guarded:
                r = tool_in(t, top, name, **arguments)
                t.same((r.get("code"), text_of(top, path)), ("E_FS_VIOLATION", "old\n"), (path, name, r))
                t.true(path in r["message"] and f"--write {at}" in r["message"], r["message"])
            for flag in ((path, os.path.dirname(path) or ".") if guarded else (None,)):
                r = tool_in(t, top, name, *(("--write", flag) if flag else ()), **arguments)
                t.same((r["status"], text_of(top, path)), ("ok", "new\n"), (path, name, flag, r))
                with open(at, "w", encoding="utf-8") as f:
                    f.write("old\n")
    os.symlink("plain", os.path.join(top, ".exrc"))
    t.same(tool_in(t, top, "write_file", path=".exrc", content="x").get("code"), "E_FS_VIOLATION")
    t.same(tool_in(t, top, "write_file", path=".mcp.json", content="x").get("code"), "E_FS_VIOLATION")
    t.same(tool_in(t, top, "write_file", "--write", ".mcp.json", path=".mcp.json", content="x")["status"], "ok")


@case("file tools: only a rule without a wildcard covers a file that takes effect without being started")
def _(t):
    path = ".vscode/tasks.json"
    top = project(t, "asked", [path])
    config = os.path.join(t.home, ".config", "cordon")
    for rules, mode, code in (
            (["write_file:*"], "on-request", "E_APPROVAL_REQUIRED"),
            (["write_file:**"], "on-request", "E_APPROVAL_REQUIRED"),
            (["write_file:.vscode/"], "on-request", "E_APPROVAL_REQUIRED"),
            (["write_file:.vscode/*.json"], "on-request", "E_APPROVAL_REQUIRED"),
            (["write_file:" + path], "always", "E_APPROVAL_REQUIRED"),
            (["write_file:" + path], "never", "E_FS_VIOLATION"),
            (["write_file:" + path], "on-request", None)):
        os.makedirs(config, exist_ok=True)
        with open(os.path.join(config, "config.yaml"), "w", encoding="utf-8") as f:
            json.dump({"allow": rules}, f)
        for entry in (os.path.dirname(config), config, os.path.join(config, "config.yaml")):
            t.own(entry)
        r = t.run([t.cordon, "tool", "write_file", "--json", "-", "--approval", mode],
                  json.dumps({"path": path, "content": "new\n"}).encode(), cwd=top, start_new_session=True)
        r = json.loads(r.out)
        t.same((r.get("code"), text_of(top, path)), (code, "old\n" if code else "new\n"), (rules, mode, r))
        t.true(not code or "--write" in r["message"] or mode == "always", r["message"])
    shutil.rmtree(os.path.dirname(config))


@case("commands: existing files that take effect without being started are read-only, new ones are reported")
def _(t):
    top = project(t, "commands", [path for path, _ in AUTORUN if path != ".venv/pyvenv.cfg"])
    os.mkdir(os.path.join(top, ".venv"))
    t.own(os.path.join(top, ".venv"))
    for path, guarded in AUTORUN:
        if path.startswith("sub/"):
            continue  # not at the top of a repository
        at = os.path.join(top, path)
        r = tool_in(t, top, "shell", command=f"echo new > {path}")
        if not guarded:
            t.same((r["status"], text_of(top, path), r["details"].get("warnings")), ("ok", "new\n", None), (path, r))
            continue
        t.same((r["status"], text_of(top, path)), ("error", "old\n"), (path, r))
        t.true(f"--write {at}" in r["content"], r["content"])
        for command in (f"rm {path}", f"mv {path} x", f"ln {path} x", f"echo > x && mv x {path}"):
            t.same((tool_in(t, top, "shell", command=command)["status"], text_of(top, path)), ("error", "old\n"), command)
        for flag in (path, os.path.dirname(path)) if "/" in path else (path,):
            r = tool_in(t, top, "shell", "--write", flag, command=f"echo newer > {path}")
            t.same((r["status"], text_of(top, path), r["details"].get("warnings")), ("ok", "newer\n", None), (path, r))
        flag = os.path.dirname(path) or path  # a command that replaces the file needs its directory
        r = tool_in(t, top, "shell", "--write", flag, command=f"echo new > {path} && sed -i s/new/newer/ {path}")
        t.same((r["status"], text_of(top, path), r["details"].get("warnings")), ("ok", "newer\n", None), (path, r))
    new = os.path.join(top, ".exrc")
    s = Server(t, cwd=top)
    r = s.call("shell", command="echo x > .exrc")
    t.true(any(new in w and f"--write {new}" in w for w in r["details"]["warnings"]), r)
    t.true(f"[warning] {new} was made" in r["content"], r["content"])
    r = s.call("shell", command="echo y > .exrc")
    t.same((r["status"], "warnings" in r["details"], "new_sandbox" in r["details"]), ("ok", False, False), r)
    s.end()
    t.same(text_of(top, ".exrc"), "y\n")
    r = tool_in(t, top, "shell", "--write", ".mcp.json", command="echo x > .mcp.json")
    t.same((r["status"], r["details"].get("warnings")), ("ok", None), r)


@case("commands: a file that a symlink makes take effect is read-only, and a replaced symlink is reported")
def _(t):
    top = project(t, "links", ["conf"])
    os.symlink("conf", os.path.join(top, ".envrc"))
    r = tool_in(t, top, "shell", command="echo new > conf")
    t.same((r["status"], text_of(top, "conf")), ("error", "old\n"), r)
    r = tool_in(t, top, "shell", command="rm .envrc; echo new > .envrc")
    t.true(any(os.path.join(top, ".envrc") in w for w in r["details"].get("warnings", ())), r)


@case("commands: git, npm scripts and virtual environments work beside files that take effect without being started")
def _(t):
    top = project(t, "ordinary", ["a"])
    git(t, top, "add", ".")
    git(t, top, "commit", "-qm", "one")
    git(t, top, "checkout", "-qb", "env")
    for path in (".envrc", ".github/workflows/ci.yml"):
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w", encoding="utf-8") as f:
            f.write("old\n")
    own_all(t, top)
    git(t, top, "add", ".")
    git(t, top, "commit", "-qm", "two")
    git(t, top, "checkout", "-qb", "more")
    git(t, top, "commit", "-qm", "three", "--allow-empty")
    git(t, top, "checkout", "-q", "main")
    s = Server(t, cwd=top)
    r = s.call("shell", command="git checkout -q env && git status --porcelain")
    t.same((r["status"], text_of(top, ".envrc")), ("ok", "old\n"), r)
    r = s.call("shell", command="git checkout -q main && git checkout -q env && git status --porcelain")
    t.same((r["status"], text_of(top, ".envrc")), ("ok", "old\n"), r)
    s.end()
    r = tool_in(t, top, "shell", command="git checkout -q more && echo x > b && git add b && git -c user.name=x -c user.email=x@x commit -qm four && git status --porcelain")
    t.same((r["status"], r["content"]), ("ok", ""), r)
    git(t, top, "checkout", "-q", "env")
    with open(os.path.join(top, ".envrc"), "w", encoding="utf-8") as f:
        f.write("other\n")
    git(t, top, "commit", "-qam", "five")
    git(t, top, "checkout", "-q", "more")
    r = tool_in(t, top, "shell", command="git checkout -q env; true")  # git itself does not fail
    t.same(text_of(top, ".envrc"), "old\n", r)
    t.true(f"--write {os.path.join(top, '.envrc')}" in r["content"], r)
    git(t, top, "checkout", "-qf", "more")
    r = tool_in(t, top, "shell", "--write", ".envrc", command="git checkout -q env && git status --porcelain")
    t.same((r["status"], r["content"], text_of(top, ".envrc")), ("ok", "", "other\n"), r)
    # husky's prepare script: a failure of `git config` does not fail it
    r = tool_in(t, top, "shell", command="git config core.hooksPath .husky/_ || true; mkdir -p .husky/_ && echo '*' > .husky/_/.gitignore")
    t.same((r["status"], text_of(top, ".husky/_/.gitignore")), ("ok", "*\n"), r)
    r = tool_in(t, top, "shell", command="mkdir -p .venv/bin && echo > .venv/bin/activate")
    t.same((r["status"], r["details"].get("warnings")), ("ok", None), r)
    r = tool_in(t, top, "shell", command="echo more > .venv/bin/activate")
    t.same((r["status"], text_of(top, ".venv/bin/activate")), ("ok", "more\n"), r)


if __name__ == "__main__":
    sys.exit(main())
