/* Landlock by its system calls: rules on files in addition to the mounts.
 *
 *     int fd = landlock_create(landlock_abi());
 *     landlock_allow(fd, path_fd, PLAN_READ | PLAN_EXEC, is_dir);
 *     landlock_restrict(fd);                                    after PR_SET_NO_NEW_PRIVS
 *
 * Nothing here allocates or prints: it runs in a child between clone() and exec().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include "base/base.h"

/* The kernel's version of Landlock; 0 and errno if it has none. */
int landlock_abi(void);

/* Whether this version has a right for truncating a file by its path. */
bool landlock_stops_truncation(int abi);

/* Whether this version can confine signals and abstract sockets to the sandbox. */
bool landlock_has_scopes(int abi);

struct landlock_options {
    bool tcp; /* also refuse TCP (version 4) */
};

/* Creates a ruleset that handles every right of this version. Returns a file descriptor, or -1 and
 * errno. */
int landlock_create(int abi, const struct landlock_options *options);

/* Allows the access in the PLAN_ bits below (or at) this file descriptor. Returns 0, or -1 and
 * errno. */
int landlock_allow(int ruleset, int abi, int fd, unsigned access, bool is_dir);

int landlock_restrict(int ruleset);

#endif
