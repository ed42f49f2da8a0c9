/* Reading answers of Anthropic's Messages API, and the dialect table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/anthropic.h"

#include "llm/wire.h"

struct anthropic_reader {
    struct answer *answer;
    struct dialect_state *state;
    const json_t *event;
    uint64_t key; /* the block's index */
    struct err *err;
};

static struct str anthropic_text(const json_t *object, const char *key)
{
    struct str text = json_str(json_object_get(object, key));
    return text.p ? text : STR("");
}

/* Counts are totals of the answer so far, not increments. */
static void anthropic_read_usage(const struct anthropic_reader *r, const json_t *usage)
{
    struct usage *u = &r->state->usage;
    wire_count(usage, "input_tokens", &u->input_tokens);
    wire_count(usage, "output_tokens", &u->output_tokens);
    wire_count(usage, "cache_read_input_tokens", &u->cache_read_tokens);
    wire_count(usage, "cache_creation_input_tokens", &u->cache_write_tokens);
    answer_usage(r->answer, u);
}

/* A gateway that lost its connection may restart the answer in the middle: discard everything
 * before it, as after a retry of our own. A repeated start before any block changes nothing. A
 * start after a complete message does not belong to this request. */
static bool on_message_start(const struct anthropic_reader *r)
{
    struct dialect_state *state = r->state;
    if (state->stopped) {
        answer_end_all(r->answer);
        state->complete = true;
        return true;
    }
    if (!answer_empty(r->answer)) {
        answer_restart(r->answer);
        state->usage = (struct usage){0};
    }
    anthropic_read_usage(r, json_object_get(json_object_get(r->event, "message"), "usage"));
    return true;
}

static bool begin_text(const struct anthropic_reader *r, const json_t *block)
{
    return answer_begin(r->answer, r->key, BLOCK_TEXT, r->err) &&
           answer_add(r->answer, r->key, anthropic_text(block, "text"), r->err);
}

static bool begin_thinking(const struct anthropic_reader *r, const json_t *block)
{
    struct str signature = anthropic_text(block, "signature");
    return answer_begin(r->answer, r->key, BLOCK_THINKING, r->err) &&
           answer_add(r->answer, r->key, anthropic_text(block, "thinking"), r->err) &&
           (signature.n == 0 || answer_sign(r->answer, r->key, signature, r->err));
}

static bool begin_redacted(const struct anthropic_reader *r, const json_t *block)
{
    return answer_begin(r->answer, r->key, BLOCK_REDACTED_THINKING, r->err) &&
           answer_add(r->answer, r->key, anthropic_text(block, "data"), r->err);
}

static bool anthropic_begin_call(const struct anthropic_reader *r, const json_t *block)
{
    json_t *input = json_object_get(block, "input");
    return answer_begin_call(r->answer, r->key, anthropic_text(block, "id"),
               anthropic_text(block, "name"), r->err) &&
           (json_object_size(input) == 0 || answer_preset(r->answer, r->key, input, r->err));
}

static bool on_block_start(const struct anthropic_reader *r)
{
    static const struct {
        const char *type;
        bool (*begin)(const struct anthropic_reader *r, const json_t *block);
    } kinds[] = {
        {"text", begin_text},
        {"thinking", begin_thinking},
        {"redacted_thinking", begin_redacted},
        {"tool_use", anthropic_begin_call},
    };
    const json_t *block = json_object_get(r->event, "content_block");
    struct str type = anthropic_text(block, "type");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].type))
            return kinds[i].begin(r, block);
    return answer_begin_ignored(r->answer, r->key, r->err);
}

static bool on_block_delta(const struct anthropic_reader *r)
{
    static const struct {
        const char *type, *key;
    } kinds[] = {
        {"text_delta", "text"},
        {"thinking_delta", "thinking"},
        {"input_json_delta", "partial_json"},
    };
    const json_t *delta = json_object_get(r->event, "delta");
    struct str type = anthropic_text(delta, "type");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].type))
            return answer_add(r->answer, r->key, anthropic_text(delta, kinds[i].key), r->err);
    if (str_is(type, "signature_delta"))
        return answer_sign(r->answer, r->key, anthropic_text(delta, "signature"), r->err);
    return true;
}

static bool on_block_stop(const struct anthropic_reader *r)
{
    return answer_end(r->answer, r->key, r->err);
}

static bool on_message_delta(const struct anthropic_reader *r)
{
    struct str raw = anthropic_text(json_object_get(r->event, "delta"), "stop_reason");
    if (raw.n) {
        answer_stop(r->answer, wire_stop(raw), raw);
        r->state->stopped = true;
    }
    anthropic_read_usage(r, json_object_get(r->event, "usage"));
    return true;
}

static bool on_message_stop(const struct anthropic_reader *r)
{
    answer_end_all(r->answer);
    if (!r->state->stopped)
        answer_stop(r->answer, STOP_END_TURN, STR(""));
    r->state->complete = true;
    return true;
}

static bool on_error(const struct anthropic_reader *r)
{
    return wire_fail(r->err, json_object_get(r->event, "error"), STR("an error without a message"));
}

static bool anthropic_read_event(struct answer *answer, struct dialect_state *state,
    const struct sse_event *event, struct err *err)
{
    static const struct {
        const char *type;
        bool (*read)(const struct anthropic_reader *r);
    } kinds[] = {
        {"message_start", on_message_start},
        {"content_block_start", on_block_start},
        {"content_block_delta", on_block_delta},
        {"content_block_stop", on_block_stop},
        {"message_delta", on_message_delta},
        {"message_stop", on_message_stop},
        {"error", on_error},
    };
    AUTO_JSON json_t *tree = NULL;
    if (state->complete)
        return true;
    if (!wire_parse(event->data, &tree, err))
        return false;
    struct str type = anthropic_text(tree, "type");
    struct anthropic_reader r = {answer, state, tree, 0, err};
    bool numbered = wire_index(tree, &r.key);
    (void)numbered; /* a server with only one block may omit it: 0 */
    state->begun = true;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type.n ? type : event->name, kinds[i].type))
            return kinds[i].read(&r);
    return true;
}

/* The stop reason is the last event that matters: some servers omit message_stop. */
static bool anthropic_finish(struct answer *answer, struct dialect_state *state, struct err *err)
{
    if (!state->complete && !state->stopped)
        return wire_cut_off(err);
    answer_end_all(answer);
    state->complete = true;
    return true;
}

static void anthropic_headers(struct str key, struct buf *lines)
{
    buf_add_z(lines, "content-type: application/json\nanthropic-version: 2023-06-01\n");
    if (key.n)
        buf_printf(lines, "x-api-key: " STR_FMT "\n", STR_ARG(key));
}

const struct dialect dialect_anthropic = {
    .name = "anthropic",
    .path = "/v1/messages",
    .default_base = "https://api.anthropic.com",
    .default_model = "claude-sonnet-4-6",
    .key_variable = "ANTHROPIC_API_KEY",
    .base_variable = "ANTHROPIC_BASE_URL",
    .model_variable = "ANTHROPIC_MODEL",
    .headers = anthropic_headers,
    .write = anthropic_write,
    .read = anthropic_read_event,
    .finish = anthropic_finish,
    .explain = wire_explain,
};
