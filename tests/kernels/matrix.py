#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of script/kernels from the output of its machines: the matrix, with a row for each kernel, situation and
user, and the features, with a column for each kernel. Exit status 1 if a cell FAILED; with --works also if one is exit 3, except
for requested limits that cannot be enforced.

    matrix.py [--works] [--write] <CELLS       lines "kernel RELEASE", and those of cells.py

--write puts them into docs/kernels.md and SECURITY.md, between the lines that name them, with the date.
"""
import argparse
import datetime
import json
import re
import sys

NOTE_MAX = 300


class Notes:
    """Texts that many cells share: numbered, and explained below the table."""

    def __init__(self):
        self.texts = []

    def mark(self, text):
        text = " ".join(text.split())[:NOTE_MAX]
        if text not in self.texts:
            self.texts.append(text)
        return f"[{self.texts.index(text) + 1}]"


def show(cell, notes):
    gaps = list(cell["gaps"])
    is_suite = cell["column"] in ("attacks", "property")
    rows = gaps.pop(0) if is_suite and gaps else ""
    words = [cell["verdict"]] if cell["verdict"] != "n/a" else ["–"]
    if rows:
        words.append(f"({rows})")
    if cell["detail"]:
        words.append(notes.mark(cell["detail"]))
    if gaps:
        words.append("but" if is_suite else "gaps")
    words += sorted({notes.mark(g) for g in gaps}, key=lambda m: int(m[1:-1]))
    return " ".join(words)


def read_lines(lines):
    """Cells by row and column, and features by name, situation and user, then kernel."""
    kernel, rows, features = "?", {}, {}
    for line in lines:
        if line.startswith("kernel "):
            kernel = line.split()[1]
            continue
        said = json.loads(line)
        if "features" in said:
            for name, value in said["features"].items():
                features.setdefault((name, said["situation"], said["who"]), {})[kernel] = value
        else:
            rows.setdefault((kernel, said["situation"], said["who"]), {})[said["column"]] = said
    return rows, features


def table(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)) + "\n"


def matrix(rows):
    """Returns the text, and whether a cell is missing."""
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    notes = Notes()
    lines = [[*key, *(show(cells[c], notes) if c in cells else "FAILED (nothing said)" for c in columns)]
             for key, cells in rows.items()]
    text = table(["kernel", "situation", "as", *columns], lines)
    text += "\n" + "".join(f"{number}. {note}\n" for number, note in enumerate(notes.texts, 1))
    return text, any(len(cells) < len(columns) for cells in rows.values())


def feature_table(features):
    """Users with the same values share a line."""
    kernels = list(dict.fromkeys(kernel for values in features.values() for kernel in values))
    lines = {}
    for (name, situation, who), values in features.items():
        lines.setdefault((name, situation, *(values.get(k, "–") for k in kernels)), []).append(who)
    names = list(dict.fromkeys(name for name, _, _ in features))
    rows = [[key[0], key[1], ", ".join(who), *key[2:]] for key, who in lines.items()]
    return table(["feature", "situation", "as", *kernels], sorted(rows, key=lambda row: names.index(row[0])))


def write(path, name, text):
    """Replaces the part between the line that names it and the next end marker."""
    with open(path, encoding="utf-8") as f:
        old = f.read()
    part = re.compile(rf"(<!-- script/kernels --write: {name} -->\n).*?(<!-- end -->\n)", re.DOTALL)
    day = datetime.datetime.now(datetime.timezone.utc).date()
    new, found = part.subn(lambda m: f"{m[1]}Made on {day}.\n\n{text}{m[2]}", old)
    if found != 1:
        raise SystemExit(f"{path} has no place for the {name}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--works", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows, features = read_lines(sys.stdin)
    text, failed = matrix(rows)
    print(text + "\n" + feature_table(features))
    if options.write:
        write("docs/kernels.md", "matrix", text)
        write("SECURITY.md", "features", feature_table(features))
    for cell in (cell for cells in rows.values() for cell in cells.values()):
        failed |= cell["verdict"] == "FAILED"
        failed |= options.works and cell["verdict"] == "exit 3" and cell["column"] != "limits"
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
