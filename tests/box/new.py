#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Creating, resetting and destroying boxes under bad conditions: full and read-only disks, concurrency, running boxes,
and confirmation on a terminal.

    new.py --cordon BINARY --child BOX_RUN [WORD…]
"""
import os
import pty
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import TIMEOUT_S, await_trash, case, main, reap_boxes as reap  # noqa: E402
from view import CASES, cordon, git, inside, new, project, read, write  # noqa: E402

CASES.clear()  # the cases of view.py
MANY = 8


def names(t):
    return cordon(t, "box", "list", "--names").out.decode().split()


def left(t):
    """Returns leftovers: files that are neither boxes nor Cordon's."""
    await_trash()
    boxes = t.env["CORDON_HOME"] + "/sandboxes/"
    return [d for d in (".new", ".trash", ".locks") if os.listdir(boxes + d)]


@case("a full disk leaves nothing half done, and all its space is freed")
def _(t):
    p = project(t)
    write(t, p + "/big", "x" * 3_000_000)
    box = f"{t.cordon} box"
    script = (f"{box} new b {p} --agent test --no-start -y; echo $?; ls -A ../state/sandboxes/.new ../state/sandboxes/.trash | wc -w; {box} list --names;"
              f"rm {p}/big; {box} new b {p} --agent test --no-start -y && {box} list --names")
    run = t.run(["sh", "-c", script], mounts='mount -t tmpfs -o size=1m,mode=700,uid="$(stat -c %u .)" none ../state')
    t.code(run, 0)
    t.same(run.out, b"10\n2\nb\n", run)
    t.true(b"No space left on device" in run.err, run)


@case("a full disk: a reset that needs space fails, and leaves the box unchanged")
def _(t):
    p = project(t)
    box = f"{t.cordon} box"
    script = (f"{box} new b {p}:overlay --agent test --no-start -y && {t.child} b -- 'echo 2 > keep'; dd if=/dev/zero of=../state/fill bs=1k 2>/dev/null;"
              f"{box} reset b --abandon-unapplied; echo $?; {box} diff b | grep -c '^+2'; rm ../state/fill; {box} reset b --abandon-unapplied; {box} diff b")
    run = t.run(["sh", "-c", script], mounts='mount -t tmpfs -o size=1m,mode=700,uid="$(stat -c %u .)" none ../state')
    t.code(run, 0)
    lines = run.out.decode().split()
    t.true(lines in (["10", "1"], ["0", "0"]), run)  # a directory may need no space


@case("a full disk: a start that cannot be recorded leaves no recording")
def _(t):
    p = project(t)
    box = f"{t.cordon} box"
    script = (f"{box} new b {p} --agent test --no-start -y; dd if=/dev/zero of=../state/fill bs=1k 2>/dev/null;"
              f"{box} start b; echo $?; {box} start b; echo $?; ls ../state/sandboxes/b/host/runs | wc -l")
    run = t.run(["sh", "-c", script], mounts='mount -t tmpfs -o size=1m,mode=700,uid="$(stat -c %u .)" none ../state')
    reap(t)
    t.same(run.out.decode().split(), ["10", "10", "0"], run)
    t.same(run.err.count(b"cannot record the agent's screen: cannot write to '1': No space left on device"), 2, run)


@case("a read-only disk")
def _(t):
    p = project(t)
    new(t, p, name="old")
    box = f"{t.cordon} box"
    script = f"{box} new b {p} --agent test --no-start; echo $?; {box} reset old; echo $?; {box} destroy old; echo $?; {box} list --names; {box} doctor; echo $?"
    run = t.run(["sh", "-c", script], mounts="mount --bind ../state ../state; mount -o remount,ro,bind ../state")
    t.same(run.out.decode().split()[:4], ["10", "10", "10", "old"], run)
    t.same(run.out.decode().split()[-1], "3", run)
    t.true(run.err.count(b"Read-only file system") >= 3, run)


@case("the same name many times at once makes one box")
def _(t):
    p = project(t)
    argv = [t.cordon, "box", "new", "b", p, "--agent", "test", "--no-start"]
    runs = [t.finish(r) for r in [t.start(argv) for _ in range(MANY)]]
    t.same(sorted(r.code for r in runs), [0] + [19] * (MANY - 1), [str(r) for r in runs])
    t.same((names(t), inside(t, "cat keep")), (["b"], "old\n"))


@case("fifty boxes at once")
def _(t):
    p = project(t)
    runs = [t.start([t.cordon, "box", "new", f"b{i}", p + (":overlay" if i % 2 else ""), "--agent", "test", "--no-start"]) for i in range(50)]
    for run in runs:
        t.code(t.finish(run), 0)
    t.same(len(names(t)), 50)
    t.same(inside(t, "cat keep", name="b49"), "old\n")
    cordon(t, "box", "destroy", "--all", "--yes")
    cordon(t, "box", "prune")
    t.same((names(t), left(t)), ([], []))


@case("a project that was renamed or replaced")
def _(t):
    p = project(t)
    new(t, p, name="copy")
    new(t, p + ":overlay", name="over")
    new(t, p + ":rw", name="real")
    os.rename(p, p + "2")
    t.same(inside(t, "cat keep", name="copy"), "old\n")
    for name in ("over", "real"):
        run = t.run([t.child, name, "--", "true"])
        t.code(run, 99)
        t.true(b"E_NOT_FOUND" in run.err and os.fsencode(p) in run.err, run)
    os.symlink(p + "2", p)
    t.code(t.run([t.child, "over", "--", "true"]), 99)


@case("git is not run in a submodule that a ':rw' box took over")
def _(t):
    p, lib = project(t), project(t, "lib")
    git(t, p, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "sub")
    git(t, p, "commit", "-qm", "with a submodule")
    new(t, p + ":rw", name="real")
    inside(t, "cd sub && rm .git && git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm x &&"
              f"git config filter.x.clean 'touch {t.top}/ran; cat' && echo '* filter=x' > .gitattributes && echo new > keep", name="real")
    os.chmod(t.top, 0o777)
    cordon(t, "box", "new", "b", p, "--agent", "test", "--no-start", expect=None)
    t.true(not os.path.exists(t.top + "/ran"), "the host ran it")
    t.run(["git", "-C", p, "status"])
    t.true(os.path.exists(t.top + "/ran"), "the test sees nothing")


# Running boxes ---------------------------------------------------------------------------------


def start(t, directory, script, *options, name="b"):
    return cordon(t, "box", "new", name, directory, "--agent", "test", "--prompt", script, "-y", *options)


def status(t, name="b"):
    listed = cordon(t, "box", "list", "--json").result["boxes"]
    return [b["status"] for b in listed if b["name"] == name][0]


def await_file(t, name):
    """Waits until the agent has made the file."""
    t.same(cordon(t, "box", "exec", "b", "sh", "-c", f"until test -e {name}; do sleep 0.01; done; echo there").out, b"there\n")


@case("reset stops a running box and starts it again")
def _(t):
    p = project(t)
    start(t, p, "echo run >> runs; touch ready; sleep 1000")
    await_file(t, "ready")
    cordon(t, "box", "reset", "b", expect=19)
    t.same(status(t), "running")
    cordon(t, "box", "reset", "b", "--abandon-unapplied")
    await_file(t, "ready")
    t.same(cordon(t, "box", "exec", "b", "cat", "runs").out, b"run\n")
    t.same(status(t), "running")
    cordon(t, "box", "destroy", "b", "--abandon-unapplied")
    reap(t)
    t.same((names(t), left(t)), ([], []))


@case("replacing stops a running box")
def _(t):
    p = project(t)
    start(t, p, "touch ready; sleep 1000")
    await_file(t, "ready")
    cordon(t, "box", "new", "b", p, "--agent", "test", "--no-start", "--replace", expect=19)
    t.same(status(t), "running")
    write(t, p + "/keep", "uncommitted\n")
    cordon(t, "box", "new", "b", p, "--agent", "test", "--no-start", "--replace", "--abandon-unapplied", expect=20)
    t.same(status(t), "running", "stopped by a command that did nothing")
    write(t, p + "/keep", "old\n")
    new(t, p, "--replace", "--abandon-unapplied")
    reap(t)
    t.same((status(t), inside(t, "ls")), ("stopped", "keep\nrun.sh\n"))


@case("reset does not start a box that was never started")
def _(t):
    p = project(t)
    new(t, p)
    cordon(t, "box", "reset", "b")
    t.same(status(t), "stopped")


@case("prune keeps running boxes and boxes with changes")
def _(t):
    p = project(t)
    start(t, p, "touch ready; sleep 1000")
    await_file(t, "ready")
    new(t, p, name="spare")
    new(t, p, name="changed")
    inside(t, "echo 2 > keep", name="changed")
    t.same(cordon(t, "box", "prune", "--yes").out, b"destroyed spare\n")
    t.same(names(t), ["b", "changed"])
    cordon(t, "box", "destroy", "b", "--abandon-unapplied")
    reap(t)


@case("an agent that cannot be started leaves a box that can")
def _(t):
    p = project(t)
    write(t, t.top + "/bin/claude", "#!/nowhere/sh\n", 0o755)
    t.env["PATH"] = f"{t.top}/bin:{t.env['PATH']}"
    run = cordon(t, "box", "new", "b", p, expect=18)
    t.true(b"needs '/nowhere/sh', which does not exist" in run.err, run)
    t.same(names(t), [])


# Confirmation ----------------------------------------------------------------------------------


def on_terminal(t, answer, *args):
    """Returns the exit status and the output, with an answer typed at the prompt."""
    master, slave = pty.openpty()
    process = t.start([t.cordon, *args], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(master, 4096)
    os.write(master, answer)
    try:
        while part := os.read(master, 4096):
            said += part
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return process.wait(TIMEOUT_S), said.decode()


@case("uncommitted changes need confirmation on a terminal")
def _(t):
    p = project(t)
    write(t, p + "/keep", "changed\n")
    code, said = on_terminal(t, b"n\n", "box", "new", "b", p, "--agent", "test", "--no-start")
    t.same((code, names(t), left(t)), (130, [], []), said)
    t.true("1 changed, 0 new" in said, said)
    code, said = on_terminal(t, b"y\n", "box", "new", "b", p, "--agent", "test", "--no-start")
    t.same((code, names(t)), (0, ["b"]), said)


@case("discarding changes needs confirmation on a terminal, even with the option")
def _(t):
    p = project(t)
    new(t, p)
    inside(t, "echo 2 > keep")
    code, said = on_terminal(t, b"\n", "box", "reset", "b", "--abandon-unapplied")
    t.same((code, inside(t, "cat keep")), (130, "2\n"), said)
    code, said = on_terminal(t, b"n\n", "box", "destroy", "b", "--abandon-unapplied")
    t.same((code, names(t)), (130, ["b"]), said)
    code, said = on_terminal(t, b"yes\n", "box", "destroy", "b", "--abandon-unapplied")
    t.same((code, names(t)), (0, []), said)
    t.same(read(p + "/keep"), "old\n")


if __name__ == "__main__":
    sys.exit(main())
