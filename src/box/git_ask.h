/* Runs git on a project in a sandbox: a repository may name programs (filters, a monitor, a way to
 * fetch missing objects), and a `:rw` box may have written the repository.
 *
 *     if (!git_ask_start(top, dir, argv, &arena, &child, err)) return false;
 *     ... child.out ...
 *     child_close(&child);
 *
 * It can read the work tree, the repository with its alternates, and the user's git settings; it
 * cannot write, and has no network. Its stderr is discarded.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_GIT_ASK_H
#define BOX_GIT_ASK_H

#include "base/arena.h"
#include "sandbox/launch.h"

/* `top` is the root of the work tree; `dir` is in it, absolute. `words` are the arguments after
 * "git", NULL-terminated. Pointers in the child refer to the arena. */
MUST_USE bool git_ask_start(struct str top, const char *dir, const char *const *words,
    struct arena *arena, struct child *ret_child, struct err *err);

#endif
