/* Line diff of two texts.
 *
 *     AUTO_LINEDIFF struct linediff l = {0};
 *     linediff_make(old, new, &budget, &l);
 *     l.old.changed[i]        line i of the old text is not in the new one
 *     linediff_add_hunks(&l, &text, &count);      as `diff -u` prints them
 *
 * Myers' algorithm in linear space. The budget counts steps and is shared by all texts of one
 * listing: once it is used up, or if a text has too many lines, the remainder counts as entirely
 * replaced. The result is then longer, but never wrong. A line keeps its '\n'; a last line without
 * one differs from the same line with it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LINEDIFF_H
#define BASE_LINEDIFF_H

#include "base/buf.h"

enum {
    LINEDIFF_LINES_MAX = 4 * 1000 * 1000, /* of one text */
    LINEDIFF_CONTEXT = 3,
};

struct linediff_side {
    struct str *lines;
    bool *changed;
    size_t n;
};

struct linediff {
    struct linediff_side old, new;
};

#define AUTO_LINEDIFF AUTO(linediff_done)

/* The texts must outlive the result. */
void linediff_make(struct str old, struct str new, int64_t *budget, struct linediff *ret_diff);
void linediff_done(struct linediff *l);

struct linediff_count {
    uint64_t added, deleted; /* lines */
};

/* Appends the hunks of a unified diff, and adds to the counts. */
void linediff_add_hunks(const struct linediff *l, struct buf *text, struct linediff_count *count);

#endif
