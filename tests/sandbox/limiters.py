#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The mechanisms that limit a sandbox's processes, and their total memory: each tested separately, on a machine that
lacks the better ones (lacking.c), as root and as an ordinary user. See harness.py.

A cgroup needs a machine where one can be created: elsewhere its cases are skipped, and report it. `script/kernels` runs this
suite where it can.
"""
import contextlib
import ctypes
import glob
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import PRESET_PYTHON, TIMEOUT_S, Failed, Skipped, case, main, processes, reap_boxes, sanitized  # noqa: E402 pylint: disable=wrong-import-position

MIB = 1 << 20
LONG_MS = 120000  # a budget that no test should come near
LIMIT = 40
PIPES = ["--pipes"]
ACK = ["--ack-inexact-limits"]
APART_MOST = 20000
COUNTED_MOST = 4000  # processes between two counts, also on a slow and busy machine

# The features removed, and the text of the report then.
WAYS = {
    "cgroup": ("pid_max", "pids.max for"),
    "uid": ("pid_max,cgroups", "of the kernel's user id"),
    "counted": ("pid_max,cgroups,id_maps", "counted every"),
}
EXACT = ("cgroup", "uid")


def lacks(t, way):
    """From here on the program runs as on such a machine."""
    if not os.path.exists(t.lacking):
        raise Failed("build/tests/cordon_lacking is missing")
    t.cordon = t.lacking
    t.env["CORDON_TEST_LACKS"] = WAYS[way][0]


def explain(t, policy):
    run = t.exec(t.child, "exit", "0", policy=policy, options=["--json", "--explain-policy"])
    return run.result["sandbox_report"]


def mounts_of(kind):
    """Paths where file systems of this type are mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        return [line.split()[4] for line in f if f" - {kind} " in line]


def has_controller(name):
    """Whether root could create a group with this controller, as far as visible from outside."""
    return any(name in Path(place, "cgroup.controllers").read_text(encoding="ascii").split() and
               not Path(place, "cgroup.type").exists() and os.access(place, os.W_OK) for place in mounts_of("cgroup2"))


def has_id_maps(*paths):
    """Whether these file systems support id-mapped mounts on every kernel that has them."""
    kinds = subprocess.run(["stat", "-f", "-c", "%T", *paths], check=True, capture_output=True, text=True).stdout.split()
    return set(kinds) <= {"ext2/ext3", "xfs"}


def use(t, way, policy):
    """Selects this mechanism: the case is skipped if the machine does not have it, as seen from outside."""
    lacks(t, way)
    if WAYS[way][1] in explain(t, policy)["processes"]:
        return policy
    if way == "cgroup" and not has_controller("pids"):
        raise Skipped("no cgroup (version 2) with the controller of processes here")
    if way == "uid" and not has_id_maps(t.work, t.cordon, "/usr"):
        raise Skipped("the file system has no id-mapped mounts here")
    raise Failed(f"{way} is not used: {explain(t, policy)}")


def run_json(t, *command, policy, options=()):
    return t.exec(*command, policy=policy, options=["--json", *PIPES, *options], expect=None)


def apart(t):
    """A prefix for commands whose processes must not fill the machine if the limit fails: a pid namespace
    with its own limit. Not available before Linux 6.14, where the setting is global."""
    if "kernel.pid_max" not in explain(t, t.policy())["processes"]:
        return []
    script = f'echo {APART_MOST} >/proc/sys/kernel/pid_max; exec "$@"'
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec", script, "sh"]


def printed(run):
    return run.result["final_observation"]["transcript_delta"]


for way in EXACT:
    @case(f"{way}: exactly the limit of processes can live at once, and the next is refused", who="root")
    def _(t, way=way):
        policy = use(t, way, t.policy(limits={"processes": LIMIT}))
        run = run_json(t, t.child, "forks", "1000", policy=policy)
        t.code(run, 0)
        t.same(printed(run).split(), ["forked", str(LIMIT - 1), "EAGAIN"], run)
        report = run.result["sandbox_report"]
        t.true(WAYS[way][1] in report["processes"], report)
        t.true("limits.processes" not in json.dumps(report["gaps"]), report)

    @case(f"{way}: the limit applies to live processes, not to all that ever existed", who="root")
    def _(t, way=way):
        policy = use(t, way, t.policy(limits={"processes": LIMIT}))
        run = t.exec(t.child, "generations", "50", "30", policy=policy, options=PIPES)
        t.same(run.out, b"at least 30 0\n", run)

    @case(f"{way}: a program that forks forever is ended completely by its run time", who="root")
    def _(t, way=way):
        lock = t.file("lock")
        policy = use(t, way, t.policy(write=[t.work], limits={"processes": LIMIT}, budgets={"max_runtime_ms": 500}))
        t.denied(run_json(t, t.child, "bomb", lock, policy=policy), "E_TIMEOUT", 4)
        t.unlocked(lock)


for way in WAYS:
    @case(f"{way}: files have the same owners and modes as without it", who="root")
    def _(t, way=way):
        secret = t.file("secret", "hidden", 0o600)
        other = t.file("other")
        os.chown(other, 1234, 1234)
        script = ("set -e; cat secret; echo; stat -c '%u %g %a' secret other /usr/bin /tmp .; id -u; id -g; mkdir -m 700 d; "
                  "echo x >d/made; ln -s made d/link; mknod d/fifo p; chmod 640 d/made; mv other d/; cp -p secret copy")
        options = ["--preset", "build", "--root", t.work]
        plain = t.exec("/bin/sh", "-c", "stat -c '%u %g %a' secret other /usr/bin /tmp .; id -u; id -g", options=options)
        lacks(t, way)
        run = t.exec("/bin/sh", "-c", script, options=options)
        t.same(run.out, b"hidden\n" + plain.out, run)
        for name, want in (("d", (0, 0o700)), ("d/made", (0, 0o640)), ("d/link", (0, 0o777)), ("d/fifo", (0, 0o644)),
                           ("copy", (0, 0o600)), ("d/other", (1234, 0o644))):
            st = os.lstat(os.path.join(t.work, name))
            t.same((st.st_uid, st.st_mode & 0o7777), want, name)
        t.true(os.path.exists(secret), "it is gone")

    @case(f"{way}: a command's streams can be opened by their names, also in a box", who="root")
    def _(t, way=way):
        lacks(t, way)
        script = "read x </dev/stdin; echo $x >/dev/stdout; echo e$x >/dev/stderr; echo 2 >/proc/self/fd/1"
        run = t.exec("/bin/sh", "-c", script, options=["--preset", "build", "--root", t.work], data=b"1\n")
        t.same((run.out, run.err), (b"1\n2\n", b"e1\n"), run)
        t.env["CORDON_HOME"] = t.directory("boxes")
        box = [t.cordon, "box", "new", "b", f"{t.directory('project')}:rw", "--agent", "test", "--no-start", "--yes"]
        t.code(t.run(box), 0)
        run = t.run([t.cordon, "box", "exec", "b", "--", "/bin/sh", "-c", script], b"1\n")
        t.same((run.code, run.out, run.err), (0, b"1\n2\n", b"e1\n"), run)
        t.code(t.run([t.cordon, "box", "destroy", "--yes", "--abandon-unapplied", "b"]), 0)
        reap_boxes(t)


# Runs a command where every mount is propagated, as with systemd, and compares the mounts.
SHARED = ["unshare", "--mount", "--propagation", "shared", "sh", "-c",
          'cp /proc/self/mountinfo before; "$@"; code=$?; diff before /proc/self/mountinfo >&2 || exit 99; exit $code', "sh"]


def has_shared(t, *argv):
    run = t.run([*SHARED, *argv])
    t.code(run, 0)
    with open(os.path.join(t.work, "before"), encoding="utf-8") as f:
        t.true(all(" shared:" in line for line in f), "mounts are private: the test sees nothing")


for way in ("native", *WAYS):
    @case(f"{way}: no mount is left on a host with shared mounts, by a command, a repository, a box", who="root")
    def _(t, way=way):
        if way != "native":
            lacks(t, way)
        subprocess.run(["git", "init", "-q", t.work], check=True, env=t.env)
        has_shared(t, *t.command("/bin/sh", "-c", "echo x >made", options=["--preset", "build", "--root", t.work]))
        project = t.directory("project")
        subprocess.run(["git", "init", "-q", project], check=True, env=t.env)
        t.env["CORDON_HOME"] = t.directory("boxes")
        for number, mode in enumerate(("rw", "copy", "overlay")):
            name = f"b{number}"
            box = [t.cordon, "box", "new", name, f"{project}:{mode}", "--agent", "test", "--no-start", "--yes"]
            has_shared(t, *box)
            has_shared(t, t.cordon, "box", "exec", name, "--", "/bin/sh", "-c", "echo x >made")
            has_shared(t, t.cordon, "box", "destroy", "--yes", "--abandon-unapplied", name)
            reap_boxes(t)


@case("uid: a command is not the kernel's root, and has no more access to files of others than root without capabilities", who="root")
def _(t):
    closed = t.file("closed", "hidden", 0o600)
    os.chown(closed, 1234, 1234)
    policy = use(t, "uid", t.policy(read=[t.work], execs=[t.child, "/usr/bin/cat"]))
    run = t.exec("/usr/bin/cat", "/proc/self/uid_map", policy=policy, options=PIPES)
    t.same(run.out.split()[:3], [b"0", b"2147483646", b"1"], run)
    t.code(t.exec("/usr/bin/cat", closed, policy=policy, options=PIPES, expect=None), 6)


@case("uid: if a directory cannot be id-mapped, another mechanism is used", who="root")
def _(t):
    lacks(t, "uid")
    policy = t.policy(write=[t.work])
    run = t.run(t.command(t.child, "exit", "0", policy=policy, options=["--json"]), mounts="mount -t ramfs none .")
    t.code(run, 0)
    t.true(WAYS["counted"][1] in run.result["sandbox_report"]["processes"], run)


def repositories(project, count):
    """Makes this many of them in a directory."""
    for number in range(count):
        top = os.path.join(project, f"r{number}", ".git")
        for name in ("objects", "refs", "hooks"):
            os.makedirs(os.path.join(top, name))
        for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n\tbare = false\n")):
            with open(os.path.join(top, name), "w", encoding="ascii") as f:
                f.write(text)


CHANGE = "for r in r*/.git; do echo '[alias]' >>$r/config; echo x >$r/hooks/pre-commit; done 2>/dev/null; exit 0"

for soft, hard, count, wanted in ((256, 4096, 200, "uid"), (256, 256, 200, "counted"), (78, 78, 1, "counted")):
    @case(f"uid: with {soft} open files of at most {hard} and {count} repositories, none of their settings is changed", who="root")
    def _(t, soft=soft, hard=hard, count=count, wanted=wanted):
        lacks(t, "uid")
        # Mounts are made in the order of their names: the project's must be the last.
        with tempfile.TemporaryDirectory(prefix="cordon-", dir="/var/tmp") as project:
            repositories(project, count)
            argv = t.command("/bin/sh", "-c", CHANGE, options=["--json", "--preset", "build", "--root", project])
            run = t.run(["prlimit", f"--nofile={soft}:{hard}", *argv], cwd=project)
            hooks = list(Path(project).glob("r*/.git/hooks/*"))
            changed = [p for p in Path(project).glob("r*/.git/config") if "alias" in p.read_text(encoding="ascii")]
        t.same((len(hooks), len(changed)), (0, 0), run)
        t.code(run, 0)
        way = wanted if has_id_maps("/usr", "/var/tmp") else "counted"
        t.true(WAYS[way][1] in run.result["sandbox_report"]["processes"], run)


@case("uid: a limit of a box with layers, which cannot be id-mapped, is refused with that reason", who="root")
def _(t):
    use(t, "uid", t.policy())
    t.env["CORDON_HOME"] = t.directory("boxes")
    new = [t.cordon, "box", "new", "b", t.directory("project"), "--agent", "test", "--no-start", "--yes", "--processes", "50"]
    run = t.run(new)
    t.code(run, 3)
    t.true(b"cannot create an id-mapped mount of an overlay" in run.err and b"--ack-inexact-limits" in run.err, run)


@case("uid: too few open files for a requested limit: the remedy is to raise them", who="root")
def _(t):
    policy = use(t, "uid", t.policy(limits={"processes": LIMIT}))
    run = t.run(["prlimit", "--nofile=30:30", *t.command(t.child, "exit", "0", policy=policy, options=["--json"])])
    t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
    t.true("ulimit -n" in run.error["context"]["remedy"] and "cgroup2" not in run.error["context"]["remedy"], run)


# Opens this many files, then starts a command with a limit of open files.
CROWDED = 'n=$1 most=$2; shift 2; for ((i = 3; i < 3 + n; i++)); do eval "exec $i</dev/null"; done; ulimit -n $most; exec "$@"'
CROWDED_LIMIT = 128
# Features removed, and the numbers of free descriptors: the last ones are enough, also for the mounts of "uid".
FREE_FILES = {"native": ("", range(3, 24)), "uid": (WAYS["uid"][0], range(3, 40)), "counted": (WAYS["counted"][0], range(3, 24)),
              "landlock": ("", range(3, 24))}

for way, (lacking, numbers) in FREE_FILES.items():
    @case(f"{way}: with any number of free descriptors a command has its own streams, or the limit of open files is named",
          who="root" if lacking else "both")
    def _(t, way=way, lacking=lacking, numbers=numbers):
        t.cordon, t.env["CORDON_TEST_LACKS"] = t.lacking, lacking
        options = ["--sandbox", "landlock", "--ack-unsafe-sandbox"] if way == "landlock" else []
        policy = t.policy(budgets={"max_runtime_ms": 20000})
        for streams in ("--pipes", "--pty"):
            argv = t.command(t.child, "print", "a", policy=policy, options=[streams, *options])
            runs = [t.start(["bash", "-c", CROWDED, "bash", str(opened), str(3 + opened + free), *argv])
                    for free in numbers for opened in (0, CROWDED_LIMIT - 3 - free)]
            runs = [t.finish(run) for run in runs]
            for run in runs:
                t.true(run.out == b"a" if run.code == 0 else b"open files" in run.err and b"a seccomp filter" not in run.err, run)
            t.same([run.code for run in runs[-2:]], [0, 0], runs[-1])
            t.true(runs[0].code and runs[1].code, "the limit is not reached: the test sees nothing")


# Applies the maximum number of Landlock rulesets for one process, without effect, before a program.
STACKED = """import ctypes, os, struct, sys
call = ctypes.CDLL(None).syscall
for _ in range(16):
    fd = call(444, struct.pack("QQ", 0, 1), 16, 0)
    if fd < 0 or call(446, fd, 0): sys.exit(77)
    os.close(fd)
os.execv(sys.argv[1], sys.argv[1:])"""


@case("uid: an unrelated failure is reported as such, and not as one of the limit", who="root")
def _(t):
    policy = use(t, "uid", t.policy(limits={"processes": LIMIT}))
    run = t.run(["/usr/bin/python3", "-c", STACKED, *t.command(t.child, "exit", "0", policy=policy, options=["--json"])])
    if run.code == 77:
        raise Skipped("no rulesets of the network alone (Linux 6.7)")
    t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
    t.same(run.error["context"]["primitive"], "landlock", run)


@case("counted: the default limit works, and the report and doctor state that it is not exact", who="root")
def _(t):
    lacks(t, "counted")
    run = run_json(t, t.child, "forks", "100", policy=t.policy())
    t.code(run, 0)
    t.same(printed(run).split()[:2], ["forked", "100"], run)
    report = run.result["sandbox_report"]
    t.true(WAYS["counted"][1] in report["processes"], report)
    t.true(any(gap.startswith("limits.processes: counted") for gap in report["gaps"]), report)
    checks = {c["name"]: c for c in json.loads(t.run([t.cordon, "doctor", "--json"]).out)["checks"]}
    t.same(checks["process limit"]["status"], "missing")
    t.true("not exact" in checks["process limit"]["detail"] and "6.14" in checks["process limit"]["remedy"], checks)


@case("counted: process 1 may have a higher priority, a command has that of its caller", who="root")
def _(t):
    lacks(t, "counted")
    run = t.exec("/usr/bin/nice", policy=t.policy(execs=["/usr/bin/nice"]), options=PIPES)
    t.same(int(run.out), max(os.getpriority(os.PRIO_PROCESS, 0), 0), run)


@case("counted: a requested limit is refused before anything runs, unless acknowledged", who="root")
def _(t):
    lacks(t, "counted")
    policy = t.policy(write=[t.work], limits={"processes": LIMIT})
    mark = os.path.join(t.work, "mark")
    run = run_json(t, t.child, "mark", mark, policy=policy)
    t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
    t.true("--ack-inexact-limits" in run.error["context"]["remedy"], run)
    t.true("set limits_inexact_ack to true" in run.error["context"]["remedy"], run)
    t.true(not os.path.exists(mark), "it ran")
    t.code(run_json(t, t.child, "exit", "0", policy=policy, options=ACK), 0)
    own = t.policy(limits={"processes": LIMIT}, limits_inexact_ack=True)
    t.code(run_json(t, t.child, "exit", "0", policy=own), 0)


for mode, more in (("landlock", []), ("none", ["--ack-unsafe-network"])):
    @case(f"{mode}: a requested limit is refused without a cgroup, unless acknowledged; the gap is listed")
    def _(t, mode=mode, more=more):
        t.cordon, t.env["CORDON_TEST_LACKS"] = t.lacking, "cgroups"
        options = ["--sandbox", mode, "--ack-unsafe-sandbox", *more]
        asked = t.policy(write=[t.work], limits={"processes": LIMIT})
        mark = os.path.join(t.work, "mark")
        run = run_json(t, t.child, "mark", mark, policy=asked, options=options)
        t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
        t.true("--ack-inexact-limits" in run.error["context"]["remedy"], run)
        t.true(not os.path.exists(mark), "it ran")
        for policy, ack in ((asked, ACK), (t.policy(), [])):
            run = run_json(t, t.child, "exit", "0", policy=policy, options=[*options, *ack])
            t.code(run, 0)
            t.true("processes: their number is not limited" in run.result["sandbox_report"]["gaps"], run)


# Programs that make processes until it fails, after an action on process 1, which counts them.
BEFORE = {
    "at once": "",
    "process 1 without its scheduling class": "os.sched_setscheduler(1, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK, os.sched_param(0))",
    "process 1 with the lowest priority": "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "process 1 with the lowest priority, by its group": "os.setpgid(0, 1); os.setpriority(os.PRIO_PGRP, 0, 19)",
    "process 1 busy with ends": "if os.fork() == 0:\n while 1:\n  if os.fork() == 0: os.fork() and os._exit(0); os._exit(0)\n  os.wait()",
}
BOMB = "import os\ntry:\n exec({!r})\nexcept OSError: pass\nprint('ready', flush=True)\nwhile 1:\n try: os.fork()\n except OSError: pass"

for name, before in BEFORE.items():
    @case(f"counted: a program that forks forever is ended, {name}", who="root")
    def _(t, before=before):
        below = apart(t)
        lacks(t, "counted")
        options = ["--json", *PIPES, "--preset", "python", "--root", t.work]
        python = os.path.realpath("/usr/bin/python3")
        run = t.run([*below, *t.command(python, "-c", BOMB.format(before), options=options)])
        t.denied(run, "E_PROCESS_EXIT", 6)
        t.true("limits.processes" in run.error["message"], run)


@case("counted: a step that waits for a program that is killed for too many processes reports why", who="root")
def _(t):
    below = apart(t)
    lacks(t, "counted")
    tree = {"scenario_version": 1, "metadata": {"name": "s"},
            "run": {"command": t.child, "args": ["burgeon", "100000"], "policy": {
                "policy_version": 4, "exec": {"allowed_executables": [t.child]}, "limits": {"processes": LIMIT}}},
            "steps": [{"id": "a", "action": {"type": "wait", "payload": {
                "condition": {"type": "screen_contains", "payload": {"text": "never"}}}}}]}
    scenario = t.file("s.json", json.dumps(tree))
    run = t.run([*below, t.cordon, "run", "--json", *ACK, scenario])
    t.denied(run, "E_PROCESS_EXIT", 6)
    t.true("limits.processes" in run.error["message"], run)


@case("counted: too many processes are all killed, quickly, and the error reports why", who="root")
def _(t):
    below = apart(t)
    lock = t.file("lock")
    lacks(t, "counted")
    policy = t.policy(write=[t.work], limits={"processes": LIMIT})
    options = ["--json", *PIPES, *ACK]
    run = t.run([*below, *t.command(t.child, "burgeon", "100000", policy=policy, options=options)])
    t.denied(run, "E_PROCESS_EXIT", 6)
    t.true("limits.processes" in run.error["message"], run)
    count = printed(run).count(".")
    t.true(LIMIT <= count + 2 and count <= COUNTED_MOST * (4 if sanitized() else 1), f"{count} processes were made")
    run = t.run([*below, *t.command(t.child, "bomb", lock, policy=policy, options=options)])
    t.denied(run, "E_PROCESS_EXIT", 6)
    t.unlocked(lock)


@case("counted: a command of a box that is killed for too many processes reports it, and the next one is not affected", who="root")
def _(t):
    below = apart(t)
    lacks(t, "counted")
    t.env["CORDON_HOME"] = t.directory("boxes")
    project = t.directory("project")
    new = ["box", "new", "b", f"{project}:rw", "--agent", "test", "--no-start", "--yes", "--processes", str(LIMIT), *ACK]
    bomb = "import os\nwhile 1:\n try: os.fork()\n except OSError: pass"
    script = (f'"$0" {" ".join(new)} && "$0" box exec b -- {PRESET_PYTHON} -c "$1"; echo $?; "$0" box exec b -- /bin/sh -c "kill -9 \\$\\$"; '
              'echo $?; "$0" box destroy --yes --abandon-unapplied b')
    run = t.run([*below, "sh", "-c", script, t.cordon, bomb])
    t.same(run.out.split()[-2:], [b"6", b"137"], run)
    t.same(run.err.count(b"the box had more processes than --processes allows"), 1, run)
    reap_boxes(t)


@case("counted: processes that hide from their user are counted, and so are threads", who="root")
def _(t):
    lacks(t, "counted")
    python = os.path.realpath("/usr/bin/python3")
    preset = ["--preset", "python", "--root", t.work]
    threads = ("import threading, time\nthreading.stack_size(65536)\n"
               "for i in range(600): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\ntime.sleep(60)")
    hidden = ("import ctypes, os, signal\nctypes.CDLL(None).prctl(4, 0)\n"
              "for i in range(600):\n if os.fork() == 0: signal.pause()\nsignal.pause()")
    for script in (threads, hidden):
        run = t.exec(python, "-c", script, options=["--json", *PIPES, *preset], expect=6)
        t.true("limits.processes" in run.error["message"], run)


@case("an author's acknowledgement of inexact limits does not count for the user: scenarios and recordings", who="root")
def _(t):
    lacks(t, "counted")
    tree = {"scenario_version": 1, "metadata": {"name": "s"},
            "run": {"command": t.child, "args": ["exit", "0"], "policy": {
                "policy_version": 4, "exec": {"allowed_executables": [t.child]}, "limits": {"processes": LIMIT},
                "limits_inexact_ack": True}},
            "steps": [{"id": "end", "action": {"type": "terminate"}}]}
    scenario = t.file("s.json", json.dumps(tree))
    record = os.path.join(t.work, "record")
    run = t.run([t.cordon, "run", "--json", scenario])
    t.code(run, 3)
    t.true(run.error["context"]["remedy"].endswith("or acknowledge inexact limits with --ack-inexact-limits"), run)
    t.code(t.run([t.cordon, "run", "--json", "--artifacts", record, *ACK, scenario]), 0, 2)
    plain = os.path.join(t.work, "plain")
    policy = t.policy(write=[t.work])
    t.exec(t.child, "print", "a", policy=policy, options=["--pty", "--artifacts", plain])
    t.code(t.run([t.cordon, "replay", "--artifacts", plain, "--ack-unsafe-write", "--ack-unsafe-read"]), 0)
    asked = os.path.join(t.work, "asked")
    policy = t.policy(write=[t.work], limits={"processes": LIMIT})
    t.exec(t.child, "print", "a", policy=policy, options=["--pty", "--artifacts", asked, *ACK])
    again = [t.cordon, "replay", "--artifacts", asked, "--ack-unsafe-write", "--ack-unsafe-read"]
    t.code(t.run(again), 3)
    t.code(t.run([*again, *ACK]), 0)


@case("a limit in the policy of a tool is acknowledged by its key: tools have no such flag", who="root")
def _(t):
    lacks(t, "counted")
    policy = t.file("p.json", json.dumps({"policy_version": 4, "exec": {"allowed_executables": ["/bin", "/usr/bin"], "allow_shell": True},
        "fs": {"allowed_read": [t.work]}, "limits": {"processes": LIMIT}}))
    run = t.run([t.cordon, "tool", "shell", "--json", '{"command": "true"}', "--policy", policy], cwd=t.work)
    t.true(b"or set limits_inexact_ack to true in the policy" in run.out + run.err, run)
    t.true(b"--ack-inexact-limits" not in run.out + run.err, run)


@case("an ordinary user: RLIMIT_NPROC, exactly, with any other features missing", who="user")
def _(t):
    lacks(t, "counted")
    run = run_json(t, t.child, "forks", "1000", policy=t.policy(limits={"processes": LIMIT}))
    t.code(run, 0)
    t.same(printed(run).split(), ["forked", str(LIMIT - 1), "EAGAIN"], run)
    t.true(f"RLIMIT_NPROC={LIMIT}" in run.result["sandbox_report"]["processes"], run)


# Groups ---------------------------------------------------------------------------------------------

def groups():
    """Our existing groups, wherever cgroup2 is mounted."""
    return [g for place in mounts_of("cgroup2") for g in glob.glob(os.path.join(place, "**", "cordon-[0-9]*"), recursive=True)]


def needs_memory(t, policy):
    """Skips the case unless a group that counts memory can be created."""
    if "memory.max" in explain(t, policy)["limits"]:
        return
    if t.uid is None and has_controller("memory"):
        raise Failed("no group is made")
    raise Skipped("no cgroup (version 2) with the memory controller can be made here")


for kind, more in (("private", []), ("shared", ["shared"])):
    @case(f"memory of all processes together is limited, also {kind} memory")
    def _(t, more=more):
        policy = t.policy(limits={"memory_bytes": 256 * MIB})
        needs_memory(t, policy)
        run = run_json(t, t.child, "share", "6", str(100 * MIB), *more, policy=policy)
        t.code(run, 0)
        t.true("lost 9" in printed(run) and printed(run).count("share") <= 2, run)
        report = run.result["sandbox_report"]
        t.true("memory_bytes" not in json.dumps(report["gaps"]), report)
        t.true("exceeded: the kernel killed" in report["limits"], report)


class Groups:
    """Two nested groups, the outer one with controllers for its children. Removed at the end."""

    def __init__(self):
        top = next(p for p in mounts_of("cgroup2") if not Path(p, "cgroup.type").exists())
        self.outer = Path(top, f"test-{os.getpid()}")
        self.inner = self.outer / "inner"
        self.inner.mkdir(parents=True)
        for place in (Path(top), self.outer):
            for name in ("memory", "pids"):
                (place / "cgroup.subtree_control").write_text("+" + name, encoding="ascii")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for place in (*self.outer.glob("cordon-*"), self.inner):
            with contextlib.suppress(OSError):  # 5.14
                (place / "cgroup.kill").write_text("1", encoding="ascii")
            while (place / "cgroup.procs").read_text(encoding="ascii"):
                pass
            place.rmdir()
        self.outer.rmdir()

    def command(self, argv):
        """Runs a command in the inner group, with another process."""
        return ["sh", "-c", f'echo $$ >{self.inner}/cgroup.procs; "$@"', "sh", *argv]


def bpf(command, attributes):
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    text = ctypes.create_string_buffer(attributes, 120)
    return ctypes.CDLL(None, use_errno=True).syscall(number, command, text, len(text))


def attach_program(directory):
    """Attaches a BPF program that allows all outgoing traffic of a group."""
    code = ctypes.create_string_buffer(bytes([0xb7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]))
    licence = ctypes.create_string_buffer(b"GPL")
    program = bpf(5, struct.pack("IIQQ", 8, 2, ctypes.addressof(code), ctypes.addressof(licence)))
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    done = program >= 0 and bpf(8, struct.pack("IIII", fd, program, 1, 0)) == 0
    for one in (fd, program):
        if one >= 0:
            os.close(one)
    if not done:
        raise Skipped("no BPF programs on groups here")


@case("cgroup: a group that is left passes on its limits, others cannot open the new one; with BPF programs it is not left", who="root")
def _(t):
    if not has_controller("memory") or not has_controller("pids"):
        raise Skipped("no cgroup (version 2) with the controllers of memory and processes here")
    lacks(t, "cgroup")
    with Groups() as g:
        (g.inner / "memory.high").write_text(str(512 * MIB), encoding="ascii")
        cat = os.path.realpath("/usr/bin/cat")
        argv = t.command(cat, policy=t.policy(execs=[cat]), options=PIPES)
        process = t.start(g.command(argv), stdin=subprocess.PIPE)
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        t.until(process, b"ready")
        made = list(g.outer.glob("cordon-*"))
        t.same([(p / "memory.high").read_text(encoding="ascii").strip() for p in made], [str(512 * MIB)])
        t.same([p.stat().st_mode & 0o777 for p in made], [0o700])
        t.code(t.finish(process), 0)
        attach_program(g.inner)
        run = t.run(g.command(t.command(t.child, "exit", "0", policy=t.policy(), options=["--json", *PIPES])))
        t.code(run, 0)
        said = run.result["sandbox_report"]["processes"]
        t.true(WAYS["uid"][1] in said or WAYS["counted"][1] in said, said)


@case("a group is removed with its sandbox, and one that a killed supervisor left by the next")
def _(t):
    policy = t.policy(limits={"memory_bytes": 256 * MIB})
    needs_memory(t, policy)
    before = set(groups())
    t.exec(t.child, "exit", "0", policy=policy, options=PIPES)
    t.same(set(groups()) - before, set())
    process = t.start(t.command(t.child, "pause", policy=policy, options=PIPES))
    deadline = time.monotonic() + TIMEOUT_S
    while len(set(groups()) - before) != 1 and time.monotonic() < deadline:
        pass
    left = set(groups()) - before
    t.same(len(left), 1, left)
    process.send_signal(signal.SIGKILL)
    t.killed = True
    process.wait()
    while open(os.path.join(min(left), "cgroup.procs"), "rb").read() and time.monotonic() < deadline:
        pass
    t.exec(t.child, "exit", "0", policy=policy, options=PIPES)
    t.same(set(groups()) - before, set())


# Processes that keep process 1 busy ----------------------------------------------------------------

# Process 1 of a pid namespace with at most so many processes, on one CPU, so that a reaper has a small part of its time: runs a
# command, and waits until nothing of it is left.
APART = """
import os, resource, subprocess, sys
most = int(sys.argv[1])
if os.getuid() == 0:
    with open("/proc/sys/kernel/pid_max", "w") as f:
        f.write(str(most))
else:
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
code = subprocess.call(sys.argv[2:])
try:
    while True:
        os.wait()
except ChildProcessError:
    sys.exit(code if code >= 0 else 128 - code)
"""
REAPER_NICE = 8
SWARM_S = 60  # only a hang takes that long


def apart_alone(t, most):
    """A prefix for commands whose processes must not fill the machine."""
    prefix = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if t.uid is not None or os.getuid() != 0:
        prefix += ["--user", "--map-current-user"]
    elif "kernel.pid_max" not in explain(t, t.policy())["processes"]:
        raise Skipped("kernel.pid_max is a global setting before Linux 6.14")
    if t.run([*prefix, "true"]).code != 0:
        raise Skipped("no pid namespace can be made here")
    return [*prefix, PRESET_PYTHON, "-c", APART, str(most)]


def below(pid, name):
    """The first process with this name that a process or a child of it has started."""
    found = list(processes())
    parents = {pid, *(child for child, parent, _, _ in found if parent == pid)}
    return next(child for child, parent, _, what in found if parent in parents and what == name)


for ending in (None, signal.SIGKILL):
    @case(f"many orphans, and more all the time: {ending.name if ending else 'its run time'} ends a run without namespaces")
    def _(t, ending=ending):
        policy = t.policy(sandbox="landlock", sandbox_unsafe_ack=True,
                          budgets={"max_runtime_ms": LONG_MS if ending else 3000})
        run = t.command(t.child, "swarm", "1000", "6", policy=policy, options=PIPES)
        process = t.start([*apart_alone(t, 2000), *run])
        t.until(process, b"ready")
        supervisor = below(process.pid, b"(cordon)")
        os.setpriority(os.PRIO_PROCESS, below(supervisor, b"(cordon-init)"), REAPER_NICE)
        if ending:
            os.kill(supervisor, ending)
        t.code(t.finish(process, timeout=SWARM_S), 137 if ending else 4)


sys.exit(main())
