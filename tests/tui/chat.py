#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cordon chat` in a terminal, answered by scripts: a pty, typed input, and checks of the screen."""
import json
import os
import re
import signal
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from harness import case, main  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position
from talking import call, chat, held, leave, release, session, text_of  # noqa: E402 pylint: disable=wrong-import-position


@case("chat: a prompt, Markdown, a tool, the answer; all stays on the screen", who="root")
def _(t):
    with chat(t, [{"text": "# Look\n\nI **look** at 日本:\n\n- one\n"}, call("list_dir", path=".")], [{"text": "Done."}]) as c:
        c.shows(r"^> Ask anything, or /help")
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
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"Allow write_file to change:(.|\n)*yes\.txt(.|\n)*\[y\]es")
        c.send(b"y")
        c.shows(r"Allow write_file to change:(.|\n)*no\.txt(.|\n)*\[y\]es")
        c.send(b"n")
        c.shows(r"^The end\.")
        leave(t, c)
    t.true(os.path.exists(os.path.join(t.work, "yes.txt")), "it was not written")
    t.true(not os.path.exists(os.path.join(t.work, "no.txt")), "it was written")


@case("chat: Ctrl-C ends the turn, and the next one works; twice exits", who="root")
def _(t):
    with chat(t, [{"text": "I begin. "}, {"delay_ms": 60000}, {"text": "never"}], [{"text": "Second."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^I begin\.")
        c.send(b"\x03")
        c.shows(r"interrupted")
        c.send(b"again\r")
        c.shows(r"^Second\.")
        c.shows(r"^Second\.(.|\n)*m  restricted$")  # without a time: the turn has ended, and Ctrl-C does not interrupt it
        c.send(b"\x03")
        c.shows(r"again to quit")
        c.send(b"\x03")
        t.same(c.finish(), 0)


@case("chat: input typed during a turn is queued, and sent", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, held()], [{"text": "Two."}], [{"text": "Three."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^One\.")
        c.send(b"and then?\r")
        c.shows(r"^queued: and then\?")
        release(t)
        lines = c.shows(r"^Three\.")
        t.true("> and then?" in text_of(lines), lines)
        leave(t, c)


@case("chat: Escape interrupts, and sends the queued input", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, {"delay_ms": 60000}, {"text": "never"}], [{"text": "Three."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^One\.")
        c.send(b"no, this\r")
        c.shows(r"^queued: no, this")
        c.send(b"\033")
        lines = c.shows(r"^Three\.")
        t.true("interrupted" in text_of(lines) and "queued" not in text_of(lines), lines)
        leave(t, c)


@case("chat: a paste of 1,000 lines is shown as one placeholder, and sent completely", who="root")
def _(t):
    with chat(t, [{"text": "Seen."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"see \033[200~" + b"".join(b"line %d\r" % i for i in range(1000)) + b"\033[201~")
        c.shows(r"^> see \[pasted 1,000 lines\]")
        c.send(b"\r")
        lines = c.shows(r"^Seen\.")
        t.true(re.search(r"  line 19\n  … 980 more lines\n\nSeen\.", text_of(lines)), lines)
        t.true(b"line 20" not in c.all, "all of it was printed")
        c.send(b"\x0f")
        c.shows(r"1 of 1  prompt(.|\n)*line 5\n(.|\n)* of 1000")
        leave(t, c)
    t.true("line 999" in session(t) and "line 0\\n" in session(t), "not all was sent")


@case("chat: file names with blanks and quotes are completed, and found", who="root")
def _(t):
    os.mkdir(os.path.join(t.work, "my dir"))
    t.file("my dir/it's b.txt", "x")
    with open(os.path.join(t.work, "a shot.png"), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + bytes(40))
    with chat(t, [{"text": "Seen."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"see @my\t")
        c.shows(r"^> see @my\\ dir/\n  @my\\ dir/it\\'s\\ b\.txt")
        c.send(b"\t")
        c.shows(r"^> see @my\\ dir/it\\'s\\ b\.txt *$")
        c.send(b"and @a\t\r")
        c.shows(r"a shot\.png(.|\n)*^Seen\.")
        leave(t, c)
    t.true("image/png" in session(t), session(t))


@case("chat: in a terminal with few rows a list leaves room for the input", who="root")
def _(t):
    with chat(t, [{"text": "x"}], rows=6) as c:
        c.shows(r"^> Ask")
        c.send(b"/")
        c.shows(r"^> /\n  /help .*\n  … 10 more\n")
        c.send(b"\033[A")
        c.shows(r"^> /\n  /quit .*\n  … 10 more\n")
        c.send(b"\x15")
        leave(t, c)


@case("chat: Ctrl+L scrolls away output of other programs", who="root")
def _(t):
    with chat(t, [{"text": "Seen."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^Seen\.")
        c.all += b"\r\nMail for you\r\n"
        c.send(b"\x0cx")
        lines = c.shows(r"^> x$")
        t.true("Mail" not in text_of(lines) and "Seen" not in text_of(lines), lines)
        t.same(len([line for line in lines if "restricted" in line]), 1, lines)
        c.send(b"\x15")
        leave(t, c)


@case("chat: a session without messages is not saved", who="root")
def _(t):
    with chat(t, [{"text": "One."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^One\.")
        leave(t, c)
    before = session(t)
    with chat(t, [{"text": "Two."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"/session new\r")
        c.shows(r"with 0 messages")
        leave(t, c)
    t.same(session(t), before)
    with chat(t, [{"text": "Two."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"!true\r")
        c.shows(r"✓ ! true")
        c.kill(signal.SIGKILL)
        t.killed = True  # the sandbox of its commands ends after it
        c.event("end")
    with chat(t, [{"text": "Two."}], options=("--continue",)) as c:
        c.shows(r"resumed session [0-9a-f-]+ with 2 messages(.|\n)*^One\.")
        leave(t, c)


@case("chat: a resumed session shows its tool calls", who="root")
def _(t):
    with chat(t, [{"text": "I look."}, call("list_dir", path="."), call("read_file", path="none")], [{"text": "Done."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^Done\.")
        leave(t, c)
    with chat(t, [{"text": "x"}], options=("--continue",)) as c:
        lines = c.shows(r"^Done\.")
        t.true(re.search(r"I look\.\n\n✓ list_dir \. .*\n\n?✗ read_file none\n", text_of(lines)), lines)
        t.true("⠋" not in text_of(lines), lines)
        leave(t, c)


@case("chat: /help lists the configured keys, and none without a terminal", who="root")
def _(t):
    t.env["XDG_CONFIG_HOME"] = os.path.join(t.work, "settings")
    os.makedirs(os.path.join(t.work, "settings/cordon"))
    t.file("settings/cordon/config.yaml", "keys:\n  Ctrl+g: open\n  Ctrl+o: none\n  Ctrl+x: interrupt\n")
    with chat(t, [{"text": "x"}], rows=40) as c:
        c.shows(r"^> Ask")
        c.send(b"/help\r")
        seen = text_of(c.shows(r"^  Ctrl\+g      view collapsed items, the last one first"))
        t.true("Ctrl+c, Ctrl+x interrupt; twice" in seen and "Ctrl+o" not in seen, seen)
        c.send(b"\x18")
        c.shows(r"Ctrl\+c, Ctrl\+x again to quit")
        c.send(b"/hlep\r")
        c.shows(r"no such command '/[a-z]+'; did you mean '/help'\?")
        leave(t, c)
    done = subprocess.run([t.cordon, "chat", "--script", os.path.join(t.work, "script.json")], input=b"/help\n" + b"word " * 1000,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **t.env}, cwd=t.work, check=True)
    t.same(done.stdout.count(b"word"), 1000, "a long prompt is not shown whole without a terminal")
    t.true(b"/undo" in done.stdout and b"Ctrl+" not in done.stdout and b"Alt+" not in done.stdout, done.stdout)


@case("chat: resizing to 40 columns and back leaves no garbage", who="root")
def _(t):
    with chat(t, [{"text": "word " * 40}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^word")
        before = c.all
        for cols in (40, 80):
            c.resize(24, cols)
            lines = c.shows(r"restricted")
            t.same(len([line for line in lines if "restricted" in line]), 1, lines)
        t.true(b"\033[K" in c.all and before, "nothing was erased")
        leave(t, c)


@case("chat: escape sequences of a model are shown, not interpreted", who="root")
def _(t):
    bad = "a\033[2J\033]0;owned\007\033[?1049h\u202eb\u009b3J `\033[31m`"
    with chat(t, [{"text": bad}, call("list_dir", path="\033[2J")], [{"text": "Ok."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^Ok\.")
        t.true(b"owned\x07" not in c.all and "\u202e".encode() not in c.all, "it was obeyed")
        t.true("\\x1B[2J" in text_of(c.lines()), c.lines())
        leave(t, c)


@case("chat: an error of the service is reported, and the conversation continues", who="root")
def _(t):
    with chat(t, {"content": [], "error": {"status": 400, "message": "no such thing"}}, [{"text": "Fine."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"✗ ")
        c.send(b"again\r")
        c.shows(r"^Fine\.")
        leave(t, c)


@case("chat: commands and their completion", who="root")
def _(t):
    with chat(t, [{"text": "x"}]) as c:
        c.shows(r"^> Ask")
        c.send(b"/")
        c.shows(r"^  /help +list commands and keys")
        c.send(b"q\t")
        c.shows(r"^> /quit")
        c.send(b"\r")
        t.same(c.finish(), 0)


@case("chat: files are completed after @, except those that git ignores", who="root")
def _(t):
    for name in ("alpha.c", "beta.c", "alpha.o"):
        os.makedirs(os.path.join(t.work, "src"), exist_ok=True)
        t.file(f"src/{name}")
    t.directory("work", ".git")
    t.file(".gitignore", "*.o\n")
    with chat(t, [{"text": "x"}]) as c:
        c.shows(r"^> Ask")
        c.send(b"see @sr\t")
        lines = c.shows(r"^  @src/beta\.c")
        t.true("@src/alpha.c" in text_of(lines) and "alpha.o" not in text_of(lines), lines)
        c.send(b"b\tplease")
        c.shows(r"^> see @src/beta\.c please")
        c.send(b"\x15")
        c.shows(r"^> Ask")
        leave(t, c)


for signo in (signal.SIGTERM, signal.SIGHUP):
    @case(f"chat: {signo.name} ends it, the session is complete, the terminal is restored", who="root")
    def _(t, signo=signo):
        with chat(t, [{"text": "I begin. "}, {"delay_ms": 60000}]) as c:
            c.shows(r"^> Ask")
            c.send(b"go\r")
            c.shows(r"^I begin\.")
            c.kill(signo)
            t.same(c.finish(), 0)
        t.true("I begin." in session(t), "the received text is not in the session")


@case("chat: the window is closed: the session is complete, and can be resumed", who="root")
def _(t):
    with chat(t, [{"text": "I begin. "}, {"delay_ms": 60000}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^I begin\.")
        c.hang_up()
        c.any_event(read=False)
    t.true("I begin." in session(t), "the received text is not in the session")
    script = os.path.join(t.work, "script.json")
    with Screen(t, [t.cordon, "chat", "--script", script, "--continue"]) as c:
        lines = c.shows(r"resumed session [0-9a-f-]+ with 2 messages(.|\n)*^> Ask")
        t.true("> go\n\nI begin." in text_of(lines), lines)
        c.send(b"\033[A")
        c.shows(r"^> go\n+.* restricted")
        c.send(b"\x15")
        c.shows(r"^> Ask")
        leave(t, c)


for name, options, term in (("--plain", ("--plain",), "xterm"), ("TERM=dumb", (), "dumb")):
    @case(f"chat: {name}: plain lines only", who="root")
    def _(t, options=options, term=term):
        with chat(t, [{"text": "**Bold** [x](https://x.org)"}], options=options, term=term) as c:
            c.send(b"go\n")
            c.expect(rb"Bold x \(https://x\.org\)\r\n")
            c.send(b"\x04")
            t.same(c.finish(), 0)
            t.true(b"\033" not in c.all, c.all)


@case("chat: --plain: Ctrl-C twice exits, and the prefix of a name is sent unchanged", who="root")
def _(t):
    t.file("alpha")
    with chat(t, [{"text": "Here."}], options=("--plain",)) as c:
        c.send(b"see @alp\n")
        c.expect(rb"Here\.\r\n")
        c.send(b"\x03")
        c.expect(rb"again to quit")
        c.send(b"\x03")
        t.same(c.finish(), 0)


@case("chat: Ctrl-Z stops, fg resumes", who="root")
def _(t):
    with chat(t, [{"text": "Here."}]) as c:
        c.shows(r"^> Ask")
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


def settings(t, text):
    t.env["XDG_CONFIG_HOME"] = os.path.join(t.top, "config")
    os.makedirs(os.path.join(t.top, "config", "cordon"), exist_ok=True)
    with open(os.path.join(t.top, "config", "cordon", "config.yaml"), "w", encoding="utf-8") as f:
        f.write(text)


@case("chat: keys from the settings", who="root")
def _(t):
    settings(t, "keys: {F2: send, Ctrl+g: open, Ctrl+o: none, Enter: new-line, Shift+Enter: send}\n")
    with chat(t, [call("list_dir", path=".")], [{"text": "Done."}], [{"text": "More."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"a\rb")
        c.shows(r"^> a\n  b")
        c.send(b"\033OQ")
        c.shows(r"^Done\.")
        c.send(b"\x0fx")
        lines = c.shows(r"^> x")
        t.true("script.json" not in text_of(lines), lines)
        c.send(b"\x07")
        c.shows(r"script\.json(.|\n)*^> x")
        c.send(b"y")
        c.shows(r"^> xy")
        c.send(b"\033[13;2u")
        c.shows(r"^More\.")
        leave(t, c)


@case("chat: invalid settings are reported before anything is drawn", who="root")
def _(t):
    settings(t, "keys: {F2: sned}\n")
    with chat(t, [{"text": "x"}]) as c:
        c.expect(rb"config\.yaml:1:8: keys\.F2: no such action 'sned'.*did you mean 'send'")
        t.same(c.finish(), 17)


LOOKS = (
    ("16 colours by default", "", {}, (), (b"\033[33m",), (b"38;2", b"38;5")),
    ("a theme", "theme: {code: 'underline #ff8800'}\n", {"COLORTERM": "truecolor"}, (), (b"38;2;255;136;0",), (b"\033[33m",)),
    ("a theme in 16 colours", "theme: {code: '#ff0000'}\ncolors: ansi16\n", {"COLORTERM": "truecolor"}, (), (b"\033[",), (b"38;2", b"38;5")),
    ("NO_COLOR", "theme: {code: '#ff0000'}\n", {"NO_COLOR": "1"}, (), (b"\033[",), (b"38;", b"\033[33m", b"\033[36m")),
    ("colors: none", "colors: none\n", {}, (), (b"\033[",), (b"38;", b"\033[33m", b"\033[36m")),
    ("settings before NO_COLOR", "colors: ansi16\n", {"NO_COLOR": "1"}, (), (b"\033[33m",), (b"38;",)),
    ("--color never before settings", "colors: ansi16\n", {}, ("--color", "never"), (b"\033[",), (b"38;", b"\033[33m", b"\033[36m")),
    ("--color always before NO_COLOR", "", {"NO_COLOR": "1"}, ("--color", "always"), (b"\033[33m",), ()),
)
for name, text, env, options, wanted, unwanted in LOOKS:
    @case(f"chat: colours: {name}", who="root")
    def _(t, text=text, env=env, options=options, wanted=wanted, unwanted=unwanted):
        t.env.update(env)
        settings(t, text)
        with chat(t, [{"text": "See `this`."}], options=options) as c:
            c.shows(r"^> Ask")
            c.send(b"go\r")
            c.shows(r"^See this\.")
            leave(t, c)
            for part in wanted:
                t.true(part in c.all, (part, c.all))
            for part in unwanted:
                t.true(part not in c.all, (part, c.all))


@case("chat: prompts are kept for the next conversation, without secrets, readable only by the owner", who="root")
def _(t):
    t.env["MY_TOKEN"] = "quite-a-secret-value"
    with chat(t, *([[{"text": f"Answer {i}."}] for i in range(4)])) as c:
        c.shows(r"^> Ask")
        for i, prompt in enumerate(("first", "use quite-a-secret-value and sk-ant-api03-abcdefghijklmnop now", " not kept", "last\033\rline")):
            c.send(prompt.encode() + b"\r")
            c.shows(rf"^Answer {i}\.")
        leave(t, c)
    path = os.path.join(t.env["CORDON_HOME"], "history")
    t.same(os.stat(path).st_mode & 0o777, 0o600)
    with open(path, encoding="utf-8") as f:
        t.same([json.loads(line) for line in f], ["first", "use [masked] and [masked] now", "last\nline"])
    with open(path, "a", encoding="utf-8") as f:
        f.write('"cut o')
    with Screen(t, [t.cordon, "chat", "--script", os.path.join(t.work, "script.json")]) as c:
        c.shows(r"^> Ask")
        c.send(b"\033[A")
        c.shows(r"^> last\n  line")
        c.send(b"\033p\033p")
        c.shows(r"^> first")
        c.send(b"\x15again\r")
        c.shows(r"^Answer 0\.")
        leave(t, c)
    with open(path, encoding="utf-8") as f:
        t.same([line.rstrip("\n") for line in f][-2:], ['"cut o', '"again"'])


@case("chat: the history has a limit, and can be turned off", who="root")
def _(t):
    settings(t, "history: 2\n")
    state = t.directory("state")
    path = os.path.join(state, "history")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f'"old {i}"\n' for i in range(5))
    os.chmod(path, 0o644)
    t.env["CORDON_HOME"] = state
    script = t.file("script.json", json.dumps({"version": 1, "model": "m", "turns": [{"content": [{"text": "Yes."}]}] * 3}))
    with Screen(t, [t.cordon, "chat", "--script", script]) as c:
        c.shows(r"^> Ask")
        c.send(b"\033[A\033[A\033[A")
        c.shows(r"^> old 3")
        c.send(b"\x15new\r")
        c.shows(r"^Yes\.")
        leave(t, c)
    with open(path, encoding="utf-8") as f:
        t.same(f.read(), '"old 4"\n"new"\n')
    t.same(os.stat(path).st_mode & 0o777, 0o600)
    settings(t, "history: 0\n")
    with Screen(t, [t.cordon, "chat", "--script", script]) as c:
        c.shows(r"^> Ask")
        c.send(b"\033[Anever\r")
        c.shows(r"^> never(.|\n)*^Yes\.")
        leave(t, c)
    with open(path, encoding="utf-8") as f:
        t.same(f.read(), '"old 4"\n"new"\n')


PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@case("chat: images by path, typed, dropped or after @, are attached and named", who="root")
def _(t):
    for name in ("a.png", "my shot.PNG", "c d.png", "e.png", "it's.png"):
        t.file(name, PNG)
    t.file("text.png", "no image")
    t.file("large.png", PNG + bytes(6 << 20))
    drop = f"'{t.work}/my shot.PNG' {t.work}/c\\ d.png file://{t.work}/e%2Epng"
    with chat(t, [{"text": "Seen."}], [{"text": "Again."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"what is in @a.png? and \033[200~" + drop.encode() + b"\033[201~ \"it's.png\", a.png none.png\r")
        lines = text_of(c.shows(r"^Seen\."))
        for name in ("a.png", "my shot.PNG", "c d.png", "e.png", "it's.png"):
            t.true(re.search(rf"attached: (\S*/)?{re.escape(name)}, 1 kB, image/png", lines.replace("\n  ", "")), (name, lines))
        t.true("none.png," not in lines, lines)
        c.send(b"text.png and large.png\r")
        lines = text_of(c.shows(r"^Again\."))
        t.true(re.search(r"not attached: text\.png: ", lines) and re.search(r"not attached: large\.png: larger than 5 MiB", lines), lines)
        leave(t, c)
    t.same(session(t).count('"image/png"'), 5)


@case("chat: the window is made narrow while chat is stopped", who="root")
def _(t):
    with chat(t, [{"text": "word " * 40}]) as c:
        c.shows(r"^> Ask")
        c.send(b"\x1a")
        c.event("stop")
        c.resize(24, 42)
        c.fg()
        c.shows(r"^> Ask")
        c.send(b"go\r")
        lines = c.shows(r"^word(.|\n)*restricted")
        t.same([line for line in lines if line.startswith("wor")][0].rstrip(), "word " * 7 + "word", lines)
        leave(t, c)


@case("chat: thousands of lines at once are all shown, in order", who="root")
def _(t):
    count = 5000
    with chat(t, [{"text": "".join(f"- <{i}>\n" for i in range(count)) + "\nThat is all.\n"}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.expect(b"That is all.")
        leave(t, c)
    numbers = [int(n) for n in re.findall(rb"<(\d+)>", c.all)]
    first = list(dict.fromkeys(numbers))
    t.same(first, list(range(count)), "rows are missing or out of order")


for number in (signal.SIGTERM, signal.SIGHUP):
    for how, turns, typed in (("a tool", [[call("shell", command="sleep 60")]], b"go\r"), ("!command", [], b"!sleep 60\r")):
        @case(f"chat: {number.name} also ends it while {how} runs a command", who="root")
        def _(t, number=number, turns=turns, typed=typed):
            with chat(t, *turns, [{"text": "never"}]) as c:
                c.shows(r"^> Ask")
                c.send(typed)
                c.shows(r"sleep 60\n(.|\n)*\d s")
                c.kill(number)
                t.same(c.finish(), 0)
                t.true("interrupted" in text_of(c.lines()) and "never" not in text_of(c.lines()), c.lines())


@case("chat: a stop signal from outside restores the terminal", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, {"delay_ms": 60000}]) as c:
        c.shows(r"^> Ask")
        for prompt, pattern in ((b"", r"^> Ask"), (b"go\r", r"^One\.(.|\n)*\d s")):
            c.send(prompt)
            c.shows(pattern)
            c.kill(signal.SIGTSTP)
            c.event("stop")
            c.pump(0)
            t.same((c.is_raw(), c.all.rfind(b"\033[?2004l") > c.all.rfind(b"\033[?2004h")), (False, True))
            c.fg()
            c.shows(r"^> Ask")
        t.true(c.is_raw(), "the terminal is not taken again")
        c.send(b"\x03")
        c.shows(r"interrupted")
        leave(t, c)


if __name__ == "__main__":
    sys.exit(main())
