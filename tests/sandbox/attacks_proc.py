# SPDX-License-Identifier: Apache-2.0
"""Attempts on processes, privileges and the kernel: numbers 43 to 65 of the list of escapes, and more."""
import os
import re
import socket
import stat
import struct
import subprocess

from row import Row, reached

NEW = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000,
       "uts": 0x4000000, "cgroup": 0x2000000}
HIGH = 1 << 32
KILL, STOP = "9", "19"


def namespace_reached(w, result, inside):
    """A namespace was entered, or opened. Inside, process 1 is not even visible."""
    hidden = "got open namespace errno=2 ENOENT"
    return "; ".join(l for l in reached(result) if not (inside and l == hidden)) or None


def ids(result):
    return [int(x) for x in next(l for l in result.lines if l.startswith("ids ")).split()[1:]]


def statuses(result):
    pairs = [l[7:].split(":", 1) for l in result.lines if l.startswith("status ")]
    return {k: v.strip() for k, v in pairs}


def more_than_us(w, result, inside):
    """Another user, a capability, or a way to get them."""
    found = []
    uid, euid, gid, egid = ids(result)
    if len({uid, euid}) > 1 or len({gid, egid}) > 1:
        found.append(f"ids {uid} {euid} {gid} {egid}")
    status = statuses(result)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") + (("CapBnd",) if inside else ()):
        if int(status[name], 16):
            found.append(f"{name} {status[name]}")
    if inside and status["NoNewPrivs"] != "1":
        found.append("NoNewPrivs is not set")
    if inside and status["Seccomp"] != "2":
        found.append("no filter")
    return ", ".join(found) or None


def setuid_probe(owner):
    """A set-user-id copy of the probe, owned by another user, that the policy allows."""
    def setup(w):
        other = owner if owner != w.uid else 12321
        path = os.path.join(w.T, "su")
        with open(w.suite.probe, "rb") as f, open(path, "wb") as g:
            g.write(f.read())
        os.chown(path, other, other)
        os.chmod(path, 0o6755)
        w.extra["su"] = path
        assert os.stat(path).st_mode & stat.S_ISUID
    return setup


def capable_probe(w):
    """A copy of the probe with file capabilities: all of them, effective."""
    path = os.path.join(w.T, "su")
    with open(w.suite.probe, "rb") as f, open(path, "wb") as g:
        g.write(f.read())
    os.chmod(path, 0o755)
    os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, 0x2400, 0, 0, 0))
    w.extra["su"] = path


def allow_su(w, policy):
    policy["exec"]["allowed_executables"].append(w.extra["su"])


def inherited(w):
    """Descriptors 3 to 20 on secrets, all without close-on-exec."""
    fds = [os.open(w.S, os.O_RDONLY), os.open(w.out, os.O_RDONLY | os.O_DIRECTORY),
           os.open(w.out, 0o10000000 | os.O_DIRECTORY), os.open("/", os.O_RDONLY | os.O_DIRECTORY)]
    fds += [os.open(w.S, os.O_RDWR) for _ in range(14)]
    w.cleanups.append(lambda: [os.close(fd) for fd in fds])
    return {"fds": fds}


def stdin_file(path, flags):
    """The caller's own standard input, opened in a way that trusts the child too much."""
    def how(w):
        fd = os.open(path.format_map(w.names()), flags)
        w.cleanups.append(lambda: os.close(fd))
        return {"stdin": fd}
    return how


def stdin_pipe(w):
    ours, theirs = os.pipe()
    os.write(theirs, b"x")
    os.close(theirs)
    w.stdin = ours
    w.cleanups.append(lambda: os.close(ours))
    return {"stdin": ours}


def stdin_blocks(w, result, inside):
    """The flags belong to the open file description, which the caller shares."""
    return None if os.get_blocking(w.stdin) else "the caller's input does not block any more"


def stdin_smuggle(w):
    """A descriptor of the secret is queued in the socket that is the child's input."""
    ours, theirs = socket.socketpair()
    fd = os.open(w.S, os.O_RDONLY)
    socket.send_fds(ours, [b"x"], [fd])
    os.close(fd)
    w.cleanups.append(lambda: (ours.close(), theirs.close()))
    return {"stdin": theirs.fileno()}


def fd_smuggle(w):
    how = stdin_smuggle(w)
    fd = os.dup(how["stdin"])
    w.cleanups.append(lambda: os.close(fd))
    w.extra["fd"] = str(fd)
    return {"fds": [fd]}


def stdout_secret(w):
    """Output appended to a log with older lines, which the child must not read or change."""
    path = w.file(w.T + "/log", "older\n")
    w.log = path
    w.cleanups.append(lambda: None)
    return {"stdout_path": path}


def log_spoiled(w, result, inside):
    with open(w.log, "rb") as f:
        text = f.read()
    return None if text.startswith(b"older\n") and text.count(b"older") == 1 else "the caller's log was read or changed"


def watch_without_log(w):
    w.file(w.T + "/log", "older\n")
    w.watched = [w.R, w.out]


def ipc(w):
    """Shared memory and queues of the host, with the secret in them."""
    key = 0x7a000000 + os.getpid() * 64 + w.suite.number % 64
    name = f"/cordon-{os.getpid()}-{w.suite.number}"
    proc = subprocess.Popen([w.suite.probe, "host-ipc", str(key), name, w.token], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, umask=0)
    w.cleanups.append(lambda: (proc.communicate(), None)[1])
    while not (line := proc.stdout.readline()).startswith((b"ready", b"failed")):
        pass
    words = line.decode().split()
    assert words[0] == "ready", line
    w.extra.update(key=str(key), shm=words[1], queue=words[2], sem=words[3], mq=name)


# A program that runs the probe or cordon, so that both start with the key in their keyring.
KEYRING = ("{probe}", "host-key", "cordon-{token}", "{token}")


# A parent in the same session, for the control.
PARENT = ("/bin/sh", "-c", '"$@"; exit $?', "sh")

OTHERS = [
    Row("environment of pid 1", ["read", "/proc/{one}/environ"], "leak", 43, victim=True),
    Row("environment of pid 1's task", ["read", "/proc/{one}/task/{one}/environ"], "leak", 43, victim=True),
    Row("memory of pid 1", ["procmem", "{one}", "{address}"], "did", 44, victim=True),
    Row("memory of pid 1 for writing", ["openfor", "/proc/{one}/mem", "1"], "did", 44, victim=True),
    Row("descriptors of pid 1", ["list", "/proc/{one}/fd"], "did", 44, victim=True),
    Row("descriptors of pid 1, opened", ["read", "/proc/{one}/fd/0", "--", "read", "/proc/{one}/fd/3", "--", "read",
                                         "/proc/{one}/fd/4", "--", "read", "/proc/{one}/fd/5", "--", "read",
                                         "/proc/{one}/fd/6", "--", "read", "/proc/{one}/fd/7"], "did", 44,
        victim=True, control_args=["list", "/proc/{one}/fd"]),
    Row("maps of pid 1", ["read", "/proc/{one}/maps", "--", "list", "/proc/{one}/map_files", "--", "read",
                          "/proc/{one}/auxv", "--", "read", "/proc/{one}/io", "--", "read",
                          "/proc/{one}/personality"], "did", 44, victim=True),
    Row("program of pid 1", ["readlink", "/proc/{one}/exe", "--", "openfor", "/proc/{one}/exe", "0"], "did", 44,
        victim=True),
    Row("program of pid 1 for writing", ["openfor", "/proc/{one}/exe", "1"],
        lambda w, r, i: "; ".join(r.did() + [l for l in r.got() if "ETXTBSY" in l]) or None, 44, victim=True),
    Row("program of pid 1, run", ["exec", "/proc/{one}/exe", "cordon", "--version"],
        lambda w, r, i: "; ".join(r.did()) or None, 44, victim=True),
    Row("root and cwd of pid 1", ["readlink", "/proc/{one}/root", "--", "readlink", "/proc/{one}/cwd"], "did", 44,
        victim=True),
    Row("the caller's command line", ["read", "/proc/{one}/cmdline"],
        lambda w, r, i: "; ".join(l for l in r.lines if w.suite.dir in l and l.startswith("data ")) or None,
        control_args=["read", "/proc/{victim}/cmdline"], victim=True),
    Row("environment of a process of the host", ["read", "/proc/{victim}/environ"], "leak", 45, victim=True),
    Row("files of a process of the host", ["read", "/proc/{victim}/root{S}", "--", "read", "/proc/{victim}/fd/3"],
        "leak", 45, victim=True),
    Row("any process of the host", ["list", "/proc"],
        lambda w, r, i: "; ".join(l for l in r.lines if l == f"data {w.victim.proc.pid}") or None, 45, victim=True),
    Row("kill a process of the host", ["kill", "{victim}", KILL], "harm", 46, victim=True),
    Row("stop a process of the host", ["kill", "{victim}", STOP], "harm", 46, victim=True),
    Row("kill its process group", ["kill", "-{victim}", KILL], "harm", 46, victim=True),
    Row("kill all processes", ["die"], "harm", 46, "lone", victim=True, dies=True),
    Row("tgkill, tkill", ["tgkill", "{victim}", KILL], "harm", 46, victim=True),
    Row("sigqueue", ["sigqueue", "{victim}", KILL], "harm", 46, victim=True),
    Row("pidfd_send_signal", ["pidfdkill", "{victim}", KILL], "harm", 46, victim=True),
    Row("a signal by F_SETOWN on a pipe", ["setown", "{victim}", KILL], "harm", 46, victim=True),
    Row("kill pid 1", ["kill", "1", KILL, "--", "kill", "1", STOP, "--", "tgkill", "1", KILL, "--", "say", "alive"],
        lambda w, r, i: None if "alive" in r.lines else "pid 1 is gone", 46, None,
        why="outside, pid 1 is the machine's"),
    Row("trace pid 1", ["attach", "{one}"], "did", 47, victim=True),
    Row("trace a process of the host", ["attach", "{victim}"], "did", 47, victim=True),
    Row("read memory of a process of the host", ["vmread", "{victim}", "{address}"], "leak", 48, victim=True),
    Row("write memory of a process of the host", ["vmwrite", "{victim}", "{address}", "bad"], "harm", 48, victim=True),
    Row("read memory of pid 1", ["vmread", "{one}", "{address}"],
        lambda w, r, i: "; ".join(r.did() + [l for l in r.got() if "EFAULT" in l]) or None, 48, victim=True),
    Row("take descriptors of pid 1", ["getfd", "{one}"], "did", 49, victim=True),
    Row("take descriptors of a process of the host", ["getfd", "{victim}"], "leak", 49, victim=True),
    Row("prlimit", ["prlimit", "{victim}"], "harm", 50, victim=True),
    Row("prlimit of pid 1", ["prlimit", "{one}"], "did", 50, victim=True),
    Row("sched_setaffinity", ["affinity", "{victim}"], "harm", 50, victim=True, needs="cpus"),
    Row("setpriority", ["nice", "0", "{victim}"], "harm", 50, victim=True),
    Row("setpriority of a group", ["nice", "1", "{victim}"], "harm", 50, victim=True),
    Row("setpriority of a user", lambda w: ["nice", "2", str(w.uid)], "harm", 50, "lone", victim=True),
    Row("ioprio_set", ["ioprio", "1", "{victim}"], "harm", 50, victim=True),
    Row("ioprio_set of a user", lambda w: ["ioprio", "3", str(w.uid)], "harm", 50, "lone", victim=True),
    Row("sched_setscheduler", ["scheduler", "{victim}"], "harm", 50, victim=True),
    Row("sched_setaffinity of pid 1", ["affinity", "{one}"], "did", 50, victim=True, needs="cpus"),
    Row("setpriority of pid 1", ["nice", "0", "{one}"], "did", 50, victim=True),
    Row("setpriority of the group of pid 1", ["nice", "1", "{one}"], "did", 50, victim=True),
    Row("ioprio_set of pid 1", ["ioprio", "1", "{one}"], "did", 50, victim=True),
    Row("ioprio_set of the group of pid 1", ["ioprio", "2", "{one}"], "did", 50, victim=True),
    Row("join the group of pid 1", ["join"], "did", 50, prefix=PARENT),
    Row("sched_setscheduler of pid 1", ["scheduler", "{one}"], "did", 50, victim=True),
    Row("kcmp", ["kcmp", "{victim}"], "did", 50, victim=True),
    Row("kcmp with pid 1", ["kcmp", "{one}"], "did", 50, victim=True),
    Row("query attributes of a process of the host", ["about", "{victim}"], "did", 50, victim=True),
    Row("move_pages of a process of the host", ["pages", "{victim}", "{address}"], "did", 50, victim=True),
    Row("perf events of a process of the host", ["perf", "{victim}"], "reach", 60, "root", victim=True),
]

NAMESPACES = [
    *[Row(f"unshare {name}", ["unshare", hex(flag)], "did", 51, "root") for name, flag in NEW.items()],
    *[Row(f"clone a {name} namespace", ["clone", hex(flag)], "did", 51, "root") for name, flag in NEW.items()],
    *[Row(f"clone a {name} namespace with high bits", ["clone", hex(flag | HIGH)], "did", 51, "root")
      for name, flag in NEW.items()],
    Row("unshare time", ["unshare", "0x80"], "did", 51, "root"),
    Row("unshare user and mount", ["unshare", hex(NEW["user"] | NEW["mount"]), "--", "mount", "none", "{R}", "none",
                                   "4128"], "did", 51),
    Row("clone3 a user namespace", ["clone3", hex(NEW["user"])], "did", 51),
    Row("clone3 everything", ["clone3", hex(sum(NEW.values()))], "did", 51, "root"),
    Row("clone3 a time namespace", ["clone3", "0x80"], "did", 51, "root"),
    *[Row(f"setns {name}", ["setns", "/proc/{one}/ns/" + short, hex(flag)], namespace_reached, 52, "root", victim=True)
      for name, short, flag in (("mount", "mnt", NEW["mount"]), ("net", "net", NEW["net"]), ("user", "user", NEW["user"]),
                                ("pid", "pid", NEW["pid"]), ("ipc", "ipc", NEW["ipc"]), ("uts", "uts", NEW["uts"]),
                                ("cgroup", "cgroup", NEW["cgroup"]))],
    Row("setns of a pidfd", ["setnspid", "{one}", hex(NEW["net"])], "did", 52, "root", victim=True),
    Row("setns of its own namespace", ["setns", "/proc/self/ns/net", hex(NEW["net"])], "did", 52, "root"),
]

PRIVILEGES = [
    Row("set-user-id root", ["exec", "{su}", "su", "ids"], more_than_us, 54, setup=setuid_probe(0), policy=allow_su),
    Row("set-user-id of another user", ["exec", "{su}", "su", "ids"], more_than_us, 54, setup=setuid_probe(12321),
        policy=allow_su),
    Row("file capabilities", ["exec", "{su}", "su", "ids"], more_than_us, 54, setup=capable_probe, policy=allow_su),
    Row("su, sudo", ["exec", "/usr/bin/su", "su", "--version", "--", "exec", "/usr/bin/sudo", "sudo", "--version"],
        "did", 54),
    Row("capabilities, filter, new privileges", ["ids"], more_than_us, 54, "root"),
    Row("become another user", ["setid", "12399"], "did", 55, "root"),
    Row("become root", ["setid", "0"],
        lambda w, r, i: "; ".join(l for l in r.did() if w.uid or "setresuid" not in l and "setuid" not in l
                                  and "setresgid" not in l and "setfsuid" not in l) or None, 55, "root"),
    Row("raise capabilities", ["capset"], "did", 55, "root"),
    Row("securebits", ["prctl", "28", "0x2f"], "did", 55, "root"),
    Row("inherited descriptors", ["fdscan", "secret", ".", "../out/secret"], "leak", 56, how=inherited),
    Row("a secret file as standard input, for writing", ["fdspoil", "0", "bad"], "changed", 56,
        how=stdin_file("{S}", os.O_RDONLY)),
    Row("a directory as standard input", ["readat", "/proc/self/fd/0", "secret", "0", "--", "fdscan", "secret"], "leak", 56,
        how=stdin_file("{out}", os.O_RDONLY | os.O_DIRECTORY)),
    Row("a directory as standard input, by O_PATH", ["fdscan", "secret"], "leak", 56,
        how=stdin_file("{out}", 0o10000000 | os.O_DIRECTORY)),
    Row("flags of the caller's standard input", ["fdspoil", "0", "bad"], stdin_blocks, 56, how=stdin_pipe),
    Row("a log as standard output", ["fdspoil", "1", "bad", "--", "fdscan"], log_spoiled, 56, setup=watch_without_log,
        how=stdout_secret),
    Row("a descriptor sent to standard input", ["receive", "0"], "leak", 88, how=stdin_smuggle),
    Row("a descriptor sent to another", ["receive", "{fd}"], "leak", 88, how=fd_smuggle),
    Row("environment", ["env"], "leak", 57),
    Row("keys of the caller", ["key", "cordon-{token}"], "leak", 58, both=KEYRING),
    Row("a key by its number", ["keyserial", "SERIAL"], "leak", 58, both=KEYRING),
    Row("names of keys", ["read", "/proc/keys"],
        lambda w, r, i: "its name" if any("cordon-" + w.token[:8] in l for l in r.lines) else None, 58, both=KEYRING),
    Row("a core file", ["core"], "did"),
    Row("shared memory of the host", ["shm", "{key}", "{shm}"], "leak", 64, setup=ipc),
    Row("a message queue of the host", ["msg", "{key}", "{queue}"], "leak", 64, setup=ipc),
    Row("semaphores of the host", ["sem", "{key}", "{sem}"], "did", 64, setup=ipc),
    Row("a POSIX queue of the host", ["mq", "{mq}"], "leak", 64, setup=ipc),
]


def kernel(name, args, n=60, control="root", effect="reach", **more):
    """A row whose name begins with the name of the call."""
    return Row(name, ["syscall", re.match("[a-z0-9_]+", name)[0], *args], effect, n, control, **more)


BAD = "1"  # an unmapped address

# Calls with arguments that cannot have an effect: the question is whether they get through.
KERNEL = [
    kernel("io_uring_setup", ["1", BAD], 59, "same"),
    kernel("io_uring_enter", ["0xffffffff", "0", "0", "0", "0", "0"], 59, "same"),
    kernel("io_uring_register", ["0xffffffff", "0", "0", "0"], 59, "same"),
    kernel("bpf", ["99", "%16", "16"]),
    kernel("perf_event_open", [BAD, "0", "0xffffffff", "0xffffffff", "0"], 60, "same"),
    kernel("userfaultfd", ["1"], 60, "same"),
    kernel("modify_ldt", ["0", "%16", "16"], 60, "same", only="x86_64"),
    kernel("fanotify_init", ["0x200", "0"], 60, "same"),
    kernel("memfd_secret", ["0xffff"], 60, "same", needs="memfd_secret"),
    kernel("personality", ["0x40000"], 62, "same"),
    kernel("personality of 32 bits", ["8"], 62, "same"),
    kernel("syslog", ["3", "%64", "64"], 63),
    kernel("quotactl", ["0x80000700", "@/nowhere", "0", "%64"], 63),
    kernel("quotactl_fd", ["0xffffffff", "0x80000700", "0", "%64"], 63),
    kernel("clock_settime", ["0", BAD], 63, "same"),
    kernel("settimeofday", [BAD, "0"], 63, "same"),
    kernel("adjtimex", ["=04"], 63, effect="did"),
    kernel("clock_adjtime", ["0", "=04"], 63, effect="did"),
    kernel("sethostname", ["@x", "0xffffffffffffffff"], 63),
    kernel("setdomainname", ["@x", "0xffffffffffffffff"], 63),
    kernel("reboot", ["0", "0", "0", "0"], 63),
    kernel("swapon", ["@/nowhere", "0"], 63),
    kernel("swapoff", ["@/nowhere"], 63),
    kernel("acct", ["@/nowhere"], 63),
    kernel("ioperm", ["0x80", "1", "1"], 63, None, why="a kernel may be built without it", only="x86_64"),
    kernel("iopl", ["3"], 63, None, why="a kernel may be built without it", only="x86_64"),
    kernel("vhangup", [], 63),
    kernel("init_module", [BAD, "0", "@"], 63, None, why="a kernel may be built without modules"),
    kernel("finit_module", ["0xffffffff", "@", "0"], 63, None, why="a kernel may be built without modules"),
    kernel("delete_module", ["@nothing", "0"], 63, None, why="a kernel may be built without modules"),
    kernel("kexec_load", ["0", "0", "0", "0xffff"], 63, None, why="a kernel may be built without it"),
    kernel("kexec_file_load", ["0", "0", "0", "0", "0xffff"], 63, None, why="a kernel may be built without it"),
    kernel("move_pages", ["{victim}", "1", BAD, "0", BAD, "0"], 63, victim=True),
    kernel("add_key", ["@user", BAD, "0", "0", "0"], 58, "same"),
    kernel("keyctl", ["0", "0xfffffffd", "0"], 58, "same"),
    kernel("keyctl, a new session keyring", ["1", "0"], 58, "same"),
    kernel("uselib", ["@/nowhere"], 63, None, why="a kernel may be built without it", only="x86_64"),
    kernel("process_mrelease", ["0xffffffff", "0"], 63, "same"),
    Row("a call of 32-bit programs", ["int80", "20", "0"], "did", 61, dies=True, only="x86_64"),
    Row("a call of 32-bit programs with an effect", ["int80", "310", hex(NEW["user"])],
        lambda w, r, i: "; ".join(l for l in r.did() if "result=0" in l) or None, 61, dies=True, only="x86_64"),
    Row("an x32 call", ["x32", "39"], "did", 61, None, dies=True, only="x86_64",
        why="a kernel may be built without x32"),
]

ROWS = OTHERS + NAMESPACES + PRIVILEGES + KERNEL
