#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thousands of generated unified diffs, each applied by `git apply` and by us: both must accept the same,
and produce the same files. Diffs that git accepts with an offset must be refused by us.

    git_oracle.py --cordon build/cordon [--cases 2000] [--seconds 60] [--seed 1]

Small trees are changed at random, `git diff` or `diff -u` writes the diff, and most diffs are then
corrupted: changed line numbers, lines that are dropped, duplicated, changed or swapped, truncated
headers, line endings, names.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

WORDS = ["alpha", "beta", "gamma", "delta", "", "  two", "\ttab", "x = 1;", "}", "{", "// end", "é ü", "trail  "]
NAMES = ["a.txt", "b.txt", "dir/c.txt", "dir/sub/d.c", "with space.txt", "t\tab.txt", "quo\"te.txt", "ümlaut.txt", "e"]
ENV = {
    **os.environ,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CEILING_DIRECTORIES": "/",
    "LC_ALL": "C.UTF-8",
}


def tree(root):
    found = {}
    for path in sorted(pathlib.Path(root).rglob("*")):
        if path.is_file():
            found[os.fsencode(path.relative_to(root))] = (path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
    return found


def content(rng, size):
    end = rng.choice(["\n"] * 6 + ["\r\n"])
    text = "".join(rng.choice(WORDS) + (end if rng.random() < 0.97 else "\n") for _ in range(size))
    if text and rng.random() < 0.2:
        text = text.rstrip("\r\n") if rng.random() < 0.7 else text + "no end"
    return text.encode()


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def edited(rng, data):
    lines = data.splitlines(keepends=True)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(lines))
        what = rng.random()
        if what < 0.35 and lines:
            lines[at % len(lines)] = rng.choice(WORDS).encode() + b"\n"
        elif what < 0.7:
            lines[at:at] = [rng.choice(WORDS).encode() + b"\n" for _ in range(rng.randint(1, 3))]
        else:
            del lines[at : at + rng.randint(1, 3)]
    return b"".join(lines)


def make_trees(rng, old, new):
    names = rng.sample(NAMES, rng.randint(1, 4))
    for name in names:
        write(old / name, content(rng, rng.choice([0, 1, 3, 8, 20, 40])))
        if rng.random() < 0.2:
            (old / name).chmod(0o755)
    shutil.copytree(old, new, dirs_exist_ok=True)
    for name in names:
        what = rng.random()
        path = new / name
        if what < 0.6:
            path.write_bytes(edited(rng, path.read_bytes()))
        elif what < 0.68:
            path.unlink()
        elif what < 0.78:
            target = new / (name + ".moved")
            path.rename(target)
            if rng.random() < 0.5:
                target.write_bytes(edited(rng, target.read_bytes()))
        elif what < 0.86:
            path.chmod(path.stat().st_mode ^ 0o111)
        elif what < 0.9:
            write(new / (name + ".copy"), path.read_bytes())
        if rng.random() < 0.1:
            path.chmod(0o755) if path.exists() else None
    if rng.random() < 0.25:
        write(new / rng.choice(["new.txt", "dir/new.txt", "deep/er/new.txt"]), content(rng, rng.randint(0, 5)))


def make_diff(rng, base):
    context = f"-U{rng.choice([0, 1, 2, 3, 3, 3, 3, 5])}"
    if rng.random() < 0.25:
        args = ["diff", "-ruN", context, "a", "b"] if rng.random() < 0.8 else ["diff", "-ru", context, "a", "b"]
    else:
        args = ["git", "diff", "--no-index", "--no-prefix", context]
        args += rng.choice([[], [], ["-M"], ["-C", "--find-copies-harder"], ["--no-renames"], ["-D"], ["--full-index"]])
        args += ["a", "b"]
    return subprocess.run(args, cwd=base, env=ENV, capture_output=True).stdout


def spoil(rng, diff):
    lines = diff.splitlines(keepends=True)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if not lines:
            break
        at = rng.randrange(len(lines))
        what = rng.randrange(14)
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[at])
        elif what == 2:
            lines[at] = lines[at][:1] + rng.choice(WORDS).encode() + b"\n"
        elif what == 3:
            number = lambda m: str(max(0, int(m.group()) + rng.choice([-2, -1, 1, 2]))).encode()
            heads = [i for i, line in enumerate(lines) if line.startswith(b"@@")]
            if heads:
                i = rng.choice(heads)
                numbers = list(re.finditer(rb"\d+", lines[i].split(b"@@")[1]))
                m = rng.choice(numbers)
                head = lines[i].split(b"@@")[1]
                lines[i] = b"@@" + head[: m.start()] + number(m) + head[m.end() :] + b"@@\n"
        elif what == 4:
            shift = rng.choice([-3, -1, 1, 3])
            moved = lambda m: b"@@ -%d%s +%d%s @@" % (max(0, int(m[1]) + shift), m[2], max(0, int(m[3]) + shift), m[4])
            lines = [re.sub(rb"^@@ -(\d+)(,\d+|) \+(\d+)(,\d+|) @@", moved, line) for line in lines]
        elif what == 5:
            lines[at] = lines[at].rstrip(b"\r\n") + b"\r\n"
        elif what == 6:
            lines = [line[:-1] + b"\r\n" for line in lines]
        elif what == 7 and at + 1 < len(lines):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        elif what == 8:
            lines = lines[:at]
        elif what == 9:
            lines[at] = rng.choice([b"+", b"-", b" ", b"\\ No newline at end of file\n", b"\n", b"garbage\n"]) + (
                lines[at][1:] if rng.random() < 0.5 else b"\n"
            )
        elif what == 10 and lines[at].startswith(b" \n"):
            lines[at] = b"\n"
        elif what == 11:
            lines.append(b"-- \n2.39.0\n")
        elif what == 12:
            lines[-1] = lines[-1].rstrip(b"\n")
        elif what == 13:
            lines += lines if rng.random() < 0.3 else [b"\\ No newline at end of file\n"]
    return b"".join(lines)


def spoil_tree(rng, root):
    """Changes the tree, so that the diff does not match it."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    if not files:
        return
    path = rng.choice(files)
    what = rng.random()
    if what < 0.5:
        path.write_bytes(edited(rng, path.read_bytes()))
    elif what < 0.7:
        path.unlink()
    elif what < 0.85:
        write(root / (path.name + ".moved"), b"in the way\n")
    else:
        write(root / "new.txt", b"in the way\n")


def by_git(root, diff):
    done = subprocess.run(["git", "apply", "-v", "-"], cwd=root, env=ENV, input=diff, capture_output=True)
    return done.returncode == 0, done.stderr.decode(errors="replace")


def by_us(cordon, root, diff, home):
    done = subprocess.run(
        [cordon, "tool", "apply_patch_json", "--json", "-"],
        cwd=root,
        env={**ENV, "CORDON_HOME": str(home)},
        input=json.dumps({"patch": diff.decode()}).encode(),
        capture_output=True,
        timeout=60,
    )
    answer = json.loads(done.stdout)
    return answer["status"] == "ok", answer


def names_with(diff, pattern):
    return re.search(pattern, diff, re.M) is not None


def excused(diff, said, ours):
    """Deliberate differences: links, binary diffs, and directories in place of files."""
    if names_with(diff, rb"^(new file mode|deleted file mode|old mode|new mode|index .*) 1[26]0000"):
        return True
    if names_with(diff, rb"^GIT binary patch|^Binary files "):
        return True
    return False


def check(cordon, rng, base, home, spoilt):
    old, new = base / "a", base / "b"
    old.mkdir()
    new.mkdir()
    make_trees(rng, old, new)
    diff = make_diff(rng, base)
    if spoilt and rng.random() < 0.8:
        diff = spoil(rng, diff)
    try:
        diff.decode()
    except UnicodeDecodeError:
        return None
    if spoilt and rng.random() < 0.25:
        spoil_tree(rng, old)
    shutil.rmtree(new)
    shutil.copytree(old, new)
    before = tree(old)
    taken, said = by_git(old, diff)
    if excused(diff, said, None):
        return None
    expected = tree(old) if taken and "offset" not in said else before
    ok, answer = by_us(cordon, new, diff, home)
    after = tree(new)
    want = taken and "offset" not in said
    if ok != want:
        return f"git {'takes' if taken else 'refuses'} it ({said.strip()!r}), we say {answer['message']!r}", diff, before
    if after != expected:
        return f"other files: git {expected!r}, we {after!r}", diff, before
    return ok


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cordon = os.path.abspath(options.cordon)
    end = time.monotonic() + options.seconds
    counts = {True: 0, False: 0, None: 0}
    failed = 0
    for number in range(options.cases):
        if time.monotonic() > end:
            break
        rng = random.Random(f"{options.seed}/{number}")
        with tempfile.TemporaryDirectory() as base:
            verdict = check(cordon, rng, pathlib.Path(base), pathlib.Path(base) / "home", number % 4 != 0)
        if isinstance(verdict, tuple):
            failed += 1
            if failed <= 5:
                print(f"# case {options.seed}/{number}: {verdict[0]}\n# diff: {verdict[1]!r}\n# before: {verdict[2]!r}")
        else:
            counts[verdict] += 1
    said = f"{counts[True]} taken, {counts[False]} refused, {counts[None]} passed over, {failed} differ"
    tap = Tap()
    tap.report("the same judgement and the same bytes as git apply", [said] if failed else [])
    tap.report("both answers came up often enough", [] if min(counts[True], counts[False]) > 10 else [said])
    tap.note(said)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
