# SPDX-License-Identifier: Apache-2.0
"""A supervisor and a process that it starts, each stopped at its system calls (ptrace), so that the one can be killed at any
point of the other:

    with Traced(argv, uid=None, cwd=…, env=…) as s:
        first = s.until_start(0)    # its first process that is not a thread, held at its start
        s.step(s.pid, 5)            # five stops of the supervisor: RAN; or BLOCKED, if it waits; or ENDED
        s.kill()                    # the supervisor; the other one continues
"""
import ctypes
import os
import signal
import time

PTRACE_CONT, PTRACE_DETACH, PTRACE_SYSCALL = 7, 17, 24
PTRACE_SETOPTIONS, PTRACE_GETEVENTMSG = 0x4200, 0x4201
PTRACE_TRACEME = 0
SYSGOOD, FORK, VFORK, CLONE, EXITKILL = 1, 2, 4, 8, 1 << 20
WALL = 0x40000000
TIMEOUT_S = 60
LOOKS = 50

RAN, BLOCKED, ENDED = "ran", "blocked", "ended"

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, pid, data=0):
    """Returns false if the process is gone."""
    return libc.ptrace(request, pid, None, data) == 0


def field(pid, name):
    """A field of /proc/PID/status; None if the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
            return next(line.split()[1] for line in f if line.startswith(name + ":"))
    except (OSError, StopIteration):
        return None


class Traced:
    def __init__(self, argv, uid, cwd, env):
        self.held = []  # others that are stopped
        self.alive = True
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.become(argv, uid, cwd, env)
            finally:
                os._exit(127)
        os.waitpid(self.pid, WALL)
        ptrace(PTRACE_SETOPTIONS, self.pid, SYSGOOD | FORK | VFORK | CLONE | EXITKILL)

    @staticmethod
    def become(argv, uid, cwd, env):
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.chdir(cwd)
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        ptrace(PTRACE_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execve(argv[0], argv, env)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @staticmethod
    def passed(status):
        """The signal to deliver to a stopped process."""
        sig = os.WSTOPSIG(status) & 0x7f
        return 0 if sig in (signal.SIGTRAP, signal.SIGSTOP) else sig

    def wait(self, pid):
        """The status of its next stop, or None if it sleeps, which must be observed several times: also in vfork(), until a child
        executes, which waits for a listener in the held supervisor."""
        deadline = time.monotonic() + TIMEOUT_S
        asleep = 0
        while time.monotonic() < deadline:
            asleep = asleep + 1 if field(pid, "State") in ("S", "D") else 0
            got, status = os.waitpid(pid, WALL | os.WNOHANG)
            if got:
                return status
            if asleep == LOOKS:
                return None
        raise TimeoutError(f"process {pid} neither stops nor sleeps nor ends")

    def step(self, pid, count):
        for _ in range(count):
            sig = 0
            while True:
                if not ptrace(PTRACE_SYSCALL, pid, sig):
                    return ENDED
                status = self.wait(pid)
                if status is None:
                    return BLOCKED
                if not os.WIFSTOPPED(status):
                    self.alive &= pid != self.pid
                    return ENDED
                if os.WSTOPSIG(status) == signal.SIGTRAP | 0x80:
                    break
                if pid == self.pid and (other := self.new_process(status)):  # a thread continues already
                    ptrace(PTRACE_DETACH, other)
                sig = self.passed(status)
        return RAN

    def new_process(self, status):
        """The process that a stop of the supervisor reports, held; None if it reports none, or a thread."""
        if status >> 16 == 0:
            return None
        pid = ctypes.c_ulong()
        ptrace(PTRACE_GETEVENTMSG, self.pid, ctypes.addressof(pid))
        os.waitpid(pid.value, WALL)
        if field(pid.value, "Tgid") == str(pid.value):
            return pid.value
        ptrace(PTRACE_DETACH, pid.value)
        return None

    def until_start(self, number):
        """The process with this number among those that it starts; None if it ended before."""
        sig = 0
        while ptrace(PTRACE_CONT, self.pid, sig):
            _, status = os.waitpid(self.pid, WALL)
            if not os.WIFSTOPPED(status):
                self.alive = False
                return None
            pid = self.new_process(status)
            if pid and number == 0:
                ptrace(PTRACE_SETOPTIONS, pid, SYSGOOD | EXITKILL)
                self.held.append(pid)
                return pid
            if pid:
                ptrace(PTRACE_DETACH, pid)
                number -= 1
            sig = self.passed(status) if status >> 16 == 0 else 0
        return None

    def kill(self):
        """Kills the supervisor; the others continue alone."""
        if self.alive:
            os.kill(self.pid, signal.SIGKILL)
            while not os.WIFSIGNALED(os.waitpid(self.pid, WALL)[1]):
                pass
            self.alive = False
        for pid in self.held:
            self.release(pid)
        self.held = []

    @staticmethod
    def release(pid):
        """A process can be detached only while it is stopped."""
        if not ptrace(PTRACE_DETACH, pid) and field(pid, "Tgid"):
            os.kill(pid, signal.SIGSTOP)
            if os.WIFSTOPPED(os.waitpid(pid, WALL)[1]):
                ptrace(PTRACE_DETACH, pid)
                os.kill(pid, signal.SIGCONT)
