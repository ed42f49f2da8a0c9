/* Deletes former boxes incrementally, usually in the background. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_TRASH_H
#define BOX_TRASH_H

#include "box/layout.h"

struct trash_left {
    size_t deleted; /* number of deleted files and directories */
    size_t left;    /* number of remaining trees */
};

/* Deletes for at most max_ms. The trees were written by a box: symlinks are not followed, and modes
 * that prevent deletion are changed. Only one process at a time: waits for another one. A tree
 * whose top is locked (flock) is skipped. */
MUST_USE bool trash_empty(
    const struct boxes *boxes, uint64_t max_ms, struct trash_left *ret_left, struct err *err);

enum {
    TRASH_LATER_MS = 10 * 60 * 1000,
};

/* Empties the trash in a background process, for at most TRASH_LATER_MS, and returns immediately.
 * The process has idle priority and a new session, and holds none of our descriptors (so no box's
 * lock either). Only one at a time; not started if there is nothing to delete. Failure to start is
 * ignored: the next command tries again. */
void trash_empty_later(const struct boxes *boxes);

/* Deletes for a short time and leaves the rest to the background: for interactive commands. */
void trash_empty_soon(const struct boxes *boxes);

/* Moves unfinished boxes of killed commands to the trash; those still under construction stay. */
MUST_USE bool trash_sweep(const struct boxes *boxes, size_t *ret_swept, struct err *err);

#endif
