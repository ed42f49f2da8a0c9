# SPDX-License-Identifier: Apache-2.0
"""archive.py OUTPUT LD OBJCOPY AR ARCHIVE…: builds the static library as one object with hidden
symbols made local: programs can call what cordon.h declares, and no names clash with theirs."""
import os
import subprocess
import sys

output, ld, objcopy, ar, *archives = sys.argv[1:]
whole = output + ".o"
subprocess.run([ld, "-r", "-o", whole, "--whole-archive", *archives], check=True)
subprocess.run([objcopy, "--localize-hidden", whole], check=True)
if os.path.exists(output):
    os.unlink(output)
subprocess.run([ar, "rcsD", output, whole], check=True)
os.unlink(whole)
