/* A table's cells as rows of text: columns with their alignment, fitted to a width.
 *
 *     struct table t = {.columns = 2, .cells = &cells, .align = align};
 *     table_draw(&t, 40, &out);
 *
 * `cells` has one line for each cell, row by row; the first row is the head. Where columns would be
 * too narrow to be read, each row becomes lines of "head: cell".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "tui/text.h"

enum table_align {
    TABLE_LEFT,
    TABLE_CENTER,
    TABLE_RIGHT,
};

enum {
    TABLE_COLUMNS = 64,
    TABLE_NARROW = 6, /* columns below this are not made narrower */
};

struct table {
    size_t columns;
    const struct text *cells;
    const enum table_align *align;
};

void table_draw(const struct table *t, unsigned width, struct text *out);

#endif
