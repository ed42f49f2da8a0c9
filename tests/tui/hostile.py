#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cordon chat` with hostile input: from a model, a file, a service, or a paste.

For any input, only printable text and the few escape sequences of the interface reach the terminal."""
import json
import os
import random
import re
import sys
import unicodedata

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from harness import case, factor, main  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position

SECONDS = 10  # for a text that was made to take long
MEMORY = 256 << 20
# Cursor movement, erasing, line breaks, colours; cursor visibility, pastes, frames; links; the end of a sequence that was cut
# before the terminal is restored. No queries: there may be no reply. The drawing uses a backspace to move one column left;
# those of a model are shown as text, which the golden of the scenario `hostile` checks.
SEQUENCE = re.compile(
    r"\r|\x08|\x18(?=\033\[\?2026l)|\n|\033(?:[78]|\[\d*[ABCGKJL]|\[[\d;:]*m|\[\?(?:25|2004|2026)[hl]|\]8;;(?:(?:https?://|mailto:)[!-~]*)?\033\\)")
TURNS_TEXT = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029}

BAD = ["\033[2J", "\033]0;owned\a", "\033]52;c;b3duZWQ=\a", "\033[?1049h", "\033[3J", "\033c", "\033P1$q\033\\", "\033[6n",
       "\033[c", "\033]8;;https://x.org\033\\", "\033_x\033\\", "\033", "\u009b31m", "\u009d0;x\u009c", "\u0090", "\x07", "\x08",
       "\x0b", "\x0c", "\x0e", "\x0f", "\x7f", "\x1a", "\r", "\r\n", "\t", "\u202e", "\u2066", "\u2069", "\u200f", "\u061c",
       "\u2028", "\u2029", "\u0085", "\ufeff", "\u200b", "\u00ad", "\u0301" * 50, "\u1160", "\U000e0041", "\ue000", "\ufffe",
       "👩‍🌾", "🇩🇪", "日本", "a\u0301", "ﷺ", "𒐫"]
MARKDOWN = ["# ", "**", "`", "```\n", "- ", "1. ", "> ", "|", "\n", "\n\n", "[x](", ")", "<b>", "<!-- ", "| a | b |\n|---|---|\n", "~~",
            "![i](", "https://x.org/", "&#27;", "&#x202e;", "&#155;", "\\", "word ", "[x](https://x.org/&#27;]8;;)", "---\n", "    "]


def strange(source, pieces):
    return "".join(source.choice(BAD if source.random() < 0.4 else MARKDOWN) for _ in range(pieces))


def call(name, **arguments):
    return {"tool_call": {"name": name, "arguments": arguments}}


def chat(t, *turns, model="m", options=(), **more):
    t.env["CORDON_HOME"] = t.directory("state")
    turns = [turn if isinstance(turn, dict) else {"content": turn} for turn in turns]
    script = t.file("script.json", json.dumps({"version": 1, "model": model, "turns": turns}))
    return Screen(t, [t.cordon, "chat", "--script", script, *options], **more)


def judge(t, c):
    """Checks for printable text and known escape sequences, nothing else."""
    text, at = c.all.decode(), 0
    while at < len(text):
        match = SEQUENCE.match(text, at)
        if match:
            at = match.end()
            continue
        near = repr(text[max(0, at - 40):at + 40])
        t.true(unicodedata.category(text[at]) != "Cc", f"a control character: {near}")
        t.true(ord(text[at]) not in TURNS_TEXT, f"direction controls: {near}")
        at += 1


def leave(t, c):
    c.send(b"\x04")
    t.same(c.finish(), 0)
    judge(t, c)


for seed in range(4):
    @case(f"hostile: a model that sends random output ({seed})", who="root")
    def _(t, seed=seed):
        source = random.Random(seed)
        parts = [{"text": strange(source, 60) + "\n\n"} for _ in range(60)]
        parts += [{"thinking": strange(source, 20)}]
        parts += [call(source.choice(("read_file", "list_dir", "no_such_tool", strange(source, 3) or "x")), path=strange(source, 5))
                  for _ in range(20)]
        with chat(t, {"content": parts, "delta_bytes": source.choice((1, 3, 7, 100))}, [{"text": "\n\nDone."}],
                  model=strange(source, 5), cols=source.choice((40, 80, 133))) as c:
            c.shows(r"^> Ask")
            c.send(b"go\r")
            c.shows(r"^Done\.")
            c.send(b"\x0f")
            c.send(b"x")
            c.shows(r"^> x")
            c.send(b"\x15")
            leave(t, c)


@case("hostile: malicious file names and contents are shown escaped", who="root")
def _(t):
    source = random.Random(1)
    for i in range(30):
        name = re.sub(r"[/\0\ud800-\udfff]", "", strange(source, 6))[:40] + str(i)
        t.file(name, strange(source, 40))
    os.rename(t.file("raw"), os.path.join(os.fsencode(t.work), b"raw\xff\xfe\x9b2J"))
    calls = [call("read_file", path=name) for name in sorted(os.listdir(t.work)) if name.isascii()]
    with chat(t, [call("list_dir", path="."), *calls, call("read_file", path="gone")], [{"text": "Done."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"^Done\.")
        for _ in range(3):
            c.send(b"\x0f")
        c.send(b"@")
        c.shows(r"^> @\n  @")
        c.send(b"\x15x")
        c.shows(r"^> x")
        c.send(b"\x15")
        leave(t, c)


@case("hostile: a confirmation of malicious text shows it escaped", who="root")
def _(t):
    with chat(t, [call("shell", command="echo harmless\r\033[2K\033[1Arm -rf /\u202e\n" + " " * 300 + "evil")], [{"text": "Done."}],
              options=("--approval", "always")) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        lines = c.shows(r"\[y\]es")
        seen = "\n".join(lines)
        t.true("echo harmless\\r\\x1B[2K\\x1B[1Arm -rf /\\u{202E}" in seen and "evil" in seen, seen)
        c.send(b"n")
        c.shows(r"^Done\.")
        leave(t, c)


@case("hostile: a malicious service error is shown escaped", who="root")
def _(t):
    with chat(t, {"error": {"status": 400, "message": "".join(BAD)}}) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        c.shows(r"✗ ")
        leave(t, c)


@case("hostile: a malicious paste is shown, not executed", who="root")
def _(t):
    paste = "".join(piece for piece in BAD if "201~" not in piece).encode()
    with chat(t, [{"text": "Done."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"\033[200~" + paste + b"\xff\xfe\x9b\033[201~!")
        c.shows(r"!$")
        c.send(b"\r")
        c.shows(r"^Done\.")
        leave(t, c)


@case("hostile: resizing to all sizes during much output, and back", who="root")
def _(t):
    text = [part for i in range(40) for part in ({"text": f"# Part {i}\n\n" + "words and 言葉, " * 20 + "\n\n- a\n- b\n\n"}, {"delay_ms": 20})]
    with chat(t, [*text, call("list_dir", path=".")], [{"text": "Done."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        for rows, cols in ((1, 1), (1, 80), (2, 2), (24, 1), (3, 10), (24, 5), (500, 500), (5, 40), (1, 200), (2, 3)) * 3:
            c.send(b"x")
            c.resize(rows, cols)
            c.expect(rb"\033\[\?2026l")
        c.resize(24, 80)
        c.expect(rb"Done\.")
        c.send(b"\x15y")
        lines = c.shows(r"^> y$")
        t.same(len([line for line in lines if "restricted" in line]), 1, lines)
        c.send(b"\x15")
        leave(t, c)


@case("hostile: a terminal that does not read for a while", who="root")
def _(t):
    with chat(t, [{"text": "x" * 300 * 1000}, call("write_file", path="written", content="")], [{"text": "\n\nDone."}]) as c:
        c.shows(r"^> Ask")
        c.send(b"go\r")
        while not os.path.exists(os.path.join(t.work, "written")):  # the model's turn does not wait for the terminal
            t.true(b"end " not in c.raw_events, "it has ended")
            c.pump(0.01, read=False)
        c.expect(rb"Done\.")
        c.shows(r"^Done\.")
        leave(t, c)


MUCH = 300 * 1000
SLOW = {
    "one line": "x" * 1000 * 1000, "words": "word " * (MUCH // 5), "stars": "*" * MUCH, "stars and letters": "*a" * (MUCH // 2),
    "brackets": "[" * MUCH, "links": "[a](" * (MUCH // 4), "backticks": "`" * MUCH, "backticks and letters": "`a``b" * (MUCH // 5),
    "quotes": "> " * (MUCH // 2), "lists": "- " * (MUCH // 2), "lists in lists": "".join(" " * i + "- a\n" for i in range(800)),
    "a bar": "|" * MUCH, "a wide table": "| a " * 9000 + "|\n" + "|---" * 9000 + "|\n" + ("| b " * 9000 + "|\n") * 6,
    "a long table": "| a | b |\n|---|---|\n" + "| c | d |\n" * (MUCH // 10), "tags": "<" * MUCH, "entities": "&" * MUCH,
    "marks": "a" + "\u0301" * (MUCH // 2), "joiners": "👩\u200d" * (MUCH // 7), "line ends": "\n" * MUCH,
    "carriage returns": "\r" * MUCH, "escapes": "\033" * MUCH, "code": "```c\n" + "int x; /* y */ " * (MUCH // 15),
    "comments": "```c\n" + "/*" * (MUCH // 2), "tabs": "\t" * MUCH, "wide letters": "水" * (MUCH // 3),
    "what turns text": "\u202e" * (MUCH // 3),
}
for name, text in SLOW.items():
    @case(f"hostile: very large input: {name}", who="root")
    def _(t, text=text):
        with chat(t, {"content": [{"text": text}, call("list_dir", path=text)], "delta_bytes": 4096}, [{"text": "\n\nDone."}]) as c:
            c.shows(r"^> Ask")
            c.send(b"go\r")
            c.expect(rb"Done\.")
            c.shows(r"^Done\.")
            with open(f"/proc/{c.job}/stat", "rb") as f:
                fields = f.read().rsplit(b")", 1)[1].split()
            spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            with open(f"/proc/{c.job}/status", "rb") as f:
                peak = int(re.search(rb"VmHWM:\s*(\d+)", f.read())[1]) << 10
            t.true(spent < SECONDS * factor(), f"{spent} s of the processor")
            t.true(peak < MEMORY * factor(), f"{peak >> 20} MiB")
            c.send(b"x")
            c.shows(r"^> x")
            c.send(b"\x15")
            leave(t, c)


if __name__ == "__main__":
    sys.exit(main())
