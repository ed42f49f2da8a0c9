/* Opens paths below a directory descriptor. The kernel does the check as part of the open, which
 * avoids a race.
 *
 *     AUTO_FD int fd = beneath_open(root_fd, "src/main.c", O_RDONLY, 0, 0);
 *     if (fd < 0 && errno == EXDEV) ...it would have left the directory...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_BENEATH_H
#define PATH_BENEATH_H

#include "base/err.h"

#include <sys/stat.h>

/* Added to the flags that beneath_open() always sets (BENEATH and NO_MAGICLINKS). */
enum {
    BENEATH_NO_SYMLINKS = 1, /* refuse symlinks in every component, not only the last (ELOOP) */
};

/* openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS, always close-on-exec. The kernel returns
 * EAGAIN if something was renamed concurrently: retried a bounded number of times. Returns a
 * descriptor, or -1 and errno: EXDEV for a path that leaves the directory, ELOOP for refused
 * symlinks. */
int beneath_open(int dir_fd, const char *rel, int flags, mode_t mode, int options);

/* Opens an O_PATH descriptor of an absolute path, following symlinks except the magic links of
 * /proc: to find out where it leads, not to use it. Returns -1 and sets errno if it does not
 * exist. */
int beneath_peek(const char *absolute);

/* The current path of an open file as the kernel reports it, in a string for free(); NULL if it has
 * none (deleted, unreachable). For messages and comparison, never for opening it again. */
MUST_USE char *beneath_name(int fd);
/* The same if its status is known. */
MUST_USE char *beneath_name_of(int fd, const struct stat *open_file);

/* Resolves an absolute path, following symlinks except magic links: beneath_name() of
 * beneath_peek(). The result is for free(); NULL if it does not exist. */
MUST_USE char *beneath_resolve(const char *absolute);

#endif
