/* JSON: accepted text has the grammar of RFC 8259, checked here again without a parser's code; the
 * quick reader agrees with the strict one; text that is read and written reads back as the same,
 * and is written in visible characters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"
#include "base/json_quick.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scan {
    struct str rest;
    unsigned depth;
};

static bool is_next(const struct scan *s, char c)
{
    return s->rest.n && s->rest.p[0] == c;
}

static bool take(struct scan *s, char c)
{
    bool is = is_next(s, c);
    s->rest = str_skip(s->rest, is);
    return is;
}

static void skip_blank(struct scan *s)
{
    while (take(s, ' ') || take(s, '\t') || take(s, '\n') || take(s, '\r'))
        continue;
}

static size_t take_any(struct scan *s, const char *set)
{
    size_t n = 0;
    while (n < s->rest.n && s->rest.p[n] && strchr(set, s->rest.p[n]))
        n++;
    s->rest = str_skip(s->rest, n);
    return n;
}

static bool take_number(struct scan *s)
{
    static const char digits[] = "0123456789";
    (void)take(s, '-');
    if (!take(s, '0') && take_any(s, digits) == 0)
        return false;
    if (take(s, '.') && take_any(s, digits) == 0)
        return false;
    if (!take(s, 'e') && !take(s, 'E'))
        return true;
    if (!take(s, '+'))
        (void)take(s, '-');
    return take_any(s, digits) > 0;
}

/* Escapes of lone surrogates and of NUL are left to the reader. */
static bool take_escape(struct scan *s)
{
    if (!take(s, 'u')) {
        bool known = s->rest.n && s->rest.p[0] && strchr("\"\\/bfnrt", s->rest.p[0]);
        s->rest = str_skip(s->rest, known);
        return known;
    }
    for (int i = 0; i < 4; i++) {
        bool hex = s->rest.n && s->rest.p[0] && strchr("0123456789abcdefABCDEF", s->rest.p[0]);
        s->rest = str_skip(s->rest, hex);
        if (!hex)
            return false;
    }
    return true;
}

static bool take_text(struct scan *s)
{
    if (!take(s, '"'))
        return false;
    while (!take(s, '"')) {
        uint32_t codepoint;
        size_t n = utf8_decode(s->rest, &codepoint);
        if (n == 0 || codepoint < 0x20)
            return false;
        s->rest = str_skip(s->rest, n);
        if (codepoint == '\\' && !take_escape(s))
            return false;
    }
    return true;
}

static bool take_word(struct scan *s, const char *word)
{
    bool is = str_starts_with(s->rest, str_z(word));
    s->rest = str_skip(s->rest, is ? strlen(word) : 0);
    return is;
}

static bool take_value(struct scan *s)
{
    skip_blank(s);
    bool object = is_next(s, '{');
    if (!object && !is_next(s, '['))
        return take_word(s, "true") || take_word(s, "false") || take_word(s, "null") ||
               (is_next(s, '"') ? take_text(s) : take_number(s));
    const char close = object ? '}' : ']';
    s->rest = str_skip(s->rest, 1);
    if (++s->depth > JSON_DEPTH_MAX)
        return false;
    skip_blank(s);
    bool ok = true, more = !is_next(s, close);
    while (ok && more) {
        skip_blank(s);
        if (object) {
            ok = take_text(s);
            skip_blank(s);
            ok = ok && take(s, ':');
        }
        ok = ok && take_value(s);
        skip_blank(s);
        more = ok && take(s, ',');
    }
    s->depth--;
    return ok && take(s, close);
}

static bool is_json(struct str text)
{
    struct scan s = {.rest = text};
    bool ok = take_value(&s);
    skip_blank(&s);
    return ok && s.rest.n == 0;
}

static void check_written(json_t *tree)
{
    AUTO_BUF struct buf b = BUF_INIT(64 << 20), pretty = BUF_INIT(256 << 20);
    AUTO_JSON json_t *again = NULL;
    AUTO_ERR struct err err = {0};
    json_add_compact(&b, tree);
    json_add_pretty(&pretty, tree);
    bool ok = json_parse(buf_str(&b), "written", E_CONFIG, &again, &err);
    BUG_ON(!ok || !json_equal(tree, again) || !utf8_printable(buf_str(&b)));
    BUG_ON(!is_json(buf_str(&b)) || !is_json(buf_str(&pretty)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    struct point at = doc_locate(text, DOC_JSON, "a[1].b[\"c d\"]");
    BUG_ON(at.line == 0 || at.column == 0);
    bool ok = json_parse(text, "input", E_CONFIG, &tree, &err);
    BUG_ON(ok != (tree != NULL) || ok != (err.code == ERR_NONE));
    if (!ok)
        return 0;
    BUG_ON(!is_json(text) || !json_within(text, JSON_DEPTH_MAX, JSON_VALUES_MAX));
    AUTO_JSON json_t *quick = json_quick(text);
    AUTO_JSON json_t *strict =
        json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    BUG_ON(!strict || !json_equal(tree, strict) || (quick && !json_equal(quick, strict)));
    check_written(tree);
    return 0;
}
