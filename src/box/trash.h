/* What is no box any more: deleted bit by bit, when nobody waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_TRASH_H
#define BOX_TRASH_H

#include "box/layout.h"

struct trash_left {
    size_t deleted; /* files and directories */
    size_t left;    /* trees that are still there */
};

/* Deletes for at most so long. A box wrote these trees: nothing in them is followed, and modes that
 * stop us are changed. One process at a time: a second one does nothing. A tree whose top is locked
 * (flock) is left. */
MUST_USE bool trash_empty(
    const struct boxes *boxes, uint64_t max_ms, struct trash_left *ret_left, struct err *err);

enum {
    TRASH_LATER_MS = 10 * 60 * 1000,
};

/* Has it emptied by a process of its own, for at most TRASH_LATER_MS, and returns at once: it runs
 * when nobody else needs the machine, in a session of its own, and holds none of our descriptors
 * (so no box's lock either). One at a time; where there is nothing to delete none is started. That
 * none could be started is no failure: the next command tries again. */
void trash_empty_later(const struct boxes *boxes);

/* Deletes what takes but a moment, and leaves the rest for later: for commands that are waited for.
 */
void trash_empty_soon(const struct boxes *boxes);

/* What commands that were killed left in the making goes to the trash; what others are making
 * stays. */
MUST_USE bool trash_sweep(const struct boxes *boxes, size_t *ret_swept, struct err *err);

#endif
