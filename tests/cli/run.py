#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs command-line tests that are data: tests/cli/*.t

A file is a list of cases. `## title` starts one; lines before the first case, and lines that start
with `#`, are comments. In a case:

    $ command           run by bash, in the case's own empty directory
    > more of it        continues the command
    expected output     stdout and stderr together, byte for byte
    ? 12                expected exit status, if it is not 0

`cordon` is the program under test. $T is the case's directory, and replaces it in the output.
HOME is $T/home. An expected line that ends in ` (re)` is a regular expression for the whole line;
` (esc)` interprets \\xNN and \\t in it. A file named *.user.t runs as an ordinary user when root runs
the tests. Processes that a case leaves running are killed, and a failure.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import KILLED_S, Tap, become_reaper, die_with, orphans  # noqa: E402 pylint: disable=wrong-import-position

TIMEOUT_S = 180
NOBODY = 65534
WORKERS = 2  # many cases wait more than they compute


class Case:
    def __init__(self, title, line):
        self.title, self.line, self.commands = title, line, []


class Command:
    def __init__(self, text, line):
        self.text, self.line, self.output, self.status = text, line, [], 0


def parse(path):
    cases = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            if line.startswith("## "):
                cases.append(Case(line[3:], number))
            elif not cases or line.startswith("# ") or line == "#":
                continue
            elif line.startswith("$ "):
                cases[-1].commands.append(Command(line[2:], number))
            elif not cases[-1].commands:
                if line:
                    sys.exit(f"{path}:{number}: output before a command")
            elif line.startswith("> ") and not cases[-1].commands[-1].output:
                cases[-1].commands[-1].text += "\n" + line[2:]
            elif line.startswith("? "):
                cases[-1].commands[-1].status = int(line[2:])
            elif line:
                cases[-1].commands[-1].output.append(line)
    return cases


def line_matches(want, got):
    if want.endswith(" (re)"):
        return re.fullmatch(want[:-5].encode(), got) is not None
    if want.endswith(" (esc)"):
        want = want[:-6]
        raw = re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), want.encode())
        return raw.replace(b"\\t", b"\t") == got
    return want.encode() == got


def run_command(command, directory, environment, as_user):
    def become_user():
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)

    done = subprocess.run(
        ["bash", "-c", command.text], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False,
        preexec_fn=become_user if as_user else None)
    output = done.stdout.replace(directory.encode(), b"$T")
    lines = output.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines, done.returncode


def judge(command, lines, status):
    ok = status == command.status and len(lines) == len(command.output) and all(
        line_matches(want, got) for want, got in zip(command.output, lines))
    if ok:
        return []
    return ([f"line {command.line}: {command.text}", f"exit {status}, wanted {command.status}"]
            + [f"want: {line}" for line in command.output]
            + [f"got:  {line.decode('utf-8', 'backslashreplace')}" for line in lines])


def run_case(case, cordon_dir, as_user):
    top = os.path.realpath(tempfile.mkdtemp(prefix="cordon-cli-"))
    directory = os.path.join(top, "t")
    os.makedirs(os.path.join(directory, "home"))
    os.chmod(top, 0o755)
    if as_user:
        for name in (directory, os.path.join(directory, "home")):
            os.chown(name, NOBODY, NOBODY)
    environment = {
        "PATH": cordon_dir + ":" + os.environ["PATH"], "HOME": directory + "/home",
        "T": directory, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
        **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}
    problems, wait_s = [], 0
    try:
        for command in case.commands:
            problems += judge(command, *run_command(command, directory, environment, as_user))
            if problems:
                break
        wait_s = KILLED_S
    except subprocess.TimeoutExpired:
        problems.append("took longer than %d s" % TIMEOUT_S)
    finally:
        problems += orphans(wait_s)
        subprocess.run(["chmod", "-R", "u+rwx", top], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(top, ignore_errors=True)
    return problems


def run_some(numbered, bin_dir):
    """Runs (number, path, case) in this order. Prints a case's lines in one write, because the other workers also print."""
    become_reaper()
    failed = 0
    for number, path, case in numbered:
        problems = run_case(case, bin_dir, path.endswith(".user.t") and os.getuid() == 0)
        failed += bool(problems)
        sys.stdout.write(Tap.lines(number, f"{os.path.basename(path)}:{case.line} {case.title}", problems))
        sys.stdout.flush()
    return 1 if failed else 0


def start_worker(numbered, bin_dir):
    parent = os.getpid()
    pid = os.fork()
    if pid != 0:
        return pid
    status = 2
    try:
        die_with(parent, signal.SIGTERM)
        status = run_some(numbered, bin_dir)
    except SystemExit as e:
        status = e.code
    finally:
        os._exit(status)


def main():
    if len(sys.argv) < 4 or sys.argv[1] != "--cordon":
        sys.exit("usage: run.py --cordon BINARY FILE|DIRECTORY…")
    files = []
    for name in sys.argv[3:]:
        found = [os.path.join(name, f) for f in os.listdir(name)] if os.path.isdir(name) else [name]
        files += sorted(f for f in found if f.endswith(".t"))
    cases = [(path, case) for path in files for case in parse(path)]
    numbered = [(number, *case) for number, case in enumerate(cases, 1)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and ends what runs
    # Copy the binary to where an ordinary user can run it.
    bin_dir = tempfile.mkdtemp(prefix="cordon-bin-")
    os.chmod(bin_dir, 0o755)
    shutil.copy(sys.argv[2], os.path.join(bin_dir, "cordon"))
    try:
        sys.stdout.flush()
        workers = [start_worker(numbered[i::WORKERS], bin_dir) for i in range(WORKERS)]
        failed = [pid for pid in workers if os.waitpid(pid, 0)[1] != 0]
    finally:
        shutil.rmtree(bin_dir)
    Tap.plan(len(cases))
    return 1 if failed or not cases else 0


sys.exit(main())
