/* What the host has mounted where, from the text of a mountinfo file: see proc(5).
 *
 *     AUTO_BUF struct buf text = BUF_INIT(MOUNTS_TEXT_MAX);
 *     if (!mounts_read(&text, err) || !mounts_of_kernel(&arena, buf_str(&text), &list, err))
 *         return false;
 *
 * What can't be read, or is too much, is E_SANDBOX_UNAVAILABLE: nothing is left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_MOUNTS_H
#define SANDBOX_MOUNTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <sys/stat.h>

enum {
    MOUNTS_TEXT_MAX = 64 << 20,
};

/* The present mounts. */
MUST_USE bool mounts_read(struct buf *text, struct err *err);

/* Paths, as they are. */
struct mounts_list {
    struct str *p;
    size_t n;
};

/* Where file systems are mounted through which the kernel itself is read and set, outside of /proc,
 * /sys and /dev. Below a directory that a policy names they come along with it, and are covered. */
MUST_USE bool mounts_of_kernel(
    struct arena *arena, struct str mountinfo, struct mounts_list *ret_list, struct err *err);

/* A directory of a file system, and where a mount shows it: `below`, relative, in the mount `at`.
 */
struct mounts_wanted {
    struct str type; /* of the file system, such as "cgroup2" */
    struct str path; /* in it */
};
struct mounts_shown {
    struct str at, below;
};

/* The first mount that shows it; false if there is none. */
MUST_USE bool mounts_find(struct arena *arena, struct str mountinfo,
    const struct mounts_wanted *wanted, struct mounts_shown *ret_shown);

/* What a path leads to, a link at its end not followed; and whether two looks saw one file. */
bool mounts_look(struct str path, unsigned mask, struct statx *ret_stat);
bool mounts_same(const struct statx *a, const struct statx *b);

/* A directory, and the number of the mount that it lies in. */
struct mounts_place {
    struct str path; /* resolved */
    uint64_t mount;
};

/* Where else the same directory could be seen, since a part of its file system is mounted there,
 * too. Another mount may hide it there: the caller looks. */
MUST_USE bool mounts_twins(struct arena *arena, struct str mountinfo,
    const struct mounts_place *place, struct mounts_list *ret_list, struct err *err);

#endif
