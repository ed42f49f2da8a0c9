/* Keyboard layout: a fixed US layout, so that tests are reproducible, with upper case for all
 * alphabets that have it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/key_form.h"

#include "base/utf8.h"

static const char plain_keys[] = "`1234567890-=[]\\;',./";
static const char shifted_keys[] = "~!@#$%^&*()_+{}|:\"<>?";

/* Lower-case letters and the offset to their capitals. With a step of 2, capitals and small letters
 * alternate. Does not use the locale: the bytes must be the same everywhere. */
static const struct case_range {
    uint32_t first, last;
    int32_t to_upper;
    uint32_t step;
} case_ranges[] = {
    {'a', 'z', -32, 1},
    {0xE0, 0xF6, -32, 1},
    {0xF8, 0xFE, -32, 1},
    {0xFF, 0xFF, 0x178 - 0xFF, 1},
    {0x101, 0x12F, -1, 2},
    {0x133, 0x137, -1, 2},
    {0x13A, 0x148, -1, 2},
    {0x14B, 0x177, -1, 2},
    {0x17A, 0x17E, -1, 2},
    {0x3AC, 0x3AC, -38, 1},
    {0x3AD, 0x3AF, -37, 1},
    {0x3B1, 0x3C1, -32, 1},
    {0x3C3, 0x3CB, -32, 1},
    {0x3CC, 0x3CC, -64, 1},
    {0x3CD, 0x3CE, -63, 1},
    {0x430, 0x44F, -32, 1},
    {0x450, 0x45F, -80, 1},
    {0x461, 0x481, -1, 2},
    {0x48B, 0x4BF, -1, 2},
    {0x4D1, 0x52F, -1, 2},
    {0x561, 0x586, -48, 1},
};

static uint32_t case_other(uint32_t codepoint, bool upper)
{
    for (size_t i = 0; i < ARRAY_LEN(case_ranges); i++) {
        const struct case_range *r = &case_ranges[i];
        uint32_t offset = upper ? 0 : (uint32_t)r->to_upper;
        uint32_t first = r->first + offset, last = r->last + offset;
        if (codepoint >= first && codepoint <= last && (codepoint - first) % r->step == 0)
            return upper ? codepoint + (uint32_t)r->to_upper : codepoint - (uint32_t)r->to_upper;
    }
    return codepoint;
}

static uint32_t on_same_key(uint32_t codepoint, const char *from, const char *to)
{
    const char *at = codepoint > 0 && codepoint < 0x80 ? strchr(from, (int)codepoint) : NULL;
    return at ? (unsigned char)to[at - from] : codepoint;
}

uint32_t key_shifted(uint32_t codepoint)
{
    return case_other(on_same_key(codepoint, plain_keys, shifted_keys), true);
}

uint32_t key_unshifted(uint32_t codepoint)
{
    return case_other(on_same_key(codepoint, shifted_keys, plain_keys), false);
}

static bool key_layout_is_text(uint32_t codepoint)
{
    return codepoint >= 0x20 && !(codepoint >= 0x7F && codepoint <= 0x9F) &&
           utf8_is_scalar(codepoint);
}

struct key_typed key_typed(const struct key *key)
{
    struct key_typed t = {.mods = key->mods};
    if (key_on_keypad(key->name) && key->name != KEY_KP_ENTER)
        t.base = t.text = (unsigned char)key_forms[key->name].byte;
    if (key->name == KEY_SPACE)
        t.base = t.text = ' ';
    if (key->name != KEY_CHARACTER || !key_layout_is_text(key->codepoint))
        return t;
    t.base = t.text = key->codepoint;
    uint32_t small = case_other(t.base, false);
    if (small != t.base && !(t.mods & KEY_SHIFT)) {
        /* Ctrl+A is commonly written for Ctrl+a; any other capital implies Shift. */
        t.base = small;
        if (t.mods & KEY_CTRL)
            t.text = small;
        else
            t.mods |= KEY_SHIFT;
    } else if (t.mods & KEY_SHIFT) {
        t.base = key_unshifted(t.base);
        t.text = key_shifted(t.base);
    }
    return t;
}

void key_add_codepoint(uint32_t codepoint, struct buf *out)
{
    char bytes[UTF8_MAX];
    buf_add(out, bytes, utf8_write(codepoint, bytes));
}
