/* Our terminal's side of the differential test: for each "ROWS COLS N" and N bytes on stdin, the
 * screen after them on stdout: the cursor, then a line per row, a word per cell, then a dot.
 * differential.py describes the words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "term/term.h"

#include <stdio.h>

enum {
    INPUT_MAX = 1 << 20,
};

static void print_color(color c)
{
    switch (color_kind(c)) {
    case COLOR_DEFAULT:
        printf("-");
        break;
    case COLOR_ANSI:
    case COLOR_INDEXED: /* the other side does not distinguish them */
        printf("%u", color_value(c));
        break;
    case COLOR_RGB:
        printf("#%06x", color_value(c));
        break;
    }
}

static void print_attrs(const struct style *s)
{
    static const struct {
        unsigned attr;
        char letter;
    } letters[] = {
        {STYLE_BOLD, 'b'},
        {STYLE_FAINT, 'f'},
        {STYLE_ITALIC, 'i'},
        {STYLE_BLINK, 'k'},
        {STYLE_INVERSE, 'r'},
        {STYLE_CONCEAL, 'c'},
        {STYLE_STRIKE, 's'},
        {STYLE_OVERLINE, 'o'},
    };
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (s->attrs & letters[i].attr)
            putchar(letters[i].letter);
    if (s->underline)
        putchar('u');
}

static void print_cell(const struct term *t, unsigned row, unsigned col)
{
    struct term_cell cell;
    term_cell(t, (int)row, col, &cell);
    printf("%u", cell.width);
    for (unsigned i = 0; i < cell.n; i++)
        printf(".%x", cell.codepoints[i]);
    if (cell.n == 0) { /* it looks like a blank, and its pen is not visible */
        cell.style = (struct style){.bg = cell.style.bg};
        printf("%s", cell.width ? ".20" : "");
    }
    putchar(',');
    print_color(cell.style.fg);
    putchar(',');
    print_color(cell.style.bg);
    putchar(',');
    print_attrs(&cell.style);
    putchar(' ');
}

static void print_screen(const struct term *t)
{
    struct term_cursor cursor = term_cursor(t);
    printf("%u %u %d %u\n", cursor.row, cursor.col + cursor.pending_wrap, term_alternate(t),
        term_alternate(t) ? 0 : term_scrollback(t));
    for (unsigned row = 0; row < term_rows(t); row++) {
        for (unsigned col = 0; col < term_cols(t); col++)
            print_cell(t, row, col);
        putchar('\n');
    }
    puts(".");
    fflush(stdout);
}

int main(void)
{
    static char bytes[INPUT_MAX];
    unsigned rows, cols;
    size_t n;
    while (scanf("%u %u %zu", &rows, &cols, &n) == 3 && getchar() == '\n') {
        if (n > sizeof(bytes) || fread(bytes, 1, n, stdin) != n)
            return 1;
        struct term *t = term_new(&(struct term_options){
            .rows = rows, .cols = cols, .scrollback = 100, .width = TERM_WIDTH_WCWIDTH});
        term_feed(t, str_n(bytes, n));
        print_screen(t);
        term_free(t);
    }
    return 0;
}
