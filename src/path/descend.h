/* User-space fallback for openat2(), one component at a time: for environments where an outer
 * sandbox blocks the call, as ours does. Every component is opened without following symlinks,
 * symlinks are read and followed by hand, and ".." walks down again from the start: so a concurrent
 * rename can't lead outside.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_DESCEND_H
#define PATH_DESCEND_H

#include <stdbool.h>
#include <sys/types.h>

struct descend_how {
    int flags;
    mode_t mode;
    bool beneath;     /* EXDEV if it leaves the directory; otherwise the path is absolute */
    bool no_symlinks; /* ELOOP */
};

/* Returns a close-on-exec descriptor, or -1 and errno, like openat2() with
 * RESOLVE_NO_MAGICLINKS. */
int descend(int dir_fd, const char *path, const struct descend_how *how);

#endif
