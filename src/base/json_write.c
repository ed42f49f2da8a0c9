/* JSON output: the same tree always gives the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/json_scan.h"
#include "base/utf8.h"

enum {
    WRITE_DEPTH_MAX = 2 * JSON_DEPTH_MAX, /* a parsed tree within a constructed one */
};

static void json_add_escape(struct buf *b, uint32_t codepoint)
{
    static const struct {
        char byte, letter;
    } shorts[] = {
        {'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'}, {'\r', 'r'}, {'\b', 'b'}, {'\f', 'f'}};
    for (size_t i = 0; i < ARRAY_LEN(shorts); i++)
        if (codepoint == (unsigned char)shorts[i].byte) {
            buf_add(b, (char[]){'\\', shorts[i].letter}, 2);
            return;
        }
    if (codepoint > 0xFFFF) { /* as a surrogate pair */
        codepoint -= 0x10000;
        buf_printf(b, "\\u%04x\\u%04x", 0xD800 + (codepoint >> 10), 0xDC00 + (codepoint & 0x3FF));
    } else {
        buf_printf(b, "\\u%04x", codepoint);
    }
}

static bool needs_escape(uint32_t c)
{
    bool plain = c >= ' ' && c < 0x7F; /* the common case */
    return c == '"' || c == '\\' || !(plain || utf8_shown_as_is(c));
}

/* Number of bytes from there on that need no escape, in steps of eight. */
static size_t shown_length(struct str bytes, size_t from)
{
    const uint64_t high = JSON_EACH_BYTE(0x80), del = JSON_EACH_BYTE(0x7F);
    size_t n = from;
    uint64_t word;
    for (; bytes.n - n >= sizeof(word); n += sizeof(word)) {
        memcpy(&word, bytes.p + n, sizeof(word));
        if ((word & high) || json_has_special(word) || json_zero_bytes(word ^ del))
            break;
    }
    return n - from;
}

void json_add_text(struct buf *b, struct str bytes)
{
    buf_add_byte(b, '"');
    size_t plain = 0; /* bytes at the start that can be added unchanged */
    while (plain < bytes.n) {
        plain += shown_length(bytes, plain);
        if (plain == bytes.n)
            break;
        uint32_t codepoint = 0;
        size_t n = utf8_decode(str_skip(bytes, plain), &codepoint);
        if (n > 0 && !needs_escape(codepoint)) {
            plain += n;
            continue;
        }
        buf_add(b, bytes.p, plain);
        bytes = str_skip(bytes, plain);
        plain = 0;
        if (n > 0)
            json_add_escape(b, codepoint);
        else
            buf_add_str(b, STR("\xEF\xBF\xBD"));
        bytes = str_skip(bytes, n > 0 ? n : utf8_invalid_length(bytes));
    }
    buf_add(b, bytes.p, plain);
    buf_add_byte(b, '"');
}

/* The shortest digits that parse back to the same number, always distinguishable from an
 * integer. */
static void add_real(struct buf *b, double value)
{
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_add_z(b, text);
    if (!strpbrk(text, ".e"))
        buf_add_z(b, ".0");
}

static void add_break(struct buf *b, bool pretty, unsigned depth)
{
    if (pretty)
        buf_printf(b, "\n%*s", (int)(2 * depth), "");
}

static void add_value(struct buf *b, const json_t *value, bool pretty, unsigned depth);

static void add_object(struct buf *b, const json_t *object, bool pretty, unsigned depth)
{
    json_t *o = (json_t *)object; /* jansson can only iterate over non-const objects */
    const char *separator = "";
    buf_add_byte(b, '{');
    for (void *at = json_object_iter(o); at; at = json_object_iter_next(o, at)) {
        buf_add_z(b, separator);
        add_break(b, pretty, depth + 1);
        json_add_text(b, str_n(json_object_iter_key(at), json_object_iter_key_len(at)));
        buf_add_z(b, pretty ? ": " : ":");
        add_value(b, json_object_iter_value(at), pretty, depth + 1);
        separator = ",";
    }
    add_break(b, pretty && json_object_size(o) > 0, depth);
    buf_add_byte(b, '}');
}

static void json_add_list(struct buf *b, const json_t *list, bool pretty, unsigned depth)
{
    buf_add_byte(b, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        buf_add_z(b, i ? "," : "");
        add_break(b, pretty, depth + 1);
        add_value(b, json_array_get(list, i), pretty, depth + 1);
    }
    add_break(b, pretty && json_array_size(list) > 0, depth);
    buf_add_byte(b, ']');
}

static void add_value(struct buf *b, const json_t *value, bool pretty, unsigned depth)
{
    BUG_ON(!value || depth > WRITE_DEPTH_MAX);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        add_object(b, value, pretty, depth);
        break;
    case JSON_ARRAY:
        json_add_list(b, value, pretty, depth);
        break;
    case JSON_STRING:
        json_add_text(b, json_str(value));
        break;
    case JSON_INTEGER:
        buf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        add_real(b, json_real_value(value));
        break;
    case JSON_TRUE:
        buf_add_z(b, "true");
        break;
    case JSON_FALSE:
        buf_add_z(b, "false");
        break;
    case JSON_NULL:
        buf_add_z(b, "null");
        break;
    }
}

void json_add_compact(struct buf *b, const json_t *tree)
{
    add_value(b, tree, false, 0);
}

void json_add_pretty(struct buf *b, const json_t *tree)
{
    add_value(b, tree, true, 0);
}
