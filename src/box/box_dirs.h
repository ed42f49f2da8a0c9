/* Checks the directories requested for a box before anything is created.
 *
 *     struct box_dir dirs[2];
 *     if (!dirs_check(args, 2, &host, &arena, dirs, err)) return false;
 *     if (dirs[0].danger) ... a warning ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOX_DIRS_H
#define BOX_BOX_DIRS_H

#include "path/dirarg.h"
#include "policy/blocked.h"

#include <sys/types.h>

struct dirs_host {
    const char *home;  /* absolute, or NULL */
    const char *state; /* $CORDON_HOME: absolute, need not exist */
};

struct box_dir {
    struct str path; /* absolute, no symlinks, NUL-terminated */
    dev_t dev;
    ino_t ino;
    mode_t mode;
    uid_t owner;
    const struct blocked *danger; /* rule that ":force" overrode, or NULL */
};

/* Checks that each path exists and is a directory (E_IO); that none is inside $CORDON_HOME and no
 * overlay contains it, even if forced (E_CLI_INVALID_ARG); that none is dangerous, either as
 * written or resolved, unless forced (E_POLICY_DENIED); that none is inside another, even if forced
 * (E_CLI_INVALID_ARG). */
MUST_USE bool dirs_check(const struct dirarg *args, size_t n, const struct dirs_host *host,
    struct arena *a, struct box_dir *ret_dirs, struct err *err);

#endif
