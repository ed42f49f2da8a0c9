/* What a box would lose, and losing it: for reset, destroy and new --replace. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_RESET_H
#define BOX_RESET_H

#include "box/box.h"
#include "box/delta.h"

/* Every change that was not applied. E_NOT_FOUND: the project is gone, and with it the answer. */
MUST_USE bool reset_unapplied(const struct box *box, struct delta *delta, struct err *err);

/* E_CONFLICT if there is any, with some names. `verb` is what the box would lose it by. */
MUST_USE bool reset_refuse_loss(const struct box *box, const char *verb, struct err *err);

enum {
    RESET_GRACE_MS = 5000,
};

/* Stops the box if it runs, and keeps it from being started until the lock is closed. */
MUST_USE bool reset_halt(const struct box *box, int *ret_lock, struct err *err);

struct reset_options {
    bool clean; /* its home, too */
};

/* Drops the changes. The caller holds the box's name and keeps it from running. */
MUST_USE bool reset_box(const struct boxes *boxes, const struct box *box,
    const struct reset_options *options, struct err *err);

#endif
