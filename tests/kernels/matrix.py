#!/usr/bin/env python3
"""The matrix of script/kernels from the cells that its machines printed: a row for each kernel, situation and user. Exit
status 1 if a cell FAILED; with --works also if one is exit 3, except limits that were asked for
and can't be kept.

    matrix.py [--works] <CELLS       lines "kernel RELEASE", and cells as of cells.py
"""
import json
import sys

NOTE_MAX = 300


class Notes:
    """Texts that many cells share: a number each, explained below the table."""

    def __init__(self):
        self.texts = []

    def mark(self, text):
        text = " ".join(text.split())[:NOTE_MAX]
        if text not in self.texts:
            self.texts.append(text)
        return f"[{self.texts.index(text) + 1}]"


def show(cell, notes):
    gaps = list(cell["gaps"])
    rows = gaps.pop(0) if cell["column"] == "attacks" and gaps else ""
    words = [cell["verdict"]] if cell["verdict"] != "n/a" else ["–"]
    if rows:
        words.append(f"({rows})")
    if cell["detail"]:
        words.append(notes.mark(cell["detail"]))
    if gaps:
        words.append("but" if cell["column"] == "attacks" else "gaps")
    words += sorted({notes.mark(g) for g in gaps}, key=lambda m: int(m[1:-1]))
    return " ".join(words)


def main():
    kernel, rows, columns, failed = "?", {}, [], 0
    works = "--works" in sys.argv[1:]
    for line in sys.stdin:
        if line.startswith("kernel "):
            kernel = line.split()[1]
            continue
        cell = json.loads(line)
        failed += cell["verdict"] == "FAILED" or works and cell["verdict"] == "exit 3" and cell["column"] != "limits"
        if cell["column"] not in columns:
            columns.append(cell["column"])
        rows.setdefault((kernel, cell["situation"], cell["who"]), {})[cell["column"]] = cell
    notes = Notes()
    print("| kernel | situation | as | " + " | ".join(columns) + " |")
    print("|" + "---|" * (len(columns) + 3))
    for (name, situation, who), cells in rows.items():
        shown = [show(cells[c], notes) if c in cells else "FAILED (nothing said)" for c in columns]
        failed += len(cells) < len(columns)
        print(f"| {name} | {situation} | {who} | " + " | ".join(shown) + " |")
    print()
    for number, text in enumerate(notes.texts):
        print(f"{number + 1}. {text}")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
