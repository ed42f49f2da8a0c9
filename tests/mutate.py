# SPDX-License-Identifier: Apache-2.0
"""Small faults in C files (mutants) and the table of their ends, for script/mutants. Functions are mutated, apart from comments, strings,
macros, assertions and constant tables. A mutant keeps the number of lines."""
import collections
import hashlib
import itertools
import os
import re
import threading

MAP, MAP_SIZE = "/tmp/mutants.map", 65536  # one byte for each function that was called
MARK = " extern unsigned char *mutants_map; if (mutants_map) mutants_map[%d] = 1;"
MAP_CODE = """
#include <fcntl.h>
#include <sys/mman.h>
unsigned char *mutants_map;
__attribute__((constructor(101))) static void mutants_open(void)
{
    int fd = open("%s", O_RDWR | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, %d, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mutants_map = map == MAP_FAILED ? NULL : map;
    if (fd >= 0)
        close(fd);
}
""" % (MAP, MAP_SIZE)

Mutant = collections.namedtuple("Mutant", "file line function operator start end text old new")

HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*|^#(?:[^\n]*\\\n)*[^\n]*'
                    r'|\b(?:BUG_ON|_Static_assert)\([^;]*;|\bARENA_NEW\([^;()]*\)', re.S | re.M)
TABLE = re.compile(r"\bstatic const (?:struct \w* ?\{[^}]*\} )?[^;={]*= \{[^;]*?\};")
FUNCTION = re.compile(r"^[a-z][^\n;={}#]*?(\w+)\([^;{}]*\)[^;{}()]*\n\{\n(.*?)^\}", re.M | re.S)
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "+=": "-=", "-=": "+=",
         "&&": "||", "||": "&&"}
# Nor is 0 a file descriptor here: "fd < 0" stays.
SWAP = re.compile(r"(?<= )(<=|>=(?! 0\b)|<(?! 0\b)|>|==|!=|\+=|-=|\+|-|&&|\|\|)(?=\s)")
CONDITION = re.compile(r"\b(?:if|while) \(")
# Not -1 nor the comparison of a file descriptor or a result with 0: -2, and file descriptor 0, mean the same.
CONSTANT = re.compile(r"(?<![\w.{-])(?<!< )(?<!>= )\d+(?![\w.}])|(?<=< |= )[1-9]\d*(?![\w.}])")
# Leaks belong to the address sanitizer.
STATEMENT = re.compile(r"^ +(?!return\b|else\b|case\b|goto\b|(?:\w+_)?(?:free|done)\(|json_decref\()"
                       r"(?:\w+\(|\*?[\w\[\]>.-]+ [-+|&]?= )[^;{}]*;$", re.M)
RETURN = re.compile(r"\breturn (true|false);")
NOT = re.compile(r"!(?=[\w(])")


def closing(text, at):
    """Position behind the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return at + 1


def edits(text, start, end):
    """(start, end, replacement, operator) of every possible mutation of a function's body in masked text."""
    for m in SWAP.finditer(text, start, end):
        kind = "logic" if m[1] in ("&&", "||") else "arithmetic" if m[1][0] in "+-" else "comparison"
        yield m.start(), m.end(), SWAPS[m[1]], kind
    for m in CONDITION.finditer(text, start, end):
        close = closing(text, m.end() - 1)
        yield m.end(), close - 1, lambda old: f"!({old})", "negation"
    for m in CONSTANT.finditer(text, start, end):
        yield m.start(), m.end(), str(int(m[0], 8 if m[0][0] == "0" else 10) + 1), "constant"
    for m in STATEMENT.finditer(text, start, end):
        yield m.start(), m.end(), lambda old: re.match(" +", old)[0] + ";" + "\n" * old.count("\n"), "deletion"
    for m in RETURN.finditer(text, start, end):
        yield m.start(1), m.end(1), "false" if m[1] == "true" else "true", "return"
    for m in NOT.finditer(text, start, end):
        yield m.start(), m.end(), "", "not"


def mask(text):
    """The text with every hidden character replaced, so that positions stay."""
    for pattern in (HIDDEN, TABLE):
        text = pattern.sub(lambda m: re.sub(r"[^\n]", "\1", m[0]), text)
    return text


def functions(text):
    """Matches of function definitions: [1] is the name, [2] the body."""
    return FUNCTION.finditer(mask(text))


def mutants(file):
    """Every mutant of a C file."""
    with open(file, encoding="utf-8") as f:
        text = f.read()
    masked = mask(text)
    for function in functions(text):
        for start, end, new, operator in edits(masked, function.start(2), function.end(2)):
            new = new(text[start:end]) if callable(new) else new
            first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            lines = text[first:last], text[first:start] + new + text[end:last]
            yield Mutant(file, text.count("\n", 0, start) + 1, function[1], operator, start, end, new,
                         *(" ".join(line.split()) for line in lines))


def key(mutant):
    """The same after changes elsewhere."""
    return mutant.file, mutant.function, mutant.old, mutant.new


def sample(dirs, seed):
    """Every mutant in an order that depends on the seed, the directories in turn."""
    queues = []
    for name in dirs:
        files = sorted(f for f in os.listdir(f"src/{name}") if f.endswith(".c"))
        unique = {key(m): m for f in files for m in mutants(f"src/{name}/{f}")}
        queues.append(sorted(unique.values(), key=lambda m: hashlib.sha256(repr((seed, key(m))).encode()).digest()))
    for row in itertools.zip_longest(*queues):
        yield from filter(None, row)


def marked(file, ids):
    """The text of a C file whose functions set their byte in the map; adds "FILE:FUNCTION" of each to ids."""
    with open(file, encoding="utf-8") as f:
        text = f.read()
    result, at = "", 0
    for m in functions(text):
        result += text[at:m.start(2) - 1] + MARK % len(ids)
        at = m.start(2) - 1
        ids.append(f"{file}:{m[1]}")
    return result + text[at:] + (MAP_CODE if file == "src/base/base.c" else "")


def read_rows(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


class Results:
    """A file with one row for each mutant: file, function, line, mutated line, operator, line number, end ("-": does not count). The last
    row of a mutant is valid."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.rows = {tuple(row[:4]): row[6] for row in read_rows(path)}

    def get(self, m):
        return self.rows.get(key(m))

    def put(self, m, end):
        with self.lock, open(self.path, "a", encoding="utf-8") as f:
            self.rows[key(m)] = end
            f.write("\t".join([*key(m), m.operator, str(m.line), end]) + "\n")
            print(f"{m.file}:{m.line}: {m.operator}: {m.new[:100]}: {end}", flush=True)

    def summary(self, chosen):
        """Prints counts for each directory."""
        counts = {}
        for m in chosen:
            end = self.get(m) or "not run"
            row = counts.setdefault(m.file.split("/")[1], {"killed": 0, "timeout": 0, "lived": 0, "not run": 0})
            row["timeout" if end.endswith("timeout") else end.split(":")[0].split()[0] if end != "not run" else end] += 1
        total = {kind: sum(row[kind] for row in counts.values()) for kind in ("killed", "timeout", "lived", "not run")}
        for name, row in list(counts.items()) + [("all", total)]:
            ran = row["killed"] + row["timeout"] + row["lived"]
            print(f"{name:10}", *(f"{row[kind]:4} {kind}" for kind in row), f"{100 * (ran - row['lived']) / max(ran, 1):5.1f} % killed")
