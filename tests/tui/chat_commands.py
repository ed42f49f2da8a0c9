#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of `cordon chat` in a terminal: /undo, /diff, /compact, /fork, /export, /approve, /model, /session, !command."""
import json
import os
import re
import signal
import stat
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from harness import case, main  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position
from talking import call, chat, held, leave, release, text_of  # noqa: E402 pylint: disable=wrong-import-position


def say(c, words, pattern):
    c.send(words.encode() + b"\r")
    return text_of(c.shows(pattern))


def read(t, name):
    with open(os.path.join(t.work, name), encoding="utf-8") as f:
        return f.read()


def there(t, name):
    return os.path.lexists(os.path.join(t.work, name))


def mode(t, name):
    return stat.S_IMODE(os.lstat(os.path.join(t.work, name)).st_mode)


def sessions(t):
    """The messages of each session, by its ID."""
    top = os.path.join(t.env["CORDON_HOME"], "sessions")
    found = {}
    for name in os.listdir(top):
        if name.endswith(".jsonl"):
            with open(os.path.join(top, name), encoding="utf-8") as f:
                found[name[:-6]] = [json.loads(line) for line in f][1:]
    return found


def the_session(t):
    found = sessions(t)
    t.same(len(found), 1, found.keys())
    return list(found.values())[0]


def texts(messages, kind="user"):
    return ["".join(b.get("text", "") for b in m["content"]) for m in messages if m["type"] == kind]


PATCH = "*** Begin Patch\n*** Delete File: gone.sh\n*** Update File: old.txt\n@@\n-changed\n+changed twice\n*** End Patch\n"


@case("chat: /undo undoes turn by turn, exactly, and the model is informed", who="root")
def _(t):
    t.file("old.txt", "original\n", 0o640)
    t.file("gone.sh", "echo x\n", 0o755)
    with chat(t, [call("write_file", path="new/deep/a.txt", content="one\n"), call("write_file", path="old.txt", content="changed\n")],
              [{"text": "First."}], [call("apply_patch_freeform", patch=PATCH)], [{"text": "Second."}], [{"text": "Third."}]) as c:
        c.shows(r"^> Ask")
        say(c, "/undo", r"no tool changed a file")
        say(c, "go", r"^First\.")
        say(c, "more", r"^Second\.")
        t.same((read(t, "old.txt"), there(t, "gone.sh")), ("changed twice\n", False))
        seen = say(c, "/undo", r"undid the changes from 'more'")
        t.true("gone.sh: restored" in seen and "old.txt: restored" in seen, seen)
        t.same((read(t, "old.txt"), read(t, "gone.sh"), mode(t, "gone.sh")), ("changed\n", "echo x\n", 0o755))
        t.true(there(t, "new/deep/a.txt"), "the previous turn was also undone")
        say(c, "/undo", r"undid the changes from 'go'")
        t.same((read(t, "old.txt"), mode(t, "old.txt"), there(t, "new")), ("original\n", 0o640, False))
        say(c, "/undo", r"nothing to undo: no tool changed a file in this session, or all changes were\n  undone")
        say(c, "and now?", r"^Third\.")
        leave(t, c)
    last = texts(the_session(t))[-1]
    t.true("undid your changes" in last and "gone.sh" in last and last.endswith("and now?"), last)


@case("chat: /undo refuses, and changes nothing, if a file was changed otherwise", who="root")
def _(t):
    t.file("a.txt", "a\n")
    t.file("b.txt", "b\n")
    with chat(t, [call("write_file", path="a.txt", content="A\n"), call("write_file", path="b.txt", content="B\n")], [{"text": "First."}]) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^First\.")
        t.file("b.txt", "mine\n")
        seen = say(c, "/undo", r"nothing was undone")
        t.true("'b.txt'" in seen and "'a.txt'" not in seen, seen)
        t.same((read(t, "a.txt"), read(t, "b.txt")), ("A\n", "mine\n"))
        leave(t, c)


@case("chat: /undo in another process, after a kill", who="root")
def _(t):
    t.file("a.txt", "a\n")
    with chat(t, [call("write_file", path="a.txt", content="A\n")], [{"text": "First."}, {"delay_ms": 60000}, {"text": "never"}]) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^First\.")
        c.kill(signal.SIGKILL)
        c.event("end")
    t.same(read(t, "a.txt"), "A\n")
    with chat(t, [{"text": "x"}], options=("--continue",)) as c:
        c.shows(r"^> Ask")
        say(c, "/undo", r"undid the changes from 'go'")
        t.same(read(t, "a.txt"), "a\n")
        leave(t, c)


@case("chat: /diff shows the session's changes, in colours", who="root")
def _(t):
    t.file("a.txt", "one\ntwo\nthree\n")
    with chat(t, [call("write_file", path="a.txt", content="one\n2\nthree\n"), call("write_file", path="n.txt", content="new ```\n")],
              [{"text": "First."}], [call("write_file", path="a.txt", content="one\n2\n3\n")], [{"text": "Second."}], rows=40) as c:
        c.shows(r"^> Ask")
        say(c, "/diff", r"no tool changed a file")
        say(c, "go", r"^First\.")
        say(c, "more", r"^Second\.")
        seen = say(c, "/diff", r"\+\+\+ b/n\.txt(.|\n)*\+new ```")
        t.true(re.search(r"-two\n *-three\n *\+2\n *\+3", seen), seen)
        t.true(re.search(rb"\033\[[0-9;]*32m[^\033]*\+3", c.all) and re.search(rb"\033\[[0-9;]*31m[^\033]*-three", c.all), c.all[-3000:])
        say(c, "/undo", r"undid the changes from 'more'")
        say(c, "/undo", r"undid the changes from 'go'")
        say(c, "/diff", r"n\.txt: deleted\n· no tool changed a file")
        leave(t, c)


@case("chat: /compact continues with a summary", who="root")
def _(t):
    with chat(t, [{"text": "Long ago. " * 50}], [{"text": "Shortly."}], [{"text": "All in one."}], [{"text": "After."}]) as c:
        c.shows(r"^> Ask")
        say(c, "/compact", r"nothing to summarize yet")
        say(c, "one", r"^Long ago")
        say(c, "two", r"^Shortly\.")
        say(c, "/compact", r"continuing with a summary")
        say(c, "three", r"^After\.")
        leave(t, c)
    found = the_session(t)
    notes = [m for m in found if m["type"] == "compaction"]
    t.same(len(notes), 1, found)
    t.true("All in one." in json.dumps(notes[0]), notes)


@case("chat: an interrupted or failed /compact changes nothing", who="root")
def _(t):
    with chat(t, [{"text": "First."}], [{"delay_ms": 60000}, {"text": "never"}], [{"text": "After."}]) as c:
        c.shows(r"^> Ask")
        say(c, "one", r"^First\.")
        say(c, "/compact", r"summarizing the conversation")
        c.send(b"\x03")
        c.shows(r"interrupted")
        say(c, "two", r"^After\.")
        leave(t, c)
    t.true(all(m["type"] != "compaction" for m in the_session(t)), "there is a summary")


@case("chat: /fork continues in a new session; /session returns", who="root")
def _(t):
    with chat(t, [{"text": "First."}], [{"text": "Second."}], [{"text": "In the fork."}], [{"text": "In a new one."}], rows=50) as c:
        c.shows(r"^> Ask")
        say(c, "one", r"^First\.")
        say(c, "two", r"^Second\.")
        old = list(sessions(t))[0]
        say(c, "/fork 5", r"from 0 to 4")
        say(c, "/fork x", r"from 0 to 4(.|\n)*from 0 to 4")
        say(c, "/fork 2", r"with 2 messages")
        say(c, "three", r"^In the fork\.")
        say(c, "/session", r"other sessions of this directory(.|\n)*" + old[:8])
        say(c, "/session nonsense", r"no such session 'nonsense'")
        seen = say(c, f"/session {old[:8]}", r"with 4 messages(.|\n)*> two")
        t.true("Second." in seen, seen)
        say(c, f"/session {old}", r"is the current session")
        say(c, "/session new", r"with 0 messages")
        say(c, "four", r"^In a new one\.")
        leave(t, c)
    found = sessions(t)
    t.same(len(found), 3, found.keys())
    t.true(["four"] in [texts(m) for m in found.values()], found)
    t.same(texts(found[old]), ["one", "two"])
    t.true(["one", "three"] in [texts(m) for m in found.values()], found)


@case("chat: /session reports which process uses the requested one", who="root")
def _(t):
    with chat(t, [{"text": "First."}]) as c:
        c.shows(r"^> Ask")
        say(c, "one", r"^First\.")
        old = list(sessions(t))[0]
        with chat(t, [{"text": "First."}]) as other:
            other.shows(r"^> Ask")
            say(other, f"/session {old[:8]}", r"is in use by")
            leave(t, other)
        leave(t, c)


@case("chat: /export as Markdown and JSON", who="root")
def _(t):
    with chat(t, [{"text": "I ```look``` at it."}, call("list_dir", path=".")], [{"text": "**Done.**"}]) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^Done\.")
        say(c, "/export talk.md", r"written to talk\.md")
        say(c, "/export talk.md", r"already exists")
        say(c, "/export --force talk.md", r"already exists(.|\n)*written to talk\.md")
        say(c, "/export talk.txt", r"must end in \.md")
        say(c, "/export no/such/x.md", r"cannot open the directory")
        say(c, "/export talk.json", r"written to talk\.json")
        leave(t, c)
    text = read(t, "talk.md")
    t.true(re.search(r"## You\n\ngo\n\n## Answer\n\nI ```look``` at it\.\n\n\*\*list_dir\*\*\n\n```json\n(.|\n)*\*\*Done\.\*\*", text), text)
    t.same(mode(t, "talk.md"), 0o600)
    wanted = subprocess.run([t.cordon, "sessions", "export", list(sessions(t))[0]], env={**os.environ, **t.env}, stdout=subprocess.PIPE, check=True)
    t.same(read(t, "talk.json"), wanted.stdout.decode())


@case("chat: /approve shows and changes which calls need confirmation", who="root")
def _(t):
    turns = [[call("write_file", path=f"{i}.txt", content="x")] for i in range(4)]
    with chat(t, turns[0], [{"text": "Zero."}], turns[1], [{"text": "One."}], turns[2], [{"text": "Two."}], turns[3], [{"text": "Three."}],
              rows=60) as c:
        c.shows(r"^> Ask")
        say(c, "/approve", r"approval never")
        say(c, "go", r"^Zero\.")
        say(c, "/approve nonsense", r"neither a mode \(never, on-request or always\)")
        say(c, "/approve no_tool:x", r"no_tool")
        say(c, "/approve -shell:x", r"no such rule in this conversation")
        say(c, "/approve on-request", r"approval on-request")
        say(c, "/approve 'write_file:1.txt'", r"in this conversation:\n *write_file:1\.txt")
        say(c, "go", r"^One\.")
        c.send(b"go\r")
        c.shows(r"2\.txt(.|\n)*\[y\]es")
        c.send(b"n")
        c.shows(r"^Two\.")
        t.true(not there(t, "2.txt"), "it was written")
        say(c, "/approve never", r"approval never(.|\n)*approval never")
        say(c, "go", r"^Three\.")
        t.true(there(t, "3.txt"), "it was not written")
        leave(t, c)


@case("chat: /approve during a turn applies from the next call on", who="root")
def _(t):
    with chat(t, [held()], [call("write_file", path="x.txt", content="x")], [{"text": "The end."}],
              options=("--approval", "always")) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^\[y\]es")
        c.send(b"y")
        c.shows(r"^[⠋⠙⠸⠴⠦⠇] shell until")
        say(c, "/approve never", r"takes effect at the next tool call")
        release(t)
        c.shows(r"^The end\.")
        leave(t, c)
    t.true(there(t, "x.txt"), "it was not written")


@case("chat: /model shows the model, and changes it", who="root")
def _(t):
    with chat(t, [{"text": "First."}]) as c:
        c.shows(r"^> Ask")
        say(c, "/model", r"model: m \(scripted\)")
        say(c, "/model two words", r"one word")
        say(c, "/model other-1", r"model: other-1 \(scripted\)")
        say(c, "go", r"^First\.")
        t.true(re.search(r"other-1", c.lines()[-2] + text_of(c.lines())), c.lines())
        leave(t, c)


@case("chat: !command runs in the sandbox, is shown, and is sent to the model with the next prompt", who="root")
def _(t):
    with chat(t, [{"text": "First."}], [{"text": "Second."}], options=("--approval", "always")) as c:
        c.shows(r"^> Ask")
        say(c, "!", r"!COMMAND runs a command")
        say(c, "!echo fi''ne", r"^ *fine")
        say(c, "!echo br''oken; exit 3", r"broken\n(.|\n)*failed with exit status 3")
        say(c, "!cat /etc/sha''dow", r"denied|No such")
        say(c, "go", r"^First\.")
        say(c, "again", r"^Second\.")
        leave(t, c)
    first, second = texts(the_session(t))
    t.true("echo fi''ne" in first and "\nfine]" in first and "exit status 3" in first and first.endswith("\n\ngo"), first)
    t.same(second, "again")


@case("chat: commands wait until the turn is over, ahead of queued input", who="root")
def _(t):
    t.file("a.txt", "a\n")
    with chat(t, [call("write_file", path="a.txt", content="A\n")], [{"text": "One. "}, held()], [{"text": "End."}],
              [{"text": "Two."}], rows=40) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^One\.")
        say(c, "and then?", r"^queued: and then")
        say(c, "/undo", r"^queued: /undo")
        say(c, "!echo wai''ted", r"^queued: !echo")
        release(t)
        seen = text_of(c.shows(r"^Two\."))
        t.true(re.search(r"End\.\n(.|\n)*undid the changes(.|\n)*^ *waited(.|\n)*^> and then\?(.|\n)*Two", seen, re.M), seen)
        t.same(read(t, "a.txt"), "a\n")
        leave(t, c)
    last = texts(the_session(t))[-1]
    t.true("undid your changes" in last and "waited" in last and last.endswith("and then?"), last)


@case("chat: !command can be interrupted, and has to wait", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, {"delay_ms": 60000}, {"text": "never"}], [{"text": "Two."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"!sleep 60; echo ne''ver\r")
        c.shows(r"! sleep 60(.|\n)*\d s")
        c.send(b"\x03")
        seen = text_of(c.shows(r"interrupted"))
        t.true(not re.search(r"^ *never", seen, re.M), seen)
        say(c, "go", r"^One\.")
        say(c, "!echo nev''er", r"^queued: !echo")
        c.send(b"\x03")
        c.shows(r"interrupted(.|\n)*interrupted")
        seen = say(c, "again", r"^Two\.")
        t.true(not re.search(r"^ *never", seen, re.M), seen)
        leave(t, c)


@case("chat: text that only starts with a slash is sent to the model; unknown commands and arguments are reported", who="root")
def _(t):
    with chat(t, [{"text": "Seen."}], rows=50) as c:
        c.shows(r"^> Ask")
        say(c, "/nonsense", r"no such command")
        say(c, "/undo now", r"/undo takes no arguments")
        say(c, "/help", r"/undo(.|\n)*/export(.|\n)*!COMMAND")
        say(c, "/etc/hosts is what?", r"^Seen\.")
        leave(t, c)


@case("chat: /export --force makes a private file, whatever it replaces", who="root")
def _(t):
    t.file("talk.md", "old", 0o644)
    with chat(t, [{"text": "Said."}]) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^Said\.")
        say(c, "/export --force talk.md", r"written to talk\.md, which only you can read")
        leave(t, c)
    t.same((mode(t, "talk.md"), "Said." in read(t, "talk.md")), (0o600, True))


@case("chat: while !command runs, /approve shows what the model's calls need", who="root")
def _(t):
    with chat(t, options=("--approval", "on-request")) as c:
        c.shows(r"^> Ask")
        c.send(b"!sleep 60\r")
        c.shows(r"! sleep 60(.|\n)*\d s")
        say(c, "/approve", r"approval on-request")
        c.send(b"\x03")
        c.shows(r"interrupted")
        leave(t, c)


@case("chat: queued prompts are sent complete, and any excess stays in the editor", who="root")
def _(t):
    with chat(t, [{"text": "One. "}, {"delay_ms": 600000}], [{"text": "Two. "}, {"delay_ms": 600000}]) as c:
        c.shows(r"^> Ask")
        say(c, "go", r"^One\.")
        for letter in "AB":
            c.send(b"\033[200~" + letter.encode() * 600000 + b"\033[201~\r")
            c.shows(r"^queued: " + letter)
        c.send(b"\033")
        c.expect(rb"Two\.")
        c.all = c.seen = b""
        for _ in range(8):
            c.send(b"\033[200~" + b"C" * 1000000 + b"\033[201~\r")
            c.expect(rb"queued: C")
        c.send(b"\033[200~" + b"D" * 1000000 + b"\033[201~\r")
        c.expect(rb"too many messages are queued: send this when the turn is over")
        c.send(b"\x03")
        c.expect(rb"interrupted")
        c.send(b"\x15\x04")
        t.same(c.finish(), 0)
    last = texts(the_session(t))[-1]
    t.same([last.count(letter) for letter in "ABCD"], [600000, 600000, 0, 0])


@case("chat: /model asks for the key again; the new one is not in the session either", who="root")
def _(t):
    first, second = ("sk-" + word * 5 for word in ("first", "second"))
    key = t.file("key.sh", f"[ -e asked ] && echo {second} || {{ echo {first}; > asked; }}\n")
    t.env["XDG_CONFIG_HOME"] = t.directory("settings")
    os.mkdir(os.path.join(t.env["XDG_CONFIG_HOME"], "cordon"))
    with open(os.path.join(t.env["XDG_CONFIG_HOME"], "cordon", "config.yaml"), "w", encoding="utf-8") as f:
        f.write(f"provider: openai\nmodel: m\nbase_url: http://127.0.0.1:9\nkey_command: sh {key}\n")
    t.env["CORDON_HOME"] = t.directory("state")
    with Screen(t, [t.cordon, "chat", "--max-retries", "0"]) as c:
        c.shows(r"^> Ask")
        say(c, "/model other", r"model: other \(openai\)")
        say(c, f"my keys: {first} {second}", r"cannot connect")
        leave(t, c)
    t.same(texts(the_session(t)), ["my keys: [masked] [masked]"])


if __name__ == "__main__":
    sys.exit(main())
