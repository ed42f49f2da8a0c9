/* How the changes of a box can be kept apart here: an overlay, or a second copy of its baseline.
 *
 *     if (!layering_choose(&overlay, &layering, &why, err)) return false;
 *     if (layering == BOX_LAYERS_SECOND_COPY) ... say why ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_LAYERING_H
#define BOX_LAYERING_H

#include "base/buf.h"
#include "box/box.h"
#include "sandbox/plan.h"

/* The overlay is mounted once, in a sandbox that nothing runs in. False: there is no sandbox at
 * all. */
MUST_USE bool layering_choose(const struct plan_overlay *overlay, enum box_layering *ret_layering,
    struct buf *why, struct err *err);

/* Makes the second copy, `tree` among the layers, from what the box starts with: its baseline, or
 * the project. */
MUST_USE bool layering_copy(int layers_fd, int from_fd, struct err *err);

#endif
