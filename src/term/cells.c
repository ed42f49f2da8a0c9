/* Encoding and decoding of cells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/cells.h"

#include "base/utf8.h"

enum {
    WIDTH = 0x03,
    STYLED = 0x80, /* style differs from the previous cell */
};

static bool cells_is_blank(const struct term_cell *cell)
{
    static const struct style plain;
    return cell->n == 0 && memcmp(&cell->style, &plain, sizeof(plain)) == 0;
}

static unsigned used_cols(const struct term *t, int row, unsigned cols)
{
    struct term_cell cell;
    while (cols > 0) {
        term_cell(t, row, cols - 1, &cell);
        if (!cells_is_blank(&cell) || cell.width != 1)
            break;
        cols--;
    }
    return cols;
}

/* Concealed text is not sent to the client. */
static void cells_put_cell(const struct term_cell *cell, struct style *pen, struct buf *out)
{
    char text[ARRAY_LEN(cell->codepoints) * UTF8_MAX];
    struct style style = cell->style;
    size_t n = 0;
    bool hidden = style.attrs & STYLE_CONCEAL;
    for (unsigned i = 0; i < cell->n && !hidden; i++) {
        if (n + UTF8_MAX > CELLS_TEXT_MAX)
            break;
        n += utf8_write(cell->codepoints[i], text + n);
    }
    style.attrs &= (uint16_t)(STYLE_VISIBLE & ~(unsigned)STYLE_CONCEAL);
    style.link = 0;
    bool changed = memcmp(&style, pen, sizeof(style)) != 0;
    buf_add_byte(out, (char)((cell->width & WIDTH) | (changed ? STYLED : 0)));
    if (changed)
        buf_add(out, &style, sizeof(style));
    *pen = style;
    buf_add_byte(out, (char)n);
    buf_add(out, text, n);
}

void cells_put(const struct term *t, int row, unsigned cols, struct buf *out)
{
    struct style pen = {0};
    cols = MIN(cols, term_cols(t));
    if (!term_reverse_screen(t))
        cols = used_cols(t, row, cols);
    for (unsigned col = 0; col < cols; col++) {
        struct term_cell cell;
        term_cell(t, row, col, &cell);
        if (term_reverse_screen(t))
            cell.style.attrs ^= STYLE_INVERSE;
        if (cell.width)
            cells_put_cell(&cell, &pen, out);
    }
}

static bool cells_read(struct str *rest, void *to, size_t n)
{
    if (rest->n < n)
        return false;
    memcpy(to, rest->p, n);
    *rest = str_skip(*rest, n);
    return true;
}

bool cells_next(struct cells_reader *r, struct cells_item *ret_item)
{
    unsigned char head, n;
    r->bad = true;
    if (!cells_read(&r->rest, &head, 1) ||
        ((head & STYLED) && !cells_read(&r->rest, &r->pen, sizeof(r->pen))) ||
        !cells_read(&r->rest, &n, 1) || n > CELLS_TEXT_MAX || r->rest.n < n)
        return false;
    unsigned width = head & WIDTH;
    if (width < 1 || width > 2 || (head & ~(WIDTH | STYLED)) || r->col + width > CELLS_COLS_MAX ||
        !style_is_valid(&r->pen))
        return false;
    r->pen.link = 0;
    r->pen.unused = 0;
    r->pen.attrs &= STYLE_VISIBLE;
    *ret_item = (struct cells_item){r->col, width, r->pen, str_head(r->rest, n)};
    r->rest = str_skip(r->rest, n);
    r->col += width;
    r->bad = false;
    return true;
}
