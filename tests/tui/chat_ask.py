#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cordon chat`: confirming, editing, collapsing and expanding, and the status line."""
import os
import re
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from harness import case, main, reap_boxes  # noqa: E402 pylint: disable=wrong-import-position
from talking import call, chat, leave, session, text_of  # noqa: E402 pylint: disable=wrong-import-position

ASKS = ("--approval", "on-request")
MAIN = "int main(void)\n{\n    return 1;\n}\n"
EDIT = call("edit_file", path="main.c", old_string="return 1;", new_string="return 0;")
ARMED = r"^\[y\]es  \[n\]o"
END = [{"text": "The end."}]


def go(c):
    c.shows(r"^> Ask")
    c.send(b"go\r")


def content(t, name):
    with open(os.path.join(t.work, name), encoding="utf-8") as f:
        return f.read()


def result(t):
    """Returns the result of the last call as sent to the model."""
    return [line for line in session(t).split("\n") if '"tool_result"' in line][-1]


def deaf(c, data, seconds):
    """Types without reading the terminal's output, for a while."""
    end = time.monotonic() + seconds
    while data or time.monotonic() < end:
        data = c.pump(0.05, data=data, read=False)


@case("chat: a confirmation shows the change against the current file, in colours, once", who="root")
def _(t):
    t.file("main.c", MAIN)
    with chat(t, [EDIT], END, options=ASKS) as c:
        go(c)
        seen = text_of(c.shows(ARMED))
        t.true("? Allow edit_file to change:\n  main.c  +1  -1\n  │ @@ -1,4 +1,4 @@\n  │  int main(void)\n  │  {\n"
               "  │ -    return 1;\n  │ +    return 0;\n  │  }\n  reason: no rule allows it\n" in seen, seen)
        t.true(re.search(rb"\033\[[0-9;]*31m-    return 1;", c.all) and re.search(rb"\033\[[0-9;]*32m\+    return 0;", c.all), c.all)
        t.same(content(t, "main.c"), MAIN)
        c.send(b"y")
        seen = text_of(c.shows(r"^The end\."))
        t.true("✓ edit_file main.c  +1  -1\n" in seen, seen)
        t.same(seen.count("return 1;"), 1, seen)
        leave(t, c)
    t.same(content(t, "main.c"), MAIN.replace("1", "0"))


@case("chat: all kinds of changes are shown: new, replaced, deleted, moved, several", who="root")
def _(t):
    for name in ("old.txt", "gone.txt", "from.txt"):
        t.file(name, f"{name}\nsecond\n")
    patch = ("*** Begin Patch\n*** Delete File: gone.txt\n*** Update File: from.txt\n*** Move to: to.txt\n@@\n-from.txt\n+moved\n"
             "*** Add File: d/new.txt\n+neu\n*** End Patch\n")
    with chat(t, [call("write_file", path="old.txt", content="old.txt\nother\n")], [call("apply_patch_freeform", patch=patch)], END,
              options=ASKS, rows=40) as c:
        go(c)
        seen = text_of(c.shows(r"old\.txt  \+1  -1\n(.|\n)*" + ARMED))
        t.true("  │  old.txt\n  │ -second\n  │ +other\n" in seen, seen)
        c.send(b"y")
        seen = text_of(c.shows(r"gone\.txt(.|\n)*" + ARMED))
        t.true("  gone.txt  -2  deleted\n  │ @@ -1,2 +0,0 @@\n  │ -gone.txt\n  │ -second\n" in seen, seen)
        t.true("  to.txt  +1  -1  was from.txt\n" in seen and "  │ -from.txt\n  │ +moved\n  │  second\n" in seen, seen)
        t.true("  d/new.txt  +1  new\n  │ +neu\n" in seen, seen)
        c.send(b"y")
        c.shows(r"^✓ apply_patch_freeform gone\.txt, from\.txt, d/new\.txt  \+2  -3(.|\n)*^The end")
        leave(t, c)
    t.same((content(t, "to.txt"), os.path.exists(os.path.join(t.work, "gone.txt"))), ("moved\nsecond\n", False))


for tool, arguments, after in (("edit_file", EDIT["tool_call"]["arguments"], "return 1; /* later */"),
                               ("write_file", {"path": "main.c", "content": "x\n"}, "whatever")):
    @case(f"chat: {tool}: if the file changed since it was shown, nothing is written", who="root")
    def _(t, tool=tool, arguments=arguments, after=after):
        t.file("main.c", MAIN)
        with chat(t, [call(tool, **arguments)], END, options=ASKS) as c:
            go(c)
            c.shows(ARMED)
            t.file("main.c", after)
            c.send(b"y")
            c.shows(r"✗ " + tool + r" main\.c\n  │ error: nothing was changed(.|\n)*^The end\.")
            leave(t, c)
        t.same(content(t, "main.c"), after)


@case("chat: an impossible change is not asked about", who="root")
def _(t):
    t.file("main.c", "int x;\n")
    with chat(t, [EDIT], END, options=ASKS) as c:
        go(c)
        seen = text_of(c.shows(r"^The end\."))
        t.true("✗ edit_file main.c\n  │ error: old_string was not found in 'main.c'" in seen and "Allow" not in seen, seen)
        leave(t, c)


@case("chat: a command is edited; the edited one is run, and the model is informed", who="root")
def _(t):
    with chat(t, [call("shell", command="echo bad > f")], END, options=ASKS) as c:
        go(c)
        c.send(b"half a thought")
        c.shows(r"^\? Allow shell to run:\n  │ echo bad > f\n(.|\n)*" + ARMED + r"  \[e\]dit(.|\n)*^> half a thought")
        c.send(b"e")
        c.shows(r"^Enter runs the edited command  Escape cancels\n+edit> echo bad > f$")
        c.send(b"\033b\033b\033dgood\r")
        seen = text_of(c.shows(r"^The end\.(.|\n)*^> half a thought"))
        t.true("· edited; running instead:\n  │ echo good > f\n\n✓ shell echo good > f" in seen, seen)
        c.send(b"\x15")
        c.shows(r"^> Ask")
        leave(t, c)
    t.same(content(t, "f"), "good\n")
    told = result(t)
    t.true("The user edited this call" in told and "echo good > f" in told, told)


@case("chat: a file's text is edited; then that change is asked about", who="root")
def _(t):
    with chat(t, [call("write_file", path="f", content="one\ntwo\n")], END, options=ASKS) as c:
        go(c)
        c.shows(r"│ \+two\n(.|\n)*" + ARMED)
        c.send(b"e")
        c.shows(r"^Enter shows the new changes(.|\n)*^edit> one\n +two\n")
        c.send(b"drei\r")
        c.shows(r"│ \+two\n  │ \+drei\n(.|\n)*No newline(.|\n)*" + ARMED)
        t.true(not os.path.exists(os.path.join(t.work, "f")), "it was written")
        c.send(b"y")
        c.shows(r"^The end\.")
        leave(t, c)
    t.same(content(t, "f"), "one\ntwo\ndrei")
    t.true("The user edited this call" in result(t), result(t))


@case("chat: Escape leaves editing; Ctrl-C while editing ends the turn, and the draft is restored", who="root")
def _(t):
    with chat(t, [call("shell", command="echo x > f")], [call("shell", command="echo x > f")], END, options=ASKS) as c:
        go(c)
        c.shows(ARMED)
        c.send(b"e")
        c.shows(r"^edit> echo x > f")
        c.send(b"\033")
        c.shows(ARMED + r"(.|\n)*^>\s*$")
        c.send(b"n")
        c.shows(r"✗ shell(.|\n)*the user refused(.|\n)*" + ARMED)
        c.send(b"e")
        c.shows(r"^edit> echo x > f")
        c.send(b"\x03")
        c.shows(r"interrupted(.|\n)*^> Ask")
        leave(t, c)
    t.true(not os.path.exists(os.path.join(t.work, "f")), "it was run")


@case("chat: 'always' applies to exactly this command", who="root")
def _(t):
    with chat(t, [call("shell", command="test -f README")], [call("shell", command="test -f README")],
              [call("shell", command="test -v 'x[$(touch pwn)]'")], END, options=ASKS) as c:
        go(c)
        c.shows(ARMED + r"  \[e\]dit  \[a\]lways shell:test -f README\s*$")
        c.send(b"a")
        seen = text_of(c.shows(r"touch pwn(.|\n)*no rule allows 'test'(.|\n)*" + ARMED))
        t.true("· allowed for the rest of this conversation: shell:test -f README\n" in seen, seen)
        t.same(seen.count("Allow shell to run"), 2, seen)
        t.true("lways" not in seen[seen.index("touch pwn"):], seen)
        c.send(b"n")
        c.shows(r"^The end\.")
        leave(t, c)
    t.true(not os.path.exists(os.path.join(t.work, "pwn")), "it was run")


@case("chat: a change that needs no confirmation is shown; of a long one the beginning, and all of it on demand", who="root")
def _(t):
    t.file("main.c", MAIN)
    long = "".join(f"line {i}\n" for i in range(100))
    with chat(t, [EDIT], [call("write_file", path="long", content=long)], END, rows=40) as c:
        go(c)
        seen = text_of(c.shows(r"^The end\."))
        t.true("✓ edit_file main.c  +1  -1\n  │ @@ -1,4 +1,4 @@\n" in seen and "  │ -    return 1;\n  │ +    return 0;\n" in seen, seen)
        t.true("✓ write_file long  +100\n  │ +line 0\n" in seen and "  │ +line 23\n  │ … 76 more lines\n" in seen, seen)
        c.send(b"\x0f\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~")
        c.shows(r"^◇ 1 of 1  write_file long\n(.|\n)*│ \+line 99\n  82-101 of 101  ↑↓ scroll")
        leave(t, c)


@case("chat: collapsed output is viewed one by one, and printed", who="root")
def _(t):
    turns = [[{"thinking": "deep\nthought"}, call("shell", command="seq 1 30; echo first")], [call("shell", command="echo second; echo x")]]
    with chat(t, *turns, END, rows=24) as c:
        go(c)
        seen = text_of(c.shows(r"^The end\."))
        t.true("│" not in seen, seen)
        c.send(b"\x0f")
        c.shows(r"^◇ 3 of 3  shell echo second; echo x\n  │ second\n  │ x\n  ←→ others")
        c.send(b"\x0f")
        lines = c.shows(r"^◇ 2 of 3  shell seq 1 30; echo first\n  │ 1\n(.|\n)*  1-12 of 31  ↑↓ scroll")
        t.true("second" not in text_of(lines).split("◇ 2 of 3")[1], lines)
        c.send(b"\033[B\033[6~")
        c.shows(r"first\n  │ 13\n(.|\n)*  13-24 of 31")
        c.send(b"\033[A\033[5~")
        c.shows(r"first\n  │ 1\n")
        c.send(b"\033[D\033[D")
        c.shows(r"^◇ 1 of 3  thought\n  │ deep\n  │ thought\n")
        c.send(b"\033[C\033[C\033")
        c.shows(r"^The end\.\n+> Ask")
        c.send(b"\x0f\033[D\r")
        lines = c.shows(r"^  │ first\n+> Ask")
        t.true("others" not in text_of(lines), lines)
        c.send(b"\x0fnext")
        lines = c.shows(r"^> next")
        t.true("others" not in text_of(lines), lines)
        c.send(b"\x15")
        c.shows(r"^> Ask")
        leave(t, c)


@case("chat: a failure is expanded: its end, and all of it on demand", who="root")
def _(t):
    with chat(t, [call("shell", command="seq 1 50; exit 3")], END, rows=40) as c:
        go(c)
        seen = text_of(c.shows(r"^The end\."))
        t.true(re.search(r"✗ shell seq 1 50; exit 3\n(  │ .*\n){20}", seen) and "│ 20\n" not in seen, seen)
        c.send(b"\x0f")
        c.shows(r"^◇ 1 of 1  shell seq 1 50; exit 3\n(.|\n)*│ 3\n")
        leave(t, c)


@case("chat: the status line shows directory, model and usage; the least important is omitted first", who="root")
def _(t):
    t.directory("work", ".git")
    t.file(".git/HEAD", "ref: refs/heads/feature/quiet\n")
    t.directory("work", ".git", "objects")
    t.directory("work", ".git", "refs")
    usage = {"content": END, "usage": {"input_tokens": 1200, "output_tokens": 30}}
    with chat(t, usage, {"content": [{"text": "Long."}, {"delay_ms": 60000}]}, options=("--context-window", "10000"), cols=100) as c:
        go(c)
        c.shows(r"^work  feature/quiet  m  restricted  1200 in, 30 out  12% full$")
        c.send(b"more\r")
        c.shows(r"12% full  \d s$")
        t.file(".git/HEAD", "0123456789abcdef0123456789abcdef01234567\n")
        c.shows(r"^work  01234567  m  ")
        for cols, line in ((40, r"^work  m  restricted  12% full  \d+ s$"), (24, r"^work  restricted( +\d+ s)?$"), (20, r"^work  restricted$"), (8, r"^work$")):
            c.resize(24, cols)
            lines = c.shows(line)
            t.true(all(len(row.rstrip()) <= cols for row in lines), lines)
        c.send(b"\x03")
        c.resize(24, 60)
        c.shows(r"^work  01234567  m  restricted  1200 in, 30 out  12% full$")
        leave(t, c)


@case("chat: on a narrow screen the boundary is kept longer than price, branch and model", who="root")
def _(t):
    model = "a-model-with-quite-a-long-name"
    t.directory("work", ".git")
    t.file(".git/HEAD", "ref: refs/heads/feature/quiet\n")
    t.directory("work", ".git", "objects")
    t.directory("work", ".git", "refs")
    t.env["XDG_CONFIG_HOME"] = t.directory("settings")
    os.mkdir(os.path.join(t.env["XDG_CONFIG_HOME"], "cordon"))
    with open(os.path.join(t.env["XDG_CONFIG_HOME"], "cordon", "config.yaml"), "w", encoding="utf-8") as f:
        f.write(f"models: [{{name: {model}, input_price: 1000, output_price: 1000}}]\n")
    usage = {"content": END, "usage": {"input_tokens": 1200, "output_tokens": 30}}
    unsafe = ("--fs-mode", "unrestricted", "--sandbox", "none", "--ack-unsafe-sandbox", "--ack-unsafe-network")
    for options, boundary in (((), "restricted"), (unsafe, "unrestricted no sandbox")):
        with chat(t, usage, options=("--model", model, *options), cols=120) as c:
            go(c)
            c.shows(rf"^work  feature/quiet  {model}  {boundary}  1200 in, 30 out  \$1\.2300$")
            for kept in (f"work  feature/quiet  {model}  {boundary}", f"work  {model}  {boundary}", f"work  {boundary}"):
                c.resize(24, len(kept))
                c.shows(f"^{kept}$")
            c.resize(24, 40)
            c.shows(f"^work  {boundary}$")
            leave(t, c)


@case("chat: of several retries only the last is shown; in plain lines each", who="root")
def _(t):
    busy = {"error": {"status": 529, "type": "overloaded_error", "message": "Overloaded", "retry_after": "0"}}
    with chat(t, busy, busy, busy, END) as c:
        go(c)
        lines = c.shows(r"^· .*Overloaded; retrying \(attempt 4\)\n\nThe end\.$")
        t.same(sum("Overloaded" in line for line in lines), 1, lines)
        leave(t, c)
    with chat(t, busy, busy, busy, END, options=("--plain",)) as c:
        c.send(b"go\r")
        lines = c.shows(r"^The end\.$")
        t.same(sum("Overloaded" in line for line in lines), 3, lines)
        c.send(b"\x04")
        t.same(c.finish(), 0)


@case("chat: confirmations fit in 40 columns", who="root")
def _(t):
    t.file("main.c", MAIN)
    command = "echo 'a rather long command that does not fit'; touch f"
    with chat(t, [call("shell", command=command)], [EDIT], END, options=ASKS, cols=40) as c:
        go(c)
        lines = c.shows(ARMED)
        shown = "".join(line[4:40] for line in lines if line.startswith("  │ "))
        t.same(shown.rstrip(), command)
        c.send(b"y")
        lines = c.shows(r"return 0(.|\n)*" + ARMED + r"  \[e\]dit  \[a\]lways\nedit_file:main\.c")
        t.true(all(len(row.rstrip()) <= 40 for row in lines), lines)
        c.send(b"n")
        c.shows(r"^The end\.")
        leave(t, c)


@case("chat: the subject of a confirmation is shown escaped and complete", who="root")
def _(t):
    bad = "echo a\033[2J\u202eb\rrm -rf x\nsecond \033]0;owned\007line"
    with chat(t, [call("shell", command=bad)], [call("write_file", path="f", content="x\033[31m\u009by\n")], END, options=ASKS) as c:
        go(c)
        seen = text_of(c.shows(ARMED))
        t.true("  │ echo a\\x1B[2J\\u{202E}b\\rrm -rf x\n  │ second \\x1B]0;owned\\x07line\n" in seen, seen)
        c.send(b"e")
        c.shows(r"cannot be edited here|^edit> ")
        t.true(b"owned\x07" not in c.all and "\u202e".encode() not in c.all, "it was obeyed")
        if "edit>" in text_of(c.lines()):
            c.send(b"\033")
            c.shows(ARMED)
        c.send(b"n")
        seen = text_of(c.shows(r"\+x(.|\n)*" + ARMED))
        t.true("  │ +x\\x1B[31m\\x9By\n" in seen or "  │ +x\\x1B[31m\\u{9B}y\n" in seen, seen)
        c.send(b"n")
        c.shows(r"^The end\.")
        leave(t, c)


@case("chat: in a box a confirmation shows the tool's arguments; the status line has the box", who="root")
def _(t):
    t.file("main.c", MAIN)
    t.env["CORDON_HOME"] = t.directory("state")
    subprocess.run([t.cordon, "box", "new", "b", ".", "--no-start", "--yes"], cwd=t.work, env=t.env, check=True, capture_output=True)
    with chat(t, [EDIT], END, options=(*ASKS, "--box", "b")) as c:
        go(c)
        seen = text_of(c.shows(ARMED))
        t.true("  main.c\n  │ path:\n  │ main.c\n  │ old_string:\n  │ return 1;\n  │ new_string:\n  │ return 0;\n" in seen, seen)
        t.true("  m  box b" in seen, seen)
        c.send(b"y")
        c.shows(r"^The end\.")
        leave(t, c)
    t.same(content(t, "main.c"), MAIN)
    diff = subprocess.run([t.cordon, "box", "diff", "b"], cwd=t.work, env=t.env, check=True, capture_output=True).stdout
    t.true(b"+    return 0;" in diff, diff)
    reap_boxes(t)


@case("chat: NO_COLOR: changes without colours", who="root")
def _(t):
    t.file("main.c", MAIN)
    t.env["NO_COLOR"] = "1"
    with chat(t, [EDIT], END, options=ASKS) as c:
        go(c)
        c.shows(r"│ \+    return 0;\n(.|\n)*" + ARMED)
        c.send(b"y")
        c.shows(r"^The end\.")
        t.true(not re.search(rb"\033\[(\d+;)*(3[0-7]|9[0-7]|38|48)[;m]", c.all), c.all)
        leave(t, c)


@case("chat: --plain: a confirmation, one-letter answers, an edited command, collapsed output", who="root")
def _(t):
    t.file("main.c", MAIN)
    with chat(t, [EDIT], [call("shell", command="echo bad > f; echo out")], END, options=(*ASKS, "--plain"), term="xterm") as c:
        c.send(b"go\n")
        c.expect(rb"\? Allow edit_file to change:\r\n  main\.c  \+1  -1\r\n(.|\n)*  \xe2\x94\x82 -    return 1;\r\n(.|\n)*\[y\]es, \[n\]o, \[e\]dit")
        c.send(b"y\n")
        c.expect(rb"Allow shell to run:\r\n(.|\n)*\[y\]es, \[n\]o, \[e\]dit")
        c.send(b"e\n")
        c.expect(rb"type the replacement;")
        c.send(b"\n")
        c.expect(rb"\[y\]es, \[n\]o, \[e\]dit")
        c.send(b"e\n")
        c.expect(rb"type the replacement;")
        c.send(b"echo good > f; echo out\n")
        c.expect(rb"edited; running instead:\r\n(.|\n)*The end\.")
        c.send(b"/open\n")
        c.expect(rb"\xe2\x94\x82 out\r\n|out\r\n")
        c.send(b"\x04")
        t.same(c.finish(), 0)
        t.true(b"\033" not in c.all, c.all)
    t.same(content(t, "f"), "good\n")


@case("chat: answers are ignored until the terminal has shown the confirmation", who="root")
def _(t):
    t.file("f", "old\n")
    wide = "".join(f"{i} {'word ' * 180}\n" for i in range(100))
    with chat(t, [call("write_file", path="f", content=wide)], END, options=ASKS, cols=1000) as c:
        c.shows(r"^> Ask")
        deaf(c, b"go\r", 2)
        deaf(c, b"y", 2)
        t.same(content(t, "f"), "old\n")
        c.shows(r"^\[y\]es  \[n\]o(.|\n)*^> y$")
        c.send(b"y")
        c.shows(r"^The end\.")
        c.send(b"\x15")
        c.shows(r"^> Ask")
        leave(t, c)
    t.same(content(t, "f"), wide)


if __name__ == "__main__":
    sys.exit(main())
