#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random policies over a small tree: property.py --cordon FILE --probe FILE [--user UID] [--seed N] [--count N]

For each policy the probe, inside, reports what it can see, list, read, write, create in and execute. That
must match a model. Then one grant is removed, and nothing may have become possible. Prints
TAP, and the seed. Must be started by root.

The model: of the read and write roots that contain a path, the longest decides; if one path is both,
writing wins. Executables are listed separately, and may be read. A directory may be both writable and
executable; a program that is listed itself is not writable even if it is in a writable directory.
"""
import argparse
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

import world

COUNT = 40
DIRS = ["a", "a/b", "a/b/c", "d", "d/e", "f"]
FILES = [d + "/" + n for d in DIRS for n in ("t", "x")]  # a text and a program in each
KINDS = ("read", "write", "exec")


def make_tree(w):
    """The programs are scripts whose interpreter is the probe, which is always allowed."""
    for d in DIRS:
        os.mkdir(w.T + "/" + d)
        os.chown(w.T + "/" + d, w.uid, w.uid)
        w.file(f"{w.T}/{d}/t", "text")
        w.file(f"{w.T}/{d}/x", f"#!{w.suite.probe} say\n", 0o755)


def draw(rng):
    """Grants: a set of (kind, path)."""
    grants = set()
    for _ in range(rng.randrange(1, 7)):
        kind = rng.choice(KINDS)
        grants.add((kind, rng.choice(DIRS + FILES) if rng.random() < 0.6 else rng.choice(DIRS)))
    return grants


def policy_of(w, grants):
    policy = w.policy()
    policy["fs"] = {"allowed_read": [f"{w.T}/{p}" for k, p in sorted(grants) if k == "read"],
                    "allowed_write": [f"{w.T}/{p}" for k, p in sorted(grants) if k == "write"]}
    policy["exec"]["allowed_executables"] += [f"{w.T}/{p}" for k, p in sorted(grants) if k == "exec"]
    return policy


def survey(w, grants):
    """{path: letters} of the probe's access; letters as in probe_dir.c, and v for visible."""
    result = w.inside(["survey", w.T], policy_of(w, grants), cwd="")
    if not result.ended():
        raise ValueError(f"exit {result.status}: {result.err.decode()[-600:]}")
    found = {}
    for line in result.lines:
        if line.startswith("path "):
            _, _, letters, path = line.split(" ", 3)
            found[os.path.relpath(path, w.T)] = set(letters.strip("-")) | {"v"}
    return found


def holds(root, path):
    return path == root or path.startswith(root + "/")


def access(grants, path):
    """"write", "read" or None, by the longest root."""
    best = None
    for kind, root in grants:
        if kind == "exec" or not holds(root, path):
            continue
        rank = (len(root), kind == "write")
        if best is None or rank > best[0]:
            best = (rank, kind)
    return best[1] if best else None


def model(grants):
    """{path: (must, may)}: letters that are required, and those that are permitted."""
    answer = {}
    for path in DIRS + FILES:
        must, may = set(), set()
        level = access(grants, path)
        executable = any(k == "exec" and holds(p, path) for k, p in grants)
        named = ("exec", path) in grants and not any(
            k == "exec" and p != path and holds(p, path) for k, p in grants)
        leads = any(p.startswith(path + "/") for _, p in grants)
        if level or executable:
            must |= {"v"}
        if leads:
            may |= {"v", "l", "c"} if not level else {"v"}
            must |= {"v"}
        if path in DIRS:
            must |= {"l"} if level else set()
            must |= {"l", "c"} if level == "write" else set()
            may |= {"l"} if executable else set()
        else:
            must |= {"r"} if level else set()
            must |= {"r", "w"} if level == "write" and not named else set()
            may |= {"w"} if ("write", path) in grants else set()
            may |= {"r"} if executable else set()
        if executable and path.endswith("/x"):
            must |= {"x"}
        answer[path] = (must, must | may)
    return answer


def private_parent(w, path):
    """A directory that only leads to a root belongs to the sandbox; below /tmp it is as writable as /tmp."""
    return w.T.startswith("/tmp/") and path in DIRS


def compare(w, grants, found):
    problems = []
    for path, (must, may) in model(grants).items():
        got = found.get(path, set())
        if not private_parent(w, path) and "c" not in must:
            may = may - {"c"}
        if must - got:
            problems.append(f"{path}: allowed, and not possible: {''.join(sorted(must - got))}")
        if got - may:
            problems.append(f"{path}: not allowed, and possible: {''.join(sorted(got - may))}")
    return problems


def restricts(grants, grant):
    """A read root or a program below a write root removes write access: without it more is possible."""
    kind, path = grant
    return kind != "write" and any(k == "write" and holds(p, path) for k, p in grants)


def less(w, grants, gone, before, after):
    """Returns what became possible when `gone` was removed."""
    problems = []
    for path, letters in after.items():
        extra = letters - before.get(path, set())
        if private_parent(w, path) and access(grants - {gone}, path) is None:
            extra -= {"c"}  # it became the sandbox's own directory
        if restricts(grants, gone) and holds(gone[1], path):
            extra -= {"w", "c"}
        if extra:
            problems.append(f"{path}: without {gone}, possible: {''.join(sorted(extra))}")
    return problems


def one(suite, rng):
    """Tests a policy, and the same without one grant. Returns its description and its problems."""
    w = world.World(suite, suite.uid)
    try:
        make_tree(w)
        grants = draw(rng)
        gone = rng.choice(sorted(grants))
        name = " ".join(f"{k}:{p}" for k, p in sorted(grants)) + f" less {gone[0]}:{gone[1]}"
        try:
            before = survey(w, grants)
            after = survey(w, grants - {gone})
        except (ValueError, subprocess.SubprocessError) as error:
            return name, [str(error)]
        changed = w.changed()
        allowed = {p for p in DIRS + FILES if access(grants, p) == "write"} | {
            p for p in DIRS + FILES if access(grants - {gone}, p) == "write"}
        problems = compare(w, grants, before) + compare(w, grants - {gone}, after)
        problems += less(w, grants, gone, before, after)
        problems += [f"{p}: changed on the host" for p in changed if p not in allowed]
        return name, problems
    finally:
        w.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--user", type=int, default=0)
    parser.add_argument("--base", default="/tmp")
    parser.add_argument("--seed", type=int, default=20260117)
    parser.add_argument("--count", type=int, default=COUNT)
    options = parser.parse_args()
    suite = world.Suite(options.cordon, options.probe, options.user, options.base)
    rng = random.Random(options.seed)
    print(f"# seed {options.seed}")
    tap = Tap()
    try:
        for _ in range(options.count):
            name, problems = one(suite, rng)
            tap.report(name, problems)
    finally:
        suite.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
