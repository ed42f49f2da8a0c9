/* A terminal's screen at one point in time, as data: for files, comparisons and pictures.
 *
 *     struct snapshot s;
 *     snapshot_take(t, &arena, SNAPSHOT_CELLS, &s);
 *     s.lines[0]                           "~ $ ls", without trailing blanks
 *     s.cells[row * s.cols + col].text     "日"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_SNAPSHOT_H
#define TERM_SNAPSHOT_H

#include "base/arena.h"
#include "base/json.h"
#include "term/term.h"

enum snapshot_flags {
    SNAPSHOT_CELLS = 1, /* include cells */
};

struct snapshot_cell {
    struct str
        text; /* one grapheme cluster; " " for an empty cell, "" for the right half of a wide one */
    struct str link; /* null: no link */
    struct style style;
    uint8_t width; /* 1, 2, or 0 for a right half */
};

struct snapshot {
    unsigned rows, cols;
    struct term_cursor cursor;
    bool alternate_screen;
    bool reverse_screen;
    struct str title, icon;
    enum term_width width;
    struct str *lines;           /* one per row, valid UTF-8 */
    bool *wraps;                 /* the row continues in the next one */
    uint64_t *hashes;            /* one per row */
    uint64_t hash;               /* of everything visible */
    struct snapshot_cell *cells; /* rows * cols, or NULL */
};

/* Allocates everything in the arena; does not refer to the terminal. */
void snapshot_take(
    const struct term *t, struct arena *a, unsigned flags, struct snapshot *ret_snapshot);

/* A row that differs, from the first differing column to the one after the last (0 and cols without
 * cells). If the sizes differ, every row of the larger snapshot differs. */
struct snapshot_change {
    unsigned row, first, end;
};

struct snapshot_diff {
    bool size, cursor, title, screen; /* other differences */
    struct snapshot_change *rows;
    size_t n_rows;
};

void snapshot_diff(const struct snapshot *was, const struct snapshot *is, struct arena *a,
    struct snapshot_diff *ret_diff);

/* Whether two cells have the same appearance, regardless of their text. Links are compared by
 * URI. */
bool snapshot_same_style(const struct snapshot_cell *a, const struct snapshot_cell *b);

#endif
