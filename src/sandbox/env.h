/* The environment of a command, built from scratch.
 *
 *     const char *const *envp = env_make(&policy.env, environ, &arena);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ENV_H
#define SANDBOX_ENV_H

#include "policy/policy.h"

/* TERM and LANG, then the caller's variables that `inherit` passes, then those of `set`; later
 * sources override earlier ones. Ends in NULL, has each name once. */
const char *const *env_make(
    const struct policy_env *env, const char *const *caller, struct arena *arena);

#endif
