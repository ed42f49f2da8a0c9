#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`box apply`: applies exactly what was shown; files that are executed automatically, file modes and disk space.

The boxes are real, in both layering modes; the cases are those of tests/harness.py.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, ".."), os.path.join(HERE, "..", "sandbox"), os.path.join(HERE, "..", "tui")]
from harness import case, main  # noqa: E402 pylint: disable=wrong-import-position
from running import Boxes, row  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position

MODES = ("copy", "overlay")

# Changes a file immediately, and again on request; the second change does not alter its size or times.
CHANGER = r'''
import mmap, os, sys, time
way, name = sys.argv[1], sys.argv[2]
f = open(name, "r+b")
size = os.fstat(f.fileno()).st_size
if way == "mapped":
    m = mmap.mmap(f.fileno(), size)
    m[0:4] = b"good"
else:
    f.write(b"good")
    f.flush()
print("ready", flush=True)
sys.stdin.readline()
before = os.stat(name)
if way == "mapped":
    m[0:4] = b"evil"
elif way == "backdated":
    os.pwrite(f.fileno(), b"evil", 0)
    os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
elif way == "replaced":
    with open("other", "wb") as g:
        g.write(b"evil" + b"x" * (size - 4))
    os.utime("other", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.rename("other", name)
elif way == "linked":
    os.unlink(name)
    os.symlink("/etc/passwd", name)
print("done", flush=True)
sys.stdin.readline()
'''


def git(t, *args):
    t.code(t.run(["git", "-C", t.work, "-c", "user.name=n", "-c", "user.email=e@x", *args]), 0)


@case("a read-only file is refused, and applied once it is writable")
def _(t):
    for mode in MODES:
        for tracked in (True, False):
            with Boxes(t) as b:
                t.file("locked", "old\n", 0o444)
                if tracked:
                    git(t, "init", "-q")
                    git(t, "add", ".")
                    git(t, "commit", "-qm", "x")
                b("new", "b", f"{t.work}:{mode}", "--agent", "test", "--yes", "--no-start")
                b.exec("sh", "-c", "chmod u+w locked; echo new > locked; chmod 444 locked")
                run = b("apply", "b", "--yes", expect=10)
                t.true(b"'locked' is read-only (mode 0444): make it writable first" in run.err, run)
                os.chmod(os.path.join(t.work, "locked"), 0o644)
                b("apply", "b", "--yes")
                t.same(read(t, "locked"), b"new\n", mode)
                t.same(b.json("show", "b")["changes"]["total"], 0)
                b("destroy", "b")
                t.run(["sh", "-c", f"rm -rf {t.work}/.git {t.work}/locked"])
                subprocess.run(["rm", "-rf", os.path.join(t.top, "state"), os.path.join(t.top, "settings")], check=True)


@case("with ':overlay' a file that has its old content again is not a conflict")
def _(t):
    back = {"checkout": "echo mine > f; git checkout -q f", "touch": "touch f", "stash": "echo mine > f; git stash -q; git stash drop -q",
            "branch": "git checkout -q other; git checkout -q -", "replaced": "cp f g; mv g f", "chmod": "chmod 640 f"}
    still = {"edited": "echo mine > f", "same size": "echo abd > f", "executable": "chmod +x f", "untracked": "echo > u; echo old > u",
             "deleted": "rm f"}
    with Boxes(t) as b:
        for words, fits in ((back, True), (still, False)):
            for name, script in words.items():
                t.run(["sh", "-c", f"rm -rf {t.work}/.git {t.work}/*"])
                t.file("f", "abc\n")
                t.file("u", "old\n")
                git(t, "init", "-q")
                git(t, "add", "f")
                git(t, "commit", "-qm", "x")
                git(t, "checkout", "-qb", "other")
                t.file("f", "else\n")
                git(t, "commit", "-qam", "y")
                git(t, "checkout", "-q", "-")
                old = os.stat(os.path.join(t.work, "f"))
                os.utime(os.path.join(t.work, "f"), ns=(old.st_atime_ns, old.st_mtime_ns - 5 * 10**9))
                git(t, "status", "--short")
                b("new", "b", t.work + ":overlay", "--agent", "test", "--yes", "--no-start")
                b.exec("sh", "-c", "echo box >> f; echo box >> u")
                t.code(t.run(["sh", "-c", f"cd {t.work}; git config user.name n; git config user.email e; {script}"]), 0)
                run = b("apply", "b", "--yes", "--", "u" if name == "untracked" else "f", expect=None)
                t.same(run.code, 0 if fits else 19, (name, str(run)))
                if fits:
                    t.same(read(t, "f", 99), b"abc\nbox\n", name)
                b("destroy", "b", "--abandon-unapplied", "--yes")


def read(t, name, n=4):
    with open(os.path.join(t.work, name), "rb") as f:
        return f.read(n)


def change(t, b, way, name):
    """Changes the file once in the box, by `exec`; the caller triggers the second change."""
    process = t.start([t.cordon, "box", "exec", "b", "python3", "changer.py", way, name],
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    t.until(process, b"ready")
    return process


def go_on(t, process, word=b""):
    process.stdin.write(b"\n")
    process.stdin.flush()
    if word:
        t.until(process, word)


def new(t, b, mode, *args, **more):
    return b("new", "b", f"{t.work}:{mode}", "--agent", "test", "--yes", "--no-start", *args, **more)


def shown_is_applied(t, mode, way, size):
    t.file("changer.py", CHANGER)
    t.file("f", "safe" + "x" * (size - 4))
    with Boxes(t) as b:
        new(t, b, mode)
        process = change(t, b, way, "f")
        with Screen(t, [t.cordon, "box", "apply", "b"], 24, 100) as c:
            c.expect(rb"a command in the box is still running; later changes are not included")
            c.expect(rb"\[y/N\] ")
            go_on(t, process, b"done")
            c.send(b"y\r")
            t.same(c.finish(), 0)
        t.same(read(t, "f"), b"good", f"{mode}, {way}")
        diff = b("diff", "b").out
        t.true(b"+evil" in diff or b"120000" in diff, f"later changes are not shown: {diff[:300]}")
        go_on(t, process)
        t.code(t.finish(process), 0)


for _mode in MODES:
    for _way in ("backdated", "mapped", "replaced", "linked"):
        @case(f"apply takes what was shown: a file that is {_way} while the prompt is open, {_mode}")
        def _(t, mode=_mode, way=_way):
            shown_is_applied(t, mode, way, 20)

    @case(f"apply takes what was shown: a large file, {_mode}")
    def _(t, mode=_mode):
        shown_is_applied(t, mode, "mapped", 3 << 20)


@case("apply takes what was shown: the list of changes is also from the time of the prompt")
def _(t):
    t.file("changer.py", CHANGER)
    t.file("f", "safe and sound")
    with Boxes(t) as b:
        new(t, b, "copy")
        process = change(t, b, "backdated", "f")
        with Screen(t, [t.cordon, "box", "apply", "b"], 24, 100) as c:
            c.expect(rb"1 file changed.*\[y/N\] ")
            b.exec("sh", "-c", "echo more > more")
            go_on(t, process, b"done")
            c.send(b"y\r")
            t.same(c.finish(), 0)
        t.true(not os.path.exists(os.path.join(t.work, "more")), "later changes were applied")
        go_on(t, process)
        t.code(t.finish(process), 0)


@case("apply reports what is running in the box: the agent, a command, or nothing")
def _(t):
    t.file("changer.py", CHANGER)
    t.file("f", "safe and sound")
    with Boxes(t, row()) as b:
        new(t, b, "copy")
        b.exec("sh", "-c", "echo x > new")
        t.true(b"still running" not in b("apply", "b", "--dry-run").err, "nothing runs")
        process = change(t, b, "backdated", "f")
        for words in (["--dry-run"], ["--yes"]):
            t.true(b"a command in the box is still running" in b("apply", "b", *words).err, f"not told with {words}")
        go_on(t, process, b"done")
        go_on(t, process)
        t.code(t.finish(process), 0)
        b("new", "c", t.work, "--agent", "own", "--yes")
        b.exec("sh", "-c", "echo x > newer", name="c")
        t.true(b"the agent is still running" in b("apply", "c", "--dry-run").err, "the agent is not told")


# Files that are executed automatically: contents of the project, actions of the box, paths that need the flag, paths shown.
ACTING = [
    ("a link in a directory's place", "", "mkdir c; echo x > c/config.toml; ln -s c .cargo", [".cargo", "c/config.toml"], []),
    ("behind a link that is there", "mkdir c; echo y > c/config.toml; ln -s c .cargo", "echo x > c/config.toml", ["c/config.toml"], []),
    ("behind a chain of links", "mkdir c; echo y > c/config.toml; ln -s c d; ln -s d .cargo", "echo x > c/config.toml", ["c/config.toml"], []),
    ("a link on the way", "mkdir c e; echo y > c/config.toml; echo z > e/config.toml; ln -s c d; ln -s d .cargo", "rm d; ln -s e d", ["d"], []),
    ("a file behind a link", "echo y > env; ln -s env .envrc", "echo x > env", ["env"], []),
    ("workflows behind a link", "mkdir gh; echo y > gh/x; ln -s gh .github", "mkdir gh/workflows; echo x > gh/workflows/ci.yml", ["gh/workflows/ci.yml"], []),
    ("a link out, absolute", "", "ln -s /root/.ssh/authorized_keys keys", ["keys"], []),
    ("a link out, upwards", "mkdir d; echo > d/a", "ln -s ../../.bashrc d/keys", ["d/keys"], []),
    ("a link into git", "", "ln -s .git/config x", ["x"], []),
    ("a link that stays", "echo > a", "ln -s a x", [], []),
    ("a toolchain", "", "echo x > rust-toolchain.toml", ["rust-toolchain.toml"], []),
    ("steering", "echo > AGENTS.md", "echo x > AGENTS.md; echo x > conftest.py; echo x > .eslintrc.js", [], [".eslintrc.js", "AGENTS.md", "conftest.py"]),
    ("both", "", "echo x > Makefile; echo x > .envrc", [".envrc"], ["Makefile"]),
]

for _mode in MODES:
    for _about, _setup, _act, _needs, _shows in ACTING:
        @case(f"files that are executed automatically: {_about}, {_mode}")
        def _(t, mode=_mode, setup=_setup, act=_act, needs=_needs, shows=_shows):
            t.code(t.run(["sh", "-c", f"cd '{t.work}' && {setup or ':'}"]), 0)
            with Boxes(t) as b:
                new(t, b, mode)
                b.exec("sh", "-c", act)
                for change_ in b.json("diff", "b")["changes"]:
                    want = "runs" if change_["path"] in needs else "steers" if change_["path"] in shows else None
                    t.true(change_.get("class") == want or "leads_out" in change_, change_)
                counts = b.json("show", "b")["changes"]
                t.same((counts["runs"] + counts["leads_out"], counts["steers"]), (len(needs), len(shows)))
                if needs:
                    refused = b.json("apply", "b", "--yes", expect=20)
                    t.same([x["path"] for x in refused["executed"]], needs)
                    t.same([x["path"] for x in refused["steering"]], shows)
                    told = b("apply", "b", "--yes", expect=20).err.decode()
                    t.true("are executed automatically:" in told or "point outside the project:" in told, told)
                told = b("apply", "b", "--yes", *(["--allow-executed-config"] if needs else [])).err.decode()
                t.same("affect builds or agents:" in told, bool(shows))
                t.true(all(f"'{name}'" in told for name in needs + shows), told)


# Modes --------------------------------------------------------------------------------------------------

for _mode in MODES:
    @case(f"modes: only the execute bit is taken from a box, {_mode}")
    def _(t, mode=_mode):
        t.file("kept", "a\n", 0o640)
        t.file("more", "a\n", 0o640)
        t.file("less", "a\n", 0o775)
        t.file("alone", "a\n", 0o644)
        with Boxes(t) as b:
            new(t, b, mode)
            t.same(b.exec("sh", "-c", "umask").out, b"0022\n", "the umask in the box")
            b.exec("sh", "-c", "echo x > new; echo x > all; chmod 777 all; echo x > little; chmod 400 little; mkdir -m 777 d; echo x > d/f;"
                               "for f in kept more less; do echo b > $f; done; chmod 777 kept more; chmod 666 kept less; chmod 600 alone")
            b("apply", "b", "--yes")
            got = {name: oct(os.stat(os.path.join(t.work, name)).st_mode & 0o7777)
                   for name in ("new", "all", "little", "d", "d/f", "kept", "more", "less", "alone")}
            t.same(got, {"new": "0o644", "all": "0o755", "little": "0o644", "d": "0o755", "d/f": "0o644",
                         "kept": "0o640", "more": "0o750", "less": "0o664", "alone": "0o644"})
            t.same(b("diff", "b").out, b"")


# Disk space ---------------------------------------------------------------------------------------------

for _mode in MODES:
    @case(f"disk space: holes stay holes, in the project and in the baseline, {_mode}")
    def _(t, mode=_mode):
        with Boxes(t) as b:
            new(t, b, mode)
            b.exec("sh", "-c", "truncate -s 2G sparse; printf x | dd of=sparse bs=1 seek=1G conv=notrunc 2>/dev/null;"
                               "for i in $(seq 200); do truncate -s 60K s$i; done")
            b("apply", "b", "--yes")
            st = os.stat(os.path.join(t.work, "sparse"))
            t.same(st.st_size, 2 << 30)
            used = 0
            for top in (t.work, t.env["CORDON_HOME"]):
                for at, _, names in os.walk(top):
                    used += sum(os.lstat(os.path.join(at, name)).st_blocks * 512 for name in names)
            t.true(used < 4 << 20, f"{used} bytes are used for holes")
            with open(os.path.join(t.work, "sparse"), "rb") as f:
                f.seek(1 << 30)
                t.same(f.read(2), b"x\0")
            t.same(b("diff", "b", "--name-only").out, b"")


@case("disk space: more than can be applied at once is refused, and leaves nothing behind")
def _(t):
    with Boxes(t) as b:
        new(t, b, "copy")
        b.exec("sh", "-c", "truncate -s 70G sparse")
        refused = b("apply", "b", "--yes", expect=10)
        t.true(b"apply some paths at a time" in refused.err, refused)
        t.same(os.listdir(t.work), [])


if __name__ == "__main__":
    sys.exit(main())
