/* Resizing a grid. Wrapped lines are rewrapped, including the scrollback; rows that no longer fit
 * become scrollback, and return when there is room. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

/* Rows are rebuilt in order, as if printed to the new grid from its top. */
struct reflow {
    struct grid *from;
    struct grid to;
    int row, col;               /* position of the next cell */
    int scrolled;               /* rows scrolled out at the top */
    int cursor_row, cursor_col; /* position to find, in the old grid */
    int found_row, found_col;   /* its new position; the row includes `scrolled` */
};

static int row_length(const struct row *row)
{
    int n = row->used;
    while (n > 0 && row->cells[n - 1] == 0)
        n--;
    return n;
}

static void reflow_next_row(struct reflow *r, bool wraps)
{
    if (wraps)
        grid_row(&r->to, r->row)->flags |= ROW_WRAPS;
    r->col = 0;
    if (r->row < r->to.rows - 1) {
        r->row++;
        return;
    }
    grid_push(&r->to, 0);
    r->scrolled++;
}

static void reflow_note_cursor(struct reflow *r)
{
    r->found_row = r->row + r->scrolled;
    r->found_col = r->col;
}

static void reflow_put_cell(struct reflow *r, cell c, bool cursor)
{
    bool wide = c & CELL_WIDE && r->to.cols > 1;
    if (r->col + (wide ? 2 : 1) > r->to.cols)
        reflow_next_row(r, true);
    if (cursor)
        reflow_note_cursor(r);
    if (c & CELL_WIDE && !wide)
        c &= CELL_STYLE; /* does not fit in any row */
    struct row *row = grid_row(&r->to, r->row);
    row->cells[r->col++] = c;
    if (wide)
        row->flags |= ROW_WIDE;
    row_touch(row, r->col);
}

/* Length of a wrapped row, not counting a trailing blank left where a wide character did not
 * fit. */
static int wrapped_length(const struct grid *g, int y, const struct row *row)
{
    int n = g->cols;
    bool filler = y + 1 < g->rows && !(row->cells[n - 1] & CELL_TEXT) &&
                  !(row->cells[n - 1] & CELL_TAIL) && grid_row(g, y + 1)->cells[0] & CELL_WIDE;
    return filler ? n - 1 : n;
}

static void reflow_copy_row(struct reflow *r, int y)
{
    const struct row *row = grid_row(r->from, y);
    bool wraps = row->flags & ROW_WRAPS;
    int n = wraps ? wrapped_length(r->from, y, row) : row_length(row);
    for (int x = 0; x < n; x++) {
        if (row->cells[x] & CELL_TAIL && r->to.cols < 2)
            continue;
        reflow_put_cell(r, row->cells[x], y == r->cursor_row && x == r->cursor_col);
    }
    if (y == r->cursor_row && r->cursor_col >= n) {
        reflow_note_cursor(r);
        if (r->col < r->to.cols) /* else past the last column */
            r->found_col = MIN(r->col + r->cursor_col - n, r->to.cols - 1);
    }
}

/* The last row that is not empty or contains the cursor. */
static int last_row(const struct grid *g, int cursor)
{
    int y = g->rows - 1;
    while (y > cursor && row_length(grid_row(g, y)) == 0)
        y--;
    return y;
}

/* Moves rows back from the scrollback if there is room below. */
static void pull_down(struct grid *g, int last, int *row)
{
    int room = g->rows - 1 - last, n = MIN(room, g->history);
    if (n <= 0)
        return;
    g->base -= (uint32_t)n;
    g->history -= n;
    for (int y = 0; y < g->rows; y++)
        if (!grid_row(g, y)->cells)
            grid_row(g, y)->cells = base_alloc((size_t)g->cols * sizeof(cell));
    *row += n;
}

/* If the cursor's row scrolled out, scrolls back to it; rows at the bottom are lost. */
static void keep_cursor(struct grid *g, int *row)
{
    int n = MIN(-*row, g->history);
    if (n <= 0)
        return;
    g->base -= (uint32_t)n;
    g->history -= n;
    *row += n;
    grid_row(g, g->rows - 1)->flags &= (uint16_t)~ROW_WRAPS;
}

void grid_reflow(struct grid *g, int rows, int cols, int *row, int *col)
{
    struct reflow r = {.from = g, .cursor_row = *row, .cursor_col = *col};
    int last = last_row(g, *row);
    grid_init(&r.to, rows, cols, g->history_limit);
    for (int y = -g->history; y <= last; y++) {
        bool wraps = grid_row(g, y)->flags & ROW_WRAPS;
        reflow_copy_row(&r, y);
        if (!wraps && y < last)
            reflow_next_row(&r, false);
    }
    int at = r.found_row - r.scrolled, end = r.row;
    grid_done(g);
    *g = r.to;
    pull_down(g, end, &at);
    keep_cursor(g, &at);
    *row = MAX(at, 0);
    *col = r.found_col;
}

/* Resizes without rewrapping: for the alternate screen, which its program redraws. */
void grid_crop(struct grid *g, int rows, int cols, int *row)
{
    struct grid to;
    int skip = MAX(*row - (rows - 1), 0);
    grid_init(&to, rows, cols, g->history_limit);
    for (int y = 0; y < MIN(rows, g->rows - skip); y++) {
        struct row *a = grid_row(&to, y), *b = grid_row(g, y + skip);
        int n = MIN(MIN(cols, g->cols), (int)b->used);
        if (n == 0)
            continue;
        memcpy(a->cells, b->cells, (size_t)n * sizeof(cell));
        a->flags = b->flags & ROW_WIDE;
        if (a->cells[n - 1] & CELL_WIDE)
            a->cells[n - 1] &= CELL_STYLE;
        row_touch(a, n);
    }
    grid_done(g);
    *g = to;
    *row -= skip;
}
