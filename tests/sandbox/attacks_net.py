# SPDX-License-Identifier: Apache-2.0
"""Attempts to reach the network or a socket of the host: numbers 79 to 88 of the list of escapes, and more.

Number 89 is about a proxy with a list of domains (allowed_hosts): it must be the only way out. What the proxy itself refuses
is tested by works.py and tests/box/proxy.py.
"""
import os
import socket

from row import Row

STREAM, DGRAM, SEQ, RAW = "1", "2", "5", "3"
UNIX, INET, NETLINK = 1, 2, 16
HIGH = 1 << 32
CLOEXEC = 0o2000000
NONBLOCK = 0o4000
# A NETLINK_ROUTE socket for queries is ordinary; other rows try its other functions.
ORDINARY = {(INET, 1), (INET, 2), (10, 1), (10, 2), (NETLINK, 2), (NETLINK, 3)}
MPTCP, ICMP = "262", "1"
ABSENT = {"control": None, "why": "a kernel may be built without it"}


def no_roots(w, policy):
    """Binds no directories of the host, so that Unix sockets may be allowed."""
    policy["fs"] = {}


def read_only(w, policy):
    policy["fs"]["allowed_write"] = []


def unix_allowed(w, policy):
    policy["allow_unix_sockets"] = policy["unix_sockets_unsafe_ack"] = True


def unix_allowed_no_roots(w, policy):
    policy["fs"] = {}
    policy["allow_unix_sockets"] = policy["unix_sockets_unsafe_ack"] = True


def networked(w, policy):
    policy["network"], policy["network_unsafe_ack"] = "enabled", True


def with_hosts(w, policy):
    """The proxy allows one host, which does not exist."""
    policy["allowed_hosts"] = ["host.invalid"]


def networked_no_roots(w, policy):
    networked(w, policy)
    policy["fs"] = {}


def networked_unix(w, policy):
    networked(w, policy)
    policy["allow_unix_sockets"] = policy["unix_sockets_unsafe_ack"] = True


def socket_root(w, policy):
    """The root is the socket itself, not a directory."""
    policy["fs"] = {"allowed_read": [w.R + "/stream.sock"]}


def socket_write_root(w, policy):
    policy["fs"] = {"allowed_write": [w.W + "/stream.sock"]}


def program_dir(w, policy):
    """Binds only a directory of programs, which contains the socket."""
    policy["fs"] = {}
    policy["exec"]["allowed_executables"].append(w.R)


def file_root(w, policy):
    policy["fs"] = {"allowed_read": [w.R + "/a"]}


def share_socket(w):
    """A socket in a directory of the baseline."""
    path = "/usr/share/cordon-attack.sock"
    if os.path.exists(path):
        os.unlink(path)
    w.listeners.unix("baseline", "stream", path)
    os.chmod(path, 0o666)
    w.cleanups.append(lambda: os.unlink(path))


def others(allowed):
    """Finds sockets of families or types that are not among the allowed."""
    def effect(w, result, inside):
        made = {tuple(map(int, l.split()[1:])) for l in result.lines if l.startswith("socket ")}
        return ", ".join(f"{f}/{t}" for f, t in sorted(made - allowed)) or None
    return effect


def stdin_inet(kind):
    """An unconnected socket of the host's network as the child's standard input."""
    def how(w):
        s = socket.socket(socket.AF_INET, kind)
        w.cleanups.append(s.close)
        return {"stdin": s.fileno()}
    return how


def stdin_unix(kind):
    def how(w):
        s = socket.socket(socket.AF_UNIX, kind)
        w.cleanups.append(s.close)
        return {"stdin": s.fileno()}
    return how




INETS = [
    Row("TCP to 127.0.0.1", ["inet", "127.0.0.1", "{tcp}", STREAM, "0"], "accept", 79, net=True),
    *[Row(f"TCP to {name}", ["inet", host, port, STREAM, "0"], "accept", 80, net=True)
      for name, host, port in (("::1", "::1", "{tcp6}"), ("a mapped address", "::ffff:127.0.0.1", "{tcp}"),
                               ("0.0.0.0", "0.0.0.0", "{tcp}"), ("::", "::", "{tcp6}"),
                               ("the machine's own address", "{lanhost}", "{lan}"),
                               ("the machine's own address, mapped", "::ffff:{lanhost}", "{lan}"))],
    *[Row(f"{name}, beside the proxy", ["inet", host, port, kind, "0"], "accept", 89, net=True, policy=with_hosts)
      for name, host, port, kind in (
          ("TCP to 127.0.0.1", "127.0.0.1", "{tcp}", STREAM), ("TCP to ::1", "::1", "{tcp6}", STREAM),
          ("TCP to the machine's own address", "{lanhost}", "{lan}", STREAM), ("UDP to 127.0.0.1", "127.0.0.1", "{udp}", DGRAM))],
    Row("TCP fast open", ["fastopen", "127.0.0.1", "{tcp}"], "accept", 80, net=True),
    Row("UDP to 127.0.0.1", ["inet", "127.0.0.1", "{udp}", DGRAM, "0"], "accept", 81, net=True),
    Row("UDP to ::1", ["inet", "::1", "{udp6}", DGRAM, "0"], "accept", 81, net=True),
    Row("MPTCP to 127.0.0.1", ["inet", "127.0.0.1", "{tcp}", STREAM, MPTCP], "accept", 87, net=True),
    *[Row(f"{name} by AF_INET", ["socket", str(family), kind, proto], "did", 87, **more)
      for family in (INET, 10)
      for name, kind, proto, more in (
          (f"UDP-Lite of family {family}", DGRAM, "136", ABSENT), (f"SCTP of family {family}", STREAM, "132", ABSENT),
          (f"SCTP packets of family {family}", SEQ, "132", ABSENT), (f"DCCP of family {family}", "6", "33", ABSENT),
          (f"SMC of family {family}", STREAM, "256", ABSENT))],
    Row("UDP-Lite to 127.0.0.1", ["inet", "127.0.0.1", "{udp}", DGRAM, "136"], "did", 87, net=True),
    Row("a socketpair of another family", ["syscall", "socketpair", "2", "1", "0", "%8"],
        lambda w, r, i: "; ".join(l for l in r.lines if "EOPNOTSUPP" in l or l.startswith("did")) or None, 85),
    Row("raw ICMP", ["inet", "127.0.0.1", "0", RAW, ICMP], "did", 85, "root"),
    Row("raw IP", ["socket", "2", RAW, "255"], "did", 85, "root"),
    Row("packet sockets", ["socket", "17", RAW, "768"], "did", 85, "root"),
    Row("SOCK_PACKET sockets", ["socket", "2", "10", "768"], "did", 85, "root"),
    Row("vsock", ["vsock", "2", "1", "--", "vsock", "1", "1", "--", "vsock", "0", "1"], "did", 85,
        needs="vsock"),
    Row("every family", ["families"], others(ORDINARY), 85, "root"),
    Row("every family without bound directories", ["families"],
        others(ORDINARY | {(UNIX, 1), (UNIX, 2), (UNIX, 3), (UNIX, 5)}), 85, "root",
        policy=no_roots, cwd=""),
    Row("every family with network", ["families"],
        others(ORDINARY), 85, "root", policy=networked),
    *[Row(f"family {family} with high bits", ["socket", str(family | HIGH), kind, proto], "did", 85, "root")
      for family, kind, proto in ((17, RAW, "768"), (40, STREAM, "0"), (16, RAW, "4"), (44, RAW, "0"), (UNIX, STREAM, "0"))],
    *[Row(f"netlink protocol {proto}", ["socket", "16", RAW, str(proto)], "did", 86)
      for proto in (4, 9, 11, 12, 15, 16)],
    Row("add an address by netlink", ["addlink"], "did", 86, "root", prefix=("unshare", "-n")),
    Row("add an address by netlink with network", ["addlink"], "did", 86, "root", prefix=("unshare", "-n"),
        policy=networked),
    Row("flags of an interface", ["ifup"], lambda w, r, i: "; ".join(l for l in r.did() if "setflags" in l) or None, 86,
        "root", prefix=("unshare", "-n")),
    Row("flags of an interface with network", ["ifup"],
        lambda w, r, i: "; ".join(l for l in r.did() if "setflags" in l) or None, 86, "root", prefix=("unshare", "-n"),
        policy=networked),
    Row("a TCP socket as standard input", ["inetfd", "0", "127.0.0.1", "{tcp}"], "accept", 79, net=True,
        how=stdin_inet(socket.SOCK_STREAM)),
    Row("a UDP socket as standard input", ["inetfd", "0", "127.0.0.1", "{udp}"], "accept", 81, net=True,
        how=stdin_inet(socket.SOCK_DGRAM)),
    Row("sockets of the host in /proc/net", ["read", "/proc/net/unix", "--", "read", "/proc/self/net/unix"], "leak", 82,
        net=True),
    Row("connections of the host in /proc/net", ["read", "/proc/net/tcp"],
        lambda w, r, i: "a listener" if any(f":{w.listeners.ports()['tcp']:04X} 00000000:0000 0A" in l for l in r.lines)
        else None, 79, net=True),
]

KINDS = (("stream", STREAM), ("dgram", DGRAM), ("seq", SEQ))
PLACES = (("outside", "{out}/", 83), ("in R", "{R}/", 84), ("in W", "{W}/", 84), ("abstract", "@{token}-", 82))


def at(place, kind):
    return place + kind if place.startswith("@") else place + kind + ".sock"


UNIXES = [
    *[Row(f"{kind} socket {name}", ["unix", at(place, kind), number], "accept", n, net=True)
      for name, place, n in PLACES for kind, number in KINDS],
    *[Row(f"{kind} socket {name}, high bits", ["unix", at(place, kind), number, str(UNIX | HIGH)], "accept", n, net=True)
      for name, place, n in PLACES for kind, number in KINDS[:2]],
    *[Row(f"raw Unix socket {name}", ["unix", at(place, "dgram"), RAW], "accept", n, net=True)
      for name, place, n in PLACES],
    *[Row(f"a socketpair of {label}, redirected to a socket {name}", ["pair", at(place, "dgram"), str(kind)], "accept", n, net=True)
      for name, place, n in PLACES
      for label, kind in (("datagrams", 2), ("raw", 3), ("datagrams with flags", 2 | CLOEXEC | NONBLOCK))],
    *[Row(f"a socketpair of datagrams with high bits, redirected to a socket {name}",
          ["pair", at(place, "dgram"), str(2 | HIGH), str(UNIX | HIGH)], "accept", n, net=True) for name, place, n in PLACES],
    *[Row(f"a socketpair of {kind}, redirected to a socket {name}", ["pair", at(place, kind), number],
          "accept", n, None, net=True,
          why="the kernel connects such a pair only once; the socket's own row is the control")
      for name, place, n in PLACES for kind, number in KINDS if kind != "dgram"],
    *[Row(f"a Unix {kind} socket as standard input, {name}", ["unixfd", "0", at(place, kind)], "accept", n, net=True,
          how=stdin_unix(number)) for name, place, n in PLACES
      for kind, number in (("stream", socket.SOCK_STREAM), ("dgram", socket.SOCK_DGRAM))],
    *[Row(f"bind an end of a socketpair of {kind}, {where}", ["bindpair", place + "/named", number], "did", 84)
      for kind, number in KINDS for where, place in (("in W", "{W}"), ("in a directory of W", "{W}/d"))],
    Row("bind an end of a socketpair, in /tmp", ["bindpair", "/tmp/cordon-{token}", STREAM], "did", 84,
        control_args=["bindpair", "{W}/named", STREAM]),
    Row("a socket by mknod", ["mksocket", "{W}/named"], "did", 84),
    Row("bind an end of a socketpair, network enabled", ["bindpair", "{W}/named", STREAM], "did", 84, policy=networked),
    Row("a socket through /proc/self/root", ["unix", "/proc/self/root{out}/stream.sock", STREAM], "accept", 83, net=True),
    Row("a socket through /proc/1/root", ["unix", "/proc/{one}/root{out}/stream.sock", STREAM], "accept", 83, net=True,
        victim=True),
    Row("a socket by a symlink in W", ["symlink", "{out}/stream.sock", "{W}/s", "--", "unix", "{W}/s", STREAM], "accept", 83,
        net=True),
    Row("a socket in R without W", ["unix", "{R}/stream.sock", STREAM], "accept", 84, net=True, policy=read_only, cwd="{R}"),
    Row("a datagram socket in R without W", ["pair", "{R}/dgram.sock", DGRAM], "accept", 84, net=True, policy=read_only,
        cwd="{R}"),
    Row("a socket that is the read root", ["unix", "{R}/stream.sock", STREAM], "accept", 84, net=True,
        policy=socket_root, refused=True, cwd=""),
    Row("a socket that is the write root", ["unix", "{W}/stream.sock", STREAM], "accept", 84, net=True,
        policy=socket_write_root, refused=True, cwd=""),
    Row("a socket in a directory of programs", ["unix", "{R}/stream.sock", STREAM], "accept", 84, net=True,
        policy=program_dir, cwd=""),
    Row("a datagram socket in a directory of programs",
        ["unix", "{R}/dgram.sock", DGRAM, "--", "pair", "{R}/dgram.sock", DGRAM], "accept", 84, net=True,
        policy=program_dir, cwd=""),
    Row("a socket in the baseline", ["unix", "/usr/share/cordon-attack.sock", STREAM], "accept", 84, net=True,
        setup=share_socket),
    Row("a socket in the baseline, without other bound directories", ["unix", "/usr/share/cordon-attack.sock", STREAM], "accept", 84,
        net=True, setup=share_socket, policy=no_roots, cwd=""),
    Row("a socket outside, without bound directories", ["unix", "{out}/stream.sock", STREAM], "accept", 83, net=True,
        policy=no_roots, cwd=""),
    Row("a socket next to a file root", ["unix", "{R}/stream.sock", STREAM], "accept", 83, net=True, policy=file_root,
        cwd=""),
]

# The rest also holds with Unix sockets or the network allowed.
WIDER = [
    *[Row(f"{kind} socket {name}, {label}", ["unix", at(place, kind), number], "accept", n, net=True, policy=policy,
          cwd=cwd, gap="network enabled: landlock before abi 6 does not block abstract sockets" if policy == networked_unix and name == "abstract" else None)
      for label, policy, cwd in (("Unix sockets allowed", unix_allowed, None),
                                 ("Unix sockets allowed, nothing bound", unix_allowed_no_roots, ""),
                                 ("nothing bound", no_roots, ""),
                                 ("network enabled", networked, None),
                                 ("network enabled, nothing bound", networked_no_roots, ""),
                                 ("both allowed", networked_unix, None))
      for name, place, n in PLACES if name in ("outside", "abstract")
      for kind, number in KINDS[:2]],
    *[Row(f"{kind} socket {name}, network enabled", ["unix", at(place, kind), number, "--", "pair", at(place, kind), number],
          "accept", n, net=True, policy=networked)
      for name, place, n in PLACES if name in ("in R", "in W") for kind, number in KINDS[:2]],
    Row("TCP with Unix sockets allowed", ["inet", "127.0.0.1", "{tcp}", STREAM, "0"], "accept", 79, net=True,
        policy=unix_allowed),
    Row("raw ICMP with network", ["inet", "127.0.0.1", "0", RAW, ICMP], "did", 85, "root", policy=networked),
    Row("packets with network", ["socket", "17", RAW, "768"], "did", 85, "root", policy=networked),
    Row("vsock with network", ["vsock", "2", "1"], "did", 85, policy=networked, needs="vsock"),
    Row("NETLINK_SOCK_DIAG with network", ["socket", "16", RAW, "4"], "did", 85, policy=networked),
    Row("network sysctls with network", ["openall", "/proc/sys/net", "1"],
        lambda w, r, i: "; ".join(l for l in r.lines if l.startswith("opened"))[:200] or None, 36, "root",
        policy=networked),
]

ROWS = INETS + UNIXES + WIDER
