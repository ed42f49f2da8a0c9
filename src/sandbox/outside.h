/* Looks at paths of the host for a report, without side effects: nothing is mounted on demand, no
 * network file system is asked, and nothing is opened except with O_PATH. The paths are chosen by
 * commands in a sandbox.
 *
 *     static struct outside o;
 *     AUTO_FD int fd = outside_open(&o, "/home/me/x", &st);    -1: missing, or unknown
 *
 * Every component is opened by itself; mount points of file systems that are not known to be local
 * are not entered. Allocates nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_OUTSIDE_H
#define SANDBOX_OUTSIDE_H

#include "base/str.h"

#include <sys/stat.h>

enum {
    OUTSIDE_MOUNTS_MAX = 32 * 1024, /* bytes of mount points that are not entered */
};

/* Zeroed at first; the mounts are read once. */
struct outside {
    bool read, too_many; /* with too many mounts nothing is known */
    size_t n;
    char mounts[OUTSIDE_MOUNTS_MAX]; /* NUL-terminated, one after another */
};

/* Opens a path with O_PATH, and follows symlinks. Returns -1 if it can't be known or is not there.
 */
int outside_open(struct outside *o, const char *path, struct stat *ret_st);

/* Adds the mount point of a line of mountinfo, unless its file system is local. Pure. */
void outside_add_mount(struct outside *o, struct str line);

#endif
