/* Places: line and column, keys and indexes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/place.h"

#include "base/json.h"
#include "base/utf8.h"

struct point place_point(struct str text, size_t offset)
{
    struct point at = {1, 1};
    BUG_ON(offset > text.n);
    for (size_t i = 0; i < offset; i++) {
        if (text.p[i] == '\n')
            at = (struct point){at.line + 1, 1};
        else if (((unsigned char)text.p[i] & 0xC0) != 0x80) /* not a continuation byte */
            at.column++;
    }
    return at;
}

bool place_blame(struct err *err, struct point at)
{
    err_wrap(err, "%u:%u", at.line, at.column);
    err_ctx_int(err, "line", at.line);
    return err_ctx_int(err, "column", at.column);
}

bool place_blame_file(struct err *err, const char *name)
{
    /* "name:3:14: ...", but "name: ..." if the error has no line. */
    AUTO_FREE char *old = err->message;
    AUTO_BUF struct buf b = BUF_INIT(128 * 1024);
    buf_printf(&b, "%s:%s%s", name, err_ctx_get(err, "line") ? "" : " ", old);
    err->message = buf_take(&b);
    return err_ctx(err, "file", "%s", name);
}

static bool plain_key(struct str key)
{
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    return key.n > 0;
}

void place_add_key(struct buf *b, struct str key)
{
    if (key.n > PLACE_KEY_MAX) {
        key.n = PLACE_KEY_MAX;
        while (key.n > 0 && ((unsigned char)key.p[key.n] & 0xC0) == 0x80)
            key.n--;
    }
    if (!plain_key(key)) {
        buf_add_byte(b, '[');
        json_add_text(b, key);
        buf_add_byte(b, ']');
        return;
    }
    if (b->n > 0)
        buf_add_byte(b, '.');
    buf_add_str(b, key);
}

void place_add_index(struct buf *b, size_t index)
{
    buf_printf(b, "[%zu]", index);
}

void place_step_done(struct place_step *step)
{
    buf_done(&step->key);
}

/* ["a.b"]: finds the closing quote and lets the JSON parser decode the escapes. */
static bool next_quoted(struct str *rest, struct place_step *step)
{
    size_t end = 1;
    while (end < rest->n && rest->p[end] != '"')
        end += rest->p[end] == '\\' ? 2 : 1;
    if (end + 1 >= rest->n || rest->p[end + 1] != ']')
        return false;
    AUTO_JSON json_t *key = NULL;
    AUTO_ERR struct err unused = {0};
    if (!json_parse(str_head(*rest, end + 1), "place", E_INTERNAL, &key, &unused))
        return false;
    step->by_key = true;
    buf_add_str(&step->key, json_str(key));
    *rest = str_skip(*rest, end + 2);
    return true;
}

static bool next_index(struct str *rest, struct place_step *step)
{
    ptrdiff_t end = str_find(*rest, ']');
    int64_t index;
    if (end < 0 || !str_to_int(str_head(*rest, (size_t)end), 0, INT32_MAX, &index))
        return false;
    step->by_key = false;
    step->index = (size_t)index;
    *rest = str_skip(*rest, (size_t)end + 1);
    return true;
}

bool place_next(struct str *rest, struct place_step *step)
{
    buf_reset(&step->key);
    struct str at = *rest;
    if (at.n == 0)
        return false;
    bool bracket = at.p[0] == '[';
    if (bracket || at.p[0] == '.')
        at = str_skip(at, 1);
    if (bracket) {
        bool quoted = at.n > 0 && at.p[0] == '"';
        if (!(quoted ? next_quoted(&at, step) : next_index(&at, step)))
            return false;
    } else {
        size_t n = 0;
        while (n < at.n && at.p[n] != '.' && at.p[n] != '[')
            n++;
        step->by_key = true;
        buf_add_str(&step->key, str_head(at, n));
        at = str_skip(at, n);
    }
    *rest = at;
    return buf_ok(&step->key);
}
