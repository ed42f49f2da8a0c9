# SPDX-License-Identifier: Apache-2.0
"""Ways to make the user's next git command run a program: rows for protect.py.

A row is (title, variant of the project, script). The script runs in the project by bash; $PAYLOAD is a command
that leaves a mark outside, which the sandbox itself cannot do. `HOOK` and `SET` are functions of the prelude.
"""

PRELUDE = r"""
hook() { rm -rf "$1"; mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\n%s\n' "$PAYLOAD" >"$1"; chmod +x "$1"; }
every_hook() { for h in pre-commit post-commit post-checkout post-index-change reference-transaction pre-auto-gc; do hook "$1/$h"; done; }
settings() { git config -f "$1" core.fsmonitor "$PAYLOAD;false"; }
steered() { git config -f "$1/config" core.bare false; git config -f "$1/config" core.worktree "$PWD"; settings "$1/config"; }
identified() { git -c user.name=n -c user.email=e "$@"; }
copy_of_git() { cp -a .git "$1" && rm -f "$1"/index.lock; }
"""

# A program that git runs as the merge strategy `x/run`.
STRATEGY = r"""mkdir git-merge-x; printf '#!/bin/sh\n%s\n' "$PAYLOAD" >git-merge-x/run; chmod +x git-merge-x/run; """

# Variants: see protect.py.
ATTACKS = [
    ("config: a monitor", "", 'settings .git/config'),
    ("config: written through a copy and renamed", "", 'cp .git/config c; settings c; mv -f c .git/config'),
    ("config: by another name", "", 'ln .git/config c || ln .git/config .git/c; for f in c .git/c; do test ! -e $f || printf "[core]\\n\\tfsmonitor = \\"%s;false\\"\\n" "$PAYLOAD" >>$f; done'),
    ("config: removed and made again", "", 'rm -f .git/config; settings .git/config'),
    ("config: a link in its place", "", 'settings evil; cat .git/config >>evil; rm -f .git/config && ln -s ../evil .git/config'),
    ("config: an included file", "include", 'settings included.gitconfig'),
    ("config: an included file that is not there", "include-missing", 'settings included.gitconfig'),
    ("config.worktree", "worktree-config", 'settings .git/config.worktree'),
    ("hooks: a new one", "", 'every_hook .git/hooks'),
    ("hooks: the directory replaced", "", 'mv .git/hooks .git/h; every_hook .git/hooks'),
    ("hooks: a directory that is not there", "no-hooks", 'every_hook .git/hooks'),
    ("hooks: a link in their place", "no-hooks", 'every_hook evil; ln -s ../evil .git/hooks'),
    ("hooks: where the settings say", "hooks-path", 'every_hook .githooks'),
    ("hooks: where the settings say, not there yet", "hooks-path-missing", 'every_hook .githooks'),
    ("hooks: where the user's own settings say", "user-hooks-path", 'every_hook .userhooks'),
    ("hooks: a file that a hook links to", "linked-hook", 'hook scripts/check'),
    ("hooks: the directory is a link", "hooks-link", 'rm .git/hooks; every_hook .git/hooks; every_hook shared-hooks'),
    ("commondir", "", 'copy_of_git evil; settings evil/config; echo ../evil >.git/commondir'),
    ("commondir: of a work tree", "worktree",
     'copy_of_git evil; settings evil/config; echo ../../../evil >.git/worktrees/wt/commondir'),
    ("the repository moved away", "", 'mv .git g; cp -a g .git; settings .git/config'),
    ("the repository exchanged", "", 'copy_of_git evil; settings evil/config; mv .git old; mv evil .git'),
    ("a repository further down", "nested", 'settings nested/.git/config; every_hook nested/.git/hooks'),
    ("a repository further down moved away", "nested",
     'mv nested n; cp -a n nested; settings nested/.git/config'),
    ("a submodule's settings", "submodule", 'settings .git/modules/sub/config; every_hook .git/modules/sub/hooks'),
    ("a submodule's .git file", "submodule",
     'cp -a .git/modules/sub evil; git config -f evil/config --unset core.worktree; settings evil/config; '
     'rm -f sub/.git; echo "gitdir: ../evil" >sub/.git'),
    ("a submodule's directory moved away", "submodule",
     'mv sub s; git init -q sub; settings sub/.git/config'),
    ("a work tree's .git file", "worktree",
     'copy_of_git evil; settings evil/config; rm -f wt/.git; echo "gitdir: $PWD/evil" >wt/.git'),
    ("a bare repository", "bare", 'steered bare.git; every_hook bare.git/hooks'),
    ("a .git that is a link", "git-link",
     'rm .git; cp -a real.git .git; settings .git/config'),
    # Repositories created by the command.
    ("new: a monitor", "", 'git init -q new; settings new/.git/config'),
    ("new: hooks", "", 'git init -q new; every_hook new/.git/hooks'),
    ("new: an included file", "", 'git init -q new; settings new/inc; git -C new config include.path ../inc'),
    ("new: a conditional include", "",
     'git init -q new; settings new/inc; git -C new config "includeIf.gitdir:/.path" "$PWD/new/inc"'),
    ("new: hooks elsewhere", "", 'git init -q new; every_hook new/h; git -C new config core.hooksPath h'),
    ("new: a filter", "",
     'git init -q new; cd new; git config filter.x.clean "$PAYLOAD;cat"; echo "* filter=x" >.gitattributes; touch a'),
    ("new: odd spelling of settings", "",
     r'''git init -q new; printf '[core]fsmonitor="%s;\\\nfalse"\n' "$PAYLOAD" >>new/.git/config'''),
    ("new: settings for work trees", "",
     'git init -q new; git -C new config extensions.worktreeConfig true; settings new/.git/config.worktree'),
    ("new: an entry in the index around it", "",
     'git init -q new; cd new; identified commit -q --allow-empty -m x; cd ..; git add new; settings new/.git/config'),
    ("new: an entry in an index whose place for such things is taken", "",
     'git init -q new; cd new; identified commit -q --allow-empty -m x; cd ..; git add new; settings new/.git/config; '
     'mkdir -p .git/cordon-held/gitlinks; chmod 555 .git'),
    ("new: settings that can't be moved aside easily", "",
     'git init -q new; settings new/.git/config; every_hook new/.git/hooks; echo x >new/.git/cordon-held; '
     'chmod 555 new/.git new/.git/hooks'),
    ("new: a link where things are put aside", "",
     'git init -q new; settings new/.git/config; every_hook new/.git/hooks; ln -s hooks new/.git/cordon-held'),
    ("new: an inaccessible directory in place of cordon-held", "",
     'git init -q new; settings new/.git/config; mkdir -m 0 new/.git/cordon-held'),
    ("new: a bare layout by hand", "",
     'mkdir -p lib/objects lib/refs; git -C . rev-parse HEAD >lib/HEAD; cp -a .git/objects lib; steered lib; every_hook lib/hooks'),
    ("new: a bare layout that is a link away", "",
     'copy_of_git evil; every_hook evil/hooks; mkdir lib; echo "ref: refs/heads/x" >lib/HEAD; echo ../evil >lib/commondir'),
    ("new: a .git file", "", 'copy_of_git evil; settings evil/config; mkdir n; echo "gitdir: ../evil" >n/.git'),
    ("new: a .git link", "", 'copy_of_git evil; settings evil/config; mkdir n; ln -s ../evil n/.git'),
    ("new: deep below", "",
     'd=$(printf "d/%.0s" {1..40}); mkdir -p $d; git init -q $d/new; settings $d/new/.git/config'),
    ("new: in the objects of a bare layout", "",
     'mkdir -p lib/objects lib/refs; echo "ref: refs/heads/x" >lib/HEAD; git init -q lib/objects/n; '
     'identified -C lib/objects/n commit -q --allow-empty -m x; git add lib/objects/n; settings lib/objects/n/.git/config'),
    ("new: a work tree's settings", "worktree-config",
     'git worktree add -q w2; settings .git/worktrees/w2/config.worktree'),
    ("new: a directory closed to its owner", "",
     'git init -q new; cd new; identified commit -q --allow-empty -m x; cd ..; git add new; settings new/.git/config; chmod 111 new'),
    ("new: hooks closed to their owner", "", 'git init -q new; every_hook new/.git/hooks; chmod 111 new/.git/hooks'),
    ("new: very many hooks", "",
     'git init -q new; (cd new/.git/hooks; touch {1..1500}.sample); every_hook new/.git/hooks'),
    ("hooks: settings name a link", "hooks-path-link", 'rm .githooks; every_hook .githooks'),
    ("hooks: a link in the middle", "linked-hook-twice", 'rm scripts/middle; hook scripts/middle'),
    ("hooks: a link to what is not there", "dangling-hook", 'hook scripts/none'),
    ("hooks: user's own settings by a link", "user-hooks-path-link", 'every_hook .userhooks'),
    ("hooks: user's own settings include others", "user-hooks-path-include", 'every_hook .userhooks'),
    ("config: an include of an include", "include-twice", 'settings second.gitconfig'),
    ("a submodule called objects", "submodule-objects",
     'git config -f .git/modules/lib/objects/config core.worktree ../../../../lib/objects; '
     'settings .git/modules/lib/objects/config'),
    ("a rebase that runs a program", "",
     'printf "break\\nexec %s\\n" "$PAYLOAD" >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD || true; test -d .git/rebase-merge'),
    ("a rebase that runs a program, short and indented", "",
     'printf "break\\n \\tx %s\\n" "$PAYLOAD" >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD || true; test -d .git/rebase-merge'),
    ("a rebase of the user's gets another program", "rebasing",
     'test -d .git/rebase-merge; printf "exec %s\\n" "$PAYLOAD" >.git/rebase-merge/git-rebase-todo'),
    ("a rebase by hand, a link as its list", "",
     'printf "break\\nexec %s\\n" "$PAYLOAD" >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD || true; '
     'cd .git/rebase-merge; mv git-rebase-todo ../../t; ln -s ../../t git-rebase-todo'),
    ("a rebase by hand, a link as its directory", "",
     'printf "break\\nexec %s\\n" "$PAYLOAD" >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD || true; '
     'mv .git/rebase-merge rm; ln -s ../rm .git/rebase-merge'),
    ("a rebase whose strategy is a program", "",
     STRATEGY + 'echo b >b; git add b; git commit -qm two; printf "break\\npick %s\\n" $(git rev-parse HEAD) >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD~1 || true; '
     'echo x/run >.git/rebase-merge/strategy'),
    ("a rebase whose strategy is a link", "",
     STRATEGY + 'echo b >b; git add b; git commit -qm two; printf "break\\npick %s\\n" $(git rev-parse HEAD) >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD~1 || true; '
     'echo x/run >s; ln -s ../../s .git/rebase-merge/strategy'),
    ("a rebase of the user's gets a strategy", "rebasing-pick", STRATEGY + 'echo x/run >.git/rebase-merge/strategy'),
    ("a cherry-pick whose strategy is a program", "picking", STRATEGY + 'printf "[Options]\\n\\tSTRATEGY = \\"x/run\\"\\n" >>.git/sequencer/opts'),
    ("a cherry-pick in a directory that is a link", "picking",
     STRATEGY + 'git config -f .git/sequencer/opts options.strategy x/run; mv .git/sequencer seq; ln -s ../seq .git/sequencer'),
    ("husky's scripts", "husky", 'hook .husky/pre-commit'),
    ("a filter in the tree", "filter", 'hook tools/clean; echo x >b'),
    ("config: names in very many directories", "",
     'for i in $(seq 150); do mkdir -p $(printf "%0245d/" {1..12})$i/.git; done 2>/dev/null; '
     'git init -q new; cd new; identified commit -q --allow-empty -m x; cd ..; git add new; settings new/.git/config'),
]

# Commands that must still work in the project.
WORKS = [
    ("commit, branch, tag", "", 'echo x >x; git add x; git commit -qm c; git branch b; git tag t; git log --oneline -1; '
     'test "$(git rev-list --count HEAD)" = 2; git rev-parse -q --verify b; git rev-parse -q --verify t'),
    ("stash", "", 'echo y >>a; git stash -q; git stash list | grep -q WIP; git stash pop -q; git diff --quiet && exit 1; true'),
    ("checkout and merge", "", 'git checkout -q -b f; echo f >f; git add f; git commit -qm f; git checkout -q -; git merge -q f'),
    ("rebase and cherry-pick", "",
     'm=$(git symbolic-ref --short HEAD); git checkout -q -b f; echo f >f; git add f; git commit -qm f; '
     'git checkout -q "$m"; echo g >g; git add g; git commit -qm g; git checkout -q f; git rebase -q "$m"; git log --oneline | wc -l'),
    ("a rebase of the user's with a program", "rebasing", 'git rebase --continue; test -e ran'),
    ("a rebase of the user's with very many steps", "rebasing-long", 'test -d .git/rebase-merge; echo x >x'),
    ("a rebase that waits", "", 'echo break >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD; git rebase --abort'),
    ("a rebase of the user's with a strategy of theirs", "rebasing-strategy", 'test -s .git/rebase-merge/strategy; echo x >x'),
    ("a rebase and a cherry-pick with strategies of git's own", "picking",
     'git cherry-pick --abort; echo break >todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i -s ort HEAD~1; test -s .git/rebase-merge/strategy; '
     'git rebase --abort; m=$(git for-each-ref --format="%(refname:short)" refs/heads | grep -v other); '
     'git cherry-pick --strategy=recursive $m~1 $m || true; '
     'git config -f .git/sequencer/opts options.strategy'),
    ("gc and reflog", "", 'git gc -q; git reflog -1; git fsck --no-progress'),
    ("amend and reset", "", 'git commit -q --amend -m other; git reset -q --hard HEAD; git status --short'),
    ("init and commit", "", 'git init -q n; cd n; git config user.email a@b; git config user.name n; echo x >x; git add x; '
     'git commit -qm one; git branch b'),
    ("clone and commit", "", 'git clone -q . n; cd n; git config user.email a@b; git config user.name n; echo x >x; git add x; '
     'git commit -qm two; git log --oneline | wc -l | grep -qx 2'),
    ("a repository further down", "nested", 'cd nested; echo x >x; git add x; git commit -qm two'),
    ("a submodule", "submodule", 'cd sub; echo x >x; git add x; git -c user.name=n -c user.email=e commit -qm two; cd ..; git add sub; git commit -qm s'),
    ("a work tree that is there", "worktree", 'cd wt; echo x >x; git add x; git commit -qm two'),
    ("a new work tree", "", 'git worktree add -q w2; cd w2; echo x >x; git add x; git commit -qm two; git status --short'),
    ("a hook of the user's runs", "own-hook", 'echo x >x; git add x; git commit -qm two; test -e hook-ran'),
    ("a repository by a link", "git-link", 'echo x >x; git add x; git commit -qm two'),
    ("the user's link in a repository", "info-link", 'echo x >x; git add x; git commit -qm two; test -L .git/info'),
    ("files that are called as a repository's", "", 'mkdir objects refs config hooks; touch HEAD hooks/a config/b'),
    ("hooks are read and listed", "", 'ls .git/hooks; cat .git/config >/dev/null'),
]

# Without mounts: preparation, then steps in one session. A step is a command, and the files that its result lists as held and as removed, or
# a script of the user; finally a script that must succeed.
USER = None
DEEP = "mkdir -p {0}/a/b/c/d/e/f/g/h/i; echo x >{0}/a/b/c/d/e/f/g/h/file; echo y >{0}/top"
WEAKER = [
    ("what was removed is not made again, and is new later", "own-hook",
     "mkdir -p .cordon .hg hk scripts; echo x >.cordon/x; echo x >.hg/hgrc; echo x >hk/pre-push; echo x >scripts/run; git config alias.r '!scripts/run'; "
     "git config core.hooksPath hk",
     [("rm -rf .git/hooks .cordon .hg hk scripts", [], [".git/hooks", ".cordon", ".hg", "hk", "scripts"]),
      ("mkdir -p .git/hooks .cordon .hg hk scripts; for f in .git/hooks/post-checkout .cordon/x .hg/hgrc hk/pre-push scripts/run; do echo evil >$f; done",
       [".git/hooks/post-checkout", ".cordon", ".hg/hgrc", "hk", "scripts/run"], [])],
     "! grep -rqx evil --exclude-dir='*cordon-held' --exclude='*cordon-held*' ."),
    ("one hook removed, then made", "own-hook", "",
     [("rm .git/hooks/pre-commit", [], [".git/hooks/pre-commit"]), ("echo evil >.git/hooks/pre-commit", [".git/hooks/pre-commit"], [])],
     "! test -e .git/hooks/pre-commit"),
    ("what the user makes again is the user's", "own-hook", "",
     [("rm .git/hooks/pre-commit", [], [".git/hooks/pre-commit"]), (USER, "echo mine >.git/hooks/pre-commit"), ("true", [], [])],
     "grep -qx mine .git/hooks/pre-commit"),
    ("a work tree that is removed and made again", "worktree", "",
     [("git worktree remove wt", [], [".git/worktrees", "wt"]), ("git worktree add -q wt wt; git -C wt status --short", [], [])],
     "git -C wt status --short"),
    ("what lies deeper than is compared stays", "", DEEP.format(".cordon") + "; " + DEEP.format("tools") + "; git config core.hooksPath tools",
     [("true", [], [])], "test -e .cordon/a/b/c/d/e/f/g/h/file -a -d tools/a/b/c/d/e/f/g/h/i"),
    ("and beside it new names are set aside", "", DEEP.format("tools") + "; git config core.hooksPath tools",
     [("echo x >tools/pre-commit; echo x >tools/a/b/c/new", ["tools/pre-commit", "tools/a/b/c/new"], [])], "test -e tools/a/b/c/d/e/f/g/h/file"),
    ("more names than are compared stay", "own-hook", "mkdir .cordon; (cd .cordon; touch {1..21000})",
     [("true", [], []), ("echo x >.git/hooks/pre-push", [".git/hooks/pre-push"], [])], "test $(ls .cordon | wc -l) = 21000"),
    ("very long names end nothing", "", "d=$(printf '%0150d/' {1..5}); mkdir -p $d/.cordon; cd $d/.cordon; seq -f $(printf '%0240d')%05g 17000 | xargs touch",
     [("true", [], [])], ":"),
    ("hooks among names that nothing runs", "own-hook", "",
     [("cd .git/hooks; touch {1..30000}.sample; for i in {1..10}; do echo x >$i; done", [f".git/hooks/{i}" for i in range(1, 11)], [])],
     "grep -q hook-ran .git/hooks/pre-commit"),
    ("more names than are looked at", "own-hook", "",
     [("cd .git/hooks; seq -f %g.sample 50100 | xargs touch; echo evil >pre-commit", [".git/hooks/pre-commit", ".git/hooks"], [])],
     "grep -q hook-ran .git/hooks/pre-commit; test -x .git/hooks/pre-commit -a $(ls .git/hooks | wc -l) -lt 20"),
    ("a directory closed to its owner", "own-hook", "",
     [("echo evil >.git/hooks/pre-commit; echo x >.git/hooks/new; chmod 0 .git/hooks", [".git/hooks/pre-commit", ".git/hooks/new"], [])],
     "grep -q hook-ran .git/hooks/pre-commit"),
    ("a hook that another session set aside", "own-hook", "",
     [("cp .git/hooks/pre-commit .git/hooks/pre-commit.cordon-held; echo x >.git/hooks/pre-commit", [".git/hooks/pre-commit"], [])],
     "! test -e .git/hooks/pre-commit"),
    ("harmless settings", "worktree-config", "git config remote.origin.url https://first.invalid; git config --worktree user.name w",
     [("git config remote.origin.url https://evil.invalid; git config --worktree user.name e", [".git/config", ".git/config.worktree"], []),
      (USER, "git config remote.origin.url https://second.invalid"), ("git config --unset remote.origin.url", [".git/config"], [])],
     "test $(git config remote.origin.url) = https://second.invalid -a $(git config user.name) = w"),
    ("settings replaced by a link", "", "",
     [("cp .git/config evil; git config -f evil core.fsmonitor false; rm .git/config; ln -s ../evil .git/config", [".git/config"], [])],
     "test -f .git/config -a ! -L .git/config; ! git config core.fsmonitor; test $(git config user.name) = n"),
    ("settings that are removed", "", "",
     [("rm .git/config", [], [".git/config"]), ("git config alias.x '!id'; git config user.name m", [".git/config"], []), ("true", [], [])],
     "test $(git config user.name) = m; ! git config alias.x"),
    ("a repository's settings, both made by the command", "", "",
     [("git init -q new; git -C new config user.name q; git -C new remote add o https://o.invalid", [], []), ("git -C new config user.name", [], [])],
     "test $(git -C new config user.name) = q"),
    ("names that are as long as they can be", "", "",
     [("cd .git/hooks; echo x >$(printf %0255d 1); echo y >$(printf %0254d 1); git init -q ../../new; echo z >../../new/.git/hooks/$(printf %0255d 1)",
       [".git/hooks/" + "1".zfill(255), ".git/hooks/" + "1".zfill(254), "new/.git/hooks/" + "1".zfill(255)], []),
      ("cd .git/hooks; echo x >$(printf %0255d 1); echo z >../../new/.git/hooks/$(printf %0255d 1)",
       [".git/hooks/" + "1".zfill(255), "new/.git/hooks/" + "1".zfill(255)], []),
      (USER, "git config alias.mine status"), ("true", [], [])], "test $(git config alias.mine) = status -a -z \"$(ls .git/hooks | grep -v sample | grep -v cordon-held)\""),
    ("commits, branches and a stash", "own-hook", "",
     [("echo x >x; git add x; git commit -qm x; git branch b; echo y >x; git stash -q; git stash pop -q", [], []), ("git checkout -q b", [], [])],
     "git fsck --no-progress"),
]
