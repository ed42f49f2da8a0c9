/* A rebase that has not ended: git runs its `exec` lines when the user continues it.
 *
 *     struct str first = rebase_lines(gitdir, &arena);       "exec make test\n"
 *     ...a command runs...
 *     if (rebase_adds(gitdir, first)) ...set REBASE_TODO aside...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_REBASE_H
#define REPO_REBASE_H

#include "base/arena.h"

/* The list of steps, in the repository's directory. */
#define REBASE_TODO "rebase-merge/git-rebase-todo"

/* Its lines that run a program, each once. */
struct str rebase_lines(int gitdir, struct arena *a);

/* Whether it runs a program that the first lines do not. */
bool rebase_adds(int gitdir, struct str first);

#endif
