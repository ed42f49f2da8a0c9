# SPDX-License-Identifier: Apache-2.0
"""More ways to make the user's next git command run a program or write a file: rows for protect.py, as in rows.py, and cases."""
import os

ATTACKS = [
    ("new: a HEAD that is larger than what is read of files", "",
     'git init -q new; settings new/.git/config; every_hook new/.git/hooks; cp -a .git lib; steered lib; every_hook lib/hooks; '
     'for h in new/.git/HEAD lib/HEAD; do head -c 2000000 /dev/zero | tr "\\0" "\\n" >>$h; done'),
]

WORKS = []

LANDLOCK = {"new: a HEAD that is larger than what is read of files"}

VARIANTS = {}


def add_cases(case, by):
    """`by`: what protect.py defines."""

    @case("a directory that becomes a repository in a later run")
    def _(t):
        for i, how in enumerate((by.by_landlock, by.by_preset)):
            t.work = t.directory(f"p{i}")
            p = by.Project(t, "hooks-path", number=i)
            # A HEAD without a byte makes no repository; `n` is judged already.
            by.attack(p, how, "git init -q e; settings e/.git/config; every_hook e/.git/hooks; cp -a e n; echo nothing >n/.git/HEAD; "
                      "mv e/.git e/x; : >e/x/HEAD; settings e/x/config")
            p.sh("test ! -e n/.git/hooks/post-commit")
            run = how(p, "echo 'ref: refs/heads/x' >e/x/HEAD; git -C n symbolic-ref HEAD refs/heads/x; test ! -e .githooks/x")
            p.sh("for d in e/x n/.git; do test -e $d/config; ! git config -f $d/config core.fsmonitor; done; "
                 "test -z \"$(ls e/x/hooks n/.git/hooks | grep -v sample | grep post-)\"")
            p.use_git()
            t.true(not p.escaped(), run)
