/* Policies that are built in, for the usual jobs in one working root.
 *
 *     if (!preset_load("build", STR("/home/me/app"), &arena, &policy, err)) return false;
 *
 * They are src/policy/presets/NAME.yaml, put into the program when it is built. ${ROOT} at the
 * start of a text stands for the working root; paths of the system that are not on this machine
 * are left out of the lists.
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
extern const char *const preset_names[]; /* ends in NULL */

/* E_NOT_FOUND for an unknown name. The root must be absolute. */
MUST_USE bool preset_load(const char *name, struct str root, struct arena *arena,
    struct policy *ret_policy, struct err *err);

#endif
