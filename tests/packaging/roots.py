#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages on clean systems: installed, used as root and as a user, completely removed.

    roots.py --dist DIR [--roots DIR] [WORD…]      cases whose title has a WORD

DIR is made by script/release. The systems are made by debootstrap in --roots (default: build/roots), once. Prints TAP; needs
root.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Failed, Skipped, Tap  # noqa: E402 pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "release"))
from root import Root  # pylint: disable=wrong-import-position

USER = int(os.environ.get("CORDON_TEST_USER", "12345"))
NEEDED = "libjansson4,libyaml-0-2,libpcre2-8-0,zlib1g"
SHOWN = ("/proc", "/dev", "/sys")
# Written by dpkg and ldconfig for themselves.
NOT_OURS = ("/var/lib/dpkg", "/var/log", "/var/cache", "/etc/ld.so.cache", "/proc", "/dev", "/sys", "/tmp", "/root", "/packages", "/home")
CASES = []


def case(title):
    def add(function):
        CASES.append((title, function))
        return function
    return add


def true(value, words):
    if not value:
        raise Failed(words)


class System:
    """A copy of a root, and the commands to run in it."""

    def __init__(self, test, path):
        self.path = os.path.join(test.work, "root")
        if path:
            subprocess.run(["cp", "-a", "--reflink=auto", path, self.path], check=True)
        else:
            os.makedirs(self.path + "/tmp")
            os.chmod(self.path + "/tmp", 0o1777)
        self.root = Root(self.path, SHOWN, {"HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        home = self.path + "/home/user"
        os.makedirs(home)
        os.makedirs(self.path + "/root", exist_ok=True)
        os.chown(home, USER, USER)

    def run(self, *argv, user=False, status=0):
        def become_user():
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)

        done = self.root.run(list(argv), env={"HOME": "/home/user"} if user else None, before=become_user if user else None)
        true(done.returncode == status, f"exit {done.returncode}, wanted {status}: {argv}\n{done.stdout}\n{done.stderr}")
        return done.stdout.decode()

    def files(self):
        found = {}
        for top, dirs, names in os.walk(self.path):
            rel = top[len(self.path):]
            dirs[:] = [d for d in dirs if f"{rel}/{d}" not in NOT_OURS]
            for name in names + dirs:
                if f"{rel}/{name}" not in NOT_OURS:
                    st = os.lstat(os.path.join(top, name))
                    found[f"{rel}/{name}"] = (st.st_mode, st.st_size if name in names else 0)
        return found

    def give(self, *paths):
        os.makedirs(self.path + "/packages", exist_ok=True)
        for path in paths:
            shutil.copy(path, self.path + "/packages")
        return ["/packages/" + os.path.basename(path) for path in paths]

    def try_program(self, weaker=("model services",)):
        """As root and as a user: nothing fails, and only these checks are weaker."""
        for user in (False, True):
            true(self.run("/usr/bin/cordon", "--version", user=user).startswith("cordon "), "no version")
            report = json.loads(self.run("/usr/bin/cordon", "self-test", "--json", user=user))
            bad = {c["name"]: c for c in report["checks"] if c["status"] != "ok"}
            true(set(bad) <= set(weaker) and report["failed"] == 0, f"user {user}: {bad}")


def one(test, pattern):
    found = glob.glob(os.path.join(test.dist, pattern))
    if len(found) != 1:
        raise Skipped(f"there is no {pattern} in {test.dist}")
    return found[0]


def debian(test, suite):
    path = os.path.join(test.roots, suite)
    if not os.path.exists(path + "/usr/bin/dpkg"):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(test.roots, exist_ok=True)
        made = path + ".new"
        shutil.rmtree(made, ignore_errors=True)
        done = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + NEEDED, suite, made],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"debootstrap {suite} failed: {done.stdout.splitlines()[-1:]}")
        os.rename(made, path)
    return System(test, path)


for SUITE in ("bookworm", "trixie"):
    @case(f"deb on {SUITE}: installed, used as root and as a user, removed")
    def _(test, suite=SUITE):
        system = debian(test, suite)
        before = system.files()
        system.run("dpkg", "-i", *system.give(one(test, "cordon_*.deb"), one(test, "libcordon0_*.deb"), one(test, "libcordon-dev_*.deb")))
        system.try_program()
        listed = system.run("dpkg", "-L", "cordon").splitlines()
        for name in ("/usr/share/bash-completion/completions/cordon", "/usr/share/zsh/vendor-completions/_cordon",
                     "/usr/share/fish/vendor_completions.d/cordon.fish", "/usr/share/doc/cordon/copyright"):
            true(name in listed, f"{name} is missing")
        true(any(name.endswith("/etc/apparmor.d/cordon") for name in system.files()) ==
             os.path.exists("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"), "the AppArmor profile")
        system.run("dpkg", "--purge", "libcordon-dev", "libcordon0", "cordon")
        after = system.files()
        true(after == before, f"left or changed: {sorted(set(before.items()) ^ set(after.items()))[:20]}")

    @case(f"libcordon-dev on {SUITE}: a program built with it runs there")
    def _(test, suite=SUITE):
        system = debian(test, suite)
        system.run("dpkg", "-i", *system.give(one(test, "libcordon0_*.deb"), one(test, "libcordon-dev_*.deb")))
        library = glob.glob(system.path + "/usr/lib/*/libcordon.so")[0]
        built = system.path + "/usr/bin/example"
        subprocess.run(["cc", "-o", built, os.path.join(HERE, "../../examples/drive.c"), "-I", system.path + "/usr/include",
                        "-L", os.path.dirname(library), "-lcordon"], check=True)
        true("it ended with code 3" in system.run("/usr/bin/example"), "the example does not run")


@case("archive: in a root with only busybox, by root and by a user, removed")
def _(test):
    system = System(test, None)
    for name in ("bin", "usr", "etc"):
        os.makedirs(os.path.join(system.path, name), exist_ok=True)
    shutil.copy(shutil.which("busybox"), system.path + "/bin/busybox")
    system.run("/bin/busybox", "--install", "-s", "/bin")
    before = system.files()
    [archive] = system.give(one(test, f"cordon-*-linux-{os.uname().machine}.tar.gz"))
    system.run("/bin/sh", "-ec", f"cd /packages && tar -xzf {archive} && sh cordon-*/install.sh --prefix /usr")
    system.try_program(weaker=("model services", "shell tool"))
    system.run("/bin/sh", "-ec", "sh /packages/cordon-*/install.sh --uninstall --prefix /usr")
    after = system.files()
    true(after == before, f"left or changed: {sorted(set(before.items()) ^ set(after.items()))[:20]}")
    system.run("/bin/sh", "-ec", "sh /packages/cordon-*/install.sh && ~/.local/bin/cordon self-test && "
               "sh /packages/cordon-*/install.sh --uninstall && [ -z \"$(ls -A ~)\" ]", user=True)


@case("rpm: installed in an empty root, used, removed")
def _(test):
    system = System(test, None)
    package = one(test, f"cordon-*.{os.uname().machine}.rpm")
    rpm = ["rpm", "--root", system.path, "--dbpath", "/var/lib/rpm"]
    subprocess.run([*rpm, "--initdb"], check=True)
    before = {n: v for n, v in system.files().items() if not n.startswith("/var/")}
    subprocess.run([*rpm, "--install", "--nosignature", "--ignoreos", "--nodeps", package], check=True)
    system.try_program(weaker=("model services", "shell tool"))
    info = subprocess.run([*rpm, "-q", "--qf", "%{LICENSE} %{BUILDHOST}", "cordon"], check=True, stdout=subprocess.PIPE, text=True)
    true(info.stdout.startswith("Apache-2.0 AND ") and "LGPL-2.1-or-later" in info.stdout and info.stdout.endswith(" localhost"), info.stdout)
    true(os.path.exists(system.path + "/usr/share/doc/cordon/NOTICES"), "no notices")
    subprocess.run([*rpm, "--erase", "cordon"], check=True)
    after = {n: v for n, v in system.files().items() if not n.startswith("/var/")}
    left = set(after) - set(before)
    true(left <= {"/usr", "/usr/bin", "/usr/share"} or all(os.path.isdir(system.path + n) for n in left), f"left: {sorted(left)}")


class Test:
    def __init__(self, options):
        self.dist, self.roots = os.path.abspath(options.dist), os.path.abspath(options.roots)
        self.work = tempfile.mkdtemp(prefix="cordon-roots-")
        os.chmod(self.work, 0o755)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dist", required=True)
    parser.add_argument("--roots", default="build/roots")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if os.geteuid() != 0:
        return Tap.skip_all("only root can make such systems")
    tap = Tap()
    for title, function in CASES:
        if options.words and not any(word in title for word in options.words):
            continue
        test = Test(options)
        tap.run(title, function, test)
        shutil.rmtree(test.work)
    return tap.end()


sys.exit(main())
