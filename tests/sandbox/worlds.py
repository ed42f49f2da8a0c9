#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One sandbox for the commands of a session: shared state, the end of a command, protection while others run."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import TIMEOUT_S, Failed, case, in_time, main  # noqa: E402 pylint: disable=wrong-import-position
from tool_server import Server  # noqa: E402 pylint: disable=wrong-import-position

LONG = 60000  # ms, never waited for in full
TRY = "(for i in $(seq 600); do %s && exit 0; sleep 0.1; done; exit 1)"
SERVER = "python3 -c 'import http.server as h; h.HTTPServer((\"127.0.0.1\", 8765), h.SimpleHTTPRequestHandler).serve_forever()'"
GET = "curl -sS -o /dev/null http://127.0.0.1:8765/"

# Effects of one call, and the output of the next one.
SHARED = [
    ("/tmp", "echo one >/tmp/f", "cat /tmp/f", "one\n"),
    ("HOME", "mkdir -p ~/.cache/x; echo two >~/.cache/x/f", "cat ~/.cache/x/f", "two\n"),
    ("/dev/shm", "echo three >/dev/shm/f", "cat /dev/shm/f", "three\n"),
    ("shared memory", "ipcmk -M 64 >/dev/null", "ipcs -m | grep -c 0x", "1\n"),
    ("a program in /tmp", "printf '#!/bin/sh\\necho four\\n' >/tmp/p; chmod +x /tmp/p", "/tmp/p", "four\n"),
    ("the host name", "hostname >/tmp/h", "test $(cat /tmp/h) = $(hostname) && echo same", "same\n"),
    # State of one shell, which the next one does not share.
    ("not variables", "X=1; export X", "echo ${X:-none}", "none\n"),
    ("not the directory", "mkdir -p d; cd d", "basename $PWD", "project\n"),
    ("not the umask", "umask 777", "umask", None),
]


def shell(s, command, **more):
    return s.call("shell", command=command, **more)


def out(t, s, command, **more):
    r = shell(s, command, **more)
    t.same(r["status"], "ok", str(r))
    return r["content"]


def forget_logs(t):
    shutil.rmtree(t.home)
    t.directory("home")


def project(t):
    return t.directory("project")


def repository(t):
    path = project(t)
    for command in ("git init -q .", "git -c user.name=n -c user.email=e commit -q --allow-empty -m first"):
        t.code(t.run(["sh", "-c", command], cwd=path), 0)
    return path


@case("the next command finds the effects of the last one")
def _(t):
    s = Server(t, cwd=project(t))
    before = out(t, s, "umask")
    for title, first, second, want in SHARED:
        out(t, s, first)
        t.same(out(t, s, second), before if want is None else want, title)
    s.end()


@case("a single call has a sandbox of its own")
def _(t):
    path = project(t)
    for command, want in (("echo x >/tmp/f; cat /tmp/f", "x\n"), ("cat /tmp/f 2>/dev/null || echo none", "none\n")):
        r = t.run([t.cordon, "tool", "shell", "--json", json.dumps({"command": command})], cwd=path)
        t.same(json.loads(r.out)["content"], want)


@case("a server started by exec_command answers the next call")
def _(t):
    s = Server(t, cwd=project(t))
    r = s.exec(SERVER, yield_time_ms=0)
    out(t, s, TRY % GET, timeout_ms=LONG)
    r, content = s.until(r["details"]["session_id"], lambda _, c: "GET / " in c)
    t.true("200" in content, content)
    s.type(r["details"]["session_id"], "\x03", yield_time_ms=LONG)
    t.true(shell(s, GET)["status"] == "error", "it was stopped, and still answers")
    s.end()


@case("a server left behind by shell answers, though its output is not read")
def _(t):
    s = Server(t, cwd=project(t))
    r = shell(s, SERVER + " & echo started")
    t.same(r["content"], "started\n[processes of this command still run; their further output is not shown]\n")
    t.same(r["details"]["left_running"], True)
    out(t, s, TRY % GET, timeout_ms=LONG)
    # More than a pipe holds: each request prints a line.
    out(t, s, f"for i in $(seq 30); do {GET}?{'x' * 4000} || exit 1; done", timeout_ms=LONG)
    s.end()


@case("a process that prints for ever after its command disturbs no other one")
def _(t):
    s = Server(t, cwd=project(t))
    r = shell(s, "yes & echo started")
    t.same((r["status"], r["details"]["left_running"]), ("ok", True))
    for i in range(5):
        t.same(out(t, s, f"echo {i}"), f"{i}\n")
    t.same(out(t, s, "pgrep -c yes"), "1\n")
    out(t, s, "pkill yes")
    s.end()
    forget_logs(t)


# Commands that run into their timeout, and the processes that must have ended then.
TIMED_OUT = [
    ("a child", "sleep 4001", "sleep 4001"),
    ("a child in the background", "sleep 4002 & sleep 4002", "sleep 4002"),
    ("a group of its own", "timeout 3000 sleep 4003", "sleep 4003"),
    ("job control", "set -m; sleep 4004 & sleep 4004 & wait", "sleep 4004"),
    ("one that ignores signals", "trap '' TERM HUP INT; sleep 4005; sleep 4005", "sleep 4005"),
    ("a stopped one", "sh -c 'kill -STOP $$; sleep 4006' & sleep 4006", "sleep 4006"),
    ("many", "for i in $(seq 100); do sleep 4007 & done; wait", "sleep 4007"),
]


@case("a timeout ends the command with all its groups, and nothing else")
def _(t):
    path = project(t)
    s = Server(t, cwd=path)
    running = s.exec("echo ready; sleep 4000", yield_time_ms=0)["details"]["session_id"]
    s.until(running, lambda _, c: "ready" in c)
    out(t, s, "setsid sleep 5000 >/dev/null 2>&1 & echo")
    for i, (title, command, name) in enumerate(TIMED_OUT):
        def attempt(limit, i=i, title=title, command=command):
            r = shell(s, f"touch begun-{i}; {command}", timeout_ms=limit)
            t.same((r["code"], r["details"]["exit_code"]), ("E_COMMAND_TIMEOUT", None), title)
            return os.path.exists(os.path.join(path, f"begun-{i}")) or None
        in_time(attempt, 500, 5000, 50000)
        # A killed process is in the list until it has ended.
        t.same(shell(s, TRY % f"! pgrep -fx '{name}' >/dev/null", timeout_ms=LONG)["status"], "ok", title)
    t.same(out(t, s, "pgrep -fxc 'sleep 4000'; pgrep -fxc 'sleep 5000'"), "1\n1\n")
    t.true("session_id" in s.type(running)["details"], "another session was ended")
    s.end()


# In a group of its own, and not in the list that its user sees (PR_SET_DUMPABLE).
HIDDEN = """
import ctypes, fcntl, os, time
if os.fork() == 0:
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    fcntl.flock(os.open("lock", os.O_RDWR), fcntl.LOCK_EX)
    open("ready", "x").close()
time.sleep(7000)
"""


@case("a timeout also ends a process that hides")
def _(t):
    path = project(t)
    for name, text in (("lock", ""), ("hidden.py", HIDDEN)):
        with open(os.path.join(path, name), "w", encoding="ascii") as f:
            f.write(text)
        t.own(os.path.join(path, name))
    s = Server(t, cwd=path)
    for i in range(TIMEOUT_S):
        r = shell(s, "exec python3 hidden.py", timeout_ms=500 * (i + 1))
        t.same(r["code"], "E_COMMAND_TIMEOUT", str(r))
        if os.path.exists(os.path.join(path, "ready")):
            break
    t.unlocked(os.path.join(path, "lock"), wait_s=10)
    s.end()


@case("a command that is interrupted ends; the others do not")
def _(t):
    s = Server(t, cwd=project(t))
    running = s.exec("echo ready; sleep 4000", yield_time_ms=0)["details"]["session_id"]
    s.until(running, lambda _, c: "ready" in c)
    other = s.exec("echo ready; exec sleep 4010", yield_time_ms=0)["details"]["session_id"]
    s.until(other, lambda _, c: "ready" in c)
    s.type(other, "\x03", yield_time_ms=LONG)
    t.same(out(t, s, "pgrep -fxc 'sleep 4010' || true; pgrep -fxc 'sleep 4000'"), "0\n1\n")
    s.end()


@case("everything ends with the session")
def _(t):
    path = project(t)
    s = Server(t, cwd=path)
    # A lock that a process inside holds as long as it lives.
    with open(os.path.join(path, "lock"), "w", encoding="ascii"):
        pass
    t.own(os.path.join(path, "lock"))
    shell(s, "setsid flock lock -c 'echo held >ready; sleep 6000' >/dev/null 2>&1 &")
    out(t, s, TRY % "test -e ready", timeout_ms=LONG)
    t.locked(os.path.join(path, "lock"))
    s.end()
    t.unlocked(os.path.join(path, "lock"))


def sandboxes(s):
    """The processes 1 of the server's sandboxes, from outside."""
    with open(f"/proc/{s.process.pid}/task/{s.process.pid}/children", encoding="ascii") as f:
        return [int(pid) for pid in f.read().split()]


def process_one(t, s):
    found = sandboxes(s)
    t.same(len(found), 1, "sandboxes")
    return found[0]


@case("a sandbox that dies is replaced, and this is said")
def _(t):
    s = Server(t, cwd=project(t))
    out(t, s, "echo x >/tmp/f")
    running = s.exec("echo ready; sleep 4000", yield_time_ms=0)["details"]["session_id"]
    s.until(running, lambda _, c: "ready" in c)
    os.kill(process_one(t, s), signal.SIGKILL)
    r = s.type(running, yield_time_ms=LONG)
    t.same((r["details"]["exit_code"], r["details"]["signal"]), (137, 9))
    r = shell(s, "cat /tmp/f 2>/dev/null || echo none")
    t.same((r["status"], r["details"]["new_sandbox"]), ("ok", True))
    t.true(r["content"].startswith("none\n[the sandbox of this session had ended"), r["content"])
    t.same(out(t, s, "echo again"), "again\n")
    s.end()


# Stops everything: also a command that was not executed yet, for which process 1 waits.
STOPPER = "setsid perl -e 'kill STOP => -1 while 1' >/dev/null 2>&1 & echo"


@case("a sandbox that does not answer is killed and replaced")
def _(t):
    s = Server(t, cwd=project(t))
    out(t, s, STOPPER)
    deadline = time.monotonic() + TIMEOUT_S
    while (r := shell(s, "echo x", timeout_ms=100)).get("code") != "E_PROCESS_EXIT":
        t.true(time.monotonic() < deadline, f"it answers: {r}")
    t.true("did not answer and was killed" in r["message"], str(r))
    r = shell(s, "echo again")
    t.same((r["status"], r["details"]["new_sandbox"]), ("ok", True), str(r))
    s.end()


@case("a fork bomb ends with its timeout, and the session goes on")
def _(t):
    s = Server(t, cwd=project(t))
    r = shell(s, "f() { f | f & wait; }; f", timeout_ms=2000)
    t.same(r["status"], "error", str(r))
    deadline = time.monotonic() + TIMEOUT_S
    while (r := shell(s, "echo again", timeout_ms=LONG))["content"] != "again\n":
        t.true(time.monotonic() < deadline, f"nothing runs any more: {r}")
    s.end()
    forget_logs(t)


@case("commands read the logs of their session, and no others")
def _(t):
    path = project(t)
    s, other = Server(t, cwd=path), Server(t, cwd=path)
    log = shell(s, "seq 100000")["details"]["log"]
    theirs = shell(other, "seq 100000")["details"]["log"]
    t.same(out(t, s, f"sed -n 50000p {log}"), "50000\n")
    r = shell(s, f"cat {theirs}; echo >>{log}; rm -f {log}")
    t.true("No such file" in r["content"] and r["content"].count("Read-only file system") == 2, str(r))
    t.same(out(t, s, f"ls {os.path.dirname(os.path.dirname(log))}"), os.path.basename(os.path.dirname(log)) + "\n")
    s.end()
    other.end()
    forget_logs(t)


@case("a session without logs leaves no directory for them")
def _(t):
    s = Server(t, cwd=project(t))
    out(t, s, "true")
    s.end()
    t.same([name for name in os.listdir(t.home) if name.startswith(".cordon")], [])


# The repository ------------------------------------------------------------------------------------

FSMONITOR = "git config core.fsmonitor 'touch ran'"


def config(path):
    with open(os.path.join(path, ".git/config"), encoding="utf-8") as f:
        return f.read()


@case("a part that the user replaces is protected from the next command")
def _(t):
    path = repository(t)
    s = Server(t, cwd=path)
    out(t, s, "echo x >/tmp/f")
    for n in range(3):  # file numbers are used again
        t.code(t.run(["git", "config", "user.name", f"n{n}"], cwd=path), 0)
        r = shell(s, FSMONITOR)
        t.same((r["status"], r["details"]["new_sandbox"]), ("error", True), str(r))
        t.true("fsmonitor" not in config(path), config(path))
        t.same(out(t, s, "git config user.name"), f"n{n}\n")
    t.same(out(t, s, "cat /tmp/f 2>/dev/null || echo none"), "none\n")
    s.end()


@case("a file that lost its mount, and is the same again, is protected from the next command")
def _(t):
    path = repository(t)
    tool = os.path.join(path, "tools/monitor")
    make = "mkdir tools; echo '#!/bin/sh' >tools/monitor; chmod +x tools/monitor; git config core.fsmonitor tools/monitor"
    t.code(t.run(["sh", "-c", make], cwd=path), 0)
    s = Server(t, cwd=path)
    change = "echo touch ran >>tools/monitor"
    t.same(shell(s, change)["status"], "error", "a control")
    t.code(t.run(["sh", "-c", "ln tools/monitor tools/old; echo >tools/new; mv tools/new tools/monitor; mv tools/old tools/monitor"], cwd=path), 0)
    r = shell(s, change)
    t.same((r["status"], r["details"].get("new_sandbox")), ("error", True), str(r))
    with open(tool, encoding="ascii") as f:
        t.same(f.read(), "#!/bin/sh\n")
    s.end()


@case("the sandboxes that were replaced, and in which something runs, are bounded")
def _(t):
    path = repository(t)
    s = Server(t, cwd=path)
    first = s.exec("sleep 4000", yield_time_ms=0)["details"]["session_id"]
    for n in range(12):
        t.code(t.run(["git", "config", "user.name", f"n{n}"], cwd=path), 0)
        t.same(shell(s, "sleep 4000 & echo")["details"].get("new_sandbox"), True)
    t.same(len(sandboxes(s)), 8)
    r = s.type(first, yield_time_ms=LONG)
    t.same((r["details"]["exit_code"], r["details"]["signal"]), (137, 9), str(r))
    s.end()


@case("a part that the user replaces while a command runs is compared afterwards")
def _(t):
    path = repository(t)
    s = Server(t, cwd=path)
    old = s.exec("PS1= sh", yield_time_ms=0)["details"]["session_id"]
    s.until(old, lambda _, c: "ready" in c, "echo re''ady\n")
    t.code(t.run(["git", "config", "user.name", "new"], cwd=path), 0)
    r = shell(s, "true")
    t.same(r["details"].get("new_sandbox"), True, str(r))
    s.until(old, lambda _, c: "do''ne" not in c.split("\n") and "done" in c, FSMONITOR + "; echo do''ne\n")
    s.type(old, "exit\n", yield_time_ms=LONG)
    s.end()
    t.true("fsmonitor" not in config(path), config(path))
    t.true("name = new" in config(path), config(path))


# Actions of the user while a process runs, and later actions of that process.
HOOK = "printf '#!/bin/sh\\ntouch ran\\n' >%s; chmod +x %s"
REPLACED = [
    ("hooks that are replaced", "rm -rf .git/hooks; mkdir .git/hooks", HOOK % (".git/hooks/pre-commit", ".git/hooks/pre-commit"), ".git/hooks/pre-commit"),
    ("hooks that are removed", "rm -rf .git/hooks", "mkdir .git/hooks; " + HOOK % (".git/hooks/pre-push", ".git/hooks/pre-push"), ".git/hooks/pre-push"),
    ("a link for them", "rm -rf .git/hooks", "mkdir h; " + HOOK % ("h/pre-push", "h/pre-push") + "; ln -s ../h .git/hooks", ".git/hooks/pre-push"),
    ("attributes", "rm .git/info/attributes", "echo '* filter=x' >.git/info/attributes", ".git/info/attributes"),
    ("a link above them", "rm -r .git/info", "mkdir i; echo '* filter=x' >i/attributes; ln -s ../i .git/info", ".git/info/attributes"),
]


@case("a part that the user replaces while a process runs is checked like a new one")
def _(t):
    for title, user, process, part in REPLACED:
        path = repository(t)
        t.code(t.run(["sh", "-c", "mkdir -p .git/hooks .git/info; echo '* text' >.git/info/attributes"], cwd=path), 0)
        s = Server(t, cwd=path)
        session = s.exec("PS1= sh", yield_time_ms=0)["details"]["session_id"]
        s.until(session, lambda _, c: "ready" in c, "echo re''ady\n")
        t.code(t.run(["sh", "-c", user], cwd=path), 0)
        s.until(session, lambda _, c: "done" in c, process + "; echo do''ne\n")
        t.true(not os.path.exists(os.path.join(path, part)), title)
        s.end()
        t.true(not os.path.exists(os.path.join(path, part)), title)
        shutil.rmtree(path)


@case("later writes of a process left behind are not taken for the user's")
def _(t):
    path = repository(t)
    t.code(t.run(["rm", "-rf", ".git/hooks"], cwd=path), 0)
    s = Server(t, cwd=path)
    write = "mkdir .git/hooks; printf '#!/bin/sh\\ntouch ran\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; touch written"
    out(t, s, f"echo \"{write}\" >/tmp/write; (until test -e go; do sleep 0.01; done; . /tmp/write; sleep 7000) >/dev/null 2>&1 & echo")
    with open(os.path.join(path, "go"), "w", encoding="ascii"):
        pass
    deadline = time.monotonic() + TIMEOUT_S
    while not os.path.exists(os.path.join(path, "written")):
        t.true(time.monotonic() < deadline, "nothing was written")
        time.sleep(0.01)
    r = shell(s, "true")
    t.true(any("pre-commit" in held["path"] for held in r["details"].get("held", [])), str(r))
    s.end()
    t.true(not os.path.exists(os.path.join(path, ".git/hooks/pre-commit")), "the hook stays")


@case("a process that forks and ends all the time counts as one that runs")
def _(t):
    t.env["CORDON_HOME"] = t.directory("state")
    s = Server(t, cwd=repository(t))
    out(t, s, "perl -e 'while (1) { exit if fork }' >/dev/null 2>&1 & echo")
    for _ in range(3000):
        s.call("write_stdin", session_id=99)
        # The state is kept as long as changes are not the user's.
        t.true(os.listdir(os.path.join(t.env["CORDON_HOME"], "repositories")), "the process was not noticed")
    s.end()


# Agents --------------------------------------------------------------------------------------------

def script_of(t, commands, *after):
    """A script with a call for each command; a text, which ends the turn, after those whose number is in `after`."""
    turns = []
    for i, command in enumerate(commands):
        turns.append({"content": [{"tool_call": {"name": "shell", "arguments": {"command": command, "timeout_ms": LONG}}}]})
        if i in after:
            turns.append({"content": [{"text": "done"}]})
    return t.file("script.json", json.dumps({"version": 1, "turns": turns}))


COMMANDS = [f"echo x >/tmp/f; {SERVER} & echo", TRY % GET, "cat /tmp/f"]


@case("the agent's calls share a sandbox")
def _(t):
    t.env["CORDON_HOME"] = t.directory("state")
    r = t.run([t.cordon, "agent", "-p", "go", "--provider", "scripted", "--script", script_of(t, COMMANDS, 2), "--json"], cwd=project(t))
    results = [e for e in map(json.loads, r.out.splitlines()) if e["type"] == "tool_result"]
    if len(results) != len(COMMANDS):
        raise Failed(str(r))
    t.same([x["is_error"] for x in results], [False] * len(COMMANDS), str(results))
    t.same(results[-1]["content"], "x\n")


@case("the calls of all turns of a chat share a sandbox")
def _(t):
    t.env["CORDON_HOME"] = t.directory("state")
    path = project(t)
    commands = [COMMANDS[0], f"{COMMANDS[1]} && echo answered >>seen", "cat /tmp/f >>seen"]
    r = t.run([t.cordon, "chat", "--provider", "scripted", "--script", script_of(t, commands, 0, 1, 2)], b"one\ntwo\nthree\n", cwd=path)
    t.code(r, 0)
    with open(os.path.join(path, "seen"), encoding="ascii") as f:
        t.same(f.read(), "answered\nx\n", str(r))


@case("a process left behind prints more than a pipe holds, between two turns of a chat")
def _(t):
    t.env["CORDON_HOME"] = t.directory("state")
    path = project(t)
    script = script_of(t, ["(for i in $(seq 60000); do echo line $i; done; touch printed) & echo"], 0)
    chat = t.start([t.cordon, "chat", "--provider", "scripted", "--script", script], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=path)
    chat.stdin.write(b"one\n")
    chat.stdin.flush()
    deadline = time.monotonic() + TIMEOUT_S
    while not os.path.exists(os.path.join(path, "printed")):
        t.true(time.monotonic() < deadline, "it was not read")
        time.sleep(0.01)
    chat.stdin.close()
    t.same(chat.wait(TIMEOUT_S), 0)


if __name__ == "__main__":
    main()
