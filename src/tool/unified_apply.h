/* What a unified diff makes of files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_UNIFIED_APPLY_H
#define TOOL_UNIFIED_APPLY_H

#include "tool/patch.h"
#include "tool/unified.h"

/* As `git apply` judges it, except that line numbers must be right. E_PATCH_APPLY if something does
 * not fit. */
MUST_USE bool unified_apply(const struct unified *u, struct patch *p, struct err *err);

#endif
