# SPDX-License-Identifier: Apache-2.0
"""A conversation with `cordon chat` in a terminal, answered by a script: for its tests."""
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position

NEVER = (b"\033[2J", b"\033[3J", b"\033[?1049h", b"\033[?47h", b"\033c")


def call(name, **arguments):
    return {"tool_call": {"name": name, "arguments": arguments}}


def chat(t, *turns, options=(), term="xterm-256color", rows=24, cols=80, **more):
    t.env["TERM"] = term
    if "CORDON_HOME" not in t.env:
        t.env["CORDON_HOME"] = t.directory("state")
    script = t.file("script.json", json.dumps({"version": 1, "model": "m", "turns": [
        turn if isinstance(turn, dict) else {"content": turn} for turn in turns]}))
    return Screen(t, [t.cordon, "chat", "--script", script, *options], rows=rows, cols=cols, **more)


def held():
    """A call that ends when the file "go" exists: a turn lasts until release()."""
    return call("shell", command="until [ -e go ]; do sleep 0.01; done")


def release(t):
    t.file("go")


def session(t):
    """The messages of the only session."""
    found = [os.path.join(top, name) for top, _, names in os.walk(t.env["CORDON_HOME"]) for name in names if name.endswith(".jsonl")]
    t.same(len(found), 1, found)
    with open(found[0], encoding="utf-8") as f:
        return f.read()


def text_of(lines):
    return "\n".join(line.rstrip() for line in lines)


def leave(t, c):
    c.send(b"\x04")
    t.same(c.finish(), 0)
    for never in NEVER:
        t.true(never not in c.all, never)
    t.true(c.all.count(b"\033[?2026h") <= c.all.count(b"\033[?2026l"), "a frame without an end")
