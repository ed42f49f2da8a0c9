# SPDX-License-Identifier: Apache-2.0
"""Third-party parts of a static program: directories that `script/build --release` makes, with libraries.tsv and copyright/."""
import os

OWN = "Apache-2.0"
# By Debian's source package: the licence of the parts that are linked, as SPDX writes it.
LICENCES = {
    "curl": "curl",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gcc-12-cross": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "jansson": "MIT",
    "libyaml": "MIT",
    "md4c": "MIT",
    "nghttp2": "MIT",
    "openssl": "Apache-2.0",
    "pcre2": "BSD-2-Clause AND BSD-3-Clause",  # its JIT compiler (sljit), and the rest
    "unicode-data": "Unicode-DFS-2016",
    "zlib": "Zlib",
}
# Not linked: used to generate tables.
DATA = {"unicode-data"}


def read(directory):
    """[(source package, version)]"""
    with open(os.path.join(directory, "libraries.tsv"), encoding="ascii") as f:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in f]
    unknown = sorted({name for name, _ in rows} - set(LICENCES))
    if unknown or not rows:
        raise SystemExit(f"{directory}: {unknown or 'no libraries'}: a row in packaging/libraries.py is missing")
    return sorted(rows)


def expression(rows):
    """The licence of a program with these libraries."""
    parts = {part for name, _ in rows for part in LICENCES[name].split(" AND ")}
    return " AND ".join([OWN, *sorted(parts - {OWN})])
