/* git, asked about a project in a sandbox of its own: a repository may name programs (filters, a
 * monitor, a way to fetch what is missing), and a `:rw` box may have made the repository.
 *
 *     if (!git_ask_start(top, dir, argv, &arena, &child, err)) return false;
 *     ... child.out ...
 *     child_close(&child);
 *
 * It can read the work tree, the repository with what that borrows from, and the user's settings of
 * git; change nothing, reach nobody. What it prints on stderr is dropped.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_GIT_ASK_H
#define BOX_GIT_ASK_H

#include "base/arena.h"
#include "sandbox/launch.h"

/* `top` is the work tree's; `dir` lies in it, absolute. Words are those after "git", and end in
 * NULL. What the child points to is in the arena. */
MUST_USE bool git_ask_start(struct str top, const char *dir, const char *const *words,
    struct arena *arena, struct child *ret_child, struct err *err);

#endif
