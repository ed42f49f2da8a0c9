#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records real programs, and feeds each recording to the terminal split at random offsets: see cuts.c.
A program that is not installed is a failure: script/bootstrap installs them.
"""
import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import term_record  # noqa: E402
import term_streams  # noqa: E402

GENERATED = 40 * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuts", required=True, help="the program that compares")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        files = []
        home = os.path.join(work, "home")
        os.mkdir(home)
        text = os.path.join(work, "text.c")
        with open(os.path.join(ROOT, "src/term/csi.c"), "rb") as source, open(text, "wb") as copy:
            copy.write(source.read())
        names = sorted(term_record.KEYS)
        with multiprocessing.Pool(len(names)) as pool:  # they mostly wait
            files += zip(names, pool.starmap(term_record.record, [(name, text, work, home) for name in names]), strict=True)
        for name, stream in term_streams.synthetic():
            files.append((name.replace(" ", "-"), stream[:GENERATED]))
        paths = []
        for name, content in files:
            paths.append(os.path.join(work, name))
            with open(paths[-1], "wb") as file:
                file.write(content)
        return subprocess.run([arguments.cuts, *paths], check=False).returncode


sys.exit(main())
