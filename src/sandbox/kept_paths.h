/* Finds the files and directories that must not change inside, at every path that shows them, for a
 * plan.
 *
 *     if (!kept_paths_find(&input, mountinfo, &arena, &plan_input, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_KEPT_PATHS_H
#define SANDBOX_KEPT_PATHS_H

#include "sandbox/host_plan.h"

/* Finds the input's `kept` and `own` paths, wherever mounts of the host show them. */
MUST_USE bool kept_paths_find(const struct host_plan_input *input, struct str mountinfo,
    struct arena *arena, struct plan_input *plan_input, struct err *err);

#endif
