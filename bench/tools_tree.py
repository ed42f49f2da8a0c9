#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a tree to search: 20,000 files with 500 MB of words, an ignore file, a few files that are ignored or binary.
tools_tree.py DIR [FILES]"""
import os
import random
import sys

random.seed(6)
where, files = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000
LETTERS = "eeeeeeeeeeeettttttttaaaaaaaooooooiiiiinnnnnssssrrrrhhhhllllddduuccmmffyywwggppbbvkxjqz"
words = ["".join(random.choices(LETTERS, k=random.randint(2, 11))) for _ in range(30000)]
kinds = ["{} {} {} {} {} {} {}", "    {} = {}({}, {});", "\tif ({} > {}) return {};", "// {} {} {} {}", "", "{}.{}->{}[{}]"]
lines = []
for _ in range(60000):
    kind = random.choice(kinds)
    lines.append(kind.format(*random.sample(words, 7)) + "\n")
for i in range(files):
    folder = os.path.join(where, f"m{i % 10}", f"p{i // 10 % 100}")
    os.makedirs(folder, exist_ok=True)
    text = random.choices(lines, k=820)
    if i % 200 == 7:
        text[400] = f"    call(needle_{i}_xyz, Needle_in_Haystack);\n"
    with open(os.path.join(folder, f"file{i}.c"), "w") as f:
        f.writelines(text)
with open(os.path.join(where, ".gitignore"), "w") as f:
    f.write("*.o\n/out/\n")
os.makedirs(os.path.join(where, "out"))
for i in range(40):
    with open(os.path.join(where, "out", f"made{i}.c"), "w") as f:
        f.write("needle_0_xyz\n" * 1000)
with open(os.path.join(where, "picture.bin"), "wb") as f:
    f.write(os.urandom(4 << 20) + b"needle_1_xyz\n")
