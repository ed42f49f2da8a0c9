/* Additions to a policy from outside it: the user's settings, or options of a command.
 *
 *     if (!extra_check(&extra, &host, &names, &arena, err)) return false;
 *     extra_apply(&extra, environ, &arena, &policy);
 *
 * The guards are those of a policy: blocked entries and variables, symlinks, hosts.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_EXTRA_H
#define POLICY_EXTRA_H

#include "policy/validate.h"

struct extra_env {
    struct str_list pass; /* variables of the caller */
    struct str_map set;
    bool has_pass, has_set; /* given, if only empty */
};

struct policy_extra {
    struct str_list read, write, exec; /* absolute */
    bool has_read, has_write, has_exec, has_hosts;
    struct extra_env env;
    struct str_list hosts;       /* see allowed_hosts of a policy */
    struct policy_limits limits; /* 0: unchanged */
};

/* The names of the lists in messages: "--read", "sandbox.read". */
struct extra_names {
    const char *read, *write, *exec, *env_pass, *env_set, *hosts;
    bool indexed;       /* with an index behind the name */
    enum err_code code; /* of the error */
};

/* Whether it adds nothing. */
bool extra_is_empty(const struct policy_extra *extra);

/* Checks the entries, but not whether paths exist unless `must_exist`; files that take effect
 * without being started need not: such an entry lets tools create them. The error's context has
 * "field". */
MUST_USE bool extra_check(const struct policy_extra *extra, const struct policy_host *host,
    const struct extra_names *names, bool must_exist, struct arena *arena, struct err *err);

/* Paths that do not exist are left out, and hosts where the sandbox can't limit them. */
void extra_apply(const struct policy_extra *extra, const char *const *caller, struct arena *arena,
    struct policy *policy);

/* The text of a denial about an entry of a list, for a value of an option or a setting. */
const char *extra_reword(const char *text);

#endif
