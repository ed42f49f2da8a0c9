#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Effects of a hostile or broken program, disk, reader or driver on `cordon exec`, `run` and `driver` with
a screen: the right exit status, a complete record, no process left. See harness.py.
"""
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import KILLED_S, TIMEOUT_S, Skipped, case, factor, in_time, main, orphans, peak, sanitized  # noqa: E402 pylint: disable=wrong-import-position
from traced import BLOCKED, RAN, Traced

MIB = 1 << 20
LONG_MS = 120000
MODES = ["exec", "run", "driver"]
MUCH = 200 * MIB
PEAK_MIB = 32  # of the cordon process, regardless of the output
FREE = ["--no-sandbox", "--ack-unsafe-sandbox", "--ack-unsafe-network"]


def condition(name, **payload):
    return {"type": name, "payload": payload}


def wait(what, timeout_ms=LONG_MS):
    return {"action": {"type": "wait", "payload": {"condition": what}}, "timeout_ms": timeout_ms}


def line(action, **more):
    """One line of a driver's input."""
    return json.dumps({"protocol_version": 1, **action, **more}).encode() + b"\n"


EXITED = wait(condition("process_exited"))


class Recorded:
    """A run in one of the three modes: exit status, RunResult, the driver's responses, its record."""

    def __init__(self, t, mode, *command, actions=(EXITED,), policy=None, options=(), **more):
        self.dir = os.path.join(t.work, f"record-{len(t.started)}")
        options = ["--artifacts", self.dir, "--ack-unsafe-write", *options]
        if policy:
            options += ["--policy", policy]
        data = None
        if mode == "run":
            path = t.file(f"s{len(t.started)}.json", json.dumps({
                "scenario_version": 1, "run": {"command": command[0], "args": list(command[1:])},
                "steps": [{"id": str(i), **a} for i, a in enumerate(actions)]}))
            argv = [t.cordon, "run", "--json", *options, path]
        elif mode == "driver":
            argv, data = [t.cordon, "driver", *options, "--", *command], b"".join(map(line, actions))
        else:
            argv = [t.cordon, "exec", "--json", *options, "--", *command]
        self.run = t.run(argv, data, **more)
        self.code = self.run.code
        lines = [json.loads(l) for l in self.run.out.splitlines()]
        self.result, self.answers = (lines[-1] if lines else None), lines[:-1]

    def events(self, kind):
        """Events of the record, in all observations."""
        found = []
        with open(os.path.join(self.dir, "events.jsonl"), encoding="utf-8") as f:
            for text in f:
                found += [e for e in json.loads(text)["events"] if e["type"] == kind]
        return found

    def screen(self):
        return "\n".join(self.result["final_observation"]["screen"]["lines"]).strip("\n")


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


def whole(t, directory, result=None, large=False):
    """Checks that every file exists with its checksum and can be read, and that run.json is what was printed."""
    with open(os.path.join(directory, "checksums.json"), encoding="utf-8") as f:
        sums = json.load(f)
    files = {os.path.relpath(os.path.join(d, n), directory)
             for d, _, names in os.walk(directory) for n in names}
    t.same(files, {*sums, "checksums.json"})
    for name in sums:
        if large and name == "transcript.log":
            continue  # too large for a loop in Python
        with open(os.path.join(directory, name), "rb") as f:
            data = f.read()
        t.same(fnv(data), sums[name], name)
        if name.endswith(".json"):
            json.loads(data)
        if name.endswith(".jsonl"):
            for text in data.splitlines():
                json.loads(text)
    with open(os.path.join(directory, "run.json"), encoding="utf-8") as f:
        run = json.load(f)
    if result:
        t.same(run, {k: v for k, v in result.items() if k in run})
    return run


def replays(t, r):
    run = t.run([t.cordon, "replay", "--offline", "--artifacts", r.dir])
    t.code(run, 0)


def budget(t, r, name):
    t.same((r.code, r.result["status"], r.result["error"]["code"],
            r.result["error"]["context"]["budget"]), (4, "errored", "E_TIMEOUT", name), r.run)


def size(directory, name):
    return os.path.getsize(os.path.join(directory, name))


for MODE in MODES:
    @case(f"a flood: ended at its budget, the record is within it, {MODE}")
    def _(t, mode=MODE):
        policy = t.policy(write=[t.work], budgets={"max_output_bytes": MIB})
        r = Recorded(t, mode, t.child, "flood", policy=policy)
        budget(t, r, "max_output_bytes")
        whole(t, r.dir, r.result)
        t.same(size(r.dir, "transcript.log"), MIB)
        t.same(r.result["final_observation"]["transcript_bytes"], MIB)
        t.same([e["details"] for e in r.events("budget_near")],
               [{"budget": "max_output_bytes", "percent": 80}])
        t.same([e["details"] for e in r.events("exit")], [r.result["exit_status"]])
        t.true(r.screen().startswith("y\ny\n"), r.screen())

    @case(f"a program that sleeps: ended at its run time, {MODE}")
    def _(t, mode=MODE):
        def attempt(runtime):
            policy = t.policy(write=[t.work], budgets={"max_runtime_ms": runtime})
            r = Recorded(t, mode, t.child, "pause", policy=policy)
            budget(t, r, "max_runtime_ms")
            whole(t, r.dir, r.result)
            t.same([e["details"]["budget"] for e in r.events("budget_near")], ["max_runtime_ms"])
            return r.screen() or None
        t.same(in_time(attempt, 300, 3000, 30000), "ready")

    @case(f"a program that ignores every signal is killed, {MODE}")
    def _(t, mode=MODE):
        policy = t.policy(write=[t.work], budgets={"max_runtime_ms": 300 if mode == "exec" else LONG_MS})
        r = Recorded(t, mode, t.child, "ignore", policy=policy,
                     actions=[wait(condition("screen_contains", text="ready"))])
        t.same(r.code, 4 if mode == "exec" else 0, r.run)
        t.same(r.result["exit_status"], {"success": False, "exit_code": None, "signal": 9,
                                         "terminated_by_harness": True})
        whole(t, r.dir, r.result)

    @case(f"a program that closes its terminal runs until its time is over, {MODE}")
    def _(t, mode=MODE):
        policy = t.policy(write=[t.work], budgets={"max_runtime_ms": 300})
        r = Recorded(t, mode, t.child, "hush", policy=policy)
        budget(t, r, "max_runtime_ms")
        whole(t, r.dir, r.result)

    for HOW, OPTIONS in (("in a sandbox", []), ("without one", FREE)):
        @case(f"a terminal that is closed and opened again loses nothing, {MODE}, {HOW}")
        def _(t, mode=MODE, options=OPTIONS):
            r = Recorded(t, mode, t.child, "reopen", policy=t.policy(write=[t.work]), options=options)
            t.same(r.result["exit_status"]["exit_code"], 7, r.run)
            t.same(r.screen(), "before\nby /dev/tty\nby its name")
            t.same([e["details"] for e in r.events("exit")], [r.result["exit_status"]])
            whole(t, r.dir, r.result)

        @case(f"a daemon that called setsid twice ends with the run, {MODE}, {HOW}")
        def _(t, mode=MODE, options=OPTIONS):
            lock = t.file("lock")
            r = Recorded(t, mode, t.child, "daemon", lock, policy=t.policy(write=[t.work]),
                         options=options)
            t.same((r.code, r.result["exit_status"]["exit_code"]), (0, 0), r.run)
            t.unlocked(lock)
            whole(t, r.dir, r.result)

    @case(f"a program that changes the terminal's size does not change the screen, {MODE}")
    def _(t, mode=MODE):
        r = Recorded(t, mode, t.child, "resize", policy=t.policy(write=[t.work]))
        t.same(r.code, 0, r.run)
        screen = r.result["final_observation"]["screen"]
        t.same((screen["rows"], screen["cols"], r.screen()), (24, 80, "resized"))
        t.same([e["message"] for e in r.events("unanswered_query")], ["\\x1B[8;12;50t"])
        whole(t, r.dir, r.result)
        if mode != "driver":
            replays(t, r)

    @case(f"NUL and invalid UTF-8: every file can be read, the transcript has the bytes, {MODE}")
    def _(t, mode=MODE):
        r = Recorded(t, mode, t.child, "print", "a%00b%ff%1b]2;t%00u%07", policy=t.policy(write=[t.work]))
        t.same(r.code, 0, r.run)
        t.true("\0" not in json.dumps(r.result, ensure_ascii=False), r.run)
        t.true(b"\\u0000" not in r.run.out, r.run)
        whole(t, r.dir, r.result)
        with open(os.path.join(r.dir, "transcript.log"), "rb") as f:
            t.same(f.read(), b"a\0b\xff\x1b]2;t\0u\x07")
        if mode != "driver":
            replays(t, r)
        page = os.path.join(t.work, "page.html")
        t.code(t.run([t.cordon, "trace", "--artifacts", r.dir, "-o", page]), 0)

    @case(f"much output: the last screen is recorded, memory is bounded, {MODE}")
    def _(t, mode=MODE):
        much = MUCH if mode == "exec" and t.uid is None and not sanitized() else MUCH // 20
        policy = t.policy(write=[t.work], budgets={
            "max_output_bytes": 2 * much, "max_runtime_ms": LONG_MS, "max_wait_ms": LONG_MS})
        most = 0
        record = os.path.join(t.work, "record")
        options = ["--artifacts", record, "--policy", policy, "--ack-unsafe-write"]
        command = [t.child, "lines", str(much)]
        argv = {
            "exec": [t.cordon, "exec", "--json", *options, "--", *command],
            "driver": [t.cordon, "driver", *options, "--", *command],
            "run": [t.cordon, "run", "--json", *options, t.file("s.json", json.dumps({
                "scenario_version": 1, "run": {"command": command[0], "args": command[1:]},
                "steps": [{"id": "e", **EXITED}]}))],
        }[mode]
        given = t.file("input", line(EXITED) if mode == "driver" else b"")
        with open(given, "rb") as stdin, open(os.path.join(t.top, "output"), "wb") as stdout:
            process = t.start(argv, stdin=stdin, stdout=stdout)
        deadline = time.monotonic() + TIMEOUT_S
        while process.poll() is None and time.monotonic() < deadline:
            most = max(most, peak(process.pid) or 0)
            time.sleep(0.005)
        run = t.finish(process, timeout=1)
        with open(os.path.join(t.top, "output"), "rb") as f:
            run.out = f.read()
        t.code(run, 0)
        result = json.loads(run.out.splitlines()[-1])
        lines = result["final_observation"]["screen"]["lines"]
        t.same(lines[22:], ["the end", ""], run)
        t.true(re.fullmatch(r"line \d+", lines[21]), lines)
        t.true(size(record, "transcript.log") > much, "the transcript is cut")
        whole(t, record, result, large=True)
        t.true(most < PEAK_MIB * MIB * factor(), f"{most} bytes of memory")

    @case(f"a disk that fills up during recording: exit 10, the files present are valid, {MODE}", who="root")
    def _(t, mode=MODE):
        full_disk(t, mode, "2m")

    @case(f"a full disk: exit 10, nothing ran, {MODE}", who="root")
    def _(t, mode=MODE):
        mark = os.path.join(t.work, "mark")
        run = on_disk(t, mode, "4k", [t.child, "mark", mark])
        t.same(run.code, 10, run)
        t.true(b"No space left" in run.err, run)
        t.true(not os.path.exists(mark), "it ran")

    @case(f"the result is not read: exit 10, the record is complete, {MODE}")
    def _(t, mode=MODE):
        broken_pipe(t, mode)


def on_disk(t, mode, room, command):
    """Records to a file system of this many bytes, and copies the record from there."""
    art = os.path.join(t.work, "art")
    os.makedirs(art)
    os.makedirs(os.path.join(t.work, "copy"))
    policy = t.policy(write=[t.work], budgets={"max_output_bytes": 64 * MIB})
    options = ["--json", "--policy", policy, "--artifacts", art, "--ack-unsafe-write"]
    if mode == "run":
        path = t.file("s.json", json.dumps({
            "scenario_version": 1, "run": {"command": command[0], "args": command[1:]},
            "steps": [{"id": "e", **EXITED}]}))
        argv = [t.cordon, "run", *options, path]
    else:
        argv = [t.cordon, mode, *options, "--", *command]
    data = line(EXITED) if mode == "driver" else None
    script = 'code=0; "$@" || code=$?; cp -r art/. copy; exit $code'
    return t.run(["sh", "-c", script, "sh", *argv], data,
                 mounts=f"mount -t tmpfs -o size={room},mode=777 none art")


def full_disk(t, mode, room):
    run = on_disk(t, mode, room, [t.child, "lines", str(4 * MIB)])
    t.same(run.code, 10, run)
    result = json.loads(run.out.splitlines()[-1])
    t.same((result["status"], result["error"]["code"]), ("errored", "E_IO"), run)
    t.true("No space left" in result["error"]["message"], run)
    copy = os.path.join(t.work, "copy")
    on_file = whole(t, copy, result)
    t.same(on_file["error"]["code"], "E_IO")
    t.true(size(copy, "transcript.log") > 0, "no transcript")


def broken_pipe(t, mode):
    record = os.path.join(t.work, "record")
    policy = t.policy(write=[t.work])
    options = ["--json", "--policy", policy, "--artifacts", record, "--ack-unsafe-write"]
    command = [t.child, "print", "x"]
    path = t.file("s.json", json.dumps({
        "scenario_version": 1, "run": {"command": command[0], "args": command[1:]},
        "steps": [{"id": "e", **EXITED}]}))
    argv = [t.cordon, mode, *options, *([path] if mode == "run" else ["--", *command])]
    reader, writer = os.pipe()
    os.close(reader)
    run = t.run(argv, line(EXITED) if mode == "driver" else None, stdout=writer)
    os.close(writer)
    t.same(run.code, 10, run)
    t.true(b"E_IO" in run.err, run)
    whole(t, record)


# The driver's input

def drive(t, data, *options, command=None):
    run = t.run([t.cordon, "driver", *options, "--", *(command or [t.child, "pause"])], data)
    return run, [json.loads(l) for l in run.out.splitlines()]


READY = line(wait(condition("screen_contains", text="ready")), request_id="ready")
LONG = b'{"protocol_version":1,"request_id":"' + b"x" * (4 * MIB) + b'"}\n'
WRONG = [("a line of more than 4 MiB", LONG, "longer than 4 MiB"),
         ("a line of more than 4 MiB without an end", LONG[:-1], "longer than 4 MiB"),
         ("a line of 16 MiB", LONG[:-3] * 4 + b"\n", "longer than 4 MiB"),
         ("NUL", b'{"protocol_version":1\0}\n', "NUL"),
         ("a string with NUL", b'{"protocol_version":1,"request_id":"\\u0000"}\n', "u0000"),
         ("no UTF-8", b'{"protocol_version":1,"request_id":"\xff\xfe"}\n', "UTF-8|decode"),
         ("half a line", b'{"protocol_version":1,"acti', "input:1"),
         ("a list that is too deep", b"[" * 10000 + b"\n", "nested")]

for NAME, DATA, WORDS in WRONG:
    @case(f"the driver's input has {NAME}: exit 9; with --keep-going it continues")
    def _(t, data=DATA, words=WORDS):
        run, lines = drive(t, READY + data)
        t.same(run.code, 9, run)
        t.same([("error" in l, "screen" in l) for l in lines[:-1]], [(False, True), (True, False)])
        t.true(re.search(words, lines[1]["error"]["message"]), lines[1])
        t.same((lines[-1]["status"], lines[-1]["error"]["code"]), ("errored", "E_PROTOCOL"))
        run, lines = drive(t, READY + data + (READY if data.endswith(b"\n") else b""), "--keep-going")
        t.same(run.code, 0, run)
        t.same([l.get("request_id") for l in lines[:-1]],
               ["ready", None] + (["ready"] if data.endswith(b"\n") else []), run)
        t.same(lines[-1]["status"], "passed")


@case("a driver has a budget of actions")
def _(t):
    policy = t.policy(budgets={"max_steps": 2})
    run, lines = drive(t, READY * 3, "--policy", policy)
    t.same(run.code, 4, run)
    t.same([("screen" in l, l.get("error", {}).get("code")) for l in lines[:-1]],
           [(True, None), (True, None), (False, "E_TIMEOUT")])
    t.same(lines[-1]["error"]["context"]["budget"], "max_steps")


@case("a screen over its budget ends exec, run and driver")
def _(t):
    for mode in MODES:
        policy = t.policy(write=[t.work], budgets={"max_snapshot_bytes": 100})
        r = Recorded(t, mode, t.child, "print", "x", policy=policy)
        budget(t, r, "max_snapshot_bytes")
        t.same(r.result["final_observation"]["screen"], None)
        whole(t, r.dir, r.result)


@case("transcript_bytes matches the screen, in an observation as in its step")
def _(t):
    text = "%1b[?2026hone%1b[?2026l" + "two" * 10
    r = Recorded(t, "run", t.child, "print", text, policy=t.policy(write=[t.work]),
                 actions=[wait(condition("screen_contains", text="one")), EXITED])
    t.same(r.code, 0, r.run)
    with open(os.path.join(r.dir, "events.jsonl"), encoding="utf-8") as f:
        observed = [json.loads(l) for l in f]
    steps = r.result["steps"]
    t.same([o["transcript_bytes"] for o in observed[:2]], [s["transcript_bytes"] for s in steps])
    t.same("".join(o["transcript_delta"] for o in observed),
           text.replace("%1b", "\x1b"))
    if steps[0]["matched_by"] == "frame":
        t.same(observed[0]["transcript_bytes"], len("\x1b[?2026hone\x1b[?2026l"))
        t.same(observed[0]["transcript_delta"], "\x1b[?2026hone\x1b[?2026l")


# Readers that do not read

def unread(t, mode, stream, budget_ms, act=lambda process: None):
    """A run whose responses or progress are not read: more than a pipe holds."""
    record = os.path.join(t.work, f"record-{len(t.started)}")
    policy = t.policy(write=[t.work], budgets={"max_runtime_ms": budget_ms})
    options = ["--policy", policy, "--artifacts", record, "--ack-unsafe-write"]
    shown = wait(condition("screen_contains", text="ready"))
    path = t.file("s.json", json.dumps({
        "scenario_version": 1, "run": {"command": t.child, "args": ["pause"]},
        "steps": [{"id": str(i), "name": "x" * 3000, **shown} for i in range(60)]}))
    argv = [t.cordon, mode, *options]
    argv += ["-v", path] if mode == "run" else ["--", t.child, "pause"]
    reader, writer = os.pipe()
    process = t.start([os.fsencode(a) for a in argv], stdin=subprocess.PIPE, **{stream: writer})
    os.close(writer)
    data = line(shown, screen="cells") * 6 if mode == "driver" else b""
    process.stdin.write(data)
    process.stdin.flush()
    select.select([reader], [], [])
    act(process)
    run = t.finish(process)
    os.close(reader)
    return run, whole(t, record)


for MODE, STREAM in (("driver", "stdout"), ("run", "stderr")):
    @case(f"{MODE}: its {STREAM} is not read: ended at its run time")
    def _(t, mode=MODE, stream=STREAM):
        run, record = unread(t, mode, stream, 1500 * factor())
        t.same((run.code, record["status"], record["error"]["context"].get("budget")),
               (4, "errored", "max_runtime_ms"), run)

    for SIGNO in (signal.SIGTERM, signal.SIGINT):
        @case(f"{MODE}: its {STREAM} is not read: {SIGNO.name} ends it")
        def _(t, mode=MODE, stream=STREAM, signo=SIGNO):
            run, record = unread(t, mode, stream, LONG_MS, lambda p: p.send_signal(signo))
            t.same((run.code, record["status"]), (130, "canceled"), run)


for MODE in MODES:
    @case(f"a signal as soon as there is a record: complete, exit 130, {MODE}")
    def _(t, mode=MODE):
        for signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            record = os.path.join(t.work, f"record-{signo}")
            path = t.file("s.json", json.dumps({
                "scenario_version": 1, "run": {"command": t.child, "args": ["pause"]},
                "steps": [{"id": "e", **EXITED}]}))
            argv = [t.cordon, mode, "--artifacts", record]
            argv += [path] if mode == "run" else ["--", t.child, "pause"]
            process = t.start([os.fsencode(a) for a in argv], stdin=subprocess.PIPE)
            while not os.path.exists(record) and process.poll() is None:
                pass
            process.send_signal(signo)
            run = t.finish(process)
            t.same((run.code, whole(t, record)["status"]), (130, "canceled"), run)


# The end of a run

ATTEMPTS = 20


def end_of(t, script, *actions, options=()):
    args = ["--norc"] if script is None else ["-c", script]
    path = t.file("s.json", json.dumps({
        "scenario_version": 1, "run": {"command": "bash", "args": args},
        "steps": [{"id": str(i), **a} for i, a in enumerate(actions)]}))
    run = t.run([t.cordon, "run", "--json", *options, path])
    t.same(run.code, 0, run)
    status = json.loads(run.out)["exit_status"]
    t.same(status["terminated_by_harness"], True)
    return status["exit_code"], status["signal"]


def end_in_time(t, *arguments, **options):
    """The end of a program that needs less than the grace time. A busy machine may not run it within that time:
    SIGKILL, and SIGKILL alone, is tried again."""
    for _ in range(ATTEMPTS):
        end = end_of(t, *arguments, **options)
        if end != (None, signal.SIGKILL):
            break
    return end


PROMPT = wait(condition("line_matches", line=0, pattern="[$#]$"))
UP = wait(condition("screen_contains", text="up"))

for NAME, OPTIONS in (("sandboxed", []), ("without a sandbox", FREE)):
    # A program that does not end within the grace time is killed: SIGHUP shows that the grace time was not needed.
    @case(f"a shell that waits for a command ends as if its terminal had hung up, {NAME}")
    def _(t, options=OPTIONS):
        steps = [{"action": {"type": "text", "payload": {"text": text}}}
                 for text in [":\r"] * 50 + ["echo e''nd\r"]]
        end = wait(condition("screen_matches", pattern=r"\nend\n[^\n]*[$#]\s*$"))
        t.same(end_in_time(t, None, PROMPT, *steps, end, options=options), (None, signal.SIGHUP))

    @case(f"a program that ignores SIGTERM and SIGHUP gets its grace time, then SIGKILL, {NAME}")
    def _(t, options=OPTIONS):
        t.same(end_of(t, "trap '' TERM HUP; echo up; while :; do read x; done", UP,
                      options=options), (None, signal.SIGKILL))

    @case(f"a program that handles SIGTERM gets no SIGHUP, and the time that it needs, {NAME}")
    def _(t, options=OPTIONS):
        t.same(end_in_time(t, "trap 'read -t 0.05 x; exit 7' TERM; echo up; while :; do read -t 0.02 x; done", UP,
                           options=options), (7, None))

# The self-test. A sanitized program runs without a memory limit: only the refusals can be tested.

CHECKS = ["temporary files", "state", "sandbox", "network", "files outside", "limits", "terminal", "replay",
          "file tools", "search tool", "shell tool", "agent", "box, copy", "box, overlay", "model services"]


# The check looks for certificates and contacts no service: any non-empty file will do.
CERTIFICATES = {"SSL_CERT_FILE": os.path.abspath(__file__)}


class SelfTest:
    """Runs it in its own TMPDIR, which must be empty afterwards; `bad`: the checks that are not ok."""

    def __init__(self, t, *options, before=(), env=None, mounts=None):
        base = t.directory("tmp")
        self.run = t.run([*before, t.cordon, "self-test", "--json", *options],
                         env={**t.env, **CERTIFICATES, "TMPDIR": base, **(env or {})}, mounts=mounts)
        t.same(os.listdir(base), [], f"leftovers\n{self.run}")
        self.all = {c["name"]: c for c in json.loads(self.run.out)["checks"]}
        t.same(list(self.all), CHECKS, self.run)
        self.bad = {name: c for name, c in self.all.items() if c["status"] != "ok"}


def usable():
    if sanitized():
        raise Skipped("a sanitized program can't be confined")


@case("self-test: every check is ok with any settings; nothing is written to the home directory")
def _(t):
    usable()
    settings = t.directory("settings", "cordon")
    with open(os.path.join(settings, "config.yaml"), "w", encoding="utf-8") as f:
        f.write("nonsense: [")
    test = SelfTest(t, "--strict", env={"XDG_CONFIG_HOME": os.path.dirname(settings)})
    t.same((test.run.code, test.bad), (0, {}), test.run)


@case("self-test with a missing TMPDIR: weaker, exit 0, with --strict 5; the reason as text")
def _(t):
    usable()
    test = SelfTest(t, "--strict", env={"TMPDIR": t.work + "/none"})
    t.same((test.run.code, list(test.bad)), (5, ["temporary files"]), test.run)
    run = t.run([t.cordon, "self-test"], env={**t.env, **CERTIFICATES, "TMPDIR": "relative"})
    t.same(run.code, 0, run)
    t.true(b"weaker  temporary files  TMPDIR cannot be used ('relative': Invalid argument); used instead: /tmp\n"
           b"        remedy: create that directory, or unset TMPDIR\n" in run.out, run)
    t.true(re.search(rb"\n14 ok, 1 weaker, 0 failed, in \d+\.\d s\n$", run.out), run)


@case("self-test without CA certificates: model services are weaker, with a remedy")
def _(t):
    usable()
    test = SelfTest(t, env={"SSL_CERT_FILE": "", "SSL_CERT_DIR": t.directory("certificates")})
    t.same((test.run.code, list(test.bad)), (0, ["model services"]), test.run)
    t.true("no CA certificates" in test.bad["model services"]["detail"], test.run)
    t.true("SSL_CERT_FILE" in test.bad["model services"]["remedy"], test.run)


@case("self-test with a home on a read-only file system: exit 5, only the state has failed")
def _(t):
    usable()
    test = SelfTest(t, mounts=f"mount --bind {t.home} {t.home}\nmount -o remount,bind,ro {t.home}")
    t.same((test.run.code, list(test.bad)), (5, ["state"]), test.run)
    t.true("Read-only file system" in test.bad["state"]["detail"], test.run)
    t.true("CORDON_HOME" in test.bad["state"]["remedy"], test.run)


# Killed supervisors ---------------------------------------------------------------------------------

# Stops at system calls, at entry or exit.
STOPS = (0, 1, 2, 3, 4, 6, 9, 14, 20, 30, 45, 67, 100, 150, 225, 340, 500, 750, 1100)
SUPERVISORS = {"native": [], "landlock": ["--sandbox", "landlock", "--ack-unsafe-sandbox"],
               "none": ["--sandbox", "none", "--ack-unsafe-sandbox", "--ack-unsafe-network"]}
LACKING = {"uid": "pid_max,cgroups", "counted": "pid_max,cgroups,id_maps"}


def kill_at(t, argv, number, stops, later):
    """Kills a supervisor this many stops after it has started its process with that number, or, when it waits for that process,
    this many stops of that process later. Nothing may be left. Returns true if it got that far."""
    with Traced(argv, t.uid, t.work, t.env) as s:
        pid = s.until_start(number)
        t.true(pid, "it starts no such process")
        came = s.step(s.pid, stops)
        if came == BLOCKED and later is not None:
            came = s.step(pid, later)
    left = [*orphans(KILLED_S), *os.listdir(t.env["TMPDIR"])]
    t.true(not left, f"{stops} stops of the supervisor, {later} of the other: {left}")
    return came == RAN


for MODE in (*SUPERVISORS, *LACKING):
    @case(f"a supervisor that is killed while it starts a sandbox leaves nothing, {MODE}", who="root" if MODE in LACKING else "both")
    def _(t, mode=MODE):
        if mode in LACKING:
            t.cordon, t.env["CORDON_TEST_LACKS"] = t.lacking, LACKING[mode]
        t.env["TMPDIR"] = t.directory("tmp")
        options = ["--pipes", *SUPERVISORS.get(mode, [])]
        sleep = os.path.realpath("/usr/bin/sleep")  # needs no reader
        argv = t.command(sleep, "1000", policy=t.policy(write=[t.work], execs=[sleep]), options=options)
        first = 1 if mode == "uid" else 0  # the other one only holds a namespace for a moment
        for number in range(first + 1):
            for stops in STOPS:
                if not kill_at(t, argv, number, stops, None):
                    break
        for later in STOPS[::2] if sanitized() else STOPS:
            if not kill_at(t, argv, first, STOPS[-1], later):
                break
        t.true(later > 50, f"its first process was only followed for {later} stops")


for STATE, WORDS in (("relative", "not an absolute path"), ("/etc/passwd/state", "Not a directory"),
                     ("/proc/none/state", "'/proc': ")):
    @case(f"self-test with CORDON_HOME={STATE}: the state has failed, with the reason")
    def _(t, state=STATE, words=WORDS):
        test = SelfTest(t, env={"CORDON_HOME": state}, before=[t.child, "without", "user-namespace"])
        t.same(test.all["state"]["status"], "failed", test.run)
        t.true(words in test.all["state"]["detail"], test.run)


for LACK in ("user-namespace", "mount", "landlock", "seccomp"):
    @case(f"self-test without {LACK}: exit 3, the reason and a remedy; tools still work")
    def _(t, lack=LACK):
        test = SelfTest(t, before=[t.child, "without", lack])
        t.same(test.run.code, 3, test.run)
        t.true(test.bad["sandbox"]["detail"] and test.bad["sandbox"]["remedy"], test.run)
        t.same({test.all[name]["status"] for name in CHECKS[2:8] + ["shell tool", "box, copy"]}, {"failed"}, test.run)
        t.same({test.all[name]["status"] for name in ("file tools", "search tool", "agent")}, {"ok"}, test.run)


@case("interrupted self-test: exit 130, nothing left behind")
def _(t):
    base = t.directory("tmp")
    process = t.start([t.cordon, "self-test"], env={**t.env, "TMPDIR": base})
    deadline = time.monotonic() + TIMEOUT_S
    while not any(os.path.exists(os.path.join(base, d, "home", ".cordon")) for d in os.listdir(base)):
        t.true(time.monotonic() < deadline and process.poll() is None, "it does not come to the tools")
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    run = t.finish(process)
    t.same((run.code, os.listdir(base)), (130, []), run)


sys.exit(main())
