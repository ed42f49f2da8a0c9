#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT INDEX CSS JS...: builds one page from the viewer's files, as a C file with two strings: the page
before the data and after it. The page's content security policy allows exactly this style and these scripts."""
import base64
import hashlib
import sys

DATA = '<script id="data" type="application/json">{}</script>'
LINK = '<link rel="stylesheet" href="viewer.css">'
POLICY = "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'"


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def replace(page, old, new):
    if page.count(old) != 1:
        sys.exit(f"embed.py: {old!r} stands {page.count(old)} times in the page, not once")
    return page.replace(old, new)


def read(name):
    with open(name, encoding="utf-8") as f:
        return f.read()


def literal(text):
    """Returns lines of a C string. Octal escapes have three digits, so that they cannot absorb the next character."""
    out = []
    for line in text.splitlines(keepends=True):
        data = "".join(
            chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in line.encode())
        out.append(f'    "{data}"\n')
    return "".join(out)


def main():
    output, index, css, *scripts = sys.argv[1:]
    page, style = read(index), read(css)
    hashes = []
    for name in scripts:
        base, text = name.rsplit("/", 1)[-1], read(name)
        if "</script" in text or "<!--" in text:
            sys.exit(f"embed.py: {name} would end its own element")
        page = replace(page, f'<script src="{base}"></script>', f"<script>{text}</script>")
        hashes.append(digest(text))
    page = replace(page, LINK, f"<style>{style}</style>")
    page = replace(page, "@policy@", POLICY.format(" ".join(hashes), digest(style)))
    head, tail = page.split(DATA)
    start, end = DATA.split("{}")
    with open(output, "w", encoding="ascii") as out:
        out.write('/* Made by embed.py. */\n#include "trace/page.h"\n\n')
        out.write(f"const char *const page_head =\n{literal(head + start).rstrip()};\n\n")
        out.write(f"const char *const page_tail =\n{literal(end + tail).rstrip()};\n")


main()
