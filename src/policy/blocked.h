/* Entries that no policy may allow, whatever it acknowledges: tables of paths, environment names
 * and, if the policy allows none, shells. Pure: names in, reasons out.
 *
 *     const struct blocked *row = blocked_path(STR("/etc"), BLOCKED_READ);
 *     if (row) ... row->reason, row->fix
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_BLOCKED_H
#define POLICY_BLOCKED_H

#include "base/str.h"

enum blocked_use {
    BLOCKED_READ, /* also for executing */
    BLOCKED_WRITE,
};

struct blocked {
    const char *name; /* environment variables: several names */
    const char *reason;
    const char *fix;
};

/* Takes an absolute, normalized path (see lexical_absolute()). Returns NULL if it is not blocked.
 * The home directory is not in the table. */
const struct blocked *blocked_path(struct str path, enum blocked_use use);

/* Looks up the name of an environment variable, ignoring case. */
const struct blocked *blocked_env(struct str name);

/* Whether a program of this name is a shell, or a shell script. */
bool blocked_shell(struct str base_name);

#endif
