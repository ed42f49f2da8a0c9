/* What no policy may allow, whatever it acknowledges: tables of paths, environment names and, if
 * the policy allows none, shells. Pure: names in, reasons out.
 *
 *     const struct blocked *row = blocked_path(STR("/etc"), BLOCKED_READ);
 *     if (row) ... row->reason, row->fix
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_BLOCKED_H
#define POLICY_BLOCKED_H

#include "base/str.h"

enum blocked_use {
    BLOCKED_READ, /* and to execute */
    BLOCKED_WRITE,
};

struct blocked {
    const char *name; /* of environment variables: several */
    const char *reason;
    const char *fix;
};

/* For an absolute and clean path (see lexical_absolute()): NULL if it may be named. The home
 * directory is not in the table. */
const struct blocked *blocked_path(struct str path, enum blocked_use use);

/* For the name of an environment variable, in any case. */
const struct blocked *blocked_env(struct str name);

/* Whether a program of this name is a shell, or a shell script. */
bool blocked_shell(struct str base_name);

#endif
