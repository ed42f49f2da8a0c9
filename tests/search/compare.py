#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the search behind grep_files with ripgrep on generated trees: the same files, the same lines. Prints TAP.
compare.py --lines build/tests/search_lines [--seed N] [--rounds N]"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

parser = argparse.ArgumentParser()
parser.add_argument("--lines", required=True)
parser.add_argument("--seed", type=int, default=6)
parser.add_argument("--rounds", type=int, default=4)
args = parser.parse_args()

WORDS = ["alpha", "beta", "Gamma", "delta", "x", "foo", "bar", "foobar", "task", "TASK", "Kelvin", "\u212aelvin", "\u017ftop",
         "stop", "caf\u00e9", "CAF\u00c9", "\u65e5\u672c", "\U0001F600", "a1b2", "42", "007", "foo_bar", "qz", "equaz", "needle",
         "Needle", "NEEDLE", "end.", "(x)", "[y]", "{z}", "a+b", "$5", "^", "\\", "tab\there", "\u0661"]
# (pattern, options, arguments of rg): syntax that means the same in both.
PATTERNS = [
    ("needle", {}, []), ("needle", {"ignore_case": True}, ["-i"]), ("task", {"ignore_case": True}, ["-i"]),
    ("stop", {"ignore_case": True}, ["-i"]), ("caf\u00e9", {}, []), ("caf\u00e9", {"ignore_case": True}, ["-i"]),
    ("(?i)kelvin", {}, []), ("foo|bar", {}, []), ("foo|bar|delta|needle|x", {}, []), ("(foo|bar)_?(bar|baz)", {}, []),
    ("[a-z]{3}q?z", {}, []), ("[a-z]+z$", {}, []), ("^foo", {}, []), ("bar$", {}, []), ("^$", {}, []), ("^", {}, []), ("$", {}, []),
    ("^.$", {}, []), ("^..$", {}, []), ("x*", {}, []), (r"\bfoo\b", {}, []), (r"foo\b", {}, []), (r"\d+", {}, []), (r"\d\d\d", {}, []),
    (r"\w+\s\w+$", {}, []), (r"\s$", {}, []), (r"^\s", {}, []), (r"\S+\s+\S+\s+42", {}, []), (r"[^a-z ]", {}, []),
    (r"[^a]needle", {}, []), (r"need[^l]?le", {}, []), (r"foo.bar", {}, []), (r"foo.*bar", {}, []), (r"foo.*?bar.*x", {}, []),
    (r"a\+b", {}, []), (r"\(x\)", {}, []), ("(x)", {"literal": True}, ["-F"]), ("a+b", {"literal": True}, ["-F"]),
    ("NEEDLE", {"literal": True, "ignore_case": True}, ["-F", "-i"]), (r"\$5", {}, []), (r"[\[\]]", {}, []), (r"[]x]y", {}, []),
    (r"[^]x]y", {}, []), (r"\x41|\x{65e5}", {}, []), ("\u65e5.", {}, []), ("\u65e5+", {}, []), ("[\u65e5x]", {}, []),
    ("(?:alpha|beta) (?:Gamma|delta)", {}, []), ("(alpha )+", {}, []), ("(alpha |beta ){2}", {}, []), ("a{2,3}", {}, []),
    ("a{3}", {}, []), ("a{2,}b?", {}, []), ("(a|b)c|d", {}, []), ("|foo", {}, []), ("(foo|)bar", {}, []), ("q[a-z]{2}z", {}, []),
    (r"\W\W\W", {}, []), (r"\D{12}", {}, []), (r"[\s\d]42", {}, []), (r"[\w-]+_bar", {}, []), (r"^\w+$", {}, []), (r"\Bar", {}, []),
    ("zzzzzz", {}, []), ("(?P<n>foo)bar", {}, []), ("b", {}, []), ("[k]elvin", {"ignore_case": True}, ["-i"]),
    ("[^j]elvin", {"ignore_case": True}, ["-i"]), (r"\t", {}, []), ("long$", {}, []), ("^long", {}, []), ("long.{500}", {}, []),
]


def line(rng):
    kind = rng.random()
    if kind < 0.05:
        return b""
    text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 8)))
    if kind > 0.97:
        text = "long " + text + " " + "y" * rng.choice([300, 900, 900, 900, 900, 70000]) + rng.choice(["", " needle", " long"])
    data = text.encode()
    if 0.05 < kind < 0.1:
        at = rng.randint(0, len(data))
        data = data[:at] + rng.choice([b"\xff", b"\xc3", b"\xe6\x97", b"\x80", b"\xed\xa0\x80"]) + data[at:]
    return data


def content(rng):
    kind = rng.random()
    end = b"\r\n" if kind < 0.2 else b"\n"
    lines = [line(rng) for _ in range(rng.choice([0, 1, 3, 40, 40, 100, 1500]))]
    data = end.join(lines)
    if rng.random() < 0.7 and lines:
        data += end
    if 0.2 < kind < 0.25:
        data = b"\xef\xbb\xbf" + data
    if 0.25 < kind < 0.35:
        data = b"\0" + data  # further on rg shows the first match, and then reports that it stops
    return data


IGNORES = ["*.o\n", "/top.txt\n", "sub/\n", "*.txt\n!keep.txt\n", "d?\n", "**/deep/*.c\n", ".hidden*\n", "#c\n\n!*.h\n", "[a-c].c\n"]
NAMES = ["a.c", "b.c", "d.h", "top.txt", "keep.txt", "x.o", ".hidden", ".hidden2", "na me", "\u00fc.txt", "UP.C", "z", "node_modules"]


def make_tree(rng, root, depth=0):
    os.makedirs(root, exist_ok=True)
    for name in rng.sample(NAMES, rng.randint(3, 9)):
        with open(os.path.join(root, name), "wb") as f:
            f.write(content(rng))
    if rng.random() < 0.5:
        with open(os.path.join(root, ".gitignore"), "w") as f:
            f.write("".join(rng.sample(IGNORES, rng.randint(1, 3))))
    if rng.random() < 0.3:
        os.symlink("/etc/passwd", os.path.join(root, "link"))
    # In subdirectories rg treats any .git as a nested repository; git requires more.
    folders = ["sub", "deep", "d1", ".dot", "NODE", ".cordon"] + ([".git"] if depth == 0 else [])
    for name in rng.sample(folders, 0 if depth == 3 else rng.randint(1, 4)):
        make_tree(rng, os.path.join(root, name), depth + 1)


def theirs(root, pattern, more):
    command = ["rg", "--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot", "--crlf",
               "-g", "!.git", "-g", "!node_modules/", "-g", "!.cordon/", "-n", "--no-heading", "--with-filename", "--null",
               "--sort", "path", "-j1", *more, "-e", pattern, "."]
    out = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = []
    for entry in out.stdout.split(b"\n"):
        name, nul, rest = entry.partition(b"\0")
        number = rest.split(b":", 1)[0]
        if nul and number.isdigit():
            found.append((name[2:].decode(), int(number)))
    return found, out.stderr.decode()


def main():
    tap = Tap()
    if not shutil.which("rg"):
        tap.report("compared with ripgrep", skipped="there is no rg")
        return tap.end()
    for turn in range(args.rounds):
        rng = random.Random(args.seed * 1000 + turn)
        with tempfile.TemporaryDirectory(prefix="cordon-search-") as top:
            root = os.path.join(top, "t")
            make_tree(rng, root)
            for pattern, own, rg in PATTERNS:
                want, said = theirs(root, pattern, rg)
                flags = ("i" if own.get("ignore_case") else "") + ("l" if own.get("literal") else "")
                out = subprocess.run([args.lines, root, pattern, flags or "-", rng.choice(["1", "2", "4"])],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                have = []
                for entry in out.stdout.split(b"\n"):
                    name, nul, at = entry.partition(b"\0")
                    if nul:
                        have.append((name.decode(), int(at)))
                ordered = sorted(have, key=lambda e: (e[0].encode(), e[1]))
                problems = [] if out.returncode == 0 and have == ordered and sorted(want) == sorted(have) else [
                    f"order {have == ordered}; only ours {sorted(set(have) - set(want))[:5]}; "
                    f"only theirs {sorted(set(want) - set(have))[:5]}; {out.stderr.decode()} {said[:300]}"]
                tap.report(f"tree {turn}, {pattern!r} {flags}, {len(have)} lines", problems)
    return tap.end()


sys.exit(main())
