/* Erasing, inserting and deleting characters. Erased cells get the current background colour. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

static bool erase_is_spared(const struct term *t, cell c, enum erase how)
{
    uint16_t attrs = t->styles.styles[cell_style(c)].attrs;
    return attrs & (how == ERASE_SELECTIVE ? STYLE_PROTECTED : STYLE_GUARDED);
}

/* Erases cell by cell. A selective erase keeps the colours. */
static void erase_cells(struct term *t, struct row *row, int from, int to, enum erase how)
{
    cell blank = how == ERASE_SELECTIVE ? 0 : pen_blank(t);
    for (int x = from; x < to; x++) {
        cell c = row->cells[x];
        if (erase_is_spared(t, c, how))
            continue;
        row->cells[x] = how == ERASE_SELECTIVE ? c & CELL_STYLE : blank;
    }
    row_touch(row, to);
}

void erase_range(struct term *t, int row, int from, int to, enum erase how)
{
    struct row *line = grid_row(t->grid, row);
    if (from >= to)
        return;
    row_cut(line, from, to, t->cols);
    if (how == ERASE_SELECTIVE || t->guards)
        erase_cells(t, line, from, to, how);
    else
        row_fill(line, from, to, pen_blank(t));
    if (to == t->cols)
        line->flags &= (uint16_t)~ROW_WRAPS;
}

static void erase_rows(struct term *t, int from, int to, enum erase how)
{
    bool plain = how == ERASE_ALL && !t->guards;
    for (int y = from; y < to; y++)
        if (plain)
            row_clear(grid_row(t->grid, y), t->cols, pen_blank(t));
        else
            erase_range(t, y, 0, t->cols, how);
}

/* ED: 0 from the cursor, 1 up to the cursor, 2 all, 3 the scrollback. */
void erase_screen(struct term *t, int what, enum erase how)
{
    switch (what) {
    case 0:
        erase_range(t, t->row, t->col, t->cols, how);
        erase_rows(t, t->row + 1, t->rows, how);
        break;
    case 1:
        erase_rows(t, 0, t->row, how);
        erase_range(t, t->row, 0, t->col + 1, how);
        break;
    case 2:
        erase_rows(t, 0, t->rows, how);
        break;
    case 3:
        if (how == ERASE_ALL)
            grid_drop_history(t->grid);
        break;
    default:
        term_unknown(t);
        return;
    }
    t->pending = false;
}

/* EL */
void erase_line(struct term *t, int what, enum erase how)
{
    static const bool before[] = {false, true, true}, after[] = {true, false, true};
    if (what < 0 || what > 2) {
        term_unknown(t);
        return;
    }
    int from = before[what] ? 0 : t->col, to = after[what] ? t->cols : t->col + 1;
    erase_range(t, t->row, from, to, how);
    t->pending = false;
}

void edit_insert_blanks(struct term *t, int n)
{
    struct row *row = term_line(t);
    int edge = cursor_right_edge(t), width = edge + 1 - t->col, count = MIN(n, width);
    t->pending = false;
    if (!in_side_margins(t))
        return;
    row_cut(row, t->col, edge + 1, t->cols);
    row_move(row, t->col + count, t->col, width - count, t->cols);
    row_fill(row, t->col, t->col + count, pen_blank(t));
    row->flags &= (uint16_t)~ROW_WRAPS;
}

void edit_delete_chars(struct term *t, int n)
{
    struct row *row = term_line(t);
    int edge = cursor_right_edge(t), width = edge + 1 - t->col, count = MIN(n, width);
    t->pending = false;
    if (!in_side_margins(t))
        return;
    row_cut(row, t->col, edge + 1, t->cols);
    row_move(row, t->col, t->col + count, width - count, t->cols);
    row_fill(row, edge + 1 - count, edge + 1, pen_blank(t));
    row->flags &= (uint16_t)~ROW_WRAPS;
}

/* DECIC, DECDC: for every row within the margins. */
static void edit_columns(struct term *t, int n, void (*edit)(struct term *, int))
{
    int row = t->row;
    if (!in_margins(t))
        return;
    for (t->row = t->top; t->row <= t->bottom; t->row++)
        edit(t, n);
    t->row = row;
}

void edit_insert_columns(struct term *t, int n)
{
    edit_columns(t, n, edit_insert_blanks);
}

void edit_delete_columns(struct term *t, int n)
{
    edit_columns(t, n, edit_delete_chars);
}
