/* UTF-8: decodes, encodes, replaces invalid bytes, escapes unprintable characters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

/* Properties of a lead byte: total length, and the range of the second byte. The ranges of E0, ED,
 * F0 and F4 exclude overlong forms, surrogates and values above U+10FFFF. */
struct lead {
    unsigned char length;
    unsigned char second_min, second_max;
};

enum {
    LEAD_ASCII,
    LEAD_2,
    LEAD_E0,
    LEAD_3,
    LEAD_ED,
    LEAD_F0,
    LEAD_4,
    LEAD_F4,
};

static const struct lead leads[] = {
    [LEAD_ASCII] = {1, 0, 0},
    [LEAD_2] = {2, 0x80, 0xBF},
    [LEAD_E0] = {3, 0xA0, 0xBF},
    [LEAD_3] = {3, 0x80, 0xBF},
    [LEAD_ED] = {3, 0x80, 0x9F},
    [LEAD_F0] = {4, 0x90, 0xBF},
    [LEAD_4] = {4, 0x80, 0xBF},
    [LEAD_F4] = {4, 0x80, 0x8F},
};

static const struct lead *lead_of(unsigned char byte)
{
    if (byte < 0x80)
        return &leads[LEAD_ASCII];
    if (byte < 0xC2 || byte > 0xF4)
        return NULL;
    if (byte < 0xE0)
        return &leads[LEAD_2];
    if (byte < 0xF0)
        return &leads[byte == 0xE0 ? LEAD_E0 : byte == 0xED ? LEAD_ED : LEAD_3];
    return &leads[byte == 0xF0 ? LEAD_F0 : byte == 0xF4 ? LEAD_F4 : LEAD_4];
}

/* Number of bytes at the start that fit the lead's pattern; lead->length if the character is
 * complete. */
static size_t utf8_fitting_length(struct str s, const struct lead *lead)
{
    size_t n = 1;
    while (n < lead->length && n < s.n) {
        unsigned char byte = (unsigned char)s.p[n];
        unsigned char min = n == 1 ? lead->second_min : 0x80;
        unsigned char max = n == 1 ? lead->second_max : 0xBF;
        if (byte < min || byte > max)
            break;
        n++;
    }
    return n;
}

size_t utf8_decode(struct str s, uint32_t *ret_codepoint)
{
    if (s.n == 0)
        return 0;
    unsigned char first = (unsigned char)s.p[0];
    if (first < 0x80) {
        *ret_codepoint = first;
        return 1;
    }
    const struct lead *lead = lead_of(first);
    if (!lead || utf8_fitting_length(s, lead) != lead->length)
        return 0;
    uint32_t codepoint = first & (0x7Fu >> lead->length);
    for (size_t i = 1; i < lead->length; i++)
        codepoint = codepoint << 6 | ((unsigned char)s.p[i] & 0x3Fu);
    *ret_codepoint = codepoint;
    return lead->length;
}

size_t utf8_invalid_length(struct str s)
{
    BUG_ON(s.n == 0);
    const struct lead *lead = lead_of((unsigned char)s.p[0]);
    return lead ? utf8_fitting_length(s, lead) : 1;
}

bool utf8_is_scalar(uint32_t codepoint)
{
    return codepoint <= UTF8_LAST && (codepoint < 0xD800 || codepoint > 0xDFFF);
}

size_t utf8_write(uint32_t codepoint, char bytes[UTF8_MAX])
{
    BUG_ON(!utf8_is_scalar(codepoint));
    if (codepoint < 0x80) {
        bytes[0] = (char)codepoint;
        return 1;
    }
    size_t length = codepoint < 0x800 ? 2 : codepoint < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (codepoint & 0x3F));
        codepoint >>= 6;
    }
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    bytes[0] = (char)(marks[length] | codepoint);
    return length;
}

/* Number of ASCII bytes at the start, in steps of eight: most text is ASCII. */
static size_t ascii_length(struct str s)
{
    size_t n = 0;
    uint64_t word;
    for (; s.n - n >= sizeof(word); n += sizeof(word)) {
        memcpy(&word, s.p + n, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return n;
}

bool utf8_valid(struct str s)
{
    uint32_t codepoint;
    while (s.n) {
        s = str_skip(s, ascii_length(s));
        size_t n = s.n ? utf8_decode(s, &codepoint) : 0;
        if (n == 0)
            return s.n == 0;
        s = str_skip(s, n);
    }
    return true;
}

struct str utf8_skip_mark(struct str s)
{
    struct str mark = STR("\xEF\xBB\xBF");
    return str_starts_with(s, mark) ? str_skip(s, mark.n) : s;
}

const char *utf8_other_encoding(struct str s)
{
    static const struct {
        struct str mark;
        const char *name;
    } rows[] = {
        {STR("\xFF\xFE\0\0"), "UTF-32"},
        {STR("\0\0\xFE\xFF"), "UTF-32"},
        {STR("\xFF\xFE"), "UTF-16"},
        {STR("\xFE\xFF"), "UTF-16"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_starts_with(s, rows[i].mark))
            return rows[i].name;
    return NULL;
}

size_t utf8_add_lossy(struct buf *b, struct str s)
{
    size_t replaced = 0;
    uint32_t codepoint;
    while (s.n) {
        size_t n = utf8_decode(s, &codepoint);
        if (n) {
            buf_add(b, s.p, n);
        } else {
            n = utf8_invalid_length(s);
            buf_add_str(b, STR("\xEF\xBF\xBD"));
            replaced++;
        }
        s = str_skip(s, n);
    }
    return replaced;
}

/* False for characters that change what a terminal does or how the text around them is
 * displayed. */
bool utf8_shown_as_is(uint32_t codepoint)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0x00, 0x1F},
        {0x7F, 0x9F},
        {0xAD, 0xAD},
        {0x061C, 0x061C},
        {0x200B, 0x200F},
        {0x2028, 0x202E},
        {0x2060, 0x206F},
        {0xFEFF, 0xFEFF},
        {0xFFF9, 0xFFFB},
        {0xE0000, 0xE007F},
    };
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (codepoint >= hidden[i].first && codepoint <= hidden[i].last)
            return false;
    return true;
}

static void utf8_add_escaped(struct buf *b, uint32_t codepoint)
{
    if (codepoint == '\n')
        buf_add_z(b, "\\n");
    else if (codepoint == '\t')
        buf_add_z(b, "\\t");
    else if (codepoint == '\r')
        buf_add_z(b, "\\r");
    else if (codepoint < 0x80)
        buf_printf(b, "\\x%02X", codepoint);
    else
        buf_printf(b, "\\u{%X}", codepoint);
}

void utf8_add_printable(struct buf *b, struct str s)
{
    uint32_t codepoint;
    while (s.n) {
        size_t n = utf8_decode(s, &codepoint);
        if (n == 0) {
            buf_printf(b, "\\x%02X", (unsigned char)s.p[0]);
            n = 1;
        } else if (utf8_shown_as_is(codepoint)) {
            buf_add(b, s.p, n);
        } else {
            utf8_add_escaped(b, codepoint);
        }
        s = str_skip(s, n);
    }
}

bool utf8_printable(struct str s)
{
    uint32_t codepoint;
    while (s.n) {
        size_t n = utf8_decode(s, &codepoint);
        if (n == 0 || !utf8_shown_as_is(codepoint))
            return false;
        s = str_skip(s, n);
    }
    return true;
}

size_t utf8_cut(struct str s, size_t most)
{
    size_t n = MIN(s.n, most);
    while (n > 0 && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}
