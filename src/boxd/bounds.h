/* Checks before a box is created whether its limits can be enforced on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_BOUNDS_H
#define BOXD_BOUNDS_H

#include "box/box.h"

/* E_SANDBOX_UNAVAILABLE if not, unless the user accepted inexact limits. `layered`: changes go to
 * an overlay, which can't be id-mapped. */
MUST_USE bool bounds_check(const struct box_setup *setup, bool layered, struct err *err);

#endif
