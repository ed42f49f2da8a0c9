# SPDX-License-Identifier: Apache-2.0
"""Indexes and work trees that lead out of the project: rows for protect.py, as LATER and WORKS of rows_check.py."""

# The command runs craft_index.py, which the user's preparation puts beside the repository's files.
CRAFT = "cp $CRAFT craft.py; printf '#!/bin/sh\\n' >hk; chmod +x hk; "
HOOK = "100755:.git/hooks/pre-commit:hk"
PLANT = "python3 craft.py .git/index "
PLANTED = "test -e .git/hooks/pre-commit"
IDENTITY = "git config user.name n; git config user.email e; "
SUBMODULE = ("git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git d; git commit -qm sub; cd d; " + IDENTITY + "cd ..; ")

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

VARIANTS = {"indexes": WORKS[0][2]}
