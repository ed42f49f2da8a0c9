#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands in README.md, docs/paths.md and docs/terminal.md work as written: documents.py --cordon FILE

Each `$ cordon …` in a ```console block is run; the lines below it are its expected output. Without such lines it
must succeed. /home/me is a temporary directory, and 'claude' a program that only waits. Prints TAP.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import Failed, Skipped, Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 120
SKIPPED = {"cordon record": "needs a terminal"}
# Ids, numbers that depend on the machine or on git's version, and the code that only a terminal does not get.
MASKS = [(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID"), (r" *\d+ ms", " N ms"), (r"\d+ files\)", "N files)"), (r" \[E_[A-Z_]+\]$", "")]


def commands(text):
    """(command, expected lines) of each command in the blocks of a document."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, *expected = part.rstrip("\n").split("\n")
            yield re.sub(r"\s{2,}#.*", "", line), [x for x in expected if x]


class Machine:
    def __init__(self, cordon, top):
        self.top = top
        self.me = top / "home" / "me"
        self.environment = {"HOME": str(self.me), "PATH": f"{top}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": "none"}
        (top / "bin").mkdir()
        shutil.copy(cordon, top / "bin" / "cordon")
        claude = top / "bin" / "claude"
        claude.write_text("#!/bin/sh\nexec sleep 1000\n", encoding="utf-8")
        claude.chmod(0o755)
        (self.me / ".ssh").mkdir(parents=True)
        (self.me / ".ssh" / "id_rsa").touch()

    def project(self, name):
        p = self.me / name
        (p / "src").mkdir(parents=True)
        (p / "src" / "hello.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
        (p / "Makefile").write_text("hello: src/hello.c\n\tcc -o hello src/hello.c\n", encoding="utf-8")
        (p / "login.py").write_text("def login(user):\n    return True\n", encoding="utf-8")
        (p / ".env").touch()
        (p / "htop.raw").write_text("a line\r\n" * 4000, encoding="utf-8")
        (p / "keys").symlink_to("../.ssh")
        (p / "code").symlink_to(p / "src")
        shutil.copy(ROOT / "docs/examples/scenarios/hello-bash.scenario.yaml", p)
        for words in ("init -q", "add .", "-c user.name=me -c user.email=me@localhost commit -q -m one"):
            subprocess.run(["git", *words.split()], cwd=p, env=self.environment, check=True)
        return p

    def run(self, command, cwd):
        environment = dict(self.environment)
        if command.startswith("cordon agent") or "| cordon agent" in command or command.startswith("cordon chat"):
            del environment["ANTHROPIC_API_KEY"]
        done = subprocess.run(["bash", "-c", command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace").replace(str(self.top), "")

    def check(self, command, expected, project):
        for start, reason in SKIPPED.items():
            if command.startswith(start):
                raise Skipped(reason)
        if "/usr/bin/curl" in command and not os.path.exists("/usr/bin/curl"):
            raise Skipped("no curl here")
        if command.startswith("cordon box diff"):  # in place of the agent
            self.run("cordon box exec fix-login -- sed -i s/True/False/ login.py", project)
        status, got = self.run(command, self.me if "./my-app" in command else project)
        if not expected:
            if status != 0:
                raise Failed(f"exit status {status}\n{got}")
        elif not command.startswith("cordon box list"):
            want, real = ("\n".join(mask(line) for line in lines) for lines in (expected, got.splitlines()))
            if want != real:
                raise Failed(f"expected:\n{want}\ngot:\n{real}")


def mask(line):
    for pattern, text in MASKS:
        line = re.sub(pattern, text, line)
    return line.rstrip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    args, tap = parser.parse_args(), Tap()
    with tempfile.TemporaryDirectory(prefix="cordon-docs-") as top:
        os.chmod(top, 0o755)
        m = Machine(args.cordon, pathlib.Path(os.path.realpath(top)))
        try:
            for document, name in (("README.md", "my-app"), ("docs/paths.md", "app"), ("docs/terminal.md", "screens")):
                project = m.project(name)
                for command, expected in commands((ROOT / document).read_text(encoding="utf-8")):
                    if re.search(r"\bcordon [a-z]", command):
                        tap.run(f"{document}: {command}", m.check, command, expected, project)
        finally:
            m.run("cordon box destroy fix-login --yes --abandon-unapplied", m.me)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
