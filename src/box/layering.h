/* Chooses how the changes of a box are kept separate: an overlay, or a second copy of its baseline.
 *
 *     if (!layering_choose(&overlay, &layering, &why, err)) return false;
 *     if (layering == BOX_LAYERS_SECOND_COPY) ... report why ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_LAYERING_H
#define BOX_LAYERING_H

#include "base/buf.h"
#include "box/box.h"
#include "sandbox/plan.h"

/* Test-mounts the overlay in an otherwise empty sandbox. False if sandboxes do not work at all. */
MUST_USE bool layering_choose(const struct plan_overlay *overlay, enum box_layering *ret_layering,
    struct buf *why, struct err *err);

/* The same for several overlays at once, without a fallback: false and the reason. */
MUST_USE bool layering_test(
    const struct plan_overlay *overlays, size_t n, struct buf *why, struct err *err);

/* Creates the second copy, `tree` among the layers, from the box's baseline or from the project. */
MUST_USE bool layering_copy(int layers_fd, int from_fd, struct err *err);

#endif
