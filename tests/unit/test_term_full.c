/* The terminal when its tables of styles and links are full, and entries are renumbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "term/term.h"
#include "term/term_link.h"

static struct term *new_term(void)
{
    return term_new(&(struct term_options){.rows = 24, .cols = 80});
}

/* Uses this many styles, none of which stays in use. */
static void use_styles(struct term *t, unsigned n)
{
    char bytes[64];
    for (unsigned i = 0; i < n; i++) {
        snprintf(
            bytes, sizeof(bytes), "\033[H\033[38;2;%u;%u;%umX", i >> 16, i >> 8 & 255, i & 255);
        term_feed(t, str_z(bytes));
    }
}

static struct term_cell cell_at(const struct term *t, int row, unsigned col)
{
    struct term_cell cell;
    term_cell(t, row, col, &cell);
    return cell;
}

TEST(text_that_wraps_when_styles_are_full)
{
    struct term *t = new_term();
    use_styles(t, STYLES_MAX - 2);
    term_feed(t, STR("\033[24;1H\033[38;2;7;7;7;48;2;9;9;9m"));
    for (int i = 0; i < 81; i++)
        term_feed(t, STR("AA"));
    CHECK(cell_at(t, 23, 1).style.fg == color_rgb(7, 7, 7));
    CHECK(cell_at(t, 23, 1).style.bg == color_rgb(9, 9, 9));
    term_free(t);
    t = new_term(); /* in one run, which wraps */
    char run[401] = "";
    memset(run, 'A', sizeof(run) - 1);
    use_styles(t, STYLES_MAX - 2);
    term_feed(t, STR("\033[24;1H\033[38;2;7;7;7;48;2;9;9;9m"));
    term_feed(t, str_z(run));
    for (unsigned col = 0; col < 80; col++)
        CHECK(cell_at(t, 23, col).style.fg == color_rgb(7, 7, 7));
    term_free(t);
}

TEST(cell_that_becomes_wide_when_styles_are_full)
{
    struct term *t = new_term();
    use_styles(t, STYLES_MAX - 2);
    term_feed(t, STR("\033[24;80H\033[38;2;7;7;7;48;2;9;9;9m\xE2\x9D\xA4\xEF\xB8\x8F"));
    struct term_cell cell = cell_at(t, 23, 0);
    CHECK_INT(cell.width, 2);
    CHECK_INT(cell.n, 2);
    CHECK_INT(cell.codepoints[0], 0x2764);
    CHECK(cell.style.fg == color_rgb(7, 7, 7));
    term_free(t);
}

TEST(style_keeps_its_link_when_styles_are_full)
{
    struct term *t = new_term();
    term_feed(t, STR("\033]8;;http://dead\033\\\033]8;;http://alive\033\\"));
    use_styles(t, STYLES_MAX - 1);
    term_feed(t, STR("\033[H\033[31mx"));
    CHECK_STR(term_link(t, cell_at(t, 0, 0).style.link), STR("http://alive"));
    term_free(t);
}

TEST(link_with_controls_when_links_are_full)
{
    struct term *t = new_term();
    char bytes[64];
    for (unsigned i = 1; i < LINKS_MAX; i++) {
        snprintf(bytes, sizeof(bytes), "\033]8;;http://%u\033\\", i);
        term_feed(t, str_z(bytes));
    }
    term_feed(t, STR("\033]8;;http://\n\xC2\x9B\xFF\033\\x"));
    CHECK_INT(cell_at(t, 0, 0).style.link, 0);
    term_free(t);
}

TEST(protection_does_not_change_a_hash)
{
    struct term *t = new_term();
    uint64_t empty = term_row_hash(t, 0);
    term_feed(t, STR("\033[1\"q   "));
    CHECK(term_row_hash(t, 0) == empty);
    term_feed(t, STR("\033[H\033[41m "));
    CHECK(term_row_hash(t, 0) != empty);
    term_free(t);
}
