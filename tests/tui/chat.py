#!/usr/bin/env python3
"""`cordon chat` in a terminal, answered by scripts: a pty, a hand that types, and what is shown."""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sandbox"))
from harness import case, main  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position
from talking import call, chat, leave, session, text_of  # noqa: E402 pylint: disable=wrong-import-position


@case("chat: a question, Markdown, a tool, the answer; all stays on the screen", who="root")
def _(t):
    with chat(t, [{"text": "# Look\n\nI **look** at 日本:\n\n- one\n"}, call("list_dir", path=".")], [{"text": "Done."}]) as c:
        c.shows(r"^> what is to be done\?")
        c.send("what is hier? 👋".encode())
        c.shows(r"^> what is hier")
        c.send(b"\r")
        lines = c.shows(r"^Done\.")
        seen = text_of(lines)
        t.true(re.search(r"> what is hier\? 👋\n\nLook\n\nI look at 日本:\n\n• one\n\n?✓ list_dir \.", seen), seen)
        t.true(re.search(r"m  restricted", seen), seen)
        leave(t, c)
    t.true("Done." in session(t), "the session is not whole")


@case("chat: consent, yes and no", who="root")
def _(t):
    with chat(t, [call("write_file", path="yes.txt", content="x")], [call("write_file", path="no.txt", content="x")],
              [{"text": "The end."}], options=("--approval", "always")) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"wants to change:(.|\n)*yes\.txt(.|\n)*\[y\]es")
        c.send(b"y")
        c.shows(r"wants to change:(.|\n)*no\.txt(.|\n)*\[y\]es")
        c.send(b"n")
        c.shows(r"^The end\.")
        leave(t, c)
    t.true(os.path.exists(os.path.join(t.work, "yes.txt")), "it was not written")
    t.true(not os.path.exists(os.path.join(t.work, "no.txt")), "it was written")


@case("chat: Ctrl-C ends the turn, and the next one works; twice it leaves", who="root")
def _(t):
    with chat(t, [{"text": "I begin. "}, {"delay_ms": 60000}, {"text": "never"}], [{"text": "Second."}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"^I begin\.")
        c.send(b"\x03")
        c.shows(r"interrupted")
        c.send(b"again\r")
        c.shows(r"^Second\.")
        c.send(b"\x03")
        c.shows(r"once more leaves")
        c.send(b"\x03")
        t.same(c.finish(), 0)


@case("chat: what is typed meanwhile waits, and is sent", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, {"delay_ms": 1500}, {"text": "Two."}], [{"text": "Three."}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"^One\.")
        c.send(b"and then?\r")
        c.shows(r"^later: and then\?")
        lines = c.shows(r"^Three\.")
        t.true("> and then?" in text_of(lines), lines)
        leave(t, c)


@case("chat: Escape interrupts, and sends what waits", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, {"delay_ms": 60000}, {"text": "never"}], [{"text": "Three."}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"^One\.")
        c.send(b"no, this\r")
        c.shows(r"^later: no, this")
        c.send(b"\033")
        lines = c.shows(r"^Three\.")
        t.true("interrupted" in text_of(lines) and "later" not in text_of(lines), lines)
        leave(t, c)


@case("chat: a paste of 1,000 lines is one word, and is sent whole", who="root")
def _(t):
    with chat(t, [{"text": "Seen."}]) as c:
        c.shows(r"^> what")
        c.send(b"see \033[200~" + b"".join(b"line %d\r" % i for i in range(1000)) + b"\033[201~")
        c.shows(r"^> see \[pasted 1,000 lines\]")
        c.send(b"\r")
        c.shows(r"^Seen\.")
        leave(t, c)
    t.true("line 999" in session(t) and "line 0\\n" in session(t), "not all was sent")


@case("chat: 40 columns and back, without rubbish", who="root")
def _(t):
    with chat(t, [{"text": "word " * 40}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"^word")
        before = c.all
        for cols in (40, 80):
            c.resize(24, cols)
            lines = c.shows(r"restricted")
            t.same(len([line for line in lines if "restricted" in line]), 1, lines)
        t.true(b"\033[K" in c.all and before, "nothing was erased")
        leave(t, c)


@case("chat: escape sequences of a model are shown, not obeyed", who="root")
def _(t):
    bad = "a\033[2J\033]0;owned\007\033[?1049h\u202eb\u009b3J `\033[31m`"
    with chat(t, [{"text": bad}, call("list_dir", path="\033[2J")], [{"text": "Ok."}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"^Ok\.")
        t.true(b"owned\x07" not in c.all and "\u202e".encode() not in c.all, "it was obeyed")
        t.true("\\x1B[2J" in text_of(c.lines()), c.lines())
        leave(t, c)


@case("chat: an error of the service is told, and the conversation goes on", who="root")
def _(t):
    with chat(t, {"content": [], "error": {"status": 400, "message": "no such thing"}}, [{"text": "Fine."}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"✗ ")
        c.send(b"again\r")
        c.shows(r"^Fine\.")
        leave(t, c)


@case("chat: commands and their completion", who="root")
def _(t):
    with chat(t, [{"text": "x"}]) as c:
        c.shows(r"^> what")
        c.send(b"/")
        c.shows(r"^  /help +what there is")
        c.send(b"q\t")
        c.shows(r"^> /quit")
        c.send(b"\r")
        t.same(c.finish(), 0)


@case("chat: files are completed after @, but not what git ignores", who="root")
def _(t):
    for name in ("alpha.c", "beta.c", "alpha.o"):
        os.makedirs(os.path.join(t.work, "src"), exist_ok=True)
        t.file(f"src/{name}")
    t.directory("work", ".git")
    t.file(".gitignore", "*.o\n")
    with chat(t, [{"text": "x"}]) as c:
        c.shows(r"^> what")
        c.send(b"see @sr\t")
        lines = c.shows(r"^  @src/beta\.c")
        t.true("@src/alpha.c" in text_of(lines) and "alpha.o" not in text_of(lines), lines)
        c.send(b"b\tplease")
        c.shows(r"^> see @src/beta\.c please")
        c.send(b"\x15")
        c.shows(r"^> what")
        leave(t, c)


for signo in (signal.SIGTERM, signal.SIGHUP):
    @case(f"chat: {signo.name} ends it, the session is whole, the terminal is restored", who="root")
    def _(t, signo=signo):
        with chat(t, [{"text": "I begin. "}, {"delay_ms": 60000}]) as c:
            c.shows(r"^> what")
            c.send(b"go\r")
            c.shows(r"^I begin\.")
            c.kill(signo)
            t.same(c.finish(), 0)
        t.true("I begin." in session(t), "what had come is not in the session")


@case("chat: the window is closed: the session is whole, and the next one goes on", who="root")
def _(t):
    with chat(t, [{"text": "I begin. "}, {"delay_ms": 60000}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.shows(r"^I begin\.")
        c.hang_up()
        c.any_event(read=False)
    t.true("I begin." in session(t), "what had come is not in the session")
    script = os.path.join(t.work, "script.json")
    with Screen(t, [t.cordon, "chat", "--script", script, "--continue"]) as c:
        lines = c.shows(r"goes on, with 2 messages(.|\n)*^> what")
        t.true("> go\n\nI begin." in text_of(lines), lines)
        c.send(b"\033[A")
        c.shows(r"^> go\n+.* restricted")
        c.send(b"\x15")
        c.shows(r"^> what")
        leave(t, c)


for name, options, term in (("--plain", ("--plain",), "xterm"), ("TERM=dumb", (), "dumb")):
    @case(f"chat: {name}: nothing but lines", who="root")
    def _(t, options=options, term=term):
        with chat(t, [{"text": "**Bold** [x](https://x.org)"}], options=options, term=term) as c:
            c.send(b"go\n")
            c.expect(rb"Bold x \(https://x\.org\)\r\n")
            c.send(b"\x04")
            t.same(c.finish(), 0)
            t.true(b"\033" not in c.all, c.all)


@case("chat: Ctrl-Z stops, fg goes on", who="root")
def _(t):
    with chat(t, [{"text": "Here."}]) as c:
        c.shows(r"^> what")
        c.send(b"half")
        c.shows(r"^> half")
        c.send(b"\x1a")
        c.event("stop")
        t.same(c.modes(), c.before, "the modes while it is stopped")
        t.true("half" not in text_of(c.lines()), c.lines())
        c.fg()
        c.shows(r"^> half")
        c.send(b" done\r")
        c.shows(r"^Here\.")
        leave(t, c)


@case("chat: the window is made narrow while it is stopped", who="root")
def _(t):
    with chat(t, [{"text": "word " * 40}]) as c:
        c.shows(r"^> what")
        c.send(b"\x1a")
        c.event("stop")
        c.resize(24, 42)
        c.fg()
        c.shows(r"^> what")
        c.send(b"go\r")
        lines = c.shows(r"^word(.|\n)*restricted")
        t.same([line for line in lines if line.startswith("wor")][0].rstrip(), "word " * 7 + "word", lines)
        leave(t, c)


@case("chat: thousands of lines at once are all shown, in order", who="root")
def _(t):
    count = 5000
    with chat(t, [{"text": "".join(f"- <{i}>\n" for i in range(count)) + "\nThat is all.\n"}]) as c:
        c.shows(r"^> what")
        c.send(b"go\r")
        c.expect(b"That is all.")
        leave(t, c)
    numbers = [int(n) for n in re.findall(rb"<(\d+)>", c.all)]
    first = list(dict.fromkeys(numbers))
    t.same(first, list(range(count)), "rows are missing or out of order")


if __name__ == "__main__":
    main()
