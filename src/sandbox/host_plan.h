/* The plan for a verdict on this machine in its current state: with the machine's baseline, the
 * loaders that the allowed programs ask for, and covers over paths that the command must not see.
 *
 *     if (!host_plan(&(struct host_plan_input){.verdict = &v}, &arena, &plan, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_HOST_PLAN_H
#define SANDBOX_HOST_PLAN_H

#include "base/err.h"
#include "policy/narrow.h"
#include "sandbox/plan.h"

struct host_plan_input {
    const struct verdict *verdict;
    const struct str *hidden; /* directories; resolved, NUL-terminated */
    size_t n_hidden;
    /* Files and directories that must not change (plan_kept); resolved, NUL-terminated. Missing
     * ones are left out. A file in a writable place that has several hard links is
     * E_POLICY_DENIED. */
    const struct str *kept;
    size_t n_kept;
    /* The same for paths that users gave: absolute, clean, NUL-terminated; symlinks are followed. A
     * symlink on the way that could be replaced inside is E_POLICY_DENIED. */
    const struct str *own;
    size_t n_own;
    const struct plan_overlay *overlays;
    size_t n_overlays;
    const struct plan_bind *binds;
    size_t n_binds;
    struct str home; /* see plan_input */
    /* More files with the given contents, at absolute paths in private directories. */
    const struct baseline_file *files;
    size_t n_files;
    /* More symlinks; those in a shown directory are left out. */
    const struct narrow_link *links;
    size_t n_links;
};

MUST_USE bool host_plan(const struct host_plan_input *input, struct arena *arena,
    struct plan *ret_plan, struct err *err);

#endif
