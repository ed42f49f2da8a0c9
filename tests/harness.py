# SPDX-License-Identifier: Apache-2.0
"""The frame of suites in Python: cases, policies, runs, checks for leftovers, TAP.

A suite is a file with functions:

    @case("a file is read")
    def _(t):
        run = t.exec(t.child, "show", t.file("a", "hello"), policy=t.policy(read=[t.work]))
        t.same(run.out, b"hello")

    sys.exit(main())

Each runs as root and, in parallel, as an ordinary user if root runs the suite, else as the current user. `t` is the
case's own place: t.work is an empty directory that belongs to the user, t.child the program of
child.c. After each case no process of it may be left, nor anything below its home directory.

    suite.py --cordon BINARY --child BINARY [--sanitized] [WORD…]     cases whose title has a WORD
    suite.py … --in-turn     the first case as root only, the second as a user, and so on
    suite.py … --in-turn=2   the other way round

--sanitized: fewer repetitions, and limits on memory and time are multiplied by SANITIZED_FACTOR.

Suites whose tests need no such place, or are made from data, use the report alone:

    tap = Tap()
    tap.run("it works", function)           an exception is a failure, Skipped a reason not to run
    tap.report("case 7", ["it differs"])    a list of problems, empty if there are none
    sys.exit(tap.end())

cases_of() reads data cases (`*.case`) of a file.
"""
import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

USER = int(os.environ.get("CORDON_TEST_USER", "12345"))  # a UID that is not in use
TIMEOUT_S = 180  # for processes that should end by themselves: only a hang takes that long
SLOW_S = 1  # cases that take this long show their time
KILLED_S = 60  # how long the processes of a killed supervisor may still exist
RENAME_S = 10  # for a process to set its name, on a busy machine
SANITIZED_FACTOR = 8
LINE_MAX = 4000  # of a problem
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PRESET_PYTHON = "/usr/bin/python3"

CASE_HEADING = "== "

CASES = []
OPTIONS = None


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def case(title, who="both"):
    def register(function):
        CASES.append((title, function, who))
        return function
    return register


def in_time(attempt, *limits_ms):
    """Calls attempt(ms) with longer and longer limits until it returns something other than None: a busy machine may not run
    a program up to the point of interest within the first one."""
    for ms in limits_ms:
        result = attempt(ms)
        if result is not None:
            return result
    raise Failed(f"not even within {limits_ms[-1]} ms")


def worked_s():
    """CPU time of the processes that were waited for, in seconds: the same on a busy machine."""
    times = os.times()
    return times.children_user + times.children_system


def sanitized():
    return OPTIONS.sanitized


def in_turn():
    """Whether each case runs as one user only: also a sign that this run should be short."""
    return OPTIONS.in_turn


def factor():
    return SANITIZED_FACTOR if OPTIONS.sanitized else 1


class Tap:
    """The report of a suite, in the format of the Test Anything Protocol."""

    def __init__(self):
        self.number = self.failed = 0

    @staticmethod
    def lines(number, title, problems=(), skipped=None):
        """Lines of one test."""
        said = f"{'not ok' if problems else 'ok'} {number} - {title}"
        said += f" # SKIP {skipped}\n" if skipped is not None else "\n"
        for problem in problems:
            for line in str(problem).splitlines() or [""]:
                said += "#   " + "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)[:LINE_MAX] + "\n"
        return said

    def report(self, title, problems=(), skipped=None):
        self.number += 1
        self.failed += bool(problems)
        sys.stdout.write(self.lines(self.number, title, problems, skipped))
        sys.stdout.flush()

    def run(self, title, function, *args):
        try:
            function(*args)
        except Skipped as e:
            self.report(title, skipped=e)
        except (Failed, AssertionError) as e:
            self.report(title, [str(e) or traceback.format_exc()])
        except Exception:  # pylint: disable=broad-except
            self.report(title, [traceback.format_exc()])
        else:
            self.report(title)

    def note(self, text):
        print(f"# {text}", flush=True)

    def end(self):
        """Returns the exit status; a suite without a test has failed."""
        self.plan(self.number)
        return 1 if self.failed or not self.number else 0

    @staticmethod
    def plan(count):
        """The last line, if not end(): the tests of several workers were counted by their parent."""
        print(f"1..{count}", flush=True)

    @staticmethod
    def skip_all(why):
        """The only line of a suite that can't run here; returns the exit status."""
        print(f"1..0 # SKIP {why}")
        return 0


def cases_of(path):
    """Yields (title, lines) of each data case, as tests/unit/cases.h describes: a line "== TITLE" begins a case, which reaches
    up to the next such line; a file without one is a single case, named like the file."""
    with open(path, encoding="utf-8", newline="\n") as f:
        lines = f.read().split("\n")
    if not lines[-1]:
        lines.pop()
    starts = [i for i, line in enumerate(lines) if line.startswith(CASE_HEADING)]
    if not starts:
        yield os.path.basename(path), lines
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        yield lines[start][len(CASE_HEADING):], lines[start + 1:end]


class Run:
    """Result of a finished run: exit status (negative: a signal), both streams."""

    def __init__(self, argv, code, out, err):
        self.argv, self.code, self.out, self.err = argv, code, out, err

    def __str__(self):
        def short(data):
            return repr(data if len(data) < 1500 else data[:1000] + b" ... " + data[-400:])
        argv = " ".join(str(a) if len(a) < 200 else str(a[:200]) + "…" for a in self.argv[1:12])
        return f"exit {self.code}: {argv}\n  stdout {short(self.out)}\n  stderr {short(self.err)}"

    @property
    def result(self):
        """The one JSON line that --json prints."""
        lines = self.out.split(b"\n")
        if len(lines) != 2 or lines[1]:
            raise Failed(f"stdout is not one line of JSON\n{self}")
        try:
            return json.loads(lines[0].decode("utf-8"))
        except ValueError as e:
            raise Failed(f"stdout is not JSON: {e}\n{self}") from e

    @property
    def error(self):
        error = self.result.get("error")
        if not isinstance(error, dict):
            raise Failed(f"no error in the result\n{self}")
        return error


class Place:
    """One case as one user."""

    def __init__(self, bin_dir, uid):
        self.uid = uid
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="cordon-live-"))
        os.chmod(self.top, 0o755)
        self.work, self.home = self.directory("work"), self.directory("home")
        self.cordon, self.child = os.path.join(bin_dir, "cordon"), os.path.join(bin_dir, "child")
        self.lacking = os.path.join(bin_dir, "lacking")  # see lacking.c
        self.started, self.policies, self.killed = [], 0, False
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color", "CORDON_TEST_SECRET": "hidden",
            **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}

    # Files

    def own(self, path):
        if self.uid is not None:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)
        return path

    def directory(self, *parts):
        path = os.path.join(self.top, *parts)
        os.makedirs(path)
        return self.own(path)

    def file(self, name, content="", mode=0o644):
        """Makes a file in the working directory."""
        path = os.path.join(self.work, name)
        with open(path, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        os.chmod(path, mode)
        return self.own(path)

    def policy(self, read=(), write=(), execs=None, shell=False, cwd=None, text=None, **more):
        """Writes a policy, outside of what it allows, and returns its path. `more`: its other keys."""
        self.policies += 1
        path = os.path.join(self.top, f"policy-{self.policies}.json")
        tree = {
            "policy_version": 4,
            "fs": {"allowed_read": list(read), "allowed_write": list(write)},
            "fs_write_unsafe_ack": bool(write),
            "exec": {"allowed_executables": [self.child] if execs is None else list(execs),
                     "allow_shell": shell},
            **more}
        if cwd is not None:
            tree["fs"]["working_dir"] = cwd
        data = json.dumps(tree).encode() if text is None else text
        with open(path, "wb") as f:
            f.write(data)
        return self.own(path)

    # Runs

    def command(self, *command, policy=None, options=()):
        argv = [self.cordon, "exec", *options]
        if policy is not None:
            argv += ["--policy", policy]
        return [os.fsencode(a) for a in (*argv, "--", *command)]

    def start(self, argv, mounts=None, **more):
        """Starts a process that belongs to the case: killed at the latest at its end. `mounts`: a shell script of
        mounts that root makes for it, in the working directory and in a separate namespace."""
        if mounts is not None:
            if os.getuid() != 0:
                raise Skipped("only root can mount")
            user = [] if self.uid is None else [
                "setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]
            argv = ["unshare", "--mount", "--propagation", "private", "sh", "-ec",
                    mounts + '\nexec "$@"', "sh", *user, *argv]
        elif self.uid is not None:
            more.update(user=self.uid, group=self.uid, extra_groups=[])
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        more.setdefault("cwd", self.work)
        more.setdefault("env", self.env)
        process = subprocess.Popen(argv, **more)
        self.started.append(process)
        return process

    def finish(self, process, data=None, timeout=TIMEOUT_S):
        try:
            out, err = process.communicate(data, timeout=timeout)
        except subprocess.TimeoutExpired as e:
            process.kill()
            self.killed = True
            raise Failed(f"still there after {timeout} s: {process.args}") from e
        return Run(process.args, process.returncode, out or b"", err or b"")

    def run(self, argv, data=None, **more):
        if data is not None:
            more["stdin"] = subprocess.PIPE
        return self.finish(self.start([os.fsencode(a) for a in argv], **more), data)

    def exec(self, *command, policy=None, options=(), data=None, expect=0, **more):
        run = self.run(self.command(*command, policy=policy, options=options), data, **more)
        if expect is not None:
            self.code(run, expect)
        return run

    # Checks

    def true(self, condition, why):
        if not condition:
            raise Failed(str(why))

    def same(self, got, want, about=""):
        if got != want:
            raise Failed(f"got {got!r:.600}, wanted {want!r:.600} {about}")

    def code(self, run, *wanted):
        if run.code not in wanted:
            raise Failed(f"wanted exit {' or '.join(map(str, wanted))}\n{run}")

    def denied(self, run, code, exit_code):
        """Checks for a refusal with a proper error, in JSON."""
        self.code(run, exit_code)
        self.same(run.error.get("code"), code, run)
        self.true(run.error.get("message"), f"no message\n{run}")

    def unlocked(self, path, wait_s=0):
        """Checks that no process holds the lock any more, now or within a time."""
        deadline = time.monotonic() + wait_s
        with open(path, "rb") as f:
            while True:
                try:
                    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise Failed("a process of the sandbox is still alive") from None
                    time.sleep(0.002)

    def locked(self, path):
        """The control of unlocked()."""
        with open(path, "rb") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
        raise Failed("the lock is not held: the test has no effect")

    def until_locked(self, path, wait_s=TIMEOUT_S):
        """Waits until a program in the sandbox holds the lock."""
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            try:
                return self.locked(path)
            except Failed:
                time.sleep(0.002)
        raise Failed("the program in the sandbox did not start")

    def until(self, process, word):
        """Reads stdout of a process up to a word."""
        seen = b""
        while word not in seen:
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                process.wait(TIMEOUT_S)
                raise Failed(f"ended ({process.returncode}) before {word!r}: {seen!r:.500} "
                             f"{process.stderr.read() if process.stderr else b''!r:.500}")
            seen += part
        return seen

    # The end

    def close(self):
        problems = []
        for process in self.started:
            if process.poll() is None:
                process.kill()
                self.killed = True
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
            process.wait()
        problems += orphans(KILLED_S if self.killed else 0)
        left = os.listdir(self.home) if os.path.isdir(self.home) else []
        if left:
            problems.append(f"left in the home directory: {left}")
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.top, ignore_errors=True)
        return problems


def peak(pid):
    """Returns the peak memory of a process so far, in bytes; None if it is gone."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            for line in f:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    return None


def become_reaper():
    """Orphans are reparented to this process, so that none is overlooked."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent, signal_number):
    """This process gets a signal when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def processes():
    """All visible processes: (pid, parent, state, name)."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as f:
                stat = f.read()
        except OSError:
            continue
        fields = stat[stat.rindex(b")") + 2:].split()
        yield int(name), int(fields[1]), fields[0].decode(), stat[stat.index(b"("):stat.rindex(b")") + 1]


def children():
    """Our child processes, living or not yet waited for: (pid, state, name)."""
    return [(pid, state, name) for pid, parent, state, name in processes() if parent == os.getpid()]


# Processes that commands leave on purpose, which end by themselves: reparented to us instead of process 1.
LEFT = (b"(cordon-box)", b"(cordon-trash)")


def reap_boxes(t):
    """Waits for processes that box commands left."""
    for pid, _, name in children():
        t.true(name in LEFT, name)
        os.waitpid(pid, 0)


def await_trash():
    """Waits until deferred deletions are done."""
    for pid, _, name in children():
        if name == b"(cordon-trash)":
            os.waitpid(pid, 0)


def orphans(wait_s=0):
    """Processes that the case left behind are reparented to us, the reaper; ends them and reports what they were. The
    processes of a killed supervisor get some time to exit."""
    await_trash()
    deadline = time.monotonic() + wait_s
    renamed = time.monotonic() + RENAME_S
    problems = []
    while True:
        for pid, state, name in children():
            if name == b"(cordon-trash)":
                os.waitpid(pid, 0)
            elif state == "Z":
                os.waitpid(pid, 0)
                if not wait_s:
                    problems.append(f"no parent waited for process {pid} {name}")
            elif name == b"(cordon)" and time.monotonic() < renamed:
                pass  # perhaps deferred deletion, which has not set its name yet
            elif time.monotonic() >= deadline:
                problems.append(f"left process {pid} {name} in state {state}")
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not children():
            return problems
        time.sleep(0.002)


def run_case(function, bin_dir, uid):
    """Returns the problems of a case."""
    place = Place(bin_dir, uid)
    problems = []
    try:
        function(place)
    except Failed as e:
        problems = str(e).splitlines()
    except Skipped:
        raise
    except Exception:  # pylint: disable=broad-except
        problems = traceback.format_exc().splitlines()
    finally:
        problems += place.close()
    return problems


def identities(who, turn):
    if os.getuid() != 0:
        return [] if who == "root" else [("user", None)]
    both = [("root", None), ("user", USER)]
    if OPTIONS.in_turn and who == "both":
        return [both[(turn + OPTIONS.in_turn - 1) % 2]]
    return both if who == "both" else [b for b in both if b[0] == who]


def wanted():
    """The cases to run: (number, title, function, name, uid)."""
    number = 0
    for turn, (title, function, who) in enumerate(CASES):
        if OPTIONS.words and not any(word in title for word in OPTIONS.words):
            continue
        for name, uid in identities(who, turn):
            number += 1
            yield number, title, function, name, uid


def run_as(identity, bin_dir):
    """Runs the cases of one identity. Prints a case's lines in one write, because other workers also print."""
    failed = False
    for number, title, function, name, uid in wanted():
        if name != identity:
            continue
        start = time.monotonic()
        try:
            problems = run_case(function, bin_dir, uid)
            took = time.monotonic() - start
            said = Tap.lines(number, f"{title} ({name})" + (f" ({took:.1f} s)" if took >= SLOW_S else ""), problems)
            failed |= bool(problems)
        except Skipped as e:
            said = Tap.lines(number, f"{title} ({name})", skipped=e)
        sys.stdout.write(said)
        sys.stdout.flush()
    return 1 if failed else 0


def run_all(bin_dir):
    """Runs root's cases and the user's in parallel: most of them wait for something."""
    names = sorted({name for _, _, _, name, _ in wanted()})
    workers = []
    for name in names:
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            status = 2
            try:
                become_reaper()
                status = run_as(name, bin_dir)
            finally:
                os._exit(status)
        workers.append(pid)
    bad = [pid for pid in workers if os.waitpid(pid, 0)[1] != 0]
    Tap.plan(len(list(wanted())))
    return 1 if bad or not names else 0


def main():
    global OPTIONS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--child", required=True)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--in-turn", type=int, choices=(1, 2), nargs="?", const=1, default=0)
    parser.add_argument("words", nargs="*")
    OPTIONS = parser.parse_args()
    os.umask(0o022)
    # Copy the programs to where an ordinary user can run them.
    bin_dir = os.path.realpath(tempfile.mkdtemp(prefix="cordon-bin-"))
    try:
        os.chmod(bin_dir, 0o755)
        shutil.copy(OPTIONS.cordon, os.path.join(bin_dir, "cordon"))
        shutil.copy(OPTIONS.child, os.path.join(bin_dir, "child"))
        lacking = os.path.join(os.path.dirname(OPTIONS.child), "cordon_lacking")
        if os.path.exists(lacking):
            shutil.copy(lacking, os.path.join(bin_dir, "lacking"))
        return run_all(bin_dir)
    finally:
        shutil.rmtree(bin_dir)
