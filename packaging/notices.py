#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the notices for static programs: each library's version and copyright file, the texts of the licences that those name, and
how to link a program with changed libraries. --expression prints only the licence expression of the whole.

    notices.py [--expression] DIR…      DIR has libraries.tsv and copyright/ (libraries.py)
"""
import os
import re
import sys

import libraries

TEXTS = "/usr/share/common-licenses"
HEAD = """The programs in this package are licensed under the Apache License, version 2.0 (LICENSE, Apache-2.0), and have these parts of
others in them, from Debian's source packages:

{rows}

The C library (glibc) is licensed under the GNU Lesser General Public License, version 2.1 or later. You may change it, or any
other of these libraries, and link the program with it again: the sources of the program are in
cordon-{version}-source.tar.gz, which is released beside this package; `script/build --release` in them links the program with
the libraries of the Debian system that it runs on. The libraries' own sources are at the addresses above. The
licence of the whole does not forbid modification for your own use, nor reverse engineering for debugging such modifications.

Copyright notices and licences follow, as Debian's packages have them. They are those of whole source packages, of which the
programs have the libraries alone.
"""


def heading(title):
    return f"\n{'=' * 100}\n{title}\n{'=' * 100}\n\n"


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().rstrip("\n") + "\n"


def main():
    words = sys.argv[1:]
    expression = "--expression" in words
    found = {row: directory for directory in words if directory != "--expression" for row in libraries.read(directory)}
    if expression:
        print(libraries.expression(found))
        return
    rows = [f"  {name} {version} ({libraries.LICENCES[name]})\n    https://snapshot.debian.org/package/{name}/{version}/"
            for name, version in sorted(found)]
    out = [HEAD.format(rows="\n".join(rows), version=os.environ["CORDON_VERSION"])]
    copyrights = {}  # packages with the same text together
    for name, version in sorted(found):
        copyrights.setdefault(text_of(os.path.join(found[name, version], "copyright", name)), []).append(f"{name} {version}")
    out += [heading(", ".join(names)) + text for text, names in copyrights.items()]
    named = {os.path.realpath(path.rstrip(".")) for text in copyrights for path in re.findall(TEXTS + r"/[\w.-]+", text)}
    out += [heading(os.path.basename(path)) + text_of(path) for path in sorted(named) if os.path.isfile(path)]
    sys.stdout.write("".join(out))


main()
