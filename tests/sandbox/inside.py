#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The developer's machine inside: what presets, tools and boxes show of it, and its limits. Each program first runs
outside. See harness.py.
"""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Failed, Skipped, case, main, reap_boxes  # noqa: E402 pylint: disable=wrong-import-position

MIB = 1 << 20
LONG_MS = 120000  # a budget that no test should come near
BASH = "/usr/bin/bash"
PRESET = ["--preset", "build", "--root"]


def bash(t, script, expect=0, options=("--pipes",), **more):
    return t.exec(BASH, "-c", script, options=[*PRESET, t.work, *options], expect=expect, **more)


def both(t, script, expect=0):
    """Runs a script outside, then inside: (outside, inside)."""
    env = {k: v for k, v in t.env.items() if not k.endswith("SAN_OPTIONS")}
    outside = t.run([BASH, "-c", script], env=env)
    t.code(outside, expect)
    return outside, bash(t, script, 0 if expect == 0 else 6)


def same(t, script, expect=0):
    outside, inside = both(t, script, expect)
    t.same(inside.out, outside.out, inside)
    return inside


def compiled(t, source, name="a", options=("-O1",)):
    path = os.path.join(t.work, name)
    t.code(t.run(["gcc", *options, "-o", path, t.file(name + ".c", source), "-pthread"]), 0)
    return path


# Memory --------------------------------------------------------------------------------------------

LEAK = """#include <stdlib.h>
#include <stdio.h>
int main(int argc, char **argv) { char *p = malloc(100); p[0] = (char)argc; puts("ran"); fflush(stdout); if (argc > 1) p = NULL; else free(p); return p == argv[0]; }
"""
RACE = """#include <pthread.h>
#include <stdio.h>
static int n;
static void *add(void *x) { for (int i = 0; i < 1000; i++) n++; return x; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);
    pthread_join(a, 0); pthread_join(b, 0); puts("ran"); fflush(stdout); return 0; }
"""


@case("the address sanitizer: a program runs, and a leak is found")
def _(t):
    path = compiled(t, LEAK, options=["-fsanitize=address"])
    t.same(same(t, path).out, b"ran\n")
    outside, inside = both(t, f"{path} leak; test $? = 1")
    for run in (outside, inside):
        t.true(b"detected memory leaks" in run.err and b"100 byte(s) leaked" in run.err, run)


@case("the leak sanitizer alone")
def _(t):
    path = compiled(t, LEAK, options=["-fsanitize=leak"])
    for run in both(t, f"{path}; {path} leak; echo $?"):
        t.true(run.out == b"ran\nran\n23\n" and b"100 byte(s) leaked" in run.err, run)


@case("the thread sanitizer: a race is found")
def _(t):
    path = compiled(t, RACE, options=["-fsanitize=thread", "-g"])
    for run in both(t, f"{path}; echo $?"):
        t.true(run.out == b"ran\n66\n" and b"data race" in run.err, run)


@case("the undefined behaviour sanitizer")
def _(t):
    path = compiled(t, "#include <limits.h>\nint main(int n, char **v) { (void)v; return (INT_MAX + n) == 0; }",
                    options=["-fsanitize=undefined"])
    for run in both(t, path):
        t.true(b"signed integer overflow" in run.err, run)


@case("64 GiB of address space that is not used: reserved, and writable")
def _(t):
    path = compiled(t, """#include <stdio.h>
#include <sys/mman.h>
int main(void) { for (int prot = 0; prot < 4; prot += 3)
    puts(mmap(0, 64L << 30, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? "no" : "yes"); return 0; }
""")
    t.same(same(t, path).out, b"yes\nyes\n")


@case("node: many WebAssembly memories")
def _(t):
    if not os.path.exists("/usr/bin/node"):
        raise Skipped("node is not installed")
    same(t, """node -e 'const all = []; for (let i = 0; i < 12; i++) all.push(new WebAssembly.Memory({initial: 1}));
        console.log(all.length)'""")


# Holds memory in ways that are easy to miss. Without the word "hold" it exits.
HOLD = """#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static size_t size;
static const char *way;
static int hold;
static void end(void) { if (write(1, "filled\\n", 7) != 7) _exit(2); while (hold) pause(); _exit(0); }
static char *reserve(size_t n, int how) { char *p = mmap(0, n, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) { perror("mmap"); _exit(3); } return p; }
static void fill(char *p, size_t n) { for (size_t i = 0; i < n; i += 4096) p[i] = 1; }
static void *thread(void *x) { (void)x; fill(reserve(size, MAP_PRIVATE), size); end(); return 0; }
int main(int argc, char **argv) {
    way = argv[1]; size = strtoull(argv[2], 0, 0) << 20; hold = argc > 3;
    if (!strcmp(way, "nodump")) prctl(PR_SET_DUMPABLE, 0);
    if (!strcmp(way, "shared")) { for (size_t n = 0; n < size; n += 16 << 20) fill(reserve(16 << 20, MAP_SHARED), 16 << 20); end(); }
    if (!strcmp(way, "tables")) { size_t n = size << 9; char *p = reserve(n, MAP_PRIVATE); volatile char sum = 0;
        madvise(p, n, MADV_NOHUGEPAGE); for (size_t i = 0; i < n; i += 2 << 20) sum += p[i]; end(); }
    if (!strcmp(way, "thread")) { pthread_t t; pthread_create(&t, 0, thread, 0); syscall(SYS_exit, 0); }
    if (!strcmp(way, "child") || !strcmp(way, "orphan")) { int ends[2]; char c; if (pipe(ends) || prctl(PR_SET_CHILD_SUBREAPER, 1)) return 4;
        if (fork()) { close(ends[1]); while (read(ends[0], &c, 1) > 0) ; while (wait(0) > 0) ; puts("gone"); return 0; }
        if (*way == 'o') { setsid(); if (fork()) _exit(0); } }
    if (!strcmp(way, "ignore")) for (int s = 1; s < 32; s++) signal(s, SIG_IGN);
    fill(reserve(size, MAP_PRIVATE), size); end(); }
"""


def memory_policy(t, mib):
    """A developer's policy with a limit on memory, on a machine without cgroups."""
    if not os.path.exists(t.lacking):
        raise Failed("build/tests/cordon_lacking is missing")
    t.cordon = t.lacking
    t.env["CORDON_TEST_LACKS"] = "cgroups"
    return t.policy(write=[t.work], execs=[t.work, "/usr/bin"], shell=True, developer=True,
                    limits={"memory_bytes": mib * MIB}, budgets={"max_runtime_ms": LONG_MS})


for way in ("plain", "shared", "tables", "thread", "nodump", "ignore"):
    @case(f"a process that holds more memory than the limit is killed: {way}")
    def _(t, way=way):
        path = compiled(t, HOLD)
        t.same(t.run([path, way, "200"]).out, b"filled\n", "outside")
        policy = memory_policy(t, 64)
        run = t.exec(path, way, "200", "hold", policy=policy, options=["--json", "--pipes"], expect=6)
        t.same(run.error["context"].get("memory_kills"), 1, run)
        t.true("more memory than limits.memory_bytes" in run.error["message"], run)
        t.true("sampled every" in run.result["sandbox_report"]["limits"], run)
        t.true("memory is sampled" in str(run.result["sandbox_report"]["gaps"]), run)
        t.exec(path, way, "20", policy=policy, options=["--pipes"])


for way in ("child", "orphan"):
    @case(f"only the process with too much memory is killed: {way}")
    def _(t, way=way):
        path = compiled(t, HOLD)
        t.same(t.run([path, way, "200"]).out, b"filled\ngone\n", "outside")
        run = t.exec(path, way, "200", "hold", policy=memory_policy(t, 64), options=["--json", "--pipes"])
        t.true(run.result["final_observation"]["transcript_delta"].endswith("gone\n"), run)
        t.true("it killed 1" in run.result["sandbox_report"]["limits"], run)


@case("a session of tools says that a command had too much memory, and goes on")
def _(t):
    path = compiled(t, HOLD)
    requests = [json.dumps({"name": "shell", "arguments": {"command": f"exec {path} plain {mib}{more}"}, "request_id": n}) + "\n"
                for n, mib, more in ((1, 200, " hold"), (2, 20, ""))]
    run = t.run([t.cordon, "tool", "--serve", "--policy", memory_policy(t, 64)], "".join(requests).encode())
    killed, fine = (json.loads(line) for line in run.out.splitlines())
    t.true(killed["details"]["signal"] == 9 and "more memory than limits.memory_bytes" in killed["message"], run)
    t.same((fine["status"], fine["content"]), ("ok", "filled\n"), run)


# /etc ------------------------------------------------------------------------------------------------

@case("/etc has what any user may read: Java, chromium, man, MIME types, fonts, alternatives")
def _(t):
    script = "cd /etc && for f in debian_version mime.types manpath.config fonts java-*/* chromium.d/* ld.so.conf.d " \
             "bash.bashrc nsswitch.conf profile.d; do test -e $f && echo $f && find -L $f -maxdepth 2 -type f -perm -4 | " \
             "LC_ALL=C sort | xargs -r cat -- | md5sum; done; readlink alternatives/* | md5sum"
    t.true(len(same(t, script).out.splitlines()) > 8, "nothing to compare")


@case("/etc is read-only, and has the sandbox's names")
def _(t):
    run = bash(t, "cat /etc/hostname; ! touch /etc/x 2>&1; ! rm /etc/debian_version 2>&1; ! : >/etc/passwd")
    t.true(run.out.startswith(b"cordon\n") and run.out.count(b"Read-only file system") == 2, run)


# Files planted in a copy of /etc: name, mode. None is for a sandbox.
PRIVATE = {"plain600": 0o600, "group640": 0o640, "fonts/inner600": 0o600, "deep/er/inner640": 0o640, "exec711": 0o711,
           "closed/file": 0o644, "ssl/private/key": 0o644, "ssh/ssh_host_x_key": 0o644, "shadow": 0o644, "shadow-": 0o644,
           "sudoers.d/x": 0o644, "apt/auth.conf.d/x": 0o644, "npmrc": 0o644, "machine-id": 0o444, "pki/tls/private/k": 0o644,
           "mounted/secret": 0o600}
CANARY = "canary-8461"


def planted(t, submount):
    """Returns a script that mounts a copy of /etc with secrets, and the copy. With another file system below it, as in
    most containers, /etc is shown in another form."""
    copy = os.path.join(t.top, "etc")
    shutil.copytree("/etc", copy, symlinks=True, ignore=shutil.ignore_patterns("*.lock", "hosts", "hostname", "resolv.conf"))
    for name in ("hosts", "hostname", "resolv.conf"):
        shutil.copy(os.path.join("/etc", name), copy)
    for name, mode in PRIVATE.items():
        path = os.path.join(copy, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(CANARY + "\n")
        os.chmod(path, mode)
    with open(os.path.join(copy, "public"), "w", encoding="ascii") as f:
        f.write("for everyone\n")
    os.chmod(os.path.join(copy, "closed"), 0o700)
    mounts = f"mount --bind {copy} /etc"
    if submount:
        mounts += f"; mount -t tmpfs -o mode=755 tmpfs /etc/mounted; echo {CANARY} >/etc/mounted/secret"
    return mounts, copy


LOOK = f"cat /etc/public; grep -rlF {CANARY} /etc 2>/dev/null; for f in {' '.join(PRIVATE)}; do cat /etc/$f; done 2>/dev/null; true"


for form, submount in (("", False), (" with a mount below it", True)):
    @case(f"/etc{form}: a file that not every user may read is not shown, nor are known places of secrets and other file systems", who="root")
    def _(t, submount=submount):
        mounts, _ = planted(t, submount)
        outside = t.run([BASH, "-c", LOOK], mounts=mounts)
        t.same(outside.out.count(CANARY.encode()), len(PRIVATE), outside)
        for user in ([], ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"],
                     ["setpriv", "--reuid=12345", "--regid=12345", "--groups=0,4,42"],
                     ["setpriv", "--reuid=12345", "--regid=0", "--clear-groups"]):
            os.chmod(t.work, 0o777)
            for name, want, command in (("build", b"for everyone\n", [BASH, "-c", LOOK]),
                                        ("readonly", b"", ["/usr/bin/grep", "-rsF", CANARY, "/etc"])):
                argv = t.command(*command, options=["--preset", name, "--root", t.work, "--pipes"])
                run = t.run([*user, *argv], mounts=mounts)
                t.same(run.out, want, f"{user} {name} {run}")

    @case(f"/etc{form}: a hidden file stays hidden when the host replaces it", who="root")
    def _(t, submount=submount):
        mounts, copy = planted(t, submount)
        os.mkfifo(os.path.join(t.work, "go"))
        process = t.start(t.command(BASH, "-c", f"cat /etc/shadow; echo ready; read x <go; {LOOK}",
                                    options=[*PRESET, t.work, "--pipes"]), mounts=mounts)
        t.until(process, b"ready")
        for name in ("shadow", "plain600", "npmrc"):
            with open(os.path.join(copy, "new"), "w", encoding="ascii") as f:
                f.write(CANARY + "\n")
            os.replace(os.path.join(copy, "new"), os.path.join(copy, name))
        with open(os.path.join(t.work, "go"), "w", encoding="ascii") as f:
            f.write("\n")
        run = t.finish(process)
        t.same(run.out.split(b"ready\n")[-1], b"for everyone\n", run)

    @case(f"/etc{form}: a policy that names a hidden file shows it, and only that", who="root")
    def _(t, submount=submount):
        mounts, copy = planted(t, submount)
        for name in ("npmrc", "closed/file", "ssl/private/key"):
            policy = t.policy(read=[f"/etc/{name}"], write=[t.work], execs=[t.work, "/usr/bin"], shell=True, developer=True)
            run = t.run(t.command("/usr/bin/bash", "-c", f"cat /etc/{name}; {LOOK}", policy=policy, options=["--pipes"]),
                        mounts=f"{mounts}; echo more >{copy}/closed/other; echo more >{copy}/ssl/private/other")
            t.true(run.out.startswith(CANARY.encode()) and b"more" not in run.out, run)
            t.true(run.out.count(CANARY.encode()) == 2 and f"/etc/{name}".encode() in run.out, run)


@case("/etc stays a short list under a policy in a file, and in landlock mode")
def _(t):
    t.true(os.path.exists("/etc/profile"), "nothing to look for")
    policy = t.policy(execs=["/usr/bin/ls"])
    run = t.exec("/usr/bin/ls", "/etc", policy=policy, options=["--pipes"])
    t.true(b"passwd" in run.out.split() and b"profile" not in run.out.split(), run)


# The system ------------------------------------------------------------------------------------------

@case("/var/tmp is private, empty and executable")
def _(t):
    run = bash(t, "ls -A /var/tmp; f=$(mktemp -p /var/tmp) && printf '#!/bin/sh\\necho ran\\n' >$f && chmod +x $f && $f && "
                  "stat -c %a /var/tmp && df --output=target /var/tmp | tail -1")
    t.same(run.out, b"ran\n1777\n/var/tmp\n", run)
    if t.work.startswith("/var/tmp"):
        raise Failed("the working root is in /var/tmp")


@case("XDG_RUNTIME_DIR is a private directory of the user")
def _(t):
    uid = os.getuid() if t.uid is None else t.uid
    run = bash(t, "echo $XDG_RUNTIME_DIR; stat -c '%a %u' $XDG_RUNTIME_DIR; echo x >$XDG_RUNTIME_DIR/x && ls -A $XDG_RUNTIME_DIR /run")
    t.same(run.out, f"/run/user/{uid}\n700 {uid}\n/run:\nuser\n\n/run/user/{uid}:\nx\n".encode(), run)


@case("processors: nproc, lscpu, /sys/devices/system/cpu, and no other part of /sys")
def _(t):
    same(t, "nproc; lscpu | grep -vE 'NUMA|MHz|BogoMIPS'; cat /sys/devices/system/cpu/{online,possible,present}; ls /sys/devices/system/cpu")
    t.same(bash(t, "ls /sys /sys/devices /sys/devices/system").out,
           b"/sys:\ndevices\n\n/sys/devices:\nsystem\n\n/sys/devices/system:\ncpu\n")
    run = bash(t, "for f in $(find /sys/devices/system/cpu -type f -perm /222 2>/dev/null); do "
                  "(: >>$f) 2>/dev/null && echo $f; done; true")
    t.same(run.out, b"", run)


@case("installed packages: dpkg -l, -L and -S, read-only")
def _(t):
    same(t, "dpkg -l bash coreutils; dpkg -L bash | head -3; dpkg -S /bin/bash || dpkg -S /usr/bin/bash")
    run = bash(t, "! touch /var/lib/dpkg/x 2>/dev/null; ls -m /var; ls /var/lib")
    t.true(run.out.startswith(b"lib, tmp\n") and set(run.out.split()[2:]) <= {b"dpkg", b"rpm", b"pacman"}, run)


@case("/sbin and /usr/sbin: ldconfig -p, and the same programs as outside")
def _(t):
    same(t, "/sbin/ldconfig -p | wc -l; ls /sbin/ /usr/sbin/ | sort -u | md5sum")


@case("a manual page")
def _(t):
    if not os.path.exists("/usr/share/man/man1/ls.1.gz"):
        raise Skipped("no manual pages here")
    t.true(b"NAME" in same(t, "MANPAGER=cat man ls | col -b | head -5").out, "no page")


@case("the umask is the caller's: exec, tool, box")
def _(t):
    t.env["CORDON_HOME"] = t.directory("boxes")
    project = t.directory("project")
    cordon = t.cordon
    for umask, mode in (("027", b"640"), ("002", b"664"), ("077", b"600")):
        script = f"rm -f new; umask; echo x >new; stat -c %a new"
        want = b"0" + umask.encode() + b"\n" + mode + b"\n"
        run = t.run(["sh", "-c", f'umask {umask}; exec "$@"', "sh", *t.command(BASH, "-c", script, options=[*PRESET, t.work, "--pipes"])])
        t.same(run.out, want, run)
        run = t.run(["sh", "-c", f'umask {umask}; exec "$@"', "sh", cordon, "tool", "shell", "--arg", f"command={script}"])
        t.same(run.out.strip(), want.strip(), run)
        run = t.run(["sh", "-c", f'umask {umask}; {cordon} box new b{umask} {project}:rw --agent test --no-start --yes >&2 && '
                                 f'{cordon} box exec b{umask} -- sh -c "{script}"; code=$?; '
                                 f'{cordon} box destroy --yes --abandon-unapplied b{umask} >&2; exit $code'])
        t.same(run.out, want, run)
    reap_boxes(t)


sys.exit(main())
