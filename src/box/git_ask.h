/* Asks git about a project, in a sandbox (box/git_run.h).
 *
 *     struct git_ask ask = {.top = top, .dir = dir, .words = words, .timeout_ms = 5000,
 *         .output = read_output};
 *     if (!git_ask(&ask, &arena, &status, err)) return false;
 *
 * git can read the work tree, the repository with its alternates, and the user's git settings. Its
 * stderr is discarded.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_GIT_ASK_H
#define BOX_GIT_ASK_H

#include "base/arena.h"
#include "base/err.h"

struct git_ask {
    struct str top;           /* root of the work tree */
    const char *dir;          /* in it, absolute */
    const char *const *words; /* arguments after "git", NULL-terminated */
    uint64_t timeout_ms;
    void (*output)(void *context, struct str bytes);
    void *context;
};

/* The status is 128 plus the signal, as in a shell, if git was killed. E_TIMEOUT: it has not ended
 * in time. */
MUST_USE bool git_ask(
    const struct git_ask *ask, struct arena *arena, int *ret_status, struct err *err);

#endif
