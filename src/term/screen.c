/* Main and alternate screen, and resizing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

void screen_use(struct term *t, bool alternate, bool clear)
{
    t->drawn += alternate;
    if (alternate && clear) {
        struct grid *g = &t->screens[1].grid;
        for (int y = 0; y < g->rows; y++)
            row_clear(grid_row(g, y), g->cols, pen_blank(t));
    }
    t->screen = &t->screens[alternate];
    t->grid = &t->screen->grid;
}

static void move_saved(struct term *t, int row, int by)
{
    struct saved_cursor *s = &t->screens[0].saved;
    (void)row;
    s->row = MAX(MIN(s->row + by, t->rows - 1), 0);
    s->col = MIN(s->col, t->cols - 1);
}

/* Keeps a cursor that is past the last printed character there: in the next column if it exists,
 * otherwise with a wrap pending. Returns true in the latter case. */
static bool step_out(bool pending, int *col, int cols)
{
    if (pending && *col < cols - 1) {
        ++*col;
        return false;
    }
    pending = pending || *col == cols;
    *col = MIN(*col, cols - 1);
    return pending;
}

void screen_resize(struct term *t, int rows, int cols)
{
    bool alternate = t->screen == &t->screens[1];
    struct saved_cursor *saved = &t->screens[0].saved;
    /* On the alternate screen, the main screen's cursor is the saved one. */
    int row = alternate ? saved->row : t->row, col = alternate ? saved->col : t->col, was = row;
    bool at_end = t->pending && (t->col < cols || !alternate);
    grid_reflow(&t->screens[0].grid, rows, cols, &row, &col);
    int other = alternate ? t->row : 0;
    grid_crop(&t->screens[1].grid, rows, cols, &other);
    t->rows = rows;
    t->cols = cols;
    if (alternate) {
        saved->row = MIN(row, rows - 1);
        saved->col = col;
        saved->pending = step_out(saved->pending, &saved->col, cols);
        t->row = other;
        t->col = MIN(t->col, cols - 1);
    } else {
        t->row = row;
        t->col = col;
        move_saved(t, was, row - was);
    }
    margins_reset(t);
    t->row = MIN(t->row, rows - 1);
    t->pending = step_out(at_end, &t->col, cols) && mode_is(t, MODE_AUTOWRAP);
    t->joinable = false;
    t->screens[1].saved.row = MIN(t->screens[1].saved.row, rows - 1);
    t->screens[1].saved.col = MIN(t->screens[1].saved.col, cols - 1);
}
