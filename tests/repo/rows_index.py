# SPDX-License-Identifier: Apache-2.0
"""Indexes and work trees that lead out of the project: rows for protect.py, as LATER and WORKS of rows_check.py."""

# The command runs craft_index.py, which the user's preparation puts beside the repository's files.
CRAFT = "cp $CRAFT craft.py; printf '#!/bin/sh\\n' >hk; chmod +x hk; "
HOOK = "100755:.git/hooks/pre-commit:hk"
PLANT = "python3 craft.py .git/index "
PLANTED = "test -e .git/hooks/pre-commit"
IDENTITY = "git config user.name n; git config user.email e; "
SUBMODULE = ("git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git d; git commit -qm sub; cd d; " + IDENTITY + "cd ..; ")

HIDDEN = "mkdir -p $OUT/s; echo secret >$OUT/s/key; "
TRACKED = "mkdir l; echo x >l/key; git add l; git commit -qm l; "
AGENT = "git checkout -q -b agent; rm -rf l; ln -s $OUT/s l; git add -A l; git commit -qm agent; git checkout -q -; "
RECORD = "h=$(printf %040d 7); mkdir -p .git/rr-cache/$h; touch .git/rr-cache/$h/preimage; record() { printf \"$h\\t$1\\0\"; }; "
PICK = "git cherry-pick agent; git commit -q --allow-empty -m x"
COPIED = "grep -rq secret .git/rr-cache"
NESTED = ("git init -q n; cd n; echo f >f; git add f; git -c user.name=n -c user.email=e commit -qm f; cd ..; mkdir -p .git/modules; mv n/.git .git/modules/n; "
          "echo 'gitdir: ../.git/modules/n' >n/.git; git config -f .git/modules/n/config core.worktree ../../../n; ")
BARE = "git clone -q --bare . d.git; git -C d.git config core.bare false; git -C d.git config core.worktree ../tree; "
ADMIN = "mkdir -p .git/worktrees/x; cp .git/HEAD .git/worktrees/x/HEAD; echo ../.. >.git/worktrees/x/commondir; "

LATER = [
    ("index: a hook", CRAFT, None, PLANT + HOOK, "git checkout .", PLANTED),
    ("index: a hook, by git restore", CRAFT, None, PLANT + HOOK, "git restore .", PLANTED),
    ("index: a hook, names in version 4", CRAFT, None, PLANT + "--v4 100644:a:a " + HOOK, "git checkout .", PLANTED),
    ("index: a hook, in a shared index", CRAFT, None, PLANT + "--split 100644:a:a " + HOOK, "git checkout .", PLANTED),
    ("index: a hook, in a shared index that is replaced", CRAFT + "git update-index --split-index", "git status",
     "f=$(ls .git/sharedindex.*); cp .git/index i; python3 craft.py .git/index " + HOOK + "; tail -c 20 $f >h; head -c -20 .git/index >n; cat n h >$f; mv i .git/index",
     "git checkout .", PLANTED),
    ("index: a hook, in a very large index", CRAFT, None, PLANT + "--pad 150000000 " + HOOK, "git checkout .", PLANTED),
    ("index: a hook, beside other very large indexes", CRAFT, None,
     PLANT + HOOK + "; for i in 1 2 3 4 5; do git init -q b$i; python3 craft.py b$i/.git/index --pad 120000000 100644:a:a; done", "git checkout .", PLANTED),
    ("index: a file outside by its relative name", CRAFT, None, PLANT + "100644:$(realpath -m --relative-to=. $OUT)/rel:a", "git checkout .", "test -e $OUT/rel"),
    ("index: a file outside by its absolute name", CRAFT, None, PLANT + "100644:$OUT/abs:a", "git checkout .", "test -e $OUT/abs"),
    ("index: a link in the place of the hooks", CRAFT, None, "printf $OUT >t; " + PLANT + "120000:.git/hooks:t", "git checkout .", "test -L .git/hooks"),
    ("index: of a linked work tree", CRAFT + "git worktree add -q d", None, "python3 craft.py .git/worktrees/d/index 100755:../.git/hooks/pre-commit:hk", "git -C d checkout .", PLANTED),
    ("index: of a new linked work tree", CRAFT, None, "git worktree add -q d; python3 craft.py .git/worktrees/d/index 100755:../.git/hooks/pre-commit:hk", "git -C d checkout .", PLANTED),
    ("index: of a submodule", CRAFT + SUBMODULE, None, "git -C d hash-object -w ../hk; python3 craft.py .git/modules/d/index 100755:../.git/hooks/pre-commit:hk", "git -C d checkout .", PLANTED),
    ("index: of a repository that is not called .git", CRAFT + "git clone -q --bare . d.git; mkdir tree; git -C d.git config core.bare false; git -C d.git config core.worktree ../tree", None,
     "git -C d.git hash-object -w ../hk; python3 craft.py d.git/index 100755:../.git/hooks/pre-commit:hk", "cd tree; git --git-dir=../d.git checkout .", PLANTED),
    ("index: of a new repository", CRAFT, None, "git init -q d; git -C d hash-object -w ../hk; python3 craft.py d/.git/index 100755:../.git/hooks/pre-commit:hk", "git -C d checkout .", PLANTED),
    ("index: of a new repository, later", CRAFT, "git init -q d; cp hk d; git -C d add hk", "python3 craft.py d/.git/index 100755:../.git/hooks/pre-commit:hk", "git -C d checkout .", PLANTED),
    # Conflicts that git remembers: a commit of the command brings a link in the place of a listed file.
    ("conflicts: a missing file, and a commit that is picked", HIDDEN, None, AGENT + RECORD + "record l/key >.git/MERGE_RR", PICK, COPIED),
    ("conflicts: a missing file, and a rebase", HIDDEN + "git checkout -q -b mine; git commit -q --allow-empty -m mine; git checkout -q -", None, AGENT + RECORD + "git checkout -q mine; record l/key >.git/MERGE_RR",
     "git rebase -q agent; git commit -q --allow-empty -m x", COPIED),
    ("conflicts: a missing file, and a stash", HIDDEN, None, "ln -s $OUT/s l; git add l; git stash -q; " + RECORD + "record l/key >.git/MERGE_RR", "git stash pop; git commit -q -m x", COPIED),
    ("conflicts: an ignored file", HIDDEN, None, AGENT + RECORD + "mkdir l; echo x >l/key; echo l >>.git/info/exclude; record l/key >.git/MERGE_RR", PICK, COPIED),
    ("conflicts: a tracked file", HIDDEN + TRACKED, None, AGENT + RECORD + "record l/key >.git/MERGE_RR", PICK, COPIED),
    ("conflicts: a tracked file, whose conflict a later command removes", HIDDEN + TRACKED,
     AGENT + RECORD + "record l/key >.git/MERGE_RR; h=$(git rev-parse HEAD:l/key); printf '%s %s %s\\tl/key\\n' 0 $(printf %040d 0) 0 100644 $h 1 100644 $h 2 100644 $h 3 | git update-index --index-info; git ls-files -u | grep -q l/key",
     "git add l/key", PICK, COPIED),
    # Work trees that a git directory names.
    ("work tree: core.worktree through a link and back", "mkdir $OUT/ch $OUT/home", None, NESTED + "rm -r n; mkdir home; ln -s $OUT/ch x; echo 'gitdir: ../.git/modules/n' >home/.git; "
     "git config -f .git/modules/n/config core.worktree ../../../x/../home", "git -C home checkout -f", "test -e $OUT/home/f"),
    ("work tree: of the user's, replaced by a link", BARE + "mkdir tree", None, "mv tree t2; ln -s $OUT tree", "git --git-dir=d.git checkout -f", "test -e $OUT/a"),
    ("work tree: of the user's, a directory above it replaced by a link", BARE + "mkdir -p up/tree; git config -f d.git/config core.worktree $PWD/up/tree", None, "mv up up2; mkdir $OUT/tree; ln -s $OUT up",
     "mkdir -p $OUT/tree; git --git-dir=d.git checkout -f", "test -e $OUT/tree/a"),
    ("work tree: of the user's, by a link that is replaced", BARE + "mkdir real; ln -s real tree", None, "ln -sfn $OUT tree", "git --git-dir=d.git checkout -f", "test -e $OUT/a"),
    ("work tree: of the user's, by a link to a directory that is replaced", BARE + "mkdir real; ln -s real tree", None, "mv real r2; ln -s $OUT real", "git --git-dir=d.git checkout -f", "test -e $OUT/a"),
    ("work tree: of a command, replaced by a link later", "", NESTED, "mv n n2; ln -s $OUT n", "cd .git/modules/n; git checkout -f", "test -e $OUT/f"),
    ("work tree: a new gitdir names a directory outside", "mkdir $OUT/v", None, ADMIN + "echo $OUT/v/.git >.git/worktrees/x/gitdir", "git worktree repair", "test -e $OUT/v/.git"),
    ("work tree: a new gitdir names a directory by a link", "mkdir $OUT/v", None, ADMIN + "ln -s $OUT/v v; echo $PWD/v/.git >.git/worktrees/x/gitdir", "git worktree repair", "test -e $OUT/v/.git"),
    ("work tree: a new gitdir names a directory by a relative path", "mkdir $OUT/v", None, ADMIN + "echo $(realpath -m --relative-to=. $OUT/v)/.git >.git/worktrees/x/gitdir", "git worktree repair",
     "test -e $OUT/v/.git"),
    ("work tree: a new gitdir names a work tree of the user's", "git worktree add -q w", None, ADMIN + "echo $PWD/w/.git >.git/worktrees/x/gitdir", "git worktree repair", "grep -q worktrees/x w/.git"),
    ("work tree: of a command, its directory becomes a link later", "mkdir $OUT/v", "git worktree add -q w", "mv w w2; ln -s $OUT/v w", "git worktree repair", "test -e $OUT/v/.git"),
]

WORKS = [
    ("indexes of all kinds", "",
     "id() { git -c user.name=n -c user.email=e \"$@\"; }; git update-index --index-version 4; mkdir -p x/y z; echo 1 >x/y/f; echo 2 >z/g; git add .; git commit -qm more; "
     "git update-index --index-version 2; git update-index --split-index; echo c >c; git add c; git stash -q; git stash pop -q; git update-index --no-split-index; "
     "git clone -q . n; cd n; git sparse-checkout set --cone --sparse-index x; git ls-files --sparse -s | grep -q ^040000; echo 3 >x/y/h; git add x; id commit -qm sparse; cd ..; "
     "git init -q --object-format=sha256 s; cd s; git update-index --split-index; echo a >a; git add a; id commit -qm one; echo b >b; git add b; cd ..; "
     "git init -q l; cd l; printf '100644 %s\\td/%0300d\\n' $(git hash-object -w ../a) 1 | git update-index --index-info; cd ..; git init -q e; git -C e read-tree --empty"),
    ("indexes of all kinds, the next day", "indexes", "for d in . n s; do (cd $d; echo x >>a; git -c user.name=n -c user.email=e commit -qam x; git status --short); done; git -C l ls-files | grep -q d/0"),
    ("an index with conflicts", "",
     "git checkout -q -b side; echo s >a; git commit -qam s; git checkout -q -b other HEAD~1; echo o >a; git commit -qam o; git merge side && exit 1; git ls-files -u | grep -q a; "
     "git rebase side && exit 1; git merge --abort; git rebase side && exit 1; git rebase --abort; echo t >>a; git stash -q; git checkout -q side; git stash pop && exit 1; git ls-files -u | grep -q a"),
]

# Seen only by the commands that protect.py tries in a copy.
ATTACKS = [
    ("index: a hook that runs", "craft", "hook hk; python3 craft.py .git/index 100755:.git/hooks/post-checkout:hk"),
    ("a work tree outside", "", ADMIN + "echo $(dirname ${PAYLOAD#touch })/.git >.git/worktrees/x/gitdir"),
]

VARIANTS = {"indexes": WORKS[0][2], "craft": "cp $CRAFT craft.py"}
