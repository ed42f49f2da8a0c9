/* A box opened by its name, with its lock if it is to be changed.
 *
 *     AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
 *     if (!box_use_find(dir, name, BOX_USE_CHANGE, &use, err) ||
 *         !box_use_read(&use, name, BOX_USE_CHANGE, &rows, &arena, err))
 *         return false;
 *     ... use.box, use.boxes ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_USE_H
#define BOX_USE_H

#include "box/box.h"
#include "box/state.h"

struct box_use {
    struct boxes boxes;
    struct box box;
    int lock; /* -1: not held */
};

#define BOX_USE_NONE ((struct box_use){BOXES_NONE, BOX_NONE, -1})

enum {
    BOX_USE_LOOK = 0,
    BOX_USE_CHANGE = 1 << 0,   /* take its lock */
    BOX_USE_NO_AGENT = 1 << 1, /* agent not needed: use an empty row if its row is gone */
};

/* Opens the directory of all boxes and takes the lock. Fails with E_NOT_FOUND, E_CLI_INVALID_ARG
 * for an invalid name, or E_CONFLICT if another command holds the lock. */
MUST_USE bool box_use_find(
    const char *dir, struct str name, unsigned purpose, struct box_use *use, struct err *err);

/* Then opens the box. */
MUST_USE bool box_use_read(struct box_use *use, struct str name, unsigned purpose,
    const struct agent_rows *rows, struct arena *arena, struct err *err);
void box_use_done(struct box_use *use);

/* Number of recordings beyond the newest few, counted or deleted. */
size_t box_use_old_runs(const struct box *box, bool only_count, struct arena *arena);

/* Message about a proxy that ended unexpectedly, or NULL. */
const char *box_use_proxy_ended(const struct box_state *state, struct arena *arena);

#endif
