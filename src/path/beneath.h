/* Opening below a directory descriptor: the kernel checks, and the check is the open.
 *
 *     AUTO_FD int fd = beneath_open(root_fd, "src/main.c", O_RDONLY, 0, 0);
 *     if (fd < 0 && errno == EXDEV) ...it would have left the directory...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_BENEATH_H
#define PATH_BENEATH_H

#include "base/err.h"

/* May be added to what beneath_open() always asks for (BENEATH and NO_MAGICLINKS). */
enum {
    BENEATH_NO_SYMLINKS = 1, /* refuse links in every component, not only the last (ELOOP) */
};

/* openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS, always close-on-exec. The kernel answers
 * EAGAIN when something was renamed meanwhile: tried again a bounded number of times. Gives a
 * descriptor, or -1 and errno: EXDEV for a path that leaves, ELOOP for refused links. */
int beneath_open(int dir_fd, const char *rel, int flags, mode_t mode, int options);

/* An O_PATH descriptor of whatever an absolute path leads to, links followed, except the magic ones
 * of /proc: to learn where it is, not to use it. -1 and errno if there is nothing. */
int beneath_peek(const char *absolute);

/* The path at which the kernel now sees an open file, in a string for free(); NULL if it has none
 * (deleted, unreachable). For people and for comparison, never for opening again. */
MUST_USE char *beneath_name(int fd);

/* Where an absolute path leads, links followed except the magic ones: beneath_name() of
 * beneath_peek(). For free(); NULL if it leads nowhere. */
MUST_USE char *beneath_resolve(const char *absolute);

#endif
