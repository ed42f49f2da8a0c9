/* Rows as cells, with colours reduced to those of the terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/live_cells.h"

#include "term/look.h"

static unsigned distance(uint32_t a, uint32_t b)
{
    int red = (int)(a >> 16) - (int)(b >> 16);
    int green = (int)(a >> 8 & 0xFF) - (int)(b >> 8 & 0xFF);
    int blue = (int)(a & 0xFF) - (int)(b & 0xFF);
    return (unsigned)(red * red + green * green + blue * blue);
}

/* Returns the nearest colour that the terminal supports. */
static color live_cells_nearest_color(color c, enum live_colors colors)
{
    enum color_kind kind = color_kind(c);
    unsigned n = colors == LIVE_16 ? 16 : 256, best = 0;
    if (colors == LIVE_NO_COLORS)
        return 0;
    if (kind == COLOR_DEFAULT || kind == COLOR_ANSI || colors == LIVE_RGB ||
        (kind == COLOR_INDEXED && colors == LIVE_256))
        return c;
    uint32_t rgb = kind == COLOR_INDEXED ? look_palette(color_value(c)) : color_value(c);
    for (unsigned i = 1; i < n; i++)
        if (distance(rgb, look_palette(i)) < distance(rgb, look_palette(best)))
            best = i;
    return n == 16 ? color_ansi(best) : color_indexed(best);
}

static struct style live_cells_shown_style(const struct live_options *o, const struct style *style)
{
    struct style s = *style;
    s.fg = live_cells_nearest_color(s.fg, o->colors);
    s.bg = live_cells_nearest_color(s.bg, o->colors);
    s.attrs &= (uint16_t)STYLE_VISIBLE;
    s.underline_color = 0;
    s.link = 0;
    return s;
}

struct cells live_cells(const struct live_options *o, const struct text *t, size_t line)
{
    struct cells cells = {0};
    if (line >= t->n)
        return cells;
    cells.p = base_alloc((t->lines[line].width + 1) * sizeof(*cells.p));
    for (size_t i = 0; i < t->lines[line].n; i++) {
        const struct text_span *span = text_spans(t, line) + i;
        struct style style = live_cells_shown_style(o, &span->style);
        struct str uri = o->no_links ? (struct str){0} : text_uri(t, span->style.link);
        for (struct str rest = text_bytes(t, span); rest.n;) {
            struct cell *c = &cells.p[cells.n++];
            *c = (struct cell){.uri = uri, .style = style, .col = cells.width};
            c->text = str_head(rest, text_cluster(rest, &c->width));
            cells.width += c->width;
            rest = str_skip(rest, c->text.n);
        }
    }
    return cells;
}

bool live_cell_same(const struct cell *a, const struct cell *b)
{
    return str_eq(a->text, b->text) && str_eq(a->uri, b->uri) &&
           memcmp(&a->style, &b->style, sizeof(a->style)) == 0;
}

/* Length of the common prefix of two rows. */
static size_t live_cells_common(const struct cells *x, const struct cells *y)
{
    size_t n = 0;
    while (n < x->n && n < y->n && live_cell_same(&x->p[n], &y->p[n]))
        n++;
    return n;
}

static bool live_cells_compare(const struct live_options *o, const struct text *a, size_t line,
    const struct text *b, size_t other, bool roughly)
{
    struct cells x = live_cells(o, a, line), y = live_cells(o, b, other);
    size_t n = live_cells_common(&x, &y), most = MAX(x.n, y.n);
    free(x.p);
    free(y.p);
    return roughly ? 2 * n >= most : n == most;
}

bool live_cells_same(const struct live_options *o, const struct text *a, size_t line,
    const struct text *b, size_t other)
{
    return live_cells_compare(o, a, line, b, other, false);
}

bool live_cells_alike(const struct live_options *o, const struct text *a, size_t line,
    const struct text *b, size_t other)
{
    return live_cells_compare(o, a, line, b, other, true);
}
