/* Resource limits of commands, set in the process that will execute one, and a few of process 1.
 *
 *     if (!rlimits_command(in)) return false;   errno
 *
 * All return false and errno on failure. A limit is never raised. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_RLIMITS_H
#define SANDBOX_RLIMITS_H

#include "sandbox/init.h"

MUST_USE bool rlimits_set(int resource, uint64_t most);

/* A share of what all processes of the user have together; at least this much, if they have it. */
MUST_USE bool rlimits_share(int resource, uint64_t least);

/* Everything for a command. */
MUST_USE bool rlimits_command(const struct init_input *in);

#endif
