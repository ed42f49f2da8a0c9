#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The static release program in otherwise empty roots: run.py --cordon build-release/cordon [--debian] [WORD…]

Prints TAP. Each test is a method; WORDs select those whose name contains one. --debian also makes Debian's releases with
debootstrap, which takes minutes. Needs root, or user namespaces.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import kernel  # noqa: E402 pylint: disable=wrong-import-position
import service  # noqa: E402 pylint: disable=wrong-import-position
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position
from root import CLONE_NEWNET, TIMEOUT_S, Root, ask, be_root_of_a_namespace  # noqa: E402 pylint: disable=wrong-import-position

EXITS = {*range(0, 21), 130}  # every exit status that the program has
DEBIAN = {"bullseye": "2.31", "trixie": "2.41"}
NO_LANDLOCK = ("Linux 2.6.", " has no Landlock", "boot Linux 5.13 or newer")
DEVICES = ["null", "zero", "full", "random", "urandom", "tty"]
SCRIPT = json.dumps({"version": 1, "turns": [
    {"content": [{"tool_call": {"name": "shell", "arguments": {"command": "echo made > made.txt && cat made.txt"}}}]},
    {"content": [{"text": "all is well"}]}]})
SCENARIO = """scenario_version: 1
run: {command: /cordon, args: [--version]}
steps:
- {id: one, action: {type: wait, payload: {condition: {type: screen_contains, payload: {text: cordon}}}}}
"""


class Wrong(Exception):
    pass


def check(holds, words, ran=None):
    if not holds:
        raise Wrong(words if ran is None else f"{words}\nexit {ran.returncode}\n{said(ran)}")


def said(ran):
    return (ran.stdout + ran.stderr).decode(errors="replace")


def check_exit(ran, status, words=""):
    check(ran.returncode == status, f"{' '.join(ran.args)}: wanted exit {status}", ran)
    check(words in said(ran), f"{' '.join(ran.args)}: wanted '{words}'", ran)


def check_sane(ran):
    """Checks that the result, whatever it is, is one of the program's own."""
    line = " ".join(ran.args)
    check(ran.returncode in EXITS, f"{line}: neither an exit status of the program nor a clean end", ran)
    check(said(ran).strip() or ran.returncode == 0, f"{line}: exit {ran.returncode} without a word", ran)
    loader = re.search(r"error while loading|cannot open shared|symbol lookup|GLIBC_|\.so\.\d", said(ran))
    check(not loader, f"{line}: asks for a library", ran)


class Release:
    def __init__(self, options):
        self.cordon, self.cache = os.path.abspath(options.cordon), os.path.abspath(options.cache)
        self.work = tempfile.mkdtemp(prefix="cordon-release-")

    def root(self, name, shown=("/proc",), **more):
        path = os.path.join(self.work, name)
        os.makedirs(path + "/dev", exist_ok=True)
        shutil.copy(self.cordon, path + "/cordon")
        return Root(path, shown, **more)

    def furnished(self, root):
        """A root with a user's directories, and a project."""
        for name in ("/tmp", "/root", "/work", "/etc", "/dev"):
            os.makedirs(root.path + name, exist_ok=True)
        root.file("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        root.file("/work/a.txt", "hello\n")
        root.file("/script.json", SCRIPT)
        root.cwd = "/work"
        root.env.update(HOME="/root", TERM="xterm")
        return root

    def commands(self):
        """Every command and subcommand, from the program's own table."""
        words = subprocess.run([self.cordon, "completions", "bash"], stdout=subprocess.PIPE, check=True, text=True).stdout
        found = re.findall(r" at='([a-z -]+)' ;;", words)
        check(len(found) > 50 and "box new" in found, f"these are not the commands: {found}")
        return ["help", "manual-source", *found]

    # The file itself ----------------------------------------------------------------------------

    def test_file_needs_nothing(self):
        words = subprocess.run(["readelf", "-lWd", self.cordon], stdout=subprocess.PIPE, check=True, text=True).stdout
        check("INTERP" not in words, "it asks for a loader")
        check("NEEDED" not in words, "it needs libraries")
        words = subprocess.run(["objdump", "-T", self.cordon], stdout=subprocess.PIPE, check=True, text=True).stdout
        versions = sorted(set(re.findall(r"GLIBC_[\d.]+", words)))
        check(not versions, f"it has versioned symbols: {versions}")

    def test_file_is_hardened(self):
        words = subprocess.run(["readelf", "-hlWS", self.cordon], stdout=subprocess.PIPE, check=True, text=True).stdout
        check("DYN (Position-Independent" in words, "its address is fixed")
        check("GNU_RELRO" in words, "no RELRO")
        check(re.search(r"GNU_STACK.* RW ", words), "the stack is executable, or nothing is said of it")
        check(not re.search(r"LOAD .* RWE ", words), "memory is both writable and executable")
        check(".symtab" not in words and ".debug" not in words, "it is not stripped")

    def test_file_relocates_large_libraries_later(self):
        """The relocations that the C library does at the start are less than half of the table."""
        words = subprocess.run(["readelf", "-dSW", self.cordon], stdout=subprocess.PIPE, check=True, text=True).stdout
        table = int(re.search(r"\.rela\.dyn +RELA +\w+ \w+ (\w+)", words)[1], 16)
        start = int(re.search(r"\(RELASZ\) +(\d+)", words)[1])
        check(0 < start < table / 2, f"{start} of {table} bytes of relocations at the start")
        check("later_tables" in words, "no tables of their own")

    def test_file_carries_no_path_of_the_build(self):
        with open(self.cordon, "rb") as f:
            image = f.read()
        place = os.path.dirname(os.path.dirname(HERE)).encode()
        check(place not in image, f"it has '{place.decode()}' in it")

    # Empty roots --------------------------------------------------------------------------------

    def test_every_command_in_an_empty_root(self):
        root = self.root("nothing", shown=(), network=False)
        for name in self.commands():
            helped = root.run(["/cordon", *name.split(), "--help"])
            check_exit(helped, 0, "Usage")
            check_sane(root.run(["/cordon", *name.split()]))
            check_sane(root.run(["/cordon", *name.split(), "no-such-thing"]))

    def test_work_in_an_empty_root(self):
        root = self.furnished(self.root("empty", ("/proc", "/dev"), network=False))
        rows = [
            (["render", "/work/a.txt"], 0, "hello"),
            (["path", "encode", "/a/b"], 0, "^"),
            (["path", "check", "/work/a.txt"], 0, "/work/a.txt"),
            (["path", "glob", "*"], 0, ""),
            (["tools"], 0, "read_file"),
            (["tool", "read_file", "--arg", "path=a.txt"], 0, "hello"),
            (["tool", "grep_files", "--arg", "pattern=h.llo"], 0, "a.txt"),
            (["tool", "write_file", "--arg", "path=b.txt", "--arg", "content=b"], 0, ""),
            (["tool", "shell", "--json", json.dumps({"command": "true"})], None, ""),
            (["exec", "--", "/cordon", "--version"], 0, "cordon "),
            (["exec", "--", "/bin/true"], 12, "the program '/bin/true' does not exist"),
            (["policy", "check", "--preset", "readonly"], None, ""),
            (["agent", "--provider", "scripted", "-p", "hello"], 0, ""),
            (["agent", "--provider", "openai", "--base-url", "https://127.0.0.1:1", "--max-retries", "0", "-p", "x"], 16, "127.0.0.1"),
            (["sessions", "list"], 0, ""),
            (["box", "list"], 0, ""),
            (["doctor"], None, "kernel"),
        ]
        for argv, status, words in rows:
            ran = root.run(["/cordon", *argv], env={"OPENAI_API_KEY": "none"})
            check_sane(ran)
            check(status is None or ran.returncode == status, f"{argv}: wanted exit {status}", ran)
            check(words in said(ran), f"{argv}: wanted '{words}'", ran)

    # Another C library --------------------------------------------------------------------------

    def busybox(self, name, shown=("/proc", "/dev")):
        root = self.furnished(self.root(name, shown))
        os.makedirs(root.path + "/bin", exist_ok=True)
        shutil.copy("/bin/busybox", root.path + "/bin/busybox")
        root.run(["/bin/busybox", "--install", "-s", "/bin"])
        root.file("/bin/bash", '#!/bin/sh\nexec /bin/sh "$@"\n', 0o755)  # the program of the agent "test"
        return root

    def use(self, root, program):
        """Runs the first commands of a typical user."""
        check_exit(root.run(["/cordon", "exec", "--", program]), 0)
        check_exit(root.run(["/cordon", "exec", "--preset", "build", "--", "/bin/cat", "a.txt"]), 0, "hello")
        check_exit(root.run(["/cordon", "exec", "--preset", "build", "--", "/bin/ls", "/root"]), 6)
        check_exit(root.run(["/cordon", "tool", "shell", "--json", json.dumps({"command": "echo $((6 * 7))"})]), 0, "42")
        check_exit(root.run(["/cordon", "agent", "--provider", "scripted", "--script", "/script.json", "-p", "go"]), 0, "all is well")
        check_exit(root.run(["/cordon", "box", "new", "b1", "/work:copy", "--agent", "test"]), 0)
        check_exit(root.run(["/cordon", "box", "exec", "b1", "sh", "-c", "echo bye > a.txt"]), 0)
        check_exit(root.run(["/cordon", "box", "diff", "b1"]), 0, "+bye")
        check_exit(root.run(["/cordon", "box", "apply", "b1", "--yes"]), 0)
        check_exit(root.run(["/cordon", "box", "destroy", "b1", "--yes"]), 0)
        with open(root.path + "/work/a.txt", encoding="ascii") as f:
            check(f.read() == "bye\n", "the change of the box did not arrive")

    def test_musl_and_busybox(self):
        root = self.busybox("musl")
        machine = os.uname().machine
        os.makedirs(root.path + "/lib", exist_ok=True)
        shutil.copy(os.path.realpath(f"/lib/ld-musl-{machine}.so.1"), f"{root.path}/lib/ld-musl-{machine}.so.1")
        source = os.path.join(self.work, "hello.c")
        with open(source, "w", encoding="ascii") as f:
            f.write('#include <stdio.h>\nint main(void) { return puts("linked with musl") < 0; }\n')
        subprocess.run(["musl-gcc", "-o", root.path + "/bin/hello", source], check=True)
        check_exit(root.run(["/bin/hello"]), 0, "linked with musl")
        check_exit(root.run(["/cordon", "exec", "--", "/bin/hello"]), 0, "linked with musl")
        self.use(root, "/bin/hello")

    def test_debian_releases(self):
        os.makedirs(self.cache, exist_ok=True)
        for release, libc in DEBIAN.items():
            base = os.path.join(self.cache, release)
            if not os.path.exists(base + ".made"):
                shutil.rmtree(base, ignore_errors=True)
                subprocess.run(["debootstrap", "--variant=minbase", release, base], check=True, stdout=subprocess.DEVNULL)
                with open(base + ".made", "w", encoding="ascii"):
                    pass
            path = os.path.join(self.work, release)
            subprocess.run(["cp", "-a", base, path], check=True)
            root = self.furnished(self.root(release, ("/proc", "/dev")))
            check_exit(root.run(["/bin/ldd", "--version"]), 0, libc)
            self.use(root, "/bin/true")

    # Names and certificates ---------------------------------------------------------------------

    def test_https(self):
        root = self.furnished(self.root("https"))
        with service.Https(self.cordon, self.work) as https:
            url = f"https://localhost:{https.port}"
            root.file("/etc/hosts", "127.0.0.1 localhost other.test\n")
            check_exit(ask(root, url), 16, "no CA certificates")
            os.makedirs(root.path + "/etc/ssl/certs")
            check_exit(ask(root, url), 16, "no CA certificates")
            root.file("/data/data/com.termux/files/usr/etc/tls/cert.pem", https.ca)  # a path that root does not keep
            check_exit(ask(root, url), 16, "no CA certificates")
            root.file("/ca.pem", https.ca)
            check_exit(ask(root, url, SSL_CERT_FILE="/ca.pem"), 0, "it is said")
            root.file("/other.pem", service.certificate(self.work, "other")[1])
            check_exit(ask(root, url, SSL_CERT_FILE="/other.pem"), 16, "not trusted")
            check_exit(ask(root, url, SSL_CERT_FILE="/none.pem"), 16, "can't be read")
            check_exit(ask(root, f"https://other.test:{https.port}", SSL_CERT_FILE="/ca.pem"), 16, "not trusted")
            for place in ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"):
                root.file(place, https.ca)
                check_exit(ask(root, url), 0, "it is said")
                os.unlink(root.path + place)

    def test_names_from_dns(self):
        """Works with any modules in nsswitch.conf: they belong to another C library."""
        root = self.furnished(self.root("names", ("/proc", "/lib", "/usr/lib")))
        root.file("/etc/nsswitch.conf", "hosts: mymachines resolve [!UNAVAIL=return] mdns4_minimal [NOTFOUND=return]\npasswd: systemd\n")
        root.file("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n")
        root.file("/etc/hosts", "127.0.0.1 localhost\n")
        for url, status, words in (
                ("https://api.test", 0, "it is said"),
                ("https://unknown.test", 16, "cannot resolve the host name unknown.test")):
            ran = subprocess.run(
                [sys.executable, os.path.join(HERE, "service.py"), self.cordon, self.work, root.path, url],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False,
                preexec_fn=lambda: be_root_of_a_namespace(CLONE_NEWNET))
            check_exit(ran, status, words)

    # Older kernels ------------------------------------------------------------------------------

    def test_kernels_without_landlock(self):
        root = self.busybox("older")
        root.file("/work/s.yaml", SCENARIO)
        check_exit(root.run(["/cordon", "run", "--artifacts", "/work/record", "/work/s.yaml"]), 0)
        for version in kernel.LINUX:
            self.older(root, version)

    def older(self, root, version):
        edit = {"path": "c.txt", "old_string": "one", "new_string": "two"}
        rows = [
            (["exec", "--", "/bin/true"], 3, NO_LANDLOCK),
            (["run", "/work/s.yaml"], 3, NO_LANDLOCK),
            (["box", "new", "old", "/work:copy", "--agent", "test"], 3, NO_LANDLOCK),
            (["tool", "shell", "--json", json.dumps({"command": "true"})], 3, NO_LANDLOCK),
            (["doctor"], 3, NO_LANDLOCK),
            (["path", "check", "/work/a.txt"], 0, "/work/a.txt"),
            (["path", "resolve", "./../work/a.txt"], 0, "/work/a.txt"),
            (["path", "glob", "*.txt"], 0, "a.txt"),
            (["render", "/work/a.txt"], 0, "hello"),
            (["trace", "/work/record", "-o", "/work/t.html"], 0, ""),
            (["replay", "--offline", "--artifacts", "/work/record"], 0, ""),
            (["tool", "list_dir", "--arg", "path=."], 0, "a.txt"),
            (["tool", "read_file", "--arg", "path=a.txt"], 0, "hello"),
            (["tool", "read_file", "--arg", "path=../../etc/shadow"], 13, ""),
            (["tool", "grep_files", "--arg", "pattern=h.llo", "--arg", "path=."], 0, "a.txt"),
            (["tool", "glob_files", "--arg", "pattern=*"], 0, "a.txt"),
            (["tool", "write_file", "--arg", "path=b.txt", "--arg", "content=b"], 0, ""),
            (["tool", "edit_file", "--json", json.dumps(edit)], 0, ""),
        ]
        root.file("/work/c.txt", "one\n")
        for argv, status, words in rows:
            ran = root.run(["/cordon", *argv], before=lambda: kernel.become(version))
            check(ran.returncode == status, f"Linux {version}, {argv}: wanted exit {status}", ran)
            found = all(part in said(ran) for part in ([words] if isinstance(words, str) else words))
            check(found, f"Linux {version}, {argv}: wanted '{words}'", ran)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--debian", action="store_true")
    parser.add_argument("--cache", default="build-release/roots")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    release = Release(options)
    names = [n for n in dir(release) if n.startswith("test_")]
    names = [n for n in names if options.debian or "debian" not in n]
    names = [n for n in names if not options.words or any(w in n for w in options.words)]
    try:
        tap = Tap()
        for n in names:
            tap.run(n[5:].replace("_", " "), getattr(release, n))
        return tap.end()
    finally:
        shutil.rmtree(release.work)


if __name__ == "__main__":
    sys.exit(main())
