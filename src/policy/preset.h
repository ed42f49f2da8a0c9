/* Built-in policies for common jobs in one working root.
 *
 *     if (!preset_load("build", STR("/home/me/app"), &arena, &policy, err)) return false;
 *
 * They are src/policy/presets/NAME.yaml, embedded at build time. ${ROOT} at the start of a string
 * is replaced by the working root; system paths that do not exist on this machine are dropped from
 * lists.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_PRESET_H
#define POLICY_PRESET_H

#include "policy/policy.h"

struct preset {
    const char *name;
    const char *about; /* one line */
    const char *text;  /* YAML */
};

extern const struct preset presets[];
extern const size_t n_presets;
extern const char *const preset_names[]; /* NULL-terminated */

/* Returns E_NOT_FOUND for an unknown name. The root must be absolute. */
MUST_USE bool preset_load(const char *name, struct str root, struct arena *arena,
    struct policy *ret_policy, struct err *err);

#endif
