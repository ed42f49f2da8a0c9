# SPDX-License-Identifier: Apache-2.0
"""Files that git's settings name: rows for protect.py, with the functions of rows.py.

A row is (title, ways, the user's preparation, the command, the user's next command). Ways: p the preset as one user, P as both, t the tool, l without mounts. $OUT is a directory
outside that the user can write. An environment and a first command of an earlier run may follow.
"""

COMMIT = "git commit -q --allow-empty -m next"
FILTER = "echo '* filter=f' >.gitattributes; git add .gitattributes; git commit -qm f; "
SCRIPTS = FILTER + "mkdir tools; printf '#!/bin/sh\\ncat\\n' >tools/a.sh; chmod +x tools/a.sh; "
OUTSIDE = "git clone -q . $OUT/main; rm -rf .git a; cd $OUT/main; git config user.name n; git config user.email e; "
BACK = "cd - >/dev/null; "

# The user's own settings, as git, gh, VS Code, git-lfs, delta and others write them.
ORDINARY = r"""cat >$HOME/.gitconfig <<'E'
[core]
	autocrlf = input
	fsmonitor = true
	pager = delta --paging=always
	editor = code --wait
[interactive]
	diffFilter = delta --color-only
[alias]
	st = status -s
	dl = diff -- . ':(exclude)package-lock.json' ':!yarn.lock'
	nolock = !git diff -- . ':(exclude)package-lock.json' ':!yarn.lock'
	sync = !git pull --rebase origin main
	cov = !make coverage && xdg-open coverage/index.html
	f = "!f() { git log -- \"${1:-src/new.c}\" | grep -v 'dist/x.js'; }; f"
	rt = !cd \"$(git rev-parse --show-toplevel)\" && python3 manage.py test && env X=1 make -C build all
[credential]
	helper = cache --timeout 60
[credential "https://github.com"]
	helper =
	helper = !/usr/bin/gh auth git-credential
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
	process = git-lfs filter-process
	required = true
[merge]
	tool = meld
	conflictStyle = zdiff3
[mergetool "meld"]
	cmd = meld "$LOCAL" "$BASE" "$REMOTE" --output "$MERGED"
[difftool "vscode"]
	cmd = code --wait --diff "$LOCAL" "$REMOTE"
[branch "x"]
	gh-merge-base = main
	vscode-merge-base = origin/main
	description = rework src/main.c, then add src/new.c
[sendemail]
	smtpServer = mail.example.org
[pull]
	rebase = true
E
"""

NAMES = [
    # Relative paths, in each work tree.
    ("hooks in a linked work tree", "Ptl", "git config core.hooksPath .githooks; git worktree add -q wt", "every_hook wt/.githooks", f"cd wt; {COMMIT}"),
    ("hooks there, seen from an inner directory", "p", "git config core.hooksPath ./x/../.githooks; git worktree add -q d/wt", "mkdir d/wt/x; every_hook d/wt/.githooks",
     f"cd d/wt; {COMMIT}"),
    ("hooks of a submodule", "Pl", "git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git sub; git commit -qm sub; "
     "git -C sub config core.hooksPath .gh", "every_hook sub/.gh", f"cd sub; git -c user.name=n -c user.email=e commit -q --allow-empty -m next"),
    ("the project is a linked work tree", "Ptl", OUTSIDE + "git config core.hooksPath .githooks; " + BACK + "git -C $OUT/main worktree add -q $PWD -b w",
     "every_hook .githooks", COMMIT),
    ("the project is one, with settings of its own", "p", OUTSIDE + "git config extensions.worktreeConfig true; " + BACK +
     "git -C $OUT/main worktree add -q $PWD -b w; git config --worktree core.hooksPath .githooks", "every_hook .githooks", COMMIT),
    ("the git directory is elsewhere", "p", "git init -q --separate-git-dir $OUT/g; git config core.hooksPath .githooks; ln -s $PWD/hk $OUT/g/hooks/pre-push",
     "every_hook .githooks", COMMIT),
    ("a hook there is a link", "p", "git init -q --separate-git-dir $OUT/g; ln -s $PWD/hk $OUT/g/hooks/pre-commit", "hook hk", COMMIT),
    ("the repository is above the project", "pt", "mkdir inner; git config core.hooksPath inner/hk", "every_hook hk", COMMIT),
    ("a work tree by the settings", "p", "mkdir src; mv .git m.git; git -C m.git config core.bare false; git -C m.git config core.worktree ../src; "
     "git -C src --git-dir=../m.git config core.hooksPath .gh", "every_hook src/.gh", "GIT_DIR=$PWD/m.git; export GIT_DIR; cd src; " + COMMIT),
    ("a repository by a link, hooks beside it", "p", "mv .git real.git; ln -s real.git .git; git config core.hooksPath .githooks", "every_hook .githooks", COMMIT),
    ("hooks in the git directory", "p", "git config core.hooksPath .githooks", "every_hook .git/.githooks", "cd .git; git update-ref refs/heads/probe HEAD"),
    ("a filter in a linked work tree", "p", FILTER + "git config filter.f.clean ./tools/clean; git worktree add -q wt 2>/dev/null",
     "hook wt/tools/clean", "cd wt; echo x >b; git add b"),
    # Work trees that the command makes.
    ("a new .git file, and hooks beside it", "Ptl", "git config core.hooksPath .githooks", 'mkdir d; echo "gitdir: ../.git" >d/.git; every_hook d/.githooks', f"cd d; {COMMIT}"),
    ("a new work tree, and hooks in it", "Pl", "git config core.hooksPath .githooks", "git worktree add -q w2; every_hook w2/.githooks", f"cd w2; {COMMIT}"),
    ("a new work tree with a strange commondir", "p", "git config core.hooksPath .githooks", "git worktree add -q w2; every_hook w2/.githooks; "
     "{ echo ../..; head -c 9000 /dev/zero | tr '\\0' '\\n'; } >.git/worktrees/w2/commondir", f"cd w2; {COMMIT}"),
    ("another hook than the user's in a new work tree", "pl", "git config core.hooksPath .githooks; mkdir .githooks; printf '#!/bin/sh\\n' >.githooks/pre-commit; "
     "chmod +x .githooks/pre-commit; git add .githooks; git commit -qm h", "git worktree add -q w2; hook w2/.githooks/pre-commit", f"cd w2; {COMMIT}"),
    ("a new repository, and hooks by the user's own settings", "p", "git config -f $HOME/.gitconfig core.hooksPath .uh",
     "git init -q new; every_hook new/.uh", f"cd new; git -c user.name=n -c user.email=e commit -q --allow-empty -m next"),
    ("a script in a new work tree", "p", FILTER + "git config filter.f.clean 'sh run.sh'; echo cat >run.sh; git add run.sh; git commit -qm r",
     "git worktree add -q w2; echo \"$PAYLOAD\" >w2/run.sh", "cd w2; echo x >b; git add b"),
    ("a script without an ending there", "p", FILTER + "git config filter.f.clean 'sh run'; echo cat >run; git add run; git commit -qm r",
     "git worktree add -q w2; echo \"$PAYLOAD\" >w2/run", "cd w2; echo x >b; git add b"),
    # Missing files.
    ("a monitor that is not there", "Ptl", "git config core.fsmonitor tools/fs.sh", "hook tools/fs.sh", "git status"),
    ("an argument that is not there", "p", FILTER + "git config filter.f.clean 'sh run.sh'", 'echo "$PAYLOAD" >run.sh', "echo x >b; git add b"),
    ("hooks that are not there, by a link above them", "pl", "git config core.hooksPath h/k", "every_hook evil/k; ln -s evil h", COMMIT),
    ("a monitor that is not there, by a link above it", "p", "git config core.fsmonitor tools/a/fs.sh", "hook evil/a/fs.sh; ln -s evil tools", "git status"),
    ("attributes that are not there", "p", "git config core.attributesFile attrs; git config filter.f.clean '$PAYLOAD;cat'", "echo '* filter=f' >attrs", "echo x >b; git add b"),
    # Files in the git directory.
    ("a monitor in the git directory", "Ptl", "printf '#!/bin/sh\\n' >.git/fsmon; chmod +x .git/fsmon; git config core.fsmonitor .git/fsmon", "hook .git/fsmon", "git status"),
    ("a monitor there that does not exist", "Pl", "git config core.fsmonitor .git/fsmon", "hook .git/fsmon", "git status"),
    ("a filter in the git directory", "P", FILTER + "git config filter.f.clean .git/info/bin/clean.sh", "hook .git/info/bin/clean.sh", "echo x >b; git add b"),
    ("a lock file of git's that a monitor is", "p", "git config core.fsmonitor .git/x.lock", "hook .git/x.lock", "git status"),
    # Directories, and names in other forms.
    ("hooks in the home directory of a user by name", "Pl", "git config core.hooksPath '~daemon/../..'$PWD/.gh", "every_hook .gh", COMMIT),
    ("settings in the home directory of a user by name", "p", "git config include.path '~daemon/../..'$PWD/inc", "settings inc", "git status"),
    ("a program after an assignment and another command", "p", FILTER + "git config filter.f.clean 'true; A=b exec ./t/c'", "hook t/c", "echo x >b; git add b"),
    ("a script after a brace in quotes", "p", SCRIPTS + 'git config filter.f.clean "d=\\${1:-\\$(git log -1 | awk \'{print \\$1}\')}; sh tools/a.sh"', 'echo "$PAYLOAD" >tools/a.sh', "echo x >b; git add b"),
    ("a script after a pattern with a brace", "p", SCRIPTS + 'git config filter.f.clean \'x=${y%%"}"*}; sh tools/a.sh\'', 'echo "$PAYLOAD" >tools/a.sh', "echo x >b; git add b"),
    ("a program in the directory of cd", "p", SCRIPTS + "git config filter.f.clean 'cd tools && ./a.sh'", 'echo "$PAYLOAD" >tools/a.sh', "echo x >b; git add b"),
    ("a script by a pipe", "p", SCRIPTS + "git config filter.f.clean 'cat tools/a.sh | sh'", 'echo "$PAYLOAD" >tools/a.sh', "echo x >b; git add b"),
    ("a program that find runs", "p", SCRIPTS + "git config filter.f.clean 'find tools -maxdepth 0 -exec tools/a.sh {} +'", 'echo "$PAYLOAD" >tools/a.sh', "echo x >b; git add b"),
    ("a script for another shell", "p", FILTER + "git config filter.f.clean \"sh -ec './t/c; true'\"", "hook t/c", "echo x >b; git add b"),
    ("a program with spaces in its name", "p", "git config core.fsmonitor '\"./my tools/fs\"'", "hook 'my tools/fs'", "git status"),
    ("a template", "Pl", "mkdir -p tpl/hooks; git config -f $HOME/.gitconfig init.templateDir $PWD/tpl", "every_hook tpl/hooks", "git clone -q . $OUT/c"),
    ("a link among hooks where the settings say", "pl", "mkdir hk scripts; printf '#!/bin/sh\\n' >scripts/check; chmod +x scripts/check; ln -s ../scripts/check hk/pre-commit; "
     "git config core.hooksPath hk", "hook scripts/check", COMMIT),
    ("hooks by an absolute path in the user's own settings, and no repository", "p", "rm -rf .git; mkdir uh; git config -f $HOME/.gitconfig core.hooksPath $PWD/uh",
     "every_hook uh", "git init -q .; git -c user.name=n -c user.email=e commit -q --allow-empty -m next"),
    ("a template that is not there", "p", "git config -f $HOME/.gitconfig init.templateDir $PWD/tpl", "every_hook tpl/hooks", "git clone -q . $OUT/c"),
    ("a link before two dots", "Pt", "mkdir -p a_/b hk; ln -s a_/b l; git config core.hooksPath l/../hk", "every_hook a_/hk", COMMIT),
    ("a path after a substitution", "P", "mkdir t; echo cat >t/c.sh; git add t; " + FILTER +
     "git config filter.f.clean 'sh \"$(git rev-parse --show-toplevel)\"/t/c.sh'", 'echo "$PAYLOAD" >t/c.sh', "echo x >b; git add b"),
    ("a path after a variable", "p", FILTER + "git config filter.f.clean 'sh $PWD/t/c.sh'", 'mkdir t; echo "$PAYLOAD" >t/c.sh', "echo x >b; git add b"),
    ("settings that are a link", "p", "mv .git/config $OUT/c; ln -s $OUT/c .git/config; git config -f $OUT/c core.hooksPath .githooks", "every_hook .githooks", COMMIT),
    # The user's environment.
    ("the user's settings by the environment", "P", "git config -f gc x.y z", "settings gc", "git status", {"GIT_CONFIG_GLOBAL": "gc"}),
    ("the same, not there yet", "pl", ":", "settings gc", "git status", {"GIT_CONFIG_GLOBAL": "gc"}),
    ("the system's settings by the environment", "p", "git config -f gc x.y z", "settings gc", "git status", {"GIT_CONFIG_SYSTEM": "gc", "GIT_CONFIG_NOSYSTEM": "0"}),
    ("hooks that they name", "p", "git config -f gc core.hooksPath .githooks", "every_hook .githooks", COMMIT, {"GIT_CONFIG_GLOBAL": "gc"}),
    ("a template by the environment", "p", "mkdir -p tpl/hooks", "every_hook tpl/hooks", "git clone -q . $OUT/c", {"GIT_TEMPLATE_DIR": "tpl"}),
    ("hooks by the environment", "p", ":", "every_hook hk", COMMIT, {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "hk"}),
    # More files of commands than are remembered.
    ("very many files of aliases in very many repositories", "P", "git config -f $HOME/.gitconfig alias.x '!t/a; t/b; t/c; t/d; t/e; t/f'; mkdir r r/objects r/refs; cd r; mkdir .git .gh; "
     "mv objects refs .git; echo 'ref: refs/heads/x' >.git/HEAD; printf '[core]\\nhooksPath = .gh\\n[user]\\nname = n\\nemail = e\\n' >.git/config; echo x >.gh/pre-commit; cd ..; "
     "for i in {1..600}; do cp -r r r$i; done", 'for i in {1..600}; do printf "#!/bin/sh\\n%s\\n" "$PAYLOAD" >r$i/.gh/pre-commit; chmod +x r$i/.gh/pre-commit; done 2>/dev/null; true',
     "h=$(grep -l touch r*/.gh/pre-commit | tail -n 1); cd ${h%%/*}; " + COMMIT),
    # Names that a command adds so that others are not recognized.
    ("very many names of a run before", "Pl", "git config core.hooksPath .githooks; mkdir .githooks; touch .githooks/x", "every_hook .githooks", COMMIT, {},
     "mkdir objects refs; echo nothing >HEAD; { echo '[core]'; seq -f 'hookspath = z/%g' 6000; } >config"),
    ("very many names in a repository among the files", "p", "git config core.hooksPath .githooks; mkdir -p objects refs; echo 'ref: refs/heads/x' >HEAD; "
     "{ echo '[core]'; seq -f 'hookspath = z/%g' 6000; } >config", "every_hook .githooks", COMMIT),
]

# None of this ends cordon, or takes long; omissions are reported.
LARGE = [
    ("a long path and very many words", "d=$(printf '%0200d/' {1..14}); mkdir -p $d/objects $d/refs; cd $d; echo 'ref: refs/heads/x' >HEAD; "
     "{ echo '[alias]'; printf 'x = !'; yes y | head -n 390000 | tr '\\n' ' '; } >config"),
    ("very many words in very many repositories", "for i in {1..41}; do mkdir -p b$i/objects b$i/refs; echo 'ref: refs/heads/x' >b$i/HEAD; "
     "{ echo '[alias]'; yes 'x = !a/b&c/d&e/f&g/h&i/j&k/l&m/n&o/p' | head -n 9000; } >b$i/config; done"),
    ("very many links among hooks", "mkdir -p b/objects b/refs b/hooks; echo 'ref: refs/heads/x' >b/HEAD; cd b/hooks; "
     "python3 -c 'import os; [os.symlink(\"../../x\", str(i)) for i in range(25800)]'"),
    ("as many words of an alias as are looked for, and one more alias", "mkdir t; touch t/a; { printf '[alias]\\nx = \"!'; yes 't/a;' | head -n 5000 | tr -d '\\n'; "
     "printf '\"\\ny = !t/b\\n'; } >>.git/config"),
    ("settings that include each other", "mkdir -p b/objects b/refs; cd b; echo 'ref: refs/heads/x' >HEAD; "
     "{ echo '[include]'; seq -f 'path = config#%g' 30 | sed 's/#.*//'; } >config"),
]

# Ordinary use.
NAMES_WORK = [
    ("hooks of the user's in a new work tree", "git config core.hooksPath .githooks; mkdir .githooks; printf '#!/bin/sh\\n>ran\\n' >.githooks/pre-commit; "
     "chmod +x .githooks/pre-commit; git add .githooks; git commit -qm h", "git worktree add -q w2; cd w2; echo x >x; git add x; git commit -qm two; test -e ran; cd ..; "
     "echo x >x; git add x; git commit -qm two"),
    ("husky's directories in a new work tree", "mkdir -p .husky/_; git config core.hooksPath .husky/_; printf '#!/bin/sh\\nsh .husky/pre-commit\\n' >.husky/_/pre-commit; "
     "chmod +x .husky/_/pre-commit; echo '>ran' >.husky/pre-commit; git add .husky/pre-commit; git commit -qm h",
     "git worktree add -q w2; cp -a .husky/_ w2/.husky; cd w2; echo x >x; git add x; git commit -qm two; test -e ran"),
    ("a submodule with hooks", "git clone -q --bare . lib.git; git -c protocol.file.allow=always submodule --quiet add ./lib.git sub; git commit -qm sub; cd sub; "
     "git config core.hooksPath .gh; mkdir .gh; printf '#!/bin/sh\\n>ran\\n' >.gh/pre-commit; chmod +x .gh/pre-commit",
     "cd sub; echo x >x; git add x; git -c user.name=n -c user.email=e commit -qm two; test -e ran; cd ..; git add sub; git commit -qm s"),
    ("the project is a linked work tree, hooks in it", OUTSIDE + "git config core.hooksPath .githooks; " + BACK + "git -C $OUT/main worktree add -q $PWD -b w; mkdir .githooks",
     "echo x >y; cat y; test -d .githooks"),
    ("directories of names that settings have", "git config safe.directory $PWD/made/here; git config alias.up 'pull origin/main'; git config alias.l 'log --graph'; "
     "git config core.pager 'less -R'; git config remote.o.url https://o.invalid/a/b; git config -f $HOME/.gitconfig alias.last 'log -1 HEAD'; "
     "git config alias.head '!cat $(git rev-parse --git-dir)/HEAD .git/index'; git config blame.ignoreRevsFile .ignore-revs; git config alias.lock '!rm -f $GIT_DIR/index.lock'",
     "echo x >.ignore-revs; mkdir -p made/here origin/main o; echo x >made/here/x; echo x >log; echo x >less; git add -A; git commit -qm two; git checkout -q -b other; git worktree add -q w2; cd w2; git checkout -q -b third; git gc -q"),
    ("files of names that the user's settings have", ORDINARY + "mkdir src; touch input true main src/main.c delta; git add -A; git commit -qm f",
     "for f in input true main src/main.c delta; do echo x >t; mv t $f; echo y >>$f; done; mkdir origin build coverage dist; for f in src/new.c origin/main coverage/index.html dist/x.js; "
     "do echo x >$f; done; git add -A; git commit -qm two"),
    ("lock files of names that the user's aliases have", ORDINARY + "echo x >package-lock.json; git add -A; git commit -qm f",
     "echo y >t; mv t package-lock.json; echo x >yarn.lock; git add -A; git commit -qm two; git clone -q . c; git init -q n; echo x >n/package-lock.json; git worktree add -q w2; "
     "echo z >w2/yarn.lock; echo z >c/manage.py; test -e c/package-lock.json -a -e n/package-lock.json -a -e w2/yarn.lock -a -e c/manage.py"),
    ("the same settings in the repository", ORDINARY + "cat $HOME/.gitconfig >>.git/config; rm $HOME/.gitconfig; touch package-lock.json input main", "echo y >t; mv t package-lock.json; "
     "touch yarn.lock input main; mkdir src coverage; echo x >src/new.c; echo x >coverage/index.html; git add -A; git commit -qm two"),
    ("clones and new repositories beside settings of the user's", "git config -f $HOME/.gitconfig core.hooksPath /none/hooks; git config -f $HOME/.gitconfig alias.st 'status -s'; "
     "git config -f $HOME/.gitconfig core.excludesFile '~/.gitignore'; echo x >status; git add status; git commit -qm s",
     "git clone -q . c; git -C c status -s; git init -q n; echo x >n/status; git worktree add -q w2; echo y >w2/status; test -e c/status -a -e n/status -a -e w2/status"),
]
