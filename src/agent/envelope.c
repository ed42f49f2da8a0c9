/* The version 1 envelope. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/envelope.h"

#include "agent/line.h"
#include "base/place.h"
#include "llm/message.h"

/* Lines --------------------------------------------------------------------------------------- */

static bool envelope_append_line(struct envelope_lines *l, const json_t *tree, struct err *err)
{
    AUTO_JSON json_t *clean = mask_tree(l->mask, tree);
    json_add_compact(l->lines, clean);
    buf_add_byte(l->lines, '\n');
    return (buf_ok(l->lines) && l->lines->n <= STORE_BYTES_MAX) ||
           err_set(err, E_CONFIG, "it is larger than %d MiB", (int)(STORE_BYTES_MAX >> 20));
}

/* Converts a compaction from its form in an envelope, {"at":N,...}, to a line. */
static bool add_compaction(struct envelope_lines *l, json_t *compaction, struct err *err)
{
    AUTO_JSON json_t *record = json_object();
    json_put(record, "type", json_string("compaction"));
    for (void *at = json_object_iter(compaction); at; at = json_object_iter_next(compaction, at))
        if (strcmp(json_object_iter_key(at), "at") != 0)
            json_put(record, json_object_iter_key(at), json_incref(json_object_iter_value(at)));
    return envelope_append_line(l, record, err);
}

static bool bad_compaction(size_t index, struct err *err)
{
    return err_wrap(err, "compactions[%zu]", index);
}

/* Adds the compactions made after exactly as many messages as there are now. */
static bool add_compactions(struct envelope_lines *l, struct err *err)
{
    json_t *list = json_object_get(l->header, "compactions"), *compaction;
    while ((compaction = json_array_get(list, l->compaction))) {
        const json_t *at = json_object_get(compaction, "at");
        bool number = json_is_integer(at) && json_integer_value(at) >= 0;
        if (number && (uint64_t)json_integer_value(at) > l->n)
            return true;
        if (!number || (uint64_t)json_integer_value(at) < l->n) {
            err_set(err, E_CONFIG, "at: expected a number of messages, in ascending order");
            return bad_compaction(l->compaction, err);
        }
        if (!line_check_compaction(compaction, err))
            return bad_compaction(l->compaction, err);
        if (!add_compaction(l, compaction, err))
            return false;
        l->compaction++;
    }
    return true;
}

bool envelope_lines_begin(struct envelope_lines *l, json_t *header, struct err *err)
{
    AUTO_JSON json_t *first = json_copy(header);
    l->header = header;
    json_put(first, "messages", json_array());
    if (json_object_get(first, "compactions"))
        json_put(first, "compactions", json_array());
    return envelope_append_line(l, first, err) && add_compactions(l, err);
}

bool envelope_lines_add(struct envelope_lines *l, const json_t *message, struct err *err)
{
    if (l->n == STORE_MESSAGES_MAX)
        return err_set(err, E_CONFIG, "more than %d messages", STORE_MESSAGES_MAX);
    if (!message_check(message, E_CONFIG, err))
        return err_wrap(err, "messages[%zu]", l->n);
    struct str time = json_str(json_object_get(message, "timestamp"));
    if (time.p) {
        buf_reset(&l->time);
        buf_add_str(&l->time, time);
        l->last = buf_str(&l->time);
    }
    l->n++;
    return envelope_append_line(l, message, err) && add_compactions(l, err);
}

bool envelope_lines_end(struct envelope_lines *l, struct err *err)
{
    json_t *updated = json_object_get(l->header, "updated_at");
    if (l->compaction < json_array_size(json_object_get(l->header, "compactions"))) {
        err_set(err, E_CONFIG, "at: there are only %zu messages", l->n);
        return bad_compaction(l->compaction, err);
    }
    if (l->n == 0 || !updated || str_eq(json_str(updated), l->last))
        return true;
    AUTO_JSON json_t *record = json_object();
    json_put(record, "type", json_string("updated"));
    json_put(record, "updated_at", json_incref(updated));
    return envelope_append_line(l, record, err);
}

void envelope_lines_done(struct envelope_lines *l)
{
    buf_done(&l->time);
}

/* Splitting a document ------------------------------------------------------------------------ */

/* A position in the text. The scan only finds where values begin and end and skips strings;
 * validation, and any text it cannot follow, is left to the parser. */
struct envelope_scan {
    struct str text;
    size_t at;
};

static char envelope_peek(struct envelope_scan *s)
{
    while (s->at < s->text.n && memchr(" \t\r\n", s->text.p[s->at], 4))
        s->at++;
    return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

/* Moves from after the opening quote to after the closing one. */
static bool skip_string(struct envelope_scan *s)
{
    while (s->at < s->text.n) {
        const char *p = s->text.p + s->at;
        const char *quote = memchr(p, '"', s->text.n - s->at);
        if (!quote)
            return false;
        const char *slash = memchr(p, '\\', (size_t)(quote - p));
        s->at = (size_t)((slash ? slash + 2 : quote + 1) - s->text.p);
        if (!slash)
            return true;
    }
    return false;
}

/* Moves to the comma or bracket that ends the current value. */
static bool envelope_skip_value(struct envelope_scan *s)
{
    size_t depth = 0;
    for (; s->at < s->text.n; s->at++) {
        char c = s->text.p[s->at];
        if (depth == 0 && (c == ',' || c == ']' || c == '}'))
            return true;
        if (c == '[' || c == '{')
            depth++;
        else if (c == ']' || c == '}')
            depth--;
        if (c != '"')
            continue;
        s->at++;
        if (!skip_string(s))
            return false;
        s->at--;
    }
    return false;
}

/* Moves to after the opening bracket of the "messages" list; false if not found. */
static bool find_messages(struct envelope_scan *s)
{
    if (envelope_peek(s) != '{')
        return false;
    do {
        s->at++;
        if (envelope_peek(s) != '"')
            return false;
        size_t start = ++s->at;
        if (!skip_string(s))
            return false;
        struct str key = str_n(s->text.p + start, s->at - 1 - start);
        if (envelope_peek(s) != ':')
            return false;
        s->at++;
        if (envelope_peek(s) == '[' && str_is(key, "messages")) {
            s->at++;
            return true;
        }
    } while (envelope_skip_value(s) && envelope_peek(s) == ',');
    return false;
}

/* Parses the document without its messages. */
static bool parse_head(
    struct str text, size_t from, size_t to, const char *name, json_t **ret_head, struct err *err)
{
    AUTO_BUF struct buf head = BUF_INIT(text.n + 1);
    buf_add(&head, text.p, from);
    buf_add_str(&head, str_skip(text, to));
    json_t *tree = NULL;
    if (!json_parse(buf_str(&head), name, E_CONFIG, &tree, err))
        return false;
    if (!line_check_header(tree, err)) {
        json_decref(tree);
        return place_blame_file(err, name);
    }
    *ret_head = tree;
    return true;
}

/* Parses the whole document to report its line and column instead of those in the part. */
static bool blame_whole(struct str text, const char *name, size_t index, struct err *err)
{
    AUTO_ERR struct err whole = {0};
    AUTO_JSON json_t *tree = NULL;
    if (text.n <= JSON_SIZE_MAX && !json_parse(text, name, E_CONFIG, &tree, &whole))
        return err_move(err, &whole);
    err_wrap(err, "messages[%zu]", index);
    return place_blame_file(err, name);
}

static bool envelope_add_part(
    struct envelope_lines *l, struct str text, struct str part, const char *name, struct err *err)
{
    AUTO_JSON json_t *message = NULL;
    AUTO_ERR struct err problem = {0};
    if (!json_parse(part, name, E_CONFIG, &message, &problem)) {
        err_set(err, E_CONFIG, "%s", problem.message);
        return blame_whole(text, name, l->n, err);
    }
    return envelope_lines_add(l, message, err) || place_blame_file(err, name);
}

/* Adds the messages of the list that begins at s.at and is known to end. */
static bool add_parts(
    struct envelope_lines *l, struct envelope_scan s, const char *name, struct err *err)
{
    if (envelope_peek(&s) == ']')
        return true;
    for (;; s.at++) {
        size_t start = s.at;
        bool ends = envelope_skip_value(&s);
        struct str part = str_n(s.text.p + start, s.at - start);
        if (!ends || s.text.p[s.at] == '}')
            return err_set(err, E_CONFIG, "%s: unterminated 'messages'", name);
        if (!envelope_add_part(l, s.text, part, name, err))
            return false;
        if (s.text.p[s.at] == ']')
            return true;
    }
}

static bool add_tree(
    struct envelope_lines *l, const json_t *messages, const char *name, struct err *err)
{
    for (size_t i = 0; i < json_array_size(messages); i++)
        if (!envelope_lines_add(l, json_array_get(messages, i), err))
            return place_blame_file(err, name);
    return true;
}

/* Finds the end of the list whose first element is at s.at. */
static bool list_end(struct envelope_scan s, size_t *ret_end)
{
    while (envelope_peek(&s) != ']') {
        if (!envelope_skip_value(&s) || s.text.p[s.at] == '}')
            return false;
        if (s.text.p[s.at] == ',')
            s.at++;
    }
    *ret_end = s.at;
    return true;
}

bool envelope_to_lines(
    struct str text, const char *name, const struct mask *mask, struct buf *lines, struct err *err)
{
    struct envelope_scan s = {text, 0};
    size_t end = 0;
    bool found = find_messages(&s) && list_end(s, &end);
    AUTO_JSON json_t *head = NULL;
    size_t from = found ? s.at : 0, to = found ? end : 0;
    AUTO_ERR struct err problem = {0};
    if (!parse_head(text, from, to, name, &head, &problem)) {
        /* Report line and column in the whole document if it does not parse either. */
        AUTO_JSON json_t *tree = NULL;
        bool by_place = err_ctx_get(&problem, "line") != NULL;
        if (!by_place || text.n > JSON_SIZE_MAX || json_parse(text, name, E_CONFIG, &tree, err))
            return err_move(err, &problem);
        return false;
    }
    AUTO(envelope_lines_done) struct envelope_lines l = ENVELOPE_LINES(mask, lines);
    if (!envelope_lines_begin(&l, head, err))
        return place_blame_file(err, name);
    if (found ? !add_parts(&l, s, name, err)
              : !add_tree(&l, json_object_get(head, "messages"), name, err))
        return false;
    return envelope_lines_end(&l, err) || place_blame_file(err, name);
}

/* Building a document ------------------------------------------------------------------------- */

void envelope_add(const struct envelope_parts *parts, struct buf *out)
{
    AUTO_JSON json_t *envelope = json_copy((json_t *)parts->header);
    if (parts->updated_at.p)
        json_put(envelope, "updated_at", json_text(parts->updated_at));
    json_put(envelope, "messages", json_incref((json_t *)parts->messages));
    if (parts->title.p)
        json_put(envelope, "title", json_text(parts->title));
    if (json_array_size(parts->compactions) || json_object_get(envelope, "compactions"))
        json_put(envelope, "compactions", json_incref((json_t *)parts->compactions));
    json_add_pretty(out, envelope);
    buf_add_byte(out, '\n');
}
