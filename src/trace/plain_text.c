/* Output as text lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/plain_text.h"

#include "base/utf8.h"
#include "record/refeed.h"

void plain_text_open(struct plain_text *l, struct term *term)
{
    l->term = term;
}

void plain_text_done(struct plain_text *l)
{
    term_free(l->term);
    l->term = NULL;
    buf_done(&l->line);
}

static void plain_text_end_line(struct plain_text *l)
{
    l->put(l->context, buf_str(&l->line));
    buf_reset(&l->line);
}

/* Wrapped rows are parts of one line. */
static void plain_text_add_row(struct plain_text *l, int row)
{
    bool wraps = term_row_wraps(l->term, row);
    size_t end = l->line.n;
    for (unsigned col = 0; col < term_cols(l->term); col++) {
        struct term_cell cell;
        term_cell(l->term, row, col, &cell);
        for (unsigned i = 0; i < cell.n; i++) {
            char bytes[UTF8_MAX];
            buf_add(&l->line, bytes, utf8_write(cell.codepoints[i], bytes));
        }
        if (cell.n)
            end = l->line.n;
        else if (cell.width)
            buf_add_byte(&l->line, ' ');
    }
    if (wraps && l->line.n < PLAIN_TEXT_LINE_MAX)
        return;
    buf_truncate(&l->line, end);
    plain_text_end_line(l);
}

/* Adds and clears the scrollback: rows that have left the screen no longer change. */
static void plain_text_drain(struct plain_text *l)
{
    unsigned n = term_scrollback(l->term);
    if (n == 0 || term_mid_sequence(l->term) || term_alternate(l->term))
        return;
    for (unsigned i = 0; i < n; i++) {
        if (l->shown)
            l->shown--;
        else
            plain_text_add_row(l, (int)i - (int)n);
    }
    term_feed(l->term, STR("\033[3J"));
}

void plain_text_feed(struct plain_text *l, struct str bytes)
{
    refeed_feed(l->term, bytes);
    plain_text_drain(l);
}

void plain_text_resize(struct plain_text *l, unsigned rows, unsigned cols)
{
    term_resize(l->term, rows, cols);
    plain_text_drain(l);
}

static unsigned used_rows(const struct plain_text *l)
{
    unsigned rows = term_rows(l->term);
    for (char *line = base_alloc(term_cols(l->term) + 1);; rows--)
        if (rows == 0 || term_row_ascii(l->term, (int)rows - 1, line) != 0) {
            free(line);
            return rows;
        }
}

/* Adds the rows of the screen above `end`. */
static void plain_text_add_screen(struct plain_text *l, unsigned end)
{
    for (; l->shown < end; l->shown++)
        plain_text_add_row(l, (int)l->shown);
}

void plain_text_flush(struct plain_text *l)
{
    if (!term_alternate(l->term))
        plain_text_add_screen(l, term_cursor(l->term).row);
}

void plain_text_end(struct plain_text *l)
{
    plain_text_add_screen(l, used_rows(l));
    if (l->line.n)
        plain_text_end_line(l);
}
