/* Appearance of a cell. Colours are kept as the program specified them: "red", "number 1 of 256"
 * and "255,0,0" are distinct.
 *
 *     struct style s = {.fg = color_ansi(1), .attrs = STYLE_BOLD};
 *     uint16_t id = style_intern(&table, &s);
 *     const struct style *same = &table.styles[id];
 *
 * A grid stores style numbers; 0 is the default style. The table's size is limited: when it is
 * full, the terminal reuses the numbers of unused styles (term_compact.c).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_STYLE_H
#define TERM_STYLE_H

#include "base/str.h"

enum color_kind {
    COLOR_DEFAULT,
    COLOR_ANSI,    /* 0 to 15 */
    COLOR_INDEXED, /* 0 to 255 */
    COLOR_RGB,
};

/* Kind in the top byte, number or 0xRRGGBB below. 0 is the default colour. */
typedef uint32_t color;

static inline color color_ansi(unsigned n)
{
    return (uint32_t)COLOR_ANSI << 24 | n;
}

static inline color color_indexed(unsigned n)
{
    return (uint32_t)COLOR_INDEXED << 24 | n;
}

static inline color color_rgb(unsigned r, unsigned g, unsigned b)
{
    return (uint32_t)COLOR_RGB << 24 | r << 16 | g << 8 | b;
}

static inline enum color_kind color_kind(color c)
{
    return (enum color_kind)(c >> 24);
}

static inline unsigned color_value(color c)
{
    return c & 0xFFFFFF;
}

/* Whether the kind is known and the number in its range. */
static inline bool color_is_valid(color c)
{
    static const unsigned last[] = {
        [COLOR_DEFAULT] = 0, [COLOR_ANSI] = 15, [COLOR_INDEXED] = 255, [COLOR_RGB] = 0xFFFFFF};
    return c >> 24 < ARRAY_LEN(last) && color_value(c) <= last[c >> 24];
}

enum style_attr {
    STYLE_BOLD = 1 << 0,
    STYLE_FAINT = 1 << 1,
    STYLE_ITALIC = 1 << 2,
    STYLE_BLINK = 1 << 3,
    STYLE_RAPID = 1 << 4, /* rapid blinking */
    STYLE_INVERSE = 1 << 5,
    STYLE_CONCEAL = 1 << 6,
    STYLE_STRIKE = 1 << 7,
    STYLE_OVERLINE = 1 << 8,
    STYLE_PROTECTED = 1 << 9, /* DECSCA: survives selective erase; invisible */
    STYLE_GUARDED = 1 << 10,  /* SPA: survives every erase; invisible */
};

/* Mask of the visible attributes. */
#define STYLE_VISIBLE ((unsigned)STYLE_PROTECTED - 1)

enum underline {
    UNDERLINE_NONE,
    UNDERLINE_SINGLE,
    UNDERLINE_DOUBLE,
    UNDERLINE_CURLY,
    UNDERLINE_DOTTED,
    UNDERLINE_DASHED,
};

struct style {
    color fg, bg, underline_color;
    uint16_t attrs;    /* enum style_attr */
    uint8_t underline; /* enum underline */
    uint8_t unused;    /* zero: styles are compared with memcmp() */
    uint32_t link;     /* number for term_link(), or 0 */
};

/* Validates the colours and the underline of a style received from another process. */
bool style_is_valid(const struct style *s);

enum {
    STYLES_MAX = 60 * 1000,
};

/* Styles by number, and an open-addressing hash table of the numbers. */
struct style_table {
    struct style *styles;
    uint32_t n, cap;
    uint16_t *slots;  /* numbers + 1; 0: free */
    uint32_t n_slots; /* a power of two */
    uint64_t seed;    /* hash seed: an address, unknown to the program */
};

void style_table_init(struct style_table *t);
void style_table_done(struct style_table *t);

/* Returns the number of a style, adding it if necessary, or 0 if it is new and the table is
 * full. */
uint16_t style_intern(struct style_table *t, const struct style *s);

static inline bool style_table_full(const struct style_table *t)
{
    return t->n >= STYLES_MAX;
}

#endif
