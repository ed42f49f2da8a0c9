/* Applies a freeform patch to files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_ENVELOPE_APPLY_H
#define TOOL_ENVELOPE_APPLY_H

#include "tool/patch.h"
#include "tool/tool_envelope.h"

/* Applies the sections in order, each seeing the results of those before it. E_PATCH_APPLY if one
 * does not apply. */
MUST_USE bool envelope_apply(const struct envelope *e, struct patch *p, struct err *err);

#endif
