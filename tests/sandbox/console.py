# SPDX-License-Identifier: Apache-2.0
"""A terminal with a simulated user: a pty, a small shell that starts one job on it, and typed
input. Tests of `cordon exec` on an interactive terminal use it.

    c = Console(t, t.command(t.child, "listen", policy=p))
    c.expect(b"size 24x80")
    c.send(b"\\x03")
    c.expect(b"got INT")
    c.finish()
"""
import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import TIMEOUT_S, Failed  # noqa: E402 pylint: disable=wrong-import-position

EXPECT_S = 60  # for output that should come immediately: only a hang takes that long


def set_size(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def shell(place, argv, slave, events, orders, streams):
    """The session leader: puts the job in the foreground, reports its state changes, and obeys
    `fg` and `bye`."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    if place.uid is not None:
        os.setgroups([])
        os.setresgid(place.uid, place.uid, place.uid)
        os.setresuid(place.uid, place.uid, place.uid)
    for number in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        try:
            os.setpgid(0, 0)
            os.tcsetpgrp(slave, os.getpid())
            for number in range(1, 32):
                if number not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(number, signal.SIG_DFL)
            for fd in range(3):
                os.dup2(streams.get(fd, slave), fd)
            os.chdir(place.work)
            os.execve(argv[0], argv, place.env)
        finally:
            os._exit(127)
    os.write(events, b"pid %d\n" % job)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        with contextlib.suppress(OSError):  # the window may be closed
            os.tcsetpgrp(slave, os.getpgrp())
        if not os.WIFSTOPPED(status):
            os.write(events, b"end %d\n" % os.waitstatus_to_exitcode(status))
            os.read(orders, 16)
            return
        os.write(events, b"stop %d\n" % os.WSTOPSIG(status))
        if os.read(orders, 16) != b"fg":
            return
        os.tcsetpgrp(slave, job)
        os.kill(-job, signal.SIGCONT)


class Console:
    def __init__(self, place, argv, rows=24, cols=80, streams=None, change=None, mode=0o620):
        """`streams`: descriptors for the job's 0, 1 or 2 that are not the terminal; `change` is
        called with the terminal's modes before anything starts; `mode` is the mode of its file."""
        self.place, self.seen, self.raw_events, self.ended = place, b"", b"", False
        self.master, self.slave = os.openpty()
        place.own(os.ttyname(self.slave))
        os.chmod(os.ttyname(self.slave), mode)
        set_size(self.master, rows, cols)
        if change:
            modes = self.modes()
            change(modes)
            termios.tcsetattr(self.slave, termios.TCSANOW, modes)
        self.before = self.modes()
        self.events, events = os.pipe()
        orders, self.orders = os.pipe()
        self.leader = os.fork()
        if self.leader == 0:
            try:
                os.close(self.master)
                os.close(self.events)
                os.close(self.orders)
                shell(place, argv, self.slave, events, orders, streams or {})
            except BaseException:  # pylint: disable=broad-except
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(0)
        os.close(events)
        os.close(orders)
        os.set_blocking(self.master, False)
        self.job = int(self.event("pid"))

    # Observing

    def modes(self):
        return termios.tcgetattr(self.slave)

    def pump(self, wait_s=0.1, data=b"", read=True):
        """Reads available output, writes what can be written; returns the rest of `data`."""
        fds = [fd for fd in (self.master if read else None, self.events) if fd is not None]
        readable, writable, _ = select.select(fds, [self.master] if data else [], [], wait_s)
        if self.master in readable:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:  # hung up
                time.sleep(wait_s / 10)
        if self.events in readable:
            part = os.read(self.events, 4096)
            self.raw_events += part
            if not part:
                os.close(self.events)
                self.events = None
        if writable:
            data = data[os.write(self.master, data[:1024]):]
        return data

    def expect(self, pattern):
        """Waits for bytes, and discards the output up to their end."""
        deadline = time.monotonic() + EXPECT_S
        regex = re.compile(pattern if isinstance(pattern, bytes) else pattern.encode(), re.S)
        while not (match := regex.search(self.seen)):
            if b"end " in self.raw_events:
                self.pump(0)
                if regex.search(self.seen):
                    continue
            if b"end " in self.raw_events or time.monotonic() > deadline:
                raise Failed(f"{pattern!r} did not come; the terminal shows {self.seen[-800:]!r}, "
                             f"the job: {self.raw_events!r}")
            self.pump()
        self.seen = self.seen[match.end():]
        return match

    def any_event(self, kind="end", read=True):
        deadline = time.monotonic() + EXPECT_S
        while b"\n" not in self.raw_events:
            if time.monotonic() > deadline or self.events is None:
                raise Failed(f"the job did not {kind}; the terminal shows {self.seen[-800:]!r}")
            self.pump(read=read)
        line, _, self.raw_events = self.raw_events.partition(b"\n")
        self.ended = self.ended or line.startswith(b"end")
        return line

    def event(self, kind, read=True):
        """Waits for a state change of the job: `stop`, `end`, with a number. Without `read` the terminal's
        output is not read during the wait."""
        line = self.any_event(kind, read)
        got, value = line.split()
        if got.decode() != kind:
            raise Failed(f"the job: {line!r}, not {kind}; the terminal shows {self.seen[-800:]!r}")
        return value

    def is_raw(self):
        return not self.modes()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def is_running(self):
        """Returns whether the job is neither ended nor stopped."""
        self.pump(0)
        return b"end" not in self.raw_events and b"stop" not in self.raw_events

    # Acting

    def send(self, data):
        deadline = time.monotonic() + TIMEOUT_S
        while data:
            if time.monotonic() > deadline:
                raise Failed(f"{len(data)} bytes that were typed are not read")
            data = self.pump(data=data)

    def resize(self, rows, cols):
        set_size(self.master, rows, cols)

    def kill(self, number):
        os.kill(self.job, number)

    def fg(self):
        os.write(self.orders, b"fg")

    def hang_up(self):
        """Closes the window."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = None

    def drain(self):
        """Reads all output of a job that has ended, up to a mark that is written behind it."""
        if self.slave is None:
            return
        mark = left = b"[drained]"
        deadline = time.monotonic() + EXPECT_S
        os.set_blocking(self.slave, False)
        while mark not in self.seen:
            if time.monotonic() > deadline:
                raise Failed(f"the terminal can't be read to the end: {self.seen[-800:]!r}")
            try:
                left = left[os.write(self.slave, left):] if left else left
            except BlockingIOError:
                pass
            self.pump(0.01)
        self.seen = self.seen.replace(mark, b"")

    def finish(self, restored=True):
        """Waits for the job's end; returns its exit status, negative for a signal. The terminal must
        be restored."""
        try:
            code = int(self.event("end"))
            self.drain()
            if restored and self.modes() != self.before:
                raise Failed(f"exit {code}; the terminal is not as it was: {self.before} "
                             f"became {self.modes()}")
            return code
        finally:
            self.close()

    def close(self):
        """Ends everything, also after a failure."""
        if self.leader is None:
            return
        if not self.ended and b"end" not in self.raw_events:
            os.kill(self.job, signal.SIGKILL)  # the shell has not waited for it
            self.place.killed = True
        os.close(self.orders)
        os.waitpid(self.leader, 0)
        self.leader = None
        for fd in (self.master, self.slave, self.events):
            if fd is not None:
                os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
