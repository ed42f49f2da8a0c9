/* Which lines differ between two texts.
 *
 *     AUTO_LINEDIFF struct linediff l = {0};
 *     linediff_make(old, new, &budget, &l);
 *     l.old.changed[i]        line i of the old text is not in the new one
 *     linediff_add_hunks(&l, &text, &count);      as `diff -u` prints them
 *
 * Myers' algorithm in linear space. The budget counts steps and is shared by all texts of one
 * listing: where it is used up, or a text has too many lines, what is left counts as wholly
 * replaced. The answer is then longer, never wrong. A line keeps its '\n'; the last one may lack it
 * and then differs from one that has it.
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
