/* A rebase or a row of cherry-picks that has not ended: git runs the `exec` lines of its steps, and
 * the program of its merge strategy, when the user continues it.
 *
 *     struct str first = rebase_programs(gitdir, REBASE_TODO, &arena);       "exec make test\n"
 *     ...a command runs...
 *     if (rebase_adds(gitdir, REBASE_TODO, first)) ...set rebase_files[REBASE_TODO] aside...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_REBASE_H
#define REPO_REBASE_H

#include "base/arena.h"

enum rebase_file {
    REBASE_TODO,     /* the list of steps */
    REBASE_STRATEGY, /* of a rebase */
    REBASE_OPTIONS,  /* of cherry-picks and reverts */
    REBASE_FILES,
};

/* Their names in the repository's directory. */
extern const char *const rebase_files[REBASE_FILES];

/* The lines of the list that run a program, each once; another file's text, if its strategy is not
 * one of git's own. */
struct str rebase_programs(int gitdir, enum rebase_file which, struct arena *a);

/* Whether it runs a program that the first ones do not. */
bool rebase_adds(int gitdir, enum rebase_file which, struct str first);

#endif
