#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cordon run --tui` and `cordon record` in a terminal: a pty, typed input, and checks of the
screen. The terminal and the typing are those of tests/sandbox; `cordon render` interprets the
bytes of a terminal.
"""
import json
import os
import re
import signal
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from console import EXPECT_S  # noqa: E402 pylint: disable=wrong-import-position
from harness import case, main  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position

BASH = "/usr/bin/bash"
LEAVE = b"\033[?1049l"


def scenario(t, *steps, args=("--norc", "-i"), size=(24, 80)):
    tree = {"scenario_version": 1,
            "run": {"command": BASH, "args": list(args),
                    "initial_size": {"rows": size[0], "cols": size[1]}},
            "steps": [{"id": f"s{i}", **step} for i, step in enumerate(steps)]}
    return t.file("s.json", json.dumps(tree))


def type_text(text, *contains, **more):
    return {"action": {"type": "text", "payload": {"text": text}},
            "assert": [{"type": "screen_contains", "payload": {"text": c}} for c in contains], **more}


def tui(t, path, *options, **more):
    return Screen(t, [t.cordon, "run", "--tui", *options, path], **more)


# run --tui -------------------------------------------------------------------------------------------

@case("tui: steps, the screen, colours, and the result until a key is pressed", who="root")
def _(t):
    path = scenario(t, type_text("printf '\\033[31mred\\033[m %s\\n' o''k\r", "red ok", name="the first"),
                    type_text("true\r", name="the second"))
    with tui(t, path, rows=30, cols=120) as c:
        lines = c.shows(r"passed  2/2")
        t.true(any("✓ the first" in line for line in lines), lines)
        t.true(any(re.search(r"✓ the second +\d+ ms", line) for line in lines), lines)
        t.true(any("red ok" in line for line in lines), lines)
        t.true(re.search(rb"\033\[(0;)?31mred", c.all), "no colour")
        t.true(c.is_raw() and c.is_running(), "it did not wait for a key")
        c.send(b"q")
        t.same(c.finish(), 0)
        t.true(c.seen.rstrip().endswith(b"ms") and b"passed: 2 of 2 steps passed" in c.seen, c.seen[-300:])
        t.true(LEAVE in c.all, "the alternate screen was not left")


@case("tui: a failure shows its reason; Enter exits with the run's exit status", who="root")
def _(t):
    path = scenario(t, type_text("x\r", "never there", timeout_ms=300), type_text("y\r"))
    with tui(t, path, rows=30, cols=120) as c:
        lines = c.shows(r"failed  0/2")
        t.true(any("✗ s0" in line for line in lines) and any("– s1" in line for line in lines), lines)
        t.true("never there" in " ".join(lines), lines)
        c.send(b"\r")
        t.same(c.finish(), 5)


for key, what in ((b"q", "q"), (b"\x03", "Ctrl-C")):
    @case(f"tui: {what} cancels", who="root")
    def _(t, key=key):
        path = scenario(t, type_text("echo go\r", "go"), type_text("x", "never there", timeout_ms=60000))
        with tui(t, path, "--artifacts", os.path.join(t.top, "out")) as c:
            c.shows(r"▶ s1")
            c.send(key)
            t.same(c.finish(), 130)
            t.true(LEAVE in c.all, "the alternate screen was not left")
        with open(os.path.join(t.top, "out", "run.json"), encoding="utf-8") as f:
            t.same(json.load(f)["status"], "canceled")


for signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    @case(f"tui: {signo.name} cancels, and the terminal is restored", who="root")
    def _(t, signo=signo):
        path = scenario(t, type_text("x", "never there", timeout_ms=60000))
        with tui(t, path) as c:
            c.shows(r"▶ s0")
            c.kill(signo)
            t.same(c.finish(), 130)
            t.true(LEAVE in c.all, "the alternate screen was not left")


@case("tui: a signal while the result is shown exits with the run's exit status", who="root")
def _(t):
    with tui(t, scenario(t, type_text("true\r"))) as c:
        c.shows(r"passed  1/1")
        c.kill(signal.SIGTERM)
        t.same(c.finish(), 0)


@case("tui: follows the terminal's size, and reports what it crops", who="root")
def _(t):
    path = scenario(t, type_text("echo o''k; tput cols 2>&-\r", "ok"),
                    type_text("x", "never there", timeout_ms=60000))
    with tui(t, path, rows=40, cols=130) as c:
        c.shows(r"▶ s1")
        t.true(not any("cropped" in line for line in c.lines()), c.lines())
        for rows, cols in ((20, 100), (12, 60), (10, 40)):
            c.resize(rows, cols)
            lines = c.shows(r"q: cancel")
            t.true(all(len(line) <= cols for line in lines), lines)
            t.true(any("▶ s1" in line for line in lines), lines)
            t.true("cropped" in "".join(lines), lines)
        c.resize(5, 20)
        c.shows(r"too small")
        c.resize(30, 120)
        c.shows(r"▶ s1")
        c.send(b"q")
        t.same(c.finish(), 130)


@case("tui: the program's output is drawn as cells only", who="root")
def _(t):
    evil = r"\033]0;evil-title\007\033[6n\033[?1049h\033[2J\033[8mhidden\033[28m\033P+q\033\\\033]52;c;AAAA\007shown"
    path = scenario(t, type_text("", "shown"), args=("-c", f"printf '{evil}'; read x"))
    with tui(t, path) as c:
        c.shows(r"passed  1/1")
        for part in (b"evil-title", b"\033[6n", b"hidden", b"\033P", b"]52"):
            t.true(part not in c.all, f"{part} reached the terminal")
        c.send(b"q")
        t.same(c.finish(), 0)


@case("tui: NO_COLOR", who="root")
def _(t):
    t.env["NO_COLOR"] = "1"
    path = scenario(t, type_text("", "red"), args=("-c", r"printf '\033[31;44mred'; read x"))
    with tui(t, path) as c:
        c.shows(r"passed  1/1")
        c.send(b"q")
        t.same(c.finish(), 0)
        t.true(not re.search(rb"\033\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7])m", c.all.split(LEAVE)[0]), "colours")


@case("tui: needs a terminal", who="root")
def _(t):
    path = scenario(t, type_text("true\r"))
    run = t.finish(t.start([t.cordon, "run", "--tui", path]))
    t.code(run, 12)
    t.true(b"needs a terminal: standard input is not one" in run.err, run)
    t.env["TERM"] = "dumb"
    with tui(t, path) as c:
        t.same(c.finish(), 12)


@case("tui: a terminal that is not read does not block the run", who="root")
def _(t):
    path = scenario(t, type_text("for i in {1..3000}; do echo $i $RANDOM; done; echo o''k\r", "ok"))
    with tui(t, path, "--artifacts", os.path.join(t.top, "out"), rows=50, cols=150) as c:
        deadline = time.monotonic() + EXPECT_S
        result = os.path.join(t.top, "out", "snapshots", "0002.json")
        while not os.path.exists(result) and time.monotonic() < deadline:
            time.sleep(0.01)
        t.true(os.path.exists(result), "the run did not end")
        c.shows(r"passed  1/1")
        c.send(b"q")
        t.same(c.finish(), 0)


# Goldens ---------------------------------------------------------------------------------------------

GOLDEN = {"action": {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "ok"}}}},
          "assert": [{"type": "screen_matches_golden", "payload": {"file": "goldens/a.txt"}}]}


def golden(t, answer, *options, file="goldens/a.txt", asks=True):
    """Runs on a terminal with a missing golden; returns the exit status, and the file."""
    step = json.loads(json.dumps(GOLDEN).replace("goldens/a.txt", file))
    path = scenario(t, step, args=("-c", "echo ok; read"))
    with Screen(t, [t.cordon, "run", *options, path]) as c:
        if asks:
            c.expect(rb"missing golden files \('goldens/a.txt'\) from the actual screens\? \[y/N\]")
            c.send(answer)
        status = c.finish()
        t.true(asks or b"[y/N]" not in c.all, c.all)
    place = os.path.join(os.path.dirname(path), file)
    return status, open(place, encoding="utf-8").read() if os.path.exists(place) else None


@case("run: a missing golden needs confirmation on a terminal, and is written only after a yes")
def _(t):
    t.same(golden(t, b"n\r"), (5, None))
    t.same(golden(t, b"\r"), (5, None))
    t.same(golden(t, b"", "--json", asks=False), (5, None))
    t.same(golden(t, b"", "--tap", asks=False), (5, None))
    t.same(golden(t, b"", "--update-goldens=none", asks=False), (5, None))
    t.same(golden(t, b"", file=".git/hooks/pre-commit", asks=False), (5, None))
    t.same(golden(t, b"y\r"), (0, "ok\n"))
    t.same(golden(t, b"", asks=False), (0, "ok\n"))


@case("trust: a scenario's policy is shown for confirmation; after a yes it runs until the policy changes")
def _(t):
    t.env["CORDON_HOME"] = os.path.join(t.work, "state")
    path = scenario(t, GOLDEN | {"assert": []}, args=("-c", "echo ok; read"))
    tree = json.loads(open(path, encoding="utf-8").read())
    tree["run"]["policy"] = {"policy_version": 4, "env": {"inherit": True}, "network": "enabled",
                             "exec": {"allowed_executables": [BASH], "allow_shell": True}}
    path = t.file("s.json", json.dumps(tree))
    for answer, trusted, ran in ((b"n\r", 130, 2), (b"\r", 130, 2), (b"y\r", 0, 0)):
        with Screen(t, [t.cordon, "trust", path], cols=200) as c:
            c.expect(rb"uses the network \(network; --ack-unsafe-network\)")
            c.expect(rb"reads variables of your environment \(env.inherit; --ack-unsafe-env\)")
            c.expect(rb"until the file changes\? \[y/N\]")
            c.send(answer)
            t.same(c.finish(), trusted)
        t.code(t.finish(t.start([t.cordon, "run", path])), ran)
    t.code(t.finish(t.start([t.cordon, "run", t.file("s.json", json.dumps(tree, indent=1))])), 2)


# record ----------------------------------------------------------------------------------------------

def record(t, *command, options=("-o", "r.yaml"), **more):
    """A simulated user who types only when the program waits for input."""
    c = Screen(t, [t.cordon, "record", *options, "--", *command], **more)
    c.expect(rb"\033\[\?1049h")
    return c


def settle(c):
    """Waits until the typed text has been drawn."""
    before = len(c.all)
    deadline = time.monotonic() + EXPECT_S
    while len(c.all) == before and time.monotonic() < deadline:
        c.pump()


# A shell script needs other programs, which the sandbox does not have.
OPEN = ("-o", "r.yaml", "--no-sandbox", "--ack-unsafe-sandbox", "--ack-unsafe-network")


def replays(t, name="r.yaml"):
    """Checks that it passes when it is run, three times."""
    for _ in range(3):
        run = t.finish(t.start([t.cordon, "run", name]))
        with open(os.path.join(t.work, name), encoding="utf-8") as f:
            t.true(run.code == 0, f"{run}\n{f.read()}")


def recorded(t, name="r.yaml"):
    with open(os.path.join(t.work, name), encoding="utf-8") as f:
        return f.read()


@case("record: bash, and its scenario passes")
def _(t):
    with record(t, "bash", "--norc", "-i") as c:
        c.shows(r"^bash-.*[#$]")
        c.send(b"echo one\r")  # typed ahead, all at once
        c.shows(r"^one")
        for byte in b"echo $((40+2))":
            c.send(bytes([byte]))
        c.shows(r"40\+2\)\)$")
        c.send(b"\r")
        c.shows(r"^42")
        c.send(b"\x1b[A")
        c.shows(r"^42\n.*40\+2\)\)$")
        c.send(b"\x15")
        c.shows(r"^42\nbash-\S+[#$]\s*$")
        c.send(b"exit 3\r")
        t.same(c.finish(), 0)
        t.true(b"actions recorded in 'r.yaml'" in c.seen, c.seen)
    text = recorded(t)
    for part in ('text: "echo one"', 'key: "Enter"', 'key: "Up"', 'key: "Ctrl+u"', "exit_code", "code: 3",
                 'text: "echo $((40+2))"'):
        t.true(part in text, f"{part} is not in\n{text}")
    replays(t)


@case("record: a script without a policy, whose interpreter is found")
def _(t):
    script = t.file("ask.py", "#!/usr/bin/env python3\nprint('hello', input('Name? '))\n")
    os.chmod(script, 0o755)
    with record(t, "./ask.py") as c:
        c.shows(r"^Name\?")
        c.send(b"Ada\r")
        t.same(c.finish(), 0)
    t.true('text: "Ada"' in recorded(t), recorded(t))
    replays(t)


@case("record: vim")
def _(t):
    t.file("f.txt", "first\nsecond\nthird\n")
    with record(t, "vim", "-u", "NONE", "f.txt") as c:
        c.shows(r"^second")
        c.send(b"jdd")
        c.shows(r"^first\nthird")
        c.send(b"onew line")
        c.shows(r"^new line")
        c.send(b"\x1b")
        settle(c)
        c.send(b":q!\r")
        t.same(c.finish(), 0)
    t.true('key: "Escape"' in recorded(t), recorded(t))
    replays(t)


@case("record: less, and a change of the size")
def _(t):
    t.file("f.txt", "".join(f"this is line {i}\n" for i in range(200)))
    with record(t, "less", "f.txt") as c:
        c.shows(r"^this is line 22$")
        c.send(b" ")
        c.shows(r"^this is line 45$")
        c.resize(15, 60)
        c.shows(r"^this is line 36$")
        c.send(b"/line 150\r")
        c.shows(r"^this is line 150$")
        c.send(b"q")
        t.same(c.finish(), 0)
    t.true("rows: 15, cols: 60" in recorded(t), recorded(t))
    replays(t)


@case("record: nano")
def _(t):
    t.file("f.txt", "some text\n")
    with record(t, "nano", "f.txt") as c:
        c.shows(r"^some text")
        c.send(b"\x1b[200~a paste \x1b[201~")
        c.shows(r"^a paste some text")
        c.send(b"\x1bOB")
        c.send(b"typed")
        c.shows(r"^typed")
        c.send(b"\x18")
        c.shows(r"Save modified buffer")
        c.send(b"n")
        t.same(c.finish(), 0)
    text = recorded(t)
    for part in ('text: "a paste ", paste: true', 'key: "Down"', 'key: "Ctrl+x"'):
        t.true(part in text, f"{part} is not in\n{text}")
    replays(t)


@case("record: input that the terminal does not echo is not written")
def _(t):
    script = "read -s -p 'Code? ' x; echo; echo got ${#x}; read -p 'Name? ' y; echo hello $y"
    with record(t, "bash", "-c", script) as c:
        c.shows(r"^Code\?")
        c.send(b"hunter2\r")
        c.shows(r"^got 7\nName\?")
        c.send(b"Ada\r")
        t.same(c.finish(), 0)
        t.true(b"was not recorded" in c.seen, c.seen)
    text = recorded(t)
    t.true("hunter" not in text and 'text: "SECRET"' in text and 'text: "Ada"' in text, text)


@case("record: a program that hides a password itself")
def _(t):
    script = "stty -echo -icanon; printf 'Password: '; IFS= read -r -n 4 x; stty sane; echo; echo ok"
    with record(t, "bash", "-c", script, options=OPEN) as c:
        c.shows(r"^Password:")
        c.send(b"wxyz")
        t.same(c.finish(), 0)
    t.true("wxyz" not in recorded(t) and "SECRET" in recorded(t), recorded(t))


@case("record: Ctrl+] q ends it; Ctrl+] twice sends one to the program")
def _(t):
    with record(t, "cat") as c:
        c.send(b"abc\r")
        c.shows(r"^abc\nabc")
        c.send(b"\x1d\x1d")
        c.shows(r"\^\]")
        c.send(b"\x1dq")
        t.same(c.finish(), 0)
    t.true('key: "Ctrl+]"' in recorded(t), recorded(t))
    replays(t)


@case("record: JSON, its own name, no overwriting")
def _(t):
    with record(t, "cat", options=("-o", "r.json")) as c:
        c.send(b"\x04")
        t.same(c.finish(), 0)
    with open(os.path.join(t.work, "r.json"), encoding="utf-8") as f:
        t.same(json.load(f)["steps"][-1]["action"]["payload"]["condition"]["type"], "process_exited")
    replays(t, "r.json")
    for options in ((), ("--force",)):
        with record(t, "cat", options=options) as c:
            c.send(b"\x04")
            t.same(c.finish(), 0)
        with Screen(t, [t.cordon, "record", "--", "cat"]) as c:
            t.same(c.finish(), 19)
    t.same(sorted(os.listdir(t.work)), ["cat.scenario.yaml", "r.json"])


@case("record: interrupted, it writes what it has; without a terminal nothing")
def _(t):
    with record(t, "cat") as c:
        c.send(b"abc\r")
        c.shows(r"^abc\nabc")
        c.kill(signal.SIGTERM)
        t.same(c.finish(), 130)
        t.true(LEAVE in c.all, "the alternate screen was not left")
    t.true('text: "abc"' in recorded(t), recorded(t))
    run = t.finish(t.start([t.cordon, "record", "-o", "n.yaml", "--", "cat"]))
    t.code(run, 12)
    t.true(not os.path.exists(os.path.join(t.work, "n.yaml")), "a file was written")


@case("record: the mouse, if the program requests it")
def _(t):
    script = r"printf '\033[?1000h\033[?1006hready\n'; stty raw -echo; head -c 18 | cat -v"
    with record(t, "bash", "-c", script, options=OPEN) as c:
        c.shows(r"^ready")
        c.send(b"\x1b[<0;5;3M\x1b[<0;5;3m")
        t.same(c.finish(), 0)
    t.true('event: "click", row: 2, col: 4' in recorded(t), recorded(t))


if __name__ == "__main__":
    sys.exit(main())
