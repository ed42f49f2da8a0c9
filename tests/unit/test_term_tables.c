/* The terminal's tables of styles, clusters and links when they fill up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "term/term.h"
#include "test.h"

static struct term *new_term(unsigned scrollback)
{
    return term_new(&(struct term_options){.rows = 24, .cols = 80, .scrollback = scrollback});
}

static void feed(struct term *t, struct buf *b)
{
    term_feed(t, buf_str(b));
    buf_reset(b);
}

/* Unreferenced links are removed when the styles are full, and the others get new numbers: also the
 * one that is being written with. */
TEST(term_link_in_use_when_styles_run_out)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    struct term *t = new_term(0);
    struct term_cell cell;
    for (unsigned i = 0; i < 100; i++)
        buf_printf(&b, "\x1b]8;;http://old/%u\x1b\\x", i);
    buf_add_z(&b, "\x1b[2J\x1b]8;;http://new/\x1b\\");
    feed(t, &b);
    for (unsigned i = 0; i < 70000; i++) {
        buf_printf(&b, "\r\x1b[38;2;%u;%u;%umx", i >> 16, i >> 8 & 255, i & 255);
        feed(t, &b);
        term_cell(t, (int)term_cursor(t).row, 0, &cell);
        CHECK(str_eq(term_link(t, cell.style.link), str_z("http://new/")));
    }
    term_free(t);
}
