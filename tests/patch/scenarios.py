#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freeform patches with their effects on a tree: our own cases (tests/patch/*.case), and the
scenarios of the format's first implementation if CORDON_VECTORS has them.

A case file has parts, each started by a separate line:

    == the name of the case
    --- in PATH          a file before (the lines up to the next part)
    --- patch            the patch
    --- out PATH         a file after; files that are not listed must not exist
    --- fails TEXT       the patch is refused, with this in the message; nothing changes
    --- strict           the argument strict is true

A line that ends in `\\` has no newline; `\\r` before the end of a line represents a carriage return, `\\s` a blank.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap, cases_of  # noqa: E402 pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).parent
# It expects the partial result of a patch that fails half way; ours leaves nothing.
UNTOUCHED = {"015_failure_after_partial_success_leaves_changes"}
PART = "--- "
WORDS = ("in", "out", "patch", "fails", "strict")


def tree(root):
    root = pathlib.Path(root)
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(root))] = path.read_bytes()
    return found


def text_of(lines):
    text = ""
    for line in lines:
        end = "\n"
        line = line.replace("\\s", " ")
        if line.endswith("\\r"):
            line, end = line[:-2], "\r\n"
        elif line.endswith("\\"):
            line, end = line[:-1], ""
        text += line + end
    return text.encode()


def parsed(title, lines, at):
    case = {"name": title, "in": {}, "out": {}, "fails": None, "patch": [], "strict": False, "at": at}
    part = []
    for line in lines:
        word, _, rest = line[len(PART):].partition(" ")
        if not line.startswith(PART) or word not in WORDS:
            part.append(line)
            continue
        part = []
        if word in ("in", "out"):
            case[word][rest] = part
        elif word == "patch":
            case["patch"] = part
        else:
            case[word] = rest or True
    for side in ("in", "out"):
        case[side] = {name: text_of(lines) for name, lines in case[side].items()}
    case["patch"] = text_of(case["patch"])
    return case


def read_scenarios(archive, scratch):
    with tarfile.open(archive) as tar:
        tar.extractall(scratch)
    for directory in sorted(pathlib.Path(scratch).rglob("patch.txt")):
        directory = directory.parent
        case = {"name": directory.name, "in": tree(directory / "input"), "fails": None, "strict": False, "at": "scenario"}
        case["patch"] = (directory / "patch.txt").read_bytes()
        case["out"] = case["in"] if directory.name in UNTOUCHED else tree(directory / "expected")
        yield case


def run(cordon, case):
    with tempfile.TemporaryDirectory() as home:
        root = pathlib.Path(home) / "root"
        root.mkdir()
        for name, content in case["in"].items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        arguments = {"patch": case["patch"].decode(), "strict": case["strict"]}
        result = subprocess.run(
            [cordon, "tool", "apply_patch_freeform", "--json", "-"],
            input=json.dumps(arguments).encode(),
            cwd=root,
            env={**os.environ, "CORDON_HOME": home + "/cordon"},
            capture_output=True,
            timeout=60,
        )
        answer = json.loads(result.stdout)
        after = tree(root)
    if case["fails"] is not None:
        if answer["status"] != "error" or case["fails"] not in answer["message"]:
            return f"expected a failure with {case['fails']!r}: {answer['message']!r}"
        if after != case["in"]:
            return "the failure changed the tree"
        return None
    if after != case["out"]:
        return f"{answer['message']!r}; expected {case['out']!r}, got {after!r}"
    return None


def read_whole(scratch):
    path = pathlib.Path(scratch) / "a.case"
    path.write_text("a comment\n== first title\none\n\n== second\n == a line\n")
    assert list(cases_of(path)) == [("first title", ["one", ""]), ("second", [" == a line"])], list(cases_of(path))
    path.write_text("one\ntwo\n")
    assert list(cases_of(path)) == [("a.case", ["one", "two"])], list(cases_of(path))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    options = parser.parse_args()
    cordon = os.path.abspath(options.cordon)
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        tap.run("titles and lines of data cases are read whole", read_whole, scratch)
        cases = [parsed(title, lines, path.name) for path in sorted(HERE.glob("*.case")) for title, lines in cases_of(path)]
        archive = pathlib.Path(os.environ.get("CORDON_VECTORS", "/nonexistent")) / "codex_apply_patch_scenarios.tgz"
        if archive.exists():
            cases += list(read_scenarios(archive, scratch))
        for case in cases:
            why = run(cordon, case)
            tap.report(f"{case['at']}: {case['name']}", [why] if why else [])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
