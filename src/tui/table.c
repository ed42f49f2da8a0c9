/* Tables: column widths, and rows of wrapped cells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/table.h"

#include "tui/theme.h"

enum {
    GAP = 3, /* " │ " */
};

static size_t rows_of(const struct table *t)
{
    return t->columns ? t->cells->n / t->columns : 0;
}

/* Computes the column widths, shrinking the widest until they fit. Returns false if they become too
 * narrow. */
static bool table_fit_widths(const struct table *t, unsigned width, unsigned widths[])
{
    size_t sum = GAP * (t->columns - 1);
    for (size_t i = 0; i < rows_of(t) * t->columns; i++)
        widths[i % t->columns] =
            (unsigned)MAX(widths[i % t->columns], MIN(t->cells->lines[i].width, 1000));
    for (size_t c = 0; c < t->columns; c++)
        sum += widths[c] = MAX(widths[c], 1u);
    while (sum > width) {
        size_t widest = 0, second = 0;
        for (size_t c = 1; c < t->columns; c++)
            if (widths[c] > widths[widest])
                widest = c;
        for (size_t c = 0; c < t->columns; c++)
            if (widths[c] < widths[widest])
                second = MAX(second, widths[c]);
        size_t floor = MAX(second, TABLE_NARROW);
        if (widths[widest] <= TABLE_NARROW)
            return false;
        size_t take = MIN(sum - width, MAX(widths[widest] - floor, (size_t)1));
        widths[widest] -= (unsigned)take;
        sum -= take;
    }
    return true;
}

static void table_add_padded(struct text *out, const struct text *wrapped, size_t line,
    unsigned width, enum table_align align, bool last)
{
    size_t have = line < wrapped->n ? wrapped->lines[line].width : 0;
    size_t room = width > have ? width - have : 0;
    size_t before = align == TABLE_RIGHT ? room : align == TABLE_CENTER ? room / 2 : 0;
    text_spaces(out, before, NULL);
    if (line < wrapped->n)
        text_append(out, wrapped, line);
    if (!last)
        text_spaces(out, room - before, NULL);
}

static void draw_row(const struct table *t, size_t row, const unsigned widths[], struct text *out)
{
    struct text wrapped[TABLE_COLUMNS];
    size_t height = 1;
    for (size_t c = 0; c < t->columns; c++) {
        wrapped[c] = TEXT_INIT;
        text_wrap(
            &wrapped[c], t->cells, row * t->columns + c, &(struct text_wrap){.width = widths[c]});
        height = MAX(height, wrapped[c].n);
    }
    for (size_t line = 0; line < height; line++) {
        for (size_t c = 0; c < t->columns; c++) {
            if (c)
                text_add(out, STR(" │ "), &theme[THEME_RULE]);
            table_add_padded(out, &wrapped[c], line, widths[c], t->align[c], c + 1 == t->columns);
        }
        text_end(out);
    }
    for (size_t c = 0; c < t->columns; c++)
        text_done(&wrapped[c]);
}

static void draw_rule(const struct table *t, const unsigned widths[], struct text *out)
{
    for (size_t c = 0; c < t->columns; c++) {
        if (c)
            text_add(out, STR("─┼─"), &theme[THEME_RULE]);
        for (unsigned i = 0; i < widths[c]; i++)
            text_add(out, STR("─"), &theme[THEME_RULE]);
    }
    text_end(out);
}

/* Draws lines of "head: cell", with a blank line between rows. */
static void table_draw_list(const struct table *t, unsigned width, struct text *out)
{
    for (size_t row = 1; row < MAX(rows_of(t), 2u); row++) {
        bool only = rows_of(t) < 2; /* a head without rows */
        if (row > 1)
            text_end(out);
        for (size_t c = 0; c < t->columns; c++) {
            AUTO_TEXT struct text line = TEXT_INIT;
            text_append(&line, t->cells, c);
            if (!only) {
                text_add(&line, STR(": "), &theme[THEME_RULE]);
                text_append(&line, t->cells, row * t->columns + c);
            }
            text_end(&line);
            text_wrap(out, &line, 0, &(struct text_wrap){.width = width});
        }
    }
}

void table_draw(const struct table *t, unsigned width, struct text *out)
{
    unsigned widths[TABLE_COLUMNS] = {0};
    if (t->columns == 0 || t->columns > TABLE_COLUMNS || t->cells->n < t->columns)
        return;
    if (!table_fit_widths(t, width, widths)) {
        table_draw_list(t, width, out);
        return;
    }
    draw_row(t, 0, widths, out);
    draw_rule(t, widths, out);
    for (size_t row = 1; row < rows_of(t); row++)
        draw_row(t, row, widths, out);
}
