# SPDX-License-Identifier: Apache-2.0
"""A terminal that reads as fast as it can, and records when output arrived."""
import ctypes
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

ROWS, COLS = 30, 100
LIMIT_S = 90
SEQUENCE = re.compile(rb"\033(?:\[[0-?]*[ -/]*[@-~]|\][^\007\033]*(?:\007|\033\\)|[ -/]*[0-~])|[\r\n]")
# Queries of some programs before they draw, and the simplest replies.
ANSWERS = ((b"\033[6n", b"\033[1;1R"), (b"\033[c", b"\033[?62;c"))


class Ended(Exception):
    """The program is gone, or the expected output did not come."""


class Terminal:
    """A program on its own terminal."""

    def __init__(self, argv, env, cwd, size=(ROWS, COLS)):
        self.seen = b""
        self.begun = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it does not outlive this
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.chdir(cwd)
            os.execve(argv[0], [os.fspath(a) for a in argv], {"TERM": "xterm-256color", "LANG": "C.UTF-8", **env})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)

    def send(self, data):
        os.write(self.fd, data)

    def pump(self, wait_s=1.0):
        """Returns the available output, after at most that long, and its time."""
        if not select.select([self.fd], [], [], wait_s)[0]:
            return b""
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError as e:
            raise Ended(self.seen[-400:]) from e
        self.seen += data
        for question, answer in ANSWERS:
            for _ in range(data.count(question)):
                self.send(answer)
        return data

    def until(self, pattern, since=0, limit_s=LIMIT_S):
        """Waits until the output, without escape sequences, matches; returns the time in seconds."""
        pattern, deadline = re.compile(pattern), time.perf_counter() + limit_s
        while time.perf_counter() < deadline:
            self.pump()
            now = time.perf_counter()
            if pattern.search(SEQUENCE.sub(b"", self.seen[since:])):
                return now
        raise Ended(pattern.pattern, self.seen[-400:])

    def quiet(self, for_s=0.3):
        while self.pump(for_s):
            pass

    def cpu_s(self):
        """CPU time of all its threads."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def memory_mb(self, what="VmRSS"):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith(what + ":")) / 1024
