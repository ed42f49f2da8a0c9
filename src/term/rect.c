/* Rectangle operations: fill, erase, copy, change attributes, checksum. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

/* Inclusive bounds. */
struct rect {
    int top, left, bottom, right;
};

/* Reads top, left, bottom and right from four parameters. Returns false if the rectangle is
 * empty. */
static bool rect_of(const struct term *t, unsigned first, struct rect *ret_rect)
{
    bool origin = mode_is(t, MODE_ORIGIN);
    int row = origin ? t->top : 0, col = origin ? t->left : 0;
    int last_row = origin ? t->bottom : t->rows - 1, last_col = origin ? t->right : t->cols - 1;
    struct rect r = {
        .top = row + param(t, first, 1) - 1,
        .left = col + param(t, first + 1, 1) - 1,
        .bottom = MIN(row + param(t, first + 2, t->rows) - 1, last_row),
        .right = MIN(col + param(t, first + 3, t->cols) - 1, last_col),
    };
    *ret_rect = r;
    return r.top <= r.bottom && r.left <= r.right;
}

void rect_fill(struct term *t)
{
    struct rect r;
    int c = param(t, 0, ' ');
    bool shown = (c >= 0x20 && c < 0x7F) || (c >= 0xA0 && c < 0x100);
    if (!shown || !rect_of(t, 1, &r))
        return;
    for (int y = r.top; y <= r.bottom; y++) {
        struct row *row = grid_row(t->grid, y);
        row_cut(row, r.left, r.right + 1, t->cols);
        row_fill(row, r.left, r.right + 1, pen_template(t) | (cell)c);
    }
}

void rect_erase(struct term *t, enum erase how)
{
    struct rect r;
    if (!rect_of(t, 0, &r))
        return;
    for (int y = r.top; y <= r.bottom; y++)
        erase_range(t, y, r.left, r.right + 1, how);
}

/* Half of a wide character is copied as a blank; the source is not changed. */
static void copy_row(struct term *t, const struct rect *from, int y, int to_row, int to_col)
{
    cell cells[TERM_COLS_MAX];
    const struct row *source = grid_row(t->grid, y);
    struct row *target = grid_row(t->grid, to_row);
    int n = MIN(from->right - from->left + 1, t->cols - to_col);
    memcpy(cells, source->cells + from->left, (size_t)n * sizeof(cell));
    if (cells[0] & CELL_TAIL)
        cells[0] &= CELL_STYLE;
    if (cells[n - 1] & CELL_WIDE)
        cells[n - 1] &= CELL_STYLE;
    row_cut(target, to_col, to_col + n, t->cols);
    memcpy(target->cells + to_col, cells, (size_t)n * sizeof(cell));
    target->flags |= source->flags & ROW_WIDE;
    row_touch(target, to_col + n);
}

/* Copies top down or bottom up, so that overlapping rows are read before they are overwritten. */
void rect_copy(struct term *t)
{
    struct rect r;
    bool origin = mode_is(t, MODE_ORIGIN);
    int row = param(t, 5, 1) - 1 + (origin ? t->top : 0);
    int col = param(t, 6, 1) - 1 + (origin ? t->left : 0);
    if (!rect_of(t, 0, &r) || row >= t->rows || col >= t->cols)
        return;
    int n = MIN(r.bottom - r.top + 1, t->rows - row);
    for (int i = 0; i < n; i++) {
        int at = row <= r.top ? i : n - 1 - i;
        copy_row(t, &r, r.top + at, row + at, col);
    }
}

/* Attributes ---------------------------------------------------------------------------------- */

/* DECRARA: toggles the given attributes. */
static void reverse_style(const struct term *t, struct style *s)
{
    const struct parser *p = &t->parser;
    for (unsigned i = 4; i < MAX(p->n_params, 5u); i++) {
        int what = i < p->n_params ? p->params[i] : 0;
        bool all = what <= 0;
        if (all || what == 1)
            s->attrs ^= STYLE_BOLD;
        if (all || what == 4)
            s->underline = s->underline ? UNDERLINE_NONE : UNDERLINE_SINGLE;
        if (all || what == 5)
            s->attrs ^= STYLE_BLINK;
        if (all || what == 7)
            s->attrs ^= STYLE_INVERSE;
        if (what == 8)
            s->attrs ^= STYLE_CONCEAL;
    }
}

static void change_range(struct term *t, int y, int from, int to, bool reverse)
{
    struct row *row = grid_row(t->grid, y);
    for (int x = from; x < to; x++) {
        struct style style = t->styles.styles[cell_style(row->cells[x])];
        if (reverse)
            reverse_style(t, &style);
        else
            sgr_apply(t, &style, 4);
        uint16_t id = pen_intern(t, &style);
        row->cells[x] = (row->cells[x] & ~CELL_STYLE) | cell_of(id);
    }
    row_touch(row, to);
}

/* In stream mode, the rows between the first and the last are changed whole. */
void rect_change(struct term *t, bool reverse)
{
    struct rect r;
    if (!rect_of(t, 0, &r))
        return;
    for (int y = r.top; y <= r.bottom; y++) {
        bool inner = t->extent != 2;
        int from = inner && y > r.top ? 0 : r.left;
        int to = inner && y < r.bottom ? t->cols : r.right + 1;
        change_range(t, y, from, to, reverse);
    }
}

/* Checksums ----------------------------------------------------------------------------------- */

enum checksum_flags { /* XTCHECKSUM flags */
    SUM_POSITIVE = 1,
    SUM_NO_ATTRIBUTES = 2,
    SUM_NO_TRIM = 4,
    SUM_SKIP_EMPTY = 8,
};

static unsigned attributes_sum(const struct style *s)
{
    unsigned sum = 0;
    sum += s->attrs & STYLE_CONCEAL ? 0x08 : 0;
    sum += s->underline ? 0x10 : 0;
    sum += s->attrs & STYLE_INVERSE ? 0x20 : 0;
    sum += s->attrs & STYLE_BLINK ? 0x40 : 0;
    sum += s->attrs & STYLE_BOLD ? 0x80 : 0;
    return sum;
}

static unsigned cell_sum(const struct term *t, cell c)
{
    unsigned sum = 0;
    if (c & CELL_CLUSTER) {
        struct cluster cluster = cluster_get(&t->clusters, cell_char(c));
        for (unsigned i = 0; i < cluster.n; i++)
            sum += cluster.codepoints[i];
    } else if (!(c & CELL_TAIL)) {
        bool empty = cell_char(c) == 0;
        sum = empty ? (t->checksum & SUM_SKIP_EMPTY ? 0 : ' ') : cell_char(c);
    }
    if (!(t->checksum & SUM_NO_ATTRIBUTES))
        sum += attributes_sum(&t->styles.styles[cell_style(c)]);
    return sum;
}

void rect_checksum(struct term *t)
{
    struct rect r;
    unsigned sum = 0;
    if (rect_of(t, 2, &r))
        for (int y = r.top; y <= r.bottom; y++)
            for (int x = r.left; x <= r.right; x++)
                sum += cell_sum(t, grid_row(t->grid, y)->cells[x]);
    if (!(t->checksum & SUM_POSITIVE))
        sum = 0u - sum;
    reply_dcs(t, "%d!~%04X", param(t, 0, 0), sum & 0xFFFF);
}
