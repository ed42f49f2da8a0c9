# SPDX-License-Identifier: Apache-2.0
"""Shared by the sandbox tests: a small world of files, listeners and a victim process, the ways to
run the probe in it, inside and outside, and the effects that are visible from outside afterwards."""
import ctypes
import fcntl
import json
import os
import platform
import pty
import random
import secrets
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tty

TIMEOUT_S = 90
MACHINE = platform.machine()
LOADER = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}[MACHINE]
LIBRARIES = f"/lib/{MACHINE}-linux-gnu"
IOPRIO_GET = {"x86_64": 252, "aarch64": 31}[MACHINE]
OUTPUT_MAX = 64 << 20


def own_address():
    """An address of this machine that is not loopback; found without sending a packet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return s.getsockname()[0]
        except OSError:
            return "127.0.0.2"


class Suite:
    """The programs under test, copied to where any user can run them."""

    def __init__(self, cordon, probe, uid, base):
        if os.getuid() != 0:
            sys.exit("these tests must be started by root: many controls need it; see --user")
        self.uid = uid
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ca-", dir=base))
        os.chmod(self.dir, 0o755)
        self.bin = os.path.join(self.dir, "bin")
        os.mkdir(self.bin)
        self.cordon = self.copy(cordon, "cordon")
        self.probe = self.copy(probe, "probe")
        self.library = self.copy(os.path.join(os.path.dirname(probe), "sandbox_preload.so"), "library.so")
        os.chown(self.probe, uid, uid)
        self.number = 0

    def copy(self, source, name):
        target = os.path.join(self.bin, name)
        shutil.copy(source, target)
        os.chmod(target, 0o755)
        return target

    def close(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.dir], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)


class Listeners:
    """Sockets of the host, of all kinds. Anything that reaches one of them has left the sandbox."""

    KINDS = {"stream": socket.SOCK_STREAM, "dgram": socket.SOCK_DGRAM, "seq": socket.SOCK_SEQPACKET}

    def __init__(self, world):
        self.sockets = {}
        self.lan = own_address()
        self.inet("tcp", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1")
        self.inet("tcp6", socket.AF_INET6, socket.SOCK_STREAM, "::1")
        self.inet("lan", socket.AF_INET, socket.SOCK_STREAM, self.lan)
        self.inet("udp", socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1")
        self.inet("udp6", socket.AF_INET6, socket.SOCK_DGRAM, "::1")
        for place, directory in (("out", world.out), ("R", world.R), ("W", world.W)):
            for kind in self.KINDS:
                path = os.path.join(directory, kind + ".sock")
                self.unix(place + "-" + kind, kind, path)
                os.chmod(path, 0o666)
        for kind in self.KINDS:
            self.unix("abstract-" + kind, kind, f"\0{world.token}-{kind}")

    def inet(self, name, family, kind, host):
        s = socket.socket(family, kind)
        s.bind((host, 0))
        self.add(name, s, kind != socket.SOCK_DGRAM)

    def unix(self, name, kind, path):
        s = socket.socket(socket.AF_UNIX, self.KINDS[kind])
        s.bind(path)
        self.add(name, s, kind != "dgram")

    def add(self, name, s, listens):
        s.setblocking(False)
        if listens:
            s.listen(16)
        self.sockets[name] = (s, listens)

    def ports(self):
        return {n: s.getsockname()[1] for n, (s, _) in self.sockets.items() if s.family != socket.AF_UNIX}

    def reached(self):
        """Returns which of them were reached. A connection counts when it is complete."""
        hit = []
        for name, (s, listens) in self.sockets.items():
            try:
                if listens:
                    s.accept()[0].close()
                else:
                    s.recv(64)
                hit.append(name)
            except BlockingIOError:
                pass
        return hit

    def close(self):
        for s, _ in self.sockets.values():
            s.close()


class Victim:
    """A process of the same user, outside, with a secret in its memory, environment and files."""

    def __init__(self, world):
        secret = os.open(world.S, os.O_RDONLY)
        self.proc = subprocess.Popen(
            [world.suite.probe, "hold", world.token], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            pass_fds=[secret], env={"SECRET": world.token}, start_new_session=True, cwd="/",
            **as_user(world.uid))
        os.close(secret)
        line = b""
        while not line.startswith(b"holding"):
            line = self.proc.stdout.readline()
        self.address = int(line.split()[1], 16)
        self.token = world.token
        self.before = self.state()

    def state(self):
        """Everything about it that an attack could have changed."""
        if self.proc.poll() is not None:
            return {"dead": self.proc.returncode}
        pid = self.proc.pid
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            status = dict(line.split(":", 1) for line in f.read().splitlines())
        with open(f"/proc/{pid}/limits", encoding="ascii") as f:
            limits = f.read()
        with open(f"/proc/{pid}/mem", "rb") as f:
            f.seek(self.address)
            memory = f.read(len(self.token))
        libc = ctypes.CDLL(None, use_errno=True)
        return {"stopped": self.stopped(), "cpus": status["Cpus_allowed"], "limits": limits,
                "memory": memory, "nice": os.getpriority(os.PRIO_PROCESS, pid),
                "policy": os.sched_getscheduler(pid), "ioprio": libc.syscall(IOPRIO_GET, 1, pid)}

    def harmed(self):
        self.settle()
        now = self.state()
        return sorted(k for k in set(now) | set(self.before) if now.get(k) != self.before.get(k))

    def settle(self):
        """Waits until the signals sent so far took effect: it responds, has stopped, or has ended."""
        deadline = time.monotonic() + TIMEOUT_S
        try:
            self.proc.stdin.write(b"?")
        except BrokenPipeError:
            pass
        while self.proc.poll() is None and not self.stopped():
            if not select.select([self.proc.stdout], [], [], 0.01)[0]:
                assert time.monotonic() < deadline, "the victim neither answers nor ends"
            elif self.proc.stdout.read(1):
                return
            else:
                self.proc.wait(TIMEOUT_S)

    def stopped(self):
        with open(f"/proc/{self.proc.pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "Tt"

    def close(self):
        self.proc.stdin.close()
        if self.proc.poll() is None:
            self.proc.send_signal(signal.SIGCONT)
        self.proc.wait(TIMEOUT_S)
        self.proc.stdout.close()


def as_user(uid):
    return {} if uid == 0 else {"user": uid, "group": uid, "extra_groups": []}


class Result:
    """Output and exit status of a run."""

    def __init__(self, out, err, status):
        self.out, self.err, self.status = out, err, status
        self.lines = [l.rstrip("\r") for l in out.decode("utf-8", "replace").split("\n")]

    def started(self):
        return "start" in self.lines

    def ended(self):
        # A terminal may echo its own responses before it.
        return any(line.endswith("end") for line in self.lines)

    def did(self):
        return [l for l in self.lines if l.startswith("did ")]

    def got(self):
        return [l for l in self.lines if l.startswith("got ")]

    def errnos(self):
        return sorted({l.split()[-1] for l in self.got()})


class JsonResult(Result):
    """A run with --json: the probe's output is in the RunResult."""

    def __init__(self, result):
        super().__init__(result.out, result.err, result.status)
        try:
            text = result.out[result.out.index(b"{"):].decode("utf-8", "surrogateescape")
            self.json = json.loads(text)
            self.lines = [l.rstrip("\r") for l in self.json["final_observation"]["transcript_delta"].split("\n")]
        except (ValueError, KeyError):
            self.json = None


class World:
    """R may be read, W written; `out` is off limits and contains the secret S."""

    def __init__(self, suite, uid):
        self.suite, self.uid = suite, uid
        suite.number += 1
        self.token = "tok" + secrets.token_hex(8)
        self.T = os.path.join(suite.dir, f"w{suite.number}")
        self.R, self.W, self.out = (os.path.join(self.T, n) for n in ("R", "W", "out"))
        self.S = os.path.join(self.out, "secret")
        for d in (self.T, self.R, self.W, self.out, self.R + "/sub", self.W + "/d", self.out + "/dir"):
            os.mkdir(d)
        for path, text in (
                (self.S, self.token), (self.out + "/dir/f", self.token), (self.R + "/a", "readable" * 600),
                (self.R + "/sub/b", "readable"), (self.W + "/x", "written"), (self.W + "/d/f", "inside")):
            self.file(path, text)
        for top, dirs, files in os.walk(self.T):
            for name in [top] + [os.path.join(top, f) for f in files]:
                os.chown(name, uid, uid)
        os.symlink(self.S, self.W + "/link")
        os.symlink(self.out + "/dir", self.W + "/linkdir")
        self.tokens = [self.token.encode()]
        self.listeners = self.victim = None
        self.extra = {}
        self.watched = [self.T]  # must not change, except W
        self.guarded = []  # paths in W that must not change
        self.before = None
        self.cleanups = []

    def file(self, path, text, mode=0o644):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        os.chown(path, self.uid, self.uid)
        return path

    def names(self):
        names = {
            "T": self.T, "R": self.R, "W": self.W, "S": self.S, "out": self.out, "probe": self.suite.probe,
            "bin": self.suite.bin, "cordon": self.suite.cordon, "library": self.suite.library, "ld": LOADER, "token": self.token,
            "say": "ran:" + self.token[3:]}
        if self.listeners:
            names.update({n: str(p) for n, p in self.listeners.ports().items()}, lanhost=self.listeners.lan)
        if self.victim:
            names.update(victim=str(self.victim.proc.pid), address=hex(self.victim.address))
        names.update(self.extra)
        return names

    def policy(self):
        return {
            "policy_version": 4, "sandbox": "native", "network": "disabled",
            "fs": {"allowed_read": [self.R], "allowed_write": [self.W]}, "fs_write_unsafe_ack": True,
            "exec": {"allowed_executables": [self.suite.probe]},
            "budgets": {"max_runtime_ms": 60000}}

    def environment(self):
        env = {"PATH": os.environ["PATH"], "HOME": self.T, "TERM": "xterm", "LANG": "C.UTF-8"}
        env.update({f"SECRET_{i}": self.token for i in range(30)})
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        return env

    # Effects visible from outside -------------------------------------------------------------

    def fingerprint(self):
        seen = {}
        for top in self.watched + self.guarded + [self.suite.bin]:
            paths = [top]
            for directory, dirs, files in os.walk(top):
                if directory == self.W and top == self.T:
                    dirs[:], files = [], []
                paths += [os.path.join(directory, n) for n in dirs + files]
            for path in paths:
                if path == self.W:
                    continue
                seen[path] = self.look(path)
        return seen

    @staticmethod
    def look(path):
        try:
            st = os.lstat(path)
        except FileNotFoundError:
            return None
        content = None
        if stat.S_ISREG(st.st_mode) and st.st_size < 1 << 16:
            with open(path, "rb") as f:
                content = f.read()
        return (st.st_ino, st.st_mode, st.st_uid, st.st_gid, st.st_nlink, st.st_size, st.st_mtime_ns,
                st.st_ctime_ns, content, tuple(os.listxattr(path, follow_symlinks=False)))

    def changed(self):
        now = self.fingerprint()
        return sorted(os.path.relpath(p, self.T) for p in set(now) | set(self.before)
                      if now.get(p) != self.before.get(p))

    def effects(self, result):
        """Everything that reached the outside, as {kind: what}."""
        found = {}
        for token in self.tokens:
            if token in result.out or token in result.err:
                found["leak"] = token.decode("ascii", "replace")
        changed = self.changed()
        if changed:
            found["changed"] = ", ".join(changed)
        if self.listeners and (hit := self.listeners.reached()):
            found["accept"] = ", ".join(hit)
        if self.victim and (harm := self.victim.harmed()):
            found["harm"] = ", ".join(harm)
        ran = [l for l in result.lines if "ran:" in l]
        if ran:
            found["ran"] = ran[0]
        return found

    # Running ----------------------------------------------------------------------------------

    def outside(self, args, prefix=(), **how):
        return self.run([*prefix, self.suite.probe, *args], **how)

    def inside(self, args, policy, options=("--pipes",), prefix=(), cwd=None, command=None, **how):
        path = os.path.join(self.suite.dir, f"policy-{self.suite.number}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(policy, f)
        where = [] if cwd == "" else ["--cwd", cwd or self.W]
        command = [*prefix, self.suite.cordon, "exec", "--policy", path, "--exit-code", "child", *options, *where,
                   "--", command or self.suite.probe, *args]
        result = self.run(command, **how)
        return JsonResult(result) if "--json" in options else result

    def run(self, command, stdin=subprocess.DEVNULL, stdout_path=None, fds=(), during=None, terminal=None, cwd=None):
        self.before = self.before or self.fingerprint()
        if terminal:
            return terminal.run(self, command)
        stdout = os.open(stdout_path, os.O_WRONLY | os.O_APPEND) if stdout_path else None
        proc = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE, pass_fds=fds, env=self.environment(), cwd=cwd or self.W,
            start_new_session=True, **as_user(self.uid))
        try:
            if during:
                during(self, proc)
            out, err = proc.communicate(timeout=TIMEOUT_S)
        except BaseException:
            proc.kill()
            proc.communicate()
            raise
        if stdout_path:
            os.close(stdout)
            with open(stdout_path, "rb") as f:
                out = f.read()
        return Result(out, err, proc.returncode)

    def close(self):
        for cleanup in reversed(self.cleanups):
            cleanup()
        if self.victim:
            self.victim.close()
        if self.listeners:
            self.listeners.close()
        shutil.rmtree(self.T, ignore_errors=True)


def open_terminal():
    """Opens a terminal whose name differs from those in the sandbox, which are also numbered from 0.
    Other programs open and close terminals at the same time: low numbers are held until a higher one comes."""
    held = []
    try:
        for _ in range(64):
            found = pty.openpty()
            if int(os.path.basename(os.ttyname(found[1]))) >= 8:
                return found
            held.append(found)
        raise OSError("no terminal with a number of 8 or more")
    finally:
        for fd in [fd for pair in held for fd in pair]:
            os.close(fd)


class Terminal:
    """A terminal whose master is ours: the caller's. Raw, so that it changes no data."""

    def __init__(self, world):
        self.master, self.slave = open_terminal()
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        os.chown(self.path, world.uid, world.uid)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 87, 0, 0))
        self.before = self.state()
        self.leader = self.go = None
        world.extra["tty"] = self.path
        world.cleanups.append(self.close)

    def state(self):
        return termios.tcgetattr(self.slave), fcntl.ioctl(self.slave, termios.TIOCGWINSZ, bytes(8))

    def lead(self, world, command, told, go):
        """The session leader: it must outlive the command, since its end would hang up the terminal."""
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        proc = subprocess.Popen(
            command, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=world.environment(),
            cwd=world.W, **as_user(world.uid))
        status = proc.wait()
        os.write(told, struct.pack("i", status))
        os.read(go, 1)

    def run(self, world, command):
        told, telling = os.pipe()
        going, self.go = os.pipe()
        self.leader = os.fork()
        if self.leader == 0:
            os.close(self.go)
            try:
                self.lead(world, command, telling, going)
            finally:
                os._exit(0)
        os.close(telling)
        os.close(going)
        out, status = b"", None
        deadline = time.monotonic() + TIMEOUT_S
        while status is None and time.monotonic() < deadline and len(out) < OUTPUT_MAX:
            if told in select.select([self.master, told], [], [], 1)[0]:
                status = os.read(told, 4)
            while select.select([self.master], [], [], 0)[0]:
                out += os.read(self.master, 65536)
        os.close(told)
        if not status:
            raise TimeoutError("no answer from the terminal's session")
        return Result(out, b"", struct.unpack("i", status)[0])

    def injected(self):
        """Returns bytes waiting to be read by the caller, who typed nothing."""
        if not select.select([self.slave], [], [], 0)[0]:
            return b""
        return os.read(self.slave, 4096)

    def close(self):
        if self.leader:
            os.close(self.go)
            os.waitpid(self.leader, 0)
        os.close(self.master)
        os.close(self.slave)


def lone_uid():
    """An unused user ID, for attempts that would affect all processes of a user."""
    return 1_000_000 + os.getpid() + random.randrange(1 << 20) * 40000 % 1_000_000_000
