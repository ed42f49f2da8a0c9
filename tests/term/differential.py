#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our terminal and @xterm/headless get the same streams, made from seeds, and must show the same:
text, width, colours and attributes of each cell, the cursor, the alternate screen, the scrollback.

    differential.py --dump build/tests/term_dump --modules build/npm/node_modules [--seeds 0-499]

A cell is written WIDTH.CODEPOINT…,FG,BG,ATTRIBUTES; an empty one has only a background. A failure
prints the seed, a short sequence of the stream's pieces that still differs, and the first differing cells.

Omissions are commented at their place in the generator: those are the deliberate differences.
"""
import argparse
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

PIECES = 60
SIZES = ((24, 80), (10, 20), (5, 40), (12, 33), (3, 8), (40, 100))


class Maker:
    """Makes the pieces of one stream."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.rows, self.cols = self.rng.choice(SIZES)
        self.grounds = 38, 48

    def n(self, most):
        return self.rng.randint(1, most)

    def count(self, most):
        """A parameter: often omitted, sometimes 0, sometimes too large."""
        roll = self.rng.random()
        return "" if roll < 0.2 else "0" if roll < 0.25 else "999" if roll < 0.3 else str(self.n(most))

    # Text. Widths differ by the Unicode version beyond CJK, and xterm's core has no grapheme clusters:
    # no emoji, no combining marks here. U+FFFD for invalid bytes: xterm drops them, so all is valid UTF-8.
    # No underscore: in the line-drawing charset it is a blank (VT220 manual), but xterm.js shows it.
    def ascii(self):
        return "".join(self.rng.choices("abcdefghijXYZ 0123456789#~`{|}", k=self.n(self.cols)))

    def wide(self):
        return "".join(self.rng.choice("日本語漢字かなカナ한글") if self.rng.random() < 0.6 else
                       self.rng.choice("abc éß ") for _ in range(self.n(self.cols)))

    def controls(self):
        return self.rng.choice(("\r\n", "\n", "\r", "\b", "\t", "\v", "\f", "\t\t", "\b\b\b", "\r\n\r\n", "\x07"))

    def colours(self):
        rng = self.rng

        def one():
            roll = rng.randrange(8)
            ground = rng.choice(self.grounds)
            if roll == 0:
                return f"{ground};5;{rng.randrange(256)}"
            if roll == 1:
                return f"{ground};2;{rng.randrange(256)};{rng.randrange(256)};{rng.randrange(256)}"
            if roll == 2:
                return f"{ground}:2::{rng.randrange(256)}:{rng.randrange(256)}:{rng.randrange(256)}"
            if roll == 3:
                return rng.choice(("", "0", "39", "49"))
            if roll == 4:
                return str(ground - 8 + rng.choice((0, 60)) + rng.randrange(8))
            if roll == 5:
                return str(rng.choice((22, 23, 24, 25, 27, 28, 29, 55)))
            # 6, rapid blink: xterm.js ignores it, ours distinguishes it. 21: both underline twice.
            return str(rng.choice((1, 2, 3, 4, 5, 7, 8, 9, 21, 53)))
        return "\x1b[" + ";".join(one() for _ in range(self.n(3))) + "m"

    def move(self):
        final = self.rng.choice("ABCDEFGd`aeHf")
        if final in "Hf":
            return f"\x1b[{self.count(self.rows)};{self.count(self.cols)}{final}"
        return f"\x1b[{self.count(self.cols if final in 'CDG`a' else self.rows)}{final}"

    def erase(self):
        # ED 3 clears the scrollback of both; 2 and the others keep it (scrollOnEraseInDisplay is off).
        # After the last column xterm.js erases nothing to the right, and keeps the pending wrap; xterm
        # erases the last cell. At ED 1 there, in the last row, xterm.js throws an exception.
        final = self.rng.choice("JK")
        what = self.rng.choice(("", "0", "1", "2"))
        return ("\r" if final == "J" and what == "1" else "\b") + f"\x1b[{what}{final}"

    def edit(self):
        final = self.rng.choice("@PXLM")
        # Outside the margins IL and DL do nothing, as in xterm; xterm.js clears the pending wrap.
        return ("\b" if final in "LM" else "") + f"\x1b[{self.count(6)}{final}"

    def scroll(self):
        # Rows that SD inserts have the background colour, as in xterm and VTE; xterm.js has none here.
        return self.rng.choice((f"\x1b[{self.count(4)}S", f"\x1b[49m\x1b[{self.n(4)}T", "\x1bM", "\x1bD", "\x1bE"))

    def region(self):
        if self.rng.random() < 0.3:
            return "\x1b[r"
        top = self.n(self.rows - 1)
        return f"\x1b[{top};{self.rng.randint(top + 1, self.rows)}r"

    def tabs(self):
        # After the last column xterm.js does nothing at CBT.
        return self.rng.choice(("\x1bH", "\x1b[g", "\x1b[3g", f"\x1b[{self.n(3)}I", f"\b\x1b[{self.n(3)}Z", "\t"))

    def insert(self):
        return self.rng.choice(("\x1b[4h", "\x1b[4l", "\x1b[4l"))

    def origin(self):
        # Absolute positions only: xterm.js also adds the margin to relative movement.
        return f"\x1b[?6h\x1b[{self.count(self.rows)};{self.count(self.cols)}H" + self.ascii() + "\x1b[?6l"

    def no_wrap(self):
        # Without wrapping xterm.js allows the cursor beyond the last column, and wraps late when it is
        # enabled again: so the cursor leaves the edge first.
        return "\x1b[?7l" + self.ascii() + "\r\x1b[?7h"

    def alternate(self):
        # 47 and 1047 clear nothing when they are set (xterm's control sequences); xterm.js clears. 1049 that
        # changes nothing does nothing here; xterm.js still saves or restores the cursor.
        inside = [self.rng.choice((self.ascii, self.controls, self.move, self.erase, self.edit))() for _ in range(9)]
        return "\r\x1b[?1049h" + "".join(inside) + "\x1b[?1049l"

    def saved(self):
        # A saved position on the screen is unchanged when the screen scrolls; xterm.js moves it with the text.
        # So nothing scrolls between the two. A pending wrap is kept (DEC STD 070), xterm.js drops it.
        save, restore = self.rng.choice((("\x1b7", "\x1b8"), ("\x1b[s", "\x1b[u")))
        return "\r" + save + self.move() + self.colours() + restore

    def charset(self):
        return self.rng.choice(("\x1b(0", "\x1b(B", "\x1b(B", "\x1b)0", "\x0e", "\x0f", "\x0f"))

    def repeat(self):
        return f"x\x1b[{self.n(self.cols)}b"

    def reset(self):
        # DECALN's letters have no colour, and it resets the margins (VT510 manual, xterm); xterm.js uses
        # the pen's, and keeps the margins.
        return self.rng.choice(("\x1b[!p", "\x1b[m\x1b[r\x1b#8"))

    def pieces(self):
        weights = {self.ascii: 10, self.wide: 5, self.controls: 8, self.colours: 8, self.move: 10, self.erase: 4,
                   self.edit: 6, self.scroll: 4, self.region: 2, self.origin: 1, self.tabs: 3, self.insert: 2,
                   self.no_wrap: 1, self.alternate: 1, self.saved: 2, self.charset: 2, self.repeat: 1, self.reset: 0.3}
        # Each stream has only some of the kinds, which makes differences easier to find.
        some = [kind for kind in weights if kind == self.ascii or self.rng.random() < 0.6]
        if self.alternate in some:
            # Margins and tab stops belong to the terminal; in xterm.js, to each of its screens.
            some = [kind for kind in some if kind not in (self.region, self.tabs, self.reset)]
        if self.wide in some:
            # Half of a wide character that is overwritten leaves a blank: here in its own background, in xterm.js
            # in the pen's.
            self.grounds = (38,)
        first = ["\x1b[?1049h"] if self.alternate not in some and self.rng.random() < 0.2 else []
        makes = self.rng.choices(some, weights=[weights[kind] for kind in some], k=PIECES)
        return first + [make() for make in makes]


class Side:
    """A process that prints the result of a stream."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, rows, cols, stream):
        self.process.stdin.write(f"{rows} {cols} {len(stream)}\n".encode() + stream)
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) not in (b".\n", b""):
            lines.append(line.decode().split())
        if not lines:
            raise RuntimeError(f"{self.process.args[0]} ended")
        return lines


class Pair:
    def __init__(self, ours, theirs):
        self.sides = ours, theirs

    def difference(self, rows, cols, pieces):
        """A line for each of the first positions that differ."""
        stream = "".join(pieces)
        ours, theirs = (side.ask(rows, cols, stream.encode()) for side in self.sides)
        found = []
        if re.search(r"\x1b\[\d*S", stream):
            # Lines that SU scrolls off the top are kept above the screen, as in xterm; xterm.js drops them.
            ours[0].pop()
            theirs[0].pop()
        if ours[0] != theirs[0]:
            found.append(f"cursor row, column, alternate, scrollback: ours {ours[0]}, xterm.js {theirs[0]}")
        for y, (a, b) in enumerate(zip(ours[1:], theirs[1:])):
            found += [f"row {y}, column {x}: ours {c}, xterm.js {d}" for x, (c, d) in enumerate(zip(a, b)) if c != d]
        return found[:6]

    def shortest(self, rows, cols, pieces):
        """Removes pieces one by one, as long as there is still a difference."""
        pieces = list(pieces)
        i = len(pieces) - 1
        while i >= 0:
            fewer = pieces[:i] + pieces[i + 1:]
            if self.difference(rows, cols, fewer):
                pieces = fewer
            i = min(i, len(pieces)) - 1
        return pieces


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--seeds", default="0-499")
    args = parser.parse_args()
    first, last = map(int, args.seeds.split("-"))
    script = os.path.join(os.path.dirname(__file__), "xterm.js")
    pair = Pair(Side(args.dump), Side("node", script, os.path.abspath(args.modules)))
    tap = Tap()
    for seed in range(first, last + 1):
        maker = Maker(seed)
        pieces = maker.pieces()
        found = pair.difference(maker.rows, maker.cols, pieces)
        problems = []
        if found:
            short = pair.shortest(maker.rows, maker.cols, pieces)
            problems = [repr("".join(short)), *pair.difference(maker.rows, maker.cols, short)]
        tap.report(f"seed {seed}, {maker.cols}x{maker.rows}", problems)
    return tap.end()


sys.exit(main())
