/* Detects and discards the unapplied changes of a box: for reset, destroy and new --replace. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_RESET_H
#define BOX_RESET_H

#include "box/box.h"
#include "change/delta.h"

/* Lists all unapplied changes. E_NOT_FOUND: the project is gone, so they cannot be determined. */
MUST_USE bool reset_unapplied(const struct box *box, struct delta *delta, struct err *err);

/* E_CONFLICT if there are any, naming some. `verb` names the operation that would lose them. */
MUST_USE bool reset_refuse_loss(const struct box *box, const char *verb, struct err *err);

struct reset_options {
    bool clean; /* also reset its home */
};

/* Discards the changes. The caller holds the lock of the name and prevents the box from running. */
MUST_USE bool reset_box(const struct boxes *boxes, const struct box *box,
    const struct reset_options *options, struct err *err);

#endif
