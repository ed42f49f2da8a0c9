/* Sessions: from lines to a conversation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/envelope.h"
#include "agent/exchange.h"
#include "agent/line.h"
#include "agent/repair.h"
#include "agent/store_state.h"
#include "base/clock.h"
#include "llm/message.h"

/* Loading ------------------------------------------------------------------------------------- */

void store_note(struct store *s, const char *words, ...)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    va_list args;
    va_start(args, words);
    buf_vprintf(&b, words, args);
    va_end(args);
    json_push(s->notes, json_text(buf_str(&b)));
}

static bool store_accept_header(struct store *s, json_t *header, struct err *err)
{
    if (!line_check_header(header, err))
        return false;
    if (json_array_size(json_object_get(header, "messages")))
        return err_set(err, E_CONFIG,
            "messages: expected an empty list: messages belong on the following lines");
    s->header = json_incref(header);
    return true;
}

/* From here on the conversation is the record's message and the last `keep` messages before it. */
static void store_accept_compaction(struct store *s, json_t *record)
{
    AUTO_JSON json_t *before = repair_messages(s->counted, NULL);
    size_t n = json_array_size(before);
    json_int_t keep = json_integer_value(json_object_get(record, "keep"));
    size_t from = (uint64_t)keep < n ? n - (size_t)keep : 0;
    json_decref(s->counted);
    json_decref(s->valid);
    s->valid = NULL;
    s->counted = json_array();
    json_push(s->counted, json_incref(json_object_get(record, "message")));
    for (size_t i = from; i < n; i++)
        json_push(s->counted, json_incref(json_array_get(before, i)));

    json_t *entry = json_object();
    json_put(entry, "at", json_integer((json_int_t)json_array_size(s->all)));
    for (void *at = json_object_iter(record); at; at = json_object_iter_next(record, at))
        if (strcmp(json_object_iter_key(at), "type") != 0)
            json_put(entry, json_object_iter_key(at), json_incref(json_object_iter_value(at)));
    json_push(s->compactions, entry);
}

static void store_accept_message(struct store *s, json_t *message)
{
    struct str time = json_str(json_object_get(message, "timestamp"));
    if (time.p)
        s->updated_at = time;
    json_push(s->all, json_incref(message));
    json_push(s->counted, json_incref(message));
}

/* Adds a checked line to the session. */
static void store_accept_line(struct store *s, enum line_kind kind, json_t *tree)
{
    switch (kind) {
    case LINE_MESSAGE:
        store_accept_message(s, tree);
        return;
    case LINE_COMPACTION:
        store_accept_compaction(s, tree);
        return;
    case LINE_TITLE:
        s->title = json_str(json_object_get(tree, "title"));
        break;
    case LINE_UPDATED:
        s->updated_at = json_str(json_object_get(tree, "updated_at"));
        break;
    case LINE_IMPORTED:
        s->imported = true;
        return;
    case LINE_RESUMED:
        s->resumed = json_str(json_object_get(tree, "cwd"));
        break;
    case LINE_KINDS:
        break;
    }
    json_push(s->records, json_incref(tree));
}

static bool store_on_line(
    void *context, const struct line_file_line *line, bool *ret_torn, struct err *err)
{
    struct store *s = context;
    AUTO_JSON json_t *tree = NULL;
    enum line_kind kind;
    if (!line_parse(line, s->file.name, &tree, err))
        return false;
    if (!tree) {
        *ret_torn = true;
        store_note(s, "the last line was not written completely, and is ignored");
        return true;
    }
    if (line->number == 1)
        return store_accept_header(s, tree, err) || line_blame(err, s->file.name, 1);
    if (json_array_size(s->all) == STORE_MESSAGES_MAX)
        return err_set(
            err, E_CONFIG, "%s: more than %d messages", s->file.name, STORE_MESSAGES_MAX);
    if (!line_check(tree, &kind, err))
        return line_blame(err, s->file.name, line->number);
    store_accept_line(s, kind, tree);
    return true;
}

struct store *store_new(const char *path)
{
    struct store *s = base_alloc(sizeof(*s));
    *s = (struct store){.file = LINE_FILE_NONE,
        .path = strdup(path),
        .all = json_array(),
        .counted = json_array(),
        .notes = json_array(),
        .compactions = json_array(),
        .records = json_array()};
    BUG_ON(!s->path);
    return s;
}

void store_free(struct store *s)
{
    json_t *trees[] = {
        s->origin, s->header, s->all, s->counted, s->valid, s->notes, s->compactions, s->records};
    for (size_t i = 0; i < ARRAY_LEN(trees); i++)
        json_decref(trees[i]);
    line_file_close(&s->file);
    mask_done(&s->mask);
    free(s->path);
    free(s->log);
    free(s);
}

bool store_load(struct store *s, struct err *err)
{
    if (!line_file_read(&s->file, store_on_line, s, err))
        return false;
    return s->header || err_set(err, E_CONFIG, "'%s' is empty: not a session", s->path);
}

/* Index of the last assistant message if it has this call (only results may follow it), else the
 * size of the list. */
static size_t last_call(const json_t *messages, struct str id)
{
    size_t n = json_array_size(messages), at = n, i;
    while (at > 0 && message_type(json_array_get(messages, at - 1)) != MESSAGE_ASSISTANT)
        at--;
    const json_t *block, *content = json_object_get(json_array_get(messages, at - 1), "content");
    json_array_foreach(content, i,
        block) if (at > 0 && str_eq(json_str(json_object_get(block, "id")), id)) return at -
        1;
    return n;
}

/* Whether a result was synthesized for a call of the last message and is not in the list. */
static bool is_new(const json_t *messages, const json_t *result)
{
    size_t n = json_array_size(messages);
    size_t at = last_call(messages, json_str(json_object_get(result, "tool_call_id")));
    if (at == n)
        return false;
    for (at++; at < n; at++)
        if (json_array_get(messages, at) == result)
            return false;
    return true;
}

bool store_settle(struct store *s, struct err *err)
{
    AUTO_JSON json_t *valid = repair_messages(s->counted, s->notes);
    AUTO_JSON json_t *before = json_copy(s->counted);
    size_t n = json_array_size(valid), from = n;
    while (from > 0 && message_type(json_array_get(valid, from - 1)) == MESSAGE_TOOL_RESULT)
        from--;
    for (; from < n; from++) {
        json_t *result = json_array_get(valid, from);
        if (is_new(before, result) && !store_append(s, result, err))
            return false;
    }
    s->valid = json_take(&valid);
    s->valid_for = json_array_size(s->counted);
    return true;
}

/* Writing ------------------------------------------------------------------------------------- */

void store_hide(struct store *s, struct str key)
{
    mask_add(&s->mask, key);
}

static bool store_append_tree(struct store *s, const json_t *tree, struct err *err)
{
    AUTO_JSON json_t *clean = mask_tree(&s->mask, tree);
    AUTO_BUF struct buf line = BUF_INIT((size_t)STORE_LINE_MAX + 1);
    enum line_kind kind;
    if (!line_check(clean, &kind, err))
        return false;
    json_add_compact(&line, clean);
    if (!buf_ok(&line))
        return err_set(err, E_IO, "a message is larger than %d MiB", STORE_LINE_MAX >> 20);
    if (!json_within(buf_str(&line), JSON_DEPTH_MAX, JSON_VALUES_MAX))
        return err_set(err, E_IO,
            "a message is nested too deep, or has too many values: it could not be read back");
    if (!line_file_append(&s->file, buf_str(&line), err))
        return false;
    s->changed = true;
    store_accept_line(s, kind, clean);
    return true;
}

bool store_append(struct store *s, const json_t *message, struct err *err)
{
    if (json_array_size(s->all) == STORE_MESSAGES_MAX)
        return err_set(err, E_IO, "the session has %d messages, the maximum", STORE_MESSAGES_MAX);
    return message_check(message, E_CONFIG, err) && store_append_tree(s, message, err);
}

bool store_note_compaction(struct store *s, const json_t *message, size_t keep, struct err *err)
{
    char now[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), now);
    AUTO_JSON json_t *record = json_object();
    json_put(record, "type", json_string("compaction"));
    json_put(record, "message", json_incref((json_t *)message));
    json_put(record, "keep", json_integer((json_int_t)keep));
    json_put(record, "timestamp", json_string(now));
    return store_append_tree(s, record, err);
}

bool store_note_title(struct store *s, struct str title, struct err *err)
{
    AUTO_JSON json_t *record = json_object();
    json_put(record, "type", json_string("title"));
    json_put(record, "title", json_text(title));
    return store_append_tree(s, record, err);
}

bool store_note_resumed(struct store *s, struct str cwd, struct err *err)
{
    char now[CLOCK_RFC3339];
    AUTO_JSON json_t *record = json_object(), *here = json_text(cwd); /* as stored in JSON */
    if (!s->imported || str_eq(s->resumed, json_str(here)))
        return true;
    if (!s->resumed.p && store_text(s, "system_prompt").n)
        store_note(
            s, "the session was imported: its system prompt is not used; use --system to set one");
    clock_rfc3339(clock_wall_ms(), now);
    json_put(record, "type", json_string("resumed"));
    json_put(record, "cwd", json_incref(here));
    json_put(record, "timestamp", json_string(now));
    return store_append_tree(s, record, err);
}

/* Accessors ----------------------------------------------------------------------------------- */

bool store_is_imported(const struct store *s)
{
    return s->imported;
}

const char *store_id(const struct store *s)
{
    return json_string_value(json_object_get(s->header, "id"));
}

const char *store_path(const struct store *s)
{
    return s->path;
}

const json_t *store_header(const struct store *s)
{
    return s->header;
}

struct str store_text(const struct store *s, const char *key)
{
    if (s->title.p && strcmp(key, "title") == 0)
        return s->title;
    return json_str(json_object_get(s->header, key));
}

struct str store_updated_at(const struct store *s)
{
    return s->updated_at.p ? s->updated_at : store_text(s, "updated_at");
}

const json_t *store_all(const struct store *s)
{
    return s->all;
}

json_t *store_messages(const struct store *s)
{
    if (s->valid && s->valid_for == json_array_size(s->counted))
        return json_copy(s->valid);
    return repair_messages(s->counted, NULL);
}

const json_t *store_compactions(const struct store *s)
{
    return s->compactions;
}

const json_t *store_notes(const struct store *s)
{
    return s->notes;
}

void exchange_add(const struct store *s, struct buf *out)
{
    struct envelope_parts parts = {s->header, s->all, s->compactions, s->updated_at, s->title};
    envelope_add(&parts, out);
}
