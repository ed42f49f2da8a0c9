/* What the host has mounted where, from the text of a mountinfo file: see proc(5).
 *
 *     AUTO_BUF struct buf text = BUF_INIT(MOUNTS_TEXT_MAX);
 *     mounts_read(&text);
 *     size_t n = mounts_of_kernel(&arena, buf_str(&text), &at);
 */
#ifndef SANDBOX_MOUNTS_H
#define SANDBOX_MOUNTS_H

#include "base/arena.h"
#include "base/buf.h"

#include <sys/stat.h>

enum {
    MOUNTS_TEXT_MAX = 64 << 20,
};

/* The present mounts, or nothing if they can't be read. */
void mounts_read(struct buf *text);

/* Where file systems are mounted through which the kernel itself is read and set, outside of /proc,
 * /sys and /dev. Below a directory that a policy names they come along with it, and are covered. */
size_t mounts_of_kernel(struct arena *arena, struct str mountinfo, struct str **ret_at);

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
size_t mounts_twins(struct arena *arena, struct str mountinfo, const struct mounts_place *place,
    struct str **ret_at);

#endif
