/* Palette of numbered colours that programs set and query. Cells store the number: the palette is
 * used only to answer queries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

enum {
    DYNAMIC_FIRST = 10, /* OSC 10 is the foreground, 11 the background, 12 the cursor, … */
    DYNAMIC_COUNT = 10,
};

static const uint32_t ansi[16] = {0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD,
    0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF,
    0xFFFFFF};

static uint32_t default_color(unsigned n)
{
    static const uint8_t levels[6] = {0, 95, 135, 175, 215, 255};
    if (n < 16)
        return ansi[n];
    if (n >= 232) {
        uint32_t grey = 8 + 10 * (n - 232);
        return grey << 16 | grey << 8 | grey;
    }
    n -= 16;
    return (uint32_t)levels[n / 36] << 16 | (uint32_t)levels[n / 6 % 6] << 8 | levels[n % 6];
}

static uint32_t default_dynamic(unsigned i)
{
    static const uint32_t colors[DYNAMIC_COUNT] = {0xE5E5E5, 0x000000, 0xE5E5E5, 0xE5E5E5, 0x000000,
        0xE5E5E5, 0x000000, 0x4D4D4D, 0x000000, 0xE5E5E5};
    return colors[i];
}

void palette_reset(struct palette *p)
{
    for (unsigned i = 0; i < 256; i++)
        p->colors[i] = default_color(i);
    for (unsigned i = 0; i < SPECIAL_COLORS; i++)
        p->special[i] = default_dynamic(0);
    for (unsigned i = 0; i < DYNAMIC_COUNT; i++)
        p->dynamic[i] = default_dynamic(i);
}

/* Parsing ------------------------------------------------------------------------------------- */

static int palette_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses one to four hexadecimal digits into 8 bits. If `scaled`, F means FF; otherwise F0. */
static bool parse_part(struct str s, bool scaled, uint32_t *ret_value)
{
    uint32_t value = 0, most = 0;
    if (s.n < 1 || s.n > 4)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = palette_hex_digit(s.p[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
        most = most << 4 | 15;
    }
    *ret_value = scaled ? (value * 255 + most / 2) / most : value << 8 >> (4 * s.n);
    return true;
}

static bool parse_rgb(struct str s, uint32_t *ret_color)
{
    struct str part;
    uint32_t rgb[3];
    unsigned n = 0;
    while (n < 3 && str_cut(s, '/', &part, &s))
        if (!parse_part(part, true, &rgb[n++]))
            return false;
    if (n != 3 || s.n)
        return false;
    *ret_color = rgb[0] << 16 | rgb[1] << 8 | rgb[2];
    return true;
}

static bool parse_hash(struct str s, uint32_t *ret_color)
{
    uint32_t rgb[3];
    size_t digits = s.n / 3;
    if (s.n % 3 || digits < 1 || digits > 4)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (!parse_part(str_n(s.p + i * digits, digits), false, &rgb[i]))
            return false;
    *ret_color = rgb[0] << 16 | rgb[1] << 8 | rgb[2];
    return true;
}

bool palette_parse(struct str text, uint32_t *ret_color)
{
    static const struct {
        const char *name;
        uint32_t color;
    } names[] = {{"black", 0}, {"red", 0xFF0000}, {"green", 0x00FF00}, {"yellow", 0xFFFF00},
        {"blue", 0x0000FF}, {"magenta", 0xFF00FF}, {"cyan", 0x00FFFF}, {"white", 0xFFFFFF}};
    if (str_starts_with(text, STR("rgb:")))
        return parse_rgb(str_skip(text, 4), ret_color);
    if (str_starts_with(text, STR("#")))
        return parse_hash(str_skip(text, 1), ret_color);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(text, names[i].name)) {
            *ret_color = names[i].color;
            return true;
        }
    return false;
}

/* OSC ----------------------------------------------------------------------------------------- */

static void palette_reply(struct term *t, const char *what, uint32_t c)
{
    unsigned r = c >> 16 & 255, g = c >> 8 & 255, b = c & 255;
    reply_osc(t, "%s;rgb:%02x%02x/%02x%02x/%02x%02x", what, r, r, g, g, b, b);
}

static uint32_t *palette_entry(struct palette *p, int number, int64_t index)
{
    if (number == 5)
        return index >= 0 && index < SPECIAL_COLORS ? &p->special[index] : NULL;
    if (index >= 0 && index < 256)
        return &p->colors[index];
    return index >= 256 && index < 256 + SPECIAL_COLORS ? &p->special[index - 256] : NULL;
}

/* OSC 4, OSC 5: pairs of a number and a colour or "?". */
static void palette_osc_indexed(struct term *t, int number, struct str rest)
{
    struct str index, value;
    int64_t n;
    char what[32];
    while (str_cut(rest, ';', &index, &rest) && str_cut(rest, ';', &value, &rest)) {
        uint32_t *slot =
            str_to_int(index, 0, 511, &n) ? palette_entry(&t->palette, number, n) : NULL;
        if (!slot)
            continue;
        snprintf(what, sizeof(what), "%d;%d", number, (int)n);
        if (str_is(value, "?"))
            palette_reply(t, what, *slot);
        else
            (void)palette_parse(value, slot);
    }
}

/* OSC 104, OSC 105: resets the given numbers, or all. */
static void reset_numbers(struct term *t, int number, struct str rest)
{
    struct palette fresh;
    struct str index;
    int64_t n;
    palette_reset(&fresh);
    if (rest.n == 0) {
        memcpy(t->palette.colors, fresh.colors, number == 104 ? sizeof(fresh.colors) : 0);
        memcpy(t->palette.special, fresh.special, number == 105 ? sizeof(fresh.special) : 0);
        return;
    }
    while (str_cut(rest, ';', &index, &rest)) {
        bool ok = str_to_int(index, 0, 511, &n);
        uint32_t *slot = ok ? palette_entry(&t->palette, number - 100, n) : NULL;
        if (slot)
            *slot = *palette_entry(&fresh, number - 100, n);
    }
}

/* OSC 10 and up: further values apply to the following numbers. */
static void palette_osc_dynamic(struct term *t, int number, struct str rest)
{
    struct str value;
    char what[16];
    for (; number < DYNAMIC_FIRST + DYNAMIC_COUNT && str_cut(rest, ';', &value, &rest); number++) {
        uint32_t *slot = &t->palette.dynamic[number - DYNAMIC_FIRST];
        snprintf(what, sizeof(what), "%d", number);
        if (str_is(value, "?"))
            palette_reply(t, what, *slot);
        else
            (void)palette_parse(value, slot);
    }
}

void palette_osc(struct term *t, int number, struct str text)
{
    if (number == 4 || number == 5)
        palette_osc_indexed(t, number, text);
    else if (number == 104 || number == 105)
        reset_numbers(t, number, text);
    else if (number >= 110 && number < 110 + DYNAMIC_COUNT)
        t->palette.dynamic[number - 110] = default_dynamic((unsigned)number - 110);
    else
        palette_osc_dynamic(t, number, text);
}
