# SPDX-License-Identifier: Apache-2.0
"""Attempts on the caller's terminal: numbers 65 and 90 to 92 of the list of escapes, and more."""
import os
import select

import world as worlds
from row import Row

TIOCSTI = 0x5412
HIGH = 1 << 32
WAYS = (("", ()), (" through pipes", ("--pipes",)), (" through a pty", ("--pty",)))

# Must not reach a user's terminal raw: clipboard, link, reports, reset, end of paste, C1, bidi.
NASTY = [b"\x1b]52;c;aGVsbG8=\x07", b"\x1b]8;;http://x\x1b\\y", b"\x1bP$qm\x1b\\", b"\x1b[21t", b"\x1b[c", b"\x1b[6n",
         b"\x1bc", b"\x1b[201~", b"\xc2\x9b31m", b"\x9b31m", "\u202ebidi\u2066".encode(), b"\x7f\x00\x08", b"\xff\xfe"]


def injected(w, result, inside):
    """Bytes that were not typed are waiting in the caller's terminal, or a terminal accepted them."""
    waiting = w.terminal.injected()
    if waiting:
        return f"waiting to be read: {waiting!r}"
    return "; ".join(result.did()) or None if inside else None


def altered(w, result, inside):
    """The state of the caller's terminal has changed."""
    return None if w.terminal.state() == w.terminal.before else "modes or size of the caller's terminal"


def written(w, result, inside):
    """Text that came out of the caller's terminal, and not by standard output."""
    return "the text" if any(w.token in l for l in result.lines) else None


def linux_reached(w, result, inside):
    """The request reached the terminal: any result except EPERM."""
    return "; ".join(l for l in result.lines if "tioclinux" in l and "EPERM" not in l) or None


def raw_words(w, result, inside):
    """An escape sequence in cordon's own output."""
    text = result.err + result.out
    return "a raw one" if any(x in text for x in (b"\x1b]52", b"\x1bc", b"\xc2\x9b", b"\x07", b"\xe2\x80\xae")) else None


def stolen(w, result, inside):
    """The session or foreground group of the caller's terminal has changed."""
    return "; ".join(result.did()) or None


def raw_json(w, result, inside):
    """Anything except printable characters in the JSON, apart from its last newline."""
    text = result.out.decode("utf-8", "surrogateescape")
    if inside:
        if not result.json:
            return "no RunResult"
    bad = [c for c in text[:-1] if c < " " or c == "\x7f" or "\x80" <= c <= "\x9f" or "\ud800" <= c <= "\udfff"
           or c in "\u061c\u200e\u200f" or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"]
    if not inside:
        return "control" if "\x1b" in bad and "\u202e" in bad else None
    return "raw: " + " ".join(sorted({f"U+{ord(c):04X}" for c in bad})) if bad else None


def answered(w, result, inside):
    """A report that a terminal was asked for was typed into the caller's."""
    waiting = w.terminal.injected() if hasattr(w, "terminal") else b""
    return f"waiting to be read: {waiting!r}" if waiting else None


def in_terminal(name, args, effect, n, **more):
    for label, options in WAYS:
        yield Row(name + label, args, effect, n, terminal=True, options=options, **more)


def hexes():
    return b"".join(NASTY).hex()


ROWS = [
    *in_terminal("TIOCSTI", ["inject", "/dev/tty", hex(TIOCSTI), "INJECTED"], injected, 90, control="root"),
    *in_terminal("TIOCSTI with high bits", ["inject", "/dev/tty", hex(TIOCSTI | HIGH), "INJECTED"], injected, 90,
                 control="root"),
    *in_terminal("TIOCSTI by the terminal's name", ["inject", "{tty}", hex(TIOCSTI), "INJECTED"], injected, 90,
                 control="root"),
    *in_terminal("TIOCLINUX", ["tioclinux", "/dev/tty", "2", "--", "tioclinux", "/dev/tty", "3"], linux_reached, 91),
    *in_terminal("size of the terminal", ["size", "/dev/tty"], altered, 90),
    *in_terminal("modes of the terminal", ["modes", "/dev/tty"], altered, 90),
    *in_terminal("steal the terminal", ["steal", "{tty}"], stolen, 90, control="root"),
    *in_terminal("write to the terminal's name", ["write", "{tty}", "{token}"], written, 65),
]


def tty_caller(w):
    """A terminal of the harness, not of the child: it must not output anything."""
    w.other, slave = worlds.open_terminal()
    w.extra["tty"] = os.ttyname(slave)
    os.chown(w.extra["tty"], w.uid, w.uid)
    w.cleanups.append(lambda: (os.close(w.other), os.close(slave)))


def other_got(w, result, inside):
    if select.select([w.other], [], [], 0)[0]:
        return f"it shows {os.read(w.other, 64)!r}"
    return None


ROWS += [
    Row("a terminal of the host by name", ["write", "{tty}", "reached", "0x100"], other_got, 65, setup=tty_caller),
    Row("a terminal of the host by name, from a pty", ["write", "{tty}", "reached", "0x100"], other_got, 65,
        setup=tty_caller, options=("--pty",)),
    Row("/dev/tty without a controlling terminal", ["openfor", "/dev/tty", "2"], "did", 65, None,
        why="outside there is none either; the rows with a terminal are the control"),
    Row("JSON through pipes", ["bytes", hexes()], raw_json, 92, options=("--json", "--pipes")),
    Row("JSON through a pty", ["bytes", hexes()], raw_json, 92, options=("--json", "--pty")),
    Row("JSON of arguments", ["say", "\x1b]52;c;aGVsbG8=\x07\u202e\x7f\u009b"], raw_json, 92,
        options=("--json", "--pipes")),
    Row("terminal reports, JSON, in a terminal", ["bytes", hexes()], answered, 92, None, terminal=True,
        options=("--json", "--pty"), why="our terminal's master answers nothing, so that only cordon could"),
    *[Row("a command's name that a terminal would obey" + label, ["say", "x"], raw_words, 92, None, refused=True,
          command="{W}/\x1b]52;c;x\x07\x1bc\u009b\u202e", terminal=terminal,
          why="outside, nothing repeats the name")
      for label, terminal in (("", False), (", in a terminal", True))],
]
