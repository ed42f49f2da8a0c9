#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an index that git itself would not write: craft_index.py INDEX [option]… MODE:NAME:FILE…

Options: --v4; --sha256; --split (the entries are in a shared index, beside INDEX); --pad BYTES (an extension without meaning).
FILE has the content of the entry, or the target of a symlink; the current directory is in the repository. A name may have the escapes
of Python's bytes; a stage comes after the mode: 100644/2.
"""
import ast
import hashlib
import os
import struct
import subprocess
import sys


def entry(mode, stage, name, oid, before, v4):
    flags = min(len(name), 0xfff) | stage << 12
    data = struct.pack(">10I", 0, 0, 0, 0, 0, 0, int(mode, 8), 0, 0, 0) + oid + struct.pack(">H", flags)
    if v4:
        assert len(before) < 128
        return data + bytes([len(before)]) + name + b"\0"
    data += name + b"\0"
    return data + b"\0" * (-len(data) % 8)


def index(entries, extensions, hash_, v4):
    data = b"DIRC" + struct.pack(">2I", 4 if v4 else 2, len(entries)) + b"".join(entries)
    data += b"".join(name + struct.pack(">I", len(text)) + text for name, text in extensions)
    return data + hash_(data).digest()


def main():
    path, words, options, pad = sys.argv[1], [], set(), 0
    rest = iter(sys.argv[2:])
    for word in rest:
        if word == "--pad":
            pad = int(next(rest))
        elif word.startswith("--"):
            options.add(word)
        else:
            words.append(word)
    hash_ = hashlib.sha256 if "--sha256" in options else hashlib.sha1
    entries, before = [], b""
    for word in words:
        mode, name, file = word.split(":")
        mode, _, stage = mode.partition("/")
        name = ast.literal_eval(f"b'{name}'")
        oid = bytes.fromhex(subprocess.check_output(["git", "hash-object", "-w", "--no-filters", file], text=True).strip())
        entries.append(entry(mode, int(stage or 0), name, oid, before, "--v4" in options))
        before = name
    data = index(entries, [], hash_, "--v4" in options)
    if "--split" in options:
        base = data[-hash_().digest_size:]
        with open(os.path.join(os.path.dirname(path) or ".", "sharedindex." + base.hex()), "wb") as f:
            f.write(data)
        none = struct.pack(">II", 0, 1) + bytes(8) + struct.pack(">I", 0)
        data = index([], [(b"link", base + none + none)], hash_, False)
    with open(path + ".new", "wb") as f:
        if pad:  # a hole; git does not compute the hash when it reads
            n = hash_().digest_size
            f.write(data[:-n] + b"XXXX" + struct.pack(">I", pad))
            f.seek(pad, os.SEEK_CUR)
            data = data[-n:]
        f.write(data)
    os.replace(path + ".new", path)


main()
