#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Effects of a hostile or broken program, policy or command line on `cordon exec`: budgets, limits,
processes that do not exit, bad input, a machine that lacks what the sandbox needs; and that nothing is
left afterwards. See harness.py.

Times are judged by the limits given to the program, never by the clock alone: "at once" means that a long
budget was not needed. The one absolute time is the 50 ms after a budget, as the best of several runs.
"""
import contextlib
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import (KILLED_S, PRESET_PYTHON, TIMEOUT_S, Failed, become_reaper, case, factor, in_time, main,  # noqa: E402 pylint: disable=wrong-import-position
                     orphans, peak, sanitized)

MIB = 1 << 20
LONG_MS = 120000       # a budget that no test should come near
AFTER_BUDGET_MS = 50   # the number
BUDGET_RUNS = 50       # at most, until one is in time: others also use this machine
SUPERVISOR_MIB = 6     # VmHWM of the cordon process, also under a flood
PIPES, PTY = ["--pipes"], ["--pty"]
JSON = ["--json"]


def budgets(**values):
    return {"budgets": values}


def run_json(t, *command, policy, options=(), **more):
    return t.exec(*command, policy=policy, options=[*JSON, *options], expect=None, **more)


def over_budget(t, run, budget):
    """Checks for exit 4 and the budget's name."""
    t.denied(run, "E_TIMEOUT", 4)
    t.same(run.error.get("context", {}).get("budget"), budget, run)
    status = run.result.get("exit_status") or {}
    t.same(status.get("terminated_by_harness"), True, run)
    t.same(run.result.get("status"), "errored", run)


def watch(t, argv, read=True):
    """Runs a command, counts its output, and watches its memory: (exit status, bytes, peak)."""
    process = t.start(argv, stderr=subprocess.DEVNULL)
    most = count = 0
    deadline = time.monotonic() + TIMEOUT_S
    open_end = True
    while process.poll() is None:
        most = max(most, peak(process.pid) or 0)
        if not open_end or not read:
            time.sleep(0.005)
        elif select.select([process.stdout], [], [], 0.005)[0]:
            part = len(os.read(process.stdout.fileno(), MIB))
            count, open_end = count + part, part > 0
        if time.monotonic() > deadline:
            process.kill()
            raise Failed("a flood did not end")
    while open_end and (part := len(os.read(process.stdout.fileno(), MIB))):
        count += part
    return process.returncode, count, most


# Output ---------------------------------------------------------------------------------------------

def flood(t, command, how, mib=64):
    policy = t.policy(**budgets(max_output_bytes=mib * MIB, max_runtime_ms=LONG_MS))
    code, count, most = watch(t, t.command(t.child, *command, policy=policy, options=how))
    t.same(code, 4)
    t.true(count <= mib * MIB, f"{count} bytes were printed, {mib * MIB} are allowed")
    t.true(count >= mib * MIB - MIB, f"only {count} bytes of {mib * MIB} were printed")
    limit = SUPERVISOR_MIB * MIB * factor() * (2 if sanitized() else 1)
    t.true(0 < most < limit, f"the supervisor's memory went to {most} bytes")


for label, command in (("lines", ["flood"]), ("one line of 1 GB", ["line", str(10**9)]),
                       ("binary, invalid UTF-8", ["binary", str(10**9)])):
    for how in (PIPES, PTY):
        @case(f"a flood ends at the budget, memory stays flat: {label}, {how[0]}")
        def _(t, command=command, how=how):
            flood(t, command, how, 8 if sanitized() else 64)


for how in (PIPES, PTY):
    @case(f"a flood as JSON: exit 4, the budget's name, valid UTF-8, {how[0]}")
    def _(t, how=how):
        for command in (["flood"], ["line", str(10**9)], ["binary", str(10**9)]):
            policy = t.policy(**budgets(max_output_bytes=MIB, max_runtime_ms=LONG_MS))
            over_budget(t, run_json(t, t.child, *command, policy=policy, options=how),
                        "max_output_bytes")


@case("a flood as JSON: memory is bounded by the budget, not by the flood")
def _(t):
    policy = t.policy(**budgets(max_output_bytes=MIB, max_runtime_ms=LONG_MS))
    code, _, most = watch(t, t.command(t.child, "flood", policy=policy, options=JSON))
    t.same(code, 4)
    limit = (SUPERVISOR_MIB + 8) * MIB * factor() * (2 if sanitized() else 1)
    t.true(0 < most < limit, f"the supervisor's memory went to {most} bytes")


@case("output of exactly its budget succeeds, one byte more fails")
def _(t):
    for size, code in ((MIB, 0), (MIB + 1, 4)):
        policy = t.policy(**budgets(max_output_bytes=MIB))
        run = t.exec(t.child, "line", str(size), policy=policy, options=PIPES, expect=None)
        t.code(run, code)
        t.true(run.out == b"a" * MIB, f"{len(run.out)} bytes of output, or others")


def record_of(t, path):
    """The record of a run, checked for completeness: {name: bytes}."""
    found = {}
    for place, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(place, name), "rb") as f:
                found[os.path.relpath(os.path.join(place, name), path)] = f.read()
    wanted = {"events.jsonl", "normalization.json", "policy.json", "run.json", "transcript.log"}
    if "snapshots/0001.json" in found:  # on a terminal
        wanted.add("snapshots/0001.json")
    t.same(sorted(found), sorted(wanted | {"checksums.json"}))
    sums = json.loads(found["checksums.json"])
    t.same(sorted(sums), sorted(wanted))
    for name, want in sums.items():
        value = 14695981039346656037
        for byte in found[name]:
            value = (value ^ byte) * 1099511628211 % (1 << 64)
        t.same(f"{value:016x}", want, f"the checksum of {name}")
    json.loads(found["policy.json"])
    return found


for how in (PIPES, PTY):
    @case(f"output within the budget is kept when the run is ended, by its time or by one byte too many, {how[0]}")
    def _(t, how=how):
        size = 200000
        for i, (command, budget) in enumerate(((["burst", str(size)], "max_runtime_ms"),
                                               (["line", str(size + 1)], "max_output_bytes"),
                                               (["burst", str(size + 1)], "max_output_bytes"))):
            def attempt(runtime, command=command, number=i):
                record = os.path.join(t.work, f"record-{number}-{runtime}")
                policy = t.policy(write=[t.work], **budgets(max_output_bytes=size, max_runtime_ms=runtime))
                run = t.exec(t.child, *command, policy=policy, options=[*how, "--artifacts", record], expect=4)
                return (run, record) if len(run.out) >= size or runtime == LONG_MS else None
            run, record = in_time(attempt, *((1000, 10000, LONG_MS) if budget == "max_runtime_ms" else (LONG_MS,)))
            t.true(run.out == b"a" * size, f"{len(run.out)} bytes of output, or others")
            t.true(budget.encode() in run.err, run)
            found = record_of(t, record)
            t.true(found["transcript.log"] == b"a" * size, f"{len(found['transcript.log'])} bytes in the record")
            result = json.loads(found["run.json"])
            t.same((result["status"], result["error"]["context"]["budget"]), ("errored", budget))

    @case(f"a reader that disconnects: the record of the run is complete, {how[0]}")
    def _(t, how=how):
        for i, command in enumerate((["flood"], ["binary", str(10**9)])):
            record = os.path.join(t.work, f"record-{i}")
            policy = t.policy(write=[t.work], **budgets(max_runtime_ms=LONG_MS, max_output_bytes=1 << 40))
            process = t.start(t.command(t.child, *command, policy=policy, options=[*how, "--artifacts", record]))
            first = os.read(process.stdout.fileno(), 2)
            process.stdout.close()
            process.stdout = None
            t.same(process.wait(TIMEOUT_S), 6)
            found = record_of(t, record)
            t.true(found["transcript.log"].startswith(first), "the received output is not in the record")
            t.same(json.loads(found["run.json"])["status"], "failed")


@case("stdout and stderr share one budget")
def _(t):
    real = os.path.realpath(PRESET_PYTHON)
    script = "import os\nfor i in range(60):\n for fd in (1, 2): os.write(fd, b'x' * 10000)"
    run = t.exec(real, "-c", script, policy=t.policy(execs=[real], **budgets(max_output_bytes=MIB)),
                 options=PIPES, expect=4)
    t.true(len(run.out) + run.err.count(b"x" * 100) * 100 <= MIB + 200, len(run.out))


@case("binary data passes through a pipe unchanged")
def _(t):
    block = bytes((i * 7 + i // 256) % 256 for i in range(65536))
    run = t.exec(t.child, "binary", str(3 * MIB), policy=t.policy(), options=PIPES)
    t.true(run.out == block * 48, f"{len(run.out)} bytes, or others")


HOSTILE = {
    "OSC 52 (clipboard)": b"\x1b]52;c;aGk=\x07", "OSC 8 (link)": b"\x1b]8;;http://x/\x1b\\x\x1b]8;;\x1b\\",
    "queries": b"\x1b[c\x1b[6n\x1bP$qm\x1b\\\x1b[21t\x05", "reset": b"\x1bc\x1b[!p",
    "bracketed paste": b"\x1b[201~", "C1": b"\xc2\x9b31m\xc2\x9d0;x\xc2\x9c\x9b31m", "bidi": "\u202eabc\u2066".encode(),
    "invalid UTF-8": b"\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", "NUL and DEL": b"a\0b\x7fc",
}
for how in (PIPES, PTY):
    @case(f"output that attacks a terminal is escaped in JSON, {how[0]}")
    def _(t, how=how):
        for name, raw in HOSTILE.items():
            coded = "".join(f"%{byte:02x}" for byte in raw)
            run = run_json(t, t.child, "print", coded, policy=t.policy(), options=how)
            t.code(run, 0)
            bad = [c for c in run.out.decode("utf-8")[:-1] if c < " " or "\x7f" <= c <= "\x9f"]
            t.true(not bad, f"{name}: raw {bad!r}\n{run}")
            t.true(isinstance(run.result, dict), run)


@case("names with escape sequences are shown escaped")
def _(t):
    for raw in (b"/x\x1b]52;c;aGk=\x07", b"/x\xc2\x9b31m", b"/x\x7f\xff"):
        run = t.exec(raw, policy=t.policy(), expect=2)
        text = run.err.decode("utf-8")
        t.true(text and not [c for c in text if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f"], run)


@case("a slow reader loses nothing")
def _(t):
    process = t.start(t.command(t.child, "binary", str(MIB), policy=t.policy(), options=PIPES))
    got = b""
    while part := os.read(process.stdout.fileno(), 1500):
        got += part
        if len(got) % 65536 < 1500:
            time.sleep(0.001)
    t.same(process.wait(TIMEOUT_S), 0)
    block = bytes((i * 7 + i // 256) % 256 for i in range(65536))
    t.true(got == block * 16, f"{len(got)} bytes, or others")


for how in (PIPES, PTY):
    @case(f"a reader that does not read: the run time still ends it, {how[0]}")
    def _(t, how=how):
        def attempt(runtime):
            lock = t.file(f"lock-{runtime}")
            script = f"{t.child} daemon {lock}; {t.child} flood"
            policy = t.policy(write=[t.work], execs=[t.child, "/usr/bin/bash"], shell=True,
                              **budgets(max_runtime_ms=runtime, max_output_bytes=1 << 40))
            process = t.start(t.command("/usr/bin/bash", "-c", script, policy=policy, options=how))
            began = True
            try:
                t.until_locked(lock, runtime / 1000 + 5)
            except Failed:
                began = None
            t.unlocked(lock, TIMEOUT_S)
            while os.read(process.stdout.fileno(), MIB):
                pass
            t.same(process.wait(TIMEOUT_S), 4)
            return began
        in_time(attempt, 1000, 10000, LONG_MS)


@case("a reader that disconnects: the run and the sandbox end")
def _(t):
    lock = t.file("lock")
    script = f"{t.child} daemon {lock}; {t.child} flood"
    policy = t.policy(write=[t.work], execs=[t.child, "/usr/bin/bash"], shell=True,
                      **budgets(max_runtime_ms=LONG_MS, max_output_bytes=1 << 40))
    process = t.start(t.command("/usr/bin/bash", "-c", script, policy=policy, options=PIPES))
    t.until_locked(lock)
    os.read(process.stdout.fileno(), 1000)
    process.stdout.close()
    process.stdout = None
    code = process.wait(TIMEOUT_S)
    t.true(code not in (0, 4), f"exit {code}")
    t.unlocked(lock)


# Run time -------------------------------------------------------------------------------------------

def time_over(t, command, options=(), budget_ms=300, write=()):
    policy = t.policy(write=write, **budgets(max_runtime_ms=budget_ms))
    run = run_json(t, t.child, *command, policy=policy, options=options)
    over_budget(t, run, "max_runtime_ms")
    return run.result["ended_at_ms"] - run.result["started_at_ms"]


def best(measure, enough):
    """The best of at most BUDGET_RUNS measurements; the first one that is good enough."""
    return min(until_enough(measure, enough))


def until_enough(measure, enough):
    for _ in range(BUDGET_RUNS):
        took = measure()
        yield took
        if took <= enough:
            return


def late_ms(t):
    """By how much a plain program is ended late after 300 ms: the delay of a busy machine."""
    with subprocess.Popen([t.child, "pause"], stdout=subprocess.DEVNULL) as plain:
        start = time.monotonic()
        time.sleep(0.3)
        plain.kill()
        plain.wait()
        return (time.monotonic() - start) * 1000 - 300


for label, command in (
        ("sleeps", ["pause"]), ("stops itself", ["stop"]), ("ignores and blocks every signal", ["ignore"]),
        ("closes its output and sleeps", ["hush"])):
    for how in (PIPES, PTY):
        @case(f"a program that {label} is ended within 50 ms of its run time, {how[0]}")
        def _(t, command=command, how=how):
            limit = 300 + AFTER_BUDGET_MS * factor()

            def measure():
                took = time_over(t, command, how)
                t.true(took >= 300, f"it took {took} ms")
                return took if took <= limit else took - late_ms(t)
            took = best(measure, limit)
            t.true(took <= limit, f"it took {took} ms where 300 are allowed, apart from the machine's own delay")


@case("the whole command is over within 50 ms of the run time, plus the cost of a start")
def _(t):
    def wall(*command, **values):
        start = time.monotonic()
        t.exec(t.child, *command, policy=t.policy(**budgets(**values)), options=PIPES, expect=None)
        return (time.monotonic() - start) * 1000
    base = min(wall("exit", "0") for _ in range(5))
    limit = 300 + base + AFTER_BUDGET_MS * factor()
    took = best(lambda: wall("ignore", max_runtime_ms=300), limit)
    t.true(300 <= took <= limit, f"{took} ms; a start costs {base} ms")


@case("a program that forks forever and catches every signal is ended completely by its run time")
def _(t):
    lock = t.file("lock")
    policy = t.policy(write=[t.work], limits={"processes": 48}, **budgets(max_runtime_ms=500))
    run = run_json(t, t.child, "bomb", lock, policy=policy)
    over_budget(t, run, "max_runtime_ms")
    t.unlocked(lock)


# Processes ------------------------------------------------------------------------------------------

@case("processes are limited, also as root; the host's own limit is unchanged")
def _(t):
    def host():
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
            return f.read()
    before = host()
    policy = t.policy(limits={"processes": 40})
    run = run_json(t, t.child, "forks", "1000", policy=policy, options=PIPES)
    t.code(run, 0)
    word, count, why = run.result["final_observation"]["transcript_delta"].split()
    gaps = json.dumps(run.result["sandbox_report"]["gaps"])
    t.true(word == "forked" and 20 <= int(count) < 400 and why == "EAGAIN", run)
    t.true(int(count) <= 40 or "limits.processes" in gaps, f"gaps: {gaps}\n{run}")
    t.same(host(), before)
    run = t.exec(t.child, "forks", "1000", policy=t.policy(limits={"processes": 400}), options=PIPES)
    word, count, why = run.out.split()
    t.true(word == b"forked" and 350 <= int(count) <= 400 and why == b"EAGAIN", run)


for limit, width in ((40, 30), (100, 80), (512, 400)):
    @case(f"a limit of {limit} processes applies to live processes, not to all that ever existed")
    def _(t, limit=limit, width=width):
        rounds = 2000 // width
        policy = t.policy(limits={"processes": limit})
        run = t.exec(t.child, "generations", str(rounds), str(width), policy=policy, options=PIPES)
        t.same(run.out, b"at least %d 0\n" % width, run)


for how in (PIPES, PTY):
    @case(f"a daemon that called setsid twice ends with the run, {how[0]}")
    def _(t, how=how):
        lock = t.file("lock")
        t.exec(t.child, "daemon", lock, policy=t.policy(write=[t.work]), options=how)
        t.unlocked(lock)

    @case(f"nohup, disown and a trap do not outlive the run, {how[0]}")
    def _(t, how=how):
        lock = t.file("lock")
        shutil.copy(t.child, t.work + "/daemon")
        script = f"""trap '' HUP TERM INT; nohup setsid ./daemon lock {lock} >out 2>&1 </dev/null & disown
            for i in $(seq 2000); do grep -q ready out 2>/dev/null && exit 0; sleep 0.01; done; exit 1"""
        t.exec("/usr/bin/bash", "-c", script, options=["--preset", "build", "--root", t.work, *how])
        t.unlocked(lock)

    @case(f"the child exits, its child holds the output: the run ends immediately, {how[0]}")
    def _(t, how=how):
        lock = t.file("lock")
        policy = t.policy(write=[t.work], **budgets(max_runtime_ms=LONG_MS))
        run = run_json(t, t.child, "hold", lock, policy=policy, options=how)
        t.code(run, 0)
        took = run.result["ended_at_ms"] - run.result["started_at_ms"]
        t.true(took < LONG_MS / 10, f"it took {took} ms")
        t.unlocked(lock)
        t.true("done" in run.result["final_observation"].get("transcript_delta", ""), run)


@case("a program that reads its output back from the pipe does not block the supervisor")
def _(t):
    rounds = 400
    policy = t.policy(read=[t.work], cwd=t.work, **budgets(max_runtime_ms=LONG_MS))
    process = t.start(t.command(t.child, "steal", str(rounds), policy=policy, options=PIPES), stdin=subprocess.PIPE)
    for _ in range(rounds):
        t.true(select.select([process.stderr], [], [], TIMEOUT_S)[0], "the supervisor hangs")
        t.same(os.read(process.stderr.fileno(), 1), b"o")
        os.write(process.stdin.fileno(), b"x")
    t.code(t.finish(process), 0)


for how in (PIPES, PTY):
    @case(f"input that is not read, large or endless: the run ends with the program or its time, {how[0]}")
    def _(t, how=how):
        lock, much = t.file("lock"), t.file("much", b"x" * MIB)
        for command, code in ((["exit", "0"], 0), (["exit", "3"], 3), (["hold", lock], 0), (["pause"], 4)):
            policy = t.policy(write=[t.work], **budgets(max_runtime_ms=500 if code == 4 else LONG_MS))
            argv = t.command(t.child, *command, policy=policy, options=[*how, "--exit-code", "child"])
            with open(much, "rb") as f:
                for stdin in (f, subprocess.PIPE):
                    t.same(t.start(argv, stdin=stdin).wait(TIMEOUT_S), code, f"{command} {stdin}")
                    t.unlocked(lock)


@case("the control: without a sandbox such a daemon survives")
def _(t):
    lock = t.file("lock")
    t.code(t.run([t.child, "daemon", lock]), 0)
    t.locked(lock)
    orphans()
    t.unlocked(lock, KILLED_S)


@case("ten thousand orphans are reaped")
def _(t):
    n = 1000 if sanitized() else 10000
    policy = t.policy(limits={"processes": 100})
    run = t.exec(t.child, "zombies", str(n), policy=policy, options=PIPES)
    t.same(run.out, b"orphans %d 0\n" % n, run)


for signo in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    for how in (PIPES, PTY):
        @case(f"the supervisor gets {signo.name}: the whole sandbox is gone, {how[0]}")
        def _(t, signo=signo, how=how):
            locks = [t.file("lock"), t.file("lock2")]
            script = f"{t.child} daemon {locks[0]}; exec {t.child} lock {locks[1]}"
            policy = t.policy(write=[t.work], execs=[t.child, "/usr/bin/bash"], shell=True)
            process = t.start(t.command("/usr/bin/bash", "-c", script, policy=policy, options=how))
            t.until(process, b"ready")
            t.locked(locks[0])
            t.locked(locks[1])
            process.send_signal(signo)
            code = process.wait(TIMEOUT_S)
            killed = signo == signal.SIGKILL
            t.true(code == -signo if killed else code in (130, 128 + signo, -signo), f"exit {code}")
            for lock in locks:
                t.unlocked(lock, KILLED_S if killed else 0)
            if killed:
                t.same(orphans(KILLED_S), [])


for signo in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    @case(f"{signo.name} that the caller ignores, as with nohup, ends nothing")
    def _(t, signo=signo):
        for how in (PIPES, PTY):
            argv = t.command(t.child, "listen", policy=t.policy(), options=how)
            more = {"preexec_fn": lambda: signal.signal(signo, signal.SIG_IGN)}
            if signo == signal.SIGHUP:
                argv, more = ["nohup", *argv], {}
            process = t.start(argv, stdin=subprocess.PIPE, **more)
            t.until(process, b"size")
            process.send_signal(signo)
            process.stdin.write(b"here\n")
            process.stdin.flush()
            t.until(process, b"line here")
            t.code(t.finish(process, b"quit\n"), 0)


@case("interrupted with --json: the result is complete, exit 130")
def _(t):
    lock = t.file("lock")
    argv = t.command(t.child, "lock", lock, policy=t.policy(write=[t.work]), options=JSON)
    process = t.start(argv)
    t.until_locked(lock)
    process.send_signal(signal.SIGINT)
    run = t.finish(process)
    t.denied(run, "E_CANCELED", 130)
    t.same(run.result.get("status"), "canceled", run)
    t.unlocked(lock)


# Memory, files --------------------------------------------------------------------------------------

@case("memory is limited: 64 GB cannot be allocated, nor more than the policy allows")
def _(t):
    outside = t.run([t.child, "alloc", str(64 << 30), str(512 * MIB)])
    t.true(outside.out.endswith(b"allocated %d 0\n" % (512 * MIB)), f"the control\n{outside}")
    policy = t.policy(limits={"memory_bytes": 256 * MIB})
    for size in (64 << 30, 1 << 30):
        run = t.exec(t.child, "alloc", str(size), str(512 * MIB), policy=policy, options=PIPES, expect=None)
        t.code(run, 0, 6)
        t.true(b"allocated" not in run.out, f"{size} bytes were to be had\n{run}")
        t.true(run.out.count(b"touched") <= 16, run)
    run = t.exec(t.child, "alloc", str(64 * MIB), str(64 * MIB), policy=policy, options=PIPES)
    t.true(b"allocated" in run.out, f"an allowed action failed\n{run}")


@case("the minimum memory of a policy is enough for a small program; less is refused before it runs")
def _(t):
    real = os.path.realpath("/usr/bin/true")
    for limit, command in ((MIB, [t.child, "exit", "0"]), (MIB, [real])):
        t.exec(*command, policy=t.policy(execs=[t.child, real], limits={"memory_bytes": limit}), options=PIPES)
    for limit in (0, 1, 4096, MIB - 1):
        run = try_policy(t, limits={"memory_bytes": limit})
        refuse(t, run, "E_PROTOCOL", 9)
        t.true(f"limits.memory_bytes: {limit} is less than {MIB}" in run.error["message"], run)


@case("memory of several processes together is limited, or the report lists the gap")
def _(t):
    policy = t.policy(limits={"memory_bytes": 256 * MIB}, **budgets(max_runtime_ms=4000))
    run = run_json(t, t.child, "share", "6", str(100 * MIB), policy=policy, options=PIPES)
    gaps = json.dumps(run.result["sandbox_report"]["gaps"])
    shares = run.result["final_observation"]["transcript_delta"].count("share")
    t.true(shares < 3 or "memory" in gaps, f"{shares} processes had 100 MiB each, gaps: {gaps}")


@case("open files are limited")
def _(t):
    run = t.exec(t.child, "files", "1000000", policy=t.policy(limits={"open_files": 64}), options=PIPES)
    word, count, why = run.out.split()
    t.true(word == b"opened" and 32 <= int(count) <= 64 and why == b"EMFILE", run)
    run = t.exec(t.child, "files", "1000000", policy=t.policy(), options=PIPES)
    t.true(900 <= int(run.out.split()[1]) <= 1024, run)


@case("a sparse file of 100 GB cannot be made, in a writable directory or in /tmp")
def _(t):
    size = 100 * 10**9
    outside = t.run([t.child, "sparse", t.work + "/control", str(size)])
    t.same(outside.out, b"ftruncate %d 0\npwrite 1 0\n" % size, "the control")
    os.unlink(t.work + "/control")
    for path in (t.work + "/big", "/tmp/big", "/dev/shm/big"):
        run = t.exec(t.child, "sparse", path, str(size), policy=t.policy(write=[t.work]), options=PIPES)
        t.same(run.out, b"ftruncate 0 EFBIG\npwrite -1 EFBIG\n", f"{path}\n{run}")
    t.same(os.path.getsize(t.work + "/big"), 0)


@case("files are limited to file_bytes")
def _(t):
    policy = t.policy(write=[t.work], limits={"file_bytes": MIB})
    run = t.exec(t.child, "fill", t.work + "/big", str(4 * MIB), policy=policy, options=PIPES)
    t.same(run.out, b"filled %d EFBIG\n" % MIB, run)
    t.same(os.path.getsize(t.work + "/big"), MIB)


@case("/tmp and other file systems in memory are full at tmp_bytes")
def _(t):
    policy = t.policy(limits={"tmp_bytes": 16 * MIB, "file_bytes": 1 << 40})
    run = t.exec(t.child, "fill", "/tmp/big", str(1 << 30), policy=policy, options=PIPES)
    word, count, why = run.out.split()
    t.true(word == b"filled" and 8 * MIB <= int(count) <= 16 * MIB and why == b"ENOSPC", run)
    run = t.exec(t.child, "fill", "/dev/shm/big", str(1 << 30), policy=policy, options=PIPES)
    t.true(run.out.split()[2] == b"ENOSPC", f"/dev/shm has no end\n{run}")
    for limit in (1, 4095, 4096):
        policy = t.policy(limits={"tmp_bytes": limit})
        run = t.exec(t.child, "fill", "/tmp/big", str(MIB), policy=policy, options=PIPES)
        t.same(run.out, b"filled %d ENOSPC\n" % resource.getpagesize(), f"{limit}: a page, no more\n{run}")
    for path in ("/big", "/dev/big", "/usr/big", "/etc/big", "/proc/big", "/dev/pts/big"):
        run = t.exec(t.child, "fill", path, str(1 << 30), policy=policy, options=PIPES, expect=6)
        t.true(b"filled" not in run.out, f"{path} can be written\n{run}")


# Refused before anything runs ----------------------------------------------------------------------

def mark(t):
    return os.path.join(t.work, "ran")


def refuse(t, run, code="E_POLICY_DENIED", exit_code=2):
    t.denied(run, code, exit_code)
    t.true(not os.path.exists(mark(t)), f"it ran all the same\n{run}")


def try_policy(t, command=None, options=(), base=True, **values):
    """Runs a marker under a policy that would work, except for the values given."""
    if base:
        values["write"] = [t.work, *values.get("write", ())]
    return run_json(t, *(command or [t.child, "mark", mark(t)]), policy=t.policy(**values), options=options)


@case("the control: the base policy of the refusals lets it run")
def _(t):
    t.code(try_policy(t), 0)
    t.true(os.path.exists(mark(t)), "the marker is not there")


@case("refused (1): a command that is not listed")
def _(t):
    refuse(t, try_policy(t, ["/usr/bin/touch", mark(t)]))
    refuse(t, try_policy(t, execs=[]))


@case("refused (2): a symlink to a program that is not listed")
def _(t):
    os.symlink("/usr/bin/touch", t.work + "/x")
    refuse(t, try_policy(t, [t.work + "/x", mark(t)]))
    os.unlink(t.work + "/x")
    os.symlink(t.child, t.work + "/x")
    t.code(try_policy(t, [t.work + "/x", "exit", "0"]), 0)


@case("refused (3): shells, by any name")
def _(t):
    script = t.file("run.sh", "#!/bin/sh\ntouch ran\n", 0o755)
    os.symlink("/usr/bin/bash", t.work + "/plain")
    os.symlink(t.child, t.work + "/zsh")
    for command in (["/bin/sh", "-c", f"touch {mark(t)}"], ["/usr/bin/bash", "-c", f"touch {mark(t)}"],
                    [t.work + "/plain", "-c", f"touch {mark(t)}"], [t.work + "/zsh", "mark", mark(t)], [script]):
        refuse(t, try_policy(t, command, execs=["/usr/bin", "/bin", t.child, t.work]))


BLOCKED = ["relative", "./x", "", "/", "/home", "/root", "/etc", "/usr", "/var", "/run", "/var/run", "/proc",
           "/proc/self", "/sys", "/dev", "/dev/shm", "/boot", "//", "/tmp/..", "/proc/..", "/no/such/thing"]


@case("refused (4): paths that no policy may allow, for reading and writing")
def _(t):
    for path in [*BLOCKED, t.home]:
        refuse(t, try_policy(t, read=[path]))
        refuse(t, try_policy(t, write=[path]))
    for path in ("/etc/ssl", "/usr/share", "/bin", "/lib", "/sbin"):
        refuse(t, try_policy(t, write=[path]))
    os.symlink("/etc", t.work + "/link")
    refuse(t, try_policy(t, read=[t.work + "/link"]))


@case("refused (5): options that need an acknowledgement, in the policy and on the command line")
def _(t):
    refuse(t, try_policy(t, fs_write_unsafe_ack=False))
    refuse(t, try_policy(t, network="enabled"))
    refuse(t, try_policy(t, sandbox="none"))
    refuse(t, try_policy(t, sandbox="none", sandbox_unsafe_ack=True))
    refuse(t, try_policy(t, sandbox="landlock"))
    for options in (["--no-sandbox"], ["--enable-network"], ["--no-sandbox", "--ack-unsafe-network"],
                    ["--enable-network", "--ack-unsafe-sandbox"]):
        refuse(t, try_policy(t, options=options))


@case("acknowledged on the command line, the same options run")
def _(t):
    t.code(try_policy(t, fs_write_unsafe_ack=False, options=["--ack-unsafe-write"]), 0)
    for options in (["--enable-network", "--ack-unsafe-network"],
                    ["--no-sandbox", "--ack-unsafe-sandbox", "--ack-unsafe-network"]):
        os.unlink(mark(t))
        run = try_policy(t, options=options)
        t.code(run, 0)
        t.true(os.path.exists(mark(t)), run)
        t.true(run.result["policy"]["network_unsafe_ack"], f"not in the effective policy\n{run}")


@case("refused (6): a working directory outside, by name, by dots, by a symlink; a file")
def _(t):
    outside = t.directory("outside")
    os.symlink(outside, t.work + "/link")
    for cwd in (outside, t.work + "/..", t.work + "/link", t.file("file"), t.work + "/none", "/", "/etc"):
        refuse(t, try_policy(t, cwd=cwd))
        refuse(t, try_policy(t, options=["--cwd", cwd]))
    refuse(t, try_policy(t, cwd="relative"))


@case("refused (6): a missing working directory, with and without a policy: the message says so")
def _(t):
    for name, why in (("none", "No such file"), ("file", "is not a directory"), ("none/deeper", "No such file")):
        path = os.path.join(t.work, name)
        t.file("file")
        for options in (["--policy", t.policy(write=[t.work])], []):
            for cwd in (path, name):
                run = t.run([t.cordon, "exec", "--json", *options, "--cwd", cwd, "--", t.child, "mark", mark(t)])
                refuse(t, run)
                message = run.error["message"]
                t.true(why in message and path in message and "--cwd" in message, run)
                t.true("allowed_read" not in message, f"no such list was written\n{run}")


@case("refused (7): a record of the run outside the writable directories")
def _(t):
    outside = t.directory("outside")
    os.symlink(outside, t.work + "/link")
    for path in (outside, outside + "/new", t.work + "/../outside/new", t.work + "/link", "relative", None):
        artifacts = {"enabled": True} if path is None else {"enabled": True, "dir": path}
        refuse(t, try_policy(t, artifacts=artifacts))
    t.same(os.listdir(outside), [])


@case("refused (8): environment variables that make programs run something else")
def _(t):
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "ld_preload", "GCONV_PATH", "BASH_ENV", "ENV",
                 "PYTHONPATH", "NODE_OPTIONS", "BUN_OPTIONS", "GIT_SSH_COMMAND", "PERL5OPT", "RUBYOPT", "IFS",
                 "GLIBC_TUNABLES", "PYTHONHOME", "PERL5DB", "PERLLIB", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "LUA_INIT", "BASH_FUNC_ls%%",
                 "SHELLOPTS", "BASHOPTS", "DOTNET_STARTUP_HOOKS", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "NODE_PATH"):
        refuse(t, try_policy(t, env={"allowlist": [name], "inherit": True}))
        refuse(t, try_policy(t, env={"set": {name: "x"}}))


def policy_text(t, extra="", read=()):
    write = json.dumps([t.work])
    return (f'{{"policy_version":4{extra},"fs":{{"allowed_read":{json.dumps(list(read))},"allowed_write":{write}}},'
            f'"fs_write_unsafe_ack":true,"exec":{{"allowed_executables":{json.dumps([t.child])}}}}}').encode()


@case("refused (9): policies that are malformed, of the wrong type, too large")
def _(t):
    t.code(try_policy(t, text=policy_text(t)), 0)
    os.unlink(mark(t))
    for about, text, code, exit_code in (
            ("a key twice", policy_text(t, ',"network":"disabled","network":"disabled"'), "E_PROTOCOL", 9),
            ("a key twice, further in", policy_text(t, ',"env":{"set":{"A":"1","A":"2"}}'), "E_PROTOCOL", 9),
            ("an unknown key", policy_text(t, ',"netwrok":"disabled"'), "E_PROTOCOL", 9),
            ("NUL in a path", policy_text(t).replace(b'"allowed_read":[', b'"allowed_read":["/tmp\\u0000/x"'),
             "E_PROTOCOL", 9),
            ("invalid UTF-8", policy_text(t, ',"env":{"set":{"A":"') + b"\xff", "E_PROTOCOL", 9),
            ("another version", policy_text(t).replace(b":4", b":5"), "E_PROTOCOL_VERSION_MISMATCH", 8),
            ("nothing", b"", "E_PROTOCOL", 9), ("a list", b"[]", "E_PROTOCOL", 9),
            ("cut off", policy_text(t)[:-1], "E_PROTOCOL", 9),
            ("10,000 brackets", b"[" * 10000, "E_PROTOCOL", 9)):
        run = try_policy(t, text=text)
        try:
            refuse(t, run, code, exit_code)
        except Failed as e:
            raise Failed(f"{about}: {e}") from e


@case("refused (9): 100,000 entries, 10 MB, many of them missing: fast, and with bounded memory")
def _(t):
    for about, text in (
            ("100,000 entries", policy_text(t, read=[t.work] * 100000)),
            ("100,000 entries that are not there", policy_text(t, read=[f"/no/{i}" for i in range(100000)])),
            ("10 MB of blanks", policy_text(t) + b" " * (10 * MIB)),
            ("10 MB in one string", policy_text(t, ',"env":{"set":{"A":"%s"}}' % ("x" * 10 * MIB)))):
        run = try_policy(t, text=text)
        t.code(run, 2, 9, 10)
        t.true(run.error["message"] and not os.path.exists(mark(t)), f"{about}\n{run}")
        t.true(len(run.out) < 4 * MIB, f"{about}: {len(run.out)} bytes of answer")


@case("unreadable policies: missing, a directory, no permission")
def _(t):
    closed = t.policy()
    os.chmod(closed, 0)
    paths = [t.work + "/none", t.work, *([closed] if t.uid is not None else [])]
    for path in paths:
        refuse(t, run_json(t, t.child, "mark", mark(t), policy=path), "E_IO", 10)


# Mounts of the host ---------------------------------------------------------------------------------

# Mount commands, the path of a file in the mount, and its first bytes outside.
KERNEL_MOUNTS = {
    "proc": ("mkdir m; mount -t proc proc m", "m/version", b"Linux version"),
    "proc, deeper": ("mkdir -p a/b; mount -t proc proc a/b", "a/b/version", b"Linux version"),
    "sysfs": ("mkdir m; mount -t sysfs sysfs m", "m/devices/system/cpu/online", b"0"),
    "a part of proc": ("mkdir m; mount --bind /proc/sys m", "m/kernel/ostype", b"Linux"),
    "a file of proc": ("touch f; mount --bind /proc/version f", "f", b"Linux version"),
    "sysfs with all that is mounted in it": ("mkdir m; mount --rbind /sys m", "m/devices/system/cpu/online", b"0"),
    "proc in proc": ("mkdir m; mount -t proc proc m; mount -t proc proc m/tty", "m/tty/version", b"Linux version"),
    "cgroup2": ("mkdir m; mount -t cgroup2 none m", "m/cgroup.procs", b""),
    "a device of the host": ("touch f; mount --bind /dev/zero f", "f", b""),
}
for label, (script, name, begin) in KERNEL_MOUNTS.items():
    @case(f"mounted by the host in readable and writable directories: {label} is covered")
    def _(t, script=script, name=name, begin=begin):
        t.file("plain", "seen")
        path = os.path.join(t.work, name)
        outside = t.run([t.child, "show", path], mounts=script)
        t.true(outside.code == 0 and outside.out.startswith(begin), f"the control\n{outside}")
        for roots in ({"read": [t.work]}, {"write": [t.work]}):
            policy = t.policy(**roots)
            run = t.exec(t.child, "show", path, policy=policy, options=PIPES, expect=None,
                         mounts="rm -rf m a f; " + script)
            t.code(run, 6)
            t.true(not run.out and (b"No such file" in run.err or b"ermission denied" in run.err), run)
            run = t.exec(t.child, "show", t.work + "/plain", policy=policy, options=PIPES,
                         mounts="rm -rf m a f; " + script)
            t.same(run.out, b"seen", run)


def many_mounts(n, where):
    """Mounts a part of proc n times, as a line of a shell script."""
    return f"""mkdir -p {where}; mount -t tmpfs -o mode=755 none {where}
/usr/bin/python3 -c '
import ctypes, os
mount = ctypes.CDLL(None, use_errno=True).mount
for i in range({n}):
    os.mkdir("{where}/%d" % i)
    assert mount(b"/proc/sys", b"{where}/%d" % i, None, 4096, None) == 0, ctypes.get_errno()
'
"""


@case("mounted by the host: more than 4,096 kernel file systems, and the last of them is covered")
def _(t):
    path = os.path.join(t.work, "m/version")
    script = "rm -rf m; " + many_mounts(4200, "/mnt") + "mkdir m; mount -t proc proc m"
    outside = t.run([t.child, "show", path], mounts=script)
    t.true(outside.code == 0 and outside.out.startswith(b"Linux version"), f"the control\n{outside}")
    run = t.exec(t.child, "show", path, policy=t.policy(read=[t.work]), options=PIPES, expect=6, mounts=script)
    t.true(not run.out and b"No such file" in run.err, run)


@case("mounted by the host: thousands of kernel file systems in a writable directory are all covered")
def _(t):
    script = "rm -rf m; " + many_mounts(600 if sanitized() else 4200, "m")
    path = os.path.join(t.work, "m/%d/kernel/ostype")
    t.same(t.run([t.child, "show", path % 599], mounts=script).out, b"Linux\n", "the control")
    for i in (0, 599):
        run = t.exec(t.child, "show", path % i, policy=t.policy(write=[t.work]), options=PIPES, expect=6, mounts=script)
        t.true(not run.out and b"No such file" in run.err, run)


@case("refused (10): mounts that cannot be read: exit 3, nothing ran")
def _(t):
    script = "rm -rf m; mkdir m; mount -t proc proc m; mount --bind %s /proc/$$/mountinfo"
    for hidden in ("/dev/null", "/proc/version"):
        outside = t.run(["/usr/bin/cat", "/proc/self/mountinfo"], mounts=script % hidden)
        t.true(outside.code == 0 and b" / / " not in outside.out, f"the control\n{outside}")
        run = run_json(t, t.child, "mark", mark(t), policy=t.policy(write=[t.work]), mounts=script % hidden)
        refuse(t, run, "E_SANDBOX_UNAVAILABLE", 3)
        t.true("mountinfo" in run.error["message"] and run.error["context"].get("remedy"), run)


@case("refused (4): paths on a kernel file system, wherever it is mounted")
def _(t):
    script = "mkdir m; mount -t %s none m"
    for path, prepare in (("/proc/sys", ":"), ("/sys/kernel", ":"), ("m", script % "proc"), ("m/sys", script % "proc"),
                          ("m/kernel", script % "sysfs"), ("m", script % "mqueue"), ("m", script % "devpts")):
        for key in ("read", "write", "execs"):
            values = {key: [os.path.join(t.work, path)]}
            policy = t.policy(**{"write": [t.work], **values, "cwd": None})
            run = run_json(t, t.child, "mark", mark(t), policy=policy, mounts="rm -rf m; " + prepare)
            refuse(t, run)
            t.true("disallowed allowlist path" in run.error["message"], run)
            t.true(run.error["context"]["value"] == os.path.join(t.work, path), run)


# The record's path, the host's mounts, and the other name under which the record could be visible.
TWINS = {
    "the tree again": ("one/art", "mount --bind one two", "two/art"),
    "from the other side": ("two/art", "mount --bind one two", "one/art"),
    "deep in it": ("one/a/b/art", "mount --bind one/a two", "two/b/art"),
    "the tree in itself": ("one/art", "mkdir -p one/in; mount --bind one one/in", "one/in/art"),
    "of a file system of its own": ("one/art", "mount -t tmpfs -o mode=777 none one; mount --bind one two", "two/art"),
}
for label, (record, script, twin) in TWINS.items():
    @case(f"mounted twice by the host: the run's record is visible under no name: {label}")
    def _(t, record=record, script=script, twin=twin):
        one, two = t.directory("work", "one"), t.directory("work", "two")
        t.directory("work", "one", "a", "b")
        for path in (one + "/a", one + "/a/b"):
            t.own(path)
        policy = t.policy(write=[one, two])
        control = t.run([t.child, "show", f"{t.work}/{twin}/f"],
                        mounts=f"{script}; mkdir {record}; echo control >{record}/f")
        t.same(control.out, b"control\n", "the control")
        for command in (["show", f"{t.work}/{twin}/transcript.log"], ["show", f"{t.work}/{record}/transcript.log"],
                        ["mark", f"{t.work}/{twin}/run.json"], ["mark", f"{t.work}/{twin}/new"]):
            run = t.exec(t.child, *command, policy=policy, options=[*PIPES, "--artifacts", record], expect=6,
                         mounts=f"rm -rf {record} {twin}; {script}")
            t.true(not run.out and (b"No such file" in run.err or b"Read-only" in run.err
                                    or b"ermission denied" in run.err), run)
        t.exec(t.child, "mark", f"{two}/free", policy=policy, options=PIPES, mounts=script)


@case("sandbox: landlock cannot cover anything, and the report lists what can be reached")
def _(t):
    record, kernel = os.path.join(t.work, "record"), os.path.join(t.work, "m")
    policy = t.policy(write=[t.work], sandbox="landlock", sandbox_unsafe_ack=True)
    run = run_json(t, t.child, "exit", "0", policy=policy, options=["--artifacts", record],
                   mounts="mkdir m; mount -t proc proc m")
    t.code(run, 0)
    for path in (record, kernel):
        gap = f"fs: {path} is in an allowed directory, where the command can reach it"
        t.true(gap in run.result["sandbox_report"]["gaps"], f"{path}\n{run}")


# Missing features of the machine --------------------------------------------------------------------

def lacking(t, what, **values):
    argv = t.command(t.child, "mark", mark(t), policy=t.policy(write=[t.work], **values), options=JSON)
    return t.run([t.child, "without", what, *argv])


@case("refused (10): no user namespaces: exit 3 with primitive, errno, remedy; nothing ran")
def _(t):
    t.same(t.run([t.child, "without", "user-namespace", t.child, "namespace"]).out, b"unshare 0 EPERM\n", "the control")
    run = lacking(t, "user-namespace")
    refuse(t, run, "E_SANDBOX_UNAVAILABLE", 3)
    context = run.error.get("context", {})
    text = json.dumps(run.error)
    t.true(any(word in text for word in ("clone", "user namespace", "unshare")), f"no primitive\n{run}")
    t.true("EPERM" in text or "not permitted" in text, f"no error number\n{run}")
    t.true(any(context.get(key) for key in ("remedy", "fix")), f"no remedy\n{run}")


@case("refused (10): namespaces, but mounts are not permitted: exit 3, nothing ran")
def _(t):
    t.same(t.run([t.child, "without", "mount", t.child, "namespace"]).out, b"fsopen 0 EACCES\n", "the control")
    run = lacking(t, "mount")
    refuse(t, run, "E_SANDBOX_UNAVAILABLE", 3)
    text = json.dumps(run.error)
    t.true("EACCES" in text or "ermission denied" in text, f"no error number\n{run}")


@case("refused (10): no seccomp filters: exit 3, nothing ran")
def _(t):
    run = lacking(t, "seccomp")
    refuse(t, run, "E_SANDBOX_UNAVAILABLE", 3)


@case("no Landlock: refused, or run with a gap that names it; never silently")
def _(t):
    run = lacking(t, "landlock")
    t.code(run, 0, 3)
    if run.code == 3:
        refuse(t, run, "E_SANDBOX_UNAVAILABLE", 3)
    else:
        gaps = json.dumps(run.result["sandbox_report"]["gaps"])
        t.true("andlock" in gaps, f"gaps: {gaps}")
    run = lacking(t, "landlock", sandbox="landlock", sandbox_unsafe_ack=True)
    t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)


@case("a kernel without SysV IPC limits: only small segments, and the report lists it", "user")
def _(t):
    old, single = ["/usr/bin/setarch", "--uname-2.6"], [t.child, "without", "second-namespace"]
    t.true(t.run([*old, "/usr/bin/uname", "-r"]).out.startswith(b"2.6"), "the control")
    t.same(t.run([*single, t.child, "namespace"]).out, b"unshare 0 EPERM\n", "the control")
    for machine, size, code in ((old, 4096, 0), (old, 4097, 6), (single, 4096, 0), (single, 4097, 6)):
        argv = t.command("/usr/bin/ipcmk", "-M", str(size), policy=t.policy(execs=["/usr/bin/ipcmk"]), options=JSON)
        run = t.run([*machine, *argv])
        t.code(run, code)
        report = run.result["sandbox_report"]
        t.true("segments of at most 4096 bytes" in report["limits"], run)
        t.true(any("before Linux 6.9" in gap for gap in report["gaps"]), run)
        t.exec("/usr/bin/ipcmk", "-M", str(size), policy=t.policy(execs=["/usr/bin/ipcmk"]), options=PIPES)


@case("no fallback to less: the same without namespaces, with and without a policy")
def _(t):
    t.code(t.run([t.child, "without", "user-namespace", t.cordon, "exec", "--", "touch", mark(t)]), 3)
    for options in (["--preset", "build", "--root", t.work], ["--enable-network", "--ack-unsafe-network"]):
        argv = t.command("/usr/bin/touch", mark(t), options=options)
        t.code(t.run([t.child, "without", "user-namespace", *argv]), 3)
    t.true(not os.path.exists(mark(t)), "it ran all the same")


# Explain --------------------------------------------------------------------------------------------

@case("--explain-policy prints what would be granted, and runs nothing")
def _(t):
    run = try_policy(t, options=["--explain-policy"])
    t.code(run, 0)
    t.same(run.result.get("allowed"), True, run)
    t.same(run.result.get("errors"), [], run)
    for key in ("grants", "sandbox_report"):
        t.true(isinstance(run.result.get(key), dict) and run.result[key], f"no {key}\n{run}")
    t.true(isinstance(run.result["sandbox_report"].get("gaps"), list), run)
    run = try_policy(t, options=["--explain-policy"], network="enabled")
    t.code(run, 2)
    t.same(run.result.get("allowed"), False, run)
    t.true(run.result["errors"], run)
    plain = t.exec(t.child, "mark", mark(t), policy=t.policy(write=[t.work]), options=["--explain-policy"])
    t.true(t.work.encode() in plain.out, plain)
    t.true(not os.path.exists(mark(t)), "it ran")


# Exit status ----------------------------------------------------------------------------------------

def matrix(t):
    """(what, command, policy, options, exit, exit with --exit-code child, error, status)"""
    good = t.policy(write=[t.work])
    short = t.policy(**budgets(max_runtime_ms=200))
    small = t.policy(**budgets(max_output_bytes=1000))
    yield "success", [t.child, "exit", "0"], good, 0, 0, None, "passed"
    for code in (1, 2, 3, 4, 6, 42, 126, 127, 128, 130, 255):
        yield f"exit {code}", [t.child, "exit", str(code)], good, 6, code, "E_PROCESS_EXIT", "failed"
    for signo in (1, 2, 6, 9, 11, 15, 31):
        yield f"signal {signo}", [t.child, "die", str(signo)], good, 6, 128 + signo, "E_PROCESS_EXIT", "failed"
    yield "run time", [t.child, "pause"], short, 4, 4, "E_TIMEOUT", "errored"
    yield "output", [t.child, "flood"], small, 4, 4, "E_TIMEOUT", "errored"
    yield "denied", ["/usr/bin/id"], good, 2, 2, "E_POLICY_DENIED", None
    yield "malformed", [t.child], t.policy(text=b"{"), 9, 9, "E_PROTOCOL", None
    yield "no policy file", [t.child], t.work + "/none", 10, 10, "E_IO", None


for how in (PIPES, PTY):
    @case(f"the table of exit statuses, {how[0]}")
    def _(t, how=how):
        wrong = []
        for what, command, policy, plain, child, code, status in matrix(t):
            for option, want in (([], plain), (["--exit-code", "cordon"], plain), (["--exit-code", "child"], child)):
                run = run_json(t, *command, policy=policy, options=[*how, *option])
                got = run.code, run.result.get("error", {}).get("code")
                if got != (want, code):
                    wrong.append(f"{what} {option}: {got}, wanted {(want, code)}")
                if status and run.result.get("status") != status:
                    wrong.append(f"{what}: status {run.result.get('status')}, wanted {status}")
                quiet = t.exec(*command, policy=policy, options=[*how, *option], expect=None)
                if quiet.code != want or (code is not None and not quiet.err):
                    wrong.append(f"{what} {option} without --json: {quiet}")
        t.same(wrong, [])


@case("the result contains how a program ended")
def _(t):
    for command, want in ((["exit", "0"], (True, 0, None, False)), (["exit", "7"], (False, 7, None, False)),
                          (["die", "9"], (False, None, 9, False)), (["die", "11"], (False, None, 11, False))):
        for how in (PIPES, PTY):
            run = run_json(t, t.child, *command, policy=t.policy(), options=how)
            status = run.result["exit_status"]
            got = tuple(status.get(k) for k in ("success", "exit_code", "signal", "terminated_by_harness"))
            t.same(got, want, run)


@case("a result has all its fields")
def _(t):
    run = run_json(t, t.child, "print", "hi", policy=t.policy(read=[t.work], cwd=t.work))
    t.code(run, 0)
    result = run.result
    for key, want in (("run_result_version", 1), ("protocol_version", 1), ("command", t.child), ("cwd", t.work),
                      ("args", ["print", "hi"]), ("status", "passed")):
        t.same(result.get(key), want, f"{key}\n{run}")
    t.same(result["final_observation"]["transcript_delta"], "hi", run)
    t.true(result["ended_at_ms"] >= result["started_at_ms"], run)
    t.true("error" not in result or result["error"] is None, run)
    t.same(result["policy"]["fs"]["allowed_read"], [t.work], run)
    t.true("hidden" not in run.out.decode(), "the result has the caller's environment")


USAGE = ([], ["--"], ["--nonsense", "--", "x"], ["--pty", "--pipes", "--", "x"], ["--exit-code", "other", "--", "x"],
         ["--policy"], ["--preset", "none-such", "--", "x"], ["--cwd"])


@case("invalid command lines: exit 12")
def _(t):
    for args in USAGE:
        run = t.run([t.cordon, "exec", *args])
        t.code(run, 12)
        t.true(run.err and not run.out, run)
    run = t.run([t.cordon, "exec", "--policy", t.policy(), "--preset", "build", "--", t.child, "exit", "0"])
    t.code(run, 12)


# Commands -------------------------------------------------------------------------------------------

@case("commands that are missing, not executable, a directory, not a program")
def _(t):
    plain = t.file("plain", "x")
    broken = t.file("broken", b"\x7fELF\x02\x01\x01" + b"\0" * 60, 0o755)
    lost = t.file("lost", "#!/no/such/interpreter\n", 0o755)
    empty = t.file("empty", "", 0o755)
    for command in (t.work + "/none", plain, t.work, "relative", "./plain", ""):
        refuse(t, try_policy(t, [command], execs=[t.work]))
    for command in (broken, lost, empty):
        for how in (PIPES, PTY):
            run = try_policy(t, [command], execs=[t.work], options=how)
            t.true(run.code in (2, 6, 10) and run.error["message"], run)
    for command in ("no-such-command-anywhere", t.work + "/none", plain, t.work, ""):
        run = t.exec(command, options=JSON, expect=None)
        t.true(run.code in (2, 6, 10, 12, 18) and run.error["message"], run)


def big_arguments(argv, t):
    """For kernels that accept 2 MB of arguments."""
    process = t.start([os.fsencode(a) for a in argv],
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (64 * MIB, resource.RLIM_INFINITY)))
    return t.finish(process)


@case("2 MB of arguments: they arrive, or a proper error is returned")
def _(t):
    args = ["x" * 100000] * 21
    control = big_arguments([t.child, "args", *args], t)
    t.true(control.out.startswith(b"21 2100000 "), f"the control\n{control}")
    for how in (PIPES, PTY):
        run = big_arguments(t.command(t.child, "args", *args, policy=t.policy(), options=how), t)
        if run.code == 0:
            t.same(run.out.strip(), control.out.strip())
        else:
            t.true(run.code in (6, 10, 12) and b"rgument" in run.err, run)


@case("an environment that the kernel does not accept: a proper error, nothing ran")
def _(t):
    for values in ({"A": "x" * 200000}, {f"A{i}": "x" * 100000 for i in range(40)}):
        run = try_policy(t, env={"set": values})
        t.true(run.code in (2, 6, 9, 10), run)
        t.true(run.error["message"] and not os.path.exists(mark(t)), run)


# Leftovers ------------------------------------------------------------------------------------------

def cgroups():
    return {top for top, _, _ in os.walk("/sys/fs/cgroup")}


def empty_cgroups(names):
    """Cgroups without a process: others may be in use by another run."""
    found = []
    for name in names:
        with contextlib.suppress(OSError):
            with open(os.path.join(name, "cgroup.procs"), encoding="ascii") as f:
                if not f.read():
                    found.append(name)
    return sorted(found)


def mounts():
    with open("/proc/self/mountinfo", "rb") as f:
        return f.read()


def own_directories(keep):
    """Gives root's tests their own /tmp, /var/tmp, /run and /dev/shm, with only the directories
    `keep` of the host, so that any leftovers there are ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone_newns, ms_bind, ms_private_rec, mnt_detach = 0x20000, 0x1000, 0x44000, 2

    def mount(source, target, kind=None, flags=0, data=None):
        if libc.mount(source.encode(), target.encode(), kind, flags, data):
            raise OSError(ctypes.get_errno(), target)

    if libc.unshare(clone_newns):
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", flags=ms_private_rec)
    for place in ("/run", "/var/tmp", "/dev/shm"):
        mount("tmpfs", place, b"tmpfs", data=b"mode=1777")
    aside = [f"/run/{i}" for i in range(len(keep))]
    for source, target in zip(keep, aside):
        os.mkdir(target)
        mount(source, target, flags=ms_bind)
    mount("tmpfs", "/tmp", b"tmpfs", data=b"mode=1777")
    for source, target in zip(aside, keep):
        os.makedirs(target, exist_ok=True)
        mount(source, target, flags=ms_bind)
        libc.umount2(source.encode(), mnt_detach)
        os.rmdir(source)
    return ["/tmp", "/var/tmp", "/run", "/dev/shm"]


def listing(places, keep):
    return sorted(os.path.join(top, name) for place in places for top, dirs, files in os.walk(place)
                  for name in dirs + files if not top.startswith(keep))


RUNS = (["exit", "0"], ["exit", "3"], ["die", "11"], ["forks", "5"], ["fill", "/tmp/x", "100000"], ["shm"])


def many_runs(t, n):
    lock = os.path.join(t.work, "lock")
    policy, short, small = (os.path.join(t.top, f"policy-{i}.json") for i in (1, 2, 3))
    for i in range(n):
        command = (*RUNS, ["daemon", lock])[i % (len(RUNS) + 1)]
        run = t.exec(t.child, *command, policy=policy, options=[PIPES, PTY, JSON][i % 3], expect=None)
        t.code(run, 0, 6)
        for stream in (t.started[-1].stdout, t.started[-1].stderr):
            stream.close()
        t.started.clear()
    t.exec(t.child, "ignore", policy=short, expect=4)
    t.exec(t.child, "flood", policy=small, options=PIPES, expect=4)
    t.exec("/usr/bin/id", policy=short, expect=2)
    process = t.start(t.command(t.child, "lock", lock, policy=policy, options=PIPES))
    t.until(process, b"ready")
    process.kill()
    process.wait(TIMEOUT_S)
    t.unlocked(lock, KILLED_S)
    t.same(orphans(KILLED_S), [])


def leftovers(t, n):
    """Leftovers of many runs, as text. Runs in a separate process, since it changes its mounts."""
    keep = (t.top, os.path.dirname(t.cordon))
    places = own_directories(keep) if os.getuid() == 0 else []
    become_reaper()
    before = mounts(), listing(places, keep), os.listdir(t.top), os.listdir(t.work)
    groups = cgroups()
    many_runs(t, n)
    after = mounts(), listing(places, keep), os.listdir(t.top), os.listdir(t.work)
    return "\n".join([f"{was!r} became {now!r}" for was, now in zip(before, after) if was != now]
                     + [f"cgroup {name}" for name in empty_cgroups(cgroups() - groups)])


@case("200 runs leave no mount, process, file or cgroup behind")
def _(t):
    t.file("lock")
    t.policy(write=[t.work])
    t.policy(**budgets(max_runtime_ms=100))
    t.policy(**budgets(max_output_bytes=1000))
    report, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        problems = "it did not end"
        try:
            problems = leftovers(t, 20 if sanitized() else 200)
        except BaseException as e:  # pylint: disable=broad-except
            problems = f"{type(e).__name__}: {e}"
        finally:
            os.write(write_end, problems.encode("utf-8", "backslashreplace")[:60000])
            os._exit(0)
    os.close(write_end)
    text = b""
    while part := os.read(report, 65536):
        text += part
    os.close(report)
    os.waitpid(pid, 0)
    t.true(not text, text.decode())


sys.exit(main())
