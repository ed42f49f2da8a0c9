/* The screen as text with as few escape sequences as possible. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/draw.h"
#include "term/look.h"
#include "term/restyle.h"

struct ansi_pen {
    struct style style; /* the terminal's current style */
    struct str link;
};

/* Whether a URI is safe in an OSC 8: printable ASCII only. */
static bool link_ok(struct str link)
{
    for (size_t i = 0; i < link.n; i++)
        if (link.p[i] < 0x21 || link.p[i] > 0x7E)
            return false;
    return link.n > 0;
}

static void ansi_set_link(struct ansi_pen *pen, struct str link, struct buf *out)
{
    if (!link_ok(link))
        link = (struct str){0};
    if (str_eq(link, pen->link))
        return;
    buf_add_z(out, "\033]8;;");
    buf_add_str(out, link);
    buf_add_z(out, "\033\\");
    pen->link = link;
}

static struct style ansi_shown_style(const struct snapshot *s, const struct snapshot_cell *cell)
{
    struct style style = cell->style;
    style.attrs &= (uint16_t)STYLE_VISIBLE;
    style.link = 0;
    if (s->reverse_screen)
        style.attrs ^= STYLE_INVERSE;
    if (!style.underline)
        style.underline_color = 0;
    return style;
}

/* Whether the cell looks like one that was never written. */
static bool ansi_is_blank(const struct snapshot *s, const struct snapshot_cell *cell)
{
    enum {
        SEEN_ON_BLANK = STYLE_INVERSE | STYLE_STRIKE | STYLE_OVERLINE,
    };
    struct style style = ansi_shown_style(s, cell);
    return str_is(cell->text, " ") && !style.bg && !style.underline && !cell->link.p &&
           !(style.attrs & SEEN_ON_BLANK);
}

static void ansi_add_row(const struct snapshot *s, unsigned row, struct buf *out)
{
    static const struct style plain = {0};
    struct ansi_pen pen = {0};
    unsigned end = s->cols;
    while (end > 0 && ansi_is_blank(s, look_cell(s, row, end - 1)))
        end--;
    for (unsigned col = 0; col < end; col++) {
        const struct snapshot_cell *cell = look_cell(s, row, col);
        if (cell->width == 0)
            continue;
        struct style style = ansi_shown_style(s, cell);
        ansi_set_link(&pen, cell->link, out);
        restyle(&pen.style, &style, out);
        look_add_text(out, cell->text);
    }
    restyle(&pen.style, &plain, out);
    ansi_set_link(&pen, (struct str){0}, out);
}

void draw_ansi(const struct snapshot *s, struct buf *out)
{
    BUG_ON(!s->cells);
    for (unsigned row = 0; row < s->rows; row++) {
        if (row)
            buf_add_byte(out, '\n');
        ansi_add_row(s, row, out);
    }
}
