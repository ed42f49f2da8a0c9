# SPDX-License-Identifier: Apache-2.0
"""A terminal whose screen can be queried; `cordon render` interprets its bytes."""
import os
import re
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from console import EXPECT_S, Console  # noqa: E402 pylint: disable=wrong-import-position
from harness import Failed  # noqa: E402 pylint: disable=wrong-import-position


class Screen(Console):
    """A console whose screen can be queried."""

    def __init__(self, place, argv, rows=24, cols=80, **more):
        self.rows, self.cols, self.all = rows, cols, b""
        super().__init__(place, [os.fsencode(a) for a in argv], rows, cols, **more)

    def pump(self, *args, **more):
        before = len(self.seen)
        rest = super().pump(*args, **more)
        self.all += self.seen[before:]
        return rest

    def lines(self, data=None):
        done = subprocess.run(
            [self.place.cordon, "render", "--rows", str(self.rows), "--cols", str(self.cols)],
            input=self.all if data is None else data, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode().split("\n")

    def shows(self, pattern):
        """Waits until the screen shows the pattern; returns the lines."""
        deadline = time.monotonic() + EXPECT_S
        while True:
            lines = self.lines()
            if re.search(pattern, "\n".join(lines), re.M):
                return lines
            if b"end " in self.raw_events or time.monotonic() > deadline:
                self.pump(0)
                if re.search(pattern, "\n".join(self.lines()), re.M):
                    return self.lines()
                raise Failed(f"{pattern!r} is not shown: {self.lines()} {self.raw_events!r}")
            self.pump()

    def resize(self, rows, cols):
        self.rows, self.cols, self.all = rows, cols, b""
        super().resize(rows, cols)
