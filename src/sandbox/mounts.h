/* The host's mounts, from the text of a mountinfo file: see proc(5).
 *
 *     AUTO_BUF struct buf text = BUF_INIT(MOUNTS_TEXT_MAX);
 *     if (!mounts_read(&text, err) || !mounts_of_kernel(&arena, buf_str(&text), &list, err))
 *         return false;
 *
 * Text that can't be read or is too long is E_SANDBOX_UNAVAILABLE: nothing is left out.
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

/* Reads the current mounts. */
MUST_USE bool mounts_read(struct buf *text, struct err *err);

/* Unescaped paths. */
struct mounts_list {
    struct str *p;
    size_t n;
};

/* Mount points of file systems that expose the kernel's data and settings, outside of /proc, /sys
 * and /dev. Below a directory that a policy names they are shown along with it, so they are
 * covered. */
MUST_USE bool mounts_of_kernel(
    struct arena *arena, struct str mountinfo, struct mounts_list *ret_list, struct err *err);

/* Whether anything is mounted below a path. */
MUST_USE bool mounts_below(
    struct arena *arena, struct str mountinfo, struct str path, bool *ret_any, struct err *err);

/* A directory of a file system, and where a mount shows it: at the relative path `below` in the
 * mount `at`. */
struct mounts_wanted {
    struct str type; /* of the file system, such as "cgroup2" */
    struct str path; /* within it */
};
struct mounts_shown {
    struct str at, below;
};

/* Finds the first mount that shows it. Returns false if no mount does. */
MUST_USE bool mounts_find(struct arena *arena, struct str mountinfo,
    const struct mounts_wanted *wanted, struct mounts_shown *ret_shown);

/* Adds the mounts at, below and above a directory to a hash (base/fnv.h). */
MUST_USE uint64_t mounts_add_hash(
    struct arena *arena, struct str mountinfo, struct str dir, uint64_t hash);

/* Calls statx() on a path, without following a symlink at its end; and compares whether two results
 * are the same file. */
bool mounts_statx(struct str path, unsigned mask, struct statx *ret_stat);
bool mounts_same_file(const struct statx *a, const struct statx *b);

/* A directory, and the id of the mount that it is in. */
struct mounts_place {
    struct str path; /* resolved */
    uint64_t mount;
};

/* Other paths at which the same directory could be visible, since a part of its file system is also
 * mounted there. Another mount may hide it there: the caller must check. */
MUST_USE bool mounts_other_names(struct arena *arena, struct str mountinfo,
    const struct mounts_place *place, struct mounts_list *ret_list, struct err *err);

#endif
