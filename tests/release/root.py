# SPDX-License-Identifier: Apache-2.0
"""Programs in a separate file system: a directory becomes the root, in a mount namespace that ends with the program."""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x1000, 0x4000, 0x40000, 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
TIMEOUT_S = 60

libc = ctypes.CDLL(None, use_errno=True)


def must(result, words):
    if result != 0:
        raise OSError(ctypes.get_errno(), words)


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def be_root_of_a_namespace(flags):
    """An ordinary user needs a user namespace for the others."""
    uid, gid = os.geteuid(), os.getegid()
    must(libc.unshare(flags | (CLONE_NEWUSER if uid else 0)), "unshare")
    if uid:
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"0 {uid} 1")
        write("/proc/self/gid_map", f"0 {gid} 1")


def enter(path, cwd, shown, network):
    """To be called before exec: `shown` are directories of the host, at the same path; without a network loopback exists, but is down."""
    path = os.fsencode(path)
    be_root_of_a_namespace(CLONE_NEWNS | (0 if network else CLONE_NEWNET))
    must(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "make mounts private")
    must(libc.mount(path, path, None, MS_BIND | MS_REC, None), "bind the root")
    for name in shown:
        must(libc.mount(os.fsencode(name), path + os.fsencode(name), None, MS_BIND | MS_REC, None), f"bind {name}")
    os.chdir(path)
    must(libc.syscall(SYS_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    must(libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir(cwd)


class Root:
    """A directory with files, some of the host's directories, and an environment."""

    def __init__(self, path, shown=(), env=None, network=True):
        self.path, self.cwd, self.shown, self.network = path, "/", shown, network
        self.env = {"PATH": "/bin:/usr/bin:/sbin:/usr/sbin", **(env or {})}
        for name in shown:
            os.makedirs(path + name, exist_ok=True)

    def file(self, name, content, mode=0o644):
        path = self.path + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)

    def run(self, argv, stdin=b"", env=None, before=None):
        def prepare():
            enter(self.path, self.cwd, self.shown, self.network)
            if before:
                before()

        return subprocess.run(
            argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False,
            env={**self.env, **(env or {})}, preexec_fn=prepare)


def ask(root, url, **env):
    """Runs an agent in the root that requests one response from a service."""
    argv = ["/cordon", "agent", "--provider", "openai", "--base-url", url + "/v1", "--max-retries", "0", "-p", "go"]
    return root.run(argv, env={"OPENAI_API_KEY": "none", **env})


def loopback_up():
    with socket.socket() as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
