/* Renders a table as rows of text: aligned columns, fitted to a width.
 *
 *     struct table t = {.columns = 2, .cells = &cells, .align = align};
 *     table_draw(&t, 40, &out);
 *
 * `cells` has one line per cell, row by row; the first row is the head. If columns would be too
 * narrow, each row becomes lines of "head: cell".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "tui/tui_text.h"

enum table_align {
    TABLE_LEFT,
    TABLE_CENTER,
    TABLE_RIGHT,
};

enum {
    TABLE_COLUMNS = 64,
    TABLE_NARROW = 6, /* minimum width to which columns are shrunk */
};

struct table {
    size_t columns;
    const struct text *cells;
    const enum table_align *align;
};

void table_draw(const struct table *t, unsigned width, struct text *out);

#endif
