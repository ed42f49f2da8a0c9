# SPDX-License-Identifier: Apache-2.0
"""Attempts on the developer's machine: what presets, tools and boxes show beyond the policy's own paths. The policy may run
what it writes, so nothing is refused for the sake of its executables."""
import os
import socket

from attacks_fs import filled, listed, setuid_made, shadow
from attacks_net import DGRAM, KINDS, PLACES, RAW, STREAM, at, share_socket, stdin_unix
from row import Row

O_WRONLY = hex(os.O_WRONLY)
CPU = "/sys/devices/system/cpu"
CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD, CLONE_SYSVSEM = 0x100, 0x200, 0x400, 0x800, 0x10000, 0x40000
THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM


def developer(w, policy):
    policy["developer"] = True
    policy["exec"] = {"allowed_executables": [w.suite.probe, w.W], "allow_shell": True}


def networked_developer(w, policy):
    developer(w, policy)
    policy["network"], policy["network_unsafe_ack"] = "enabled", True


def small_developer(w, policy):
    developer(w, policy)
    policy["limits"] = {"tmp_bytes": 8 << 20}



ROWS = [
    Row("developer: read /etc/shadow", ["read", "/etc/shadow"], "leak", setup=shadow, control="root", policy=developer),
    Row("developer: read /etc/shadow through a descriptor of /etc", ["readat", "/etc", "shadow", "0"], "leak", setup=shadow,
        control="root", policy=developer),
    Row("developer: read /etc/shadow by a path with dots", ["read", "/etc/ssl/../shadow"], "leak", setup=shadow, control="root",
        policy=developer),
    Row("developer: open a file of /etc for writing", ["openfor", "/etc/services", O_WRONLY], "did", control="root",
        policy=developer),
    Row("developer: create a file in /etc", ["create", "/etc/cordon-attack", "--", "unlink", "/etc/cordon-attack"], "did",
        control=None, why="nothing is left in /etc", policy=developer),
    Row("developer: remove a name that hides a file", ["unlink", "/etc/shadow", "--", "read", "/etc/shadow"], "did",
        control=None, why="it would remove the file", policy=developer),
    Row("developer: open a setting of a processor for writing", ["openfor", f"{CPU}/uevent", O_WRONLY], "did", control="root",
        policy=developer),
    Row("developer: change the mode of a setting of a processor", ["chmod", f"{CPU}/uevent", "0644"], "did", control="root",
        policy=developer),
    *[Row(f"developer: list {place}", ["list", place], listed(allowed), policy=developer)
      for place, allowed in (("/sys", {"devices"}), ("/sys/devices", {"system"}), ("/sys/devices/system", {"cpu"}),
                             ("/run", {"user"}), ("/var", {"lib", "tmp"}), ("/var/lib", {"dpkg", "rpm", "pacman"}))],
    *[Row(f"developer: leave {CPU} by {path}", ["list", f"{CPU}/{path}"], listed(allowed), policy=developer,
          control_args=["list", "/sys"])
      for path, allowed in (("..", {"cpu"}), ("../..", {"system"}), ("cpu0/subsystem/../../../..", {"devices"}))],
    Row("developer: open the database of packages for writing", ["openfor", "/var/lib/dpkg/status", O_WRONLY], "did",
        control="root", policy=developer),
    Row("developer: fill all private directories", ["fill", str(64 << 20), "/tmp", "/dev/shm", "/var/tmp"],
        filled(20 << 20), policy=small_developer, control_args=["fill", str(64 << 20), "/dev/shm", "/tmp"]),
    # Commands may connect Unix sockets of their own: no way leads to those of the host.
    *[Row(f"developer: {kind} socket {name}{label}", ["unix", at(place, kind), number], "accept", net=True, policy=policy)
      for name, place, _ in PLACES for kind, number in KINDS
      for label, policy in (("", developer), (" and the host's network", networked_developer))
      if policy == developer or name == "abstract"],
    *[Row(f"developer: raw Unix socket {name}", ["unix", at(place, "dgram"), RAW], "accept", net=True, policy=developer)
      for name, place, _ in PLACES],
    *[Row(f"developer: a socketpair of {label}, redirected to a socket {name}", ["pair", at(place, kind), number], "accept",
          control="same" if kind == "dgram" else None, net=True, policy=developer,
          why=None if kind == "dgram" else "the kernel connects such a pair only once")
      for name, place, _ in PLACES for label, kind, number in (("datagrams", "dgram", DGRAM), ("streams", "stream", STREAM))],
    *[Row(f"developer: a Unix stream as standard input, {name}", ["unixfd", "0", at(place, "stream")], "accept", net=True,
          how=stdin_unix(socket.SOCK_STREAM), policy=developer) for name, place, _ in PLACES],
    *[Row(f"developer: sockets and addresses exchanged by {label}, {name}", ["unixrace", at(place, "stream"), str(flags)], "accept",
          net=True, policy=developer)
      for name, place, _ in PLACES if name in ("in R", "in W")
      for label, flags in (("a thread", THREAD), ("a process with the same descriptors", CLONE_VM | CLONE_FILES))],
    Row("developer: a socket by a symlink in W", ["symlink", "{R}/stream.sock", "{W}/s", "--", "unix", "{W}/s", STREAM], "accept",
        net=True, policy=developer),
    Row("developer: a socket in the baseline", ["unix", "/usr/share/cordon-attack.sock", STREAM], "accept", net=True,
        setup=share_socket, policy=developer),
    Row("developer: a socket through /proc/self/root", ["unix", "/proc/self/root{R}/stream.sock", STREAM], "accept", net=True,
        policy=developer),
    Row("developer: make set-user-id and set-group-id files for the host", ["setuid-file", "{W}/s", "--", "chmod", "{W}/s", "02755"],
        setuid_made, policy=developer, control_args=["setuid-file", "{W}/s"]),
]
