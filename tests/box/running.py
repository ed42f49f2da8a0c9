# SPDX-License-Identifier: Apache-2.0
"""Boxes that may run, private to a case, for the suites of this directory; the cases are those of tests/harness.py."""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "sandbox"), os.path.join(HERE, "..", "tui")]
from harness import TIMEOUT_S, Failed, children  # noqa: E402 pylint: disable=wrong-import-position
from screen import Screen  # noqa: E402 pylint: disable=wrong-import-position

OURS = (b"(cordon-box)", b"(cordon-init)", b"(cordon-proxy)")


def until(what, why):
    deadline = time.monotonic() + TIMEOUT_S
    while not (got := what()):
        if time.monotonic() > deadline:
            raise Failed(why() if callable(why) else why)
        time.sleep(0.005)
    return got


class Boxes:
    """A state directory, settings and a project, private to the case. Nothing may be running at the end."""

    def __init__(self, t, *rows):
        self.t = t
        t.env["CORDON_HOME"] = t.directory("state")
        t.env["XDG_CONFIG_HOME"] = t.directory("settings")
        os.makedirs(os.path.join(t.top, "settings", "cordon"))
        with open(os.path.join(t.top, "settings", "cordon", "config.yaml"), "w", encoding="utf-8") as f:
            json.dump({"agents": list(rows)}, f)
        os.chmod(os.path.join(t.top, "settings", "cordon"), 0o755)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        base = os.path.join(self.t.env["CORDON_HOME"], "sandboxes")
        for name in os.listdir(base) if os.path.isdir(base) else ():
            if name[0] != ".":
                self("stop", name, "--grace", "-1", expect=None)
        self.reap()

    def reap(self):
        """Supervisors are orphans, and therefore reparented to us: they must end by themselves."""
        def gone():
            for pid, state, name in children():
                if state == "Z" and name in OURS:
                    os.waitpid(pid, 0)
            return not [c for c in children() if c[2] in OURS]
        until(gone, lambda: f"a supervisor is left: {children()}")

    def __call__(self, *args, expect=0, **more):
        run = self.t.run([self.t.cordon, "box", *args], **more)
        if expect is not None:
            self.t.code(run, expect)
        return run

    def json(self, *args, expect=0):
        return self(*args, "--json", expect=expect).result

    def new(self, name="b", *args, agent="test", **more):
        return self("new", name, self.t.work, "--agent", agent, "--yes", *args, **more)

    def exec(self, *args, name="b", **more):
        return self("exec", name, *args, **more)

    def host(self, *parts, name="b"):
        return os.path.join(self.t.env["CORDON_HOME"], "sandboxes", name, "host", *parts)

    def state(self, name="b"):
        with open(self.host("state.json", name=name), encoding="utf-8") as f:
            return json.load(f)

    def until_state(self, **want):
        until(lambda: all(self.state().get(k) == v for k, v in want.items()), lambda: f"{self.state()}, not {want}")

    def until_status(self, status, name="b"):
        def now():
            return next(b["status"] for b in self.json("list")["boxes"] if b["name"] == name)
        until(lambda: now() == status, lambda: f"it is {now()}, not {status}")

    def attach(self, rows=24, cols=80, name="b"):
        return Screen(self.t, [self.t.cordon, "box", "attach", name], rows, cols)


def row(name="own", command="bash --norc", **more):
    return {"name": name, "command": command, **more}
