#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A box's proxy, run on loopback by proxy_run.c: what it allows, refuses and survives.

Each test is a method of Tests. Servers must be on loopback, so the lists contain 127.0.0.1;
names come from the table passed to the proxy. Clients are curl and our own sockets.
"""

import argparse
import hashlib
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from harness import Tap  # noqa: E402

TIMEOUT_S = 60  # catches hangs, does not measure
BIG = 24 << 20
SPIN_MS = 60  # CPU time out of at least half a second; a waiting process needs none, a spinning one uses all it gets


class Failure(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(str(word) for word in what))


def read_all(s):
    parts = []
    while part := s.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def read_exactly(s, n):
    got = b""
    while len(got) < n:
        part = s.recv(n - len(got))
        expect(part, f"the end after {len(got)} of {n} bytes: {got[-200:]!r}")
        got += part
    return got


def read_head(s):
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        part = s.recv(1)
        expect(part, f"the end within a head: {got!r}")
        got += part
    return got


def eventually(condition, *what):
    """Polls until the condition holds: for changes made by another process."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        expect(time.monotonic() < end, "never:", *what)
        time.sleep(0.01)


def cpu_ms(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


class Proxy:
    """Runs proxy_run with these arguments until the end of the block."""

    program = None

    def __init__(self, *hosts, names=(), relays=None, ends=False):
        self.hosts, self.names, self.relays, self.ends = hosts, names, relays, ends

    def __enter__(self):
        self.dir = tempfile.TemporaryDirectory()
        self.report = pathlib.Path(self.dir.name) / "refused.jsonl"
        args = [self.program, "--report", str(self.report)]
        for name in self.names:
            args += ["--name", name]
        fds = ()
        if self.relays:
            fds = (self.relays.fileno(),)
            args += ["--relays", str(fds[0])]
        if self.ends:
            args.append("--ends")
        self.process = subprocess.Popen(
            args + list(self.hosts), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds
        )
        if self.relays:
            self.relays.close()
        ready = json.loads(self.process.stdout.readline())
        self.port, self.pid = ready["port"], ready["pid"]
        return self

    def __exit__(self, kind, *_):
        _, errors = self.process.communicate(timeout=TIMEOUT_S)
        lines = self.refusals()
        self.dir.cleanup()
        if kind is None:
            expect(self.process.returncode == 0, "proxy_run:", self.process.returncode, errors.decode())
            expect(not errors, "proxy_run said:", errors.decode())
        return lines is None

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        return s

    def ask(self, request):
        """Returns the whole response to a request."""
        with self.connect() as s:
            s.sendall(request)
            return read_all(s)

    def tunnel(self, target):
        s = self.connect()
        s.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = read_head(s)
        expect(head.startswith(b"HTTP/1.1 200 "), head)
        return s

    def refusals(self):
        return [json.loads(line) for line in self.report.read_text().splitlines()]


class Server:
    """Handles each connection in its own thread, until the end of the block."""

    def __init__(self, handle, backlog=512):
        self.handle, self.backlog = handle, backlog
        self.threads, self.failures, self.count = [], [], 0

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=self.backlog)
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            thread = threading.Thread(target=self.run, args=(s,), daemon=True)
            thread.start()
            self.threads.append(thread)

    def run(self, s):
        with s:
            s.settimeout(TIMEOUT_S)
            try:
                self.handle(s)
            except Exception as e:  # pylint: disable=broad-except
                self.failures.append(repr(e))

    def __exit__(self, kind, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        if kind is None:
            expect(not self.failures, "the server:", self.failures[:3])


def echo(s):
    while part := s.recv(1 << 16):
        s.sendall(part)


def http(s):
    """Answers one request with its contents; then expects the end, or reports what came instead."""
    head = read_head(s)
    body = b""
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            body = read_exactly(s, int(line.split(b":")[1]))
        elif line.lower() == b"transfer-encoding: chunked":
            while not body.endswith(b"0\r\n\r\n"):
                body += s.recv(1)
    seen = head + body
    s.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(seen) + seen)
    s.shutdown(socket.SHUT_WR)
    rest = read_all(s)
    expect(not rest, f"after the request came {rest!r}")


def curl(*args):
    done = subprocess.run(
        ["curl", "-sS", "--noproxy", "", "--max-time", str(TIMEOUT_S), *args], capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode()


class Tests:
    # Allowed ---------------------------------------------------------------------------------------

    def test_plain_by_curl(self):
        with Server(http) as server, Proxy(server.address) as proxy:
            status, out, said = curl("--proxy", f"http://127.0.0.1:{proxy.port}", f"http://{server.address}/a?b")
            expect(status == 0, status, said)
            expect(out.startswith(b"GET /a?b HTTP/1.1\r\nHost: " + server.address.encode()), out)
            expect(b"Proxy-Connection" not in out and b"\r\nConnection: close\r\n" in out, out)

    def test_upload_by_curl(self):
        with Server(http) as server, Proxy(server.address) as proxy, tempfile.NamedTemporaryFile() as f:
            f.write(os.urandom(300000))
            f.flush()
            for extra in ([], ["-H", "Transfer-Encoding: chunked"]):
                via, to = f"http://127.0.0.1:{proxy.port}", f"http://{server.address}/"
                status, out, said = curl("--proxy", via, "--data-binary", "@" + f.name, *extra, to)
                expect(status == 0, status, said)
                expect(extra or out.endswith(pathlib.Path(f.name).read_bytes()), "another body")

    def test_tunnel_by_curl(self):
        with Server(http) as server, Proxy(server.address) as proxy:
            via = f"http://127.0.0.1:{proxy.port}"
            status, out, said = curl("--proxytunnel", "--proxy", via, f"http://{server.address}/t")
            expect(status == 0 and out.startswith(b"GET /t HTTP/1.1"), status, out, said)

    def test_socks_by_curl(self):
        names = ["web.example=127.0.0.1"]
        with Server(http) as server, Proxy(server.address, f"web.example:{server.port}", names=names) as proxy:
            for host in ("web.example", "127.0.0.1"):
                via = f"127.0.0.1:{proxy.port}"
                status, out, said = curl("--socks5-hostname", via, f"http://{host}:{server.port}/s")
                expect(status == 0 and out.startswith(b"GET /s HTTP/1.1"), status, out, said)

    def test_name_by_the_system(self):
        """The resolver works with the files and descriptors the process has kept."""
        with Server(http) as server, Proxy(server.address, f"localhost:{server.port}") as proxy:
            via = f"http://127.0.0.1:{proxy.port}"
            status, out, said = curl("--proxy", via, f"http://localhost:{server.port}/n")
            expect(status == 0 and out.startswith(b"GET /n HTTP/1.1"), status, out, said)

    def test_next_address(self):
        """The first of several addresses that answers is used; disallowed ones are skipped."""
        names = ["web.example=127.0.0.1,127.0.0.9,127.0.0.2"]
        with Server(http) as server:
            lists = [f"web.example:{server.port}", server.address, f"127.0.0.2:{server.port}"]
            with Proxy(*lists, names=["web.example=127.0.0.2,127.0.0.9,127.0.0.1"]) as proxy:
                with proxy.tunnel(f"web.example:{server.port}") as s:
                    s.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    expect(b"200 OK" in read_all(s), "no answer")
            with Proxy(*lists, names=names) as proxy:
                with proxy.tunnel(f"WEB.example.:{server.port}") as s:
                    s.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    expect(b"200 OK" in read_all(s), "no answer")

    # Refused -----------------------------------------------------------------------------------------

    def test_refusal_says_how(self):
        with Proxy("example.com") as proxy:
            via = f"http://127.0.0.1:{proxy.port}"
            status, out, said = curl("--proxy", via, "http://Other.example/")
            expect(status == 0, said)
            want = "cordon: not allowed to reach Other.example:80: it is not in the list of hosts\n"
            want += "To allow it, start the box or the command with --allow-host other.example\n"
            expect(out.decode() == want, out.decode())
            status, _, said = curl("--proxy", via, "https://other.example/")
            expect(status == 56 and "403" in said, status, said)
            status, _, said = curl("--socks5-hostname", f"127.0.0.1:{proxy.port}", "http://third.example:25/")
            expect(status == 97 and "(2)" in said, status, said)
            told = [(r["host"], r["port"], r["why"]) for r in proxy.refusals()]
            why = "it is not in the list of hosts"
            wanted = [("Other.example", 80, why), ("other.example", 443, why), ("third.example", 25, why)]
            expect(told == wanted, told)

    def test_hosts_that_only_look_right(self):
        with Server(http) as server:
            port = server.port
            names = ["example.com=127.0.0.1", "evil.org=127.0.0.1"]
            with Proxy(f"example.com:{port}", server.address, names=names) as proxy:
                for host in (
                    "evil.org",
                    "evil-example.com",
                    "example.com.evil.org",
                    "127.1",
                    "2130706433",
                    "0x7f000001",
                    "0177.0.0.1",
                    "017700000001",
                    "[::ffff:127.0.0.1]",
                    "[::1]",
                    "127.0.0.2",
                    "localhost",
                    "169.254.169.254",
                ):
                    said = proxy.ask(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
                    expect(said.startswith(b"HTTP/1.1 403 "), host, said)
                    said = proxy.ask(f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
                    expect(said.startswith(b"HTTP/1.1 403 "), host, said)
                    raw = host.encode()
                    request = b"\5\1\0\5\1\0\3" + bytes([len(raw)]) + raw + port.to_bytes(2, "big")
                    said = proxy.ask(request)
                    expect(said[:4] == b"\5\0\5\2", host, said)
                for host in ("user@example.com", "example.com@evil.org"):
                    said = proxy.ask(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
                    expect(said.startswith(b"HTTP/1.1 400 "), host, said)
                for raw in (b"example.com\0", b"example.com\0.evil.org", b"example.com\n", b"\xff"):
                    said = proxy.ask(b"\5\1\0\5\1\0\3" + bytes([len(raw)]) + raw + port.to_bytes(2, "big"))
                    expect(said[:4] == b"\5\0\5\2", raw, said)
                # An address in SOCKS: an IPv4-mapped one, and another.
                for raw in (b"\4" + bytes(10) + b"\xff\xff\x7f\0\0\1", b"\1\x7f\0\0\2"):
                    said = proxy.ask(b"\5\1\0\5\1\0" + raw + port.to_bytes(2, "big"))
                    expect(said[:4] == b"\5\0\5\2", raw, said)
            expect(server.count == 0, "the server was reached", server.count)

    def test_ports(self):
        names = ["example.com=127.0.0.1"]
        with Server(echo) as server, Proxy("example.com", "127.0.0.1", names=names) as proxy:
            for port in (22, 25, server.port):
                said = proxy.ask(f"CONNECT example.com:{port} HTTP/1.1\r\n\r\n".encode())
                expect(said.startswith(b"HTTP/1.1 403 ") and f"--allow-host example.com:{port}\n".encode() in said, said)
            expect(server.count == 0, "the server was reached")

    def test_names_that_lead_inside(self):
        addresses = {
            "127.0.0.1": "this machine",
            "0.0.0.0": "this machine",
            "10.1.2.3": "a private network",
            "192.168.1.1": "a private network",
            "100.64.0.1": "a private network",
            "169.254.169.254": "a link-local network",
            "168.63.129.16": "a cloud's metadata service",
            "[64:ff9b::a83f:8110]": "a cloud's metadata service",
            "224.0.0.1": "multicast",
            "[::1]": "this machine",
            "[fe80::1]": "a link-local network",
            "[fd00::1]": "a private network",
        }
        names = [f"n{i}.example={address}" for i, address in enumerate(addresses)]
        with Proxy("*.example:1", names=names) as proxy:
            for i, (address, what) in enumerate(addresses.items()):
                said = proxy.ask(f"CONNECT n{i}.example:1 HTTP/1.1\r\n\r\n".encode()).decode()
                expect(said.startswith("HTTP/1.1 403 "), address, said)
                expect(f"its address {address} is not public ({what}), and is refused" in said, said)
                expect(f"--allow-host {address}:1\n" in said, said)
            expect(len(proxy.refusals()) == len(addresses), proxy.refusals())
        with Proxy("localhost") as proxy:
            said = proxy.ask(b"CONNECT localhost:443 HTTP/1.1\r\n\r\n")
            expect(said.startswith(b"HTTP/1.1 403 "), said)

    def test_addresses_of_this_machine(self):
        """A public address of this machine is also local to the box's host: tried with any that we have."""
        shown = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
        own = [a for a in shown if ":" not in a]
        if not own:
            return
        with Proxy("own.example", names=[f"own.example={own[0]}"]) as proxy:
            said = proxy.ask(b"CONNECT own.example:443 HTTP/1.1\r\n\r\n").decode()
            expect(said.startswith("HTTP/1.1 403 ") and "this machine" in said, said)

    def test_smuggling(self):
        """Nothing after a request is forwarded, and malformed requests are refused."""
        with Server(http) as server, Proxy(server.address) as proxy:
            head = f"POST http://{server.address}/ HTTP/1.1\r\nHost: {server.address}\r\n"
            second = b"GET /second HTTP/1.1\r\nHost: evil.org\r\n\r\n"
            for request in (
                (head + "\r\n").encode() + second,
                (head + "Content-Length: 3\r\n\r\nabc").encode() + second,
                (head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").encode() + second,
            ):
                said = proxy.ask(request)
                expect(said.startswith(b"HTTP/1.1 200 ") and b"/second" not in said, said)
                # The same, with the second request sent later.
                with proxy.connect() as s:
                    s.sendall(request[: -len(second)])
                    said = read_head(s)
                    s.sendall(second)
                    expect(b"/second" not in read_all(s), "passed on")
            count = server.count
            for fields in (
                "Host: evil.org\r\n\r\n",
                "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
                "X: a\r\n b\r\n\r\n",
                "X: a\n\r\n",
                "Connection: Content-Length\r\nContent-Length: 3\r\n\r\nabc",
            ):
                said = proxy.ask((head + fields).encode())
                expect(said.startswith(b"HTTP/1.1 400 "), fields, said)
            said = proxy.ask(f"GET https://{server.address}/ HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            expect(said.startswith(b"HTTP/1.1 400 ") and b"needs CONNECT" in said, said)
            expect(server.count == count, "reached the server")

    def test_bad_chunks(self):
        """A body that becomes malformed breaks the connection on both sides."""
        broken = threading.Event()

        def handle(s):
            try:
                read_all(s)
            except ConnectionResetError:
                broken.set()

        with Server(handle) as server, Proxy(server.address) as proxy:
            with proxy.connect() as s:
                head = f"POST http://{server.address}/ HTTP/1.1\r\nHost: {server.address}\r\n"
                s.sendall((head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n").encode())
                eventually(lambda: server.count == 1, "a connection")
                s.sendall(b"3\nabc")
                try:
                    expect(read_all(s) == b"", "an answer")
                except ConnectionResetError:
                    pass
            expect(broken.wait(TIMEOUT_S), "the server saw a proper end")

    def test_refusal_of_an_upload(self):
        """The response arrives although the client is still sending."""
        head = b"POST http://other.example/ HTTP/1.1\r\nHost: other.example\r\nContent-Length: 3000000\r\n\r\n"
        with Proxy("example.com") as proxy:
            for _ in range(20):
                with proxy.connect() as s:
                    s.sendall(head)
                    s.sendall(b"x" * 3000000)
                    expect(read_all(s).startswith(b"HTTP/1.1 403 "), "no answer")

    def test_reports_are_few(self):
        with Proxy("example.com") as proxy:
            for _ in range(20):
                proxy.ask(b"CONNECT again.example:443 HTTP/1.1\r\n\r\n")
            proxy.ask(b"\5\1\0\5\1\0\3\x0c\x1b]0;\"\\\n\xff\0\xe2\x80\xae\x01\xbb")
            lines = proxy.report.read_bytes().splitlines()
            expect(len(lines) == 2, lines)
            expect(b"\x1b" not in lines[1] and b"\xe2\x80\xae" not in lines[1], lines[1])
            expect(sorted(json.loads(lines[1])) == ["host", "port", "time", "why"], lines[1])
            for i in range(1200):
                proxy.ask(f"CONNECT h{i}.example:443 HTTP/1.1\r\n\r\n".encode())
            lines = proxy.refusals()
            expect(len(lines) == 1000 and "not listed" in lines[-1]["why"], len(lines), lines[-1])

    # Split at any byte, any size -------------------------------------------------------------------

    def test_cut_at_every_byte(self):
        names = ["web.example=127.0.0.1"]
        with Server(http) as server, Proxy(server.address, f"web.example:{server.port}", names=names) as proxy:
            target = f"web.example:{server.port}"
            inner = b"GET /in HTTP/1.1\r\n\r\n"
            tunnel = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode() + inner
            plain = f"POST http://{target}/in HTTP/1.1\r\nHost: {target}\r\nContent-Length: 3\r\n\r\nabc".encode()
            socks = b"\5\1\0\5\1\0\3\x0bweb.example" + server.port.to_bytes(2, "big") + inner
            for request in (tunnel, plain, socks):
                for cut in range(1, len(request)):
                    with proxy.connect() as s:
                        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        s.sendall(request[:cut])
                        s.sendall(request[cut:])
                        said = read_all(s)
                        expect(b"/in HTTP/1.1\r\n" in said, f"cut at {cut}: {said!r}")
            for request in (tunnel, plain, socks):
                with proxy.connect() as s:
                    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    for i in range(len(request)):
                        s.sendall(request[i : i + 1])
                    expect(b"/in HTTP/1.1\r\n" in read_all(s), "byte by byte")

    def test_left_at_every_byte(self):
        """Clients that disconnect in the middle of a request leave nothing behind."""
        with Server(http) as server, Proxy(server.address) as proxy:
            request = f"CONNECT {server.address} HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode()
            for cut in range(len(request)):
                with proxy.connect() as s:
                    s.sendall(request[:cut])
            self.settled(proxy)

    def settled(self, proxy):
        """Waits until all connections are closed again."""
        try:
            eventually(lambda: len(os.listdir(f"/proc/{proxy.pid}/fd")) <= 6, "descriptors closed")
        except PermissionError:
            pass  # the process cannot be inspected, as intended

    def both_ways(self, s, up, down):
        """Sends `up` and reads until end of file, at the same time."""
        sender = threading.Thread(target=lambda: (s.sendall(up), s.shutdown(socket.SHUT_WR)), daemon=True)
        sender.start()
        got = read_all(s)
        sender.join(TIMEOUT_S)
        expect(hashlib.sha256(got).digest() == hashlib.sha256(down).digest(), f"{len(got)} bytes, not these {len(down)}")

    def test_big_both_ways(self):
        up, down = os.urandom(BIG), os.urandom(BIG + 12345)
        seen = []

        def handle(s):
            sender = threading.Thread(target=s.sendall, args=(down,), daemon=True)
            sender.start()
            seen.append(read_all(s) == up)
            sender.join(TIMEOUT_S)

        with Server(handle) as server, Proxy(server.address) as proxy:
            with proxy.tunnel(server.address) as s:
                self.both_ways(s, up, down)
            with proxy.connect() as s:
                s.sendall(b"\5\1\0")
                expect(read_exactly(s, 2) == b"\5\0", "greeting")
                s.sendall(b"\5\1\0\1\x7f\0\0\1" + server.port.to_bytes(2, "big"))
                expect(read_exactly(s, 10)[:2] == b"\5\0", "request")
                self.both_ways(s, up, down)
        expect(seen == [True, True], "what the server got", seen)

    def test_many_at_once(self):
        with Server(echo) as server, Proxy(server.address) as proxy:
            sockets = [proxy.tunnel(server.address) for _ in range(200)]
            for i, s in enumerate(sockets):
                s.sendall(b"%d " % i * 1000)
            for i, s in enumerate(sockets):
                want = b"%d " % i * 1000
                expect(read_exactly(s, len(want)) == want, "mixed up", i)
            for s in sockets:
                s.close()
            self.settled(proxy)

    def test_more_than_the_limit(self):
        """Connections beyond the limit wait for a free slot."""
        with Server(echo) as server, Proxy(server.address) as proxy:
            first = [proxy.tunnel(server.address) for _ in range(256)]
            late = proxy.connect()
            late.sendall(f"CONNECT {server.address} HTTP/1.1\r\n\r\n".encode())
            first[0].sendall(b"still")
            expect(read_exactly(first[0], 5) == b"still", "the others go on")
            before = cpu_ms(proxy.pid)
            late.settimeout(0.5)
            try:
                late.recv(1)
                raise Failure("one too many")
            except TimeoutError:
                pass
            expect(cpu_ms(proxy.pid) - before < SPIN_MS, "it spins")
            first[0].close()
            late.settimeout(TIMEOUT_S)
            expect(read_head(late).startswith(b"HTTP/1.1 200 "), "no place")
            for s in first + [late]:
                s.close()

    # End of connections ---------------------------------------------------------------------------

    def test_half_close(self):
        """Each side's shutdown is forwarded to the other, which may continue to send."""

        def handle(s):
            expect(read_all(s) == b"question", "the question")
            s.sendall(b"answer")

        def first(s):
            s.sendall(b"hello")
            s.shutdown(socket.SHUT_WR)
            expect(read_all(s) == b"late", "what comes after our end")
            heard.set()

        heard = threading.Event()
        with Server(handle) as server, Proxy(server.address) as proxy, proxy.tunnel(server.address) as s:
            s.sendall(b"question")
            s.shutdown(socket.SHUT_WR)
            expect(read_all(s) == b"answer", "no answer")
        with Server(first) as server, Proxy(server.address) as proxy, proxy.tunnel(server.address) as s:
            expect(read_all(s) == b"hello", "no hello")
            s.sendall(b"late")
            s.shutdown(socket.SHUT_WR)
            heard.wait(TIMEOUT_S)

    def test_reset_is_not_the_end(self):
        """A reset connection does not look like one that was closed."""

        def handle(s):
            s.sendall(b"part")
            read_exactly(s, 2)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        with Server(handle) as server, Proxy(server.address) as proxy, proxy.tunnel(server.address) as s:
            expect(read_exactly(s, 4) == b"part", "no part")
            s.sendall(b"go")
            try:
                s.recv(1)
                raise Failure("an end")
            except ConnectionResetError:
                pass

    def test_client_that_never_reads(self):
        """It blocks only itself; the proxy buffers little, and does not spin."""
        sent = []

        def handle(s):
            s.settimeout(1)
            try:
                for _ in range(4096):
                    s.sendall(bytes(1 << 16))
                    sent.append(1 << 16)
            except TimeoutError:
                pass
            except OSError:
                pass

        with Server(handle) as server, Server(echo) as other, Proxy(server.address, other.address) as proxy:
            with proxy.tunnel(server.address):
                eventually(lambda: server.threads and not server.threads[0].is_alive(), "held up")
                expect(sum(sent) < 64 << 20, "the proxy took", sum(sent))
                before = cpu_ms(proxy.pid)
                with proxy.tunnel(other.address) as s:
                    s.sendall(b"x" * 100000)
                    expect(len(read_exactly(s, 100000)) == 100000, "the other one")
                    s.settimeout(0.5)
                    try:
                        s.recv(1)
                    except TimeoutError:
                        pass
                expect(cpu_ms(proxy.pid) - before < SPIN_MS, "it spins")

    def test_dead_server(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
        with Proxy(address) as proxy:
            said = proxy.ask(f"CONNECT {address} HTTP/1.1\r\n\r\n".encode())
            expect(said.startswith(b"HTTP/1.1 502 ") and b"Connection refused" in said, said)
            said = proxy.ask(b"\5\1\0\5\1\0\1\x7f\0\0\1" + int(address.split(":")[1]).to_bytes(2, "big"))
            expect(said[:4] == b"\5\0\5\5", said)
            expect(proxy.refusals() == [], "not a refusal")

    def test_server_that_does_not_take_all(self):
        """Data that a server sent before it stopped reading still arrives."""

        def handle(s):
            read_exactly(s, 1)
            s.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        with Server(handle) as server, Proxy(server.address) as proxy, proxy.connect() as s:
            head = f"POST http://{server.address}/ HTTP/1.1\r\nHost: {server.address}\r\nContent-Length: 9000000\r\n\r\n"
            s.sendall(head.encode())
            try:
                s.sendall(bytes(9000000))
            except OSError:
                pass
            expect(read_head(s).startswith(b"HTTP/1.1 413 "), "no answer")

    def test_lookups(self):
        """Names that are not found and lookups that hang do not block others."""
        names = ["slow.example=-", "web.example=127.0.0.1"]
        with Server(echo) as server:
            with Proxy("*.example", f"*.example:{server.port}", server.address, names=names) as proxy:
                said = proxy.ask(b"CONNECT none.example:443 HTTP/1.1\r\n\r\n")
                expect(said.startswith(b"HTTP/1.1 502 ") and b"not known" in said, said)
                slow = [proxy.connect() for _ in range(10)]
                for s in slow:
                    s.sendall(b"CONNECT slow.example:443 HTTP/1.1\r\n\r\n")
                with proxy.tunnel(f"web.example:{server.port}") as s:
                    s.sendall(b"x")
                    expect(s.recv(1) == b"x", "held up")
                for s in slow:
                    expect(read_all(s).startswith(b"HTTP/1.1 50"), "no answer")
                    s.close()

    def test_slow_head(self):
        """A request head must arrive within the timeout, however slowly it trickles."""
        with Proxy("example.com") as proxy, proxy.connect() as s, proxy.connect() as silent:
            start = time.monotonic()
            s.settimeout(0.5)
            said = b""
            s.sendall(b"GET http://example.com/ HTTP/1.1\r\nX: ")
            while time.monotonic() - start < TIMEOUT_S and not said:
                try:
                    s.sendall(b"x")
                    said = s.recv(100)
                except TimeoutError:
                    pass
            expect(said.startswith(b"HTTP/1.1 400 "), said)
            expect(15 < time.monotonic() - start < TIMEOUT_S, "after", time.monotonic() - start)
            expect(silent.recv(1) == b"", "who says nothing stays")

    def test_long_head(self):
        with Proxy("example.com") as proxy:
            said = proxy.ask(b"GET http://example.com/ HTTP/1.1\r\nX: " + b"x" * 20000)
            expect(said.startswith(b"HTTP/1.1 431 "), said)

    # Relays, and the state of the process ----------------------------------------------------------

    def test_relays(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        up, down = os.urandom(3 << 20), os.urandom(2 << 20)
        with ours, Proxy(relays=theirs) as proxy:
            for make in (self.unix_pair, self.tcp_pair):
                (a, a2), (b, b2) = make(), make()
                socket.send_fds(ours, [b"x"], [a2.fileno(), b2.fileno()])
                a2.close()
                b2.close()
                with a, b:
                    a.settimeout(TIMEOUT_S)
                    b.settimeout(TIMEOUT_S)
                    got = []
                    reader = threading.Thread(target=lambda b=b, got=got: got.append(read_all(b)), daemon=True)
                    sender = threading.Thread(
                        target=lambda b=b: (b.sendall(down), b.shutdown(socket.SHUT_WR)), daemon=True
                    )
                    reader.start()
                    sender.start()
                    self.both_ways(a, up, down)
                    reader.join(TIMEOUT_S)
                    expect(got == [up], "what the other side got")
            # Either end closes both.
            (a, a2), (b, b2) = self.unix_pair(), self.unix_pair()
            socket.send_fds(ours, [b"x"], [a2.fileno(), b2.fileno()])
            a2.close()
            b2.close()
            a.close()
            b.settimeout(TIMEOUT_S)
            expect(read_all(b) == b"", "no end")
            b.close()
            # Packets that do not carry two sockets are dropped.
            with open("/dev/null", "rb") as null:
                for fds in ([null.fileno(), null.fileno()], [ours.fileno()], [], [0, 0, 0]):
                    socket.send_fds(ours, [b"x"], fds)
            (a, a2), (b, b2) = self.unix_pair(), self.unix_pair()
            with a, b, a2, b2:
                socket.send_fds(ours, [b"x"], [a2.fileno(), b2.fileno()])
                a.sendall(b"x")
                b.settimeout(TIMEOUT_S)
                expect(b.recv(1) == b"x", "it goes on")
            self.settled(proxy)

    def test_relay_that_still_connects(self):
        """One side may still be connecting, to a listener or to none."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            nobody = taken.getsockname()[1]
        with ours, Server(echo) as server, Proxy(relays=theirs):
            for port, want in ((server.port, b"hello"), (nobody, b"")):
                a, a2 = self.unix_pair()
                with a, a2, socket.socket() as to:
                    a.settimeout(TIMEOUT_S)
                    a.sendall(b"hello")
                    a.shutdown(socket.SHUT_WR)
                    to.setblocking(False)
                    to.connect_ex(("127.0.0.1", port))
                    socket.send_fds(ours, [b"x"], [a2.fileno(), to.fileno()])
                    a2.close()
                    to.close()
                    try:
                        got = read_all(a)
                    except ConnectionResetError:
                        got = b""
                    expect(got == want, port, got)

    def unix_pair(self):
        return socket.socketpair()

    def tcp_pair(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            a = socket.create_connection(listener.getsockname())
            return a, listener.accept()[0]

    def test_relays_beside_a_full_box(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, Proxy("example.com", relays=theirs) as proxy:
            silent = [proxy.connect() for _ in range(300)]
            (a, a2), (b, b2) = self.unix_pair(), self.unix_pair()
            with a, b, a2, b2:
                socket.send_fds(ours, [b"x"], [a2.fileno(), b2.fileno()])
                a.sendall(b"x")
                b.settimeout(TIMEOUT_S)
                expect(b.recv(1) == b"x", "no place for a forwarded port")
            for s in silent:
                s.close()

    def test_ends_with_its_parent(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with Proxy(relays=theirs, ends=True):
            ours.close()

    def test_idle_costs_nothing(self):
        """Half-closed and silent connections, in all states, cost the proxy no CPU time."""
        hold = threading.Event()

        def handle(s):
            s.shutdown(socket.SHUT_WR)
            hold.wait(TIMEOUT_S)

        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, Server(handle) as server, Proxy(server.address, relays=theirs) as proxy:
            sockets = [proxy.tunnel(server.address) for _ in range(5)] + [proxy.connect()]
            (a, a2), (b, b2) = self.unix_pair(), self.unix_pair()
            socket.send_fds(ours, [b"x"], [a2.fileno(), b2.fileno()])
            a2.close()
            b2.close()
            a.shutdown(socket.SHUT_RDWR)
            for s in sockets[:5]:
                expect(read_all(s) == b"", "no end")
            before = cpu_ms(proxy.pid)
            ours.settimeout(1)
            try:
                ours.recv(1)
            except TimeoutError:
                pass
            expect(cpu_ms(proxy.pid) - before < SPIN_MS, "it spins:", cpu_ms(proxy.pid) - before, "ms of a second")
            hold.set()
            for s in sockets + [a, b]:
                s.close()

    def test_confined(self):
        with Proxy("example.com") as proxy:
            proxy.ask(b"CONNECT other.example:443 HTTP/1.1\r\n\r\n")
            status = dict(
                line.split(":\t", 1) for line in pathlib.Path(f"/proc/{proxy.pid}/status").read_text().splitlines()
            )
            for key, want in (("NoNewPrivs", "1"), ("Seccomp", "2"), ("CapEff", "0" * 16), ("CapPrm", "0" * 16)):
                expect(status[key].strip() == want, key, status[key])
            try:
                eventually(lambda: sorted(os.listdir(f"/proc/{proxy.pid}/fd")) == list("01234"), "few descriptors")
            except PermissionError:
                pass  # it is not dumpable, and we are not root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", required=True, help="proxy_run")
    parser.add_argument("words", nargs="*", help="only the tests whose name holds one of them")
    args = parser.parse_args()
    Proxy.program = os.path.abspath(args.run)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    tests = Tests()
    names = [n for n in dir(tests) if n.startswith("test_")]
    chosen = [n for n in names if not args.words or any(w in n for w in args.words)]
    tap = Tap()
    for n in chosen:
        tap.run(n[5:].replace("_", " "), getattr(tests, n))
    sys.exit(tap.end())


if __name__ == "__main__":
    main()
