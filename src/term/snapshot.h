/* A terminal's screen at one moment, as data: for files, comparisons and pictures.
 *
 *     struct snapshot s;
 *     snapshot_take(t, &arena, SNAPSHOT_CELLS, &s);
 *     s.lines[0]                           "~ $ ls", without blanks at the end
 *     s.cells[row * s.cols + col].text     "日"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_SNAPSHOT_H
#define TERM_SNAPSHOT_H

#include "base/arena.h"
#include "base/json.h"
#include "term/term.h"

enum snapshot_flags {
    SNAPSHOT_CELLS = 1, /* with cells */
};

struct snapshot_cell {
    struct str
        text; /* one grapheme cluster; " " for an empty cell, "" for the right half of a wide one */
    struct str link; /* no value: none */
    struct style style;
    uint8_t width; /* 1, 2; 0 for a right half */
};

struct snapshot {
    unsigned rows, cols;
    struct term_cursor cursor;
    bool alternate_screen;
    bool reverse_screen;
    struct str title, icon;
    enum term_width width;
    struct str *lines;           /* rows of them, valid UTF-8 */
    bool *wraps;                 /* the row goes on in the next one */
    uint64_t *hashes;            /* of each row */
    uint64_t hash;               /* of all that can be seen */
    struct snapshot_cell *cells; /* rows * cols, or NULL */
};

/* Everything is in the arena; the terminal can go on. */
void snapshot_take(
    const struct term *t, struct arena *a, unsigned flags, struct snapshot *ret_snapshot);

/* Rows that differ, and in them the first column and the one after the last (0 and cols where there
 * are no cells). Sizes that differ make every row of the larger one differ. */
struct snapshot_change {
    unsigned row, first, end;
};

struct snapshot_diff {
    bool size, cursor, title, screen; /* what else differs */
    struct snapshot_change *rows;
    size_t n_rows;
};

void snapshot_diff(const struct snapshot *was, const struct snapshot *is, struct arena *a,
    struct snapshot_diff *ret_diff);

/* Whether two cells look the same, whatever is in them; links count by where they lead. */
bool snapshot_same_style(const struct snapshot_cell *a, const struct snapshot_cell *b);

#endif
