/* Rows of the live region as cells, to compare and write individually.
 *
 *     struct cells cells = live_cells(&options, &text, line);
 *     free(cells.p);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_LIVE_CELLS_H
#define TUI_LIVE_CELLS_H

#include "tui/live.h"

/* One cluster of a row. */
struct cell {
    struct str text, uri;
    struct style style;
    size_t col;
    unsigned width;
};

struct cells {
    struct cell *p;
    size_t n, width;
};

/* A line that does not exist has no cells. */
struct cells live_cells(const struct live_options *o, const struct text *t, size_t line);

bool live_cell_same(const struct cell *a, const struct cell *b);

/* Compare two rows: whether they are equal, or equal in at least the first half. */
bool live_cells_same(const struct live_options *o, const struct text *a, size_t line,
    const struct text *b, size_t other);
bool live_cells_alike(const struct live_options *o, const struct text *a, size_t line,
    const struct text *b, size_t other);

#endif
