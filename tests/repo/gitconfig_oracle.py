#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Git's configuration is parsed as git parses it, and written so that git reads the same values.

Random texts, most of them nearly valid. Ours refuses what git refuses, and in addition only a NUL byte and an entry
without a section; otherwise both have the same entries. Everything that ours writes is given to git at the end as one file.

    tests/repo/gitconfig_oracle.py --entries build/tests/gitconfig_entries [--cases 3000] [--seconds 8] [--seed 1]
"""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402  pylint: disable=wrong-import-position

READ_AT_LEAST = 200  # fewer would prove nothing
BATCH = 64
HEADERS = [b"[a]", b"[core]", b'[a "b"]', b'[remote "Origin"]', b"[a.b]", b"[A.B]", b'[a.B "C.d"]', b'[a ""]', b"[a.]", b'[a\t "\\"x\\\\y\\z"]',
           b'[a-1 "\xc3\xa9\x01 ]#"]', b'[a "b\r"]', b'[include]', b'[A  "x"] k = v', b'[a][b]', b"[.a]", b'[ "a"]', b"[]", b"[a ]", b"[a_b]",
           b'[a "b" ]', b'[a "b', b'["a"]', b"[ a]"]
NAMES = [b"k", b"K2", b"hooksPath", b"a-b", b"path", b"1k", b"-k", b"a_b", b"k.l", b"\xc3\xa9"]
ASSIGNS = [b" = ", b"=", b"\t=\t", b" =\r", b" ", b"", b"\r= ", b"\x0b= ", b" = = ", b" # ", b" \\\n= "]
VALUES = [b"v", b"a b", b"a  \tb", b" \t ", b"", b'""', b'"a # b"', b'"a;"c"d"', b'a"b" "c"d', b"a # c", b"a;c", b"\\n\\t\\b\\\\\\\"", b"a \\\n b",
          b"a\\\r\n\tb", b'"a \\\n  b"', b'"  a  "', b"\\x", b'"a', b"a\\", b"a\rb", b'"\r"', b"a\x0bb\x0c", b"\xff\xfe", b"a\x7f\x1b[0m", b"!sh -c 'x'",
          b"\\\n", b"  \\\n  x", b"[b] x = y", b'"\\\n"', b'x"\ty"']
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"", b"\r", b" # c\n", b" ; c \\\n", b"\n\n", b"\n# c\n", b"\n\t"]
BYTES = [bytes([b]) for b in b"\n\n\r\t \"\\\"\\[].#;=akN1-_\x00\x01\x0b\x0c\x7f\x80\xef\xbb\xbf"]


def text(rng):
    out = b"\xef\xbb\xbf"[:rng.choice([3, 3, 1, 2])] if rng.random() < 0.1 else b""
    # Odd pieces are rare enough that many texts have none.
    pick = lambda pieces, good: rng.choice(pieces[:good] if rng.random() < 0.9 else pieces)
    for _ in range(rng.randint(1, 4)):
        out += pick(HEADERS, 15) + pick(ENDS, 4)
        for _ in range(rng.randint(0, 3)):
            out += pick([b"\t", b"", b" ", b"\r"], 3) + pick(NAMES, 5) + pick(ASSIGNS, 4) + rng.choice(VALUES) + pick(ENDS, 4)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randint(0, len(out))
        out = out[:at] + rng.choice(BYTES) + out[at + rng.randint(0, 1):]
    return out


class Ours:
    """Our parser, one process for all texts."""

    def __init__(self, path):
        self.child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _answer(self):
        n = int(self.child.stdout.readline())
        return None if n < 0 else self.child.stdout.read(n)

    def ask(self, data):
        """The entries and the text written from them, or None for both."""
        self.child.stdin.write(b"%d\n" % len(data) + data)
        self.child.stdin.flush()
        entries = self._answer()
        return (None, None) if entries is None else (entries, self._answer())

    def end(self):
        self.child.stdin.close()
        return self.child.wait()


class Git:
    def __init__(self, work):
        self.work = work
        self.env = {"PATH": os.environ["PATH"], "HOME": work, "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
                    "GIT_CEILING_DIRECTORIES": os.path.dirname(work)}
        # Since 2.45 blanks inside a value are kept.
        self.keeps_blanks = self.ask(b"[a]\nx = a\tb\n") == b"a.x\na\tb\0"

    def ask(self, data):
        done = subprocess.run(["git", "config", "-f", "-", "--no-includes", "--list", "-z"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              cwd=self.work, env=self.env, close_fds=False, check=False)
        return done.stdout if done.returncode == 0 else None

    def same(self, a, b):
        if self.keeps_blanks and a is not None and b is not None:
            a, b = (x.replace(b"\t", b" ").replace(b"\r", b" ") for x in (a, b))
        return a == b


def refused_here(data, theirs):
    """Returns whether git reads this text and we do not."""
    names = [e.split(b"\n")[0] for e in theirs.split(b"\0")[:-1]]
    return b"\0" in data or any(b"." not in n or n.startswith(b".") for n in names)


def compare(git, data, ours):
    theirs = git.ask(data)
    if theirs is not None and refused_here(data, theirs):
        theirs = None
    return None if git.same(ours, theirs) else f"{data!r}:\ngit reads {theirs!r}\nwe read   {ours!r}"


class Run:
    def __init__(self, args, git):
        self.args, self.git = args, git
        self.read, self.written, self.cases = b"", b"", 0
        self.refused = self.accepted = 0

    def batch(self, rng, ours, pool):
        asked = [(data, *ours.ask(data)) for data in (text(rng) for _ in range(BATCH))]
        self.cases += BATCH
        for _, entries, written in asked:
            self.refused += entries is None
            if entries:
                self.accepted += 1
                self.read += entries
                self.written += written
        return [w for w in pool.map(lambda a: compare(self.git, a[0], a[1]), asked) if w]

    def reads_alike(self):
        rng, ours, wrong = random.Random(self.args.seed), Ours(self.args.entries), []
        end = time.monotonic() + self.args.seconds
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            while self.cases < self.args.cases and (time.monotonic() < end or self.accepted < READ_AT_LEAST):
                wrong += self.batch(rng, ours, pool)
        assert ours.end() == 0, "our reader did not end well"
        assert not wrong, f"{len(wrong)} of {self.cases} texts\n" + "\n".join(wrong[:5])
        print(f"# {self.cases} texts, {self.refused} refused, {self.accepted} with entries")

    def writes_back(self):
        assert self.accepted >= READ_AT_LEAST and self.refused >= READ_AT_LEAST, "too few texts of either kind"
        theirs = self.git.ask(self.written)
        assert theirs is not None, "git refuses what was written"
        # Written values have their blanks in quotes: no version of git changes them.
        ours, theirs = self.read.split(b"\0"), theirs.split(b"\0")
        wrong = [f"written {a!r}, git reads {b!r}" for a, b in zip(ours, theirs) if a != b]
        assert not wrong and len(ours) == len(theirs), f"{len(ours)} entries, git has {len(theirs)}\n" + "\n".join(wrong[:5])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", required=True)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cordon-gitconfig-") as work:
        run = Run(args, Git(work))
        tap = Tap()
        tap.run("texts are read as git reads them", run.reads_alike)
        tap.run("what is written is read back by git", run.writes_back)
        return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
