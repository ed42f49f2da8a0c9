#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT HEADER NAME FILE: writes a C file that contains the text of FILE as NAME, which HEADER declares."""
import sys


def literal(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'    "{escaped}"\n'


def main():
    output, header, name, source = sys.argv[1:]
    with open(source, encoding="ascii") as f:
        lines = f.readlines()
    with open(output, "w", encoding="ascii") as out:
        out.write(f'/* Made by embed.py. */\n#include "{header}"\n\n')
        out.write(f"const char {name}[] =\n" + "".join(map(literal, lines)).rstrip() + ";\n")


main()
