/* Ring buffer of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/grid.h"

#include "term/term_runs.h"

enum {
    HISTORY_BYTES = 16 << 20, /* limit on the scrollback's cells */
};

static cell *new_cells(int cols)
{
    return base_alloc((size_t)cols * sizeof(cell));
}

void grid_init(struct grid *g, int rows, int cols, int history_max)
{
    int limit = history_max, most = HISTORY_BYTES / (cols * (int)sizeof(cell));
    uint32_t size = 1;
    history_max = MIN(history_max, most);
    while (size < (uint32_t)(rows + history_max))
        size *= 2;
    *g = (struct grid){
        .ring = base_alloc(size * sizeof(struct row)),
        .mask = size - 1,
        .rows = rows,
        .cols = cols,
        .history_max = history_max,
        .history_limit = limit,
    };
    for (int y = 0; y < rows; y++)
        grid_row(g, y)->cells = new_cells(cols);
}

void grid_done(struct grid *g)
{
    for (uint32_t i = 0; g->ring && i <= g->mask; i++)
        free(g->ring[i].cells);
    free(g->ring);
    *g = (struct grid){0};
}

/* Blanks a wide character that straddles the left edge of column `at`. */
static void grid_split_wide(struct row *row, int at, int cols)
{
    if (at <= 0 || at >= cols || !(row->cells[at] & CELL_TAIL))
        return;
    row->cells[at - 1] &= CELL_STYLE;
    row->cells[at] &= CELL_STYLE;
    row_touch(row, 0);
}

void row_cut_wide(struct row *row, int from, int to, int cols)
{
    grid_split_wide(row, from, cols);
    grid_split_wide(row, to, cols);
}

void row_fill(struct row *row, int from, int to, cell with)
{
    if (with == 0)
        to = MIN(to, row->used);
    if (from < to)
        runs_fill(row->cells + from, (size_t)(to - from), with);
    if (with == 0 && to == row->used && from < to)
        row->used = (uint16_t)from;
    row_touch(row, with ? to : 0);
}

void row_clear(struct row *row, int cols, cell blank)
{
    if (blank == 0) {
        memset(row->cells, 0, row->used * sizeof(cell));
        row->used = 0;
        row->flags = 0;
        return;
    }
    bool there = row->flags & ROW_SAME && row->cells[0] == blank;
    if (!there)
        row_fill(row, 0, cols, blank);
    row->flags = ROW_SAME;
}

void row_move(struct row *row, int to, int from, int n, int cols)
{
    if (n <= 0)
        return;
    row_cut(row, from, from + n, cols);
    /* If the ranges overlap, characters at the inner boundary move as a whole: do not cut them. */
    bool begins_within = to > from && to < from + n, ends_within = to < from && to + n > from;
    row_cut(row, begins_within ? from : to, ends_within ? from + n : to + n, cols);
    memmove(row->cells + to, row->cells + from, (size_t)n * sizeof(cell));
    row_touch(row, to + n);
}

void grid_push(struct grid *g, cell blank)
{
    if (g->history_max == 0) {
        grid_scroll(g, 0, g->rows - 1, 1, blank);
        return;
    }
    if (g->history < g->history_max) {
        g->history++;
        g->base++;
        struct row *fresh = grid_row(g, g->rows - 1);
        if (!fresh->cells)
            fresh->cells = new_cells(g->cols);
        row_clear(fresh, g->cols, blank);
        return;
    }
    /* Reuse the oldest row as the newest. */
    struct row *oldest = grid_row(g, -g->history);
    g->base++;
    struct row *fresh = grid_row(g, g->rows - 1);
    if (fresh != oldest && !fresh->cells) {
        *fresh = *oldest;
        *oldest = (struct row){0};
    }
    row_clear(fresh, g->cols, blank);
}

static void swap_rows(struct row *a, struct row *b)
{
    struct row row = *a;
    *a = *b;
    *b = row;
}

static void grid_reverse_rows(struct grid *g, int first, int last)
{
    for (; first < last; first++, last--)
        swap_rows(grid_row(g, first), grid_row(g, last));
}

/* Rotates by one: moves every row once. */
static void rotate_one(struct grid *g, int top, int bottom)
{
    struct row first = *grid_row(g, top);
    for (int y = top; y < bottom; y++)
        *grid_row(g, y) = *grid_row(g, y + 1);
    *grid_row(g, bottom) = first;
}

static void grid_rotate_rows(struct grid *g, int top, int bottom, int n)
{
    if (n == 1) {
        rotate_one(g, top, bottom);
        return;
    }
    grid_reverse_rows(g, top, top + n - 1);
    grid_reverse_rows(g, top + n, bottom);
    grid_reverse_rows(g, top, bottom);
}

/* Clears the wrap flag: the row below is no longer its continuation. */
static void grid_end_row(struct grid *g, int y)
{
    if (y >= -g->history)
        grid_row(g, y)->flags &= (uint16_t)~ROW_WRAPS;
}

void grid_push_above(struct grid *g, int bottom, cell blank)
{
    grid_push(g, blank);
    if (bottom < g->rows - 1) {
        grid_rotate_rows(g, bottom, g->rows - 1, g->rows - 1 - bottom);
        grid_end_row(g, bottom - 1);
    }
}

void grid_scroll(struct grid *g, int top, int bottom, int n, cell blank)
{
    int height = bottom - top + 1;
    if (n == 0 || height <= 0)
        return;
    int count = MIN(n > 0 ? n : -n, height);
    if (count < height)
        grid_rotate_rows(g, top, bottom, n > 0 ? count : height - count);
    int first = n > 0 ? bottom - count + 1 : top;
    for (int y = first; y < first + count; y++)
        row_clear(grid_row(g, y), g->cols, blank);
    grid_end_row(g, top - 1);
    grid_end_row(g, first - 1);
    grid_end_row(g, bottom);
}

void grid_drop_history(struct grid *g)
{
    for (int y = -g->history; y < 0; y++) {
        struct row *row = grid_row(g, y);
        free(row->cells);
        *row = (struct row){0};
    }
    g->history = 0;
}
