#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reported denials of the sandbox; and attempts to mislead, flood or outlive the listener that
collects it. Every act is first done outside, where it works. See harness.py.
"""
import ctypes
import json
import os
import shlex
import signal
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import PRESET_PYTHON, Skipped, case, factor, main  # noqa: E402 pylint: disable=wrong-import-position

ENTRIES_MAX = 128
ENOSYS = 38
PR_SET_NO_NEW_PRIVS = 38
SYS = {"x86_64": {"openat": 257, "seccomp": 317}, "aarch64": {"openat": 56, "seccomp": 277}}.get(os.uname().machine, {})
NEW_LISTENER = 8

ACT = f"""
import ctypes, errno, os, socket, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
OPENAT, SECCOMP = {SYS.get("openat")}, {SYS.get("seccomp")}
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""


def python(t, script, *args, execs=(), write=(), read=(), options=(), expect=None, **more):
    policy = t.policy(read=[t.work, *read], write=write, execs=[PRESET_PYTHON, *execs], cwd=t.work)
    return t.exec(PRESET_PYTHON, "-I", "-c", ACT + script, *args, policy=policy, options=("--pipes", *options), expect=expect,
                  **more)


def reported(t, script, *args, options=(), **more):
    """The denials of a command that prints nothing."""
    run = python(t, script, *args, options=("--json", *options), **more)
    return run.result["denied"]


def entry(op, target, program=os.path.realpath(PRESET_PYTHON), count=1, fix=None, rule=None):
    found = {"op": op, "target": target, "program": program, "count": count}
    if fix is not None:
        found["fix"] = fix
    if rule is not None:
        found["rule"] = rule
    return found


def matches(got, want):
    return len(got) == len(want) and all(all(g.get(k) == v for k, v in w.items()) for g, w in zip(got, want))


# Reports ----------------------------------------------------------------------------------
# {R}: the working directory, readable; {O}: a directory that is not shown, with a file f, a directory d and a script run;
# {S}: its interpreter. The same command with the options of the fix succeeds, unless there is none.

PATHS = [
    ("read", "open('{O}/f')", "read", "{O}/f", "--read {O}/f"),
    ("read, relative", "os.chdir('{R}'); open('../other/f')", "read", "{O}/f", "--read {O}/f"),
    ("read, dots", "open('{R}/./../other//f')", "read", "{O}/f", "--read {O}/f"),
    ("read through a symlink inside", "open('{R}/link')", "read", "{O}/f", "--read {O}/f"),
    ("list", "os.listdir('{O}/d')", "read", "{O}/d", "--read {O}/d"),
    ("enter", "os.chdir('{O}/d')", "read", "{O}/d", "--read {O}/d"),
    ("write", "open('{R}/f', 'r+')", "write", "{R}/f", "--write {R}/f {A}"),
    ("write, empty it", "open('{R}/f', 'w')", "write", "{R}/f", "--write {R}/f {A}"),
    ("append", "open('{R}/f', 'a')", "write", "{R}/f", "--write {R}/f {A}"),
    ("create", "open('{R}/new', 'x')", "write", "{R}/new", "--write {R} {A}"),
    ("create elsewhere", "open('{O}/new', 'x')", "write", "{O}/new", "--write {O} {A}"),
    ("create by a directory's descriptor",
     "os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=os.open('{R}', os.O_PATH))", "write", "{R}/new", "--write {R} {A}"),
    ("make a directory", "os.mkdir('{R}/new')", "write", "{R}/new", "--write {R} {A}"),
    ("remove", "os.unlink('{R}/f')", "write", "{R}/f", "--write {R} {A}"),
    ("remove a directory", "os.rmdir('{R}/d')", "write", "{R}/d", "--write {R} {A}"),
    ("change the mode", "os.chmod('{R}/f', 0o600)", "write", "{R}/f", "--write {R}/f {A}"),
    ("truncate", "os.truncate('{R}/f', 0)", "write", "{R}/f", "--write {R}/f {A}"),
    ("make a symlink", "os.symlink('x', '{R}/new')", "write", "{R}/new", "--write {R} {A}"),
    ("make a hard link", "os.link('{R}/f', '{R}/new')", "write", "{R}/new", "--write {R} {A}"),
    ("execute", "subprocess.run(['{O}/run'], check=True)", "exec", "{O}/run", "--allow-exec {O}/run --allow-exec {S}"),
    ("execute what can be read", "subprocess.run(['{R}/run'], check=True)", "exec", "{R}/run", "--allow-exec {R}/run --allow-exec {S}"),
    ("read in another thread",
     "t = threading.Thread(target=lambda: os.access('{O}', 0) or os._exit(1 if os.path.exists('{R}/f') and "
     "not [0 for _ in [0] if (lambda: open('{O}/f'))()] else 0)); t.start(); t.join()", "read", "{O}/f", None),
]


def make_paths(t, work=None, name="other"):
    """Creates the directories; returns the names to fill in."""
    work, other = work or t.work, t.directory(name)
    for top in (work, other):
        os.mkdir(os.path.join(top, "d"))
        t.own(os.path.join(top, "d"))
        for name, text, mode in (("f", "secret\n", 0o644), ("run", "#!/bin/sh\n", 0o755)):
            path = os.path.join(top, name)
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(path, mode)
            t.own(path)
    os.symlink("../other/f", os.path.join(work, "link"))
    return {"R": work, "O": other, "S": os.path.realpath("/bin") + "/sh", "A": "--ack-unsafe-write"}


def options_of(got):
    """The options that the fixes of these denials name, to be used literally."""
    return [word for e in got for word in shlex.split(e["fix"])]


def path_case(title, act, op, target, fix):
    @case(f"reported: {title}")
    def _(t):
        control = make_paths(t, t.directory("control", "work"), "control/other")
        if "threading" not in act:
            t.code(t.run([PRESET_PYTHON, "-I", "-c", ACT + act.format_map(control)]), 0)
        names = make_paths(t)
        script = act.format_map(names)
        got = reported(t, script)
        want = entry(op, target.format_map(names))
        if fix:
            want["fix"] = fix.format_map(names)
        t.true(matches(got, [want]), f"{got}\nwanted {want}")
        if fix:
            run = python(t, script, options=("--json", *options_of(got)), expect=0)
            t.same(run.result["denied"], [], run)


for row in PATHS:
    path_case(*row)


@case("reported: rename, both names")
def _(t):
    names = make_paths(t)
    got = reported(t, f"os.rename('{t.work}/f', '{names['O']}/g')")
    t.same(sorted((e["op"], e["target"]) for e in got), [("write", names["O"] + "/g"), ("write", t.work + "/f")])
    got = reported(t, f"os.rename('{t.work}/f', '{t.work}/g')")
    t.same({e["fix"] for e in got}, {f"--write {t.work} --ack-unsafe-write"}, got)
    python(t, f"os.rename('{t.work}/f', '{t.work}/g')", options=options_of(got), expect=0)


@case("reported: an interpreter that may not run, of a script that may")
def _(t):
    names = make_paths(t)
    script = f"subprocess.run(['{names['O']}/run'], check=True)"
    got = reported(t, script, execs=[names["O"] + "/run"])
    t.true(matches(got, [entry("exec", names["S"], fix=f"--allow-exec {names['S']}")]), got)
    python(t, script, execs=[names["O"] + "/run"], options=options_of(got), expect=0)
    t.file(names["O"] + "/run", "#!/usr/bin/env -S sh -e\n")
    t.same(reported(t, script), [])  # outside it can't be executed either
    os.chmod(names["O"] + "/run", 0o755)
    got = reported(t, script)
    env = os.path.realpath("/usr/bin") + "/env"
    t.true(f"--allow-exec {names['O']}/run --allow-exec {env} --allow-exec " in got[0]["fix"], got)
    python(t, script, options=options_of(got), expect=0)


@case("reported: a program that a shell does not find, if that is all it was to do")
def _(t):
    sh = os.path.realpath("/bin/sh")
    ident = os.path.realpath("/usr/bin") + "/id"
    for script, want in (("id", [ident]), ("id -u", [ident]), ("nosuchprogram", []), ("exit 127", []), ("id; id", [])):
        act = f"sys.exit(subprocess.run(['{sh}', '-c', '{script}']).returncode)"
        got = reported(t, act, execs=[sh])
        t.same([e["target"] for e in got if e["op"] == "exec"], want, got)
        if want:
            python(t, act, execs=[sh], options=options_of(got), expect=0)


@case("reported: a program that may not run is not also a file that may not be read")
def _(t):
    sh = os.path.realpath("/bin/sh")
    got = reported(t, f"sys.exit(subprocess.run(['{sh}', '-c', '/usr/bin/id']).returncode)", execs=[sh])
    t.same([(e["op"], e["target"]) for e in got], [("exec", os.path.realpath("/usr/bin") + "/id")], got)
    policy = t.policy(read=[t.work], execs=["/usr/bin/env"], cwd=t.work)
    run = t.exec("/usr/bin/env", "/usr/bin/id", policy=policy, options=["--pipes", "--json"], expect=6)
    t.same([e["op"] for e in run.result["denied"]], ["exec"], run)


@case("reported: a path that no policy may allow, with the reason of its guard")
def _(t):
    got = reported(t, "os.mkdir('/home/new')")
    t.same([(e["target"], e["fix"]) for e in got], [("/home/new", "")], got)
    t.true(got[0]["rule"].endswith("; cannot be allowed: it holds every home directory") or "may not do it" in got[0]["rule"], got)


@case("reported: files of the host's /tmp only if the command was given their names, or something beside them is shown")
def _(t):
    path = os.path.join("/tmp", os.path.basename(t.top) + "-lone")
    t.file(path)
    try:
        halves = path[:8], path[8:]
        t.same(reported(t, f"open('{halves[0]}' + '{halves[1]}')"), [])
        got = reported(t, "open(sys.argv[1])", path)
        t.same([(e["target"], e["fix"]) for e in got], [(path, f"--read {path}")], got)
        python(t, "open(sys.argv[1])", path, options=options_of(got), expect=0)
    finally:
        os.unlink(path)


@case("reported: caches of Python are not")
def _(t):
    os.mkdir(t.work + "/__pycache__")
    t.own(t.work + "/__pycache__")
    t.same(reported(t, "open('{}/__pycache__/x.pyc', 'wb')".format(t.work)), [])


@case("reported: a file that the user may not read has no fix", who="user")
def _(t):
    got = reported(t, "open('/etc/shadow')")
    if not os.path.exists("/etc/shadow"):
        raise Skipped("no /etc/shadow")
    t.same([(e["op"], e["target"], e["fix"]) for e in got], [("read", "/etc/shadow", "")])
    t.true("this user may not" in got[0]["rule"], got)


@case("reported: an address outside, a Unix socket, a refused call")
def _(t):
    address = "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect_ex(('{}', 53)); sys.exit({})"
    names = "host names cannot be resolved: no network"
    got = reported(t, address.format("192.0.2.7", 1))
    t.true(matches(got, [entry("connect", "a name server", rule=names,
                               fix="--allow-host HOST, or --enable-network --ack-unsafe-network")]), got)
    t.same(reported(t, address.format("192.0.2.7", 0)), [])
    got = reported(t, "socket.create_connection(('192.0.2.7', 80), 5)")
    t.true(matches(got, [entry("connect", "192.0.2.7:80", rule="no network")]), got)
    got = reported(t, "socket.create_connection(('2001:db8::7', 80), 5)")
    t.true(matches(got, [entry("connect", "[2001:db8::7]:80", rule="no network")]), got)
    got = reported(t, "socket.socket(socket.AF_UNIX)")
    t.same([e["op"] for e in got], ["connect"], got)
    got = reported(t, "sys.exit(libc.unshare(0x10000000) == 0 or errno.errorcode[ctypes.get_errno()] == 'EPERM')")
    t.true(matches(got, [entry("syscall", "unshare", fix="")]), got)


@case("reported: a local server is not denied")
def _(t):
    got = reported(t, "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); sys.exit(1)")
    t.same(got, [])


@case("reported: once, with a count; by the program that was denied")
def _(t):
    names = make_paths(t)
    got = reported(t, f"subprocess.run(['/usr/bin/cat', *['{names['O']}/f'] * 7]); sys.exit(3)", execs=["/usr/bin/cat"])
    t.true(matches(got, [entry("read", names["O"] + "/f", program=os.path.realpath("/usr/bin/cat"), count=7)]), got)


@case("reported: people get at most three lines, and none if the command succeeds")
def _(t):
    names = make_paths(t)
    script = f"""
for i in range(9):
    try: open(f"{names['O']}/{{i}}")
    except OSError: pass
sys.exit(int(sys.argv[1]))
"""
    for i in range(9):
        t.file(os.path.join(names["O"], str(i)))
    run = python(t, script, "0", expect=0)
    t.same(run.err, b"", run)
    run = python(t, script, "3", expect=6)
    lines = [l for l in run.err.split(b"\n") if l.startswith(b"denied: ")]
    t.same(len(lines), 3, run)
    t.same(lines[0].decode(), f"denied: read {names['O']}/8 (not in the policy). Allow: --read {names['O']}/8", run)
    t.same(len(reported(t, script, "3")), 9)


@case("reported: nothing after ordinary work")
def _(t):
    t.file("a.c", "#include <stdio.h>\nint main(void) { return 0; }\n")
    for command in (["/usr/bin/gcc", "-o", "a", "a.c"], ["/usr/bin/git", "init", "-q", "x"],
                    ["/usr/bin/bash", "-lc", "id; ls -la ~; python3 -c 'import json, socket'"],
                    ["/usr/bin/make", "-f", "/dev/null", "-p"]):
        run = t.exec(*command, options=["--preset", "build", "--root", t.work, "--json"], expect=None)
        failed = run.result["status"] != "passed"
        t.same([e for e in run.result["denied"] if not failed], [], f"{command} {run}")


@case("reported: names are escaped, for people and in JSON")
def _(t):
    names = make_paths(t)
    name = names["O"] + "/\x1b]0;x\x07\n<b>'\u202e"
    t.file(name)
    run = python(t, "open(sys.argv[1])", name, expect=6)
    denied = [l for l in run.err.split(b"\n") if l.startswith(b"denied: ")]
    t.same(len(denied), 1, run)
    t.true(b"\x1b" not in denied[0] and b"\x07" not in denied[0], run)
    got = reported(t, "open(sys.argv[1])", name)
    t.same([(e["target"], e["fix"]) for e in got], [(name, "")])


@case("switched off: --no-denials, and without namespaces")
def _(t):
    names = make_paths(t)
    script = f"open('{names['O']}/f')"

    def gaps(run):
        return [g for g in run.result["sandbox_report"]["gaps"] if g.startswith("denied:")]
    run = python(t, script, options=("--json",))
    t.same((len(run.result["denied"]), gaps(run)), (1, []))
    run = python(t, script, options=("--json", "--no-denials"))
    t.same((run.result["denied"], gaps(run)), ([], []))
    run = python(t, script, options=("--json", "--sandbox", "landlock", "--ack-unsafe-sandbox"))
    t.same((run.result["denied"], len(gaps(run))), ([], 1), run)


@case("reported: programs that only look for a file, by their arguments")
def _(t):
    names = make_paths(t)
    policy = t.policy(read=[t.work], execs=["/usr/bin/ls"], cwd=t.work)
    for argument in (names["O"] + "/f", "../other/f", "--time-style=+" + names["O"]):
        run = t.exec("/usr/bin/ls", argument, "/nonexistent", policy=policy, options=["--pipes", "--json"], expect=6)
        want = [] if argument[0] == "-" else [("read", names["O"] + "/f", 1)]
        t.same([(e["op"], e["target"], e["count"]) for e in run.result["denied"]], want, run)


# Front ends ----------------------------------------------------------------------------------------

@case("tools: the result of each command of a shared sandbox has its own denials")
def _(t):
    names = make_paths(t)
    calls = [("shell", {"command": f"cat {names['O']}/f"}), ("shell", {"command": "exit 3"}),
             ("exec_command", {"cmd": f"ls {names['O']}/d; exit 1", "yield_time_ms": 60000}),
             ("shell", {"command": f"cat {names['O']}/f || true"})]
    lines = "".join(json.dumps({"name": name, "arguments": arguments}) + "\n" for name, arguments in calls)
    run = t.run([t.cordon, "tool", "--serve"], lines.encode())
    results = [json.loads(line) for line in run.out.splitlines()]
    got = [[(e["op"], e["target"]) for e in r["details"]["denied"]] for r in results]
    t.same(got, [[("read", names["O"] + "/f")], [], [("read", names["O"] + "/d")], [("read", names["O"] + "/f")]], run)
    said = [f"[denied: read {names['O']}" in r["content"] for r in results]
    t.same(said, [True, False, True, False], run)
    run = t.run([t.cordon, "tool", "--no-denials", "shell", "--json", json.dumps(calls[0][1])])
    t.true("denied" not in run.result["details"], run)


# Commands of git that write its settings: the fix, and the exit code of git.
GIT = [
    ("git remote add o https://example.com/x", "git remote add o https://example.com/x", False),
    ("git push -q -u up HEAD:refs/heads/x", "git push -q -u up HEAD:refs/heads/x", True),
    ("git push -u up HEAD:refs/heads/y", "git push -u up HEAD:refs/heads/y", True),
    ("cd d; git push -u up HEAD:refs/heads/z", "git -C {work}/d push -u up HEAD:refs/heads/z", True),
    ("git -C d/.. -C d remote add o2 /x", "git remote add o2 /x", False),
    ("git checkout -q -b t --track up/main", "git checkout -q -b t --track up/main", True),
    ("git config user.name 'N N'", "git config user.name 'N N'", False),
    ("git config core.fsmonitor 'touch x'", "git config --edit --file {work}/.git/config", False),
    ("git remote add e 'ext::sh -c x'", "git config --edit --file {work}/.git/config", False),
    ("GIT_ALLOW_PROTOCOL=file git submodule --quiet add {work}/.up.git s", "git config --edit --file {work}/.git/config", True),
    ("GIT_ALLOW_PROTOCOL=file git submodule add {work}/.up.git s2", "git submodule add {work}/.up.git s2", True),
]

# Linked work trees, which may be where the sandbox ends; the exit code, and whether there is a denial.
TREES = [
    ("git worktree add ../outside", "git worktree add ../outside", ".git/worktrees/outside"),
    ("cd d; git worktree add ../inside", "git -C {work}/d worktree add ../inside", ".git/worktrees/inside"),
]


def git_project(t):
    script = ("git init -q -b main .; git config --local user.name n; git config --local user.email e; git init -q -b main --bare .up.git; "
              "git remote add up ./.up.git; mkdir d; echo x >d/x; git add d; git commit -q -m a; git push -q up main; git fetch -q up")
    t.code(t.run(["sh", "-c", script]), 0)


@case("tools: settings of git, with the command for the user; also if git takes it for a success")
def _(t):
    git_project(t)
    lines = "".join(json.dumps({"name": "shell", "arguments": {"command": command.format(work=t.work)}}) + "\n" for command, _, _ in GIT)
    run = t.run([t.cordon, "tool", "--serve"], lines.encode())
    for (command, fix, fine), line in zip(GIT, run.out.splitlines(), strict=True):
        result = json.loads(line)
        fix = fix.format(work=t.work)
        t.same(result["status"] == "ok", fine, f"{command}: {result}")
        t.same([(d["op"], d["target"], d["fix"]) for d in result["details"]["denied"]], [("write", f"{t.work}/.git/config", fix)], command)
        t.true(f"[denied: write {t.work}/.git/config (protected" in result["content"], result["content"])
        t.true(f"Run it outside: {fix}]" in result["content"], command)


@case("a preset: the same on standard error, also after a success")
def _(t):
    git_project(t)
    run = t.run([t.cordon, "exec", "--preset", "build", "--", "git", "push", "-q", "-u", "up", "HEAD:refs/heads/x"])
    t.code(run, 0)
    t.true(f"denied: write {t.work}/.git/config (protected: read-only in a writable directory). Run it outside: git push -q -u up HEAD:refs/heads/x\n".encode() in run.err, run)


@case("linked work trees: adding one fails with a denial, and those that exist can be used")
def _(t):
    git_project(t)
    t.code(t.run(["git", "worktree", "add", "-q", "linked"]), 0)
    for command, fix, target in TREES:
        run = t.run([t.cordon, "tool", "shell", "--json", json.dumps({"command": command})])
        t.same(run.result["status"], "error", run)
        t.same([(d["op"], d["target"], d["fix"]) for d in run.result["details"]["denied"]],
               [("write", f"{t.work}/{target}", fix.format(work=t.work))], run)
        run = t.run([t.cordon, "exec", "--preset", "build", "--", "bash", "-c", command])
        t.code(run, 6)
        t.true(f"Run it outside: {fix.format(work=t.work)}\n".encode() in run.err, run)
    t.same(os.listdir(f"{t.work}/.git/worktrees"), ["linked"])
    run = t.run([t.cordon, "exec", "--preset", "build", "--", "git", "-C", "linked", "commit", "-q", "--allow-empty", "-m", "inside"])
    t.code(run, 0)
    t.same(t.run(["git", "log", "-1", "--format=%s", "refs/heads/linked"]).out, b"inside\n")
    run = t.run([t.cordon, "exec", "--preset", "build", "--", "sh", "-c", "git clone -q . d/c && git -C d/c worktree add -q w && git -C d/c/w status --short"])
    t.code(run, 0)


@case("learn: the additions are a policy that allows it")
def _(t):
    names = make_paths(t)
    out = os.path.join(t.home, "out")
    run = t.exec("/usr/bin/cat", names["O"] + "/f", options=["--artifacts", out], expect=6)
    learned = t.run([t.cordon, "policy", "learn", "--from", out])
    t.code(learned, 0)
    t.true(f'    - "{names["O"]}/f"  # for '.encode() in learned.out, learned)
    policy = t.policy(read=[t.work, names["O"] + "/f"], execs=["/usr/bin/cat"], cwd=t.work)
    t.exec("/usr/bin/cat", names["O"] + "/f", policy=policy)
    t.run(["/bin/rm", "-rf", out])
    run = python(t, "subprocess.run(['/usr/bin/env'])", options=("--learn",))
    t.true(b'exec:\n  allowed_executables:\n    - "/usr/bin/env"' in run.err, run)
    run = python(t, f"os.unlink('{t.work}/f')", options=("--learn",))
    t.true(f'fs:\n  allowed_write:\n    - "{t.work}"  # for '.encode() in run.err, run)


# argv: the target of a request to the proxy.
ASK = r"""
port = int(os.environ["HTTP_PROXY"].rsplit(":", 1)[1])
with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
    s.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\r\nHost: {sys.argv[1]}\r\n\r\n".encode())
    sys.exit(b" 200 " not in s.recv(4096))
"""


@case("learn, and for people: a host that the proxy refused")
def _(t):
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = f"127.0.0.1:{server.getsockname()[1]}"
        allow = ("--allow-host", "a.example")
        out = os.path.join(t.home, "out")
        run = t.exec(PRESET_PYTHON, "-I", "-c", ACT + ASK, target, options=(*allow, "--artifacts", out, "--pipes"), expect=6)
        line = f"denied: host {target} (not in allowed_hosts). Allow: --allow-host {target}\n"
        t.true(f"\n{line}".encode() in b"\n" + run.err, run)
        learned = t.run([t.cordon, "policy", "learn", "--from", out])
        t.true(f'allowed_hosts:\n  - "{target}"\n'.encode() in learned.out, learned)
        t.run(["/bin/rm", "-rf", out])
        run = python(t, ASK, target, options=(*allow, "--learn"))
        t.true(f'allowed_hosts:\n  - "{target}"\n'.encode() in run.err and b"Nothing was denied" not in run.err, run)
        python(t, ASK, target, options=(*allow, *shlex.split(line.split("Allow: ")[1])), expect=0)


# Other listeners -----------------------------------------------------------------------------------

def filter_program():
    """A filter that allows everything, and its length."""
    code = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
    return program, code


LISTEN = """
import struct
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
got = libc.syscall(SECCOMP, 1, int(sys.argv[1]), program)
say("listener" if got > 0 else "installed" if got == 0 else errno.errorcode[ctypes.get_errno()])
open("/dev/null")
"""


@case("a command with a listener of its own gets EBUSY, and is told how to have it")
def _(t):
    if not SYS:
        raise Skipped("not on this processor")
    t.same(python(t, LISTEN, "0", expect=0).out, b"installed\n")
    t.same(python(t, LISTEN, "8", expect=0).out, b"EBUSY\n")
    t.same(python(t, LISTEN, "8", options=("--no-denials",), expect=0).out, b"listener\n")
    run = python(t, LISTEN + "sys.exit(1)", "8", options=("--json",))
    t.true(matches(run.result["denied"], [entry("syscall", "seccomp", fix="--no-denials")]), run)
    # In a preset connect() is carried out by the listener, with or without denials.
    command = (PRESET_PYTHON, "-I", "-c", ACT + LISTEN + "sys.exit(1)", "8")
    options = ["--preset", "python", "--root", t.work, "--pipes"]
    t.same(t.exec(*command, options=[*options, "--no-denials"], expect=6).out, b"EBUSY\n")
    run = t.exec(*command, options=[*options, "--json"], expect=6)
    t.same([(e["target"], e["fix"]) for e in run.result["denied"]], [("seccomp", "")], run)
    t.true("connections of this sandbox" in run.result["denied"][0]["rule"], run)


@case("a look for updates is not the reason that a program's child failed; a host that is not found is one")
def _(t):
    ask = "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect_ex(('192.0.2.7', 53))"
    child = "subprocess.run([sys.executable, '-I', '-c', 'import sys; sys.exit(1)'])"
    thread = "t = threading.Thread(target=lambda: (socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.7', 53)))); " \
             "t.start(); t.join()"
    for act in (f"{ask}; {child}; sys.exit(1)", f"{thread}; {child}; {thread}; sys.exit(1)"):
        t.same(reported(t, act, execs=[os.path.realpath(PRESET_PYTHON)]), [], act)
    for act in (f"{ask}; sys.exit(1)", f"{thread}; sys.exit(1)", f"{child}; {ask}; sys.exit(1)"):
        t.same([e["target"] for e in reported(t, act, execs=[os.path.realpath(PRESET_PYTHON)])], ["a name server"], act)


@case("people get denials that nothing failed after, if a command fails and there are no others")
def _(t):
    names = make_paths(t)
    script = f"""
try: open("{names['O']}/f")
except OSError: pass
for i in range(100): os.close(os.open("/dev/null", os.O_RDONLY))
sys.exit(3)
"""
    run = python(t, script, expect=6)
    t.true(f"\ndenied: read {names['O']}/f (not in the policy). Allow: --read {names['O']}/f\n".encode() in run.err, run)


@case("where a listener cannot be had, that is a gap, and nothing else changes")
def _(t):
    if not SYS:
        raise Skipped("not on this processor")
    names = make_paths(t)
    libc = ctypes.CDLL(None, use_errno=True)
    program, code = filter_program()

    def listen():
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        fd = libc.syscall(SYS["seccomp"], 1, NEW_LISTENER, program)
        if fd < 0 or not code:
            os._exit(99)
        os.set_inheritable(fd, True)  # once it is closed, there can be another
    run = python(t, f"open('{names['O']}/f')", options=("--json",), preexec_fn=listen, close_fds=False)
    t.code(run, 6)
    t.same(run.result["denied"], [])
    t.same([g for g in run.result["sandbox_report"]["gaps"] if g.startswith("denied: not collected")] != [], True, run)


# Attacks -------------------------------------------------------------------------------------------

@case("attack: the supervisor is killed: no call of the sandbox fails with ENOSYS")
def _(t):
    if not SYS:
        raise Skipped("not on this processor")
    t.killed = True
    for turn in range(12):
        log, lock = t.file(f"log{turn}"), t.file(f"lock{turn}")
        script = f"""
import fcntl
log = os.open('{log}', os.O_WRONLY | os.O_APPEND)
lock = os.open('{lock}', os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX)
def opens():
    while True:
        fd = libc.syscall(OPENAT, -100, b"/dev/null", 0)
        if fd < 0: os.write(log, str(ctypes.get_errno()).encode() + b"\\n")
        else: os.close(fd)
for i in range(3): threading.Thread(target=opens).start()
"""
        policy = t.policy(read=[t.work], write=[t.work], execs=[PRESET_PYTHON], cwd=t.work)
        process = t.start(t.command(PRESET_PYTHON, "-I", "-c", ACT + script, policy=policy, options=["--pipes"]))
        t.until_locked(lock)
        process.send_signal(signal.SIGKILL)
        t.finish(process)
        t.unlocked(lock, 60)
        with open(log, "rb") as f:
            t.same(f.read(), b"", f"in turn {turn}")


FLOOD = """
def opens(k):
    for i in range(int(sys.argv[2])):
        try: os.close(os.open(f"{sys.argv[1]}/{(i * 8 + k) % 2000}", os.O_RDONLY))
        except OSError: pass
threads = [threading.Thread(target=opens, args=(k,)) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join()
sys.exit(1)
"""


@case("attack: a flood of opens of thousands of files from many threads: the report is bounded")
def _(t):
    names = make_paths(t)
    for i in range(2000):
        t.file(os.path.join(names["O"], str(i)))
    run = python(t, FLOOD, names["O"], str(4000 // factor()), options=("--json",))
    t.same(run.result["status"], "failed", run)
    t.same(len(run.result["denied"]), ENTRIES_MAX)


ODD = """
buffer = ctypes.create_string_buffer(b"/" + b"a" * 6000)
mapped = libc.mmap
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
page = libc.mmap(None, 8192, 3, 0x22, -1, 0)
libc.munmap(page + 4096, 4096)
def attempt(name, address):
    fd = libc.syscall(OPENAT, -100, ctypes.c_void_p(address), 0)
    say(name, errno.errorcode[ctypes.get_errno()] if fd < 0 else "opened")
attempt("null", 0)
attempt("unmapped", page + 4096)
attempt("kernel", 0xffff800000000000)
ctypes.memset(page, 97, 4096)
attempt("no end", page + 4000)
ctypes.memmove(page + 4096 - 10, b"/dev/null\\0", 10)
attempt("at the end of a page", page + 4096 - 10)
attempt("too long", ctypes.addressof(buffer))
buffer[4095] = 0
attempt("as long as possible", ctypes.addressof(buffer))
ctypes.memset(page, 0, 4096)
attempt("empty", page)
say(libc.syscall(OPENAT, 12345, b"relative", 1), errno.errorcode[ctypes.get_errno()])
"""


@case("attack: pointers that cannot be read, paths without an end: the same errors as outside")
def _(t):
    if not SYS:
        raise Skipped("not on this processor")
    outside = t.run([PRESET_PYTHON, "-I", "-c", ACT + ODD])
    t.code(outside, 0)
    t.true(b"null EFAULT" in outside.out and b"at the end of a page opened" in outside.out, outside)
    t.same(python(t, ODD, expect=0).out, outside.out)


CHANGING = """
import time
path = ctypes.create_string_buffer(256)
stop = False
def flip():
    while not stop:
        ctypes.memmove(path, b"/dev/null\\0", 10)
        ctypes.memmove(path, sys.argv[1].encode() + b"\\0", len(sys.argv[1]) + 1)
thread = threading.Thread(target=flip); thread.start()
opened = 0
for i in range(int(sys.argv[2])):
    fd = libc.syscall(OPENAT, -100, path, 0)
    if fd >= 0:
        opened += 1
        name = os.readlink(f"/proc/self/fd/{fd}")
        if name != "/dev/null": say("leak", name)
        os.close(fd)
stop = True
thread.join()
say("done")
"""


@case("attack: a path that changes while it is read opens nothing that is denied")
def _(t):
    if not SYS:
        raise Skipped("not on this processor")
    names = make_paths(t)
    run = python(t, CHANGING, names["O"] + "/f", str(4000 // factor()), expect=0)
    t.same(run.out, b"done\n", run)


SIGNALS = """
import signal
hits = 0
def hit(*_):
    global hits
    hits += 1
signal.signal(signal.SIGALRM, hit)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for i in range(int(sys.argv[1])):
    fd = libc.syscall(OPENAT, -100, b"/dev/null", 0)
    if fd >= 0: os.close(fd)
    elif ctypes.get_errno() != errno.EINTR: say(errno.errorcode[ctypes.get_errno()])
signal.setitimer(signal.ITIMER_REAL, 0)
say("done", hits > 0)
"""


@case("attack: signals while the listener answers: nothing but EINTR, for handlers without SA_RESTART")
def _(t):
    if not SYS:
        raise Skipped("not on this processor")
    run = python(t, SIGNALS, str(20000 // factor()), expect=0)
    t.same(run.out, b"done True\n", run)


@case("attack: a process that is killed while it waits for an answer")
def _(t):
    script = """
import signal
for i in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        while True: os.close(os.open("/dev/null", os.O_RDONLY))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
say("done")
"""
    t.same(python(t, script, str(300 // factor()), expect=0).out, b"done\n")


@case("attack: the listener in process 1 cannot be reached")
def _(t):
    script = """
for path in ("/proc/1/fd", "/proc/1/fdinfo", "/proc/1/fd/3"):
    try: say(path, os.listdir(path) if path[-1] != "3" else os.open(path, os.O_RDONLY))
    except OSError as e: say(errno.errorcode[e.errno])
say(os.path.basename(max(os.listdir("/proc/self/fd"), key=int)))
"""
    said = python(t, script, expect=0).out.split()
    t.true(all(word in (b"EACCES", b"EPERM", b"ENOENT") for word in said[:3]) and int(said[3]) <= 3, said)


if __name__ == "__main__":
    assert socket
    sys.exit(main())
