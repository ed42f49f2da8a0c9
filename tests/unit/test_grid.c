/* Rows of the terminal's grid: wide characters at the edges of a move. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/grid.h"
#include "test.h"

enum {
    COLS = 10,
};

/* Letters are themselves, "W<" a wide character, '.' an empty cell. */
static void set_row(struct row *row, const char *text)
{
    for (int i = 0; i < COLS; i++)
        row->cells[i] = text[i] == '.'   ? 0
                        : text[i] == '<' ? CELL_TAIL
                        : text[i] == 'W' ? CELL_WIDE | 'W'
                                         : (cell)text[i];
    row->used = COLS;
    row->flags = ROW_WIDE;
}

static const char *show_row(const struct row *row)
{
    static char text[COLS + 1];
    for (int i = 0; i < COLS; i++) {
        cell c = row->cells[i];
        text[i] = c == 0 ? '.' : c & CELL_TAIL ? '<' : (char)cell_char(c);
    }
    return text;
}

TEST(grid_row_move_leaves_no_half_of_a_wide_character)
{
    static const struct {
        const char *name, *before;
        int to, from, n;
        const char *after;
    } rows[] = {
        {"nothing wide", "abcdefghij", 5, 0, 3, "abcdeabcij"},
        {"left of the target", "abcdW<ghij", 5, 0, 3, "abcd.abcij"},
        {"right of the target", "abcdefgW<j", 5, 0, 3, "abcdeabc.j"},
        {"both edges of the target", "abcdW<gW<j", 5, 0, 3, "abcd.abc.j"},
        {"to the left, both edges", "W<W<efghij", 1, 6, 2, ".gh.efghij"},
        {"edges of the source", "W<cW<fghij", 5, 1, 3, "..c...c.ij"},
        {"overlap to the right, in whole", "aW<defghij", 2, 0, 4, "aWaW<dghij"},
        {"overlap to the left, in whole", "abcW<fghij", 1, 2, 4, "acW<ffghij"},
        {"nothing to move", "aW<W<fghij", 2, 4, 0, "aW<W<fghij"},
    };
    struct grid g;
    grid_init(&g, 1, COLS, 0);
    struct row *row = grid_row(&g, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        set_row(row, rows[i].before);
        row_move(row, rows[i].to, rows[i].from, rows[i].n, COLS);
        CHECK_Z(show_row(row), rows[i].after);
    }
    grid_done(&g);
}
