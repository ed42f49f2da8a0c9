/* An answer under construction: blocks by key, and a queue of events that point into them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/answer.h"

#include "base/grow.h"
#include "base/id.h"
#include "base/utf8.h"

enum {
    TEXT_MAX = 4 * ANSWER_BYTES_MAX, /* the real limit is on all blocks together */
    RAW_MAX = 256,
    MADE_UP_ID = 24, /* digits */
    /* Limits for a call's arguments, which become part of larger trees. */
    ARGUMENTS_DEPTH = JSON_DEPTH_MAX / 2,
    ARGUMENTS_VALUES = JSON_VALUES_MAX / 16,
};

struct answer_block {
    uint64_t key;
    enum block_type type;
    bool ignored, open;
    size_t index; /* in the message */
    char cut[UTF8_MAX];
    size_t n_cut; /* bytes of a character that is still incomplete */
    struct buf text, signature;
    char *id, *given_id, *name;
    json_t *preset, *arguments;
    bool invalid; /* the arguments are not valid JSON */
};

struct answer_queued {
    enum llm_event_kind kind;
    size_t block, at, n;
    struct usage usage;
};

struct answer {
    struct answer_block *blocks;
    size_t n_blocks, cap_blocks;
    size_t shown; /* blocks that are not ignored */
    size_t last;  /* the block used last */
    size_t bytes;
    struct answer_queued *queue;
    size_t n_queue, cap_queue, taken;
    bool event_taken; /* an event was taken since the last restart */
    struct usage usage;
    enum stop_reason stop;
    struct buf raw;
};

struct answer *answer_new(void)
{
    struct answer *a = base_alloc(sizeof(*a));
    *a = (struct answer){.stop = STOP_ERROR, .raw = BUF_INIT(RAW_MAX)};
    return a;
}

static void drop_blocks(struct answer *a)
{
    for (size_t i = 0; i < a->n_blocks; i++) {
        struct answer_block *b = &a->blocks[i];
        buf_done(&b->text);
        buf_done(&b->signature);
        free(b->id);
        free(b->given_id);
        free(b->name);
        json_decref(b->preset);
        json_decref(b->arguments);
    }
    a->n_blocks = a->shown = a->last = a->bytes = 0;
}

void answer_free(struct answer *a)
{
    if (!a)
        return;
    drop_blocks(a);
    free(a->blocks);
    free(a->queue);
    buf_done(&a->raw);
    free(a);
}

static struct answer_queued *enqueue(
    struct answer *a, enum llm_event_kind kind, const struct answer_block *b)
{
    if (a->taken == a->n_queue)
        a->taken = a->n_queue = 0;
    GROW(a->queue, a->n_queue, a->cap_queue, GROW_MAX);
    struct answer_queued *q = &a->queue[a->n_queue++];
    *q = (struct answer_queued){.kind = kind, .block = b ? (size_t)(b - a->blocks) : 0};
    return q;
}

/* The newest open block with this key, or NULL. */
static struct answer_block *answer_find_block(const struct answer *a, uint64_t key)
{
    if (a->last < a->n_blocks && a->blocks[a->last].open && a->blocks[a->last].key == key)
        return &a->blocks[a->last];
    for (size_t i = a->n_blocks; i-- > 0;)
        if (a->blocks[i].open && a->blocks[i].key == key)
            return &a->blocks[i];
    return NULL;
}

static struct answer_block *open_block(struct answer *a, uint64_t key, struct err *err)
{
    struct answer_block *b = answer_find_block(a, key);
    if (b)
        a->last = (size_t)(b - a->blocks);
    else
        err_set(err, E_PROVIDER, "the answer continues block %llu, which is not open",
            (unsigned long long)key);
    return b;
}

static bool count_bytes(struct answer *a, size_t n, struct err *err)
{
    if (n > ANSWER_BYTES_MAX - a->bytes)
        return err_set(err, E_PROVIDER, "the answer is longer than %d MiB", ANSWER_BYTES_MAX >> 20);
    a->bytes += n;
    return true;
}

static bool new_block(struct answer *a, const struct answer_block *b, struct err *err)
{
    if (answer_find_block(a, b->key))
        return err_set(
            err, E_PROVIDER, "block %llu of the answer starts twice", (unsigned long long)b->key);
    if (a->n_blocks == ANSWER_BLOCKS_MAX)
        return err_set(err, E_PROVIDER, "the answer has more than %d blocks", ANSWER_BLOCKS_MAX);
    GROW(a->blocks, a->n_blocks, a->cap_blocks, ANSWER_BLOCKS_MAX);
    a->last = a->n_blocks++;
    struct answer_block *made = &a->blocks[a->last];
    *made = *b;
    made->open = true;
    made->text = made->signature = BUF_INIT(TEXT_MAX);
    made->index = a->shown;
    a->shown += !b->ignored;
    return true;
}

bool answer_begin(struct answer *a, uint64_t key, enum block_type type, struct err *err)
{
    BUG_ON(type == BLOCK_TOOL_CALL || type == BLOCK_IMAGE);
    return new_block(a, &(struct answer_block){.key = key, .type = type}, err);
}

bool answer_begin_ignored(struct answer *a, uint64_t key, struct err *err)
{
    return new_block(a, &(struct answer_block){.key = key, .ignored = true}, err);
}

/* Converts to valid UTF-8 without NUL, as required in a message. */
static char *answer_clean_text(struct str s)
{
    AUTO_JSON json_t *text = json_text(s);
    return strndup(json_string_value(text), json_string_length(text));
}

static bool id_used(const struct answer *a, struct str id)
{
    for (size_t i = 0; i < a->n_blocks; i++)
        if (a->blocks[i].id && str_is(id, a->blocks[i].id))
            return true;
    return false;
}

/* Random: the id must be unique in the whole conversation, which is not known here. */
static char *make_id(void)
{
    unsigned char bytes[MADE_UP_ID / 2];
    AUTO_BUF struct buf b = BUF_INIT(64);
    id_random(bytes, sizeof(bytes));
    buf_add_z(&b, "call_");
    for (size_t i = 0; i < sizeof(bytes); i++)
        buf_printf(&b, "%02x", bytes[i]);
    return buf_take(&b);
}

bool answer_begin_call(
    struct answer *a, uint64_t key, struct str id, struct str name, struct err *err)
{
    if (!count_bytes(a, id.n + name.n, err) ||
        !new_block(a, &(struct answer_block){.key = key, .type = BLOCK_TOOL_CALL}, err))
        return false;
    char *given = answer_clean_text(id);
    bool keep = *given && !id_used(a, str_z(given));
    struct answer_block *b = &a->blocks[a->last];
    b->given_id = given;
    b->id = keep ? strdup(given) : make_id();
    b->name = answer_clean_text(name);
    BUG_ON(!b->id);
    enqueue(a, LLM_TOOL_CALL_BEGIN, b);
    return true;
}

static bool is_lead(char c)
{
    return (unsigned char)c >= 0xC2 && (unsigned char)c <= 0xF4;
}

/* Appends with U+FFFD for invalid bytes; holds back an incomplete character at the end. */
static void answer_add_clean(struct answer_block *b, struct str s, bool final)
{
    while (s.n) {
        uint32_t cp;
        size_t n = utf8_decode(s, &cp);
        if (n && cp) {
            buf_add(&b->text, s.p, n);
        } else {
            n = n ? n : utf8_invalid_length(s);
            if (n == s.n && is_lead(s.p[0]) && !final) {
                memcpy(b->cut, s.p, n);
                b->n_cut = n;
                return;
            }
            buf_add_z(&b->text, "\xEF\xBF\xBD");
        }
        s = str_skip(s, n);
    }
}

static void answer_append_text(struct answer_block *b, struct str delta, bool final)
{
    if (b->n_cut == 0 && utf8_valid(delta) && str_find(delta, '\0') < 0) {
        buf_add_str(&b->text, delta);
        return;
    }
    AUTO_BUF struct buf all = BUF_INIT(TEXT_MAX);
    buf_add(&all, b->cut, b->n_cut);
    buf_add_str(&all, delta);
    b->n_cut = 0;
    answer_add_clean(b, buf_str(&all), final);
}

static bool answer_grow_block(
    struct answer *a, struct answer_block *b, struct str delta, bool final, struct err *err)
{
    static const enum llm_event_kind kinds[BLOCK_TYPES] = {
        [BLOCK_TEXT] = LLM_TEXT_DELTA,
        [BLOCK_THINKING] = LLM_THINKING_DELTA,
        [BLOCK_REDACTED_THINKING] = LLM_EVENT_KINDS,
        [BLOCK_IMAGE] = LLM_EVENT_KINDS,
        [BLOCK_TOOL_CALL] = LLM_TOOL_CALL_DELTA,
    };
    size_t at = b->text.n;
    if (b->ignored || delta.n + b->n_cut == 0)
        return true;
    if (delta.n > ANSWER_BYTES_MAX)
        return count_bytes(a, delta.n, err);
    answer_append_text(b, delta, final);
    if (!count_bytes(a, b->text.n - at, err)) {
        buf_truncate(&b->text, at);
        return false;
    }
    if (b->text.n > at && kinds[b->type] != LLM_EVENT_KINDS) {
        struct answer_queued *q = enqueue(a, kinds[b->type], b);
        q->at = at;
        q->n = b->text.n - at;
    }
    return true;
}

bool answer_add(struct answer *a, uint64_t key, struct str delta, struct err *err)
{
    struct answer_block *b = open_block(a, key, err);
    return b && answer_grow_block(a, b, delta, false, err);
}

bool answer_sign(struct answer *a, uint64_t key, struct str signature, struct err *err)
{
    struct answer_block *b = open_block(a, key, err);
    if (!b || !count_bytes(a, signature.n, err))
        return false;
    if (b->type != BLOCK_THINKING) /* other blocks cannot have one */
        return true;
    buf_reset(&b->signature);
    buf_add_str(&b->signature, signature);
    return true;
}

bool answer_preset(struct answer *a, uint64_t key, json_t *arguments, struct err *err)
{
    struct answer_block *b = open_block(a, key, err);
    if (!b)
        return false;
    json_decref(b->preset);
    b->preset = json_incref(arguments);
    return true;
}

static bool answer_is_blank(struct str s)
{
    while (s.n && memchr(" \t\r\n", s.p[0], 4))
        s = str_skip(s, 1);
    return s.n == 0;
}

static void parse_arguments(struct answer_block *b)
{
    AUTO_ERR struct err err = {0};
    struct str text = buf_str(&b->text);
    if (answer_is_blank(text))
        b->arguments = b->preset ? json_incref(b->preset) : json_object();
    else if (!json_within(text, ARGUMENTS_DEPTH, ARGUMENTS_VALUES) ||
             !json_parse(text, "arguments", E_PROVIDER, &b->arguments, &err)) {
        b->arguments = json_text(text);
        b->invalid = true;
    }
}

static bool end_block(struct answer *a, struct answer_block *b, struct err *err)
{
    bool ok = answer_grow_block(a, b, STR(""), true, err);
    b->open = false;
    if (!b->ignored && b->type == BLOCK_TOOL_CALL) {
        parse_arguments(b);
        enqueue(a, LLM_TOOL_CALL_END, b);
    }
    return ok;
}

bool answer_end(struct answer *a, uint64_t key, struct err *err)
{
    struct answer_block *b = open_block(a, key, err);
    return b && end_block(a, b, err);
}

void answer_end_all(struct answer *a)
{
    for (size_t i = 0; i < a->n_blocks; i++) {
        AUTO_ERR struct err err = {0};
        if (a->blocks[i].open)
            end_block(a, &a->blocks[i], &err);
    }
}

bool answer_has(const struct answer *a, uint64_t key)
{
    return answer_find_block(a, key) != NULL;
}

struct str answer_call_id(const struct answer *a, uint64_t key)
{
    const struct answer_block *b = answer_find_block(a, key);
    return str_z(b && b->given_id ? b->given_id : "");
}

bool answer_calls(const struct answer *a)
{
    for (size_t i = 0; i < a->n_blocks; i++)
        if (a->blocks[i].arguments)
            return true;
    return false;
}

bool answer_empty(const struct answer *a)
{
    return a->n_blocks == 0;
}

void answer_restart(struct answer *a)
{
    drop_blocks(a);
    a->taken = a->n_queue = 0;
    a->usage = (struct usage){0};
    a->stop = STOP_ERROR;
    buf_reset(&a->raw);
    if (a->event_taken)
        enqueue(a, LLM_RESTART, NULL);
}

void answer_usage(struct answer *a, const struct usage *usage)
{
    if (memcmp(&a->usage, usage, sizeof(*usage)) == 0)
        return;
    a->usage = *usage;
    enqueue(a, LLM_USAGE, NULL)->usage = *usage;
}

void answer_stop(struct answer *a, enum stop_reason stop, struct str raw)
{
    if (stop == STOP_REFUSAL && raw.n == 0)
        raw = STR("refusal"); /* only the raw reason distinguishes it from STOP_UNKNOWN */
    a->stop = stop;
    buf_reset(&a->raw);
    buf_add_str(&a->raw, str_head(raw, RAW_MAX));
}

bool answer_take_event(struct answer *a, struct llm_event *ret_event)
{
    if (a->taken == a->n_queue)
        return false;
    const struct answer_queued *q = &a->queue[a->taken++];
    struct llm_event event = {.kind = q->kind, .usage = q->usage};
    if (q->kind != LLM_USAGE && q->kind != LLM_RESTART) {
        const struct answer_block *b = &a->blocks[q->block];
        event.index = b->index;
        event.id = str_z(b->id);
        event.name = str_z(b->name);
        event.delta = str_head(str_skip(buf_str(&b->text), q->at), q->n);
        event.arguments = q->kind == LLM_TOOL_CALL_END ? b->arguments : NULL;
    }
    a->event_taken = q->kind != LLM_RESTART;
    *ret_event = event;
    return true;
}

static json_t *call_json(const struct answer *a, const struct answer_block *b)
{
    bool last = b == &a->blocks[a->n_blocks - 1];
    bool cut = a->stop == STOP_LENGTH && last && answer_is_blank(buf_str(&b->text)) && !b->preset;
    bool whole = b->arguments && !b->invalid && !cut;
    json_t *block = json_object();
    json_put(block, "type", json_string(block_type_names[BLOCK_TOOL_CALL]));
    json_put(block, "id", json_string(b->id));
    json_put(block, "name", json_string(b->name));
    json_put(block, "arguments", whole ? json_incref(b->arguments) : json_text(buf_str(&b->text)));
    if (!whole)
        json_put(block, "invalid", json_true());
    return block;
}

static json_t *block_json(const struct answer *a, const struct answer_block *b)
{
    static const char *const keys[BLOCK_TYPES] = {
        [BLOCK_TEXT] = "text",
        [BLOCK_THINKING] = "thinking",
        [BLOCK_REDACTED_THINKING] = "data",
    };
    if (b->type == BLOCK_TOOL_CALL)
        return call_json(a, b);
    json_t *block = json_object();
    json_put(block, "type", json_string(block_type_names[b->type]));
    json_put(block, keys[b->type], json_text(buf_str(&b->text)));
    if (b->signature.n)
        json_put(block, "signature", json_text(buf_str(&b->signature)));
    return block;
}

json_t *answer_message(struct answer *a)
{
    enum stop_reason stop = a->stop == STOP_END_TURN && answer_calls(a) ? STOP_TOOL_USE : a->stop;
    json_t *message = json_object(), *content = json_array();
    for (size_t i = 0; i < a->n_blocks; i++)
        if (!a->blocks[i].ignored)
            json_push(content, block_json(a, &a->blocks[i]));
    json_put(message, "type", json_string(message_type_names[MESSAGE_ASSISTANT]));
    json_put(message, "content", content);
    json_put(message, "stop_reason", json_string(stop_reason_names[stop]));
    if (a->raw.n)
        json_put(message, "raw_stop_reason", json_text(buf_str(&a->raw)));
    json_put(message, "usage", usage_json(&a->usage));
    message_put_time(message);
    return message;
}
