#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the process that is writing a session, at each call that changes a file, or in the middle of one: afterwards
the session loads with everything that was reported as saved, and can be written again. Prints TAP.

kill.py --cordon build/cordon --steps build/tests/store_steps [--kill build/tests/record_kill.so]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Tap  # noqa: E402  pylint: disable=wrong-import-position

ROUNDS = 3
MESSAGES = 3


class Sessions:
    def __init__(self, args, work):
        self.cordon, self.steps = os.path.abspath(args.cordon), os.path.abspath(args.steps)
        self.kill = os.path.abspath(args.kill)
        self.work, self.home = work, work / "home"

    def run(self, *words, n=None, half=False):
        env = {**os.environ, "CORDON_HOME": str(self.home)}
        if n:
            env |= {"LD_PRELOAD": self.kill, "KILL_AT": str(n), **({"KILL_HALF": "1"} if half else {})}
        return subprocess.run(words, env=env, cwd=self.work, capture_output=True, text=True, timeout=60, check=False)

    def ask(self, *words):
        return self.run(self.cordon, "sessions", *words)

    def clean(self):
        shutil.rmtree(self.home, ignore_errors=True)
        for path in self.work.glob("*s1.json*"):
            path.unlink()
        for path in self.work.glob(".*s1.json*"):
            path.unlink()

    def count(self, word):
        got = self.ask("show", "--json", word)
        if got.returncode == 18:
            return None
        assert got.returncode == 0, f"show: {got.returncode} {got.stderr}"
        return len(json.loads(got.stdout)["messages"])


def appended(s, word, half):
    """Killed while it makes a session and appends to it, repeatedly in the same file."""
    directory = str(s.home / "sessions")
    n = 0
    while True:
        n += 1
        s.clean()
        safe, ended = None, False
        for i in range(ROUNDS):
            got = s.run(s.steps, directory, word, str(MESSAGES), n=n, half=half)
            assert got.returncode in (0, -9), f"call {n}: {got.returncode} {got.stderr}"
            ended = got.returncode == 0 if i == 0 else ended
            told = [int(line.split()[1]) for line in got.stdout.splitlines()]
            if told:
                assert safe is None or told[0] >= safe, f"call {n}: {told[0]} of {safe} are left"
                safe = told[-1]
            have = s.count(word)
            if safe is not None:
                assert have is not None and safe <= have <= safe + 1, f"call {n}: {have}, not {safe}"
        got = s.run(s.steps, directory, word, "1")
        assert got.returncode == 0, f"call {n}, then: {got.stderr}"
        if ended:
            break
        assert n < 500, "it never ends"
    print(f"# {word}: killed at {n - 1} calls{', in their midst' if half else ''}")
    assert n > 5, "there are more calls than that"


def imported(s, half):
    """Killed while a session is imported, or replaced: the old one or the new one exists."""
    def envelope(texts):
        return {"version": 1, "id": "s1", "messages": [
            {"type": "user", "content": [{"type": "text", "text": text}]} for text in texts]}

    old, new = s.work / "old.json", s.work / "new.json"
    old.write_text(json.dumps(envelope(["one"])))
    new.write_text(json.dumps(envelope(["one", "two"])))
    for replace in (False, True):
        seen, n = set(), 0
        while True:
            n += 1
            s.clean()
            if replace:
                assert s.ask("import", str(old)).returncode == 0
            got = s.run(s.cordon, "sessions", "import", "--replace", str(new), n=n, half=half)
            assert got.returncode in (0, -9), f"call {n}: {got.returncode} {got.stderr}"
            seen.add(s.count("s1"))
            assert s.ask("list").returncode == 0
            if got.returncode == 0:
                break
            assert n < 500, "it never ends"
        assert seen == {1 if replace else None, 2}, f"{seen}"
        print(f"# import: killed at {n - 1} calls")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--steps", required=True)
    parser.add_argument("--kill", help="the library that ends it; without it that is not tried")
    args = parser.parse_args()
    tap = Tap()
    if not args.kill:
        tap.report("killed", skipped="there is no library that ends it")
        return tap.end()
    tests = []
    work = Path(tempfile.mkdtemp(prefix="cordon-session-"))
    s = Sessions(args, work)
    for half in (False, True):
        how = ", half way" if half else ""
        tests += [(f"killed while appending{how}", lambda h=half: appended(s, "s1", h)),
                  (f"killed while working on an envelope{how}", lambda h=half: appended(s, "./s1.json", h)),
                  (f"killed while importing{how}", lambda h=half: imported(s, h))]
    for name, test in tests:
        tap.run(name, test)
    shutil.rmtree(work, ignore_errors=True)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
