#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cordon exec` on an interactive terminal: transparent while it runs, and the terminal is restored
afterwards, however it ends. The terminal, the shell and the typing are console.py's.
"""
import json
import os
import signal
import sys
import termios
import time

from console import EXPECT_S, Console
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import TIMEOUT_S, Failed, case, main, processes, sanitized  # noqa: E402 pylint: disable=wrong-import-position

LONG_MS = 120000
BASH = "/usr/bin/bash"


def console(t, *command, options=(), streams=None, size=(24, 80), **values):
    policy = t.policy(write=[t.work], cwd=t.work, **values)
    return Console(t, t.command(t.child, *command, policy=policy, options=options),
                   *size, streams=streams)


def started(t, *command, word=b"ready", **more):
    """Waits until the program runs; the terminal must then be raw, or else there would be nothing to restore."""
    c = console(t, *command, **more)
    c.expect(word)
    if not c.is_raw():
        c.close()
        raise Failed("the terminal is not raw while the program runs")
    return c


# Ways to end ----------------------------------------------------------------------------------------

def judge_end(t, c, *codes):
    """Checks the exit status; finish() checks that the terminal is restored."""
    code = c.finish()
    t.true(code in codes, f"exit {code}, wanted {codes}")


@case("modes restored: the program ends")
def _(t):
    with started(t, "listen", word=b"size") as c:
        c.send(b"quit\n")
        judge_end(t, c, 0)


@case("modes restored: the program ends immediately, a hundred times")
def _(t):
    policy = t.policy()
    for i in range(20 if sanitized() else 100):
        with Console(t, t.command(t.child, "exit", str(i % 2), policy=policy)) as c:
            judge_end(t, c, 6 if i % 2 else 0)


@case("modes restored: the program leaves its own terminal raw")
def _(t):
    with started(t, "raw") as c:
        c.send(b"a")
        c.expect(b"<61>")
        c.kill(signal.SIGTERM)
        judge_end(t, c, 130, 143, -15)


@case("modes restored: the program is killed by a signal")
def _(t):
    for signo in (signal.SIGKILL, signal.SIGSEGV):
        with console(t, "die", str(int(signo))) as c:
            judge_end(t, c, 6)


@case("modes restored: the run time is over")
def _(t):
    with started(t, "ignore", budgets={"max_runtime_ms": 1000}) as c:
        judge_end(t, c, 4)


@case("modes restored: the program printed too much")
def _(t):
    with console(t, "flood", budgets={"max_output_bytes": 100000}) as c:
        judge_end(t, c, 4)


@case("modes restored: the program prints much and the terminal is slow")
def _(t):
    with console(t, "binary", "300000") as c:
        judge_end(t, c, 0)


@case("modes restored: Ctrl-C ends the program")
def _(t):
    for option, codes in (([], (6, 130)), (["--exit-code", "child"], (130,))):
        with started(t, "pause", options=option) as c:
            c.send(b"\x03")
            judge_end(t, c, *codes)


for signo in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    @case(f"modes restored: cordon gets {signo.name}, and the sandbox is gone")
    def _(t, signo=signo):
        lock = t.file("lock")
        with started(t, "lock", lock) as c:
            t.locked(lock)
            c.kill(signo)
            judge_end(t, c, 130, 128 + signo, -signo)
        t.unlocked(lock)


@case("modes restored: the command is denied, the policy malformed")
def _(t):
    with Console(t, t.command("/usr/bin/id", policy=t.policy())) as c:
        judge_end(t, c, 2)
    with Console(t, t.command(t.child, "exit", "0", policy=t.policy(text=b"{"))) as c:
        judge_end(t, c, 9)


@case("modes restored: a child of the program holds the terminal")
def _(t):
    lock = t.file("lock")
    with console(t, "hold", lock, budgets={"max_runtime_ms": LONG_MS}) as c:
        c.expect(b"done\r\n")
        judge_end(t, c, 0)
    t.unlocked(lock)


@case("a terminal that had unusual modes gets them back")
def _(t):
    def odd(modes):
        modes[0] &= ~termios.IXON
        modes[3] &= ~termios.ECHO
        modes[6][termios.VINTR] = b"\x07"
    policy = t.policy()
    argv = t.command(t.child, "listen", policy=policy)
    with Console(t, argv, change=odd) as c:
        c.expect(b"size")
        t.true(c.is_raw(), "the terminal is not raw while the program runs")
        c.send(b"quit\n")
        judge_end(t, c, 0)


@case("the window is closed: cordon and the whole sandbox end")
def _(t):
    lock = t.file("lock")
    c = started(t, "lock", lock, budgets={"max_runtime_ms": LONG_MS})
    with c:
        t.locked(lock)
        c.hang_up()
        t.unlocked(lock, TIMEOUT_S / 3)
        c.finish(restored=False)


def flood(t, lock, runtime_ms, options=()):
    """Prints endlessly, and holds a lock as long as the sandbox exists."""
    script = f"{t.child} daemon {lock}; exec {t.child} flood"
    policy = t.policy(write=[t.work], execs=[t.child, BASH], shell=True, budgets={
        "max_runtime_ms": runtime_ms, "max_output_bytes": 1 << 40})
    return Console(t, t.command(BASH, "-c", script, policy=policy, options=options))


@case("a terminal that is not read: the run time ends the run, and cordon's own messages do not block")
def _(t):
    policy = t.policy(execs=[t.child, BASH], shell=True, budgets={
        "max_runtime_ms": 200, "max_output_bytes": 1 << 40})
    for script in ("exec {0} flood", "exec {0} flood >&2", "{0} flood >&2 & {0} flood"):
        for options in ([], ["--pipes"]):
            command = [BASH, "-c", script.format(t.child)]
            for mode in (0o620, 0)[:1 if t.uid is None else 2]:  # 0: as if it belonged to another user, as after `su`
                argv = t.command(*command, policy=policy, options=options)
                with Console(t, argv, mode=mode) as c:
                    t.same(c.event("end", read=False), b"4", f"{script} {options} {mode:o}")
                    t.same(c.modes(), c.before, "the modes afterwards")


@case("a terminal that is not read: the result waits for its reader, and can be interrupted")
def _(t):
    lock = t.file("lock")
    with flood(t, lock, 500, options=["--json"]) as c:
        t.until_locked(lock)
        t.unlocked(lock, EXPECT_S)
        deadline = time.monotonic() + EXPECT_S
        while not c.raw_events and time.monotonic() < deadline:
            c.kill(signal.SIGTERM)
            c.pump(read=False)
        t.same(c.event("end", read=False), b"-15")


@case("a terminal that is not read: cordon gets SIGTERM, and ends")
def _(t):
    lock = t.file("lock")
    with flood(t, lock, LONG_MS) as c:
        t.until_locked(lock)
        c.kill(signal.SIGTERM)
        t.same(c.event("end", read=False), b"130")
    t.unlocked(lock)


# While it runs --------------------------------------------------------------------------------------

@case("the window size is forwarded, at the start and when it changes")
def _(t):
    with started(t, "listen", size=(33, 101), word=b"size 33x101\r\n") as c:
        for rows, cols in ((10, 40), (50, 200), (24, 80)):
            c.resize(rows, cols)
            c.expect(b"got WINCH %dx%d\r\n" % (rows, cols))
        c.send(b"quit\n")
        judge_end(t, c, 0)


@case("a terminal without a size gives 24 by 80, or none")
def _(t):
    with console(t, "listen", size=(0, 0)) as c:
        c.expect(b"size (24x80|0x0)\r\n")
        c.send(b"quit\n")
        judge_end(t, c, 0)


@case("Ctrl-C and Ctrl-\\ reach the program, and only it")
def _(t):
    with started(t, "listen", word=b"size") as c:
        for key, name in ((b"\x03", b"INT"), (b"\x1c", b"QUIT"), (b"\x03", b"INT")):
            c.send(key)
            c.expect(b"got %s " % name)
        c.send(b"still here\n")
        c.expect(b"line still here\r\n")
        t.true(c.is_running(), "cordon ended")
        t.true(b"got" not in c.seen, f"a signal came twice: {c.seen}")
        c.send(b"quit\n")
        judge_end(t, c, 0)


@case("keys are interpreted by the program's own terminal")
def _(t):
    with started(t, "raw") as c:
        for byte in (0x03, 0x1a, 0x1c, 0x04, 0x11, 0x13, 0x0d, 0x0a, 0x7f, 0x00, 0x16, 0xff, 0xc3):
            c.send(bytes([byte]))
            c.expect(b"<%02x>\r\n" % byte)
        t.true(c.is_running(), "cordon stopped or ended")
        c.send(b"q")
        judge_end(t, c, 0)


@case("16 KiB pasted at once arrive completely")
def _(t):
    with started(t, "raw") as c:
        c.send(b"a" * 16384 + b"q")
        judge_end(t, c, 0)
        t.same(c.seen.count(b"<61>"), 16384)


@case("end of input: Ctrl-D ends a program that reads lines")
def _(t):
    with started(t, "listen", word=b"size") as c:
        c.send(b"\x04")
        judge_end(t, c, 0)


@case("output is byte for byte that of the program's terminal")
def _(t):
    with console(t, "print", "%1b[31mred%1b[0m%0atwo%0d%0a%1b]0;title%07%e2%82%ac%0aend%0a") as c:
        judge_end(t, c, 0)
        t.same(c.seen, b"\x1b[31mred\x1b[0m\r\ntwo\r\r\n\x1b]0;title\x07\xe2\x82\xac\r\nend\r\n")


# Suspended ------------------------------------------------------------------------------------------

@case("Ctrl-Z suspends cordon with the modes restored; SIGCONT resumes it, raw again, with the new size")
def _(t):
    with started(t, "listen", word=b"size") as c:
        for size in ((24, 80), (40, 100)):
            c.send(b"\x1a")
            t.true(int(c.event("stop")) in (signal.SIGTSTP, signal.SIGSTOP), "another signal")
            t.same(c.modes(), c.before, "the modes while it is suspended")
            c.resize(*size)
            c.fg()
            c.expect(b"got CONT %dx%d" % size)
            t.true(c.is_raw(), "the terminal is not raw after it went on")
            c.send(b"again\n")
            c.expect(b"line again\r\n")
        c.send(b"quit\n")
        judge_end(t, c, 0)


def inside(c):
    """States of the child's processes, as seen from the host: {pid: letter}."""
    seen = list(processes())
    parents = {pid: parent for pid, parent, _, _ in seen}

    def descends(pid):
        while pid in parents and pid != c.job:
            pid = parents[pid]
        return pid == c.job
    return {pid: state for pid, _, state, name in seen if name == b"(child)" and descends(pid)}


def until_states(c, letters):
    deadline = time.monotonic() + EXPECT_S
    while set((seen := inside(c)).values()) != set(letters) or len(seen) != 2:
        if time.monotonic() > deadline:
            raise Failed(f"the sandbox's processes are {seen}, wanted two of {letters}")
        time.sleep(0.002)


@case("Ctrl-Z stops the whole sandbox, including processes that left the terminal's session; fg continues all of it")
def _(t):
    with started(t, "far") as c:
        for _ in range(3):
            until_states(c, "S")
            c.send(b"\x1a")
            c.event("stop")
            until_states(c, "T")
            c.fg()
            seen = c.expect(rb"(far )?again\r\n").group(1), c.expect(rb"(far )?again\r\n").group(1)
            t.same(set(seen), {b"far ", None})
        c.kill(signal.SIGTERM)
        judge_end(t, c, 130)


@case("output printed before a program stopped is shown when cordon is suspended")
def _(t):
    for _ in range(10):
        with console(t, "stop") as c:
            c.event("stop")
            c.expect(b"ready")


@case("suspended, then killed: the sandbox is gone")
def _(t):
    lock = t.file("lock")
    c = started(t, "lock", lock)
    with c:
        c.send(b"\x1a")
        c.event("stop")
        t.locked(lock)
        c.kill(signal.SIGTERM)
        c.fg()
        judge_end(t, c, 130, 143, -15)
    t.unlocked(lock)


@case("a program that stops itself is not stuck: cordon is suspended, and the run time still counts")
def _(t):
    with console(t, "stop", budgets={"max_runtime_ms": 1500}) as c:
        deadline = time.monotonic() + EXPECT_S
        while not (line := c.any_event()).startswith(b"end") and time.monotonic() < deadline:
            t.same(c.modes(), c.before, "the modes while it is suspended")
            c.fg()
        t.same(line, b"end 4")
        t.same(c.modes(), c.before, "the modes afterwards")


# Partly a terminal ----------------------------------------------------------------------------------

def with_input(t, data, *command, **more):
    """The console with a pipe for stdin, which contains `data` and then ends."""
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    try:
        return console(t, *command, streams={0: read_end}, **more)
    finally:
        os.close(read_end)


@case("stdin is a pipe, stdout a terminal: piped input is not echoed, and ends")
def _(t):
    with with_input(t, b"hello\nworld\n", "copy") as c:
        judge_end(t, c, 0)
        t.same(c.seen, b"hello\r\nworld\r\n")


@case("stdin is a pipe, stdout a terminal: control characters are plain bytes")
def _(t):
    data = b"a\x03b\x04c\x1ad\x11\x13\x7f\x15e"
    with with_input(t, data, "copy") as c:
        judge_end(t, c, 0)
        t.same(c.seen, data)


@case("stdin is a terminal, stdout a pipe: typed lines arrive, Ctrl-D ends, Ctrl-C interrupts")
def _(t):
    for key, codes in ((b"\x04", (0,)), (b"\x03", (130, -2))):
        read_end, write_end = os.pipe()
        c = console(t, "copy", streams={1: write_end})
        os.close(write_end)
        with c:
            c.send(b"typed\n")
            t.same(os.read(read_end, 100), b"typed\n")
            c.send(key)
            judge_end(t, c, *codes)
        os.close(read_end)


@case("--pipes on a terminal: the program has no terminal, and the modes are unchanged")
def _(t):
    with console(t, "tty", options=["--pipes"]) as c:
        judge_end(t, c, 6)
    with console(t, "listen", options=["--pipes"]) as c:
        c.expect(b"size 0x0")
        t.same(c.modes(), c.before)
        c.send(b"quit\n")
        judge_end(t, c, 0)


@case("--json on a terminal: one line of JSON, modes unchanged")
def _(t):
    with console(t, "print", "hi", options=["--json"]) as c:
        judge_end(t, c, 0)
        t.same(json.loads(c.seen.decode())["status"], "passed")


@case("no terminal at all: --pty gives the program one of 24 by 80")
def _(t):
    run = t.exec(t.child, "listen", policy=t.policy(), options=["--pty"], data=b"quit\n")
    t.same(run.out, b"size 24x80\r\n", run)


@case("no input at all: a program that reads gets end of file and does not wait for its run time")
def _(t):
    policy = t.policy(budgets={"max_runtime_ms": 5000})
    for options in (["--pipes"], ["--pty"], ["--json"], ["--json", "--pipes"]):
        run = t.exec(t.child, "copy", policy=policy, options=options, expect=None)
        t.code(run, 0)


sys.exit(main())
