#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT FILE...: writes a C file that contains the presets, each with a name and a text."""
import os
import sys


def literal(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'        "{escaped}"\n'


def main():
    names = sorted(sys.argv[2:], key=os.path.basename)
    stems = [os.path.splitext(os.path.basename(name))[0] for name in names]
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write('/* Made by embed.py. */\n#include "policy/preset.h"\n\n')
        out.write("const struct preset presets[] = {\n")
        for name, stem in zip(names, stems):
            with open(name, encoding="ascii") as f:
                lines = f.readlines()
            about = lines[0].removeprefix("# ").rstrip("\n")
            out.write(f'    {{"{stem}",\n{literal(about).rstrip()},\n')
            out.write("".join(literal(line) for line in lines) + "    },\n")
        out.write("};\n\nconst size_t n_presets = ARRAY_LEN(presets);\n\n")
        choices = "".join(f'    "{stem}",\n' for stem in stems)
        out.write(f"const char *const preset_names[] = {{\n{choices}    NULL,\n}};\n")


main()
