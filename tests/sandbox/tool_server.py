# SPDX-License-Identifier: Apache-2.0
"""`cordon tool --serve` as a client sees it, for suites of harness.py."""
import json
import os
import select
import subprocess
import time

from harness import TIMEOUT_S, Failed


class Server:
    def __init__(self, t, *options, **more):
        self.t, self.number = t, 0
        self.process = t.start(
            [t.cordon, "tool", "--serve", *options], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
            **more)
        self.seen, self.first = b"", {}

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self):
        deadline = time.monotonic() + TIMEOUT_S
        while b"\n" not in self.seen:
            if not select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failed("no answer")
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise Failed(f"the server has ended: {self.process.wait()}")
            self.seen += part
        line, self.seen = self.seen.split(b"\n", 1)
        return json.loads(line.decode("utf-8"))

    def call(self, name, **arguments):
        self.number += 1
        request = {"name": name, "arguments": arguments, "request_id": self.number}
        self.send(json.dumps(request).encode() + b"\n")
        result = self.answer()
        self.t.same(result["request_id"], self.number)
        return result

    def exec(self, cmd, **more):
        result = self.call("exec_command", cmd=cmd, **more)
        one_of(self.t, result)
        self.first[result["details"].get("session_id")] = result["content"]
        return result

    def type(self, session, chars="", **more):
        result = self.call("write_stdin", session_id=session, chars=chars, **more)
        if result.get("code") != "E_NOT_FOUND":
            one_of(self.t, result)
        return result

    def until(self, session, found, chars=""):
        """Types, and polls until `found` accepts the result; returns that result, and all content."""
        deadline, content = time.monotonic() + TIMEOUT_S, self.first.pop(session, "")
        while time.monotonic() < deadline:
            result = self.type(session, chars, yield_time_ms=50)
            chars, content = "", content + result["content"]
            if found(result, content):
                return result, content
            if "exit_code" in result["details"]:
                break
        raise Failed(f"not seen: {content[-2000:]!r} {json.dumps(result['details'])[:2000]}")

    def end(self, code=0):
        self.process.stdin.close()
        self.t.same(self.process.wait(TIMEOUT_S), code, "the server's exit")


def one_of(t, result):
    details = result["details"]
    t.true(("exit_code" in details) != ("session_id" in details), f"exit_code xor session_id: {result}")
