/* The developer's machine in a box (policy/developer.h): toolchains, PATH, locale, certificates.
 *
 *     toolchains_add(&input, &arena, &policy, &developer);
 *     ... the agent's program ...
 *     n = toolchains_binds(&input, &arena, &policy, &binds);
 *
 * Files that the box itself has in its home directory are not hidden: a toolchain of the same name
 * is left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_TOOLCHAINS_H
#define BOX_TOOLCHAINS_H

#include "box/box.h"
#include "policy/developer.h"
#include "sandbox/plan.h"

struct toolchains_input {
    const struct box *box;
    const char *const *environ; /* the user's */
    const char *home;           /* the user's, or NULL */
    struct str state;           /* $CORDON_HOME, resolved */
    struct str_list inside;     /* directories of the host at their own paths in the box */
    struct str_list writable;   /* those that the box writes directly */
};

/* Fills in the two lists from the box's directories. */
void toolchains_places(const struct box *box, struct arena *arena, struct toolchains_input *input);

/* Adds to the policy what the user's machine has. */
void toolchains_add(const struct toolchains_input *input, struct arena *arena,
    struct policy *policy, struct developer *ret_developer);

/* Takes paths in the box's home directory from the policy's lists: they must be mounted there.
 * Missing ones are left out. Returns their number. */
size_t toolchains_binds(const struct toolchains_input *input, struct arena *arena,
    struct policy *policy, struct plan_bind **ret_binds);

/* Lists what the box would show if it were started now. Only E_NOT_FOUND or E_IO if the policy
 * cannot be made. */
MUST_USE bool toolchains_list(const struct box *box, const char *const *variables, const char *home,
    struct arena *arena, struct developer *ret_developer, struct err *err);

/* $CORDON_HOME, which contains the box as sandboxes/<name>. */
struct str toolchains_state(const struct box *box, struct arena *arena);

/* The policy for the system in a box, without its directories: the build preset's. */
MUST_USE bool toolchains_policy(
    const struct box *box, struct arena *arena, struct policy *ret_policy, struct err *err);

#endif
