#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes the relocations of the section later_tables from a static program's startup: later.py PROGRAM.

They move to the end of the table, beyond the size that the C library reads; later_relocations locates them.
"""

import struct
import sys

DT_RELA, DT_RELASZ, DT_RELACOUNT = 7, 8, 0x6FFFFFF9
PT_LOAD, PT_DYNAMIC, SHT_SYMTAB = 1, 2, 2
RELATIVE = {62: 8, 183: 1027}  # by machine: x86-64, aarch64
RELA = struct.Struct("<QQq")


class Program:
    def __init__(self, image):
        self.image = image
        if image[:6] != b"\x7fELF\x02\x01":
            raise SystemExit("later.py: not a 64-bit little-endian ELF file")
        (self.machine,) = struct.unpack_from("<H", image, 18)
        phoff, shoff = struct.unpack_from("<QQ", image, 32)
        phentsize, phnum, shentsize, shnum = struct.unpack_from("<HHHH", image, 54)
        self.segments = [struct.unpack_from("<IIQQQQQQ", image, phoff + i * phentsize) for i in range(phnum)]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", image, shoff + i * shentsize) for i in range(shnum)]

    def offset(self, address):
        """The file offset of the byte at an address."""
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise SystemExit(f"later.py: {address:#x} is not in the file")

    def symbols(self):
        found = {}
        for s in self.sections:
            if s[1] != SHT_SYMTAB:
                continue
            names = self.sections[s[6]][4]
            for at in range(s[4], s[4] + s[5], 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.image, at)
                end = self.image.index(b"\0", names + name)
                found[bytes(self.image[names + name : end])] = value
        return found

    def dynamic(self):
        """The file offset of each entry's value, by tag."""
        (segment,) = [s for s in self.segments if s[0] == PT_DYNAMIC]
        return {
            struct.unpack_from("<Q", self.image, at)[0]: at + 8
            for at in range(segment[2], segment[2] + segment[5], 16)
        }

    def read(self, at):
        return struct.unpack_from("<Q", self.image, at)[0]

    def write(self, at, value):
        struct.pack_into("<Q", self.image, at, value)


def is_relative(program, row):
    return row[1] == RELATIVE[program.machine]


def set_aside(program):
    dynamic, symbols = program.dynamic(), program.symbols()
    table, size = program.read(dynamic[DT_RELA]), program.read(dynamic[DT_RELASZ])
    begin, end = symbols[b"later_begin"], symbols[b"later_end"]
    at = program.offset(table)
    rows = list(RELA.iter_unpack(program.image[at : at + size]))
    later = [r for r in rows if begin <= r[0] < end and is_relative(program, r)]
    moved = set(later)
    first = [r for r in rows if r not in moved]
    relative = next((i for i, r in enumerate(first) if not is_relative(program, r)), len(first))
    for i, row in enumerate(first + later):
        RELA.pack_into(program.image, at + i * RELA.size, *row)
    program.write(dynamic[DT_RELASZ], len(first) * RELA.size)
    program.write(dynamic[DT_RELACOUNT], relative)
    place = program.offset(symbols[b"later_relocations"])
    program.write(place, table + len(first) * RELA.size)
    program.write(place + 8, len(later))
    return len(first), len(later)


def main():
    path = sys.argv[1]
    with open(path, "rb") as f:
        program = Program(bytearray(f.read()))
    first, later = set_aside(program)
    if not later:
        raise SystemExit("later.py: there is nothing to set aside; is static.ld still right?")
    with open(path, "r+b") as f:
        f.write(program.image)
    print(f"{first} relocations at the start, {later} later")


if __name__ == "__main__":
    main()
