# SPDX-License-Identifier: Apache-2.0
"""More ways to make the user's next git command run a program or write a file: rows for protect.py, as in rows.py, and cases."""
import json
import os
import shlex

from rows import PRELUDE
import rows_index

ATTACKS = [
    ("new: a HEAD that is larger than what is read of files", "",
     'git init -q new; settings new/.git/config; every_hook new/.git/hooks; cp -a .git lib; steered lib; every_hook lib/hooks; '
     'for h in new/.git/HEAD lib/HEAD; do head -c 2000000 /dev/zero | tr "\\0" "\\n" >>$h; done'),
]

# A branch with a submodule that has not been fetched yet.
WITH_SUB = ("git clone -q --bare . lib.git; echo lib.git >.git/info/exclude; m=$(git symbolic-ref --short HEAD); git checkout -q -b with-sub; "
            "git -c protocol.file.allow=always submodule --quiet add $PWD/lib.git sub; git commit -qm sub; git checkout -q $m; rm -rf sub .git/modules; "
            "git config --remove-section submodule.sub")
FETCH = "git -c protocol.file.allow=always"

WORKS = [
    ("a merge that brings a submodule", "with-sub",
     "git merge -q --ff-only with-sub; test -z \"$(git status --short)\"; git ls-files -s sub | grep -q ^160000"),
    ("a clone with submodules", "with-sub",
     FETCH + " clone -q --recurse-submodules -b with-sub . n; cd n; test -e sub/a; test -z \"$(git status --short)\"; "
     "git submodule status --recursive | grep -q '^ .* sub'; echo x >>a; git -c user.name=n -c user.email=e commit -qam x; git ls-files -s sub | grep -q ^160000"),
    ("a clone, and its submodules later", "with-sub",
     "git clone -q -b with-sub . n; cd n; " + FETCH + " submodule --quiet update --init; cd sub; echo y >>a; "
     "identified() { git -c user.name=n -c user.email=e \"$@\"; }; identified commit -qam y; cd ..; git add sub; identified commit -qm next; "
     "git ls-tree HEAD sub | grep -q $(git -C sub rev-parse HEAD)"),
    ("links of the user's in a repository", "linked-logs",
     "git commit -q --allow-empty -m x; git branch b; git tag t; test -L .git/logs -a -L .git/rr-cache; grep -q . log/refs/heads/b"),
    ("a submodule of the user's that is fetched", "with-sub-known",
     FETCH + " submodule --quiet update; test -e sub/a; cd sub; git checkout -q -b b; git status --short"),
]

LANDLOCK = {"new: a HEAD that is larger than what is read of files", "a merge that brings a submodule", "a clone with submodules"}

VARIANTS = {
    "linked-logs": "mv .git/logs log; ln -s ../log .git/logs; mkdir rr; ln -s ../rr .git/rr-cache; git symbolic-ref HEAD",
    "applying": "m=$(git symbolic-ref --short HEAD); git checkout -q -b side; echo s >a; git commit -qam s; echo d >d; git add d; git commit -qm d; "
                "git checkout -q $m; echo m >a; git commit -qam m; git checkout -q side; git rebase -q --apply $m >/dev/null 2>&1 || true; test -d .git/rebase-apply",
    "with-sub": WITH_SUB,
    "with-sub-known": WITH_SUB + "; git merge -q --ff-only with-sub; git submodule --quiet init",
}

# Unfinished operations of git: title, variant, what a command does to it, the user's next command, and the sign that the attack worked.
# MARK is a file outside; SECRET one that the command cannot read.
CONTINUED = [
    ("options of 'git apply'", "applying", "printf \" '--build-fake-ancestor=%s'\" $MARK >.git/rebase-apply/apply-opt",
     "echo r >a; git add a; git rebase --continue", "test -e $MARK"),
    ("options of 'git apply' by a link", "applying", "printf \" '--build-fake-ancestor=%s'\" $MARK >o; ln -sf ../../o .git/rebase-apply/apply-opt",
     "echo r >a; git add a; git rebase --continue", "test -e $MARK"),
    ("conflicts that are remembered", "", "h=$(printf %040d 7); mkdir -p .git/rr-cache/$h; touch .git/rr-cache/$h/preimage; printf \"$h\\t$SECRET\\0\" >.git/MERGE_RR",
     "git commit -q --allow-empty -m x", "grep -rq secret .git/rr-cache"),
]

WRITTEN_THROUGH = [
    ("a message by a link", "own-hook", "ln -sf $MARK .git/COMMIT_EDITMSG", "git commit -q --allow-empty -m x", "test -e $MARK"),
    ("a log by a link", "", "rm -rf .git/logs/refs/heads; ln -s $(dirname $MARK) .git/logs/refs/heads", "git branch ESCAPED", "test -e $MARK"),
    ("a branch by a link", "", "rm -rf .git/refs/tags; ln -s $(dirname $MARK) .git/refs/tags", "git tag ESCAPED", "test -e $MARK"),
    ("a list of commits by a link", "applying", "ln -sf $MARK .git/rebase-apply/rewritten",
     "echo r >a; git add a; git rebase --continue", "test -e $MARK"),
    ("a message by a link in a work tree", "worktree", "ln -sf $MARK .git/worktrees/wt/COMMIT_EDITMSG; git init -q new; ln -s $MARK new/.git/MERGE_MSG",
     "git -C wt commit -q --allow-empty -m x", "test -e $MARK"),
]

HOOKS_PATH = "git config core.hooksPath .githooks"
COMMIT = "git -C d commit -q --allow-empty -m x"
POINTER = "mkdir -p x/objects x/refs d; echo 'ref: refs/heads/main' >x/HEAD; echo 'gitdir: ../x' >d/.git"
STALE = HOOKS_PATH + "; git worktree add -q d; cp .git/worktrees/d/HEAD h; rm -r .git/worktrees"
RECORD = "h=$(printf %040d 7); mkdir -p .git/rr-cache/$h; touch .git/rr-cache/$h/preimage; record() { printf \"$h\\t$1\\0\"; }; "
COPIED = "grep -rq secret .git/rr-cache"
HIDDEN = 'mkdir -p $OUT/s; echo secret >$OUT/s/key'
PACKED = "git init -q $OUT/o; git -C $OUT/o config user.name n; git -C $OUT/o config user.email e; git -C $OUT/o commit -q --allow-empty -m o; git -C $OUT/o repack -qad; git gc -q; "
DAMAGED = "! git -C $OUT/o fsck"

# A command prepares something that is harmless, and a later one makes it act: title, the user's preparation, the first command, the second, the user's next command, and the sign
# that the attack worked. OUT is a directory outside that the user can write.
LATER = [
    ("a known .git file: its git directory gets a commondir", HOOKS_PATH, "mkdir -p .git/worktrees/d/{objects,refs} d; echo 'ref: refs/heads/main' >.git/worktrees/d/HEAD; "
     "echo 'gitdir: ../.git/worktrees/d' >d/.git", "echo ../.. >.git/worktrees/d/commondir; every_hook d/.githooks", COMMIT, "test -e $MARK"),
    ("a known .git file: its git directory becomes a link", HOOKS_PATH, POINTER, "rm -rf x; ln -s .git x; every_hook d/.githooks", COMMIT, "test -e $MARK"),
    ("a known .git file: a directory on its way is replaced", HOOKS_PATH, "mkdir q; " + POINTER + "; mv x q; echo 'gitdir: ../q/x' >d/.git",
     "mv q q2; mkdir q; ln -s ../.git q/x; every_hook d/.githooks", COMMIT, "test -e $MARK"),
    ("a known .git file: the link leads to a repository outside", PACKED + "git -C $OUT/o config core.hooksPath .githooks", POINTER,
     "rm -rf x; ln -s $OUT/o/.git x; every_hook d/.githooks", COMMIT, "test -e $MARK"),
    ("a known .git file: its git directory is replaced by a repository of the user's", "git init -q u; cd u; " + HOOKS_PATH, POINTER,
     "rm -rf x; mv u/.git x; every_hook d/.githooks", COMMIT, "test -e $MARK"),
    ("a .git file of the user's: the missing git directory is made", STALE, None, "mkdir -p .git/worktrees/d; cp h .git/worktrees/d/HEAD; echo ../.. >.git/worktrees/d/commondir; "
     "every_hook d/.githooks", COMMIT, "test -e $MARK"),
    ("a .git file that leads through a link and back", PACKED + "mkdir $OUT/o/s", None, "mkdir d; ln -s $OUT/o/s l; echo 'gitdir: ../l/../.git' >d/.git", COMMIT,
     "git -C $OUT/o log --format=%s | grep -q x"),
    ("a .git link of the user's: its target is replaced by a link", PACKED + "mkdir r; mv .git r; ln -s r/.git .git; git -C $OUT/o config core.hooksPath .githooks", None,
     "mv r r2; mkdir r; ln -s $OUT/o/.git r/.git; every_hook .githooks", "git commit -q --allow-empty -m x", "test -e $MARK"),
    ("conflicts: a directory of the list becomes a link", HIDDEN, RECORD + "mkdir l; record l/key >.git/MERGE_RR", "rm -r l; ln -s $OUT/s l", "git commit -q --allow-empty -m x", COPIED),
    ("conflicts: a missing directory of the list is made as a link", HIDDEN, RECORD + "record l/key >.git/MERGE_RR", "ln -s $OUT/s l", "git commit -q --allow-empty -m x", COPIED),
    ("conflicts: a file of the list becomes a link", HIDDEN, RECORD + "echo x >f; record f >.git/MERGE_RR", "ln -sf $OUT/s/key f", "git commit -q --allow-empty -m x", COPIED),
    ("conflicts: a link in a linked work tree", HIDDEN + "; git worktree add -q d", None, RECORD + "ln -s $OUT/s d/l; record l/key >.git/worktrees/d/MERGE_RR", COMMIT, COPIED),
    ("conflicts: a list of the user's in a linked work tree", HIDDEN + "; git worktree add -q d; " + RECORD + "echo x >d/key; record key >.git/worktrees/d/MERGE_RR", None,
     "ln -sf $OUT/s/key d/key", COMMIT, COPIED),
    ("conflicts: a link in a submodule", HIDDEN + "; git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git d; git commit -qm sub; "
     "git -C d config user.name n; git -C d config user.email e", None,
     RECORD + "mkdir .git/modules/d/rr-cache; mv .git/rr-cache/$h .git/modules/d/rr-cache; ln -s $OUT/s d/l; record l/key >.git/modules/d/MERGE_RR", COMMIT,
     "grep -rq secret .git/modules/d/rr-cache"),
    ("conflicts: a link beside another .git file", HIDDEN, None, RECORD + "mkdir -p d l; echo 'gitdir: ../.git' >d/.git; ln -s $OUT/s d/l; record l/key >.git/MERGE_RR", COMMIT, COPIED),
    ("a link to the packs of another repository", PACKED, None, "mv .git/objects/pack p; mkdir .git/objects/pack; for i in p/*.pack; do git unpack-objects -q <$i; done; "
     "rmdir .git/objects/pack; ln -s $OUT/o/.git/objects/pack .git/objects/pack", "git gc -q --prune=now", DAMAGED),
    ("a link in the place of a submodule's git directory", PACKED + "git clone -q --bare . lib.git; git config protocol.file.allow always; "
     "git -c protocol.file.allow=always submodule --quiet add $PWD/lib.git d; git commit -qm sub; git submodule --quiet deinit -f d; rm -rf .git/modules", None,
     "mkdir -p .git/modules; ln -s $OUT/o/.git .git/modules/d", "git -c protocol.file.allow=always submodule --quiet update --init --no-fetch", "git -C $OUT/o config core.worktree"),
    ("a link to a directory for lists of packs", PACKED, None, "rm -rf .git/objects/info; ln -s $OUT .git/objects/info", "git repack -qad; git update-server-info", "test -e $OUT/packs"),
]

# Everyday work of people and agents; nothing is set aside.
CONFLICT = ("git checkout -q -B side other; echo s >a; git commit -qam s; git checkout -q -B work other; echo w >a; git commit -qam w; "
            "if git merge side >/dev/null 2>&1; then exit 1; fi; test -s .git/MERGE_RR; ")
USE = [
    CONFLICT + "mkdir d; cd d; git rerere diff >/dev/null",
    "echo r >a; git commit -qam merged; ls .git/rr-cache/*/postimage >/dev/null; git checkout -q -B again work~1; git merge side >/dev/null 2>&1 || true; git checkout -q -f other",
    "git worktree add -q -f w2; git worktree add -q --detach w3; cd w2; echo x >x; git add x; git commit -qm x; cd ..; git worktree move w2 w4; mv w3 w5; git worktree repair w5; rm -r w5; git worktree prune; "
    "git -C w4 status --short; git worktree remove --force w4; git update-ref -d refs/heads/w2; git gc -q; git worktree add -q --detach w6",
    "cd w6; git status --short; git worktree list >/dev/null; git worktree repair",
    FETCH + " submodule --quiet update; cd sub; git checkout -q -B b; echo y >>a; git -c user.name=n -c user.email=e commit -qam y; git gc -q",
    "git clone -q --reference . lib.git c; git clone -q --shared . c2; git -C c gc -q; git -C c2 repack -qad; rm -rf c c2; git repack -qad; git gc -q --prune=now",
]

# Files of such operations: a name, the text that a command writes, and whether it is held.
WRITTEN = [
    ("rebase-apply/apply-opt", "", False), ("rebase-apply/apply-opt", " '-C3' '-p1' '--whitespace=fix' '--exclude=it'\\''s' '--reject'", False),
    ("rebase-apply/apply-opt", " '--unsafe-paths'", True), ("rebase-apply/apply-opt", " '-C3' '--directory' 'x'", True), ("rebase-apply/apply-opt", " -C3", True),
    ("rebase-apply/apply-opt", " '-C3", True), ("rebase-apply/apply-opt", " '--build-fake=x'", True),
    ("rebase-apply/gpg_sign_opt", "-S\n", False), ("rebase-apply/gpg_sign_opt", "-S0xAB1\n", False), ("rebase-apply/gpg_sign_opt", "--keep-cr\n", True),
    ("rebase-merge/gpg_sign_opt", "-Skey@example.org\n", False), ("rebase-merge/gpg_sign_opt", "-S../key\n", True),
    ("sequencer/opts", "[options]\n\tgpg-sign = AB\n\tstrategy = ort\n", False), ("sequencer/opts", "[options]\n\tgpg-sign = /k\n", True),
    ("BISECT_NAMES", " '--' 'src/a'\n", False), ("BISECT_NAMES", " 'a' `id`\n", True), ("BISECT_START", "main\n", False), ("BISECT_START", "--detach\n", True),
    ("MERGE_RR", "7" * 40 + "\tsrc/a\0", True), ("MERGE_RR", "7" * 40 + "\ta\0" + "7" * 40 + "\t../b\0", True), ("MERGE_RR", "7" * 40 + "\tlink/b\0", True),
]


def add_cases(case, by):
    """`by`: the definitions of protect.py."""

    @case("a directory that becomes a repository in a later run")
    def _(t):
        for i, how in enumerate((by.by_landlock, by.by_preset)):
            t.work = t.directory(f"p{i}")
            p = by.Project(t, "hooks-path", number=i)
            # An empty HEAD does not make a repository; `n` has been checked already.
            by.attack(p, how, "git init -q e; settings e/.git/config; every_hook e/.git/hooks; cp -a e n; echo nothing >n/.git/HEAD; "
                      "mv e/.git e/x; : >e/x/HEAD; settings e/x/config")
            p.sh("test ! -e n/.git/hooks/post-commit")
            run = how(p, "echo 'ref: refs/heads/x' >e/x/HEAD; git -C n symbolic-ref HEAD refs/heads/x; test ! -e .githooks/x")
            p.sh("for d in e/x n/.git; do test -e $d/config; test -z \"$(git config -f $d/config core.fsmonitor)\"; done; "
                 "test -z \"$(ls e/x/hooks n/.git/hooks | grep -v sample | grep post-)\"")
            p.use_git()
            t.true(not p.escaped(), run)

    def git_state(p):
        return p.sh("git ls-files -s; git status --short --ignore-submodules=none").out

    @case("sessions: a submodule that a call adds is available to later calls")
    def _(t):
        p = by.Project(t, "with-sub-known")
        s = by.Serve(p)
        for command in ("git checkout -q -b other with-sub && git rm -q --cached sub && git commit -qm without", "git merge -q -s ours with-sub && git reset -q --hard with-sub",
                        FETCH + " submodule --quiet update", "echo x >>a && git commit -qam fix"):
            result = s.call("shell", command=command)
            t.same((result["details"]["exit_code"], "held" in result["details"]), (0, False), (command, result))
        s.end()
        t.true(b"160000" in p.sh("git ls-tree HEAD sub; git -C sub status --short; test -e sub/a").out, "the submodule is in the history")

    @case("entries for repositories that a command makes are removed from the index, all at once")
    def _(t):
        p = by.Project(t, "with-sub-known")
        before = git_state(p)
        make = "identified() { git -c user.name=n -c user.email=e \"$@\"; }; "
        for how in (by.by_preset, by.by_landlock):
            run = how(p, make + "git init -q e; identified -C e commit -q --allow-empty -m x; git add e; h=$(git -C e rev-parse HEAD); mkdir -p e{1..200}/.git; "
                      "printf '160000 %s\\te%s\\n' $(for i in {1..200}; do echo $h $i; done) | git update-index --index-info; "
                      # In place of the submodule, in a directory that is not its own, and at a missing path.
                      "git init -q f; identified -C f commit -q --allow-empty -m x; cp -a f/.git .git/modules-f; rm -rf f/.git; echo 'gitdir: ../.git/modules-f' >f/.git; "
                      "git add f; git update-index --add --cacheinfo 160000,$(git -C f rev-parse HEAD),none")
            t.true(run.err.count(b"set aside") == 1 and b" more)" in run.err, run)
            p.sh("test $(git ls-files -s | grep -c ^160000) = 2; git ls-files none | grep -q .; git rm -q --cached none; rm -rf e* f .git/modules-f")
            t.same(git_state(p), before)
        index = by.by_preset(p, make + "git init -q e; identified -C e commit -q --allow-empty -m x; h=$(git -C e rev-parse HEAD); mkdir -p e{1..1001}/.git; "
                             "printf '160000 %s\\te%s\\n' $(for i in {1..1001}; do echo $h $i; done) | git update-index --index-info")
        t.true(b"very many" in index.err, index)
        p.sh("test -e .git/cordon-held/index; rm -rf e*; git reset -q")
        t.same(git_state(p), before)

    @case("an index that cannot be changed is listed with its reason, and the user's changes are still accepted")
    def _(t):
        p = by.Project(t, "")
        s = by.Serve(p)
        result = s.call("shell", command="git init -q e; git -C e -c user.name=n -c user.email=e commit -q --allow-empty -m x; git add e 2>/dev/null; git update-index --split-index")
        t.true("is split" in result["content"] and "busy" not in result["content"], result)
        p.sh("git config alias.mine status; " + by.HOOK.format(".git/hooks"))
        result = s.call("shell", command="true")
        t.true("is split" in result["content"] and "hooks" not in result["content"], result)
        t.same(p.sh("git config alias.mine; test -e .git/hooks/pre-commit").out, b"status\n")
        s.end()

    @case("all held files are counted, and no name adds a line")
    def _(t):
        p = by.Project(t, "")
        run = by.by_preset(p, "git init -q n; for i in {1..230}; do echo x >n/.git/hooks/$i; done; d=$(printf 'e\\n[warning] FORGED'); git init -q \"$d\"; echo x >\"$d/.git/hooks/y\"")
        t.same(run.err.count(b"set aside] "), 200, run)
        t.true(b"31 more files, which are not listed, were set aside" in run.err, run)
        t.true(all(not line.startswith(b"[warning]") for line in run.err.split(b"\n")), run)
        s = by.Serve(p)
        result = s.call("shell", command="d=$(printf 'e\\n[set aside] FORGED'); git init -q \"$d\"; echo x >\"$d/.git/hooks/y\"; d=$(printf 'f\\ng'); mkdir \"$d\"; git init -q \"$d\"; "
                        "git -C \"$d\" config alias.x y")
        lines = result["content"].split("\n")
        t.same(len([line for line in lines if line.startswith("[set aside]")]), 2, result)
        t.same({os.path.relpath(h["path"], t.work) for h in result["details"]["held"]}, {"e\n[set aside] FORGED/.git/hooks/y", "f\ng/.git/config"}, result)
        s.end()

    for title, variant, plant, user, seen in CONTINUED + WRITTEN_THROUGH:
        @case(f"continued: {title}")
        def _(t, variant=variant, plant=plant, user=user, seen=seen):
            for i, how in enumerate((None, by.by_tool, by.by_preset, by.by_landlock)):
                t.work = t.directory(f"p{i}")
                p = by.Project(t, variant, number=i)
                p.env.update(MARK=p.mark, SECRET=os.path.join(os.path.dirname(p.mark), "secret"))
                p.sh("echo secret >$SECRET")
                words = f"MARK={p.mark} PAYLOAD='{p.payload}' SECRET={p.env['SECRET']}; {plant}"
                run = how(p, words) if how else p.sh(words)
                p.sh(user, check=False)
                t.same(p.sh(seen, check=False).code == 0, how is None, run)

    def later(t, how, rows):
        """All rows at once, each in a repository of its own; returns the titles of those that worked."""
        p = by.Project(t, "")
        def every(steps):
            lines = ["(cd {0}; export OUT={1}/{0} MARK={1}/{0}/ESCAPED PAYLOAD='touch {1}/{0}/ESCAPED'\n{2}\n)".format(f"r{i}", os.path.dirname(p.mark), step)
                     for i, step in enumerate(steps) if step]
            return PRELUDE + "\n" + "\n".join(lines)
        p.sh(f"for i in {{0..{len(rows) - 1}}}; do mkdir r$i {os.path.dirname(p.mark)}/r$i; cp -a .git a r$i; done")
        p.sh("set +e\n" + every([row[1] for row in rows]))
        runs = []
        for steps in ([row[2] for row in rows], [row[3] for row in rows]):
            runs.append(how(p, every(steps)) if how else p.sh("set +e\n" + every(steps), check=False))
        p.sh("set +e\n" + every([row[4] for row in rows]), check=False)
        seen = p.sh("set +e\n" + every([f"if {row[5]}; then echo SEEN {i}; fi" for i, row in enumerate(rows)]), check=False)
        return [rows[int(line.split()[1])][0] for line in seen.out.decode().splitlines() if line.startswith("SEEN ")], runs

    for name, how, who in (("control", None, "root"), ("preset", by.by_preset, "root"), ("tool", by.by_tool, "user"), ("landlock", by.by_landlock, "user")):
        for more, rows in (("", LATER), (", indexes and work trees", rows_index.LATER)):
            @case(f"{name}: later commands{more}", who=who)
            def _(t, how=how, rows=rows):
                worked, runs = later(t, how, rows)
                t.same(sorted(set(worked) ^ {row[0] for row in rows if not how}), [], runs)

    for name, how, who in (("preset", by.by_preset, "user"), ("landlock", by.by_landlock, "root")):
        @case(f"{name} works: later commands in work trees, submodules, conflicts and shared objects", who=who)
        def _(t, how=how):
            p = by.Project(t, "with-sub-known")
            p.sh("git config rerere.enabled true; git config core.hooksPath .githooks; git worktree add -q mine; git branch other")
            for script in USE:
                run = how(p, "set -e\n" + script)
                t.code(run, 0)
                t.true(b"set aside" not in run.err and b"cordon: warning" not in run.err, run)
            p.sh("git worktree move mine mine2; git worktree move w6 w7; git worktree remove w7; git worktree remove mine2; git worktree add -q mine; "
                 f"git submodule --quiet deinit -f sub; {FETCH} submodule --quiet update --init; git fsck --no-progress")

    @case("a new work tree's gitdir names a .git that leads back, or nothing")
    def _(t):
        p = by.Project(t, "")
        out = os.path.dirname(p.mark)
        script = ""
        for i, (text, held) in enumerate(rows_index.BACKS):
            relative = "git config extensions.relativeWorktrees true; " if text.startswith("..") and not held else ""
            script += (f"(git init -q r{i}; cd r{i}; W=$PWD/w OUT={out}; mkdir w v; {rows_index.ADMIN} echo \"gitdir: $PWD/.git/worktrees/x\" >w/.git; {relative}"
                       f"echo 'gitdir: ../.git' >v/.git; echo \"{text}\" >.git/worktrees/x/gitdir)\n")
        run = by.by_tool(p, script)
        held = {os.path.relpath(h["path"], t.work) for h in run.result["details"].get("held", [])}
        t.same(held, {f"r{i}/.git/worktrees/x/gitdir" for i, (_, bad) in enumerate(rows_index.BACKS) if bad}, run)

    @case("conflicts: files that the user has resolved stay in the list, and those that a command resolves do not")
    def _(t):
        p = by.Project(t, "")
        p.sh("git config rerere.enabled true; echo b >b; git add b; git commit -qm b; for n in side work; do git checkout -q -B $n $(git rev-list -n 1 --grep=b --all); "
             "for f in a b; do echo $n >$f; done; git commit -qam $n; done; git merge side >/dev/null 2>&1 && exit 1; test -s .git/MERGE_RR; echo r >a; git add a")
        run = by.by_tool(p, "git status --short; echo x >x; git add x")
        t.same((run.result["details"]["exit_code"], "held" in run.result["details"]), (0, False), run)
        run = by.by_tool(p, "echo r >b; git add b; git commit -qm merged; test -e .git/rr-cache/*/postimage")
        t.same("held" in run.result["details"], False, run)
        p.sh("git reset -q --hard HEAD~1; rm -r .git/rr-cache/*; git merge side >/dev/null 2>&1 && exit 1; test -s .git/MERGE_RR")
        run = by.by_tool(p, "echo r >b; git add b")
        t.same([os.path.relpath(h["path"], t.work) for h in run.result["details"]["held"]], [".git/MERGE_RR"], run)
        p.sh("echo r >a; git commit -qam merged")

    @case("an index of the user's that git would refuse stays until a command changes it")
    def _(t):
        p = by.Project(t, "craft")
        p.sh("git worktree add -q w; git update-index --split-index; git clone -q --bare . b; for d in .git/worktrees/w b; do echo damaged >$d/index; done; "
             "git init -q n; echo nothing >n/.git/HEAD; echo damaged >n/.git/index")
        run = by.by_tool(p, "git status --short; echo x >x; git add x; touch n/.git/index")
        t.same((run.result["details"]["exit_code"], "held" in run.result["details"]), (0, False), run)
        run = by.by_tool(p, "for d in .git/worktrees/w b; do echo other >$d/index; done; python3 craft.py .git/index --split 100644:.git/hooks/x:a")
        held = {os.path.relpath(h["path"], t.work) for h in run.result["details"].get("held", [])}
        t.same(held, {".git/index", ".git/worktrees/w/index", "b/index"}, run)
        t.true(b"x\n" in p.sh("git reset -q; git ls-files -o; git status --short").out, run)

    @case("killed: a known .git file leads elsewhere", who="user")
    def _(t):
        p = by.Project(t, "")
        p.sh(POINTER + "; " + HOOKS_PATH + "; git worktree add -q mine")
        by.cut_off(p, "rm -rf x; ln -s .git x; every_hook d/.githooks")
        run = by.next_tool(p)
        held = {os.path.relpath(h["path"], t.work) for h in run.result["details"].get("held", [])}
        t.true("d/.git" in held and "mine/.git" not in held, run)
        p.sh(COMMIT, check=False)
        t.true(not p.escaped(), run)

    @case("gitlinks of the user's stay known beside very many of a command's", who="user")
    def _(t):
        p = by.Project(t, "with-sub-known")
        t.code(by.by_preset(p, "git init -q --bare 0; cd 0; h=$(printf %040d 7); printf \"160000 $h\\tz%s\\n\" {1..10001} | git update-index --index-info; test -s index"), 0)
        run = by.by_preset(p, "git init -q e; true")
        t.true(run.code == 0 and b"warning" not in run.err and b"set aside" not in run.err, run)
        p.sh("git ls-files -s sub | grep -q ^160000")

    @case("continued: files that git itself writes stay")
    def _(t):
        p = by.Project(t, "applying")
        for i, (name, text, _) in enumerate(WRITTEN):
            dir_ = os.path.join(t.work, f"r{i}", ".git")
            os.makedirs(os.path.join(dir_, os.path.dirname(name)))
            os.symlink("/", os.path.join(t.work, f"r{i}", "link"))
            t.own(os.path.join(t.work, f"r{i}")), t.own(dir_), t.own(os.path.dirname(os.path.join(dir_, name)))
        script = "".join(f"printf %b {shlex.quote(text.replace(chr(0), chr(92) + '0000'))} >r{i}/.git/{name}; " for i, (name, text, _) in enumerate(WRITTEN))
        run = by.by_tool(p, script)
        held = {os.path.relpath(h["path"], t.work) for h in run.result["details"].get("held", [])}
        t.same(held, {f"r{i}/.git/{name}" for i, (name, _, bad) in enumerate(WRITTEN) if bad}, run)
        p.sh("echo r >a; git add a; git rebase --continue")

    @case("settings of new repositories and of other systems that run programs")
    def _(t):
        p = by.Project(t, "")
        p.sh("mkdir -p .jj/repo/store ws/.jj keep/.jj/repo; echo ../../../.git >.jj/repo/store/git_target; echo ../../.jj/repo >ws/.jj/repo; mkdir .pijul; echo '[hooks]' >.pijul/config")
        s = by.Serve(p)
        # Files that they write themselves stay, and they can work.
        result = s.call("shell", command="mkdir -p new/.jj/repo/store/git w2/.jj new/.pijul/changes; echo git >new/.jj/repo/store/git_target; git init -q --bare new/.jj/repo/store/git; "
                        "echo ../../new/.jj/repo >w2/.jj/repo; echo x >.jj/repo/op; echo x >keep/.jj/repo/op; git init -q b; git -C b remote add o https://o.invalid/x; "
                        "git -C b config branch.main.remote o; git -C b config branch.other.remote .; git -C b config submodule.s.update merge")
        t.same((result["details"]["exit_code"], "held" in result["details"]), (0, False), result)
        result = s.call("shell", command="mkdir .e; mv keep/.jj/repo .e/r; echo ../../.e/r >keep/.jj/repo; echo x >.e/r/config.toml; echo /etc >w2/.jj/repo; "
                        "echo ../../../../.e >new/.jj/repo/store/git_target; echo '[hooks]' >new/.pijul/config; echo x >.jj/workspace-config.toml; "
                        "rm -f ws/.jj/repo .jj/repo/store/git_target .pijul/config; mkdir -p l/.jj; ln -s ../../.e/r l/.jj/repo; "
                        "for k in branch.main.remote extensions.partialClone; do git init -q c$k; git -C c$k config $k 'ext::sh -c id'; done; git -C b config submodule.s.update '!id'")
        t.same({os.path.relpath(h["path"], t.work) for h in result["details"]["held"]},
               {"keep/.jj/repo", "w2/.jj/repo", "new/.jj/repo/store/git_target", "new/.pijul/config", ".jj/workspace-config.toml", "l/.jj/repo",
                "cbranch.main.remote/.git/config", "cextensions.partialClone/.git/config", "b/.git/config"}, result)
        t.true(os.path.isfile(os.path.join(t.work, "ws/.jj/repo")) and os.path.isfile(os.path.join(t.work, ".pijul/config")), "they were there")
        s.end()

    @case("names on a case-insensitive file system", who="root")
    def _(t):
        p = by.Project(t, "")
        image, top = os.path.join(t.top, "image"), t.directory("work", "ci")
        script = (f"truncate -s 16M {image} && mkfs.ext4 -q -O casefold -E encoding=utf8 {image} && mount -o loop {image} {top} && mkdir {top}/d && "
                  f"chattr +F {top}/d && mkdir {top}/d/x {top}/d/X/.GIT || exit 77; rm -r {top}/d/x")
        if t.run(["/bin/true"], mounts=script).code == 77:
            print("# no file system here ignores case: nothing to see")
            return
        command = (f"PAYLOAD=id\n{PRELUDE}\ncd ci/d; git init -q new; settings new/.git/config; mv new/.git new/g; mv new/g new/.GIT; "
                   "git init -q --bare b; every_hook b/hooks; mv b/HEAD b/h; mv b/h b/Head; mv b/refs b/r; mv b/r b/REF\u017f")
        run = t.run([t.cordon, "tool", "shell", "--json", json.dumps({"command": command})], env=p.env, mounts=script)
        held = {os.path.relpath(h["path"], t.work) for h in run.result["details"].get("held", [])}
        t.true({"ci/d/new/.git/config", "ci/d/b/hooks/post-commit"} <= held, run)

    @case("a project whose names are a repository's in another case")
    def _(t):
        p = by.Project(t, "")
        run = by.by_tool(p, "mkdir -p p/Objects p/REFS p/hooks q/.GIT/hooks r/\u017f; echo ref: refs/heads/x >p/Head; touch p/hooks/a q/.GIT/hooks/pre-commit; git status --short >/dev/null")
        t.same((run.result["details"]["exit_code"], "held" in run.result["details"]), (0, False), run)
