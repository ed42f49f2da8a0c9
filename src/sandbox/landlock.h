/* Landlock by its system calls: rules on files that come on top of the mounts.
 *
 *     int fd = landlock_create(landlock_abi());
 *     landlock_allow(fd, path_fd, PLAN_READ | PLAN_EXEC, is_dir);
 *     landlock_enter(fd);                                    after PR_SET_NO_NEW_PRIVS
 *
 * Nothing here allocates or prints: it runs in a child between clone() and exec().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include "base/base.h"

/* The kernel's version of Landlock; 0 and errno if it has none. */
int landlock_abi(void);

/* Whether this version has a right for emptying a file by its name. */
bool landlock_stops_truncation(int abi);

/* Whether this version keeps signals and abstract sockets inside. */
bool landlock_has_scopes(int abi);

struct landlock_options {
    bool tcp; /* refuse TCP as well (version 4) */
};

/* A ruleset that handles every right of this version: a descriptor, or -1 and errno. */
int landlock_create(int abi, const struct landlock_options *options);

/* Allows what the PLAN_ bits say below (or at) this descriptor; 0, or -1 and errno. */
int landlock_allow(int ruleset, int abi, int fd, unsigned access, bool is_dir);

int landlock_enter(int ruleset);

#endif
