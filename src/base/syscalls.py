# SPDX-License-Identifier: Apache-2.0
"""syscalls.py OUTPUT EXTRA COMPILER…: the system calls of the processor that the compiler builds for, as a C header.

Names and numbers come from the kernel's own header (asm/unistd.h) through the preprocessor. EXTRA (syscalls.txt) lists
names that the header may lack: newer ones with their number, and older ones of x86-64, which have none elsewhere."""
import re
import subprocess
import sys

SHARED = 424  # from this number on, all processors use the same numbers
NOT_CALLS = {"syscalls", "arch_specific_syscall", "syscall_mask"}


def preprocess(compiler, text, *options):
    done = subprocess.run([*compiler, "-E", *options, "-x", "c", "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"syscalls.py: {' '.join(compiler)}: {done.stderr}")
    return done.stdout


def headers_calls(compiler):
    """Numbers by name, and whether the processor is an x86-64."""
    include = "#include <asm/unistd.h>\n"
    macros = preprocess(compiler, include, "-dM")
    names = set(re.findall(r"^#define __NR_([a-z0-9_]+) ", macros, re.M)) - NOT_CALLS
    lines = preprocess(compiler, include + "".join(f"@{name} __NR_{name}\n" for name in sorted(names)), "-P")
    calls = {}
    for name, value in re.findall(r"^ *@ *([a-z0-9_]+) (.*)$", lines, re.M):
        if not re.fullmatch(r"[0-9()+ ]+", value):
            sys.exit(f"syscalls.py: the number of {name} is '{value}'")
        calls[name] = sum(int(part) for part in re.findall(r"[0-9]+", value))
    return calls, "#define __x86_64__ 1" in macros


def add_extra(calls, path, is_x86_64):
    """The names that this processor does not have."""
    absent = []
    for line in open(path, encoding="ascii"):
        name, *number = line.split("#")[0].split() or [""]
        if not name:
            continue
        if number and (int(number[0]) < SHARED or calls.setdefault(name, int(number[0])) != int(number[0])):
            sys.exit(f"{path}: {name} does not have the number {number[0]} on every processor")
        if name not in calls:
            if is_x86_64:
                sys.exit(f"{path}: x86-64 has no {name}")
            absent.append(name)
    return absent


def main():
    output, extra, *compiler = sys.argv[1:]
    calls, is_x86_64 = headers_calls(compiler)
    if len(calls) < 200:
        sys.exit(f"syscalls.py: asm/unistd.h of {' '.join(compiler)} names {len(calls)} calls only")
    absent = add_extra(calls, extra, is_x86_64)
    ordered = sorted(calls.items(), key=lambda call: (call[1], call[0]))
    with open(output, "w", encoding="ascii") as out:
        out.write("/* The system calls of this processor; made by base/syscalls.py. */\n")
        out.write("#define SYSCALLS_HERE(X)" + "".join(f" \\\n    X({name}, {n})" for name, n in ordered) + "\n")
        out.write("#define SYSCALLS_ABSENT(X)" + "".join(f" \\\n    X({name})" for name in sorted(absent)) + "\n")


main()
