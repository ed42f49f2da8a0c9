/* What a box's changes were at one moment: their contents and link targets, kept where the box
 * can't reach them. What is shown, judged and written by an apply is all read from here, so that a
 * box that still runs can change nothing of it: neither with times set back nor by a mapping.
 *
 *     AUTO_TAKEN struct taken s = TAKEN_INIT;
 *     if (!taken_make(&s, &trees, &delta, err)) ...      the delta's new sides are as taken
 *     struct str text = taken_text(&s, &delta.items[i]);
 *
 * Small files and links are kept in memory. All others are in one file without a name, which is
 * gone with the process: blocks are shared where the file system can do that, holes stay holes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_TAKEN_H
#define BOX_TAKEN_H

#include "box/delta.h"

enum {
    TAKEN_SMALL = 1 << 20, /* bytes of a file that is kept in memory */
};
#define TAKEN_MEMORY    ((size_t)256 << 20) /* for all of those */
#define TAKEN_BYTES_MAX ((uint64_t)64 << 30)

struct taken_file {
    const char *text; /* in memory; NULL: in the file, or nothing */
    uint64_t at;      /* in the file */
    int64_t ctime_s, ctime_ns;
};

struct taken {
    const struct delta_item *items; /* borrowed: which is whose */
    struct taken_file *files;
    size_t n;
    struct arena arena;
    int fd; /* of the file without a name; -1: there is none */
    uint64_t used;
};

#define TAKEN_INIT ((struct taken){.arena = ARENA_INIT(TAKEN_MEMORY), .fd = -1})
#define AUTO_TAKEN AUTO(taken_done)

struct taken_trees {
    int old_fd;   /* what the box began with */
    int upper_fd; /* its own layer */
    int dir_fd;   /* for the file: where the box can't look */
};

/* E_CONFLICT if a change is not a file or link any more. The items must stay where they are. */
MUST_USE bool taken_make(
    struct taken *s, const struct taken_trees *trees, struct delta *delta, struct err *err);
void taken_done(struct taken *s);

/* A link's target, or the content of a file in memory; p is NULL for one that is not in memory. */
struct str taken_text(const struct taken *s, const struct delta_item *item);
/* Of such a file: where its content begins in s->fd; its length is the item's. */
uint64_t taken_at(const struct taken *s, const struct delta_item *item);
/* Has an open file, or a link, the content that was taken? */
MUST_USE bool taken_same(const struct taken *s, const struct delta_item *item, int fd,
    const struct stat *st, uint64_t *left, bool *ret_same, struct err *err);
/* Appends it; nothing for what is deleted. */
MUST_USE bool taken_read(
    const struct taken *s, const struct delta_item *item, struct buf *content, struct err *err);
/* Is a file of the upper layer, as far as can be seen, still as it was taken? */
bool taken_is(const struct taken *s, const struct delta_item *item, const struct stat *st);

#endif
