/* Unfinished git operations: a rebase, a series of cherry-picks, mailed patches, a bisection, a
 * merge. When the user continues one, git runs the programs that its files name, passes words from
 * them to other programs, and reads and writes the files that they name.
 *
 *     struct str first = rebase_programs(gitdir, REBASE_TODO, &arena);       "exec make test\n"
 *     ... a command runs ...
 *     if (rebase_adds_programs(gitdir, REBASE_TODO, first))
 *         ... set rebase_files[REBASE_TODO].name aside ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_REBASE_H
#define REPO_REBASE_H

#include "base/arena.h"

/* The numbers are stored in session files (repo/protect_state.h): append new ones at the end. */
enum rebase_file {
    REBASE_TODO,     /* the list of steps */
    REBASE_STRATEGY, /* merge strategy of a rebase */
    REBASE_OPTIONS,  /* of cherry-picks and reverts */
    REBASE_SIGN,     /* signing key for a rebase's commits */
    REBASE_APPLY,    /* options for `git apply`, from `git am` and the older rebase */
    REBASE_AM_SIGN,  /* the same key, an argument of `git am` */
    REBASE_NAMES,    /* paths of a bisection, which older git passes to a shell */
    REBASE_START,    /* where the bisection began, an argument of `git checkout` */
    REBASE_RERERE,   /* files with conflicts, which are copied and written */
    REBASE_STEP,     /* the present step of a rebase, and their number; a prompt shows both */
    REBASE_STEPS,
    REBASE_AM_STEP, /* the same of `git am` and the older rebase */
    REBASE_AM_STEPS,
    REBASE_FILES,
};

/* Their names in the repository's directory, and their descriptions for the user. */
extern const struct rebase_kind {
    const char *name, *what;
} rebase_files[REBASE_FILES];

/* Returns the lines of the list that run a program, each once; for REBASE_RERERE the records of
 * files whose conflict is resolved; for other files the text, unless git itself would have written
 * it. */
struct str rebase_programs(int gitdir, enum rebase_file which, struct arena *a);

/* Returns true if the file does more than the first one did. For REBASE_RERERE the work trees
 * decide. */
bool rebase_adds_programs(int gitdir, enum rebase_file which, struct str first);

/* Returns true if there are files with conflicts; returns true if all of them are in this work
 * tree, neither they nor a directory on their path is a symlink, and the index has their conflicts.
 * `resolved`: records of files without a conflict, or missing, that the user has left. */
bool rebase_has_conflicts(int gitdir);
bool rebase_conflicts_are_inside(int gitdir, int tree, struct str resolved);

#endif
