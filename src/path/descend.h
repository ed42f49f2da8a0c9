/* What openat2() does, one component at a time: for where a sandbox around us keeps it away, as
 * ours does. Every component is opened without following links, links are read and followed by
 * hand, and ".." is a new way down from the start: so nothing that is renamed meanwhile leads out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_DESCEND_H
#define PATH_DESCEND_H

#include <stdbool.h>
#include <sys/types.h>

struct descend_how {
    int flags;
    mode_t mode;
    bool beneath;     /* EXDEV for what leaves the directory; otherwise the path is absolute */
    bool no_symlinks; /* ELOOP */
};

/* A descriptor, close-on-exec; or -1 and errno, as openat2() has it with RESOLVE_NO_MAGICLINKS. */
int descend(int dir_fd, const char *path, const struct descend_how *how);

#endif
