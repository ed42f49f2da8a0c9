/* The environment of a command: built from nothing.
 *
 *     const char *const *envp = env_make(&policy.env, environ, &arena);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ENV_H
#define SANDBOX_ENV_H

#include "policy/policy.h"

/* TERM and LANG, what `inherit` passes of the caller's variables, then what `set` says; ends in
 * NULL, sorted by how strong the source is, each name once. */
const char *const *env_make(
    const struct policy_env *env, const char *const *caller, struct arena *arena);

#endif
