/* Path resolution through the boundary's roots: private to boundary.c and follow.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_FOLLOW_H
#define PATH_FOLLOW_H

#include "path/boundary.h"

enum {
    BOUNDARY_ROOTS_MAX = 64,
};

struct boundary {
    struct boundary_root roots[BOUNDARY_ROOTS_MAX];
    size_t n_roots;
    char *base; /* NULL: the first root */
};

#endif
