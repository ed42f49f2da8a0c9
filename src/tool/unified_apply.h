/* Applies a unified diff to files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_UNIFIED_APPLY_H
#define TOOL_UNIFIED_APPLY_H

#include "tool/patch.h"
#include "tool/unified.h"

/* Same rules as `git apply`, except that line numbers must be correct. E_PATCH_APPLY if something
 * does not apply. */
MUST_USE bool unified_apply(const struct unified *u, struct patch *p, struct err *err);

#endif
