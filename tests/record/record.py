#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records of runs: the same run twice gives the same record, one changed byte is found, and the rest of a run that was
killed at any moment can be inspected. Prints TAP.

record.py --cordon build/cordon [--kill build/tests/librecord_kill.so]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Tap  # noqa: E402  pylint: disable=wrong-import-position

# Fields that the six filters remove.
FILTERED = {"snapshot_id", "run_id", "session_id", "timestamp_ms", "started_at_ms", "ended_at_ms"}
FILES = {"run.json", "policy.json", "normalization.json", "transcript.log", "events.jsonl", "checksums.json"}


def wait(condition, **payload):
    return {"type": "wait", "payload": {"condition": {"type": condition, "payload": payload}}}


def scenario(cwd):
    return {
        "scenario_version": 1,
        "run": {"command": "/bin/cat", "cwd": str(cwd), "initial_size": {"rows": 6, "cols": 40}},
        "steps": [
            {"id": "type", "action": {"type": "text", "payload": {"text": "hello\r"}}, "assert": [{"type": "cursor_at", "payload": {"row": 2, "col": 0}}]},
            {"id": "size", "action": {"type": "resize", "payload": {"rows": 7, "cols": 30}}},
            {"id": "bell", "action": {"type": "text", "payload": {"text": "a\tb\r"}}, "assert": [{"type": "cursor_at", "payload": {"row": 4, "col": 0}}]},
            {"id": "end", "action": {"type": "key", "payload": {"key": "Ctrl+D"}}, "assert": [{"type": "process_exited", "payload": {}}]},
        ],
    }


REQUESTS = [
    {"action": {"type": "text", "payload": {"text": "one\r"}}, "settle_ms": 150},
    {"action": wait("cursor_at", row=2, col=0)},
    {"action": {"type": "resize", "payload": {"rows": 9, "cols": 33}}, "settle_ms": 50, "screen": "delta"},
    {"action": {"type": "terminate"}},
]


class Records:
    def __init__(self, cordon, work):
        self.cordon, self.work = cordon, work
        self.home = work / "home"
        self.home.mkdir()
        (work / "s.json").write_text(json.dumps(scenario(self.home)))

    def words(self, mode, out):
        end = ["--artifacts", str(out)]
        return [self.cordon, *{
            "run": ["run", str(self.work / "s.json"), *end],
            "exec": ["exec", "--json", *end, "--", "/bin/echo", "hello"],
            "driver": ["driver", *end, "--", "/bin/cat"],
        }[mode]]

    def make(self, mode, out, **env):
        """Returns the exit status."""
        text = "".join(json.dumps({"protocol_version": 1, **r}) + "\n" for r in REQUESTS) if mode == "driver" else ""
        return subprocess.run(self.words(mode, out), input=text.encode(), cwd=self.home, env={**os.environ, **env}, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def ask(self, *words):
        return subprocess.run([self.cordon, *words], cwd=self.home, capture_output=True, text=True, timeout=60)


def filtered(value):
    if isinstance(value, dict):
        return {k: filtered(v) for k, v in value.items() if k not in FILTERED}
    return [filtered(v) for v in value] if isinstance(value, list) else value


def contents(out):
    """Every file after the filters; of the checksums only the file names."""
    found = {}
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        name, data = str(path.relative_to(out)), path.read_bytes()
        if name == "checksums.json":
            found[name] = sorted(json.loads(data))
        elif name.endswith(".json"):
            found[name] = filtered(json.loads(data))
        elif name.endswith(".jsonl"):
            found[name] = [filtered(json.loads(line)) for line in data.splitlines()]
        else:
            found[name] = data
    return found


def stable(records, mode):
    first, second = records.work / f"{mode}1", records.work / f"{mode}2"
    for out in (first, second):
        status = records.make(mode, out)
        assert status == 0, f"exit {status}"
    a, b = contents(first), contents(second)
    assert a.keys() == b.keys(), (a.keys(), b.keys())
    assert FILES <= a.keys() and "snapshots/0001.json" in a, a.keys()
    assert a["checksums.json"] == sorted(set(a) - {"checksums.json"}), a["checksums.json"]
    for name in a:
        assert a[name] == b[name], f"{name}:\n{a[name]}\n{b[name]}"
    raw = (first / "events.jsonl").read_text()
    assert '"output":{"every":' in raw, "no times of output"


def flipped(records, mode):
    out = records.work / f"{mode}1"
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        name, data = str(path.relative_to(out)), path.read_bytes()
        own = name == "checksums.json"
        places = range(0, len(data), 7) if own else {0, len(data) // 3, len(data) // 2, len(data) - 1}
        for place in places if data else []:
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1:])
            got = records.ask("replay", "--offline", "--artifacts", str(out))
            path.write_bytes(data)
            # A changed checksum is reported as an error of its file.
            named = "artifact '" in got.stderr if own else f"'{name}'" in got.stderr
            assert got.returncode == 11 and named, f"{name}, byte {place}: {got.returncode} {got.stderr}"
    got = records.ask("replay", "--offline", "--artifacts", str(out))
    assert got.returncode == 0, got.stderr


def left_running(mark):
    """Processes whose command line contains the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def check_rest(records, out):
    """Checks the rest of a run that was killed; returns how far it had come."""
    if not (out / "transcript.log").exists():
        got = records.ask("trace", str(out), "-o", str(records.work / "x.html"))
        assert got.returncode == 18, f"trace: {got.returncode} {got.stderr}"
        return "nothing"
    for path in out.glob("*.json"):
        json.loads(path.read_bytes())
    early = not (out / "run.json").exists()
    html = records.work / "x.html"
    got = records.ask("trace", str(out), "-o", str(html), "--json")
    assert got.returncode == 0, f"trace: {got.returncode} {got.stderr}"
    assert json.loads(got.stdout)["ended_early"] == early, got.stdout
    page = html.read_text()
    assert ('"status":"canceled"' in page and '"ended_early":true' in page) == early, "status"
    assert ("ended early" in got.stderr) == early, got.stderr
    got = records.ask("trace", str(out), "--format", "asciicast")
    assert got.returncode == 0 and all(json.loads(line) for line in got.stdout.splitlines()), got.stderr
    got = records.ask("replay", "--offline", "--artifacts", str(out))
    assert got.returncode == (18 if early else 0), f"replay: {got.returncode} {got.stderr}"
    assert not early or "run.json" in got.stderr, got.stderr
    return "early" if early else "whole"


def killed(records, mode, preload, half):
    seen = set()
    for n in range(1, 2000):
        out = records.work / "killed"
        shutil.rmtree(out, ignore_errors=True)
        env = {"LD_PRELOAD": preload, "KILL_AT": str(n), **({"KILL_HALF": "1"} if half else {})}
        status = records.make(mode, out, **env)
        if status == 0:
            break
        assert status == -9, f"call {n}: exit {status}"
        try:
            seen.add(check_rest(records, out) if out.exists() else "nothing")
        except (AssertionError, ValueError) as e:
            raise AssertionError(f"killed at call {n}: {e}; there are {sorted(p.name for p in out.iterdir())}") from e
    assert seen >= {"early", "whole"}, f"{n} calls, {seen}"
    print(f"# {mode}: killed at {n - 1} calls{', in their midst' if half else ''}")
    deadline = time.monotonic() + 60
    while left_running(str(out)):
        assert time.monotonic() < deadline, f"still running: {left_running(str(out))}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--kill", help="the library that ends it; without it that is not tried")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="cordon-record-", dir="/var/tmp"))
    records = Records(os.path.abspath(args.cordon), work)
    modes = ("run", "exec", "driver")
    tests = [(f"{mode}: the same twice", lambda m=mode: stable(records, m)) for mode in modes]
    tests += [(f"{mode}: a flipped byte is found", lambda m=mode: flipped(records, m)) for mode in modes]
    if args.kill:
        tests += [(f"{mode}: killed{' half way' if half else ''}", lambda m=mode, h=half: killed(records, m, os.path.abspath(args.kill), h))
                  for mode in modes for half in (False, True)]
    tap = Tap()
    for name, test in tests:
        tap.run(name, test)
    shutil.rmtree(work, ignore_errors=True)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
