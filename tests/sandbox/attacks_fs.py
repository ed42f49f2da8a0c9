# SPDX-License-Identifier: Apache-2.0
"""Attempts on files, mounts and visibility: numbers 11 to 42 of the list of escapes, and more."""
import os
import select
import stat
import subprocess

from row import Row
from world import LIBRARIES

O_WRONLY, O_RDWR, O_PATH = hex(os.O_WRONLY), hex(os.O_RDWR), hex(0o10000000)
O_TRUNC, O_APPEND = hex(os.O_WRONLY | os.O_TRUNC), hex(os.O_WRONLY | os.O_APPEND)
MS_BIND, MS_REMOUNT, MS_MOVE, MS_REC, MS_PRIVATE = 4096, 32, 8192, 16384, 1 << 18
DETACH = "2"
DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin", "stdout",
           "stderr"}

# Outside, mounts are made in a separate mount namespace, over a read-only R as inside.
PRIVATE = ("unshare", "-m", "--propagation", "private", "sh", "-c",
           'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', "{R}")
COVERED = ("unshare", "-m", "--propagation", "private", "sh", "-c",
           'mount -t tmpfs none "$0" && exec "$@"', "{out}")


def shadow(w):
    with open("/etc/shadow", "rb") as f:
        w.tokens.append(f.readline().strip())


def host_handle(w):
    done = subprocess.run([w.suite.probe, "handle", w.S], stdout=subprocess.PIPE, check=True)
    line = [l.split() for l in done.stdout.decode().splitlines() if l.startswith("handle")][0]
    w.extra.update(htype=line[1], hhex=line[2])


def fifo_in(name):
    """A FIFO that the host reads: data written to it has escaped."""
    def setup(w):
        path = os.path.join(getattr(w, name), "fifo")
        os.mkfifo(path)
        os.chown(path, w.uid, w.uid)
        w.fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        w.cleanups.append(lambda: os.close(w.fifo))
    return setup


def fifo_reached(w, result, inside):
    try:
        return "fifo got " + os.read(w.fifo, 64).decode()
    except BlockingIOError:
        return None


def devices_in_w(w):
    for name, minor in (("zero", 5), ("kmsg", 11)):
        path = os.path.join(w.W, name)
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.chmod(path, 0o666)


def watch_devices(w):
    """The host's own device nodes must not change; outside, one of ours represents them. The attempts
    would keep mode and owner, and only change the times."""
    w.watched += ["/dev/" + name for name in ("full", "null", "random", "urandom", "zero")]
    path = os.path.join(w.out, "null")
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def on_devices(*words):
    """One call for each device."""
    names = ("full", "null", "random", "tty", "urandom", "zero")
    return [word for name in names for word in (words[0], "/dev/" + name, *words[1:], "--")][:-1]


def listed(allowed):
    """Finds entries of a directory beyond the allowed ones."""
    def effect(w, result, inside):
        names = {l[5:] for l in result.lines if l.startswith("data ")} - {".", ".."}
        return ", ".join(sorted(names - allowed)) or None
    return effect


def of_the_base(w, result, inside):
    """Finds more than the one directory that leads to the roots."""
    return listed({os.path.basename(w.suite.dir)})(w, result, inside)


def survey_effect(w, result, inside):
    """Finds paths that are visible outside R and W, or writable where they must not be."""
    bad = []
    for line in result.lines:
        if not line.startswith("path "):
            continue
        _, _, can, path = line.split(" ", 3)
        in_w = path == w.W or path.startswith(w.W + "/")
        in_r = path == w.R or path.startswith(w.R + "/")
        # Parent directories of a root below /tmp are as private as /tmp.
        private = path.startswith(("/tmp", "/dev/shm")) and not in_r
        if path.startswith(w.T + "/") and not in_w and not in_r:
            bad.append("visible: " + path)
        if ("w" in can or "c" in can) and not in_w and not private:
            bad.append("writable: " + path)
    return "; ".join(bad[:8]) or None


def not_for_others(w, result, inside):
    """Finds files that only their owner may open, and were opened: root's advantage over an ordinary user."""
    bad = []
    for line in result.lines:
        if line.startswith("opened "):
            _, mode, path = line.split(" ", 2)
            own = path.startswith("/proc/") and path.split("/")[2].isdigit()
            if not int(mode, 8) & 0o004 and not own:
                bad.append(path)
    return ", ".join(bad[:8]) or None


def any_opened(w, result, inside):
    opened = [l.split(" ", 2)[2] for l in result.lines if l.startswith("opened ")]
    return f"{len(opened)}: " + ", ".join(opened[:5]) if opened else None


def host_mounts(w, result, inside):
    """Finds a line of mountinfo for the root directory of a file system on a disk."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        disks = {l.split()[2] for l in f if l.split(" - ")[1].split()[1].startswith("/")}
    text = "\n".join(l[5:] for l in result.lines if l.startswith("data "))
    # `data` prints newlines as dots; a line of mountinfo begins "ID PARENT MAJOR:MINOR ROOT PLACE".
    words = text.split()
    bad = [words[i + 2] for i, word in enumerate(words[:-2]) if word in disks and words[i + 1] == "/"]
    return "the host's root at " + ", ".join(bad) if bad else None


def sysctl_setup(w):
    """A sysctl of the whole machine that is harmless to change for a moment."""
    path = "/proc/sys/kernel/printk_ratelimit_burst"
    with open(path, encoding="ascii") as f:
        w.sysctl = f.read().strip()
    w.extra["sysctl"], w.extra["sysvalue"] = path, str(int(w.sysctl) + 1)

    def restore():
        with open(path, "w", encoding="ascii") as f:
            f.write(w.sysctl)
    w.cleanups.append(restore)


def sysctl_changed(w, result, inside):
    with open(w.extra["sysctl"], encoding="ascii") as f:
        now = f.read().strip()
    return f"{now} instead of {w.sysctl}" if now != w.sysctl else None


def same_sysctl(path):
    """The current value, to be written again: the write is complete, and the machine is unchanged."""
    def setup(w):
        with open(path, encoding="utf-8") as f:
            w.extra["value"] = f.read()
    return setup


def host_path_made(path):
    def effect(w, result, inside):
        if os.path.lexists(path):
            os.unlink(path)
            return path + " exists on the host"
        return None
    return effect


def whiteout_made(w, result, inside):
    return "a device" if "did a device" in result.lines else None


def device_made(w, result, inside):
    made = [n for n in os.listdir(w.W) if stat.S_ISBLK(os.lstat(w.W + "/" + n).st_mode)
            or stat.S_ISCHR(os.lstat(w.W + "/" + n).st_mode)]
    return ", ".join(made) or None


def setuid_made(w, result, inside):
    made = [f"{n} {os.lstat(w.W + '/' + n).st_mode:o}" for n in sorted(os.listdir(w.W))
            if os.lstat(w.W + "/" + n).st_mode & (stat.S_ISUID | stat.S_ISGID)]
    return ", ".join(made) or None


def kept_setup(w):
    for name in ("ready", "go"):
        os.mkfifo(w.W + "/" + name)
        os.chown(w.W + "/" + name, w.uid, w.uid)
        setattr(w, name, os.open(w.W + "/" + name, os.O_RDWR | os.O_NONBLOCK))
    w.cleanups.append(lambda: (os.close(w.ready), os.close(w.go)))


def move_out(w, proc):
    """While the probe holds W/d open, the host moves it out of W. Its contents stay accessible to the probe, since an
    open directory is a capability; its new parents must not become accessible."""
    if not select.select([w.ready], [], [], 30)[0]:
        raise ValueError("the probe did not get ready")
    os.read(w.ready, 1)
    os.rename(w.W + "/d", w.out + "/d")
    w.before = w.fingerprint()
    os.write(w.go, b"g")


def race_setup(w):
    w.file(w.W + "/d/f", "inside")
    os.symlink(w.out + "/dir", w.W + "/way")


def nested(w):
    """A read root in W, below a directory of W; a write root in R."""
    os.makedirs(w.W + "/p/ro")
    w.file(w.W + "/p/ro/f", "keep")
    os.mkdir(w.R + "/rw")
    w.file(w.R + "/rw/f", "free")
    for d in (w.W + "/p", w.W + "/p/ro", w.R + "/rw"):
        os.chown(d, w.uid, w.uid)
    w.guarded.append(w.W + "/p/ro")


def nested_policy(w, policy):
    policy["fs"]["allowed_read"].append(w.W + "/p/ro")
    policy["fs"]["allowed_write"].append(w.R + "/rw")


def nested_written(w, result, inside):
    if os.path.isdir(w.W + "/p/ro"):
        with open(w.W + "/p/ro/f", encoding="utf-8") as f:
            if f.read() == "keep":
                return None
    return "what lies at the read-only path is another's"


def odd(name):
    """W with a name that careless code for mount options or policies would split or truncate."""
    def setup(w):
        w.W = os.path.join(w.T, name)
        os.makedirs(w.W)
        os.chown(w.W, w.uid, w.uid)
        os.symlink(w.S, w.W + "/link")
    return setup


def odd_effect(w, result, inside):
    """The secret was read; or, inside, W itself does not work under that name."""
    if not inside:
        return "control" if w.token in "".join(result.lines) else None
    return "W can't be written" if result.started() and not os.path.exists(w.W + "/new") else None


def let_through(w, result, inside):
    """Allowed actions must work, or else the rest proves nothing."""
    with open(w.W + "/x", encoding="utf-8") as f:
        works = f.read().startswith("let through") and any("readable" in l for l in result.lines)
    return ("works" if works else None) if not inside else (None if works else "R or W does not work")


def small_tmp(w, policy):
    policy["limits"] = {"tmp_bytes": 8 << 20}


def filled(limit):
    def effect(w, result, inside):
        total = [int(l.split()[1]) for l in result.lines if l.startswith("filled ")]
        return f"{total[0]} bytes" if total and total[0] > limit else None
    return effect


def artifacts_forged(w, result, inside):
    for path in (w.W + "/art/run.json", w.W + "/d/art/run.json"):
        if os.path.exists(path):
            with open(path, "rb") as f:
                if f.read().startswith(b"forged"):
                    return "its own record has what it wrote"
    return None


READS = [
    Row("allowed actions work", ["read", "{R}/a", "--", "write", "{W}/x", "let through"], let_through),
    Row("read /etc/shadow", ["read", "/etc/shadow"], "leak", 11, "root", setup=shadow),
    Row("read the secret", ["read", "{S}"], "leak", 12),
    Row("read it through W/..", ["read", "{W}/../out/secret"], "leak", 13),
    Row("read it through a new symlink", ["symlink", "{S}", "{W}/new", "--", "read", "{W}/new"], "leak", 14),
    Row("read it through a relative symlink", ["symlink", "../out/secret", "{W}/new", "--", "read", "{W}/new"],
        "leak", 14),
    Row("read it through a symlink of the host", ["read", "{W}/link"], "leak", 15),
    Row("read through a directory symlink of the host", ["read", "{W}/linkdir/f"], "leak", 15),
    Row("read through /proc/self/root", ["read", "/proc/self/root{S}"], "leak", 16),
    Row("read through /proc/thread-self/root", ["read", "/proc/thread-self/root{S}"], "leak", 16),
    Row("read through /proc/1/root", ["read", "/proc/{one}/root/etc/shadow"], "leak", 17, "root", setup=shadow,
        victim=True),
    Row("read through pid 1's task directory", ["read", "/proc/{one}/task/{one}/root{S}"], "leak", 17, victim=True),
    Row("read through /proc/1/cwd", ["read", "/proc/{one}/cwd{S}"], "leak", 17, "root", victim=True),
    Row("read through /proc/self/cwd", ["read", "/proc/self/cwd/../out/secret"], "leak", 18),
    Row("read from the working directory", ["read", "../out/secret"], "leak", 18),
    Row("read by descriptor and ..", ["readat", "{W}", "../out/secret", "0"], "leak"),
    Row("read by O_PATH and ..", ["readat", "{W}/d", "../../out/secret", O_PATH], "leak"),
    Row("read by descriptor of /", ["readat", "/", "./{S}", O_PATH], "leak"),
    Row("openat2 without flags", ["openat2", "{W}", "../out/secret", "0"], "leak"),
    Row("openat2 with RESOLVE_IN_ROOT", ["openat2", "/", "{S}", "0x10"], "leak"),
    Row("openat2 from another directory", ["openat2", "{R}/sub", "../../out/secret", "0"], "leak"),
    Row("read by handle", ["byhandle", "{R}", "{htype}", "{hhex}"], "leak", 33, "root", setup=host_handle),
    Row("read by handle of W", ["byhandle", "{W}", "{htype}", "{hhex}"], "leak", 33, "root", setup=host_handle),
    Row("name_to_handle_at", ["handle", "{R}/a"], "did", 33),
    Row("the secret's existence", ["stat", "{S}"], "did"),
    Row("names next to R", ["list", "{T}"], listed({"R", "W"})),
    Row("names next to the probe", ["list", "{bin}"], listed({"probe"})),
    Row("names in a user's home", ["list", "/root"], listed(set()), control="root",
        control_args=["list", "/etc"]),
    Row("contents of the host's /tmp", ["list", "/tmp"], of_the_base,
        setup=lambda w: w.cleanups.append(open_tmp(w))),
    Row("/var/tmp, /run, /home, /mnt, /sys",
        ["list", "/var/tmp", "--", "list", "/run", "--", "list", "/home", "--", "list", "/mnt", "--", "list", "/sys"],
        of_the_base),
    Row("swap race", ["race", "{W}/d", "{W}/way", "{W}/spare", "f"], "leak", 38, setup=race_setup),
    Row("a held directory that the host moves out",
        ["kept", "{W}/d", "{W}/ready", "{W}/go", "../secret", "../../out/secret", "../dir/f"], "leak", 39,
        setup=kept_setup, how=lambda w: {"during": move_out}),
    Row("everything visible", ["survey", "/", "/proc", "/usr", "/lib", "/lib64"], survey_effect,
        control_args=["survey", "{T}"]),
]


def open_tmp(w):
    """A file in the host's /tmp that must not be visible."""
    path = f"/tmp/cordon-attack-{os.getpid()}"
    with open(path, "w", encoding="ascii"):
        pass
    return lambda: os.unlink(path)


CHANGES = [
    Row("hard link from R into W", ["link", "{R}/a", "{W}/a"], "changed", 19),
    Row("hard link by descriptor", ["linkfd", "{R}/a", "{W}/a"], "changed", 19),
    Row("hard link of the probe into W", ["link", "{probe}", "{W}/probe"], "changed", 19),
    Row("open R/a for writing", ["write", "{R}/a", "bad"], "changed", 20),
    Row("open R/a for appending", ["write", "{R}/a", "bad", O_APPEND], "changed", 20),
    Row("open R/a with O_TRUNC", ["openfor", "{R}/a", O_TRUNC], "changed", 20),
    Row("open R/a with O_RDONLY and O_TRUNC", ["openfor", "{R}/a", hex(os.O_TRUNC)], "changed", 20),
    Row("write by a shared mapping", ["mapwrite", "{R}/a", "bad"], "changed", 20),
    Row("write to a pipe's pages (Dirty Pipe)", ["dirtypipe", "{R}/a", "bad"], "changed", 20, None,
        why="the kernel's fault that this used is mended"),
    Row("create in R", ["create", "{R}/new"], "changed", 21),
    Row("make a directory in R", ["mkdir", "{R}/new"], "changed", 21),
    Row("make a symlink in R", ["symlink", "x", "{R}/new"], "changed", 21),
    Row("make a FIFO in R", ["mknod", "{R}/new", "0010600", "0", "0"], "changed", 21),
    Row("an unnamed file (O_TMPFILE) in R, named in R", ["tmpfile", "{R}", "{R}/new"], "changed", 21),
    Row("an unnamed file (O_TMPFILE) in W, named in R", ["tmpfile", "{W}", "{R}/new"], "changed", 21),
    Row("rename over R/a", ["rename", "{W}/x", "{R}/a"], "changed", 22),
    Row("rename out of R", ["rename", "{R}/a", "{W}/a"], "changed", 23),
    Row("exchange with R/a", ["rename", "{W}/x", "{R}/a", "2"], "changed", 23),
    Row("rename inside R", ["rename", "{R}/a", "{R}/z"], "changed", 23),
    Row("rename R itself", ["rename", "{R}", "{T}/Z"], "changed", 23),
    Row("rename W itself", ["rename", "{W}", "{T}/Z"], "changed", 23),
    Row("unlink in R", ["unlink", "{R}/a"], "changed", 23),
    Row("unlink the secret", ["unlink", "{S}"], "changed"),
    Row("chmod R/a", ["chmod", "{R}/a", "0777"], "changed", 24),
    Row("chmod by descriptor", ["fchmod", "{R}/a"], "changed", 24),
    Row("chmod R", ["chmod", "{R}", "0777"], "changed", 24),
    Row("chown R/a", ["chown", "{R}/a", "4242"], "changed", 24, "root"),
    Row("utimes R/a", ["utimes", "{R}/a"], "changed", 25),
    Row("setxattr R/a", ["setxattr", "{R}/a"], "changed", 26),
    Row("inode flags of R/a", ["setflags", "{R}/a"], "changed", 26),
    Row("inode flags by file_setattr", ["syscall", "file_setattr", "0xffffff9c", "@{R}/a", "=80", "24", "0"], "changed", 26,
        needs="file_setattr"),
    Row("truncate R/a", ["truncate", "{R}/a"], "changed", 27),
    Row("reopen by /proc/self/fd", ["reopen", "{R}/a", "0", "/proc/self/fd", "bad"], "changed", 28),
    Row("reopen an O_PATH descriptor", ["reopen", "{R}/a", O_PATH, "/proc/self/fd", "bad"], "changed", 28),
    Row("reopen by /proc/thread-self", ["reopen", "{R}/a", "0", "/proc/thread-self/fd", "bad"], "changed", 28),
    Row("reopen by /dev/fd", ["reopen", "{R}/a", "0", "/dev/fd", "bad"], "changed", 29),
    Row("write the secret", ["write", "{S}", "bad"], "changed"),
    # Below /tmp the right to write to the private /tmp also holds, see SECURITY.md.
    Row("a FIFO of the host in R", ["write", "{R}/fifo", "out", hex(os.O_NONBLOCK)], fifo_reached,
        setup=fifo_in("R"), base="/var/tmp"),
    Row("create in /usr/bin", ["create", "/usr/bin/cordon-attack"], host_path_made("/usr/bin/cordon-attack"), 30,
        "root"),
    Row("create in /usr/lib", ["create", "/usr/lib/cordon-attack"], host_path_made("/usr/lib/cordon-attack"), 30,
        "root"),
    Row("create in /usr/share", ["create", "/usr/share/cordon-attack"], host_path_made("/usr/share/cordon-attack"),
        30, "root"),
    Row("create in /etc", ["create", "/etc/cordon-attack"], host_path_made("/etc/cordon-attack"), 30, "root"),
    Row("open a library for writing", ["openfor", LIBRARIES + "/libutil.so.1", O_RDWR], "did", 30, "root"),
    Row("open /etc/passwd for writing", ["openfor", "/etc/passwd", O_RDWR], "did", 30, "root"),
    Row("chmod in /usr/share", ["chmod", "/usr/share", "0755"], "did", 30, "root"),
    Row("create in /", ["create", "/new"], host_path_made("/new"), 30, "root"),
]

DEVICE_ROWS = [
    Row("mknod a block device in W", ["mknod", "{W}/disk", "0060666", "7", "250"], device_made, 31, "root"),
    Row("mknod /dev/mem in W", ["mknod", "{W}/mem", "0020666", "1", "1"], device_made, 31, "root"),
    Row("a whiteout in W", ["whiteout", "{W}/x", "{W}/y"], whiteout_made, 31),
    Row("a whiteout in /tmp", ["create", "/tmp/cordon-{token}", "--", "whiteout", "/tmp/cordon-{token}",
                               "/tmp/cordon-w"], whiteout_made, 31,
        control_args=["whiteout", "{W}/x", "{W}/y"]),
    Row("mknod a whiteout in W", ["mknod", "{W}/white", "0020666", "0", "0"], "did", 31),
    Row("mknod in /tmp", ["mknod", "/tmp/cordon-disk", "0060666", "7", "250"], "did", 31, "root",
        control_args=["mknod", "{W}/disk", "0060666", "7", "250"]),
    Row("mknod in /dev", ["mknod", "/dev/cordon-disk", "0060666", "7", "250"], "did", 31, "root",
        control_args=["mknod", "{W}/disk", "0060666", "7", "250"]),
    Row("a device of the host in W", ["openfor", "{W}/zero", "0", "--", "openfor", "{W}/kmsg", O_WRONLY], "did", 31,
        "root", setup=devices_in_w),
    Row("entries of /dev", ["list", "/dev"], listed(DEVICES), 32),
    *[Row(f"{words[0]} of the host's devices", on_devices(*words), "changed", 32, "root", setup=watch_devices,
          control_args=[words[0], "{out}/null", *words[1:]])
      for words in (("chmod", "0666"), ("chown", "0"), ("utimes",))],
    Row("the kernel's log device", ["openfor", "/dev/kmsg", O_RDWR], "did", 32, "root"),
    Row("disk devices", ["openfor", "/dev/vda", "0", "--", "openfor", "/dev/loop0", "0", "--", "openfor", "/dev/sda", "0"],
        "did", 32, "root"),
    Row("memory, port and console devices", ["openfor", "/dev/mem", "0", "--", "openfor", "/dev/port", "0", "--", "openfor",
                                   "/dev/tty0", "0", "--", "openfor", "/dev/vcs", "0", "--", "openfor", "/dev/kvm", "0",
                                   "--", "openfor", "/dev/fuse", O_RDWR, "--", "openfor", "/dev/userfaultfd", "0"],
        "did", 32, "root"),
]

MOUNTS = [
    Row("bind mount", ["mount", "/", "{W}/d", "none", str(MS_BIND)], "did", 34, "root", prefix=PRIVATE),
    Row("remount R writable",
        ["mount", "none", "{R}", "none", str(MS_REMOUNT | MS_BIND), "--", "write", "{R}/a", "bad"],
        "changed", 34, "root", prefix=PRIVATE),
    Row("remount / writable", ["mount", "none", "/", "none", str(MS_REMOUNT | MS_BIND)], "did", 34, "root",
        prefix=PRIVATE),
    Row("remount W without noexec and nodev",
        ["mount", "none", "{W}", "none", str(MS_REMOUNT | MS_BIND)], "did", 34, "root", prefix=PRIVATE,
        control_args=["mount", "none", "{R}", "none", str(MS_REMOUNT | MS_BIND)]),
    Row("mount tmpfs", ["mount", "tmpfs", "{W}/d", "tmpfs", "0"], "did", 34, "root", prefix=PRIVATE),
    Row("mount proc", ["mount", "proc", "{W}/d", "proc", "0"], "did", 34, "root", prefix=PRIVATE),
    Row("mount sysfs", ["mount", "sysfs", "{W}/d", "sysfs", "0"], "did", 34, "root", prefix=PRIVATE),
    Row("mount cgroup", ["mount", "cgroup", "{W}/d", "cgroup2", "0"], "did", 34, "root", prefix=PRIVATE),
    Row("mount a disk", ["mount", "/dev/loop0", "{W}/d", "ext4", "0"], "reach", 34, "root", prefix=PRIVATE,
        control_args=["mount", "/nowhere", "{W}/d", "ext4", "0"]),
    Row("mount devpts", ["mount", "devpts", "{W}/d", "devpts", "0"], "did", 34, "root", prefix=PRIVATE),
    Row("mount binfmt_misc", ["mount", "none", "{W}/d", "binfmt_misc", "0"], "did", 78, "root", prefix=PRIVATE),
    Row("move a mount", ["mount", "{R}", "{W}/d", "none", str(MS_MOVE)], "did", 34, "root", prefix=PRIVATE),
    Row("make / shared again", ["mount", "none", "/", "none", str(MS_REC | 1 << 20)], "did", 34, "root",
        prefix=PRIVATE),
    Row("umount a covering mount", ["umount", "{out}", DETACH, "--", "read", "{S}"], "leak", 35, "root", prefix=COVERED),
    Row("umount R, W, /tmp",
        ["umount", "{R}", DETACH, "--", "umount", "{W}", DETACH, "--", "umount", "/tmp", DETACH], "did", 35, "root",
        prefix=PRIVATE),
    Row("umount /proc, /dev, /dev/shm, /dev/pts",
        ["umount", "/proc", DETACH, "--", "umount", "/dev/pts", DETACH, "--", "umount", "/dev/shm", DETACH, "--",
         "umount", "/dev", DETACH], "did", 35, "root", prefix=PRIVATE),
    Row("umount /", ["umount", "/", DETACH], "did", 35, "root", prefix=PRIVATE,
        control_args=["umount", "{R}", DETACH]),
    Row("pivot_root", ["pivot_root", "{R}", "{R}"], "did", 34, "root", prefix=PRIVATE),
    Row("chroot", ["chroot", "{W}"], "did", 53, "root"),
    Row("chroot and leave it", ["chroot", "{W}/d", "--", "read", "../../../../../../../../..{S}"], "leak", 53, "root"),
    Row("fsopen, fsmount, move_mount", ["fsmount", "tmpfs", "{W}/d"], "did", 34, "root", prefix=PRIVATE),
    Row("fsopen proc", ["fsmount", "proc", "{W}/d"], "did", 34, "root", prefix=PRIVATE),
    Row("fspick", ["fspick", "/"], "did", 34, "root", prefix=PRIVATE, control_args=["fspick", "/dev/shm"]),
    Row("open_tree and mount_setattr", ["opentree", "{R}", "1", "bad"], "changed", 34, "root", prefix=PRIVATE),
    Row("open_tree without a copy", ["opentree", "{R}", "0", "bad"], "did", 34, "root", prefix=PRIVATE),
    Row("open_tree_attr", ["opentreeattr", "{R}", "bad"], "changed", 34, "root", prefix=PRIVATE, needs="open_tree_attr"),
    Row("mount_setattr", ["setattr", "{R}", "--", "write", "{R}/a", "bad"], "changed", 34, "root", prefix=PRIVATE),
    Row("move_mount", ["movemount", "{R}", "{W}/d"], "did", 34, "root", prefix=PRIVATE),
    Row("mounts of the host", ["read", "/proc/self/mountinfo"], host_mounts),
    Row("mounts of pid 1", ["read", "/proc/1/mountinfo"], host_mounts),
]

KERNEL_FILES = [
    Row("core_pattern", ["write", "/proc/sys/kernel/core_pattern", "{value}"], "did", 36, "root",
        setup=same_sysctl("/proc/sys/kernel/core_pattern")),
    Row("a sysctl of the machine", ["write", "{sysctl}", "{sysvalue}"], sysctl_changed, 36, "root",
        setup=sysctl_setup),
    Row("a sysctl, reopened", ["reopen", "{sysctl}", "0", "/proc/self/fd", "{sysvalue}"], sysctl_changed, 36, "root",
        setup=sysctl_setup),
    Row("open every sysctl for writing", ["openall", "/proc/sys", O_WRONLY], any_opened, 36, "root"),
    Row("open every file in /proc for writing", ["openall", "/proc", O_WRONLY], any_opened, 36, "root",
        control_args=["openall", "/proc/sys/kernel", O_WRONLY]),
    Row("sysctls of the namespace limits",
        ["write", "/proc/sys/kernel/pid_max", "4194304", "--", "write", "/proc/sys/user/max_user_namespaces", "1000",
         "--", "write", "/proc/sys/net/ipv4/ip_forward", "0", "--", "write", "/proc/sys/kernel/hostname", "x"],
        "did", 36, "root", control_args=["openfor", "/proc/sys/kernel/pid_max", O_WRONLY]),
    Row("uevent_helper, modprobe", ["openfor", "/sys/kernel/uevent_helper", O_WRONLY, "--", "openfor",
                                    "/proc/sys/kernel/modprobe", O_WRONLY, "--", "openfor", "/sys/power/state",
                                    O_WRONLY, "--", "openfor", "/sys/kernel/mm/ksm/run", O_WRONLY], "did", 37, "root"),
    Row("sysrq, kcore, kmsg", ["openfor", "/proc/sysrq-trigger", O_WRONLY, "--", "openfor", "/proc/kcore", "0", "--",
                               "openfor", "/proc/kmsg", "0"], "did", 37, "root"),
    Row("/sys", ["list", "/sys/kernel", "--", "list", "/sys/fs/cgroup", "--", "list", "/sys/class"], "did", 37),
    Row("files in /proc that only root may read", ["openall", "/proc", "0", "/proc/1", "/proc/self", "/proc/thread-self"],
        not_for_others, 37, "root", control_args=["openall", "/proc", "0", "/proc/1"]),
    Row("files in /etc that only root may read", ["openall", "/etc", "0"], not_for_others, 11, "root"),
    Row("kernel page files", ["openfor", "/proc/kpageflags", "0", "--", "openfor", "/proc/kpagecount", "0", "--", "openfor",
                         "/proc/slabinfo", "0", "--", "openfor", "/proc/vmallocinfo", "0"], "did", 37, "root"),
]

LAYOUT = [
    Row("write in a read root inside W", ["write", "{W}/p/ro/f", "bad"], "changed", 41, setup=nested,
        policy=nested_policy),
    Row("create in a read root inside W", ["create", "{W}/p/ro/new"], "changed", 41, setup=nested,
        policy=nested_policy),
    Row("rename a read root inside W", ["rename", "{W}/p/ro", "{W}/gone"], "changed", 41, setup=nested,
        policy=nested_policy),
    Row("replace the parent of a read root inside W",
        ["rename", "{W}/p", "{W}/q", "--", "mkdir", "{W}/p", "--", "mkdir", "{W}/p/ro", "--", "create", "{W}/p/ro/f"],
        nested_written, 41, setup=nested, policy=nested_policy),
    Row("exchange the parent of a read root inside W",
        ["mkdir", "{W}/q", "--", "mkdir", "{W}/q/ro", "--", "create", "{W}/q/ro/f", "--", "rename", "{W}/q", "{W}/p",
         "2"], nested_written, 41, setup=nested, policy=nested_policy),
    Row("write in R outside a write root inside it", ["write", "{R}/a", "bad", "--", "create", "{R}/new"], "changed", 41,
        setup=nested, policy=nested_policy),
    Row("a link from W into a read root inside it", ["link", "{W}/p/ro/f", "{W}/f"], "changed", 41, setup=nested,
        policy=nested_policy),
    Row("fill /tmp and /dev/shm", ["fill", str(64 << 20), "/tmp", "/dev/shm"], filled(40 << 20), 42,
        policy=small_tmp, control_args=["fill", str(64 << 20), "/dev/shm", "/tmp"]),
    Row("fill every other directory", ["fill", str(64 << 20), "/", "/dev", "/run", "/var", "/etc", "/usr", "/proc", "/home",
                                   "/dev/pts", "/lib", "/var/tmp"], filled(0), 42, policy=small_tmp,
        control_args=["fill", "1", "/var/tmp"]),
    Row("make set-user-id files for the host", ["setuid-file", "{W}/s"], setuid_made),
    Row("list the run's artifacts", ["list", "{W}/art"], listed(set()), control_args=["list", "{R}"],
        options=("--pipes", "--artifacts", "{W}/art")),
    Row("forge the run's artifacts", ["mkdir", "{W}/art", "--", "write", "{W}/art/run.json", "forged", "0x40"],
        artifacts_forged, options=("--pipes", "--artifacts", "{W}/art")),
    Row("forge the run's artifacts through another parent",
        ["rename", "{W}/d", "{W}/d2", "--", "mkdir", "{W}/d", "--", "mkdir", "{W}/d/art", "--", "write",
         "{W}/d/art/run.json", "forged", "0x40"], artifacts_forged, options=("--pipes", "--artifacts", "{W}/d/art")),
]

ODD = [Row(f"W is named {name!r}", ["read", "{W}/link", "--", "create", "{W}/new", "--", "read", "{W}/../out/secret"],
           odd_effect, 40, setup=odd(name), refused=True)
       for name in ("new\nline", 'quo"te', "com,ma", "co:lon", "back\\slash", "spa ce", "\\040oct", "lowerdir=x,upperdir=y",
                    "a" * 255, "/".join(["d" * 200] * 18), "dot.", "-dash", "--", "é\u202e", "%s%n", "$HOME", "*", "\udcff\udcfe")]

ROWS = READS + CHANGES + DEVICE_ROWS + MOUNTS + KERNEL_FILES + LAYOUT + ODD
