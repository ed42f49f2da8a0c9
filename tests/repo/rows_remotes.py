# SPDX-License-Identifier: Apache-2.0
"""Names and numbers that a command chooses and that end as arguments or in a shell's prompt; settings of work trees: rows for protect.py, as in rows_check.py."""
import os

OPTION = '[remote "--upload-pack=%s;:"]\\n'
NESTED = 'git init -q n; git clone -q --bare . src.git; git -C n remote add origin ../src.git; printf \'' + OPTION + '\\turl = ../src.git\\n\\tfetch = +refs/heads/*:refs/remotes/x/*\\n\' "$PAYLOAD" >>n/.git/config'
# A submodule as git makes it, in which an object is missing.
PROMISOR = ('git init -q n; cd n; echo x >f; git add f; git -c user.name=n -c user.email=e commit -qm x; h=$(git rev-parse HEAD); t=$(git rev-parse HEAD^{tree}); '
            'rm -f .git/objects/${t:0:2}/${t:2}; git config remote.origin.url ./src; printf \'' + OPTION + '\\tpromisor = true\\n\' "$PAYLOAD" >>.git/config; cd ..; '
            'mkdir -p .git/modules; mv n/.git .git/modules/n; echo "gitdir: ../.git/modules/n" >n/.git; git config -f .git/modules/n/config core.worktree ../../../n; '
            'git update-index --add --cacheinfo 160000,$h,n')
# git does not wait for the program that it starts for such a fetch.
WAIT = """python3 - {} <<'E'
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)
subprocess.run(["git", *sys.argv[1:]])
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
E"""
# The form of git's documentation that sets PS1, which the shell expands when it draws the prompt.
PROMPT = '. /usr/lib/git-core/git-sh-prompt; __git_ps1 "\\u:\\w" "\\\\\\$ "; : "${PS1@P}"'
STEPS = {"rebase-merge": ("msgnum", "end"), "rebase-apply": ("next", "last")}

CONTINUED = [
    ("a remote called as an option, and an object that is missing", "", PROMISOR, WAIT.format("status"), "test -e $MARK"),
    ("a remote called as an option, and all are fetched", "", NESTED, WAIT.format("-C n fetch --all"), "test -e $MARK"),
    ("a remote called as an option, and all are updated", "", NESTED, WAIT.format("-C n remote update"), "test -e $MARK"),
    ("settings of a work tree: the user's address", "worktree-config", "git config -f .git/config.worktree user.email other@x", ":",
     'test "$(git config user.email)" = other@x'),
    ("settings of a work tree: a remote", "worktree-config", "git config -f .git/config.worktree branch.x.remote /tmp/x", ":", "git config branch.x.remote"),
    ("settings of a new work tree of the user's repository", "worktree-config", "git worktree add -q w2; git -C w2 config --worktree user.email other@x", ":",
     'test "$(git -C w2 config user.email)" = other@x'),
    *((f"a prompt that shows the steps of {dir_}/{name}", "", f"mkdir .git/{dir_}; echo refs/heads/x >.git/{dir_}/head-name; "
       f"echo 2 | tee .git/{dir_}/{files[0]} >.git/{dir_}/{files[1]}; echo \"\\$($PAYLOAD)\" >.git/{dir_}/{name}", PROMPT, "test -e $MARK")
      for dir_, files in STEPS.items() for name in files),
]

WRITTEN = [
    ("rebase-merge/msgnum", "3\n", False), ("rebase-merge/end", "", False), ("rebase-apply/next", "0001\n", False), ("rebase-apply/last", "12", False),
    ("rebase-merge/end", "3 $x\n", True), ("rebase-apply/next", "-1\n", True), ("rebase-apply/last", "1\n`id`\n", True),
]

VARIANTS = {
    "worktree-config-set": "git config extensions.worktreeConfig true; git config --worktree core.pager 'less -R'; mkdir d; echo x >d/x; git add d; git commit -qm d",
}

CMAKE = "git clone -q --no-checkout --config advice.detachedHead=false"
WORKS = [
    ("clones with harmless settings", "", f"{CMAKE} . n; cd n; git -c advice.detachedHead=false checkout -q $(git rev-parse HEAD) --; cd ..; "
     f"{CMAKE} --depth 1 --no-single-branch --config core.autocrlf=input --config gc.auto=0 --config commit.gpgsign=false --config pull.rebase=true file://$PWD m; "
     "git -C m config push.default current; git -C m config core.eol lf; git -C m config lfs.repositoryformatversion 0; git clone -q --no-tags -o my-fork . k; "
     "git -C k remote add -t $(git symbolic-ref --short HEAD) up_stream/2 ..; git -C k fetch -q --all"),
    ("a sparse checkout", "worktree-config-set", "git worktree add -q w2; cd w2; git sparse-checkout set d; git sparse-checkout list | grep -qx d; test \"$(git config core.pager)\" = 'less -R'"),
    ("a sparse checkout for the first time", "worktree-config", "mkdir d e; touch d/x e/x; git add d e; git commit -qm d; git sparse-checkout set d; test ! -e e/x; git sparse-checkout reapply"),
    ("a sparse and partial clone", "", "git config uploadpack.allowFilter true 2>/dev/null || true; git clone -q --filter=blob:none --sparse file://$PWD n; cd n; git sparse-checkout set d; git status --short"),
]

# As in rows_names.py.
MONITOR = "mkdir tools; printf '#!/bin/sh\\n' >tools/fs; chmod +x tools/fs; git config core.fsmonitor "
NAMES = [
    ("a program after options of another", "Ptl", MONITOR + "'timeout -s KILL 5 tools/fs'", "hook tools/fs", "git status"),
    ("a program after options of several", "p", MONITOR + "'env --unset X stdbuf -o L nice -n 1 tools/fs'", "hook tools/fs", "git status"),
    ("a script after options of a shell", "p", "git config core.fsmonitor 'bash -euo pipefail tools/fs'", "hook tools/fs", "git status"),
    ("a script for another shell after options", "p", "git config core.fsmonitor \"bash -euo pipefail -c 'tools/fs'\"", "hook tools/fs", "git status"),
    ("an argument that a script runs", "P", MONITOR + "\"sh -c 'exec \\\"\\$0\\\"' tools/fs\"", "hook tools/fs", "git status"),
    ("a script that a shell reads", "p", MONITOR + "'2>/dev/null sh <tools/fs #'", "hook tools/fs", "git status"),
    ("a program that a variable may replace", "p", MONITOR + "'${NONE:-tools/fs}'", "hook tools/fs", "git status"),
]
NAMES_WORK = [
    ("files that aliases name after options", r"""cat >$HOME/.gitconfig <<'E'
[alias]
	a = !time -p make dist/x.js && sudo -E make src/new.c && env -u X npm test
	b = !sh -c 'git log \"$@\" -- package-lock.json' - src/main.c
	c = !wc -l <package-lock.json && python3 -u manage.py test src/main.c
	d = !git diff 2>/dev/null >dist/x.js && bash -euc 'npx jest --runInBand src/main.c'
	e = "!f() { git log -- \"${1:-src/new.c}\" && npm ci --prefix dist; }; f"
	f = !xargs -0 -n 1 grep -l src/main.c && nice -n 5 make -C src main.c
E
mkdir src; touch package-lock.json src/main.c; git add -A; git commit -qm f""",
     "mkdir dist; for f in package-lock.json src/main.c; do echo x >t; mv t $f; done; echo x >dist/x.js; echo x >src/new.c; git add -A; git commit -qm two"),
]


def add_cases(case, by):
    """`by`: the definitions of protect.py."""

    @case("files of 'git instaweb'")
    def _(t):
        p = by.Project(t, "")
        run = by.by_tool(p, "mkdir .git/gitweb; echo 'system(q(id));' >.git/gitweb/gitweb_config.perl; echo 1 >.git/pid")
        t.same({os.path.relpath(h["path"], t.work) for h in run.result["details"].get("held", [])}, {".git/gitweb", ".git/pid"}, run)
        p.sh("mkdir .git/gitweb; echo mine >.git/gitweb/gitweb_config.perl; echo 1 >.git/pid")
        run = by.by_tool(p, "for f in .git/gitweb/gitweb_config.perl .git/pid; do echo x >$f || echo kept; done")
        t.true(run.result["content"].count("kept") == 2 and "held" not in run.result["details"], run)
