/* Masking of keys in trees and texts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mask.h"

#include "base/grow.h"

static const struct str MASKED = {"[masked]", sizeof("[masked]") - 1};

void mask_done(struct mask *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->forms[i]);
    free(m->forms);
    *m = (struct mask){0};
}

static void add_form(struct mask *m, struct str form)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_is(form, m->forms[i]))
            return;
    GROW(m->forms, m->n, m->cap, GROW_MAX);
    m->forms[m->n] = strndup(form.p, form.n);
    BUG_ON(!m->forms[m->n]);
    m->n++;
}

/* Some JSON writers also escape '/'. */
static void add_slashed(struct mask *m, struct str form)
{
    AUTO_BUF struct buf b = BUF_INIT(4 * (MASK_KEY_MAX * 6 + 2));
    for (size_t i = 0; i < form.n; i++) {
        if (form.p[i] == '/')
            buf_add_byte(&b, '\\');
        buf_add_byte(&b, form.p[i]);
    }
    add_form(m, buf_str(&b));
}

void mask_add(struct mask *m, struct str key)
{
    key = str_head(key, MASK_KEY_MAX);
    if (key.n < MASK_KEY_MIN || str_find(key, '\0') >= 0)
        return;
    add_form(m, key);
    AUTO_BUF struct buf quoted = BUF_INIT(MASK_KEY_MAX * 6 + 2);
    json_add_text(&quoted, key);
    struct str inner = str_n(quoted.p + 1, quoted.n - 2);
    add_form(m, inner);
    add_slashed(m, inner);
}

/* Finds the first key, the longest if several begin there; false if none. */
static bool mask_find_form(const struct mask *m, struct str text, size_t *ret_at, size_t *ret_n)
{
    size_t at = SIZE_MAX, n = 0;
    for (size_t i = 0; i < m->n && text.n; i++) {
        size_t length = strlen(m->forms[i]);
        const char *p = memmem(text.p, text.n, m->forms[i], length);
        size_t here = p ? (size_t)(p - text.p) : SIZE_MAX;
        if (p && (here < at || (here == at && length > n))) {
            at = here;
            n = length;
        }
    }
    *ret_at = at;
    *ret_n = n;
    return n > 0;
}

/* Appends everything up to the last complete key, masked; returns the remaining text. */
static struct str add_whole(const struct mask *m, struct str text, struct buf *out)
{
    size_t at, n;
    while (mask_find_form(m, text, &at, &n)) {
        buf_add_str(out, str_head(text, at));
        buf_add_str(out, MASKED);
        text = str_skip(text, at + n);
    }
    return text;
}

void mask_add_text(const struct mask *m, struct str text, struct buf *out)
{
    buf_add_str(out, add_whole(m, text, out));
}

/* Number of bytes at the end that are a prefix of this key. */
static size_t mask_open_end(struct str text, const char *form)
{
    size_t n = MIN(text.n, strlen(form) - 1);
    while (n && memcmp(text.p + text.n - n, form, n) != 0)
        n--;
    return n;
}

size_t mask_add_part(const struct mask *m, struct str text, struct buf *out)
{
    size_t open = 0;
    struct str rest = add_whole(m, text, out);
    for (size_t i = 0; i < m->n; i++)
        open = MAX(open, mask_open_end(rest, m->forms[i]));
    buf_add_str(out, str_head(rest, rest.n - open));
    return open;
}

/* Masks the start of a key that was truncated with "..."; returns the remaining text. */
static struct str add_cut(const struct mask *m, struct str text, struct buf *out)
{
    const char *dots;
    while (text.n && (dots = memmem(text.p, text.n, "...", 3))) {
        struct str before = str_n(text.p, (size_t)(dots - text.p));
        size_t open = 0;
        for (size_t i = 0; i < m->n; i++)
            open = MAX(open, mask_open_end(before, m->forms[i]));
        bool part = open >= MASK_KEY_MIN;
        buf_add_str(out, str_head(before, before.n - (part ? open : 0)));
        buf_add_str(out, part ? MASKED : STR(""));
        buf_add_z(out, "...");
        text = str_skip(text, before.n + 3);
    }
    return text;
}

static void clean_words(const struct mask *m, char **words)
{
    if (!*words)
        return;
    size_t max = 2 * strlen(*words) + 64;
    AUTO_BUF struct buf whole = BUF_INIT(max), b = BUF_INIT(2 * max);
    mask_add_text(m, str_z(*words), &whole);
    buf_add_str(&b, add_cut(m, buf_str(&whole), &b));
    free(*words);
    *words = buf_take(&b);
}

void mask_err(const struct mask *m, struct err *err)
{
    if (m->n == 0)
        return;
    clean_words(m, &err->message);
    for (size_t i = 0; i < err->n_ctx; i++)
        clean_words(m, &err->ctx[i].text);
}

static bool text_has(const struct mask *m, struct str text)
{
    size_t at, n;
    return mask_find_form(m, text, &at, &n);
}

static bool tree_has(const struct mask *m, const json_t *tree)
{
    json_t *t = (json_t *)tree; /* jansson cannot iterate over const values */
    if (json_is_string(t))
        return text_has(m, json_str(t));
    for (size_t i = 0; json_is_array(t) && i < json_array_size(t); i++)
        if (tree_has(m, json_array_get(t, i)))
            return true;
    if (!json_is_object(t))
        return false;
    for (void *at = json_object_iter(t); at; at = json_object_iter_next(t, at))
        if (text_has(m, str_n(json_object_iter_key(at), json_object_iter_key_len(at))) ||
            tree_has(m, json_object_iter_value(at)))
            return true;
    return false;
}

static json_t *clean_text(const struct mask *m, struct str text)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * text.n + 64);
    mask_add_text(m, text, &b);
    return json_text(buf_str(&b));
}

static json_t *mask_clean_tree(const struct mask *m, const json_t *tree)
{
    json_t *t = (json_t *)tree;
    if (json_is_string(t))
        return clean_text(m, json_str(t));
    if (json_is_array(t)) {
        json_t *list = json_array();
        for (size_t i = 0; i < json_array_size(t); i++)
            json_push(list, mask_clean_tree(m, json_array_get(t, i)));
        return list;
    }
    if (!json_is_object(t))
        return json_incref(t);
    json_t *object = json_object();
    for (void *at = json_object_iter(t); at; at = json_object_iter_next(t, at)) {
        struct str key = str_n(json_object_iter_key(at), json_object_iter_key_len(at));
        AUTO_BUF struct buf b = BUF_INIT(2 * key.n + 64);
        mask_add_text(m, key, &b);
        json_put(object, buf_z(&b), mask_clean_tree(m, json_object_iter_value(at)));
    }
    return object;
}

json_t *mask_tree(const struct mask *m, const json_t *tree)
{
    return tree_has(m, tree) ? mask_clean_tree(m, tree) : json_incref((json_t *)tree);
}
