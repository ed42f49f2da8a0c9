/* Output of programs as text: for any input, nothing is left that a terminal would obey, and the
 * same output in two parts is the same text where no line is overwritten. The first two bytes are
 * the place of the cut. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "term/unicode.h"
#include "tool/clean.h"

enum {
    TEXT_MAX = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Valid, and without control characters except for tabs and line breaks. */
static void check_clean(struct str text)
{
    while (text.n) {
        uint32_t codepoint;
        size_t n = utf8_decode(text, &codepoint);
        BUG_ON(n == 0);
        BUG_ON(codepoint < 0x20 && codepoint != '\n' && codepoint != '\t');
        BUG_ON(codepoint >= 0x7F && codepoint < 0xA0);
        text = str_skip(text, n);
    }
}

static void clean(struct str bytes, struct buf *text)
{
    clean_text(bytes, text);
    BUG_ON(!buf_ok(text));
    check_clean(buf_str(text));
}

/* Nothing in it moves the cursor or joins the character before it. */
static bool is_straight(struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        if (strchr("\r\bCDGJKPX@", bytes.p[i]))
            return false; /* also NUL */
    while (bytes.n) {
        uint32_t codepoint;
        size_t n = utf8_decode(bytes, &codepoint);
        if (n && codepoint >= 0x80 && unicode_width(unicode_class(codepoint)) == 0)
            return false;
        bytes = str_skip(bytes, n ? n : 1);
    }
    return true;
}

/* Cleans both parts separately; an incomplete end of the first belongs to the second. */
static void check_parts(struct str bytes, size_t cut, struct str whole)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
    struct str first = str_head(bytes, cut);
    size_t open = clean_open(first), character = clean_open_character(first);
    BUG_ON(open > first.n || open > CLEAN_OPEN_MAX || character >= UTF8_MAX || character > first.n);
    BUG_ON(str_find(str_skip(first, first.n - open), '\n') >= 0);
    first.n -= open;
    bool at_line = first.n == 0 || first.p[first.n - 1] == '\n';
    clean(first, &text);
    clean(str_skip(bytes, first.n), &text);
    if (at_line || is_straight(bytes))
        BUG_ON(!str_eq(buf_str(&text), whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX), again = BUF_INIT(TEXT_MAX);
    if (size < 2 || size > CLEAN_OPEN_MAX)
        return 0;
    struct str bytes = str_n((const char *)data + 2, size - 2);
    size_t cut = (size_t)(data[0] << 8 | data[1]) % (bytes.n + 1);
    clean(bytes, &text);
    clean(buf_str(&text), &again); /* clean text stays unchanged */
    BUG_ON(!str_eq(buf_str(&text), buf_str(&again)));
    check_parts(bytes, cut, buf_str(&text));
    return 0;
}
