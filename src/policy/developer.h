/* The developer's machine, added to a policy: the toolchains of PATH and of the home directory,
 * read-only; PATH, the locale and a few other variables. For presets, tools and boxes; a policy in
 * a file stays as it is.
 *
 *     const struct developer_input input = {.home = home, .environ = environ};
 *     struct developer d;
 *     developer_add(&input, &arena, &policy, &d);
 *
 * Of the home directory only the entries of a table are shown, and directories of PATH, without
 * files that hold credentials (policy/home_table.h, policy/narrow.h). The command gets a private,
 * empty home directory at the same path, so that toolchains find their files.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_DEVELOPER_H
#define POLICY_DEVELOPER_H

#include "base/arena.h"
#include "policy/narrow.h"
#include "policy/policy.h"

struct developer_input {
    const char *home;           /* the user's, absolute; NULL: none */
    const char *const *environ; /* the user's */
    bool no_home;               /* nothing can be mounted: HOME stays as the policy sets it */
    /* Only paths for which this is true are shown; NULL: all of the tables. */
    bool (*may_show)(struct str resolved);
    struct str state; /* $CORDON_HOME, resolved: never shown; may have no value */
    /* Directories that the caller shows itself, at their own paths: they stay in PATH. */
    struct str_list inside;
    /* Resolved directories that the command can change, besides those that the policy lets it
     * write: nothing that leads through one is shown, because the command could redirect it. */
    struct str_list writable;
    struct str kept_home; /* HOME inside, if it is kept: missing directories of PATH in it stay */
};

/* A directory that is not shown. */
struct developer_omission {
    struct str dir;
    const char *reason;
    bool in_path; /* it is one of PATH; otherwise of the table */
};

struct developer {
    struct str home; /* to be a private directory inside, at this path; no value: none */
    struct str_list shown;
    struct developer_omission *omitted;
    size_t n_omitted;
    const struct narrow_hidden *hidden; /* files in shown directories and in `inside` */
    size_t n_hidden;
    struct narrow narrow; /* hides them; its symlinks are to be made inside */
};

/* Variables that the policy sets already stay, except for PATH and HOME. */
void developer_add(const struct developer_input *input, struct arena *arena, struct policy *policy,
    struct developer *ret_developer);

#endif
