# SPDX-License-Identifier: Apache-2.0
"""A model service by https on this machine: `cordon serve-script` behind TLS, with its own CA; and a name server."""
import os
import re
import select
import socket
import ssl
import subprocess
import sys
import threading

SCRIPT = '{"version": 1, "turns": [{"repeat": true, "content": [{"text": "it is said"}]}]}'


def certificate(work, name):
    """A CA and its certificate for localhost and api.test: the certificate's file with its key, the CA's text."""
    ca, key, cert = (os.path.join(work, f"{name}.{end}") for end in ("ca", "key", "pem"))
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run([*new, "-keyout", ca + ".key", "-out", ca, "-subj", f"/CN={name} CA"], **quiet)
    subprocess.run(
        [*new, "-keyout", key, "-out", cert, "-subj", "/CN=test", "-CA", ca, "-CAkey", ca + ".key",
         "-addext", "subjectAltName=DNS:localhost,DNS:api.test", "-addext", "basicConstraints=critical,CA:FALSE"], **quiet)
    with open(key, encoding="ascii") as f, open(cert, "a", encoding="ascii") as out:
        out.write(f.read())
    with open(ca, encoding="ascii") as f:
        return cert, f.read()


def forward(client, port):
    """Forwards bytes in both directions until one side ends."""
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        ends = {client: server, server: client}
        while True:
            ready = [client] if client.pending() else select.select([*ends], [], [])[0]
            for source in ready:
                data = source.recv(65536)
                if not data:
                    return
                ends[source].sendall(data)


def answer_names(sock):
    """Resolves api.test to this machine, and no other names."""
    while True:
        query, peer = sock.recvfrom(512)
        end = query.index(b"\0", 12) + 5
        known = query[12:end - 4] == b"\3api\4test\0"
        address = known and query[end - 4:end - 2] == b"\0\1"
        head = query[:2] + (b"\x81\x80" if known else b"\x81\x83") + b"\0\1" + (b"\0\1" if address else b"\0\0") + bytes(4)
        record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if address else b""
        sock.sendto(head + query[12:end] + record, peer)


class Https:
    """Runs the service while the context lasts."""

    def __init__(self, cordon, work, port=0):
        script = os.path.join(work, "service.json")
        with open(script, "w", encoding="ascii") as f:
            f.write(SCRIPT)
        cert, self.ca = certificate(work, "service")
        self.server = subprocess.Popen([cordon, "serve-script", script, "--dialect", "openai"], stdout=subprocess.PIPE)
        self.behind = int(re.search(rb":(\d+)", self.server.stdout.readline())[1])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(cert)
        self.context, self.listener = context, socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                client = self.context.wrap_socket(client, server_side=True)
            except OSError:  # the other side did not trust us
                client.close()
                continue
            threading.Thread(target=forward, args=(client, self.behind), daemon=True).start()

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.server.terminate()
        self.server.wait()
        self.server.stdout.close()


def main():
    """Runs in a separate network namespace, where the ports of https and DNS are free: service.py CORDON WORK ROOT URL."""
    from root import Root, ask, loopback_up  # pylint: disable=import-outside-toplevel
    cordon, work, path, url = sys.argv[1:]
    loopback_up()
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    threading.Thread(target=answer_names, args=(names,), daemon=True).start()
    with Https(cordon, work, 443) as https:
        root = Root(path, ("/proc", "/lib", "/usr/lib"), {"HOME": "/root"})
        root.file("/ca.pem", https.ca)
        ran = ask(root, url, SSL_CERT_FILE="/ca.pem")
        sys.stdout.buffer.write(ran.stdout + ran.stderr)
        sys.stdout.flush()
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
