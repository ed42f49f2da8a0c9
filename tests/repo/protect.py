#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repositories against tools, presets and agents: files that a command leaves must not run when the user uses git.

Each row of rows.py runs outside as a control (it must leave the mark), by `cordon tool shell` and by
`cordon exec --preset build`. tests/harness.py has the rest.
"""
import json
import os
import subprocess
import sys
import time
import types

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CASES, case, factor, main, worked_s  # noqa: E402
from rows import ATTACKS, PRELUDE, USER, WEAKER, WORKS  # noqa: E402
from rows_names import LARGE, NAMES, NAMES_WORK, ORDINARY  # noqa: E402
import rows_check  # noqa: E402
import rows_index  # noqa: E402
import rows_commands  # noqa: E402
import rows_remotes  # noqa: E402

FIRST = "git init -q .; git config user.name n; git config user.email e; echo a >a; git add a; git commit -qm one; (set -e"
HEAD = "); git rev-parse HEAD"
# MARK COMMIT DIRECTORY…
NEXT = r"""
mark=$1 commit=$2
shift 2
try() { [ -e "$mark" ] || git -c user.name=u -c user.email=e "$@"; }
for dir; do
  cd "$dir" || continue
  try status --short
  try add -A
  try commit -q --allow-empty -m next
  try update-ref refs/heads/probe "$commit"
  try rebase --continue
  try cherry-pick --continue
done
"""


class Project:
    """A repository in the working directory, in one of its variants."""

    def __init__(self, t, variant, number=0):
        self.t, self.dir = t, t.work
        self.mark = os.path.join(t.directory(f"outside{number}"), "ESCAPED")
        self.payload = f"touch {self.mark}"
        self.env = {**t.env, "PAYLOAD": self.payload, "GIT_CONFIG_NOSYSTEM": "1", "HOME": t.directory(f"user-home{number}"),
                    "CRAFT": os.path.join(os.path.dirname(os.path.abspath(__file__)), "craft_index.py")}
        self.changed = False
        self.commit = self.sh(f"{FIRST}\n{VARIANTS[variant]}\n{HEAD}").out.decode().splitlines()[-1]

    def sh(self, script, cwd=None, check=True):
        run = self.t.run(["bash", "-ec", script], cwd=cwd or self.dir, env=self.env)
        if check:
            self.t.code(run, 0)
        return run

    def use_git(self):
        """Commands that a user may run next, in every directory; none of them need succeed."""
        dirs = [dir_ for dir_, _, _ in os.walk(self.dir)
                if not any(part in dir_ + "/" for part in ("/.git/", "/objects/0", "/refs/"))]
        if not self.escaped():
            self.t.run(["bash", "-c", NEXT, "bash", self.mark, self.commit, *dirs], env=self.env)

    def listing(self, dir_):
        """Names to which no git command of the user's adds any."""
        return sorted(os.path.join(above, name) for top in (self.env["HOME"], os.path.dirname(self.mark), os.path.join(dir_, ".git/hooks"))
                      for above, dirs, files in os.walk(top) for name in dirs + files)

    def use_more(self):
        """The same and other commands, in a copy, where the first ones have not cleared anything away."""
        copy = self.t.directory("copy")
        self.t.run(["cp", "-a", ".", copy], cwd=self.dir, env=self.env)
        self.use_git()
        before = self.listing(copy)
        if not self.escaped():
            self.t.run(["bash", "-c", MORE], cwd=copy, env={**self.env, "HISTFILE": ""})
        self.changed = self.listing(copy) != before

    def escaped(self):
        return self.changed or os.path.exists(self.mark)


# A prompt as git's documentation has it, with colours. The last commands take over what a command may have committed.
MORE = r"""
bash --norc -i <<'end'
. /usr/lib/git-core/git-sh-prompt
PROMPT_COMMAND='__git_ps1 "\u:\w" "\\\$ "'
true
end
git checkout .; git restore .; git fetch -q --all; git worktree repair; git checkout -q HEAD
for b in $(git for-each-ref --format='%(refname)' refs/heads refs/stash); do git cherry-pick $b; git cherry-pick --abort; done
git commit -q --allow-empty -m next
"""

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
    "hooks-path-link": HOOK.format("real") + "; ln -s real .githooks; git config core.hooksPath .githooks",
    "linked-hook-twice": HOOK.format("scripts") + "; mv scripts/pre-commit scripts/check; ln -s check scripts/middle; "
                         "ln -s ../../scripts/middle .git/hooks/pre-commit",
    "dangling-hook": "mkdir scripts; ln -s ../../scripts/none .git/hooks/pre-commit",
    "user-hooks-path-link": "git config -f $HOME/real core.hooksPath .userhooks; ln -s real $HOME/.gitconfig; " + HOOK.format(".userhooks"),
    "user-hooks-path-include": "git config -f $HOME/other core.hooksPath .userhooks; "
                               "git config -f $HOME/.gitconfig include.path other; " + HOOK.format(".userhooks"),
    "include-twice": "git config include.path ../first.gitconfig; git config -f first.gitconfig include.path second.gitconfig; "
                     "git config -f second.gitconfig x.y z",
    "submodule-objects": "git clone -q --bare . lib.git; "
                         "git -c protocol.file.allow=always submodule --quiet add ./lib.git lib/objects; git commit -qm sub",
    "husky": "mkdir -p .husky/_; git config core.hooksPath .husky/_; "
             "printf '#!/bin/sh\\nsh .husky/pre-commit\\n' >.husky/_/pre-commit; chmod +x .husky/_/pre-commit; echo true >.husky/pre-commit",
    "filter": "mkdir tools; printf '#!/bin/sh\\ncat\\n' >tools/clean; chmod +x tools/clean; git config filter.f.clean ./tools/clean; "
              "echo '* filter=f' >.gitattributes",
    "info-link": "mv .git/info real-info; ln -s ../real-info .git/info",
    "rebasing": "printf 'break\nexec touch ran\n' >todo; GIT_SEQUENCE_EDITOR='cp todo' git rebase -q -i HEAD",
    "rebasing-long": "{ echo break; yes \"pick $(git rev-parse HEAD) $(printf '%060d')\" | head -n 15000; } >todo; "
                     "GIT_SEQUENCE_EDITOR='cp todo' git rebase -q -i HEAD; test $(stat -c %s .git/rebase-merge/git-rebase-todo) -gt 1200000",
    "rebasing-pick": "echo b >b; git add b; git commit -qm two; printf 'break\npick %s\n' $(git rev-parse HEAD) >todo; "
                     "GIT_SEQUENCE_EDITOR='cp todo' git rebase -q -i HEAD~1",
    "rebasing-strategy": "echo break >todo; GIT_SEQUENCE_EDITOR='cp todo' git rebase -q -i HEAD; echo of-mine >.git/rebase-merge/strategy",
    # Two commits are picked; the first one conflicts with another file of its name.
    "picking": "m=$(git symbolic-ref --short HEAD); git checkout -q -b other; echo b >b; git add b; git commit -qm b; git checkout -q $m; "
               "echo c >b; git add b; git commit -qm c; echo d >d; git add d; git commit -qm d; git checkout -q other; "
               "git cherry-pick $m~1 $m >/dev/null 2>&1 || true; test -d .git/sequencer",
    "own-hook": "printf '#!/bin/sh\\n>hook-ran\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
}


VARIANTS.update(rows_check.VARIANTS)
VARIANTS.update(rows_index.VARIANTS)
VARIANTS.update(rows_remotes.VARIANTS)


# git itself may not add work trees to the user's repository (tests/sandbox/denials.py), but a program of another name can.
UNSEEN = 'unseen() { local g; g=$(mktemp) && cp "$(command -v git)" "$g" && chmod +x "$g" && "$g" "$@"; }\n'


def unseen(script):
    return UNSEEN + script.replace("git worktree add", "unseen worktree add") if "git worktree add" in script else script


def by_tool(p, script):
    script = unseen(script)
    argv = [p.t.cordon, "tool", "shell", "--json", json.dumps({"command": script})]
    return p.t.run(argv, env=p.env)


def by_preset(p, script):
    return p.t.run([p.t.cordon, "exec", "--preset", "build", "--", "/bin/bash", "-c", unseen(script)], env=p.env)


def by_landlock(p, script):
    return p.t.run([p.t.cordon, "exec", "--preset", "build", "--sandbox", "landlock", "--ack-unsafe-sandbox", "--", "/bin/bash", "-c", script],
                   env=p.env)


def attack(p, how, script):
    return how(p, f"PAYLOAD='{p.payload}'\n{PRELUDE}\n{script}")


# Rows that are also tried without mounts.
LANDLOCK = {
    "hooks: a new one", "hooks: the directory replaced", "hooks: where the settings say", "hooks: a file that a hook links to", "husky's scripts",
    "config: a monitor", "config: a link in its place", "config: an included file", "a work tree's .git file", "the repository exchanged", "a filter in the tree",
    "commit, branch, tag", "a hook of the user's runs", "a new work tree", "a submodule", "a rebase of the user's with a program",
    *rows_check.LANDLOCK,
}


def add_attack(title, variant, script):
    @case(f"control: {title}", who="root")
    def _(t):
        p = Project(t, variant)
        p.sh(PRELUDE + script)
        p.use_more()
        t.true(p.escaped(), "the attack does nothing outside, so the test sees nothing")

    ways = [("tool", by_tool), ("preset", by_preset)]
    if title in LANDLOCK:
        ways.append(("landlock", by_landlock))
    for name, how in ways:
        @case(f"{name}: {title}")
        def _(t, how=how):
            p = Project(t, variant)
            run = attack(p, how, script)
            t.true(not p.escaped(), run)
            p.use_more() if how is by_preset else p.use_git()
            t.true(not p.escaped(), f"git ran a file that the command left\n{run}")


def add_works(title, variant, script):
    ways = [("tool", by_tool), ("preset", by_preset)]
    if title in LANDLOCK:
        ways.append(("landlock", by_landlock))
    for name, how in ways:
        @case(f"{name} works: {title}")
        def _(t, how=how):
            p = Project(t, variant)
            run = how(p, "set -e\n" + script)
            t.code(run, 0)
            t.true(b"set aside" not in run.out + run.err, run)
            p.sh("git status --short && git fsck --no-progress")


# Tools that write files ------------------------------------------------------------------------------------------

def write(p, path, content):
    arguments = json.dumps({"path": path, "content": content})
    return p.t.run([p.t.cordon, "tool", "write_file", "--json", arguments], env=p.env)


REFUSED = [
    ("", ".git/config"), ("", ".git/hooks/pre-commit"), ("", ".git/info/attributes"), ("", ".git/commondir"),
    ("", ".git/index"), ("", "new/.git"), ("", "new/.git/hooks/x"), ("", ".GIT/hooks/x"), ("", "./x/../.git/hooks/x"),
    ("", ".cordon/config.yaml"), ("", "sub/.cordon/config.yaml"), ("nested", "nested/.git/hooks/x"),
    ("worktree", "wt/.git"), ("submodule", "sub/.git"), ("bare", "bare.git/hooks/post-update"),
    ("bare", "bare.git/config"), ("hooks-path", ".githooks/pre-push"), ("hooks-path-missing", ".githooks/pre-push"),
    ("user-hooks-path", ".userhooks/pre-push"), ("linked-hook", "scripts/check"), ("hooks-link", "shared-hooks/pre-push"),
    ("include", "included.gitconfig"), ("include-missing", "included.gitconfig"), ("", ".hg/hgrc"), ("", ".jj/repo/config.toml"),
]


@case("write_file: parts of repositories are refused")
def _(t):
    for i, (variant, path) in enumerate(REFUSED):
        t.work = t.directory(f"p{i}")
        p = Project(t, variant, number=i)
        before = {f: open(os.path.join(t.work, f), "rb").read() for f in [path] if os.path.isfile(os.path.join(t.work, f))}
        run = write(p, path, "x")
        t.denied(run, "E_FS_VIOLATION", 13) if "error" in run.result else t.same(run.result["code"], "E_FS_VIOLATION", run)
        for name, bytes_ in before.items():
            t.same(open(os.path.join(t.work, name), "rb").read(), bytes_)


@case("write_file: a symlink to such a file is refused as well")
def _(t):
    p = Project(t, "")
    os.symlink(".git/config", os.path.join(t.work, "link"))
    os.symlink(".git", os.path.join(t.work, "dir"))
    for path in ("link", "dir/config", "dir/hooks/pre-commit"):
        t.same(write(p, path, "x").result["code"], "E_FS_VIOLATION", path)


@case("write_file: ordinary names that look like a repository's are allowed")
def _(t):
    p = Project(t, "")
    for path in ("src/hooks/use.ts", "objects/a.c", "refs/a.txt", "config", "HEAD", "info/x", ".gitignore",
                 ".github/CODEOWNERS", "git/config", ".git-blame-ignore-revs"):
        t.same(write(p, path, "x").result["status"], "ok", path)


@case("patches: a repository made from files in one call has no effect")
def _(t):
    p = Project(t, "")
    files = {"lib/HEAD": p.commit, "lib/objects/x": "x", "lib/refs/x": "x", "lib/hooks/post-index-change": f"#!/bin/sh\n{p.payload}",
             "lib/config": f'[core]\nbare = false\nworktree = {t.work}\nfsmonitor = "{p.payload};false"'}
    patch = "*** Begin Patch\n"
    for name, text in files.items():
        patch += f"*** Add File: {name}\n" + "".join(f"+{line}\n" for line in text.split("\n"))
    patch += "*** End Patch"
    run = p.t.run([t.cordon, "tool", "apply_patch_freeform", "--json", json.dumps({"patch": patch})], env=p.env)
    t.same(run.result["status"], "ok", run)
    t.true("core.fsmonitor" in run.result["content"] and len(run.result["details"]["held"]) == 2, run)
    os.chmod(os.path.join(t.work, "lib/hooks"), 0o755)
    p.use_git()
    t.true(not p.escaped(), run)


# Sessions --------------------------------------------------------------------------------------------------------

class Serve:
    def __init__(self, p, argv=None, **more):
        self.p = p
        self.process = p.t.start(argv or [p.t.cordon, "tool", "--serve"], stdin=subprocess.PIPE, env=p.env, **more)

    def call(self, name, **arguments):
        self.process.stdin.write(json.dumps({"name": name, "arguments": arguments}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def begin(self, cmd, word="ready"):
        """Starts a command that prints this word, and returns its session once it has."""
        result = self.call("exec_command", cmd=cmd, yield_time_ms=0)
        session = result["details"]["session_id"]
        self.until(session, word, result["content"])
        return session

    def until(self, session, word, content=""):
        deadline = time.monotonic() + 60
        while word not in content:
            self.p.t.true(time.monotonic() < deadline, f"no {word!r}: {content}")
            content += self.call("write_stdin", session_id=session, yield_time_ms=100)["content"]

    def end(self):
        return self.p.t.finish(self.process)


@case("sessions: a held file is listed until the user accepts it")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    first = s.call("shell", command="git init -q new; git -C new config alias.x '!id'; git -C new config user.name q")
    held = first["details"]["held"]
    t.same([h["path"] for h in held], [t.work + "/new/.git/config"])
    t.true("alias.x" in held[0]["what"] and "user.name" not in held[0]["what"], held)
    t.same(s.call("shell", command="git -C new config user.name")["content"].split("\n")[0], "q")
    t.true("held" in s.call("shell", command="true")["details"], "it is named again")
    os.unlink(held[0]["held"])
    t.true("held" not in s.call("shell", command="true")["details"], "it is not there any more")
    s.end()


@case("sessions: files that the user accepts stay")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    s = Serve(p)
    hook = "#!/bin/sh\nexit 0\n"
    held = s.call("shell", command=f"git init -q new; printf {hook!r} >new/.git/hooks/pre-commit; "
                  "git -C new config alias.x status")["details"]["held"]
    t.same(len(held), 2)
    for item in held:
        t.code(t.run([t.cordon, "trust", item["held"]], env=p.env), 20)
        t.code(t.run([t.cordon, "trust", "--yes", item["held"]], env=p.env), 0)
    after = s.call("shell", command="git -C new config alias.x; cat new/.git/hooks/pre-commit")
    t.true("held" not in after["details"] and after["content"].startswith("status\n#!/bin/sh"), after)
    t.true("held" in s.call("shell", command="git -C new config alias.y '!id'")["details"], "other bytes are held again")
    s.end()
    t.true(b"new/.git/hooks/pre-commit" in t.run([t.cordon, "trust", "--list"], env=p.env).out, "listed")


@case("trust: only for what was shown, and not through symlinks")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    before = open(os.path.join(t.work, ".git/config"), "rb").read()
    s = Serve(p)
    s.call("shell", command="git init -q sub; git -C sub config alias.x '!id'; cp sub/.git/config c; mkdir -p .git/cordon-held; "
           "cp c .git/cordon-held/config; mv sub sub_; ln -s . sub")
    t.code(t.run([t.cordon, "trust", "--yes", os.path.join(t.work, "sub/.git/cordon-held/config")], env=p.env), 13)
    t.code(t.run([t.cordon, "trust", "--yes", os.path.join(t.work, ".git/cordon-held/config")], env=p.env), 19)
    t.same(open(os.path.join(t.work, ".git/config"), "rb").read(), before)
    s.end()


@case("sessions: processes that continue after a call are checked when the session ends")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    script = f"PAYLOAD='{p.payload}'\n{PRELUDE}\necho ready; read x; git init -q new; settings new/.git/config; echo done; sleep 1000"
    session = s.begin(script)
    s.call("write_stdin", session_id=session, chars="go\n", yield_time_ms=0)
    deadline, path = time.monotonic() + 60, os.path.join(t.work, "new/.git/config")
    while not (os.path.exists(path) and b"fsmonitor" in open(path, "rb").read()):
        t.true(time.monotonic() < deadline, "the program in the session did nothing")
        time.sleep(0.01)
    run = s.end()
    t.code(run, 0)
    p.use_git()
    t.true(not p.escaped(), run)


@case("sessions: settings that the user replaces while a command runs")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    script = f"echo ready; while ! git config -f .git/config core.fsmonitor '{p.payload};false'; do sleep 0.05; done 2>/dev/null; echo written; sleep 1000"
    session = s.begin(script)
    # The command's attempts hold git's lock again and again.
    p.sh("for name in user.name alias.st; do for i in $(seq 600); do git config $name other 2>err && break; sleep 0.1; done; done; "
         "cat err; rm err; git config alias.st >/dev/null")
    s.until(session, "written")  # otherwise the mount was not gone: nothing to see here
    run = s.end()
    p.use_git()
    t.true(not p.escaped(), run)
    t.same(p.sh("git config user.name").out, b"other\n")


@case("sessions: settings that the user replaces while a command runs, and the command by a symlink")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    script = (f"git config -f evil core.fsmonitor '{p.payload};false'; echo ready; until rm -f .git/config && ln -s ../evil .git/config; "
              "do sleep 0.05; done 2>/dev/null; echo linked; sleep 1000")
    session = s.begin(script)
    p.sh("git config alias.st status")
    s.until(session, "linked")  # otherwise the mount was not gone: nothing to see here
    run = s.end()
    p.use_git()
    t.true(not p.escaped(), run)
    t.same(p.sh("git config user.name").out, b"n\n")


@case("sessions: settings that the user changes between calls are accepted")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    t.same(s.call("shell", command="git config user.name")["content"].strip(), "n")
    p.sh("git config user.name other; git config alias.st status")
    result = s.call("shell", command="git config user.name; git config x.y z; git config alias.st")
    t.true(result["content"].startswith("other\nstatus"), result)
    t.true("held" not in result["details"], result)
    s.end()


@case("sessions: a rebase of the user during an open session")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    s.call("shell", command="true")
    p.sh(VARIANTS["rebasing"])
    result = s.call("shell", command="true")
    t.true("held" not in result["details"], result)
    added = s.call("shell", command="echo 'exec touch other' >>.git/rebase-merge/git-rebase-todo")
    t.true("a rebase" in added["details"]["held"][0]["what"], added)
    s.end()


@case("very many steps that run programs take no time")
def _(t):
    p = Project(t, "")
    p.sh("mkdir -p lib/objects lib/refs lib/rebase-merge; echo 'ref: refs/heads/x' >lib/HEAD; seq -f 'x %.0f' 200000 >lib/rebase-merge/git-rebase-todo")
    before = worked_s()
    run = next_preset(p)
    t.code(run, 0)
    t.true(worked_s() - before < 20 and b"set aside" not in run.err, run)
    run = by_preset(p, "echo 'x other' >>lib/rebase-merge/git-rebase-todo")
    t.true(b"a rebase that runs programs" in run.err, run)


# The user's actions between calls, and the next call, which must not exploit them.
BETWEEN = [
    ("hooks removed", "", "rm -rf .git/hooks", "every_hook .git/hooks"),
    ("hooks removed and made", "", "rm -rf .git/hooks; mkdir .git/hooks", "every_hook .git/hooks"),
    ("hooks elsewhere", "", "git config core.hooksPath .gh; " + HOOK.format(".gh"), "every_hook .gh"),
    ("a work tree removed", "worktree", "git worktree remove --force wt",
     "copy_of_git evil; settings evil/config; mkdir wt; echo \"gitdir: $PWD/evil\" >wt/.git"),
    ("another repository at its path", "nested", "rm -rf nested; git init -q nested", "every_hook nested/.git/hooks"),
    ("a repository", "", "git init -q mine; git -C mine config alias.x '!id'", "settings mine/.git/config; every_hook mine/.git/hooks"),
]

for title, variant, user, script in BETWEEN:
    @case(f"sessions: between calls, {title}")
    def _(t, variant=variant, user=user, script=script):
        p = Project(t, variant)
        s = Serve(p)
        s.call("shell", command="true")
        p.sh(user)
        result = s.call("shell", command=f"PAYLOAD='{p.payload}'\n{PRELUDE}\n{script}")
        p.use_git()
        t.true(not p.escaped(), result)
        s.end()


@case("sessions: between calls, directories of other systems and .cordon removed")
def _(t):
    p = Project(t, "")
    p.sh("mkdir .hg .cordon; echo '[x]' >.hg/hgrc; echo 'project_markers: []' >.cordon/config.yaml")
    s = Serve(p)
    s.call("shell", command="true")
    p.sh("rm -rf .hg .cordon")
    result = s.call("shell", command="mkdir .hg .cordon; echo x >.hg/hgrc; echo x >.cordon/config.yaml")
    t.same({os.path.relpath(h["path"], t.work) for h in result["details"]["held"]}, {".hg/hgrc", ".cordon"}, result)
    s.end()


@case("sessions: changes of the user between calls are kept")
def _(t):
    p = Project(t, "")
    lib = t.directory("lib")
    p.sh(f"git clone -q --bare . {lib}/lib.git")
    s = Serve(p)
    s.call("shell", command="git init -q own")
    for work in ("mkdir sub; git worktree add -q sub/wt2; cd sub/wt2; " + VARIANTS["rebasing"],
                 "git config extensions.worktreeConfig true; git config --worktree alias.x '!id'",
                 f"git -c protocol.file.allow=always submodule --quiet add {lib}/lib.git s; git -C s config alias.x '!id'",
                 "git clone -q . clone; git -C clone config alias.x '!id'; " + HOOK.format("clone/.git/hooks"),
                 "git -C own config alias.x '!id'",
                 "mkdir -p .git/info .hg; echo '*.x diff=y' >.git/info/attributes; echo '[x]' >.hg/hgrc"):
        p.sh(work)
        result = s.call("shell", command="echo x >>a")
        t.true("held" not in result["details"], (work, result))
    t.true(b" s" in p.sh("git submodule status").out, "the entry of the submodule is gone")
    t.same(p.sh("git -C s config core.worktree").out, b"../../../s\n")
    s.end()


@case("sessions: repositories that calls made can be used by later calls")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    for command in ("git init -q n", "cd n && git config user.name x && git config user.email e", "cd n && git remote add o /nowhere && echo x >x && git add x",
                    "cd n && git commit -qm one && git config user.name y && git worktree add -q w", "rm -rf n && git clone -q . n", "cd n && git remote add o /x",
                    "touch n/.git/info/attributes", "echo >n/.git/config.worktree; git -C n config user.name z"):
        result = s.call("shell", command=command)
        t.same((result["details"]["exit_code"], "held" in result["details"]), (0, False), (command, result))
    s.end()


@case("sessions: a directory that becomes a repository in a later call", who="root")
def _(t):
    for i, how in enumerate(("one session", "two")):
        t.work = t.directory(f"p{i}")
        p = Project(t, "", number=i)
        s = Serve(p)
        first = f"PAYLOAD='{p.payload}'\n{PRELUDE}\nmkdir -p l/objects l/refs; echo no >l/HEAD; cp -a .git/objects l; steered l; every_hook l/hooks"
        second = f"echo {p.commit} >l/HEAD"
        s.call("shell", command=first)
        if how == "two":
            s.end()
            s = Serve(p)
        s.call("shell", command="true")
        result = s.call("shell", command=second)
        p.use_git()
        t.true(not p.escaped(), (how, result))
        s.end()


@case("sessions: the contents of a held directory are checked there")
def _(t):
    p = Project(t, "")
    s = Serve(p)
    s.call("shell", command=f"PAYLOAD='{p.payload}'\n{PRELUDE}\nmkdir .cordon; git init -q .cordon/n; settings .cordon/n/.git/config")
    result = s.call("shell", command="true")
    t.true(any(h["path"].endswith("/n/.git/config") for h in result["details"]["held"]), result)
    p.use_git()
    t.true(not p.escaped(), result)
    s.end()


@case("sessions: mounts that end, and new ones, between calls", who="root")
def _(t):
    p = Project(t, "")
    outside = t.directory("mounted")
    there, other = t.directory("work", "there"), t.directory("work", "other")
    s = Serve(p, mounts=f"mount --bind {outside} {there}")
    s.call("shell", command="true")
    inside = ["nsenter", "-t", str(s.process.pid), "-m"]
    t.code(t.run([*inside, "umount", there]), 0)
    t.code(t.run([*inside, "mount", "--bind", outside, other]), 0)
    result = s.call("shell", command="for d in there other; do git init -q $d/x; git -C $d/x config core.fsmonitor id; done")
    t.same({os.path.relpath(h["path"], t.work) for h in result["details"].get("held", [])}, {"there/x/.git/config", "other/x/.git/config"}, result)
    t.true("warnings" not in result["details"], result)
    s.end()


@case("sessions: all mounts that were not searched are listed", who="root")
def _(t):
    p = Project(t, "")
    outside = t.directory("mounted")
    places = [t.directory("work", name) for name in ("m1", "m2")]
    s = Serve(p, mounts=":")
    session = s.begin("echo ready; read x")
    for there in places:
        t.code(t.run(["nsenter", "-t", str(s.process.pid), "-m", "mount", "--bind", outside, there]), 0)
    result = s.call("write_stdin", session_id=session, chars="go\n", yield_time_ms=60000)
    t.true(all(there in result["content"] for there in places), result)
    result = s.call("shell", command="true")
    t.true("warnings" not in result["details"], result)
    s.end()


@case("very many hooks at a very long path do not end a session")
def _(t):
    p = Project(t, "")
    run = by_preset(p, 'd=$(printf "%0200d/" {1..16}); git init -q $d; cd $d/.git/hooks; touch {1..6000}')
    t.code(run, 0)
    t.true(b"set aside" in run.err, run)
    p.sh("test -z \"$(find 0* -path '*/.git/hooks/*' ! -name '*.sample')\"; rm -rf 0*")


@case("very many large settings do not end a session", who="root")
def _(t):
    p = Project(t, "")
    p.sh("git init -q r; { yes '# comment' | head -c 1000000; } >>r/.git/config; for i in $(seq 280); do cp -a r r$i; done")
    for run in (next_preset(p), next_tool(p)):
        t.code(run, 0)
        t.true(b"set aside" not in run.out + run.err, run)


# Killed sessions -------------------------------------------------------------------------------------------------

PLANTS = {
    "a repository": "git init -q new; settings new/.git/config; every_hook new/.git/hooks",
    "commondir": "copy_of_git evil; settings evil/config; echo ../evil >.git/commondir",
    "a .git file": "copy_of_git evil; settings evil/config; mkdir sub; echo 'gitdir: ../evil' >sub/.git",
    "a first hook": "mkdir -p .git/hooks; every_hook .git/hooks",
}


def kill(s):
    s.process.kill()
    s.process.wait()
    s.p.t.killed = True


def cut_off(p, script, seen=None, **more):
    """A session that is killed after a call whose command does not end. `seen`: where its files are visible outside, if elsewhere."""
    p.env["CORDON_HOME"] = p.t.directory(f"cordon-home-{os.path.basename(p.mark)}-{len(p.t.started)}")
    s = Serve(p, **more)
    go, done = f"go-{s.process.pid}", f"done-{s.process.pid}"
    s.call("exec_command", cmd=f"PAYLOAD='{p.payload}'\n{PRELUDE}\nuntil test -e {go}; do sleep 0.01; done; {script}; echo >{done}; sleep 1000",
           yield_time_ms=100)
    inside = ["nsenter", "-t", str(s.process.pid), "-m"] if "mounts" in more else []
    p.t.code(p.t.run([*inside, "touch", os.path.join(p.t.work, go)]), 0)
    deadline = time.monotonic() + 60
    while not os.path.exists(os.path.join(seen or p.t.work, done)):
        p.t.true(time.monotonic() < deadline, "the program in the session did nothing")
        time.sleep(0.01)
    kill(s)


def next_tool(p):
    return p.t.run([p.t.cordon, "tool", "shell", "--json", json.dumps({"command": "true"})], env=p.env)


def next_preset(p):
    return p.t.run([p.t.cordon, "exec", "--preset", "build", "--", "/bin/true"], env=p.env)


def left_at_home(home):
    """Names in $CORDON_HOME. A killed session can't remove its directory for logs: only files in it count."""
    logs = [f for _, _, files in os.walk(os.path.join(home, "logs")) for f in files]
    return [name for name in os.listdir(home) if name != "logs" or logs]


for plant, script in PLANTS.items():
    for name, how in (("tool", next_tool), ("preset", next_preset)):
        @case(f"killed: {plant}, {name} next")
        def _(t, script=script, how=how, plant=plant):
            p = Project(t, "no-hooks" if plant == "a first hook" else "")
            cut_off(p, script)
            run = how(p)
            t.true(b"set aside" in run.out + run.err, f"it is named: {run}")
            p.use_git()
            t.true(not p.escaped(), f"git ran a file that the session left\n{run}")
            t.same(left_at_home(p.env["CORDON_HOME"]), [])
            again = how(p)
            t.true(b"set aside" not in again.out + again.err, f"only once: {again}")


@case("killed: the next session starts above or below")
def _(t):
    for i, (first, then) in enumerate((("inner", "."), (".", "inner"))):
        top = t.work = t.directory(f"top{i}")
        t.directory(f"top{i}", "inner")
        p = Project(t, "", number=i)
        t.work = os.path.normpath(os.path.join(top, first))
        cut_off(p, f"cd {top}/inner; git init -q new; settings new/.git/config; cd - >/dev/null")
        t.work = os.path.normpath(os.path.join(top, then))
        run = next_tool(p)
        t.true(b"set aside" in run.out, run)
        p.use_git()
        t.true(not p.escaped(), run)


@case("killed: running sessions, and those of other trees, are left alone")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    files = os.path.join(p.env["CORDON_HOME"], "repositories")
    s = Serve(p)
    s.call("exec_command", cmd="sleep 1000", yield_time_ms=100)
    name, = os.listdir(files)
    next_tool(p)
    t.same(os.listdir(files), [name])
    kill(s)
    other = t.directory("other")
    t.code(t.run([t.cordon, "tool", "shell", "--json", '{"command": "true"}'], cwd=other, env=p.env), 0)
    t.same(os.listdir(files), [name])
    run = next_tool(p)
    t.true(not os.path.exists(files), "an empty directory is left")
    t.true(b"set aside" not in run.out, "the session had left nothing")


def state_file(t, p, text):
    """A file of a killed session, with only this text."""
    files = os.path.join(p.env["CORDON_HOME"], "repositories")
    name = os.path.join(files, "00000000-0000-4000-8000-000000000000")
    os.makedirs(files, 0o700, exist_ok=True)
    t.own(files)
    with open(name, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(name, 0o600)
    return t.own(name)


@case("killed: an unreadable file is listed and kept for a month")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    head, root = "cordon repositories 2\0", f"R\0{t.work}\0{os.stat(t.work).st_ino}\0000\0000\0"
    for text in ("", "x", head[:-1], head, "cordon repositories 3\0" + root, head + "Q\0", head + root[:-1],
                 head + root + "K\x0099\0a\0001\0001\0000\0\0000\0", head + root + "P\0000\0001\0\0", head + root + "K\x00",
                 head + root + "K\x000\0.git\0001\0001\0000\0\0000\0T\x000\0001\0001\0001\0001\0009\0x\0"):
        name = state_file(t, p, text)
        run = next_tool(p)
        t.same(run.result["status"], "ok", (text, run))
        t.true(name in run.result["content"] and os.path.exists(name), (text, run))
    os.utime(name, (0, 0))
    t.true(name in next_tool(p).result["content"] and not os.path.exists(name), "an old one goes")
    t.true("warning" not in next_tool(p).result["content"], "and is named no more")


@case("killed: a file of another user, or of another directory, is listed and kept")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    ino = os.stat(t.work).st_ino
    for text, uid, words in ((f"{ino}\0000\0000", 4242, "another user"), (f"{ino + 1}\0000\0000", None, "the directory was replaced"),
                             (f"{ino}\0001\0000", None, "the directory was replaced")):
        name = state_file(t, p, f"cordon repositories 2\0R\0{t.work}\0{text}\0")
        if uid and os.getuid() == 0:
            os.chown(name, uid, uid)
        elif uid:
            continue
        run = next_tool(p)
        t.true(words in run.result["content"] and os.path.exists(name), (text, run))
        os.unlink(name)


@case("killed: the project has been moved, temporarily or permanently")
def _(t):
    for i, back in enumerate((True, False)):
        top = t.directory(f"top{i}")
        t.work = t.directory(f"top{i}", "project")
        p = Project(t, "", number=i)
        cut_off(p, PLANTS["a repository"])
        os.rename(t.work, os.path.join(top, "away"))
        other = t.directory(f"other{i}")
        run = t.run([t.cordon, "exec", "--preset", "build", "--", "/bin/true"], cwd=other, env=p.env)
        t.true(b"set aside" not in run.err and b"warning" not in run.err, run)
        if back:
            os.rename(os.path.join(top, "away"), t.work)
        else:
            t.work = p.dir = os.path.join(top, "away")
        run = next_tool(p)
        t.true(b"set aside" in run.out, run)
        p.use_git()
        t.true(not p.escaped(), run)


# Mounts the earlier contents, on a device with a number other than that in the file.
OVERLAY = """
device=$(cat {1}/device 2>/dev/null || :)
for i in $(seq 50); do
  mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=scratch none {0}
  [ "$(stat -c %d {0})" = "$device" ] || break
  umount {0}; mount -t tmpfs none more
done
cd work"""


def restarted(t, p, script, place, where=None):
    """A session that is killed, and the next one, in which a part of the project is on a device with another number."""
    for name in ("upper", "scratch", "more"):
        t.directory(name)
    os.rename(os.path.join(t.top, place), os.path.join(t.top, "lower"))
    t.directory(place)
    overlay = OVERLAY.format(place, where or "work")
    cut_off(p, f"{script}; stat -c %d {t.top}/{place} >device", where, mounts=f"cd {t.top}; {overlay}")
    script = f"stat -c %d {t.top}/{place} >now; cmp -s device now && exit 1; exit 0"
    run = t.run([t.cordon, "tool", "shell", "--json", json.dumps({"command": script})], env=p.env,
                mounts=f"cd {t.top}; {overlay}")
    t.same(run.result["details"]["exit_code"], 0, "the device has the same number: nothing to see here")
    return run


@case("killed: the device has another number after a restart", who="root")
def _(t):
    p = Project(t, "own-hook")
    p.sh("git config alias.x '!id'")
    run = restarted(t, p, PLANTS["a repository"], "work", os.path.join(t.top, "upper"))
    held = run.result["details"].get("held")
    t.true(held and all("/new/" in h["path"] for h in held), run)


@case("killed: another device in the project has another number", who="root")
def _(t):
    p = Project(t, "nested")
    p.sh("git -C nested config alias.x '!id'; " + HOOK.format("nested/.git/hooks"))
    run = restarted(t, p, "true", "work/nested")
    t.true(b"set aside" not in run.out and b"warning" not in run.out, run)


@case("killed: settings that the user replaced while the command ran")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    s = Serve(p)
    script = f"echo ready; until git config -f .git/config core.fsmonitor '{p.payload};false'; do sleep 0.05; done 2>/dev/null; echo >done; sleep 1000"
    s.begin(script)
    # The command's attempts have git's lock from time to time.
    p.sh("for set in 'user.email other' 'alias.st status'; do until git config $set; do sleep 0.01; done; done 2>&-")
    deadline = time.monotonic() + 60
    while not os.path.exists(os.path.join(t.work, "done")):
        t.true(time.monotonic() < deadline, "the mount was not gone: nothing to see here")
        time.sleep(0.01)
    kill(s)
    run = next_tool(p)
    t.true("core.fsmonitor" in run.result["content"], run)
    p.use_git()
    t.true(not p.escaped(), run)
    t.same(p.sh("git config user.email").out, b"other\n")


@case("killed: a rebase of the user with a program is kept")
def _(t):
    p = Project(t, "rebasing")
    cut_off(p, "true")
    run = next_tool(p)
    t.true(b"set aside" not in run.out, run)
    cut_off(p, "echo 'exec touch other' >>.git/rebase-merge/git-rebase-todo")
    run = next_tool(p)
    t.true(b"a rebase that runs programs" in run.out, run)
    p.sh("cp .git/cordon-held/rebase-merge/git-rebase-todo .git/rebase-merge/; sed -i /other/d .git/rebase-merge/git-rebase-todo; "
         "git rebase --continue; test -e ran")


# The user's work after a session that was killed when nothing ran.
OWN_WORK = [
    ("", VARIANTS["rebasing"]),
    ("", "git init -q mine; git -C mine config alias.x '!id'; git -C mine config user.signingkey k; " + HOOK.format("mine/.git/hooks")),
    ("", VARIANTS["submodule"] + "; git config alias.x '!id'; mkdir -p .git/info .cordon; echo '*.x diff=y' >.git/info/attributes; "
     "echo 'project_markers: []' >.cordon/config.yaml"),
    ("hooks-link", "rm .git/hooks; " + HOOK.format(".git/hooks")),
    ("hooks-path-missing", "git checkout -q -b h; " + HOOK.format(".githooks") + "; git add .githooks; git commit -qm h; "
     "git checkout -q -; git checkout -q h"),
]


@case("killed: after a session in which nothing ran, everything is the user's")
def _(t):
    for i, (variant, script) in enumerate(OWN_WORK):
        t.work = t.directory(f"p{i}")
        p = Project(t, variant, number=i)
        p.env["CORDON_HOME"] = t.directory(f"cordon-home{i}")
        s = Serve(p)
        s.call("shell", command="git init -q other")
        s.call("write_file", path="lib/HEAD", content="x")
        kill(s)
        t.same(left_at_home(p.env["CORDON_HOME"]), [])
        p.sh(script)
        run = next_tool(p)
        t.true(b"set aside" not in run.out and b"warning" not in run.out, (script, run))


@case("a session whose state cannot be kept reports it, with the reason")
def _(t):
    p = Project(t, "")
    p.env["CORDON_HOME"] = home = t.directory("cordon-home")
    files = os.path.join(home, "repositories")
    with open(files, "w", encoding="ascii"):
        pass
    for reason in ("Not a directory", "others can write to it"):
        for run in (next_tool(p), next_preset(p)):
            said = run.out + run.err
            t.true(f"cannot store the state of the repositories in {files}: ".encode() in said and reason.encode() in said, run)
            t.true(b"not all directories" not in said, run)
        if os.path.isfile(files):
            os.unlink(files)
            os.mkdir(files)
            t.own(files)
            os.chmod(files, 0o777)


@case("sessions: mounts made in the project while a command runs are not entered", who="root")
def _(t):
    p = Project(t, "")
    outside, there = t.directory("mounted"), t.directory("work", "there")
    os.mkdir(os.path.join(outside, ".cordon"))
    s = Serve(p, mounts=":")
    session = s.begin("echo ready; read x")
    t.code(t.run(["nsenter", "-t", str(s.process.pid), "-m", "mount", "--bind", outside, there]), 0)
    result = s.call("write_stdin", session_id=session, chars="go\n", yield_time_ms=60000)
    t.true(there in result["content"] and "held" not in result["details"], result)
    t.same(os.listdir(outside), [".cordon"])
    s.end()


@case("--explain-policy checks nothing and leaves nothing")
def _(t):
    p = Project(t, "")
    cut_off(p, PLANTS["a repository"])
    files = os.path.join(p.env["CORDON_HOME"], "repositories")
    before = os.listdir(files)
    run = t.run([t.cordon, "exec", "--explain-policy", "--preset", "build", "--", "/bin/true"], env=p.env)
    t.code(run, 0)
    t.same((os.listdir(files), os.path.exists(os.path.join(t.work, "new/.git/hooks/pre-commit")), run.err), (before, True, b""))
    t.true(b"set aside" in next_preset(p).err, "the next session that runs something checks it")


@case("missing settings of the user cannot be created")
def _(t):
    p = Project(t, "")
    p.env["XDG_CONFIG_HOME"] = os.path.join(t.work, "config")
    for script in ("mkdir -p config/git; git config -f config/git/config core.fsmonitor x",
                   "mkdir -p config/cordon; echo 'approval_policy: never' >config/cordon/config.yaml"):
        for how in (by_tool, by_preset):
            run = how(p, script)
            t.true(b"settings of the user" in run.out + run.err, run)
            for path in ("git", "cordon/config.yaml"):
                t.true(not os.path.lexists(os.path.join(t.work, "config", path)), (path, run))


@case("agent: in the default mode, nothing is left that git would run")
def _(t):
    p = Project(t, "")
    commands = [f"PAYLOAD='{p.payload}'\n{PRELUDE}\n{script}" for script in (
        "settings .git/config", "every_hook .git/hooks", "git init -q new; every_hook new/.git/hooks",
        "copy_of_git evil; settings evil/config; echo ../evil >.git/commondir")]
    calls = [{"tool_call": {"name": "shell", "arguments": {"command": c}}} for c in commands]
    calls.append({"tool_call": {"name": "write_file", "arguments": {"path": ".git/hooks/pre-commit", "content": "x"}}})
    script = t.file("script.json", json.dumps({"version": 1, "turns": [
        {"content": calls}, {"repeat": True, "content": [{"text": "done"}]}]}))
    env = {**p.env, "CORDON_HOME": t.directory("cordon-home")}
    run = t.run([t.cordon, "agent", "-p", "go", "--provider", "scripted", "--script", script], env=env)
    t.code(run, 0)
    p.use_git()
    t.true(not p.escaped(), run)


@case("landlock: a changed part is listed and restored, also after a kill")
def _(t):
    p = Project(t, "own-hook")
    hook, attributes = (os.path.join(t.work, ".git", name) for name in ("hooks/pre-commit", "info/attributes"))
    p.sh("mkdir -p .git/info; echo '*.x diff=y' >.git/info/attributes")

    def parts():
        return open(hook, "rb").read(), os.stat(hook).st_mode, open(attributes, "rb").read()
    before = parts()
    script = "echo changed >>.git/hooks/pre-commit; rm -rf .git/info; mkdir other; echo '* filter=x' >other/attributes; ln -s ../other .git/info"
    run = t.run([t.cordon, "exec", "--json", "--preset", "build", "--sandbox", "landlock", "--ack-unsafe-sandbox", "--", "/bin/bash", "-c", script],
                env=p.env)
    t.true({hook, os.path.dirname(attributes)} == {h["path"] for h in run.result["held"]}, run)
    t.true(b"set aside" in run.err, run)
    t.same(parts(), before)
    argv = [t.cordon, "tool", "--serve", "--sandbox", "landlock", "--ack-unsafe-sandbox"]
    cut_off(p, "chmod -x .git/hooks/pre-commit; echo x >.git/hooks/post-commit", argv=argv)
    run = next_tool(p)
    t.same({h["path"] for h in run.result["details"]["held"]}, {hook, os.path.join(t.work, ".git/hooks/post-commit")}, run)
    t.same(parts(), before)


def serve_landlock(p):
    return Serve(p, argv=[p.t.cordon, "tool", "--serve", "--sandbox", "landlock", "--ack-unsafe-sandbox"])


def named(t, answer, seen=()):
    """The files that a result lists, in the project: held, unless seen before, and removed."""
    t.true("details" in answer, answer)
    held = [os.path.relpath(h["path"], t.work) for h in answer["details"].get("held", []) if h["held"] not in seen]
    lines = [w.removeprefix("removed: ") for w in answer["details"].get("warnings", []) if w.startswith("removed: ")]
    return held, [os.path.relpath(line, t.work) for line in lines]


def add_weaker(title, variant, before, steps, after):
    @case(f"landlock: {title}")
    def _(t):
        p = Project(t, variant)
        p.sh(before)
        s = serve_landlock(p)
        seen = []
        for command, *expected in steps:
            if command is USER:
                p.sh(expected[0])
                continue
            answer = s.call("shell", command=command)
            held, removed = named(t, answer, seen)
            t.same((sorted(held), sorted(removed)), tuple(sorted(e) for e in expected), command)
            seen += [h["held"] for h in answer["details"].get("held", [])]
        s.end()
        p.sh(after)


@case("landlock: after a kill, removed files are listed, and unknown ones stay")
def _(t):
    p = Project(t, "own-hook")
    p.sh("mkdir -p .cordon/a/b/c/d/e/f/g/h/i")
    cut_off(p, "rm .git/hooks/pre-commit; echo x >.cordon/new", argv=[t.cordon, "tool", "--serve", "--sandbox", "landlock", "--ack-unsafe-sandbox"])
    t.same(named(t, next_tool(p).result), ([".cordon/new"], [".git/hooks/pre-commit"]))
    t.true(os.path.isdir(os.path.join(t.work, ".cordon/a/b/c/d/e/f/g/h/i")), "it was there")


@case("landlock: a hook that another session held does not come back")
def _(t):
    p = Project(t, "")
    hook = os.path.join(t.work, ".git/hooks/pre-commit")
    argv = [t.cordon, "exec", "--preset", "build", "--sandbox", "landlock", "--ack-unsafe-sandbox", "--", "/bin/bash", "-c"]

    def begin(script, mark):
        process = t.start([*argv, f"{script}; echo >{mark}; until test -e end-{mark}; do sleep 0.01; done"], env=p.env)
        deadline = time.monotonic() + 60
        while not os.path.exists(os.path.join(t.work, mark)):
            t.true(time.monotonic() < deadline, "the command did nothing")
            time.sleep(0.01)
        return process
    first = begin("echo evil >.git/hooks/pre-commit", "first")
    second = begin("true", "second")
    for process, mark in ((first, "first"), (second, "second")):
        t.file(f"end-{mark}")
        run = t.finish(process)
        t.true(not os.path.exists(hook), run)
    t.true(b"removed: " in run.err, run)


@case("settings of very many repositories do not end a session", who="user")
def _(t):
    p = Project(t, "")
    p.sh("mkdir n; git init -q n/0; { cat n/0/.git/config; yes '# a long comment' | head -c 1000000; } >c; mv c n/0/.git/config; "
         "for i in {1..270}; do cp -a n/0 n/$i; done")
    for how in (by_tool, by_landlock):
        run = how(p, "git -C n/270 config --get core.bare")
        t.code(run, 0)
        t.true(b"could be searched" in run.out + run.err, run)


@case("landlock: cordon's own files and settings where the command can write")
def _(t):
    p = Project(t, "")
    inside = t.directory("work", "in")
    os.symlink(inside, os.path.join(t.top, "way"))
    for name in ("git", "cordon"):
        t.directory("work", "in", name)
    rows = [("CORDON_HOME", inside, 3), ("CORDON_HOME", os.path.join(t.work, "not/there"), 3), ("CORDON_HOME", os.path.join(t.top, "way/home"), 3),
            ("XDG_CONFIG_HOME", inside, 3), ("XDG_CONFIG_HOME", os.path.join(t.work, "none"), 0), ("CORDON_HOME", t.directory("state"), 0)]
    for name, value, code in rows:
        q = Project.__new__(Project)
        q.__dict__.update(p.__dict__, env={**p.env, name: value})
        run = by_landlock(q, "true")
        t.code(run, code)
        t.true(code == 0 or value.encode() in run.err, run)
        t.code(by_preset(q, "true"), 0)


@case("landlock: restored files have their owner and mode")
def _(t):
    p = Project(t, "own-hook")
    hook = os.path.join(t.work, ".git/hooks/pre-commit")
    if os.geteuid() == 0 and t.uid is None:
        os.chown(hook, 4321, 4322)
    os.chmod(hook, 0o754)
    before = os.stat(hook)
    s = serve_landlock(p)
    t.same(named(t, s.call("shell", command="rm -f .git/hooks/pre-commit; echo evil >.git/hooks/pre-commit"))[0], [".git/hooks/pre-commit"])
    s.end()
    now = os.stat(hook)
    t.same((now.st_uid, now.st_gid, now.st_mode), (before.st_uid, before.st_gid, before.st_mode))


@case("a .cordon that a command makes does not block anything")
def _(t):
    p = Project(t, "")
    for script in ("mkdir .cordon; echo wrong: 1 >.cordon/config.yaml", "ln -s /nowhere .cordon", "echo x >.cordon"):
        run = by_tool(p, script)
        t.true(b"set aside" in run.out, run)
        t.true(not os.path.lexists(os.path.join(t.work, ".cordon")), script)
        t.code(t.run([t.cordon, "path", "root"], env=p.env), 0)


@case("hard links to protected files are refused")
def _(t):
    p = Project(t, "own-hook")
    for name in ("config", "hooks/pre-commit"):
        os.link(os.path.join(t.work, ".git", name), os.path.join(t.work, "second"))
        t.same(by_tool(p, "true").result["code"], "E_POLICY_DENIED")
        t.code(by_preset(p, "true"), 2)
        os.unlink(os.path.join(t.work, "second"))
    t.code(by_preset(p, "true"), 0)


# Cordon's own configuration ---------------------------------------------------------------------------------------

REWRITE = """
rewrite() { echo changed >"$1"; echo changed >>"$1"; rm -f "$1"; mv -f "$1" "$1.old"; echo changed >n && mv -f n "$1"; ln "$1" hard && echo changed >hard; }
move() { mv "$1" "$1.old" && cp -a "$1.old" "$1"; }
"""


def steer(t, path, script, argv, env=None):
    """Checks that the file is unchanged after an attack from inside."""
    before = open(path, "rb").read()
    run = t.run([*argv, "/bin/bash", "-c", f"{REWRITE}\n{script}; true"], env=env or t.env)
    t.code(run, 0)
    t.same(open(path, "rb").read(), before, run)
    t.same(os.stat(path).st_nlink, 1, run)


def own_policy(t, path):
    with open(path, "w", encoding="ascii") as f:
        json.dump({"policy_version": 4, "fs": {"allowed_write": [t.work], "working_dir": t.work}, "fs_write_unsafe_ack": True,
                   "exec": {"allowed_executables": ["/bin", "/usr/bin"], "allow_shell": True}}, f)
    return t.own(path)


@case("a policy in a directory that it makes writable")
def _(t):
    t.directory("work/a")
    t.directory("work/a/b")
    for name in ("policy.json", "a/b/policy.json"):
        path = own_policy(t, os.path.join(t.work, name))
        for given in (path, name, f"./a/../{name}"):
            steer(t, path, f"rewrite {name}; move a; move a/b; rewrite {name}", [t.cordon, "exec", "--policy", given, "--"])


@case("a policy by a symlink that could be replaced, or with a second name")
def _(t):
    path = own_policy(t, os.path.join(t.work, "policy.json"))
    os.symlink("policy.json", os.path.join(t.work, "link.json"))
    os.symlink(".", os.path.join(t.work, "dir"))
    os.symlink(t.work, os.path.join(t.top, "outside-link"))
    for given, code in (("link.json", 2), ("dir/policy.json", 2), (os.path.join(t.top, "outside-link/policy.json"), 0)):
        t.code(t.run([t.cordon, "exec", "--policy", given, "--", "/bin/true"]), code)
    os.link(path, os.path.join(t.work, "second"))
    t.code(t.run([t.cordon, "exec", "--policy", path, "--", "/bin/true"]), 2)


@case("a policy that no mount can protect is listed as a gap")
def _(t):
    path = own_policy(t, os.path.join(t.work, "policy.json"))
    with open(path, encoding="ascii") as f:
        tree = json.load(f)
    for sandbox, gap in (("landlock", True), ("native", False)):
        tree.update(sandbox=sandbox, sandbox_unsafe_ack=True)
        t.file("policy.json", json.dumps(tree))
        run = t.run([t.cordon, "exec", "--json", "--policy", path, "--", "/bin/true"])
        gaps = run.result["sandbox_report"]["gaps"]
        t.same(any(path in g and "change it" in g for g in gaps), gap, gaps)


def by_record(p, script):
    """On a terminal, without input."""
    master, slave = os.openpty()
    scenario = os.path.join(p.t.directory("recorded"), "r.yaml")
    process = p.t.start([p.t.cordon, "record", "--preset", "build", "-o", scenario, "--", "/bin/bash", "-c", script], env=p.env,
                        stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    with open(master, "rb", buffering=0) as terminal:
        while True:
            try:
                part = terminal.read(65536)
            except OSError:
                break
            seen += part
            if not part:
                break
    run = p.t.finish(process)
    run.out = seen.replace(b"\r\n", b"\n")
    return run


def by_replay(p, script):
    """The recording does nothing, and its replay all of it."""
    artifacts = os.path.join(p.t.work, "recording")
    run = p.t.run([p.t.cordon, "exec", "--preset", "build", "--artifacts", artifacts, "--", "/bin/bash", "-c",
                   f"test -e again || exit 0; {script}"], env=p.env)
    p.t.code(run, 0)
    p.t.file("again")
    return p.t.run([p.t.cordon, "replay", "--artifacts", artifacts, "--ack-unsafe-write", "--ack-unsafe-read", "--ack-unsafe-env"], env=p.env)


for name, how in (("record", by_record), ("replay", by_replay)):
    @case(f"{name}: cordon's own files, and repositories")
    def _(t, how=how):
        p = Project(t, "")
        for name in ("ch", "ch/trust", "xdg", "xdg/git"):
            t.directory("work", name)
        t.file("xdg/git/config", "[x]\ny = z\n")
        p.env.update(XDG_CONFIG_HOME=os.path.join(t.work, "xdg"), CORDON_HOME=os.path.join(t.work, "ch"))
        run = attack(p, how, "echo x >>ch/trust/evil; settings xdg/git/config; git init -q new; settings new/.git/config; touch ran; true")
        t.true(os.path.exists(os.path.join(t.work, "ran")), run)
        t.same(os.listdir(os.path.join(t.work, "ch")), ["trust"], run)
        t.same(os.listdir(os.path.join(t.work, "ch/trust")), [], run)
        t.same(open(os.path.join(t.work, "xdg/git/config"), "rb").read(), b"[x]\ny = z\n", run)
        t.true(b"set aside" in run.out + run.err, run)
        p.use_git()
        t.true(not p.escaped(), run)


@case("a scenario's own policy that can write the project")
def _(t):
    p = Project(t, "")
    path = t.file("s.json", json.dumps({
        "scenario_version": 1,
        "run": {"command": "/bin/bash", "cwd": t.work,
                "args": ["-c", f"PAYLOAD='{p.payload}'\n{PRELUDE}\nsettings .git/config; every_hook .git/hooks; git init -q n; settings n/.git/config; echo end"],
                "policy": {"policy_version": 4, "fs": {"allowed_write": [t.work], "working_dir": t.work}, "fs_write_unsafe_ack": True,
                           "exec": {"allowed_executables": ["/bin", "/usr/bin", "/usr/lib/git-core"], "allow_shell": True}}},
        "steps": [{"action": {"type": "wait", "payload": {"condition": {"type": "process_exited"}}}, "id": "a"}]}))
    run = t.run([t.cordon, "run", path], env=p.env)
    t.code(run, 0)
    p.use_git()
    t.true(not p.escaped(), run)


@case("file tools: the policy, the settings, and git's settings of the user")
def _(t):
    policy = own_policy(t, os.path.join(t.work, "policy.json"))
    home = t.directory("work", "h")
    for name in (".config", ".config/cordon", ".config/git"):
        t.directory("work", "h", name)
    env = {**t.env, "HOME": home, "CORDON_HOME": os.path.join(home, "state")}
    for path in ("policy.json", "h/.config/cordon/config.yaml", "h/.gitconfig", "h/.config/git/config", "h/state/trust/x"):
        for mode in ("restricted", "unrestricted"):
            run = t.run([t.cordon, "tool", "write_file", "--policy", policy, "--fs-mode", mode, "--json",
                         json.dumps({"path": os.path.join(t.work, path), "content": "x"})], env=env)
            t.same(run.result.get("code"), "E_FS_VIOLATION", path)


@case("a tool's policy")
def _(t):
    path = own_policy(t, os.path.join(t.work, "policy.json"))
    run = t.run([t.cordon, "tool", "shell", "--policy", path, "--json", json.dumps(
        {"command": REWRITE + "rewrite policy.json; true"})])
    t.same(run.result["status"], "ok", run)
    t.true(b"changed" not in open(path, "rb").read(), run)


@case("a scenario, its policy and its goldens")
def _(t):
    policy = own_policy(t, os.path.join(t.work, "policy.json"))
    t.file("screen.golden", "hello\n")
    path = t.file("s.json", json.dumps({
        "scenario_version": 1,
        "run": {"command": "/bin/bash", "cwd": t.work, "policy": {"path": policy},
                "args": ["-c", REWRITE + "for f in s.json policy.json screen.golden; do rewrite $f; done 2>/dev/null; clear; echo end; read x"]},
        "steps": [{"id": "a", "action": {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "end"}}}}},
                  {"id": "b", "action": {"type": "text", "payload": {"text": ""}},
                   "assert": [{"type": "screen_matches_golden", "payload": {"file": "screen.golden"}}], "timeout_ms": 100}]}))
    before = {f: open(os.path.join(t.work, f), "rb").read() for f in ("s.json", "policy.json", "screen.golden")}
    run = t.run([t.cordon, "run", path])
    t.code(run, 5)
    for name, bytes_ in before.items():
        t.same(open(os.path.join(t.work, name), "rb").read(), bytes_, run)


@case("the user's settings, and $CORDON_HOME")
def _(t):
    for name in ("xdg", "xdg/cordon", "state", "state/trust"):
        t.directory("work", name)
    for name in ("xdg/cordon/config.yaml", "state/trust/x"):
        t.file(name, "approval: never\n")
    env = {**t.env, "XDG_CONFIG_HOME": os.path.join(t.work, "xdg"), "CORDON_HOME": os.path.join(t.work, "state")}
    for name in ("xdg/cordon/config.yaml", "state/trust/x"):
        path = os.path.join(t.work, name)
        script = f"rewrite {name}; move xdg; move xdg/cordon; move state; rewrite {name}"
        steer(t, path, script, [t.cordon, "exec", "--preset", "build", "--"], env)


# Paths in settings -------------------------------------------------------------------------------------------------

def names_project(t, before, env=None):
    """With paths of the environment in the project; "inner" is then the project, if the user makes one."""
    p = Project(t, "")
    p.env["OUT"] = t.directory("out")
    p.sh(before)
    p.env.update({k: v if k.startswith("GIT_CONFIG_") and k not in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") else os.path.join(t.work, v) for k, v in (env or {}).items()})
    if os.path.isdir(os.path.join(t.work, "inner")):
        t.work = os.path.join(t.work, "inner")
    return p


def add_names(title, ways, before, script, use, env=None, first=None):
    @case(f"control: names: {title}", who="root")
    def _(t):
        p = names_project(t, before, env)
        p.sh(PRELUDE + script, cwd=t.work)
        p.sh(use, check=False)
        t.true(p.escaped(), "the attack does nothing outside, so the test sees nothing")

    other = ("user", "root")[len(CASES) % 2]
    for way, name, how, who in (("P", "preset", by_preset, "both"), ("p", "preset", by_preset, other), ("t", "tool", by_tool, "user"),
                                ("l", "landlock", by_landlock, other)):
        if way not in ways:
            continue

        @case(f"{name}: names: {title}", who=who)
        def _(t, how=how):
            p = names_project(t, before, env)
            if first:
                t.code(how(p, first), 0)
            run = attack(p, how, script)
            t.true(run.code in (0, 6) and not p.escaped(), run)
            p.sh(use, check=False)
            t.true(not p.escaped(), f"git ran a file that the command left\n{run}")


def add_names_work(title, before, script):
    for name, how, who in (("preset", by_preset, "both"), ("landlock", by_landlock, "user")):
        @case(f"{name} works: names: {title}", who=who)
        def _(t, how=how):
            run = how(names_project(t, before), "set -e\n" + script)
            t.code(run, 0)
            t.true(b"set aside" not in run.out + run.err and b"git's settings" not in run.err, run)


def add_large(title, before):
    @case(f"names: {title}", who="user")
    def _(t):
        p = names_project(t, f"git config core.hooksPath .githooks; {before}")
        start = worked_s()
        run = attack(p, by_preset, "every_hook .githooks")
        t.code(run, 0)
        t.true(worked_s() - start < 10 * factor(), "it took too long")
        t.true(b"git's settings name could be protected" in run.err, run)
        p.sh("git commit -q --allow-empty -m next", check=False)
        t.true(not p.escaped(), run)


@case("names: paths that settings in one directory name in another writable one")
def _(t):
    p = names_project(t, "mkdir a_ b_; mv .git a a_; cd a_; git config core.hooksPath ../b_/hk; git config core.fsmonitor ../b_/l/fs; ln -s . ../b_/l")
    dirs = [os.path.join(t.work, d) for d in ("a_", "b_")]
    path = t.file("s.json", json.dumps({
        "scenario_version": 1,
        "run": {"command": "/bin/bash", "cwd": dirs[0],
                "args": ["-c", f"PAYLOAD='{p.payload}'\n{PRELUDE}\ncd ../b_; rm l; mkdir l; hook l/fs; every_hook hk; echo end"],
                "policy": {"policy_version": 4, "fs": {"allowed_write": dirs, "working_dir": dirs[0]}, "fs_write_unsafe_ack": True,
                           "exec": {"allowed_executables": ["/bin", "/usr/bin"], "allow_shell": True}}},
        "steps": [{"action": {"type": "wait", "payload": {"condition": {"type": "process_exited"}}}, "id": "a"}]}))
    run = t.run([t.cordon, "run", path], env=p.env)
    t.code(run, 0)
    t.true(os.path.islink(os.path.join(t.work, "b_/l")), run)
    p.sh("cd a_; git status; git commit -q --allow-empty -m next", check=False)
    t.true(not p.escaped(), run)


@case("names: write_file in other work trees")
def _(t):
    p = names_project(t, "git config core.hooksPath .githooks; git config core.fsmonitor tools/fs; git worktree add -q wt; mkdir origin")
    for path in ("wt/.githooks/pre-commit", ".githooks/x", "tools/fs", "wt/tools/fs"):
        t.same(write(p, path, "x").result["code"], "E_FS_VIOLATION", path)
    for path in ("tools/fs/x", "tools/other", "hooks/x"):
        t.same(write(p, path, "x").result["status"], "ok", path)
    p.sh(ORDINARY)
    for path in ("package-lock.json", "yarn.lock", "main", "src/new.c", "input"):
        t.same(write(p, path, "x").result["status"], "ok", path)


@case("names: in a very deep directory")
def _(t):
    p = Project(t, "")
    deep = "d/" * 1100
    p.sh(f"mkdir -p {deep}")
    t.work = os.path.join(p.dir, deep)
    run = by_preset(p, "echo x >y; cat y")
    t.work = p.dir
    p.sh("rm -rf d")
    t.code(run, 0)


@case("names: the result tells which hook another one in a new work tree differs from")
def _(t):
    p = names_project(t, NAMES_WORK[1][1])
    run = by_preset(p, "git worktree add -q w2; echo true >>w2/.husky/pre-commit")
    t.code(run, 0)
    t.true(f", and different from {t.work}/.husky/pre-commit".encode() in run.err, run)


@case("names: a file that the user accepts while another command runs stays")
def _(t):
    p = names_project(t, "git config core.fsmonitor tools/fs")
    p.env["CORDON_HOME"] = t.directory("cordon-home")
    s = Serve(p)
    s.begin("echo ready; sleep 1000")
    held = s.call("shell", command="mkdir tools; echo true >tools/fs")["details"]["held"]
    t.same([h["path"] for h in held], [t.work + "/tools/fs"])
    t.code(t.run([t.cordon, "trust", "--yes", held[0]["held"]], env=p.env), 0)
    t.true("held" not in s.call("shell", command="test -e tools/fs")["details"], "it is held again")
    s.end()


@case("landlock: --explain-policy and a run have the same result")
def _(t):
    p = Project(t, "")
    argv = [t.cordon, "exec", "--preset", "build", "--sandbox", "landlock", "--ack-unsafe-sandbox"]
    for value, code in ((t.directory("work", "state"), 3), (os.path.join(t.work, "not/there"), 3), (t.directory("state"), 0)):
        p.env["CORDON_HOME"] = value
        for words in (["--explain-policy"], []):
            t.code(t.run([*argv, *words, "--", "/bin/true"], env=p.env), code)
        t.same(os.listdir(value) if os.path.isdir(value) else [], [], "it leaves nothing")


for row in NAMES + rows_remotes.NAMES + rows_commands.NAMES:
    add_names(*row)
for row in NAMES_WORK + rows_remotes.NAMES_WORK + rows_commands.NAMES_WORK:
    add_names_work(*row)
for row in LARGE:
    add_large(*row)
rows_check.CONTINUED += rows_remotes.CONTINUED
rows_check.WRITTEN += rows_remotes.WRITTEN
rows_remotes.add_cases(case, types.SimpleNamespace(**globals()))
rows_check.add_cases(case, types.SimpleNamespace(**globals()))
for row in ATTACKS + rows_check.ATTACKS + rows_index.ATTACKS:
    add_attack(*row)
for row in WORKS + rows_check.WORKS + rows_index.WORKS + rows_remotes.WORKS:
    add_works(*row)
for row in WEAKER:
    add_weaker(*row)


if __name__ == "__main__":
    sys.exit(main())
