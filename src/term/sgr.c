/* Select graphic rendition (SGR): the current style. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

enum {
    SGR_FG = 38,
    SGR_BG = 48,
    SGR_UNDERLINE_COLOR = 58,
};

/* Attributes that an SGR number clears and sets. */
struct sgr_attr {
    uint8_t number;
    uint16_t clear, set;
};

static const struct sgr_attr attrs[] = {
    {1, 0, STYLE_BOLD},
    {2, 0, STYLE_FAINT},
    {3, 0, STYLE_ITALIC},
    {5, 0, STYLE_BLINK},
    {6, 0, STYLE_RAPID},
    {7, 0, STYLE_INVERSE},
    {8, 0, STYLE_CONCEAL},
    {9, 0, STYLE_STRIKE},
    {22, STYLE_BOLD | STYLE_FAINT, 0},
    {23, STYLE_ITALIC, 0},
    {25, STYLE_BLINK | STYLE_RAPID, 0},
    {27, STYLE_INVERSE, 0},
    {28, STYLE_CONCEAL, 0},
    {29, STYLE_STRIKE, 0},
    {53, 0, STYLE_OVERLINE},
    {55, STYLE_OVERLINE, 0},
};

static bool apply_attr(struct style *s, int number)
{
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (attrs[i].number == number) {
            s->attrs = (uint16_t)((s->attrs & ~attrs[i].clear) | attrs[i].set);
            return true;
        }
    return false;
}

static unsigned byte_of(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (unsigned)value;
}

static bool is_sub(const struct parser *p, unsigned i)
{
    return i < p->n_params && p->sub >> i & 1;
}

/* Number of colon-separated subparameters of parameter i. */
static unsigned count_subs(const struct parser *p, unsigned i)
{
    unsigned n = 0;
    while (is_sub(p, i + 1 + n))
        n++;
    return n;
}

/* 38:5:N, 38:2:R:G:B, 38:2:SPACE:R:G:B (…) */
static bool color_by_colons(const struct parser *p, unsigned i, unsigned n, color *ret_color)
{
    const int *v = p->params + i + 1;
    if (n >= 2 && v[0] == 5 && v[1] <= 255) {
        *ret_color = color_indexed(byte_of(v[1]));
        return true;
    }
    if (n >= 4 && v[0] == 2) {
        const int *rgb = n >= 5 ? v + 2 : v + 1;
        *ret_color = color_rgb(byte_of(rgb[0]), byte_of(rgb[1]), byte_of(rgb[2]));
        return true;
    }
    return false;
}

/* 38;5;N, 38;2;R;G;B: returns the number of parameters consumed after the first. */
static unsigned color_by_semicolons(const struct parser *p, unsigned i, color *target)
{
    const int *v = p->params + i + 1;
    unsigned left = p->n_params - i - 1u;
    if (left >= 2 && v[0] == 5) {
        if (v[1] <= 255)
            *target = color_indexed(byte_of(v[1]));
        return 2;
    }
    if (left >= 4 && v[0] == 2) {
        if (v[1] <= 255 && v[2] <= 255 && v[3] <= 255)
            *target = color_rgb(byte_of(v[1]), byte_of(v[2]), byte_of(v[3]));
        return 4;
    }
    return left; /* incomplete: ignore the rest */
}

static unsigned apply_color(const struct parser *p, unsigned i, color *target)
{
    unsigned subs = count_subs(p, i);
    if (subs == 0)
        return color_by_semicolons(p, i, target);
    (void)color_by_colons(p, i, subs, target);
    return subs;
}

static void apply_underline(struct style *s, int kind)
{
    if (kind >= UNDERLINE_NONE && kind <= UNDERLINE_DASHED)
        s->underline = (uint8_t)kind;
}

static void sgr_reset(struct style *s)
{
    const uint16_t kept = STYLE_PROTECTED | STYLE_GUARDED;
    *s = (struct style){.attrs = s->attrs & kept, .link = s->link};
}

/* Applies a number that has no further parameters. */
static void apply_number(struct style *s, int number)
{
    if (number >= 30 && number <= 37)
        s->fg = color_ansi((unsigned)number - 30);
    else if (number >= 40 && number <= 47)
        s->bg = color_ansi((unsigned)number - 40);
    else if (number >= 90 && number <= 97)
        s->fg = color_ansi((unsigned)number - 90 + 8);
    else if (number >= 100 && number <= 107)
        s->bg = color_ansi((unsigned)number - 100 + 8);
    else if (number <= 0)
        sgr_reset(s);
    else if (number == 4)
        s->underline = UNDERLINE_SINGLE;
    else if (number == 21)
        s->underline = UNDERLINE_DOUBLE;
    else if (number == 24)
        s->underline = UNDERLINE_NONE;
    else if (number == 39)
        s->fg = 0;
    else if (number == 49)
        s->bg = 0;
    else if (number == 59)
        s->underline_color = 0;
    else
        (void)apply_attr(s, number);
}

static color *color_for(struct style *s, int number)
{
    switch (number) {
    case SGR_FG:
        return &s->fg;
    case SGR_BG:
        return &s->bg;
    case SGR_UNDERLINE_COLOR:
        return &s->underline_color;
    default:
        return NULL;
    }
}

void sgr_apply(struct term *t, struct style *s, unsigned first)
{
    const struct parser *p = &t->parser;
    if (p->n_params <= first) {
        sgr_reset(s);
        return;
    }
    for (unsigned i = first; i < p->n_params; i++) {
        int number = p->params[i];
        color *target = color_for(s, number);
        unsigned subs = 0;
        if (target) {
            subs = apply_color(p, i, target);
        } else if (number == 4 && is_sub(p, i + 1)) {
            subs = count_subs(p, i);
            apply_underline(s, p->params[i + 1] < 0 ? 1 : p->params[i + 1]);
        } else {
            subs = count_subs(p, i);
            if (subs == 0)
                apply_number(s, number);
        }
        i += subs;
    }
}

void sgr(struct term *t)
{
    sgr_apply(t, &t->pen, 0);
    pen_changed(t);
}

/* The mask has the SGR numbers as bits; 30 and 31 are the colours. */
void sgr_restore(struct style *s, const struct style *from, uint32_t which)
{
    const uint32_t underlines = 1u << 4 | 1u << 21, fg = 1u << 30, bg = 1u << 31;
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (!which || (attrs[i].number < 32 && which >> attrs[i].number & 1))
            s->attrs = (uint16_t)((s->attrs & ~attrs[i].set) | (from->attrs & attrs[i].set));
    if (!which || which & underlines)
        s->underline = from->underline;
    if (!which || which & fg)
        s->fg = from->fg;
    if (!which || which & bg)
        s->bg = from->bg;
    if (!which)
        s->underline_color = from->underline_color;
}

static void write_color(struct buf *b, color c, int base)
{
    unsigned v = color_value(c);
    int bright = base == SGR_BG ? 100 : 90, plain = base == SGR_BG ? 40 : 30;
    switch (color_kind(c)) {
    case COLOR_DEFAULT:
        break;
    case COLOR_ANSI:
        if (base == SGR_UNDERLINE_COLOR)
            buf_printf(b, ";%d:5:%u", base, v);
        else
            buf_printf(b, ";%d", v < 8 ? plain + (int)v : bright + (int)v - 8);
        break;
    case COLOR_INDEXED:
        buf_printf(b, ";%d:5:%u", base, v);
        break;
    case COLOR_RGB:
        buf_printf(b, ";%d:2::%u:%u:%u", base, v >> 16 & 255, v >> 8 & 255, v & 255);
        break;
    }
}

void sgr_write(const struct style *s, struct buf *b)
{
    buf_add_z(b, "0");
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (attrs[i].set && s->attrs & attrs[i].set)
            buf_printf(b, ";%d", attrs[i].number);
    if (s->underline == UNDERLINE_SINGLE)
        buf_add_z(b, ";4");
    else if (s->underline)
        buf_printf(b, ";4:%d", s->underline);
    write_color(b, s->fg, SGR_FG);
    write_color(b, s->bg, SGR_BG);
    write_color(b, s->underline_color, SGR_UNDERLINE_COLOR);
}
