/* What a freeform patch makes of files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_ENVELOPE_APPLY_H
#define TOOL_ENVELOPE_APPLY_H

#include "tool/envelope.h"
#include "tool/patch.h"

/* In the patch's order, each seeing what those before it did. E_PATCH_APPLY if one does not fit. */
MUST_USE bool envelope_apply(const struct envelope *e, struct patch *p, struct err *err);

#endif
