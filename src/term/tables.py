#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tables.py OUTPUT UNICODE.H FILE...: writes a C file with the two-stage table that unicode.h describes.

The files are those of the Unicode Character Database, found by name. The header defines the version that they
must have, and the layout of a class byte; none of that is repeated here.
"""
import os
import re
import sys

CODEPOINTS = 0x110000
# Names of Grapheme_Cluster_Break that the header spells differently.
BREAKS = {"Regional_Indicator": "REGIONAL", "SpacingMark": "SPACING"}
# Vowels and final consonants are in the columns of the consonant that starts the syllable.
JAMO_AFTER_FIRST = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
SOFT_HYPHEN = 0x00AD  # a format character, but visible if present


class Header:
    """The definitions of unicode.h."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.version = re.search(r'^#define UNICODE_VERSION "([\d.]+)"$', text, re.M)[1]
        body = re.search(r"^enum unicode_break \{\n(.*?)^\};", text, re.M | re.S)[1]
        # Only names, one per line: anything else would number them differently.
        names = [re.fullmatch(r" +BREAK_(\w+),", line)[1] for line in body.splitlines()]
        self.breaks = {name: number for number, name in enumerate(names)}
        self.width_shift = self.number(text, r"UNICODE_WIDTH_SHIFT = (\d+),")
        self.variation = 1 << self.number(text, r"UNICODE_EMOJI_VARIATION = 1 << (\d+),")
        self.block_size = 1 << self.number(text, r"UNICODE_BLOCK_SHIFT = (\d+),")

    @staticmethod
    def number(text, pattern):
        return int(re.search(pattern, text)[1])


def lines(paths, name, version):
    """The data lines of a file, as fields. Stops if the file is of another version."""
    path = next((p for p in paths if os.path.basename(p) == name), None)
    if path is None:
        sys.exit(f"tables.py: {name} is not among the files")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = re.match(r"# \w+-(\d+\.\d+)\.\d+\.txt\n", text)
    if not found:  # the emoji files have it further down
        found = re.search(r"^# Used with Emoji Version (\d+\.\d+) ", text[:1000], re.M)
    if not found or found[1] != version:
        sys.exit(f"tables.py: {path} is of Unicode {found[1] if found else '(unknown)'}, not {version}")
    for line in text.splitlines():
        data = line.split("#")[0].strip()
        if data:
            yield [field.strip() for field in data.split(";")]


def ranges(paths, name, version):
    """The code points of each line, and the value that they have."""
    for codepoints, value, *_ in lines(paths, name, version):
        first, _, last = codepoints.partition("..")
        yield range(int(first, 16), int(last or first, 16) + 1), value


def prop(paths, name, version, default):
    """A property's value for each code point."""
    values = [default] * CODEPOINTS
    for codepoints, value in ranges(paths, name, version):
        values[codepoints.start : codepoints.stop] = [value] * len(codepoints)
    return values


def members(paths, name, version, wanted):
    """The code points that have a property, from a file with many of them."""
    return {cp for codepoints, value in ranges(paths, name, version) if value == wanted for cp in codepoints}


def width(cp, category, east_asian, prepended):
    """Columns, as in wcwidth(). Zero width is checked first: there are wide combining marks (U+3099)."""
    if category in ("Mn", "Me", "Cc", "Zl", "Zp") or any(cp in jamo for jamo in JAMO_AFTER_FIRST):
        return 0
    if category == "Cf" and cp != SOFT_HYPHEN and cp not in prepended:
        return 0
    return 2 if east_asian in ("W", "F") else 1


def classes(header, paths):
    """The class byte of each code point."""
    category = prop(paths, "DerivedGeneralCategory.txt", header.version, "Cn")
    east_asian = prop(paths, "EastAsianWidth.txt", header.version, "N")
    breaks = prop(paths, "GraphemeBreakProperty.txt", header.version, "Other")
    pictographs = members(paths, "emoji-data.txt", header.version, "Extended_Pictographic")
    prepended = members(paths, "PropList.txt", header.version, "Prepended_Concatenation_Mark")
    sequences = lines(paths, "emoji-variation-sequences.txt", header.version)
    variations = {int(sequence.split()[0], 16) for sequence, *_ in sequences}

    result = bytearray(CODEPOINTS)
    for cp in range(CODEPOINTS):
        name = BREAKS.get(breaks[cp], breaks[cp].upper())
        if cp in pictographs:
            if name != "OTHER":
                sys.exit(f"tables.py: U+{cp:04X} is {name} and a pictograph; unicode.h has no value for that")
            name = "PICTOGRAPH"
        columns = width(cp, category[cp], east_asian[cp], prepended)
        result[cp] = header.breaks[name] | columns << header.width_shift | (header.variation if cp in variations else 0)
    return result


def array(out, name, values):
    out.write(f"\nconst uint8_t {name}[{len(values)}] = {{\n")
    for at in range(0, len(values), 16):
        out.write("    " + " ".join(f"{value}," for value in values[at : at + 16]) + "\n")
    out.write("};\n")


def main():
    output, header_path, *paths = sys.argv[1:]
    header = Header(header_path)
    all_classes = classes(header, paths)
    blocks = {}  # contents of a block: its number
    numbers = []
    for at in range(0, CODEPOINTS, header.block_size):
        numbers.append(blocks.setdefault(bytes(all_classes[at : at + header.block_size]), len(blocks)))
    if len(blocks) > 256:
        sys.exit(f"tables.py: {len(blocks)} different blocks; their numbers do not fit into a uint8_t")
    with open(output, "w", encoding="ascii") as out:
        out.write(f'/* Made by tables.py from Unicode {header.version}. */\n#include "term/unicode.h"\n')
        array(out, "unicode_blocks", numbers)
        array(out, "unicode_classes", b"".join(blocks))


main()
