/* Colours, attributes and text of cells for drawing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/look.h"

#include "base/utf8.h"

/* Normal colours are dark enough as backgrounds, bright ones light enough to be readable. */
static const uint32_t palette_16[16] = {
    0x262A35, 0xE2565E, 0x5DB863, 0xD9AB4E, 0x3B76D6, 0xB26EE0, 0x2EA8B8, 0xC9D0DE, /* normal */
    0x667086, 0xFF8A91, 0x97E08D, 0xFFD987, 0x7DB8FF, 0xD9A9FF, 0x7ADFE8, 0xFFFFFF, /* bright */
};

enum {
    CUBE = 16,          /* start of the 6x6x6 colour cube */
    GREYS = CUBE + 216, /* start of the 24 greys */
    FAINT = 45,         /* percentage of the background in a faint colour */
};

uint32_t look_palette(unsigned n)
{
    static const uint8_t steps[6] = {0, 95, 135, 175, 215, 255};
    if (n < CUBE)
        return palette_16[n];
    if (n >= GREYS)
        return (8 + 10 * (n - GREYS)) * 0x010101;
    n -= CUBE;
    return (uint32_t)steps[n / 36] << 16 | (uint32_t)steps[n / 6 % 6] << 8 | steps[n % 6];
}

uint32_t look_mix(uint32_t a, uint32_t b, unsigned part)
{
    uint32_t mixed = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t x = a >> shift & 0xFF, y = b >> shift & 0xFF;
        mixed |= (x * (100 - part) + y * part + 50) / 100 << shift;
    }
    return mixed;
}

static uint32_t look_resolve_color(color c, uint32_t otherwise)
{
    switch (color_kind(c)) {
    case COLOR_ANSI:
    case COLOR_INDEXED:
        return look_palette(color_value(c) & 0xFF);
    case COLOR_RGB:
        return color_value(c);
    case COLOR_DEFAULT:
        break;
    }
    return otherwise;
}

bool look_cursor(const struct snapshot *s, unsigned *ret_col, unsigned *ret_width)
{
    if (!s->cursor.visible || s->cursor.row >= s->rows || s->cursor.col >= s->cols)
        return false;
    unsigned col = s->cursor.col;
    if (col > 0 && look_cell(s, s->cursor.row, col)->width == 0)
        col--; /* right half of a wide character */
    *ret_col = col;
    *ret_width = MAX(look_cell(s, s->cursor.row, col)->width, 1);
    return true;
}

struct look look_of(const struct snapshot *s, unsigned row, unsigned col)
{
    const struct style *style = &look_cell(s, row, col)->style;
    unsigned attrs = style->attrs;
    struct look look = {
        .fg = look_resolve_color(style->fg, LOOK_FG),
        .bg = look_resolve_color(style->bg, LOOK_BG),
        .bold = attrs & STYLE_BOLD,
        .italic = attrs & STYLE_ITALIC,
        .blink = attrs & (STYLE_BLINK | STYLE_RAPID),
        .strike = attrs & STYLE_STRIKE,
        .overline = attrs & STYLE_OVERLINE,
        .underline = style->underline,
        .hidden = attrs & STYLE_CONCEAL,
    };
    if (!(attrs & STYLE_INVERSE) != !s->reverse_screen) {
        uint32_t fg = look.fg;
        look.fg = look.bg;
        look.bg = fg;
    }
    if (attrs & STYLE_FAINT)
        look.fg = look_mix(look.fg, look.bg, FAINT);
    unsigned at, width;
    if (row == s->cursor.row && s->cursor.shape == 0 && look_cursor(s, &at, &width) && at == col) {
        look.cursor = true;
        look.fg = look.bg == LOOK_CURSOR ? LOOK_BG : look.bg;
        look.bg = LOOK_CURSOR;
    }
    look.underline_color =
        look.cursor ? look.fg : look_resolve_color(style->underline_color, look.fg);
    return look;
}

bool look_same(const struct look *a, const struct look *b)
{
    return a->fg == b->fg && a->bg == b->bg && a->underline_color == b->underline_color &&
           a->bold == b->bold && a->italic == b->italic && a->blink == b->blink &&
           a->strike == b->strike && a->overline == b->overline && a->underline == b->underline &&
           a->hidden == b->hidden && a->cursor == b->cursor;
}

uint32_t look_codepoint(const struct snapshot_cell *cell)
{
    uint32_t codepoint;
    size_t n = utf8_decode(cell->text, &codepoint);
    return n && n == cell->text.n ? codepoint : 0;
}

bool look_plain(const struct snapshot_cell *cell)
{
    uint32_t c = look_codepoint(cell);
    return cell->width == 1 && c >= ' ' && c < 0x300 && c != 0xAD && look_drawable(c);
}

/* Refuses controls, bidirectional controls, line separators, and characters not allowed in XML.
 * Joiners and variation selectors are part of clusters and are allowed. */
bool look_drawable(uint32_t codepoint)
{
    static const struct {
        uint32_t first, last;
    } refused[] = {
        {0x00, 0x1F},
        {0x7F, 0x9F},
        {0x061C, 0x061C},
        {0x200E, 0x200F},
        {0x2028, 0x202E},
        {0x2066, 0x206F},
        {0xFEFF, 0xFEFF},
        {0xFFF9, 0xFFFB},
        {0xFFFE, 0xFFFF},
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (codepoint >= refused[i].first && codepoint <= refused[i].last)
            return false;
    return true;
}

static void look_add(struct buf *out, struct str text, bool markup)
{
    static const char *const entities[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    while (text.n) {
        uint32_t codepoint;
        size_t n = utf8_decode(text, &codepoint);
        if (n == 0) {
            n = utf8_invalid_length(text);
            buf_add_z(out, "\xEF\xBF\xBD");
        } else if (markup && codepoint < 128 && entities[codepoint]) {
            buf_add_z(out, entities[codepoint]);
        } else if (look_drawable(codepoint)) {
            buf_add(out, text.p, n);
        } else if (codepoint == 0xFFFE || codepoint == 0xFFFF) {
            buf_add_z(out, "\xEF\xBF\xBD"); /* they take up a column */
        }
        text = str_skip(text, n);
    }
}

void look_add_text(struct buf *out, struct str text)
{
    look_add(out, text, false);
}

void look_add_markup(struct buf *out, struct str text)
{
    look_add(out, text, true);
}
