#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tools with bad input: every result is clear, fast and cheap.

`call` runs one tool and checks its time and peak memory; `serve` sends many calls to
`cordon tool --serve`. Under a sanitizer the large cases are small, and memory is not checked.
harness.py has the rest.
"""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import TIMEOUT_S, USER, Failed, Run, Skipped, case, factor, in_time, main, sanitized  # noqa: E402 pylint: disable=wrong-import-position

# A child made by vfork() inherits the peak memory of its parent.
subprocess._USE_VFORK = False  # pylint: disable=protected-access

MIB = 1 << 20
GIB = 1 << 30
ANY = object()
ARGUMENTS_MAX = 32 * MIB
FILE_TOOLS = ("read_file", "grep_files", "write_file", "edit_file", "apply_patch_json",
              "apply_patch_freeform")
EXITS = {"E_POLICY_DENIED": 2, "E_TIMEOUT": 4, "E_COMMAND_TIMEOUT": 4, "E_COMMAND_FAILED": 6, "E_PROTOCOL": 9,
         "E_IO": 10, "E_FS_VIOLATION": 13, "E_PATCH_PARSE": 14, "E_PATCH_APPLY": 14, "E_TOOL_VALIDATION": 15,
         "E_CONFIG": 17, "E_NOT_FOUND": 18, "E_CONFLICT": 19}


class Called(Run):
    """A run with its cost and its result."""
    seconds = mib = 0

    @property
    def code_name(self):
        return self.result.get("code")

    @property
    def content(self):
        return self.result["content"]

    @property
    def message(self):
        return self.result["message"]

    @property
    def warnings(self):
        return self.result["details"].get("warnings", [])


def size(n):
    """Returns a large number, reduced under a sanitizer."""
    return max(1, n // 64) if sanitized() else n


def measured(t, argv, stdin=subprocess.DEVNULL, seconds=20, mib=200, **more):
    """Runs a command with its output in a file, and reads its resource usage from the kernel."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        process = t.start([os.fsencode(a) for a in argv], stdin=stdin, stdout=out, stderr=err, **more)
        timer = threading.Timer(TIMEOUT_S, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        taken = time.monotonic() - begun
        out.seek(0)
        err.seek(0)
        run = Called(process.args, process.returncode, out.read(), err.read())
    run.seconds, run.mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    if os.environ.get("BAD_SHOW"):
        print(f"# {taken:6.2f} s {run.seconds:6.2f} s of work {run.mib:6.0f} MiB {str(run)[:700]}", file=sys.stderr)
    # Others may be using the machine: check CPU time, and that it ends at all.
    t.true(run.seconds < seconds * factor(), f"it worked for {run.seconds:.1f} s, at most {seconds} are due\n{run}")
    t.true(taken < 5 * seconds * factor(), f"it took {taken:.1f} s\n{run}")
    t.true(sanitized() or run.mib < mib, f"it took {run.mib:.0f} MiB, at most {mib} are due\n{run}")
    return run


def call(t, name, arguments=None, options=(), code=None, **more):
    """Makes one call, through a file if the arguments are long. `code`: the error it must fail with, with its exit code."""
    text = json.dumps(arguments or {})
    source = text
    path = os.path.join(t.top, "arguments.json")
    if len(text) > 100000:
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        source = "@" + path
    run = measured(t, [t.cordon, "tool", name, "--json", source, *options], **more)
    judge(t, run, run.code_name if code is ANY else code)
    return run


def judge(t, run, code):
    t.same(run.code_name, code, run)
    t.code(run, EXITS[code] if code else 0)
    t.true(run.message, run)
    t.true(len(run.content) < 64 * 1024 and len(run.message) < 64 * 1024, run)


def serve(t, lines, **more):
    """Returns all the responses to some lines. A line is bytes, or a call's name and arguments."""
    path = os.path.join(t.top, "calls.jsonl")
    with open(path, "wb") as f:
        for line in lines:
            if not isinstance(line, bytes):
                line = json.dumps({"name": line[0], "arguments": line[1]}).encode()
            f.write(line + b"\n")
    with open(path, "rb") as f:
        run = measured(t, [t.cordon, "tool", "--serve"], stdin=f, **more)
    t.code(run, 0)
    return [json.loads(line) for line in run.out.splitlines()]


def tree(t):
    """Everything in the working directory: names, types, bytes."""
    found = {}
    for where, directories, files in os.walk(os.fsencode(t.work)):
        for name in directories:
            found[os.path.join(where, name)] = "directory"
        for name in files:
            path = os.path.join(where, name)
            if os.path.isfile(path) and os.path.getsize(path) < MIB:
                with open(path, "rb") as f:
                    found[path] = f.read()
            else:
                found[path] = os.lstat(path).st_size
    return found


@contextlib.contextmanager
def untouched(t):
    before = tree(t)
    yield
    t.same(tree(t), before, "something was changed, or left behind")


@contextlib.contextmanager
def scratch(t):
    """A directory in memory, if there is one."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else t.top
    path = tempfile.mkdtemp(prefix="cordon-bad-", dir=base)
    t.own(path)
    os.chmod(path, 0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def specs(t):
    return json.loads(t.run([t.cordon, "tools", "--json"]).out)["tools"]


def spec_types(spec):
    return {one.get("type") for one in spec.get("anyOf", [spec])}


RIGHT = {"list_dir": {}, "read_file": {"path": "f"}, "grep_files": {"pattern": "x"},
         "glob_files": {"pattern": "*"}, "write_file": {"path": "f", "content": "new"},
         "edit_file": {"path": "f", "old_string": "x", "new_string": "y"}, "apply_patch_json": {"patch": "x"},
         "apply_patch_freeform": {"patch": "x"}, "shell": {"command": "touch made"},
         "exec_command": {"cmd": "touch made"}, "write_stdin": {"session_id": 1}}
VALUES = {"string": "a word", "integer": 7, "number": 1.5, "boolean": True, "array": [1], "object": {"a": 1},
          "empty array": [], "empty object": {}, "huge": 1e300, "nested": [[["x"]]]}


def wrong_values(name, spec):
    """Values that the schema does not allow for one argument."""
    allowed = spec_types(spec)
    for kind, value in VALUES.items():
        base = {"empty array": "array", "empty object": "object", "huge": "number", "nested": "array"}.get(kind, kind)
        if name == "include" and kind == "empty array":
            continue
        if base not in allowed or kind in ("array", "nested"):
            yield value
    for key, step in (("minimum", -1), ("maximum", 1)):
        if key in spec:
            yield spec[key] + step
            yield (spec[key] + step) * 2 ** 70 if spec[key] + step else -2 ** 63
    if "minLength" in spec and spec["minLength"] > 0:
        yield ""
    if "maxLength" in spec:
        yield "x" * (spec["maxLength"] + 1)
    if "enum" in spec:
        yield from (spec["enum"][0].upper(), "")


@case("arguments of the wrong type, out of range, unknown, missing: every tool names the argument and does nothing")
def _(t):
    t.file("f", "x\n")
    calls, names = [], []
    for spec in specs(t):
        right, parameters = RIGHT[spec["name"]], spec["parameters"]
        for name, about in parameters["properties"].items():
            for value in wrong_values(name, about):
                calls.append((spec["name"], {**right, name: value}))
                names.append(name)
        for name in parameters["required"]:
            calls.append((spec["name"], {k: v for k, v in right.items() if k != name}))
            names.append(name)
            calls.append((spec["name"], {**right, name: None}))
            names.append(name)
        calls.append((spec["name"], {**right, "no_such": 1}))
        names.append("no_such")
        for value in ([], "text", 7, True, "[1]"):
            calls.append((spec["name"], value))
            names.append("")
    t.true(len(calls) > 300, len(calls))
    with untouched(t):
        answers = serve(t, [*calls, ("list_dir", {})], seconds=30)
    t.same((len(answers), answers[-1]["status"]), (len(calls) + 1, "ok"))
    for answer, made, name in zip(answers, calls, names):
        about = (str(made)[:300], answer)
        if name == "path" and made[1].get("path") == "":
            continue
        # A number that JSON cannot represent is refused before its argument is checked.
        if answer.get("code") == "E_PROTOCOL" and "too big" in answer["message"]:
            continue
        t.same(answer.get("code"), "E_TOOL_VALIDATION", about)
        t.true(name in answer["message"], about)
        t.true("example" in answer["message"] or made[1] in ("text",), about)


@case("arguments of the wrong type: the exit code, with JSON and as text")
def _(t):
    t.file("f", "x\n")
    for name, right in RIGHT.items():
        run = call(t, name, {**right, "no_such": 1}, code="E_TOOL_VALIDATION")
        t.true("no_such" in run.message, run)
        run = t.run([t.cordon, "tool", name, "--arg", "no_such=1"])
        t.code(run, 15)
        t.true(b"no_such" in run.err and not run.out, run)
    call(t, "no_such_tool", {}, code="E_TOOL_VALIDATION")


def sources(t, path):
    """The ways to pass arguments: a file, standard input, and a pipe."""
    yield ["@" + path], {}
    with open(path, "rb") as f:
        yield ["-"], {"stdin": f}
    pipe = subprocess.Popen(["cat", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    yield ["-"], {"stdin": pipe.stdout}
    pipe.stdout.close()
    pipe.wait()


def fill(f, part, total):
    part = part * max(1, min(MIB, total) // len(part))
    for _ in range(total // len(part)):
        f.write(part)


@case("100 MB of arguments")
def _(t):
    path = os.path.join(t.top, "large.json")
    with open(path, "wb") as f:
        f.write(b'{"path": "f", "content": "')
        fill(f, b"x", 100 * 1000 * 1000)
        f.write(b'"}')
    for source, more in sources(t, path):
        run = measured(t, [t.cordon, "tool", "write_file", "--json", *source], seconds=5, mib=120, **more)
        judge(t, run, "E_TOOL_VALIDATION")
        t.true(str(ARGUMENTS_MAX) in run.message, run)
    with open(path, "ab") as f:
        f.write(b'\n{"name": "list_dir", "request_id": 1}\n')
    with open(path, "rb") as f:
        run = measured(t, [t.cordon, "tool", "--serve"], stdin=f, seconds=5, mib=120)
    t.code(run, 0)
    first, second = (json.loads(line) for line in run.out.splitlines())
    t.same((first["code"], second["status"], second["request_id"]), ("E_PROTOCOL", "ok", 1))
    for source in ("@/dev/zero", "@/dev/full"):
        run = measured(t, [t.cordon, "tool", "write_file", "--json", source], seconds=5, mib=120)
        judge(t, run, "E_TOOL_VALIDATION")


BLOATED = (b"[],", b"{},", b"1,", b'"",', b'{"a":1},', b"[[]],", b"null,")


@case("arguments of the maximum size with many small values are neither slow nor memory-hungry")
def _(t):
    total = size(30 * MIB)
    path = os.path.join(t.top, "large.json")
    for part in BLOATED:
        for before, after in ((b'{"path": [', b"0]}"), (b'{"name": "list_dir", "arguments": {"path": [', b"0]}}\n")):
            with open(path, "wb") as f:
                f.write(before)
                fill(f, part, total)
                f.write(after)
            if before.startswith(b'{"path'):
                run = measured(t, [t.cordon, "tool", "read_file", "--json", "@" + path], mib=400)
                judge(t, run, "E_TOOL_VALIDATION")
            else:
                with open(path, "rb") as f:
                    run = measured(t, [t.cordon, "tool", "--serve"], stdin=f, mib=400)
                t.true(json.loads(run.out)["code"] in ("E_TOOL_VALIDATION", "E_PROTOCOL"), run)


@case("arguments that are not JSON, or odd, are rejected immediately")
def _(t):
    half = size(15 * MIB)
    keys = b",".join(b'"%d":1' % i for i in range(size(1000000)))
    for text in (b'{"' + b"\\\\" * (half // 2) + b'":1,"' + b"\\\\" * (half // 2) + b'":2}',
                 b'{"path": "' + b'\\"' * half + b'"}', b"[" * half, b'{"a":' * half, b'"' + b"x" * half,
                 b'{"path": "\xff"}', b'{"path": "a\\u0000b"}', b'{"path": "a"}}', b"", b"   ",
                 b'{"path": "' + b"x" * half + b'"}', b"{" + keys + b"}", b'{"path":"a","path":"b"}',
                 b"\x00" * half, b'{"' + b"k" * half + b'":1}', b"\n" * half + b"x", b'{"path": "a\nb"}'):
        path = os.path.join(t.top, "odd.json")
        with open(path, "wb") as f:
            f.write(text)
        run = measured(t, [t.cordon, "tool", "read_file", "--json", "@" + path], seconds=10, mib=400)
        t.true(run.code_name in ("E_TOOL_VALIDATION", "E_IO"), run)  # E_IO: the path is too long
        judge(t, run, run.code_name)


EXPLODING = (
    r"(a+)+$", r"(a*)*$", r"(a|a)*$", r"(a|aa)+$", r"((a+)+)+$", r"(.*a){20}$", r"(a?){30}a{30}$", r"(.*)(.*)(.*)\1x",
    r"(a+)\1+$", r"^(a+)+\1$", r"(?:a{1,100}){1,100}$", r"(x+x+)+y|(a+a+)+b$", r"(?=(a+)+$)b", r"(?<=a)(a+)+$",
    r"(?R)?a", r"(a(?1)?)+$", r"(?:(?:a*)*)*c", r"a*a*a*a*a*a*a*a*a*a*c", r"(?i)(a+)+$", r"(\w+\s?)+$",
    r"^(?:.?){500}c")
HUGE = (r"a{65536}", r"(a{1000}){1000}", r"((a{100}){100}){100}", "(" * 5000 + ")" * 5000, "a|" * 8000 + "b",
        "[" * 16000, "(?:a" * 4000, "(a{1,1000}){1,1000}", r"\p{L}{1000}" * 100, "x" * 16384, "(?<n>a)" * 2000, "\\",
        "(?C1)a", "(*LIMIT_MATCH=4000000000)(a+)+$", "(*NO_JIT)(a+)+$", "(*UTF)(*UCP)(a+)+$", r"a\Kb", r"\C+")


@case("a regular expression with catastrophic backtracking is stopped and reported")
def _(t):
    t.file("one", "a" * 5000 + "b\n")
    t.file("two", ("a" * 60 + "!\n") * 300)
    t.file("three", "a" * 200000 + "\n")
    t.file("four", " ".join(["word"] * 5000) + "!\n")
    for pattern in (*EXPLODING, *HUGE):
        run = call_any(t, "grep_files", {"pattern": pattern, "timeout_ms": 2000}, (None, "E_TOOL_VALIDATION"),
                       seconds=4, mib=200)
        if run.code_name:
            t.true("pattern" in run.message, run)
    # One that costs too much at some line is reported, instead of passing as one that matches nothing.
    run = call(t, "grep_files", {"pattern": r"^(a+)+\1$", "path": "one", "timeout_ms": 2000}, seconds=4)
    t.true(any("too much time" in w for w in run.warnings) or run.result["details"].get("timed_out"), run)
    for pattern in ("*" * 4000, "**/" * 1000, "{a,b}" * 40, "[" * 4000, "{" * 4000, "?" * 200000, "a" * 200000, "",
                    "{" + "a," * 20000 + "}", "!(a|b)", "***a***b***c" * 300):
        call_any(t, "glob_files", {"pattern": pattern}, (None, "E_TOOL_VALIDATION"), seconds=5)
        call_any(t, "grep_files", {"pattern": "a", "include": [pattern] * 10, "timeout_ms": 2000},
                 (None, "E_TOOL_VALIDATION"), seconds=5)


def call_any(t, name, arguments, codes, **more):
    """A call that may end in several ways, each of them clear."""
    run = call(t, name, arguments, code=ANY, **more)
    t.true(run.code_name in codes, f"wanted one of {codes}\n{run}")
    return run


def patch_of(kind, name, old="x", new="y"):
    if kind == "apply_patch_json":
        return f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{old}\n+{new}\n"
    return f"*** Begin Patch\n*** Update File: {name}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def touching(tool, name):
    """Arguments with which a tool would access that file."""
    return {"read_file": {"path": name}, "grep_files": {"pattern": "a", "path": name, "timeout_ms": 5000},
            "write_file": {"path": name, "content": "new\n"},
            "edit_file": {"path": name, "old_string": "x", "new_string": "y"}}.get(
                tool) or {"patch": patch_of(tool, name)}


@case("a file of one line of 1 GiB, and one of zeros", who="user")
def _(t):
    with scratch(t) as place:
        t.work = place
        big, total = os.path.join(place, "line"), size(GIB)
        with open(big, "wb") as f:
            fill(f, b"a", total)
        with open(os.path.join(place, "zeros"), "wb") as f:
            f.truncate(4 * total)
        for path in ("line", "zeros"):
            t.own(os.path.join(place, path))
        binary = "E_TOOL_VALIDATION"
        with untouched(t):
            run = call(t, "read_file", {"path": "line"}, seconds=10, mib=100)
            t.true("[truncated line]" in run.content and run.result["truncated"], run)
            run = call(t, "read_file", {"path": "line", "offset": 1}, seconds=10, mib=100)
            call(t, "read_file", {"path": "line", "mode": "indentation"}, seconds=10, mib=100)
            t.true("binary" in call(t, "read_file", {"path": "zeros"}, code=binary, mib=100).message, "")
            for pattern in ("aaaa", "b", "a$", "a*b", "(a+)+$", ".*", "(?i)A"):
                for path in ("line", "."):
                    call(t, "grep_files", {"pattern": pattern, "path": path, "timeout_ms": 5000}, seconds=9, mib=400)
            call(t, "grep_files", {"pattern": "a", "path": "zeros"}, code=binary, mib=100)
            call(t, "list_dir", {}, mib=100)
            call(t, "glob_files", {"pattern": "**"}, mib=100)
            if not sanitized():
                for tool in ("edit_file", "apply_patch_json", "apply_patch_freeform"):
                    for path in ("line", "zeros"):
                        run = call(t, tool, touching(tool, path), code="E_IO", mib=250)
                        t.true("larger than 67108864 bytes" in run.message, run)
        # A file that is overwritten need not be read.
        call(t, "write_file", {"path": "line", "content": "new\n"}, mib=100)
        t.same(os.listdir(place).count("line"), 1)
        with open(big, "rb") as f:
            t.same(f.read(), b"new\n")


@case("an edit of a file of the maximum size is fast or refused")
def _(t):
    n = size(60 * MIB)
    path = t.file("f")
    with open(path, "wb") as f:
        fill(f, b"a", n)
    n = os.path.getsize(path)
    call(t, "edit_file", {"path": "f", "old_string": "a", "new_string": "b" * size(8 * MIB), "replace_all": True},
         code="E_PATCH_APPLY", seconds=10, mib=700)
    call(t, "edit_file", {"path": "f", "old_string": "a", "new_string": "b"}, code="E_PATCH_APPLY", mib=400)
    call(t, "edit_file", {"path": "f", "old_string": "a" * (n // 4) + "b", "new_string": "b"}, code="E_PATCH_APPLY",
         mib=500)
    call(t, "edit_file", {"path": "f", "old_string": "b\n" * 100000, "new_string": "b"}, code="E_PATCH_APPLY", mib=500)
    call(t, "edit_file", {"path": "f", "old_string": "a", "new_string": "b", "replace_all": True}, mib=600)
    with open(path, "rb") as f:
        t.true(f.read() == b"b" * n, "unexpected")
    with open(path, "wb") as f:
        fill(f, b"a\r\n", n // 2)
    call(t, "edit_file", {"path": "f", "old_string": "a\na", "new_string": "b", "replace_all": True}, mib=600)
    call(t, "edit_file", {"path": "f", "old_string": "zzz\nzzz", "new_string": "b"}, code="E_PATCH_APPLY", mib=600)


@case("a pipe, a device, a socket, a directory: each tool names the file type immediately")
def _(t):
    os.mkfifo(os.path.join(t.work, "pipe"))
    os.mkdir(os.path.join(t.work, "dir"))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.join(t.work, "sock"))
        for name in ("pipe", "dir", "sock"):
            t.own(os.path.join(t.work, name))
        with untouched(t):
            for tool in FILE_TOOLS:
                for path, word in (("pipe", "pipe"), ("dir", "directory"), ("sock", "socket"), ("/dev/zero", "device"),
                                   ("/dev/full", "device"), ("/dev/tty", "device"), ("/dev/random", "device")):
                    if tool == "grep_files" and path == "dir":
                        continue
                    special(t, tool, path, word)
            for tool in ("list_dir", "glob_files"):
                for path in ("pipe", "sock"):
                    run = call(t, tool, {"pattern": "*", "path": path} if tool == "glob_files" else {"path": path},
                               code="E_TOOL_VALIDATION", seconds=3)
                    t.true(f"'{path}' is not a directory" in run.message, run)
            # They are skipped in a search.
            run = call(t, "grep_files", {"pattern": "a"}, seconds=3)
            t.same(run.result["details"]["files_searched"], 0)
            t.true("pipe" in call(t, "list_dir", {}).content, "")


def special(t, tool, path, word):
    options = ["--fs-mode", "unrestricted"] if path.startswith("/") else []
    codes = ("E_IO", "E_PATCH_APPLY", "E_FS_VIOLATION", "E_TOOL_VALIDATION")
    run = call_any(t, tool, touching(tool, path), codes, options=options, seconds=4, mib=100)
    if tool == "apply_patch_json" and path.startswith("/"):
        word = "absolute"
    t.true(word in run.message, f"{word} is not said\n{run}")


@case("a directory of a million names", who="user")
def _(t):
    n = size(1000000)
    with scratch(t) as place:
        t.work = place
        flags = os.O_CREAT | os.O_WRONLY
        directory = os.open(place, os.O_RDONLY)
        for i in range(n):
            os.close(os.open(f"name{i}", flags, 0o644, dir_fd=directory))
        os.close(directory)
        run = call(t, "list_dir", {}, seconds=20, mib=400)
        t.true(run.result["truncated"] and "\nname" in run.content, run)
        # If not all entries were read, the last page also reports it.
        entries = run.result["details"]["entries"]
        t.true(entries == min(n, 200000), run)
        run = call(t, "list_dir", {"offset": entries - 1, "limit": 10000}, seconds=20, mib=400)
        t.same((run.result["truncated"], "these are some of them, not the first" in run.content), (n > entries, n > entries))
        run = call(t, "glob_files", {"pattern": "**/*9", "limit": 10000}, seconds=20, mib=700)
        t.true(run.result["truncated"], run)
        call(t, "glob_files", {"pattern": "nothing*"}, seconds=20, mib=700)
        run = call(t, "grep_files", {"pattern": "a", "timeout_ms": 5000}, seconds=15, mib=700)
        t.true(run.result["details"].get("timed_out") or run.result["details"]["files_searched"] == n, run)
        call(t, "read_file", {"path": f"name{n - 1}"}, seconds=2, mib=60)
        t.own(os.path.join(place, f"name{n - 1}"))
        call(t, "write_file", {"path": f"name{n - 1}", "content": "x"}, seconds=4, mib=60)
        call(t, "read_file", {"path": "name"}, code="E_NOT_FOUND", seconds=4, mib=200)


@case("a file that grows, shrinks and changes while it is read")
def _(t):
    path, stop = t.file("f", "line\n" * 200000), threading.Event()

    def write():
        turn = 0
        while not stop.is_set():
            turn += 1
            with open(path, "r+b") as f:
                f.truncate([0, 3000000, 10][turn % 3])
                f.seek(0)
                f.write((b"line\n", b"other\n", b"\0\0")[turn % 3] * 100000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            call_any(t, "read_file", {"path": "f"}, (None, "E_TOOL_VALIDATION"), mib=100)
            call_any(t, "read_file", {"path": "f", "offset": 100000}, (None, "E_TOOL_VALIDATION"), mib=100)
            call_any(t, "grep_files", {"pattern": "line|other", "path": "f"}, (None, "E_TOOL_VALIDATION"), mib=150)
            call_any(t, "grep_files", {"pattern": "lin[e]"}, (None, "E_TOOL_VALIDATION"), mib=150)
    finally:
        stop.set()
        writer.join()


@case("a file that changes while it is edited: a conflict or an edit, never a mix")
def _(t):
    path, stop = os.path.join(t.work, "f"), threading.Event()
    body, seen = b"body\n" * 20000, set()

    def write():
        turn = 0
        while not stop.is_set():
            turn += 1
            temporary = os.path.join(t.top, "next")
            with open(temporary, "wb") as f:
                f.write(b"version %d\n" % turn + body + b"version %d\n" % turn)
            t.own(temporary)
            os.rename(temporary, path)
            with open(path, "rb") as f:
                data = f.read()
            first, last = data.split(b"\n", 1)[0], data.rstrip(b"\n").rsplit(b"\n", 1)[-1]
            if first.replace(b"VERSION", b"version") != last.replace(b"VERSION", b"version"):
                seen.add((first, last))

    t.file("f", b"version 0\n" + body + b"version 0\n")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(40):
            run = call_any(t, "edit_file", {
                "path": "f", "old_string": "version", "new_string": "VERSION", "replace_all": True},
                           (None, "E_CONFLICT", "E_NOT_FOUND", "E_PATCH_APPLY"))
            if run.code_name == "E_PATCH_APPLY":  # the text of an edit, again
                t.true("old_string was not found in" in run.message, run)
    finally:
        stop.set()
        writer.join()
    t.same(seen, set(), "a mix of two versions")
    t.same(sorted(os.listdir(t.work)), ["f"], "left behind")
    shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


def unified_hunks(n, wrong=False):
    yield "--- a/f\n+++ b/f\n"
    for i in range(n):
        at = 3 * i + 1
        yield f"@@ -{at},3 +{at},3 @@\n .\n-{'no' if wrong and i == n - 1 else 'a'}\n+b\n .\n"


def freeform_hunks(n, wrong=False):
    yield "*** Begin Patch\n*** Update File: f\n"
    for i in range(n):
        yield f"@@\n-{'no' if wrong and i == n - 1 else 'a'}\n+b\n"
    yield "*** End Patch\n"


@case("a patch with a million hunks")
def _(t):
    # A unified diff has more text: a million hunks exceed the limit on arguments.
    for tool, make, n in (("apply_patch_json", unified_hunks, size(600000)),
                          ("apply_patch_freeform", freeform_hunks, size(1000000))):
        old = ".\na\n.\n" * n
        t.file("f", old)
        with untouched(t):
            call(t, tool, {"patch": "".join(make(n, wrong=True))}, code="E_PATCH_APPLY", seconds=10, mib=500)
        run = call(t, tool, {"patch": "".join(make(n))}, seconds=10, mib=500)
        t.true(len(run.out) < MIB, len(run.out))
        with open(os.path.join(t.work, "f"), "rb") as f:
            t.true(f.read() == old.replace("a", "b").encode(), "unexpected")
    if not sanitized():
        run = call(t, "apply_patch_json", {"patch": "".join(unified_hunks(1000000))}, code="E_TOOL_VALIDATION")
        t.true(str(ARGUMENTS_MAX) in run.message, run)


@case("expensive patches: many files, no match, identical lines")
def _(t):
    n = size(100000)
    t.file("f", "a\n" * n)
    with untouched(t):
        for tool, text in (
                ("apply_patch_freeform", "*** Begin Patch\n" + "".join(
                    f"*** Add File: n{i}\n+x\n" for i in range(n)) + "*** End Patch\n"),
                ("apply_patch_json", "".join(
                    f"--- /dev/null\n+++ b/n{i}\n@@ -0,0 +1 @@\n+x\n" for i in range(n))),
                ("apply_patch_freeform", "*** Begin Patch\n*** Update File: f\n@@\n" + " a\n" * (n - 1) +
                 " b\n*** End Patch\n"),
                ("apply_patch_freeform", "*** Begin Patch\n*** Update File: f\n" + "@@\n a\n a\n-b\n" * (n // 10) +
                 "*** End Patch\n"),
                ("apply_patch_freeform", "*** Begin Patch\n*** Update File: f\n@@\n" + " a\n" * (n // 2) +
                 "-b\n*** End Patch\n"),
                ("apply_patch_freeform", "*** Begin Patch\n" + "*** Update File: f\n@@\n-a\n+a\n" * (n // 10)),
                ("apply_patch_json", "@@ -1 +1 @@\n" * n), ("apply_patch_json", "--- a/f\n+++ b/f\n" * n),
                ("apply_patch_json", "--- a/f\n+++ b/f\n@@ -1,4000000000 +1,4000000000 @@\n" + " a\n" * n),
                ("apply_patch_json", "diff --git a/f b/f\n" * n), ("apply_patch_json", "+" * n),
                ("apply_patch_json", "--- a/" + "x/" * n + "f\n+++ b/" + "x/" * n + "f\n@@ -1 +1 @@\n-a\n+b\n"),
                ("apply_patch_freeform", "*** Begin Patch\n*** Add File: " + "x/" * n + "f\n+a\n*** End Patch"),
                ("apply_patch_freeform", "*** Begin Patch\n" * n), ("apply_patch_freeform", "\x00\x1b[2J" * n)):
            call_any(t, tool, {"patch": text}, (
                "E_PATCH_PARSE", "E_PATCH_APPLY", "E_FS_VIOLATION", "E_TOOL_VALIDATION", "E_IO"), mib=700)


@case("commands that print forever, ignore SIGTERM, or fork forever", who="user")
def _(t):
    lock = t.file("lock")
    for command in ("yes", "cat /dev/zero", "yes >&2", "while :; do echo $RANDOM; done",
                    "while :; do printf '\\033[%d;%dHx' 3 4; done", "yes | tr -d '\\n'"):
        def attempt(limit, command=command):
            run = call_any(t, "shell", {"command": "exec 9<lock; flock 9; " + command, "timeout_ms": limit},
                           ("E_COMMAND_TIMEOUT", "E_COMMAND_FAILED"), seconds=15, mib=150)
            t.unlocked(lock)
            return run if run.result["truncated"] or "RANDOM" in command or "zero" in command else None
        in_time(attempt, 700, 7000, 70000)
    for command in ("trap '' TERM INT HUP; flock lock sleep 1000", "setsid -w sh -c \"trap '' TERM; flock lock sleep 1000\"",
                    "(trap '' TERM; flock lock sleep 1000) & wait"):
        run = call(t, "shell", {"command": command, "timeout_ms": 700}, code="E_COMMAND_TIMEOUT", seconds=8)
        t.unlocked(lock)
    forks = "f() { f | f & }; exec 9<lock; flock -s 9; f; sleep 1000"
    run = call(t, "shell", {"command": forks, "timeout_ms": 1500}, code="E_COMMAND_TIMEOUT", seconds=15)
    t.unlocked(lock)
    run = call(t, "exec_command", {"cmd": forks, "yield_time_ms": 1000}, seconds=15)
    t.unlocked(lock)
    shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


@case("a tree 5,000 levels deep")
def _(t):
    levels = size(5000)
    # Names of one byte: the path has 10,000 bytes, more than the kernel accepts at once.
    at = os.open(t.work, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=at)
        if t.uid is not None:
            os.chown("d", t.uid, t.uid, dir_fd=at)
        below = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("deep", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=at))
    os.close(at)
    try:
        run = call(t, "list_dir", {"depth": 32}, seconds=5)
        t.same(run.result["details"]["entries"], 32)
        for tool in ("glob_files", "grep_files"):
            run = call(t, tool, {"pattern": "**/deep" if tool == "glob_files" else "a"}, seconds=10)
            t.true(levels < 256 or run.warnings, run)
        call(t, "read_file", {"path": "d/" * min(levels, 1500) + "x"}, code="E_NOT_FOUND", seconds=5)
        refused = ("E_IO", "E_FS_VIOLATION", "E_TOOL_VALIDATION")
        call_any(t, "read_file", {"path": "d/" * levels + "deep"}, refused if levels > 2000 else (None,))
        call_any(t, "write_file", {"path": "n/" * 5000 + "deep", "content": ""}, refused)
        t.true(not os.path.exists(os.path.join(t.work, "n")), "left behind")
    finally:
        subprocess.run(["rm", "-rf", os.path.join(t.work, "d")], check=False)


NAMES = (b"new\nline", b"esc\x1b[2J\x1b]0;t\x07", b"bad\xff\xfeutf", b"\xe2\x80\xaertl", b"x" * 255, b" ", b"-rf", b"a\tb",
         b"\\", b"'\"", b"*?[", b"\xc2\x9b2J", "é".encode() * 127)


@case("names with line breaks, escape sequences, invalid UTF-8 are shown escaped")
def _(t):
    for name in NAMES:
        path = os.path.join(os.fsencode(t.work), name)
        with open(path, "wb") as f:
            f.write(b"needle\n")
        t.own(path)
    for tool, arguments in (("list_dir", {}), ("glob_files", {"pattern": "*"}), ("grep_files", {"pattern": "needle"})):
        run = call(t, tool, arguments)
        t.same(len(run.content.splitlines()), len(NAMES), run)
        run = t.run([t.cordon, "tool", tool, *(w for k, v in arguments.items() for w in ("--arg", f"{k}={v}"))])
        t.code(run, 0)
        for bad in (b"\x1b", b"\x07", b"\xff", b"\xe2\x80\xae", b"\xc2\x9b"):
            t.true(bad not in run.out, run)
    # Names that are valid text can be used again.
    for name in NAMES:
        with contextlib.suppress(UnicodeDecodeError):
            text = name.decode()
            t.same(call(t, "read_file", {"path": text}).content, "needle\n")
            run = call(t, "edit_file", {"path": text, "old_string": "needle", "new_string": "thread"})
            call(t, "write_file", {"path": text, "content": "needle\n"})
            t.same(len(os.listdir(os.fsencode(t.work))), len(NAMES))
            # A message contains the printable form; no escape sequence reaches the terminal.
            run = t.run([t.cordon, "tool", "edit_file", "--arg", "path=" + text, "--arg", "old_string=no",
                         "--arg", "new_string=yes"])
            t.code(run, 14)
            for bad in (b"\x1b", b"\x07", b"\xe2\x80\xae", b"\xc2\x9b"):
                t.true(bad not in run.err, run)
    call(t, "write_file", {"path": "x" * 256, "content": ""}, code="E_IO")
    call(t, "read_file", {"path": "x" * 256}, code="E_IO")
    shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


ALL = {"list_dir": {}, "read_file": {"path": "f"}, "grep_files": {"pattern": "x"}, "glob_files": {"pattern": "*"},
       "write_file": {"path": "g", "content": "x\n"}, "edit_file": {"path": "f", "old_string": "x", "new_string": "y"},
       "apply_patch_json": {"patch": patch_of("apply_patch_json", "f", "y", "x")},
       "apply_patch_freeform": {"patch": patch_of("apply_patch_freeform", "f", "x", "x2")},
       "shell": {"command": "true"}, "exec_command": {"cmd": "true", "yield_time_ms": 10000},
       "write_stdin": {"session_id": 1}}
READING = ("list_dir", "read_file", "grep_files", "glob_files")
WRITING = ("write_file", "edit_file", "apply_patch_json", "apply_patch_freeform")


@case("HOME unset, read-only or missing: commands that need it report it, the rest works", who="user")
def _(t):
    closed = os.path.join(t.top, "closed")
    os.mkdir(closed, 0o555)
    file = t.file("file")
    for home, state in ((None, None), (closed, None), ("/nonexistent", None), (t.home, closed + "/c"), (t.home, file),
                        (t.home, "relative"), ("", None), ("/dev/null", None)):
        t.file("f", "x\n")
        env = {k: v for k, v in t.env.items() if k != "HOME"}
        if home is not None:
            env["HOME"] = home
        if state is not None:
            env["CORDON_HOME"] = state
        for name, arguments in ALL.items():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(t.work, "g"))
            before = tree(t)
            run = measured(t, [t.cordon, "tool", name, "--json", json.dumps(arguments)], env=env, mib=100)
            bench = "error" in run.result  # nothing could start
            code = run.result["error"]["code"] if bench else run.code_name
            t.true(run.code == (EXITS[code] if code else 0), (home, state, str(run)))
            t.true(not code or tree(t) == before, f"{home} {state}: changed all the same\n{run}")
            message = run.result["error"]["message"] if bench else run.message
            t.true(not code or message, run)
            if home is None or home == "":
                t.true(code == "E_CONFIG" and "set HOME" in message, run)
            elif state is None:
                t.true(name not in READING or not code, f"reading needs a home that can be written\n{run}")
    shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


@case("a working directory that was deleted")
def _(t):
    t.own(t.top)
    for name, arguments in ALL.items():
        gone = t.directory("gone")
        run = t.run(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", t.cordon, "tool", name, "--json",
                     json.dumps(arguments)], cwd=gone)
        t.code(run, 10, 18)
        t.true(b"working directory" in run.err or b"directory" in run.out, run)


def mounted(t, mounts, name, arguments, then="true"):
    """A call in a directory that root mounted; `then` runs after it and shows what is left."""
    run = t.run(["sh", "-c", f'cd m; code=0; "$@" || code=$?; ({then}) >../left 2>&1; exit $code', "sh", t.cordon, "tool",
                 name, "--json", json.dumps(arguments)], mounts=mounts)
    with open(os.path.join(t.work, "left"), "rb") as f:
        return run, f.read().decode()


@case("a read-only or full file system: the file is unchanged, nothing is left behind", who="root")
def _(t):
    for user in (False, True):
        t.uid = USER if user else None
        t.own(t.work)
        t.own(t.home)
        m = os.path.join(t.work, "m")
        os.makedirs(m, exist_ok=True)
        show = "ls -A; cat f; find ../../home -type f"
        prepare = "mount -t tmpfs -o size={},mode=777 none m; printf 'x\\n' >m/f; chmod 666 m/f; "
        large = "y" * 3000000
        for name, arguments in (
                ("write_file", {"path": "g", "content": "x"}), ("write_file", {"path": "f", "content": "y"}),
                ("write_file", {"path": "new/dir/g", "content": "y"}), ("edit_file", ALL["edit_file"]),
                *((tool, {"patch": patch_of(tool, "f")}) for tool in ("apply_patch_json", "apply_patch_freeform"))):
            run, left = mounted(t, prepare.format("1m") + "mount -o remount,ro m", name, arguments, show)
            t.same((run.code, run.result["code"], left), (10, "E_IO", "f\nx\n"), run)
            t.true("ead-only" in run.result["message"], run)
        for name, arguments in (
                ("write_file", {"path": "g", "content": large[:90000]}), ("write_file", {"path": "f", "content": large[:90000]}),
                ("write_file", {"path": "new/dir/g", "content": large[:90000]}),
                ("edit_file", {"path": "f", "old_string": "x", "new_string": large[:90000]}),
                *((tool, {"patch": patch_of(tool, "f", "x", large[:90000])}) for tool in (
                    "apply_patch_json", "apply_patch_freeform"))):
            full = prepare.format("64k") + "head -c 20000 /dev/zero >m/filler; "
            run, left = mounted(t, full, name, arguments, show)
            t.same((run.code, run.result["code"], left), (10, "E_IO", "f\nfiller\nx\n"), run)
            t.true("No space left" in run.result["message"], run)
        # A full disk for the journal.
        full = prepare.format("1m") + "mount -t tmpfs -o size=4k,mode=777 none ../home; head -c 4096 /dev/zero >../home/filler; "
        run, left = mounted(t, full, "write_file", {"path": "f", "content": "y"}, "cat f; ls -A")
        t.true((run.code, left) == (10, "x\nf\n") or (run.code, left) == (0, "yf\n"), (str(run), left))
        t.true(run.code == 0 or "No space left" in run.result["message"], run)
        for path in os.listdir(t.work):
            if path != "m":
                os.unlink(os.path.join(t.work, path))
        shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


@case("missing permissions are reported, and nothing is changed", who="user")
def _(t):
    if os.getuid() == 0:
        closed = os.path.join(t.work, "closed")
        os.mkdir(closed, 0o755)
        secret, fixed = os.path.join(t.work, "secret"), os.path.join(closed, "f")
        for path, mode in ((secret, 0o600), (fixed, 0o644)):
            with open(path, "w", encoding="ascii") as f:
                f.write("x\n")
            os.chmod(path, mode)
    else:
        raise Skipped("only root can make what is not the user's")
    t.own(t.work)
    with untouched(t):
        for tool in ("read_file", "grep_files", "edit_file", "apply_patch_json", "apply_patch_freeform"):
            run = call(t, tool, touching(tool, "secret"), code="E_IO")
            t.true("ermission denied" in run.message, run)
        for tool in WRITING:
            run = call(t, tool, touching(tool, "closed/f"), code="E_IO")
            t.true("ermission denied" in run.message, run)
        run = call(t, "grep_files", {"pattern": "x"})
        t.true(any("secret" in w for w in run.warnings), run)
    os.chmod(closed, 0o700)
    for tool, arguments in (("list_dir", {"path": "closed"}), ("glob_files", {"pattern": "*", "path": "closed"}),
                            ("grep_files", {"pattern": "x", "path": "closed"})):
        run = call(t, tool, arguments, code="E_IO")
        t.true("ermission denied" in run.message, run)
    for tool, arguments in (("list_dir", {}), ("glob_files", {"pattern": "**"}), ("grep_files", {"pattern": "x"})):
        t.true(call(t, tool, arguments).warnings, tool)


# Events

def events_of(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


@case("events: every tool reports its start and its end or error, and what was omitted")
def _(t):
    path = os.path.join(t.top, "events.jsonl")
    t.own(t.top)
    t.file("f", "x\n")
    t.file("long", "line\n" * 1000)
    right = {**ALL, "write_stdin": None}
    cut = {"list_dir": {"limit": 1}, "read_file": {"path": "long", "limit": 1000}, "grep_files": {"pattern": "line"},
           "glob_files": {"pattern": "*", "limit": 1}, "shell": {"command": "seq 5000"},
           "exec_command": {"cmd": "seq 5000", "yield_time_ms": 20000}}
    for name, arguments in right.items():
        if arguments is not None:
            told(t, path, name, arguments, "end")
        if name in cut:
            told(t, path, name, cut[name], "end", truncated=True)
        told(t, path, name, {"no_such": 1}, "error")
    told(t, path, "shell", {"command": "exit 3"}, "error", exit_status=3)
    told(t, path, "exec_command", {"cmd": "exit 3", "yield_time_ms": 20000}, "error", exit_status=3)
    told(t, path, "no_such_tool", {}, "error")
    # Many calls, one file; write_stdin among them.
    calls = [("exec_command", {"cmd": "read x", "yield_time_ms": 0}), ("write_stdin", {"session_id": 1, "chars": "\n"})]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    lines = b"".join(json.dumps({"name": n, "arguments": a}).encode() + b"\n" for n, a in calls)
    t.code(t.run([t.cordon, "tool", "--serve", "--events", path], lines), 0)
    t.same([(e["tool"], e["call"], e["phase"]) for e in events_of(path)],
           [("exec_command", 1, "start"), ("exec_command", 1, "end"), ("write_stdin", 2, "start"),
            ("write_stdin", 2, "end")])
    os.unlink(path)
    shutil.rmtree(os.path.join(t.home, ".cordon"), ignore_errors=True)


def told(t, path, name, arguments, end, truncated=False, exit_status=None):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    run = t.run([t.cordon, "tool", name, "--json", json.dumps(arguments), "--events", path])
    events, result = events_of(path), run.result
    phases = ["start", *(["truncation"] if truncated else []), end]
    t.same([e["phase"] for e in events], phases, (events, str(run)))
    t.same(len({event["run_id"] for event in events}), 1, events)
    t.true(all(event["time"].endswith("Z") for event in events), events)
    start = {key: value for key, value in events[0].items() if key not in ("time", "run_id")}
    t.same(start, {"type": "tool", "phase": "start", "tool": name, "call": 1})
    for event in events[1:]:
        content = result["content"].encode()
        t.same((event["type"], event["tool"], event["call"]), ("tool", name, 1))
        t.same((event["bytes"], event["lines"]), (len(content), len(content.splitlines())), event)
        t.same((event["truncated"], result["truncated"]), (truncated, truncated))
        t.same(event["files_changed"], len(result.get("changes", {"files": []})["files"]))
        t.true(isinstance(event["duration_us"], int) and event["duration_us"] >= 0, event)
        if name in WRITING and end == "end":
            t.same(event["files_changed"], 1, event)
        if name in ("shell", "exec_command") and end == "end":
            t.same(event["exit_status"], 0, event)
        if exit_status is not None:
            t.same(event["exit_status"], exit_status, event)
    if end == "error":
        t.same(events[-1]["error"]["code"], result["code"])


@case("events that cannot be written are reported, and do not stop a tool")
def _(t):
    run = t.run([t.cordon, "tool", "list_dir", "--json", "{}", "--events", "/dev/full"])
    t.code(run, 0)
    t.same(run.result["status"], "ok")
    t.same(run.err.count(b"warning: cannot write events to '/dev/full': No space left on device"), 1, run)
    run = t.run([t.cordon, "tool", "--serve", "--events", "/dev/full"], b'{"name": "list_dir"}\n' * 3)
    t.code(run, 0)
    t.same((len(run.out.splitlines()), run.err.count(b"warning:")), (3, 1), run)
    # If the file cannot be opened, nothing starts.
    for path in ("/nonexistent/e", t.work, "/proc/version" if t.uid else "/proc/nothing"):
        run = t.run([t.cordon, "tool", "shell", "--json", '{"command": "touch made"}', "--events", path])
        t.code(run, 10)
        t.same((run.result["status"], run.result["code"]), ("error", "E_IO"), run)
        t.true("events" in run.result["message"] and path in run.result["message"], run)
        t.same(os.listdir(t.work), [])
    # A pipe without a reader, or with one that does not read: neither blocks.
    pipe = os.path.join(t.work, "pipe")
    os.mkfifo(pipe)
    t.own(pipe)
    run = t.run([t.cordon, "tool", "list_dir", "--json", "{}", "--events", pipe])
    t.code(run, 10)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    run = t.run([t.cordon, "tool", "--serve", "--events", pipe], b'{"name": "list_dir"}\n' * 2000)
    t.same((run.code, len(run.out.splitlines()), run.err.count(b"warning:")), (0, 2000, 1), run)
    for line in os.read(reader, MIB).splitlines():
        json.loads(line)
    os.close(reader)


if __name__ == "__main__":
    sys.exit(main())
