/* Work of git's that has not ended: a rebase, a row of cherry-picks, patches of mails, a bisection,
 * a merge. When the user continues it, git runs the programs that its files name, passes their
 * words to other programs, and reads and writes the files that they name.
 *
 *     struct str first = rebase_programs(gitdir, REBASE_TODO, &arena);       "exec make test\n"
 *     ...a command runs...
 *     if (rebase_adds(gitdir, REBASE_TODO, first)) ...set rebase_files[REBASE_TODO].name aside...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_REBASE_H
#define REPO_REBASE_H

#include "base/arena.h"

/* The numbers are in files of sessions (repo/state.h): new ones come last. */
enum rebase_file {
    REBASE_TODO,     /* the list of steps */
    REBASE_STRATEGY, /* of a rebase */
    REBASE_OPTIONS,  /* of cherry-picks and reverts */
    REBASE_SIGN,     /* the key of a rebase's commits */
    REBASE_APPLY,    /* options for `git apply`, of `git am` and of the older rebase */
    REBASE_AM_SIGN,  /* the same key, an argument of `git am` */
    REBASE_NAMES,    /* paths of a bisection, which older git gives to a shell */
    REBASE_START,    /* where it began, an argument of `git checkout` */
    REBASE_RERERE,   /* files with conflicts, which are copied and written */
    REBASE_FILES,
};

/* Their names in the repository's directory, and how people are told of one. */
extern const struct rebase_kind {
    const char *name, *what;
} rebase_files[REBASE_FILES];

/* The lines of the list that run a program, each once; another file's text, unless it is one that
 * git itself would have written. */
struct str rebase_programs(int gitdir, enum rebase_file which, struct arena *a);

/* Whether it does more than the first ones did. For REBASE_RERERE the work trees decide. */
bool rebase_adds(int gitdir, enum rebase_file which, struct str first);

/* Whether there are files with conflicts; whether all of them are in this work tree, without
 * symbolic links on the way or in their place. */
bool rebase_has_conflicts(int gitdir);
bool rebase_conflicts_are_inside(int gitdir, int tree);

#endif
