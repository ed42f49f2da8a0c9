/* Styles as escape sequences, with as few bytes as possible. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/restyle.h"

enum {
    SGR_MAX = 256,
};

/* SGR codes that turn an attribute on and off. */
static const struct {
    unsigned attr;
    const char *on, *off;
} attrs[] = {
    {STYLE_BOLD, "1", "22"},
    {STYLE_FAINT, "2", "22"},
    {STYLE_ITALIC, "3", "23"},
    {STYLE_BLINK, "5", "25"},
    {STYLE_RAPID, "6", "25"},
    {STYLE_INVERSE, "7", "27"},
    {STYLE_CONCEAL, "8", "28"},
    {STYLE_STRIKE, "9", "29"},
    {STYLE_OVERLINE, "53", "55"},
};

static const char *const underlines[] = {
    [UNDERLINE_NONE] = "24",
    [UNDERLINE_SINGLE] = "4",
    [UNDERLINE_DOUBLE] = "4:2",
    [UNDERLINE_CURLY] = "4:3",
    [UNDERLINE_DOTTED] = "4:4",
    [UNDERLINE_DASHED] = "4:5",
};

/* Attributes that are turned off by the same code. */
static unsigned off_with(const char *off)
{
    unsigned together = 0;
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (strcmp(attrs[i].off, off) == 0)
            together |= attrs[i].attr;
    return together;
}

static void add_code(struct buf *codes, const char *code)
{
    if (codes->n)
        buf_add_byte(codes, ';');
    buf_add_z(codes, code);
}

static const char *underline_code(unsigned underline)
{
    return underlines[underline < ARRAY_LEN(underlines) ? underline : (unsigned)UNDERLINE_SINGLE];
}

/* base: 30 for the foreground, 40 for the background. Extended colours are 38 and 48. */
static void add_color(struct buf *codes, color c, unsigned base)
{
    char code[40] = "";
    unsigned n = color_value(c);
    switch (color_is_valid(c) ? color_kind(c) : COLOR_DEFAULT) {
    case COLOR_DEFAULT:
        snprintf(code, sizeof(code), "%u", base + 9);
        break;
    case COLOR_ANSI:
        snprintf(code, sizeof(code), "%u", n < 8 ? base + n : base + 60 + n - 8);
        break;
    case COLOR_INDEXED:
        snprintf(code, sizeof(code), "%u;5;%u", base + 8, n);
        break;
    case COLOR_RGB:
        snprintf(code, sizeof(code), "%u;2;%u;%u;%u", base + 8, n >> 16, n >> 8 & 0xFF, n & 0xFF);
        break;
    }
    add_code(codes, code);
}

/* Colons only: a terminal that does not support 58 would apply the numbers after a semicolon. The
 * 16 ANSI colours have no separate codes here. */
static void add_underline_color(struct buf *codes, color c)
{
    char code[40] = "59";
    unsigned n = color_value(c);
    if (!color_is_valid(c))
        c = 0;
    if (color_kind(c) == COLOR_RGB)
        snprintf(code, sizeof(code), "58:2::%u:%u:%u", n >> 16, n >> 8 & 0xFF, n & 0xFF);
    else if (color_kind(c) != COLOR_DEFAULT)
        snprintf(code, sizeof(code), "58:5:%u", n);
    add_code(codes, code);
}

/* Adds the SGR codes that change one style into another. */
static void add_change(struct buf *codes, const struct style *from, const struct style *to)
{
    unsigned had = from->attrs, want = to->attrs & STYLE_VISIBLE;
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (had & ~want & attrs[i].attr) {
            add_code(codes, attrs[i].off);
            had &= ~off_with(attrs[i].off);
        }
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (want & ~had & attrs[i].attr)
            add_code(codes, attrs[i].on);
    if (from->underline != to->underline)
        add_code(codes, underline_code(to->underline));
    if (from->fg != to->fg)
        add_color(codes, to->fg, 30);
    if (from->bg != to->bg)
        add_color(codes, to->bg, 40);
    if (from->underline_color != to->underline_color)
        add_underline_color(codes, to->underline_color);
}

void restyle(struct style *pen, const struct style *to, struct buf *out)
{
    static const struct style plain = {0};
    if (memcmp(pen, to, sizeof(*to)) == 0)
        return;
    AUTO_BUF struct buf step = BUF_INIT(SGR_MAX), anew = BUF_INIT(SGR_MAX);
    add_change(&step, pen, to);
    add_change(&anew, &plain, to);
    size_t cost = anew.n ? anew.n + 2 : 0; /* with "0;" before it, or empty */
    if (step.n && step.n <= cost)
        buf_printf(out, "\033[%sm", buf_z(&step));
    else if (step.n)
        buf_printf(out, anew.n ? "\033[0;%sm" : "\033[m", buf_z(&anew));
    *pen = *to;
}
