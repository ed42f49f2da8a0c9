/* Fast path for plain JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_quick.h"

#include "base/json_scan.h"
#include "base/utf8.h"

enum {
    DIGITS_MAX = 18, /* always fit into an integer */
};

struct quick {
    const char *p;
    const char *end;
};

static json_t *quick_read_value(struct quick *q);

static char quick_peek(struct quick *q)
{
    while (q->p < q->end && (*q->p == ' ' || *q->p == '\n' || *q->p == '\t' || *q->p == '\r'))
        q->p++;
    return q->p < q->end ? *q->p : '\0';
}

static bool quick_consume(struct quick *q, char c)
{
    if (quick_peek(q) != c)
        return false;
    q->p++;
    return true;
}

static bool quick_read_hex(struct quick *q, uint32_t *ret_unit)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t unit = 0;
    if (q->end - q->p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *q->p++;
        const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;
        if (!at)
            return false;
        unit = unit << 4 | (uint32_t)(at - digits);
    }
    *ret_unit = unit;
    return true;
}

/* After "\u". */
static bool quick_read_codepoint(struct quick *q, char **out)
{
    uint32_t high, low;
    if (!quick_read_hex(q, &high) || high == 0)
        return false;
    if (high >= 0xD800 && high < 0xDC00) {
        if (q->end - q->p < 2 || q->p[0] != '\\' || q->p[1] != 'u')
            return false;
        q->p += 2;
        if (!quick_read_hex(q, &low) || low < 0xDC00 || low > 0xDFFF)
            return false;
        high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    if (!utf8_is_scalar(high))
        return false;
    *out += utf8_write(high, *out);
    return true;
}

static bool quick_read_escape(struct quick *q, char **out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (q->p == q->end)
        return false;
    char c = *q->p++;
    if (c == 'u')
        return quick_read_codepoint(q, out);
    const char *at = c ? strchr(names, c) : NULL;
    if (at)
        *(*out)++ = bytes[at - names];
    return at != NULL;
}

/* Finds the quote that ends the string starting at p, or returns NULL. */
static const char *text_end(const char *p, const char *end)
{
    while ((p = json_plain_end(p, end)) < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return p < end ? p : NULL;
}

/* Called after the opening quote, consumes the closing one. The text is newly allocated, and never
 * longer than its source. */
static bool quick_read_text(struct quick *q, char **ret_text, size_t *ret_n)
{
    const char *close = text_end(q->p, q->end);
    if (!close)
        return false;
    AUTO_FREE char *text = malloc((size_t)(close - q->p) + 1);
    BUG_ON(!text);
    char *out = text;
    while (q->p < close) {
        const char *run = q->p;
        q->p = json_plain_end(run, close);
        memcpy(out, run, (size_t)(q->p - run));
        out += q->p - run;
        if (q->p == close)
            break;
        if (*q->p++ != '\\' || !quick_read_escape(q, &out))
            return false;
    }
    *out = '\0';
    q->p = close + 1;
    *ret_n = (size_t)(out - text);
    *ret_text = text;
    text = NULL;
    return utf8_valid(str_n(*ret_text, *ret_n));
}

/* Strings without escapes are used without a temporary copy. */
static json_t *quick_read_string(struct quick *q)
{
    const char *end = json_plain_end(q->p, q->end);
    struct str plain = str_n(q->p, (size_t)(end - q->p));
    if (end < q->end && *end == '"') {
        q->p = end + 1;
        return utf8_valid(plain) ? json_stringn_nocheck(plain.p, plain.n) : NULL;
    }
    AUTO_FREE char *text = NULL;
    size_t n;
    return quick_read_text(q, &text, &n) ? json_stringn_nocheck(text, n) : NULL;
}

static bool quick_read_member(struct quick *q, json_t *object)
{
    AUTO_FREE char *key = NULL;
    size_t n;
    if (!quick_consume(q, '"') || !quick_read_text(q, &key, &n) || !quick_consume(q, ':'))
        return false;
    if (json_object_get(object, key))
        return false;
    json_t *value = quick_read_value(q);
    return value && json_object_set_new_nocheck(object, key, value) == 0;
}

static bool quick_read_item(struct quick *q, json_t *list)
{
    json_t *value = quick_read_value(q);
    return value && json_array_append_new(list, value) == 0;
}

/* Called after the opening bracket, consumes the closing one; takes ownership of the collection. */
static json_t *quick_read_all(
    struct quick *q, json_t *into, bool (*read_one)(struct quick *, json_t *), char close)
{
    bool ok = into && quick_consume(q, close);
    if (ok)
        return into;
    do
        ok = into && read_one(q, into);
    while (ok && quick_consume(q, ','));
    if (ok && quick_consume(q, close))
        return into;
    json_decref(into);
    return NULL;
}

static json_t *quick_read_integer(struct quick *q)
{
    bool negative = *q->p == '-';
    const char *start = q->p += negative;
    json_int_t number = 0;
    while (q->p < q->end && *q->p >= '0' && *q->p <= '9' && q->p - start < DIGITS_MAX)
        number = 10 * number + (*q->p++ - '0');
    size_t n = (size_t)(q->p - start);
    bool padded = n > 1 && *start == '0';
    bool more = q->p < q->end && memchr("0123456789.eE", *q->p, 13);
    if (n == 0 || padded || more)
        return NULL;
    return json_integer(negative ? -number : number);
}

static json_t *quick_read_word(struct quick *q)
{
    static const struct {
        const char *word;
        json_t *(*make)(void);
    } words[] = {{"true", json_true}, {"false", json_false}, {"null", json_null}};
    struct str rest = str_n(q->p, (size_t)(q->end - q->p));
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].word);
        if (!str_starts_with(rest, str_n(words[i].word, n)))
            continue;
        q->p += n;
        bool longer =
            q->p < q->end && ((*q->p >= 'a' && *q->p <= 'z') || (*q->p >= 'A' && *q->p <= 'Z'));
        return longer ? NULL : words[i].make();
    }
    return NULL;
}

static json_t *quick_read_value(struct quick *q)
{
    char c = quick_peek(q);
    if (c == '-' || (c >= '0' && c <= '9'))
        return quick_read_integer(q);
    if (c != '{' && c != '[' && c != '"')
        return quick_read_word(q);
    q->p++;
    if (c == '"')
        return quick_read_string(q);
    return c == '{' ? quick_read_all(q, json_object(), quick_read_member, '}')
                    : quick_read_all(q, json_array(), quick_read_item, ']');
}

json_t *json_quick(struct str text)
{
    struct quick q = {text.p, text.p + text.n};
    json_t *tree = quick_read_value(&q);
    quick_peek(&q);
    if (q.p == q.end)
        return tree;
    json_decref(tree);
    return NULL;
}
