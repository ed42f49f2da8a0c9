#!/usr/bin/env python3
"""Repositories against tools, presets and agents: what a command leaves must not run when the user uses git.

Each row of rows.py runs outside as a control (it must leave the mark), by `cordon tool shell` and by
`cordon exec --preset build`. harness.py of tests/sandbox has the rest.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sandbox"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import case, main  # noqa: E402
from rows import ATTACKS, PRELUDE, WORKS  # noqa: E402

GIT = ["git", "-c", "user.name=u", "-c", "user.email=e"]


class Project:
    """A repository in the working directory, in one of its variants."""

    def __init__(self, t, variant):
        self.t, self.dir = t, t.work
        self.mark = os.path.join(t.directory("outside"), "ESCAPED")
        self.payload = f"touch {self.mark}"
        self.env = {**t.env, "PAYLOAD": self.payload, "GIT_CONFIG_NOSYSTEM": "1", "HOME": t.directory("user-home")}
        self.sh("git init -q .; git config user.name n; git config user.email e; echo a >a; git add a; git commit -qm one")
        self.sh(VARIANTS[variant])
        self.commit = self.sh("git rev-parse HEAD").out.decode().strip()

    def sh(self, script, cwd=None, check=True):
        run = self.t.run(["bash", "-ec", script], cwd=cwd or self.dir, env=self.env)
        if check:
            self.t.code(run, 0)
        return run

    def use_git(self):
        """What a user may do next, in every directory; nothing of it need succeed."""
        for dir_, _, _ in os.walk(self.dir):
            if any(part in dir_ + "/" for part in ("/.git/", "/objects/0", "/refs/")):
                continue
            for words in (["status", "--short"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "next"],
                          ["update-ref", "refs/heads/probe", self.commit]):
                if not self.escaped():
                    self.t.run([*GIT, *words], cwd=dir_, env=self.env)

    def escaped(self):
        return os.path.exists(self.mark)


HOOK = "mkdir -p {0}; printf '#!/bin/sh\\ntrue\\n' >{0}/pre-commit; chmod +x {0}/pre-commit"
VARIANTS = {
    "": ":",
    "include": "git config include.path ../included.gitconfig; git config -f included.gitconfig x.y z",
    "include-missing": "git config include.path ../included.gitconfig",
    "worktree-config": "git config extensions.worktreeConfig true",
    "no-hooks": "rm -rf .git/hooks",
    "hooks-path": "git config core.hooksPath .githooks; " + HOOK.format(".githooks"),
    "hooks-path-missing": "git config core.hooksPath .githooks",
    "user-hooks-path": "git config -f $HOME/.gitconfig core.hooksPath .userhooks; " + HOOK.format(".userhooks"),
    "linked-hook": HOOK.format("scripts") + "; mv scripts/pre-commit scripts/check; "
                   "ln -s ../../scripts/check .git/hooks/pre-commit",
    "hooks-link": "rm -rf .git/hooks; " + HOOK.format("shared-hooks") + "; ln -s ../shared-hooks .git/hooks",
    "worktree": "git worktree add -q wt",
    "nested": "git init -q nested; cd nested; git config user.name n; git config user.email e; echo n >n; git add n; "
              "git commit -qm one",
    "submodule": "git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git sub; "
                 "git commit -qm sub",
    "bare": "git clone -q --bare . bare.git",
    "git-link": "mv .git real.git; ln -s real.git .git",
    "own-hook": "printf '#!/bin/sh\\n>hook-ran\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
}


def by_tool(p, script):
    argv = [p.t.cordon, "tool", "shell", "--json", json.dumps({"command": script})]
    return p.t.run(argv, env=p.env)


def by_preset(p, script):
    return p.t.run([p.t.cordon, "exec", "--preset", "build", "--", "/bin/bash", "-c", script], env=p.env)


def attack(p, how, script):
    return how(p, f"PAYLOAD='{p.payload}'\n{PRELUDE}\n{script}")


def add_attack(title, variant, script):
    @case(f"control: {title}", who="root")
    def _(t):
        p = Project(t, variant)
        p.sh(PRELUDE + script)
        p.use_git()
        t.true(p.escaped(), "the attack does nothing outside, so the test sees nothing")

    for name, how in (("tool", by_tool), ("preset", by_preset)):
        @case(f"{name}: {title}")
        def _(t, how=how):
            p = Project(t, variant)
            run = attack(p, how, script)
            t.true(not p.escaped(), run)
            p.use_git()
            t.true(not p.escaped(), f"git ran what the command left\n{run}")


def add_works(title, variant, script):
    for name, how in (("tool", by_tool), ("preset", by_preset)):
        @case(f"{name} works: {title}")
        def _(t, how=how):
            p = Project(t, variant)
            run = how(p, "set -e\n" + script)
            t.code(run, 0)
            t.true(b"set aside" not in run.out + run.err, run)
            p.sh("git status --short && git fsck --no-progress")


for row in ATTACKS:
    add_attack(*row)
for row in WORKS:
    add_works(*row)


if __name__ == "__main__":
    sys.exit(main())
