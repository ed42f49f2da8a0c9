# SPDX-License-Identifier: Apache-2.0
"""Attempts to start a program that is not allowed: numbers 66 to 78 of the list of escapes, and more.

`seen` policies allow reading /usr/bin, so that the file is visible and only its execution is refused.
"""
import os
import shutil

from row import Row
from world import LIBRARIES, LOADER

ECHO, GIT = "/usr/bin/echo", "/usr/lib/git-core/git"
LIBC = LIBRARIES + "/libc.so.6"
LOADER_DIR, LOADER_NAME = os.path.split(LOADER)
O_PATH = hex(0o10000000)
SAY = ["say", "{say}"]


def seen(w, policy):
    policy["fs"]["allowed_read"].append("/usr/bin")


def files(w):
    """Makes programs that exist and are not allowed: in R and in W, with a loader and without."""
    for top in (w.R, w.W):
        for name, source in (("dynamic", ECHO), ("static", w.suite.probe), ("library.so", w.suite.library),
                             ("loader", LOADER)):
            path = os.path.join(top, name)
            shutil.copy(source, path)
            os.chmod(path, 0o755)
            os.chown(path, w.uid, w.uid)
    os.symlink(ECHO, w.W + "/echo")
    os.symlink(w.R + "/static", w.W + "/static-link")


def tool(w):
    """Makes an allowed program in W."""
    files(w)
    os.mkdir(w.W + "/t")
    os.chown(w.W + "/t", w.uid, w.uid)
    shutil.copy(ECHO, w.W + "/t/tool")
    os.chmod(w.W + "/t/tool", 0o755)
    os.chown(w.W + "/t/tool", w.uid, w.uid)
    w.extra["tool"] = w.W + "/t/tool"


def kept_tool(w):
    tool(w)
    w.guarded.append(w.W + "/t/tool")


def far_tool(w):
    """Makes an allowed program elsewhere that is not running: a running one cannot be written anyway."""
    os.mkdir(w.T + "/far")
    shutil.copy(ECHO, w.T + "/far/tool")
    for path in (w.T + "/far", w.T + "/far/tool"):
        os.chown(path, w.uid, w.uid)
    w.extra["tool"] = w.T + "/far/tool"


def allow_tool(w, policy):
    policy["exec"]["allowed_executables"].append(w.extra["tool"])


def tool_is_ours(w, result, inside):
    """Returns a problem if the file at the allowed path was replaced."""
    with open(ECHO, "rb") as f, open(w.W + "/t/tool", "rb") as g:
        return None if f.read() == g.read() else "the allowed program's path has another program"


def programs(w):
    """Makes a directory of allowed programs, with a link that leads out of it."""
    files(w)
    os.mkdir(w.T + "/bin")
    shutil.copy(w.suite.probe, w.T + "/bin/good")
    os.symlink(w.R + "/static", w.T + "/bin/link")
    os.symlink("../R/static", w.T + "/bin/rel")
    for path in (w.T + "/bin", w.T + "/bin/good"):
        os.chown(path, w.uid, w.uid)


def allow_programs(w, policy):
    policy["exec"]["allowed_executables"].append(w.T + "/bin")


def scripts(w):
    """Makes allowed scripts whose interpreters are not allowed."""
    files(w)
    for name, line in (("python", "#!/usr/bin/python3"), ("loader", f"#!{LOADER} {ECHO}"), ("mine", f"#!{w.W}/static"),
                       ("git", f"#!{LOADER} {GIT}"), ("nested", f"#!{w.T}/s/mine")):
        body = 'print("ran:script")' if name == "python" else ""
        path = os.path.join(w.T, "s", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        w.file(path, line + "\n" + body + "\n", 0o755)


def allow_scripts(w, policy):
    policy["fs"]["allowed_read"].append("/usr/bin")
    policy["exec"]["allowed_executables"] += [w.T + "/s/" + n for n in ("python", "loader", "mine", "git", "nested")]


def allow_echo(w, policy):
    policy["exec"]["allowed_executables"].append(ECHO)


def allow_bin(w, policy):
    policy["exec"]["allowed_executables"].append("/usr/bin")


def said(text):
    def effect(w, result, inside):
        return text if text.encode() in result.out + result.err else None
    return effect


def code_ran(w, result, inside):
    return "; ".join(l for l in result.did() if "ran" in l) or None


LIBRARY = said("ran:library")

PLAIN = [
    Row("a program that is not visible", ["exec", ECHO, "echo", "{say}"], "ran", 66),
    Row("a program that is visible", ["exec", ECHO, "echo", "{say}"], "ran", 66, policy=seen),
    Row("a program by symlink", ["exec", "{W}/echo", "echo", "{say}"], "ran", 66, setup=files, policy=seen),
    Row("a program by a symlink to R", ["exec", "{W}/static-link", "x", *SAY], "ran", 66, setup=files),
    Row("a program through /proc/self/root", ["exec", "/proc/self/root" + ECHO, "echo", "{say}"], "ran", 66,
        policy=seen),
    Row("a program in R", ["exec", "{R}/static", "x", *SAY], "ran", 66, setup=files),
    Row("a program by descriptor", ["execfd", ECHO, "0", "echo", "{say}"], "ran", 66, policy=seen),
    Row("a program by O_PATH", ["execfd", ECHO, O_PATH, "echo", "{say}"], "ran", 66, policy=seen),
    Row("a program in R by descriptor", ["execfd", "{R}/static", "0", "x", *SAY], "ran", 66, setup=files),
    Row("a program by directory", ["execat", "/usr/bin", "echo", "echo", "{say}"], "ran", 66, policy=seen),
    Row("a program in a library directory", ["exec", GIT, "git", "--version"], said("git version"), 77),
    Row("a program in a library directory by descriptor", ["execfd", GIT, "0", "git", "--version"],
        said("git version"), 77),
    Row("a library that is a program", ["exec", LIBC, "libc"], said("GNU C Library"), 77),
    Row("a library that is a program, by descriptor", ["execfd", LIBC, "0", "libc"], said("GNU C Library"), 77),
    Row("/usr/libexec", ["exec", "/usr/libexec/coreutils/libstdbuf.so", "x", "--", "exec",
                         "/usr/lib/git-core/git-request-pull", "x", "--", "exec", "/usr/lib/apt/methods/file", "x", "--",
                         "exec", "/usr/libexec/man-db/globbing", "x"], "did", 77, "same"),
]

LOADERS = [
    Row("the loader alone", ["exec", LOADER, "ld.so", "--help"], said("Usage:"), 67),
    Row("the loader's version", ["exec", LOADER, "ld.so", "--version"], said("ld.so ("), 67),
    Row("the loader and a program", ["exec", LOADER, "ld.so", ECHO, "{say}"], "ran", 67, policy=seen),
    Row("the loader and a copy", ["exec", LOADER, "ld.so", "{W}/dynamic", "{say}"], "ran", 69, setup=files),
    Row("the loader and a file of R", ["exec", LOADER, "ld.so", "{R}/dynamic", "{say}"], "ran", 69, setup=files),
    Row("the loader by its library path", ["exec", f"{LIBRARIES}/{LOADER_NAME}", "ld.so", ECHO, "{say}"],
        "ran", 67, policy=seen),
    Row("the loader under /usr", ["exec", f"/usr{LIBRARIES}/{LOADER_NAME}", "ld.so", ECHO, "{say}"],
        "ran", 67, policy=seen),
    Row("the loader by descriptor", ["execfd", LOADER, "0", "ld.so", ECHO, "{say}"], "ran", 67, policy=seen),
    Row("the loader by O_PATH", ["execfd", LOADER, O_PATH, "ld.so", ECHO, "{say}"], "ran", 67, policy=seen),
    Row("the loader by directory", ["execat", LOADER_DIR, LOADER_NAME, "ld.so", ECHO, "{say}"], "ran", 67,
        policy=seen),
    Row("the loader by symlink", ["symlink", LOADER, "{W}/ld", "--", "exec", "{W}/ld", "ld.so", ECHO, "{say}"], "ran", 67,
        policy=seen),
    Row("the loader through /proc/self/root", ["exec", "/proc/self/root" + LOADER, "ld.so", ECHO, "{say}"], "ran", 67,
        policy=seen),
    Row("a copy of the loader in W", ["exec", "{W}/loader", "ld.so", "{W}/dynamic", "{say}"], "ran", 69, setup=files),
    Row("a copy of the loader in R", ["exec", "{R}/loader", "ld.so", ECHO, "{say}"], "ran", 69, setup=files,
        policy=seen),
    Row("the loader and a program in a library directory", ["exec", LOADER, "ld.so", GIT, "--version"],
        said("git version"), 77),
    Row("the loader and a library", ["exec", LOADER, "ld.so", LIBC], said("GNU C Library"), 77),
    Row("the loader with an allowed directory of programs", ["exec", LOADER, "ld.so", "{W}/dynamic", "{say}"], "ran", 69,
        setup=files, policy=allow_bin),
    Row("the loader with an allowed dynamic program", ["exec", LOADER, "ld.so", "{W}/dynamic", "{say}", "--", "execfd",
                                                         LOADER, "0", "ld.so", "{W}/dynamic", "{say}"], "ran", 69,
        setup=files, policy=allow_echo),
    Row("a library directory with an allowed directory of programs", ["exec", GIT, "git", "--version"],
        said("git version"), 77, policy=allow_bin),
    Row("the loader of 32-bit programs", ["exec", "/lib/ld-linux.so.2", "ld.so", "--version"], "did", 67, None,
        why="not every machine has one"),
    Row("a script that names the loader", ["script", "{W}/script", "#!" + LOADER + " " + ECHO, "{say}"], "ran", 67,
        policy=seen),
    Row("an allowed script that names the loader", ["exec", "{T}/s/loader", "loader", "{say}"], "ran", 67,
        setup=scripts, policy=allow_scripts),
    Row("an allowed script that names the loader for git", ["exec", "{T}/s/git", "git", "--version"],
        said("is not a git command"), 77, setup=scripts, policy=allow_scripts),
    Row("the loader as interpreter of an allowed program, misused",
        ["execenv", "LD_LIBRARY_PATH={W}", ECHO, "echo", "x", "--", "execenv", "LD_PRELOAD={W}/library.so", ECHO, "echo",
         "x"], LIBRARY, 74, setup=files, policy=allow_echo),
    Row("preload a library in R into an allowed program", ["execenv", "LD_PRELOAD={R}/library.so", ECHO, "echo", "x"], LIBRARY,
        74, setup=files, policy=allow_echo),
    Row("an LD_AUDIT library in an allowed program", ["execenv", "LD_AUDIT={W}/library.so", ECHO, "echo", "x"], LIBRARY, 74,
        setup=files, policy=allow_echo),
    Row("preload a library in /tmp into an allowed program",
        ["copyexec", "{R}/library.so", "/tmp/library.so", "x", "--", "execenv", "LD_PRELOAD=/tmp/library.so", ECHO, "echo",
         "x", "--", "unlink", "/tmp/library.so"], LIBRARY, 74, setup=files, policy=allow_echo),
    Row("preload a library in /dev/shm into an allowed program",
        ["copyexec", "{R}/library.so", "/dev/shm/library.so", "x", "--", "execenv", "LD_PRELOAD=/dev/shm/library.so",
         ECHO, "echo", "x", "--", "unlink", "/dev/shm/library.so"], LIBRARY, 74, setup=files, policy=allow_echo),
]

COPIES = [
    Row("a copy in W", ["copyexec", "{probe}", "{W}/copy", "x", *SAY], "ran", 68),
    Row("a copy in /tmp", ["copyexec", "{probe}", "/tmp/cordon-copy", "x", *SAY, "--", "unlink", "/tmp/cordon-copy"],
        "ran", 68),
    Row("a copy in /dev/shm", ["copyexec", "{probe}", "/dev/shm/cordon-copy", "x", *SAY, "--", "unlink",
                               "/dev/shm/cordon-copy"], "ran", 68),
    Row("a file of the host in W", ["exec", "{W}/static", "x", *SAY], "ran", 68, setup=files),
    Row("a file of the host in W by descriptor", ["execfd", "{W}/static", "0", "x", *SAY], "ran", 68, setup=files),
    Row("memfd", ["memfd", "{probe}", LOADER, "x", *SAY], "ran", 70),
    Row("memfd, a dynamic program", ["memfd", "{R}/dynamic", LOADER, "echo", "{say}"], "ran", 72, setup=files),
    Row("memfd_create at all", ["syscall", "memfd_create", "@m", "0"], "did", 71),
    Row("memfd_create with MFD_EXEC", ["syscall", "memfd_create", "@m", "0x10"], "did", 71, needs="memfd_exec"),
    Row("a script", ["script", "{W}/script", "#!{probe} say", "{say}"], "did", 73),
    Row("a script with an interpreter that is not allowed", ["script", "{W}/script", "#!" + ECHO + " {say}"], "ran", 73,
        policy=seen),
    Row("an allowed script with a disallowed interpreter", ["exec", "{T}/s/python", "python"], said("ran:script"), 73,
        setup=scripts, policy=allow_scripts),
    Row("an allowed script with an interpreter in W", ["exec", "{T}/s/mine", "mine"], "did", 73, setup=scripts,
        policy=allow_scripts),
    Row("an allowed script with a script as interpreter", ["exec", "{T}/s/nested", "nested"], "did", 73, setup=scripts,
        policy=allow_scripts),
    Row("executable mapping of a file in W", ["mapexec", "{W}/code"], code_ran, 74),
    Row("executable mapping of a file in /tmp", ["mapexec", "/tmp/cordon-code", "--", "unlink", "/tmp/cordon-code"],
        code_ran, 74),
    Row("executable mapping of a file in /dev/shm", ["mapexec", "/dev/shm/cordon-code", "--", "unlink", "/dev/shm/cordon-code"],
        code_ran, 74),
    Row("READ_IMPLIES_EXEC", ["personexec", "{W}/x"], "did", 74),
    Row("an unnamed file (O_TMPFILE) in W", ["tmpexec", "{W}", "{probe}", "x", *SAY], "ran", 75),
    Row("an unnamed file (O_TMPFILE) in /tmp", ["tmpexec", "/tmp", "{probe}", "x", *SAY], "ran", 75),
    Row("an unnamed file (O_TMPFILE) in /dev/shm", ["tmpexec", "/dev/shm", "{probe}", "x", *SAY], "ran", 75),
]


REPLACED = [
    Row("write an allowed program in W", ["write", "{W}/t/tool", "bad"], "changed", 76, setup=kept_tool, policy=allow_tool),
    Row("truncate an allowed program in W", ["truncate", "{W}/t/tool"], "changed", 76, setup=kept_tool, policy=allow_tool),
    Row("rename over an allowed program in W", ["rename", "{W}/static", "{W}/t/tool"], "changed", 76, setup=kept_tool,
        policy=allow_tool),
    Row("exchange an allowed program in W", ["rename", "{W}/static", "{W}/t/tool", "2"], "changed", 76, setup=kept_tool,
        policy=allow_tool),
    Row("unlink an allowed program in W", ["unlink", "{W}/t/tool"], "changed", 76, setup=kept_tool, policy=allow_tool),
    Row("chmod an allowed program in W", ["chmod", "{W}/t/tool", "0777"], "changed", 76, setup=kept_tool, policy=allow_tool),
    Row("replace an allowed program's directory and run", ["swapdir", "{W}/t", "{W}/t2", "{probe}", "tool", "{say}"],
        "ran", 76, setup=tool, policy=allow_tool),
    Row("replace an allowed program's directory for the next run",
        ["swapdir", "{W}/t", "{W}/t2", "{probe}", "tool", "{say}"], tool_is_ours, 76, setup=tool, policy=allow_tool),
    Row("write an allowed program", ["write", "{tool}", "bad"], "changed", 76, setup=far_tool, policy=allow_tool),
    Row("write an allowed program by O_PATH", ["reopen", "{tool}", O_PATH, "/proc/self/fd", "bad"], "changed", 76,
        setup=far_tool, policy=allow_tool),
    Row("chmod an allowed program", ["chmod", "{tool}", "0777"], "changed", 76, setup=far_tool, policy=allow_tool),
    Row("rename an allowed program", ["rename", "{tool}", "{tool}2"], "changed", 76, setup=far_tool,
        policy=allow_tool),
    Row("rename over an allowed program", ["rename", "{W}/x", "{tool}"], "changed", 76, setup=far_tool,
        policy=allow_tool),
    Row("unlink an allowed program", ["unlink", "{tool}"], "changed", 76, setup=far_tool, policy=allow_tool),
    Row("create a file next to an allowed program", ["create", "{T}/far/new"], "changed", 76, setup=far_tool,
        policy=allow_tool),
    Row("change an allowed program in W and run it", ["copyexec", "{probe}", "{W}/t/tool", "x", *SAY], "ran", 76,
        setup=tool, policy=allow_tool),
    Row("register a binary format", ["openfor", "/proc/sys/fs/binfmt_misc/register", "1"], "did", 78, None,
        why="the control is that of mounting binfmt_misc, which is not mounted everywhere"),
    Row("a symlink out of an allowed directory", ["exec", "{T}/bin/link", "x", *SAY], "ran", 66, setup=programs,
        policy=allow_programs),
    Row("a relative symlink out of an allowed directory", ["exec", "{T}/bin/rel", "x", *SAY], "ran", 66, setup=programs,
        policy=allow_programs),
    Row("'..' out of an allowed directory", ["exec", "{T}/bin/../R/static", "x", *SAY], "ran", 66, setup=programs,
        policy=allow_programs),
    Row("write in an allowed directory", ["write", "{T}/bin/good", "bad", "--", "create", "{T}/bin/new"], "changed", 76,
        setup=programs, policy=allow_programs),
    Row("a program next to an allowed one", ["exec", "{W}/static", "x", *SAY, "--", "exec", "{bin}/cordon", "cordon",
                                            "--version"], "ran", 66, setup=tool, policy=allow_tool),
]

ROWS = PLAIN + LOADERS + COPIES + REPLACED
