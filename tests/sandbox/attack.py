#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries to break out of `cordon exec`: attack.py --cordon FILE --probe FILE [--user UID] [NAME...]

The attempts are data, in attacks_*.py; row.py describes the fields of a row. Each attempt is made twice, each time
in a fresh world (world.py): outside, where it must work, because otherwise it proves nothing; and
inside, where it must have no effect that is visible outside. Prints TAP. NAMEs select attempts by a substring of
their name. Must be started by root; with --user the attempts are made by that user ID, which needs
no account.
"""
import argparse
import os
import platform
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

import attacks_developer
import attacks_exec
import attacks_fs
import attacks_landlock
import attacks_limits
import attacks_net
import attacks_proc
import attacks_tty
import kernel
import row
import world

TABLES = [attacks_developer, attacks_fs, attacks_proc, attacks_exec, attacks_net, attacks_tty, attacks_limits, attacks_landlock]


def judge(suite, attempt, controls):
    """Returns the problems of one attempt, and a remark for the log."""
    try:
        problems = row.control(suite, attempt)
        lacking = kernel.lacks(attempt.needs) if problems else None
        if problems and not lacking:
            return ["control: " + p for p in problems], ""
        problems, remark = ([], "") if controls else row.sandboxed(suite, attempt)
        if remark and not remark.startswith("#"):
            remark = f"({remark})"
        return problems, f" {remark}" * bool(remark) + f" # SKIP control: {lacking}" * bool(lacking)
    except (OSError, subprocess.SubprocessError, AssertionError, KeyError, ValueError, IndexError):
        return traceback.format_exc().splitlines(), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--user", type=int, default=0)
    parser.add_argument("--base", default="/tmp", help="where the worlds are made")
    parser.add_argument("--controls", action="store_true", help="only outside")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    suite = world.Suite(options.cordon, options.probe, options.user, options.base)
    elsewhere = {}  # suites for rows that need another base directory
    tap = Tap()
    seen = set()
    try:
        for attempt in [r for table in TABLES for r in table.ROWS]:
            assert attempt.name not in seen, attempt.name
            seen.add(attempt.name)
            if options.names and not any(n in attempt.name for n in options.names):
                continue
            if attempt.only and attempt.only != platform.machine():
                tap.report(attempt.name, skipped=f"only {attempt.only} has it")
                continue
            place = suite
            if attempt.base and attempt.base != options.base:
                if attempt.base not in elsewhere:
                    elsewhere[attempt.base] = world.Suite(options.cordon, options.probe, options.user, attempt.base)
                place = elsewhere[attempt.base]
            problems, remark = judge(place, attempt, options.controls)
            tag = f"{attempt.n} " if attempt.n else ""
            tap.report(f"{tag}{attempt.name}{remark}", problems)
    finally:
        for one in [suite, *elsewhere.values()]:
            one.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
