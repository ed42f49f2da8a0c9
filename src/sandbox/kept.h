/* What stays as it is inside, wherever it is shown: found for a plan.
 *
 *     if (!kept_find(&input, mountinfo, &arena, &plan_input, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_KEPT_H
#define SANDBOX_KEPT_H

#include "sandbox/host_plan.h"

/* From the input's `kept` and `own`, under each name that the host's mounts give them. */
MUST_USE bool kept_find(const struct host_plan_input *input, struct str mountinfo,
    struct arena *arena, struct plan_input *plan_input, struct err *err);

#endif
