/* Rows of cells in a ring: the screen, and above it what has scrolled out. Scrolling moves an index
 * and clears one row; nothing is copied.
 *
 *     struct row *row = grid_row(&grid, y);      y below 0: the scrollback, -1 the newest
 *     row->cells[x] = style | 'a';
 *     grid_push(&grid, blank);                   the top row becomes scrollback
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_GRID_H
#define TERM_GRID_H

#include "base/base.h"

/* A cell is a number: a code point or the number of a cluster, what kind it is, and its style. 0 is
 * an empty cell in the default style. */
typedef uint64_t cell;

#define CELL_CHAR        UINT64_C(0x1FFFFF)
#define CELL_CLUSTER     (UINT64_C(1) << 21) /* the number is that of a cluster */
#define CELL_WIDE        (UINT64_C(1) << 22) /* two columns; the right half follows */
#define CELL_TAIL        (UINT64_C(1) << 23) /* the right half of the cell before it */
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
    ROW_WRAPS = 1,  /* goes on in the next row */
    ROW_WIDE = 2,   /* there may be wide cells in it */
    ROW_HASHED = 4, /* `hash` is that of the cells */
    ROW_SAME = 8,   /* every cell is as the first one */
};

struct row {
    cell *cells;
    uint64_t hash;
    uint16_t used; /* cells from here on are 0 */
    uint16_t flags;
};

struct grid {
    struct row *ring;
    uint32_t mask; /* its size, a power of two, less one */
    uint32_t base; /* where row 0 is */
    int rows, cols;
    int history, history_max; /* lines: now, and at most */
    int history_limit;        /* what was asked for; memory may allow less */
};

void grid_init(struct grid *g, int rows, int cols, int history_max);
void grid_done(struct grid *g);

static inline struct row *grid_row(const struct grid *g, int y)
{
    return &g->ring[(g->base + (uint32_t)y) & g->mask];
}

/* The row will be changed, up to the column `end`. */
static inline void row_touch(struct row *row, int end)
{
    row->flags &= (uint16_t) ~(ROW_HASHED | ROW_SAME);
    if (end > row->used)
        row->used = (uint16_t)end;
}

/* Fills a range of columns: wide characters at its ends have been cut. */
void row_fill(struct row *row, int from, int to, cell with);

/* Blanks wide characters that are partly in the range. */
void row_cut_wide(struct row *row, int from, int to, int cols);

static inline void row_cut(struct row *row, int from, int to, int cols)
{
    if (row->flags & ROW_WIDE)
        row_cut_wide(row, from, to, cols);
}

/* All of it, and it no longer goes on. */
void row_clear(struct row *row, int cols, cell blank);

/* Moves cells within a row, cutting what is wide at the ends; both ranges are in it. */
void row_move(struct row *row, int to, int from, int n, int cols);

/* The screen goes up by one row; the top one is kept as scrollback, if there is to be any. */
void grid_push(struct grid *g, cell blank);

/* The same of the rows down to `bottom`; those below it stay. There is to be scrollback. */
void grid_push_above(struct grid *g, int bottom, cell blank);

/* Rows `top` to `bottom` go up by n (down, if it is negative); those that come in are blank. */
void grid_scroll(struct grid *g, int top, int bottom, int n, cell blank);

void grid_drop_history(struct grid *g);

#endif
