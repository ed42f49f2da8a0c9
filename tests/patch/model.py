#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random freeform patches, applied by us and by a slow model written here from the rules of the
format: both must accept the same, and produce the same files.

    model.py --cordon build/cordon [--cases 1500] [--seconds 45] [--seed 1]
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
PLAIN = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\xa0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
}
WORDS = ["a", "b", "c", "", " ", "  a", "a  ", "\ta", "“a”", '"a"', "b – c", "b - c", "x\xa0y", "x y", "@@", "*** x", "+", "-", "a\x1f"]
NAMES = ["f", "g", "d/h", "n"]


class Refused(Exception):
    pass


def need(condition):
    if not condition:
        raise Refused


def trim(s):
    return s.strip(BLANKS)


def plain(s):
    return "".join(PLAIN.get(c, c) for c in trim(s))


LADDER = [lambda s: s, lambda s: s.rstrip(BLANKS), trim, plain]


def framed(lines):
    return len(lines) >= 2 and trim(lines[0]) == "*** Begin Patch" and trim(lines[-1]) == "*** End Patch"


def parse(text):
    lines = [re.sub("\r$", "", line) for line in trim(text).split("\n")]
    if not framed(lines) and len(lines) >= 4 and lines[0] in ("<<EOF", "<<'EOF'", '<<"EOF"') and lines[-1].endswith("EOF"):
        lines = lines[1:-1]
    need(framed(lines))
    files, ended = [], False

    def close():
        if files and files[-1]["kind"] == "update":
            need(files[-1]["hunks"])
            need(files[-1]["hunks"][-1]["lines"])

    body = [re.sub("\r$", "", line) for line in lines[1:-1]]
    for line in body:
        if ended:
            need(not trim(line))
            continue
        kind = files[-1]["kind"] if files else None
        head = line.rstrip(BLANKS) if kind == "update" else trim(line)
        if head == "*** End Patch":
            close()
            ended = True
            continue
        for word in ("Add", "Delete", "Update"):
            mark = f"*** {word} File: "
            if head.startswith(mark):
                close()
                files.append({"kind": word.lower(), "path": head[len(mark) :], "to": None, "hunks": [], "lines": []})
                break
        else:
            need(kind in ("add", "update"))
            (add_line if kind == "add" else update_line)(files[-1], line)
    close()
    need(files)
    return files


def add_line(file, line):
    need(line.startswith("+"))
    file["lines"].append(line[1:])


def update_line(file, line):
    head, hunks = line.rstrip(BLANKS), file["hunks"]
    place = head == "@@" or head.startswith("@@ ")
    if hunks and hunks[-1]["end"]:
        if not head:
            return
        need(place)
    if not hunks and file["to"] is None and head.startswith("*** Move to: "):
        file["to"] = head[len("*** Move to: ") :]
    elif place:
        need(not hunks or hunks[-1]["lines"])
        hunks.append({"context": head[3:] if len(head) > 2 else None, "lines": [], "end": False})
    elif head == "*** End of File":
        if hunks:
            need(hunks[-1]["lines"])
            hunks[-1]["end"] = True
    else:
        need(line == "" or line[0] in " +-")
        if not hunks:
            hunks.append({"context": None, "lines": [], "end": False})
        hunks[-1]["lines"].append((line[:1] or " ", line[1:]))


def seek(lines, wanted, start, end):
    if not wanted:
        return start
    if len(wanted) > len(lines):
        return None
    last = len(lines) - len(wanted)
    if end:
        start = max(start, last)
    for way in LADDER:
        for at in range(start, last + 1):
            if all(way(lines[at + i]) == way(w) for i, w in enumerate(wanted)):
                return at
    return None


def split(text):
    found = re.findall("(?s)([^\r\n]*)(\r\n|\r|\n|\\Z)", text)
    if found and found[-1] == ("", ""):
        found.pop()
    return [list(pair) for pair in found if pair != ("", "")]


def update(text, hunks):
    pairs = split(text)
    lines = [line for line, _ in pairs]
    ending = next((end for _, end in pairs if end), "\n")
    edits, at = [], 0
    for hunk in hunks:
        if hunk["context"] is not None:
            found = seek(lines, [hunk["context"]], at, False)
            need(found is not None)
            at = found + 1
        old = [text for sign, text in hunk["lines"] if sign != "+"]
        new = [text for sign, text in hunk["lines"] if sign != "-"]
        if not old:
            edits.append((len(lines), 0, new))
            continue
        found = seek(lines, old, at, hunk["end"])
        if found is None and old[-1] == "":
            old = old[:-1]
            new = new[:-1] if new and new[-1] == "" else new
            found = seek(lines, old, at, hunk["end"])
        need(found is not None)
        i = j = o = n = 0
        for sign, _ in hunk["lines"]:
            if sign == " ":
                if o >= len(old) or n >= len(new):
                    break
                if (i, j) != (o, n):
                    edits.append((found + i, o - i, new[j:n]))
                i, j = o + 1, n + 1
            o += sign != "+"
            n += sign != "-"
        if (i, j) != (len(old), len(new)):
            edits.append((found + i, len(old) - i, new[j:]))
        at = found + len(old)
    for start, count, new in sorted(edits, key=lambda edit: edit[0])[::-1]:
        pairs[start : start + count] = [[line, ending] for line in new]
    return "".join(line + (end or ending) for line, end in pairs)


def apply(tree, text):
    tree = dict(tree)
    for file in parse(text):
        path = file["path"]
        if file["kind"] == "add":
            tree[path] = "".join(line + "\n" for line in file["lines"])
            continue
        need(path in tree)
        if file["kind"] == "delete":
            del tree[path]
            continue
        after = update(tree[path], file["hunks"])
        if file["to"] is not None and file["to"] != path:
            del tree[path]
        tree[file["to"] or path] = after
    return tree


def some_text(rng):
    ends = rng.choice([["\n"], ["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])
    text = "".join(rng.choice(WORDS) + rng.choice(ends) for _ in range(rng.randint(0, 9)))
    return text.rstrip("\r\n") if rng.random() < 0.2 else text


def some_hunk(rng, lines):
    out = []
    what = rng.random()
    if what < 0.5:
        out.append("@@")
    elif what < 0.85:
        out.append("@@ " + (rng.choice(lines) if lines and rng.random() < 0.8 else rng.choice(WORDS)))
    at, count = (rng.randint(0, max(0, len(lines) - 1)), rng.randint(0, 4)) if lines else (0, 0)
    for line in lines[at : at + count]:
        if rng.random() < 0.2:
            line = rng.choice([trim(line), line + " ", plain(line), rng.choice(WORDS)])
        out.append(rng.choice(["-", " ", " "]) + line if line or rng.random() < 0.7 else "")
        if rng.random() < 0.4:
            out.append("+" + rng.choice(WORDS))
    if rng.random() < 0.3:
        out.append(rng.choice(["+new", "+", " ", "", "-"]))
    if rng.random() < 0.2:
        out.append("*** End of File")
    return out


def some_patch(rng, tree):
    out = ["*** Begin Patch"]
    names = sorted(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        what = rng.random()
        name = rng.choice(names) if names and rng.random() < 0.9 else rng.choice(NAMES)
        if what < 0.12:
            out += [f"*** Add File: {rng.choice(NAMES)}"] + ["+" + rng.choice(WORDS) for _ in range(rng.randint(0, 3))]
        elif what < 0.2:
            out.append(f"*** Delete File: {name}")
        else:
            out.append(f"*** Update File: {name}")
            if rng.random() < 0.15:
                out.append("*** Move to: " + rng.choice(NAMES))
            lines = [line for line, _ in split(tree.get(name, ""))]
            for _ in range(rng.choice([1, 1, 2, 3])):
                out += some_hunk(rng, lines)
    out.append("*** End Patch")
    for _ in range(rng.choice([0, 0, 0, 0, 1, 2])):
        at = rng.randrange(len(out))
        out[at : at + 1] = rng.choice([[], [out[at]] * 2, [out[at], ""], [" " + out[at]], [out[at] + " "], [out[at], "junk"]])
    end = "\r\n" if rng.random() < 0.1 else "\n"
    text = end.join(out)
    if rng.random() < 0.1:
        text = f"<<'EOF'{end}{text}{end}EOF{end}"
    return text if rng.random() < 0.5 else f" {end}" + text + end


def by_us(cordon, tree, text):
    with tempfile.TemporaryDirectory() as home:
        root = pathlib.Path(home) / "root"
        root.mkdir()
        for name, content in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content.encode())
        done = subprocess.run(
            [cordon, "tool", "apply_patch_freeform", "--json", "-"],
            input=json.dumps({"patch": text}).encode(),
            cwd=root,
            env={**os.environ, "CORDON_HOME": home + "/cordon"},
            capture_output=True,
            timeout=60,
        )
        answer = json.loads(done.stdout)
        files = [path for path in root.rglob("*") if path.is_file()]
        after = {str(path.relative_to(root)): path.read_bytes().decode() for path in files}
        return answer, after


ENOUGH = 10  # of each kind, however slow the machine is


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--cases", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cordon, end = os.path.abspath(options.cordon), time.monotonic() + options.seconds
    taken = refused = failed = 0
    for number in range(options.cases):
        if time.monotonic() > end and min(taken, refused) >= ENOUGH:
            break
        rng = random.Random(f"{options.seed}/{number}")
        tree = {name: some_text(rng) for name in rng.sample(NAMES[:3], rng.randint(1, 3))}
        text = some_patch(rng, tree)
        try:
            want = apply(tree, text)
            taken += 1
        except Refused:
            want = None
            refused += 1
        answer, after = by_us(cordon, tree, text)
        if (want is None) == (answer["status"] == "error") and after == (tree if want is None else want):
            continue
        failed += 1
        if failed <= 5:
            print(f"# case {options.seed}/{number}: {tree!r}\n# {text!r}\n# want {want!r}\n# got {after!r}: {answer['message']}")
    said = f"{taken} taken, {refused} refused, {failed} differ"
    tap = Tap()
    tap.report("freeform patches do what the rules say", [said] if failed or min(taken, refused) < ENOUGH else [])
    tap.note(said)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
