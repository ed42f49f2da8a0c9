/* Strict JSON parsing, and building of trees. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/json_quick.h"
#include "base/json_scan.h"
#include "base/place.h"
#include "base/utf8.h"

enum {
    SHOWN_KEY = 60, /* bytes of a key in a message */
};

/* Offset at which nesting or the number of values exceeds its limit, or the end. Checked first,
 * since the parser recurses and needs some hundred bytes for the two bytes of an empty object. */
static size_t limit_at(struct str text, size_t most_depth, size_t most_values, bool *ret_deep)
{
    size_t depth = 0, values = 1;
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        if (quoted) {
            i = (size_t)(json_plain_end(text.p + i + 1, text.p + text.n) - text.p) - 1;
            continue;
        }
        bool opens = c == '[' || c == '{';
        if ((c == ']' || c == '}') && depth > 0)
            depth--;
        if (!opens && c != ',')
            continue;
        depth += opens;
        *ret_deep = depth > most_depth;
        if (*ret_deep || ++values > most_values)
            return i;
    }
    return text.n;
}

bool json_within(struct str text, size_t depth, size_t values)
{
    bool deep;
    return limit_at(text, depth, values, &deep) == text.n;
}

/* The quoted key that ends just before the offset. */
static struct str key_before(struct str text, size_t end)
{
    size_t start = end;
    while (start > 0) {
        start--;
        if (text.p[start] != '"' || start + 1 >= end)
            continue;
        size_t slashes = 0;
        while (slashes < start && text.p[start - 1 - slashes] == '\\')
            slashes++;
        if (slashes % 2 == 0)
            break;
    }
    return str_n(text.p + start, end - start);
}

/* The parser reports the end of the token it rejected; report its start. */
static size_t token_start(struct str text, size_t end, const char *message)
{
    const char *near = strstr(message, " near '");
    struct str token = near ? str_z(near + strlen(" near '")) : STR("");
    if (token.n < 2 || token.n - 1 > end)
        return end;
    token.n--; /* the quote after it */
    struct str before = str_n(text.p + end - token.n, token.n);
    return str_eq(before, token) ? end - token.n : end;
}

static bool json_syntax_error(
    struct str text, const json_error_t *e, enum err_code code, struct err *err)
{
    size_t end = e->position > 0 ? MIN((size_t)e->position, text.n) : 0;
    size_t start = token_start(text, end, e->text);
    switch (json_error_code(e)) {
    case json_error_duplicate_key: {
        struct str key = key_before(text, end);
        err_set(err, code, "duplicate object key " STR_FMT, STR_ARG(str_head(key, SHOWN_KEY)));
        start = end - key.n;
        break;
    }
    case json_error_null_character:
    case json_error_null_byte_in_key:
        err_set(err, code, "the character \\u0000 is not allowed");
        break;
    default:
        err_set(err, code, "%s", e->text);
    }
    place_blame(err, place_point(text, start));
    return false;
}

static bool json_is_blank(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!memchr(" \t\r\n", text.p[i], 4))
            return false;
    return true;
}

static bool json_parse_tree(struct str text, enum err_code code, json_t **ret_tree, struct err *err)
{
    if (text.n > JSON_SIZE_MAX)
        return err_set(err, code, "larger than %d MiB", JSON_SIZE_MAX >> 20);
    if (json_is_blank(text))
        return err_set(err, code, "empty, where JSON was expected");
    ptrdiff_t nul = str_find(text, '\0'); /* the parser takes NUL for the end */
    if (nul >= 0) {
        err_set(err, code, "the character NUL is not allowed");
        return place_blame(err, place_point(text, (size_t)nul));
    }
    bool deep = false;
    size_t end = limit_at(text, JSON_DEPTH_MAX, JSON_VALUES_MAX, &deep);
    if (end < text.n) {
        err_set(err, code, deep ? "nested more than %d levels deep" : "more than %d values",
            deep ? JSON_DEPTH_MAX : JSON_VALUES_MAX);
        return place_blame(err, place_point(text, end));
    }
    json_error_t e;
    json_t *tree = json_quick(text);
    if (!tree)
        tree = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!tree)
        return json_syntax_error(text, &e, code, err);
    *ret_tree = tree;
    return true;
}

bool json_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err)
{
    return json_parse_tree(text, code, ret_tree, err) || place_blame_file(err, name);
}

json_t *json_text(struct str bytes)
{
    json_t *string = NULL;
    struct str part, rest = bytes;
    if (utf8_valid(bytes) && str_find(bytes, '\0') < 0) {
        string = json_stringn_nocheck(bytes.p ? bytes.p : "", bytes.n);
    } else {
        AUTO_BUF struct buf b = BUF_INIT(3 * bytes.n);
        while (str_cut(rest, '\0', &part, &rest)) {
            utf8_add_lossy(&b, part);
            buf_add_z(&b, part.p + part.n < bytes.p + bytes.n ? "\xEF\xBF\xBD" : "");
        }
        string = json_stringn_nocheck(b.p, b.n);
    }
    BUG_ON(!string);
    return string;
}

json_t *json_text_or_null(const char *text)
{
    return text ? json_text(str_z(text)) : json_null();
}

struct str json_str(const json_t *string)
{
    return str_n(json_string_value(string), json_string_length(string));
}

struct str json_member(const json_t *object, const char *key)
{
    struct str text = json_str(json_object_get(object, key));
    return text.p ? text : STR("");
}

void json_put(json_t *object, const char *key, json_t *value)
{
    BUG_ON(json_object_set_new(object, key, value) != 0);
}

void json_push(json_t *list, json_t *value)
{
    BUG_ON(json_array_append_new(list, value) != 0);
}

json_t *json_take(json_t **tree)
{
    json_t *taken = *tree;
    *tree = NULL;
    return taken;
}

const char *json_kind(const json_t *value)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object",
        [JSON_ARRAY] = "a list",
        [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a fraction",
        [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",
        [JSON_NULL] = "null",
    };
    return value ? kinds[json_typeof(value)] : "nothing";
}

json_t *err_to_json(const struct err *err)
{
    json_t *context = json_object();
    for (size_t i = 0; i < err->n_ctx; i++) {
        const struct err_pair *pair = &err->ctx[i];
        json_t *value = pair->text ? json_text(str_z(pair->text)) : json_integer(pair->number);
        json_put(context, pair->key, value);
    }
    json_t *object = json_object();
    json_put(object, "code", json_text(str_z(err_name(err->code))));
    json_put(object, "message", json_text(str_z(err->message)));
    json_put(object, "context", context);
    return object;
}
