# SPDX-License-Identifier: Apache-2.0
"""archive.py OUTPUT LD OBJCOPY AR ARCHIVE…: the static library, as one object whose own names nobody
sees: a program that links it can call what cordon.h declares, and its names don't meet ours."""
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
