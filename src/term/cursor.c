/* Cursor movement: margins, origin mode, wrapping, tabs, and scrolling at the edges. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

static bool has_side_margins(const struct term *t)
{
    return t->left > 0 || t->right < t->cols - 1;
}

int cursor_left_edge(const struct term *t)
{
    return t->col >= t->left ? t->left : 0;
}

int cursor_right_edge(const struct term *t)
{
    return t->col <= t->right ? t->right : t->cols - 1;
}

static int cursor_clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void cursor_set(struct term *t, int row, int col)
{
    t->row = cursor_clamp(row, 0, t->rows - 1);
    t->col = cursor_clamp(col, 0, t->cols - 1);
    t->pending = false;
}

void cursor_address(struct term *t, int row, int col)
{
    if (!mode_is(t, MODE_ORIGIN)) {
        cursor_set(t, row, col);
        return;
    }
    t->row = cursor_clamp(row, 0, t->bottom - t->top) + t->top;
    t->col = cursor_clamp(col, 0, t->right - t->left) + t->left;
    t->pending = false;
}

/* Margins only limit movement that starts inside them. */
void cursor_up(struct term *t, int n)
{
    int limit = t->row >= t->top ? t->top : 0;
    cursor_set(t, MAX(t->row - n, limit), t->col);
}

void cursor_down(struct term *t, int n)
{
    int limit = t->row <= t->bottom ? t->bottom : t->rows - 1;
    cursor_set(t, MIN(t->row + n, limit), t->col);
}

void cursor_forward(struct term *t, int n)
{
    cursor_set(t, t->row, MIN(t->col + n, cursor_right_edge(t)));
}

/* Moves to the end of the row above; from the first row, to the last. */
static void wrap_back(struct term *t)
{
    bool inside = t->row >= t->top && t->row <= t->bottom;
    int top = inside ? t->top : 0, bottom = inside ? t->bottom : t->rows - 1;
    t->row = t->row == top ? bottom : t->row - 1;
    t->col = t->right;
}

void cursor_back(struct term *t, int n)
{
    bool reverse = mode_is(t, MODE_AUTOWRAP) &&
                   (mode_is(t, MODE_REVERSE_WRAP) || mode_is(t, MODE_REVERSE_WRAP_MORE));
    n = MIN(n, t->rows * t->cols);
    if (reverse && t->pending)
        n--; /* leaving the pending state counts as one step */
    t->pending = false;
    while (n > 0) {
        int step = MIN(n, t->col - cursor_left_edge(t));
        t->col -= step;
        n -= step;
        if (n == 0 || !reverse)
            break;
        wrap_back(t);
        n--;
    }
}

void cursor_return(struct term *t)
{
    bool from_margin = mode_is(t, MODE_ORIGIN) || t->col >= t->left;
    t->col = from_margin ? t->left : 0;
    t->pending = false;
}

/* Scrolling ----------------------------------------------------------------------------------- */

/* Copies the cells between the side margins from one row to another. */
static void cursor_copy_part(struct term *t, int to, int from)
{
    struct row *a = grid_row(t->grid, to), *b = grid_row(t->grid, from);
    size_t n = (size_t)(t->right - t->left + 1);
    row_cut(a, t->left, t->right + 1, t->cols);
    row_cut(b, t->left, t->right + 1, t->cols);
    memcpy(a->cells + t->left, b->cells + t->left, n * sizeof(cell));
    a->flags |= b->flags & ROW_WIDE;
    a->flags &= (uint16_t)~ROW_WRAPS;
    row_touch(a, t->right + 1);
}

static void blank_part(struct term *t, int row)
{
    struct row *line = grid_row(t->grid, row);
    row_cut(line, t->left, t->right + 1, t->cols);
    row_fill(line, t->left, t->right + 1, pen_blank(t));
    line->flags &= (uint16_t)~ROW_WRAPS;
}

static void scroll_part(struct term *t, int top, int n)
{
    int height = t->bottom - top + 1, count = MIN(n > 0 ? n : -n, height);
    if (n > 0)
        for (int y = top; y <= t->bottom - count; y++)
            cursor_copy_part(t, y, y + count);
    else
        for (int y = t->bottom; y >= top + count; y--)
            cursor_copy_part(t, y, y - count);
    for (int i = 0; i < count; i++)
        blank_part(t, n > 0 ? t->bottom - i : top + i);
}

/* Scrolls from a row within the margins to the bottom margin: whole rows, or the part between the
 * side margins. */
static void scroll_from(struct term *t, int top, int n)
{
    if (has_side_margins(t)) {
        scroll_part(t, top, n);
    } else if (n > 0 && top == 0 && t->grid->history_max) {
        for (int i = 0; i < MIN(n, t->bottom + 1); i++)
            grid_push_above(t->grid, t->bottom, pen_blank(t));
    } else {
        grid_scroll(t->grid, top, t->bottom, n, pen_blank(t));
    }
}

void scroll_up(struct term *t, int n)
{
    scroll_from(t, t->top, n);
}

void scroll_left(struct term *t, int n)
{
    int width = t->right - t->left + 1, count = MIN(n > 0 ? n : -n, width);
    cell blank = pen_blank(t);
    for (int y = t->top; y <= t->bottom; y++) {
        struct row *row = grid_row(t->grid, y);
        row_cut(row, t->left, t->right + 1, t->cols);
        if (n > 0) {
            row_move(row, t->left, t->left + count, width - count, t->cols);
            row_fill(row, t->right + 1 - count, t->right + 1, blank);
        } else {
            row_move(row, t->left + count, t->left, width - count, t->cols);
            row_fill(row, t->left, t->left + count, blank);
        }
        row->flags &= (uint16_t)~ROW_WRAPS;
    }
}

void edit_insert_lines(struct term *t, int n)
{
    if (!in_margins(t))
        return;
    if (has_side_margins(t))
        scroll_part(t, t->row, -n);
    else
        grid_scroll(t->grid, t->row, t->bottom, -n, pen_blank(t));
    t->col = t->left;
    t->pending = false;
}

void edit_delete_lines(struct term *t, int n)
{
    if (!in_margins(t))
        return;
    if (has_side_margins(t))
        scroll_part(t, t->row, n);
    else
        grid_scroll(t->grid, t->row, t->bottom, n, pen_blank(t));
    t->col = t->left;
    t->pending = false;
}

/* Lines --------------------------------------------------------------------------------------- */

void cursor_index(struct term *t)
{
    t->pending = false;
    if (t->row != t->bottom) {
        t->row = MIN(t->row + 1, t->rows - 1);
        return;
    }
    if (in_side_margins(t))
        scroll_from(t, t->top, 1);
}

void cursor_reverse_index(struct term *t)
{
    t->pending = false;
    if (t->row != t->top) {
        t->row = MAX(t->row - 1, 0);
        return;
    }
    if (in_side_margins(t))
        scroll_from(t, t->top, -1);
}

void cursor_newline(struct term *t)
{
    cursor_index(t);
    if (mode_is(t, MODE_NEWLINE))
        cursor_return(t);
}

void cursor_wrap(struct term *t)
{
    if (!has_side_margins(t))
        term_line(t)->flags |= ROW_WRAPS;
    int left = cursor_left_edge(t);
    cursor_index(t);
    t->col = left;
}

/* Tabs ---------------------------------------------------------------------------------------- */

enum {
    TAB_WIDTH = 8,
};

void tab_set(struct term *t, int col, bool on)
{
    uint64_t bit = UINT64_C(1) << (col % 64);
    if (on)
        t->tabs[col / 64] |= bit;
    else
        t->tabs[col / 64] &= ~bit;
}

void tabs_reset(struct term *t)
{
    memset(t->tabs, 0, sizeof(t->tabs));
    for (int col = TAB_WIDTH; col < TERM_COLS_MAX; col += TAB_WIDTH)
        tab_set(t, col, true);
}

static bool is_tab(const struct term *t, int col)
{
    return t->tabs[col / 64] >> (col % 64) & 1;
}

void cursor_tab(struct term *t, int n)
{
    int edge = cursor_right_edge(t), col = t->col;
    for (n = MIN(n, t->cols); n > 0 && col < edge; n--)
        do
            col++;
        while (col < edge && !is_tab(t, col));
    if (col != t->col)
        t->pending = false;
    t->col = col;
}

void cursor_back_tab(struct term *t, int n)
{
    int edge = mode_is(t, MODE_ORIGIN) ? cursor_left_edge(t) : 0, col = t->col;
    for (n = MIN(n, t->cols); n > 0 && col > edge; n--)
        do
            col--;
        while (col > edge && !is_tab(t, col));
    t->col = col;
    t->pending = false;
}

/* Save and restore ---------------------------------------------------------------------------- */

void cursor_save(struct term *t)
{
    t->screen->saved = (struct saved_cursor){
        .row = t->row,
        .col = t->col,
        .pending = t->pending,
        .origin = mode_is(t, MODE_ORIGIN),
        .pen = t->pen,
        .charsets = t->charsets,
    };
}

void cursor_restore(struct term *t)
{
    const struct saved_cursor *s = &t->screen->saved;
    t->modes = (t->modes & ~MODE_BIT(MODE_ORIGIN)) | (s->origin ? MODE_BIT(MODE_ORIGIN) : 0);
    t->pen = s->pen;
    t->charsets = s->charsets;
    pen_changed(t);
    text_mode_changed(t);
    cursor_set(t, s->row, s->col);
    if (s->origin) {
        t->row = cursor_clamp(t->row, t->top, t->bottom);
        t->col = cursor_clamp(t->col, t->left, t->right);
    }
    t->pending = s->pending && t->col == cursor_right_edge(t) && mode_is(t, MODE_AUTOWRAP);
}

void margins_reset(struct term *t)
{
    t->top = t->left = 0;
    t->bottom = t->rows - 1;
    t->right = t->cols - 1;
}
