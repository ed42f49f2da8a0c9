/* Rows of cells in a ring buffer: the screen, preceded by the scrollback. Scrolling the whole
 * screen advances an index and clears one row; nothing is copied.
 *
 *     struct row *row = grid_row(&grid, y);      y below 0: the scrollback, -1 the newest
 *     row->cells[x] = style | 'a';
 *     grid_push(&grid, blank);                   the top row becomes scrollback
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_GRID_H
#define TERM_GRID_H

#include "base/base.h"

/* A cell packs a code point or cluster number, flags and a style number. 0 is an empty cell in the
 * default style. */
typedef uint64_t cell;

#define CELL_CHAR        UINT64_C(0x1FFFFF)
#define CELL_CLUSTER     (UINT64_C(1) << 21) /* CELL_CHAR is a cluster number */
#define CELL_WIDE        (UINT64_C(1) << 22) /* two columns wide; a CELL_TAIL follows */
#define CELL_TAIL        (UINT64_C(1) << 23) /* right half of the preceding cell */
#define CELL_TEXT        (CELL_CHAR | CELL_CLUSTER)
#define CELL_STYLE_SHIFT 32
#define CELL_STYLE       (UINT64_C(0xFFFF) << CELL_STYLE_SHIFT)

static inline uint16_t cell_style(cell c)
{
    return (uint16_t)(c >> CELL_STYLE_SHIFT);
}

static inline uint32_t cell_char(cell c)
{
    return (uint32_t)(c & CELL_CHAR);
}

static inline cell cell_of(uint16_t style)
{
    return (cell)style << CELL_STYLE_SHIFT;
}

enum row_flags {
    ROW_WRAPS = 1,  /* continues in the next row */
    ROW_WIDE = 2,   /* may contain wide cells */
    ROW_HASHED = 4, /* `hash` is valid */
    ROW_SAME = 8,   /* all cells equal the first */
};

struct row {
    cell *cells;
    uint64_t hash;
    uint16_t used; /* cells from here on are 0 */
    uint16_t flags;
};

struct grid {
    struct row *ring;
    uint32_t mask; /* ring size (a power of two) - 1 */
    uint32_t base; /* index of row 0 */
    int rows, cols;
    int history, history_max; /* lines: current and maximum */
    int history_limit;        /* requested maximum; history_max may be lower to save memory */
};

void grid_init(struct grid *g, int rows, int cols, int history_max);
void grid_done(struct grid *g);

static inline struct row *grid_row(const struct grid *g, int y)
{
    return &g->ring[(g->base + (uint32_t)y) & g->mask];
}

/* Marks the row as changed up to column `end`. */
static inline void row_touch(struct row *row, int end)
{
    row->flags &= (uint16_t) ~(ROW_HASHED | ROW_SAME);
    if (end > row->used)
        row->used = (uint16_t)end;
}

/* Fills a range of columns. The caller has cut wide characters at its ends (row_cut()). */
void row_fill(struct row *row, int from, int to, cell with);

/* Blanks wide characters that are partly in the range. */
void row_cut_wide(struct row *row, int from, int to, int cols);

static inline void row_cut(struct row *row, int from, int to, int cols)
{
    if (row->flags & ROW_WIDE)
        row_cut_wide(row, from, to, cols);
}

/* Clears the row and its wrap flag. */
void row_clear(struct row *row, int cols, cell blank);

/* Moves cells within a row, cutting wide characters at the ends. Both ranges must be in the row. */
void row_move(struct row *row, int to, int from, int n, int cols);

/* Scrolls the screen up by one row. The top row becomes scrollback, if history_max is not 0. */
void grid_push(struct grid *g, cell blank);

/* Like grid_push() for rows 0 to `bottom`; the rows below stay. Requires scrollback. */
void grid_push_above(struct grid *g, int bottom, cell blank);

/* Scrolls rows `top` to `bottom` up by n (down if negative) and blanks the rows that come in. */
void grid_scroll(struct grid *g, int top, int bottom, int n, cell blank);

void grid_drop_history(struct grid *g);

#endif
