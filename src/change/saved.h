/* Snapshot of a box's changes: their contents and symlink targets, kept where the box can't reach
 * them. An apply shows, checks and writes only this snapshot, so that a running box cannot change
 * anything in between, neither with forged times nor through a mapping.
 *
 *     AUTO_SAVED struct saved s = SAVED_INIT;
 *     if (!saved_make(&s, &trees, &delta, err)) ...      updates the delta's new sides
 *     struct str text = saved_text(&s, &delta.items[i]);
 *
 * Small files and symlinks are kept in memory. All others are in one unnamed temporary file, which
 * disappears with the process: blocks are shared where the file system supports it, holes are
 * preserved.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_SAVED_H
#define CHANGE_SAVED_H

#include "change/delta.h"

enum {
    SAVED_SMALL = 1 << 20, /* largest file kept in memory */
};
#define SAVED_MEMORY    ((size_t)256 << 20) /* total for those */
#define SAVED_BYTES_MAX ((uint64_t)64 << 30)

struct saved_file {
    const char *text; /* in memory; NULL: in the file, or nothing */
    uint64_t at;      /* offset in the file */
    int64_t ctime_s, ctime_ns;
};

struct saved {
    const struct delta_item *items; /* borrowed; files[] has the same indices */
    struct saved_file *files;
    size_t n;
    struct arena arena;
    int fd; /* the unnamed file, or -1 */
    uint64_t used;
};

#define SAVED_INIT ((struct saved){.arena = ARENA_INIT(SAVED_MEMORY), .fd = -1})
#define AUTO_SAVED AUTO(saved_done)

struct saved_trees {
    int old_fd;   /* the box's baseline */
    int upper_fd; /* the box's own layer */
    int dir_fd;   /* directory for the file, inaccessible to the box */
};

/* E_CONFLICT if a change is no longer a file or symlink. The items must not be moved afterwards. */
MUST_USE bool saved_make(
    struct saved *s, const struct saved_trees *trees, struct delta *delta, struct err *err);
void saved_done(struct saved *s);

/* A symlink's target, or the content of a file in memory; p is NULL if it is not in memory. */
struct str saved_text(const struct saved *s, const struct delta_item *item);
/* For such a file: offset of its content in s->fd; its length is the item's. */
uint64_t saved_at(const struct saved *s, const struct delta_item *item);
/* Compares an open file or symlink with the snapshot. */
MUST_USE bool saved_same(const struct saved *s, const struct delta_item *item, int fd,
    const struct stat *st, uint64_t *left, bool *ret_same, struct err *err);
/* Appends the content; nothing for a deletion. */
MUST_USE bool saved_read(
    const struct saved *s, const struct delta_item *item, struct buf *content, struct err *err);
/* Checks whether a file of the upper layer is, judging by stat(), still as in the snapshot. */
bool saved_is(const struct saved *s, const struct delta_item *item, const struct stat *st);

#endif
