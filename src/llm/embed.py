#!/usr/bin/env python3
"""embed.py OUTPUT FILE: writes a C file that holds the script which answers if there is no key."""
import sys


def literal(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'    "{escaped}"\n'


def main():
    with open(sys.argv[2], encoding="ascii") as f:
        lines = f.readlines()
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write('/* Made by embed.py. */\n#include "llm/script_text.h"\n\n')
        out.write("const char script_default_text[] =\n" + "".join(map(literal, lines)).rstrip() + ";\n")


main()
