/* Whether a box's limits can be kept on this machine, before the box is made. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOUNDS_H
#define BOX_BOUNDS_H

#include "box/box.h"

/* E_SANDBOX_UNAVAILABLE if not, and the user did not agree to less. `layered`: its changes go to an
 * overlay, which can't be id-mapped. */
MUST_USE bool bounds_check(const struct box_setup *setup, bool layered, struct err *err);

#endif
