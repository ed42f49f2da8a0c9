/* The directories that a box is to have, looked at before anything is made.
 *
 *     struct box_dir dirs[2];
 *     if (!dirs_check(args, 2, &host, &arena, dirs, err)) return false;
 *     if (dirs[0].danger) ... a warning ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_DIRS_H
#define BOX_DIRS_H

#include "path/dirarg.h"
#include "policy/blocked.h"

#include <sys/types.h>

struct dirs_host {
    const char *home;  /* absolute, or NULL */
    const char *state; /* $CORDON_HOME: absolute, need not be there */
};

struct box_dir {
    struct str path; /* absolute, without links, NUL-terminated */
    dev_t dev;
    ino_t ino;
    mode_t mode;
    const struct blocked *danger; /* what ":force" overrode; NULL: nothing */
};

/* In this order: each is there and a directory (E_IO); none is dangerous, by its name or by where
 * it leads, unless forced (E_POLICY_DENIED); none lies in another, or in where boxes are kept,
 * whatever is forced (E_CLI_INVALID_ARG). */
MUST_USE bool dirs_check(const struct dirarg *args, size_t n, const struct dirs_host *host,
    struct arena *a, struct box_dir *ret_dirs, struct err *err);

#endif
