/* Reading answers of Chat Completions, as OpenAI and compatible servers send them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/openai.h"

#include "llm/wire.h"

/* Calls have the service's index; texts have none and are numbered here. */
#define CALL_KEY (UINT64_C(1) << 32)

struct openai_reader {
    struct answer *answer;
    struct dialect_state *state;
    struct err *err;
};

static struct str openai_text(const json_t *object, const char *key)
{
    struct str text = json_str(json_object_get(object, key));
    return text.p ? text : STR("");
}

/* Tokens from the prompt cache are included in the count of the prompt. */
static void openai_read_usage(const struct openai_reader *r, const json_t *usage)
{
    struct usage *u = &r->state->usage;
    const json_t *details = json_object_get(usage, "prompt_tokens_details");
    uint64_t prompt = u->input_tokens + u->cache_read_tokens;
    wire_count(usage, "prompt_tokens", &prompt);
    wire_count(usage, "completion_tokens", &u->output_tokens);
    wire_count(usage, "prompt_cache_hit_tokens", &u->cache_read_tokens);
    wire_count(details, "cached_tokens", &u->cache_read_tokens);
    u->cache_read_tokens = MIN(u->cache_read_tokens, prompt);
    u->input_tokens = prompt - u->cache_read_tokens;
    answer_usage(r->answer, u);
}

static bool end_text(const struct openai_reader *r)
{
    uint64_t open = r->state->last_key;
    r->state->last_key = 0;
    return open == 0 || answer_end(r->answer, open - 1, r->err);
}

static bool openai_add_text(const struct openai_reader *r, enum block_type type, struct str text)
{
    struct dialect_state *state = r->state;
    if (text.n == 0)
        return true;
    if (state->last_key && state->last_type != type && !end_text(r))
        return false;
    if (!state->last_key) {
        if (!answer_begin(r->answer, state->next_key, type, r->err))
            return false;
        state->last_key = ++state->next_key;
        state->last_type = type;
    }
    return answer_add(r->answer, state->last_key - 1, text, r->err);
}

/* Some servers use the same index for all calls, each with its own id; some send no index, and each
 * call whole. */
static bool openai_begins_call(
    const struct openai_reader *r, uint64_t key, struct str id, struct str name, bool indexed)
{
    if (!answer_has(r->answer, key))
        return true;
    bool other = !str_eq(id, answer_call_id(r->answer, key));
    return name.n && (id.n ? other : !indexed);
}

/* Arguments are a string; a few servers send the object itself. */
static bool openai_add_arguments(
    const struct openai_reader *r, uint64_t key, const json_t *arguments)
{
    AUTO_BUF struct buf text = BUF_INIT(ANSWER_BYTES_MAX);
    if (json_is_string(arguments))
        return answer_add(r->answer, key, json_str(arguments), r->err);
    if (json_is_object(arguments))
        json_add_compact(&text, arguments);
    return answer_add(r->answer, key, buf_str(&text), r->err);
}

static bool openai_add_call(const struct openai_reader *r, const json_t *call, size_t place)
{
    const json_t *function = json_object_get(call, "function");
    uint64_t index = place;
    bool indexed = wire_index(call, &index);
    uint64_t key = CALL_KEY + index;
    struct str id = openai_text(call, "id"), name = openai_text(function, "name");
    if (!end_text(r))
        return false;
    if (openai_begins_call(r, key, id, name, indexed)) {
        if (answer_has(r->answer, key) && !answer_end(r->answer, key, r->err))
            return false;
        if (!answer_begin_call(r->answer, key, id, name, r->err))
            return false;
    }
    return openai_add_arguments(r, key, json_object_get(function, "arguments"));
}

static bool read_delta(const struct openai_reader *r, const json_t *delta)
{
    const json_t *calls = json_object_get(delta, "tool_calls");
    struct str reasoning = openai_text(delta, "reasoning_content"),
               refusal = openai_text(delta, "refusal");
    if (reasoning.n == 0)
        reasoning = openai_text(delta, "reasoning");
    r->state->refused = r->state->refused || refusal.n;
    if (!openai_add_text(r, BLOCK_THINKING, reasoning) ||
        !openai_add_text(r, BLOCK_TEXT, openai_text(delta, "content")) ||
        !openai_add_text(r, BLOCK_TEXT, refusal))
        return false;
    for (size_t i = 0; i < json_array_size(calls); i++)
        if (!openai_add_call(r, json_array_get(calls, i), i))
            return false;
    return true;
}

/* Blocks stay open: a last delta or another reason may follow. */
static void read_stop(const struct openai_reader *r, struct str raw)
{
    enum stop_reason stop = wire_stop(raw);
    if (raw.n == 0)
        return;
    if (r->state->refused && stop == STOP_END_TURN)
        answer_stop(r->answer, STOP_REFUSAL, STR("refusal"));
    else
        answer_stop(r->answer, stop, raw);
    r->state->stopped = true;
}

/* The last event was received, or may be missing. */
static void openai_complete(struct answer *answer, struct dialect_state *state)
{
    answer_end_all(answer);
    if (!state->stopped && state->refused)
        answer_stop(answer, STOP_REFUSAL, STR("refusal"));
    else if (!state->stopped)
        answer_stop(answer, STOP_END_TURN, STR(""));
    state->complete = true;
}

static bool openai_is_done(struct str data)
{
    while (data.n && data.p[0] == ' ')
        data = str_skip(data, 1);
    return str_is(str_trim_end(data, ' '), "[DONE]");
}

static bool is_error(const json_t *chunk, const struct sse_event *event)
{
    const json_t *error = json_object_get(chunk, "error");
    return json_is_object(error) || json_is_string(error) || str_is(event->name, "error") ||
           str_is(openai_text(chunk, "object"), "error");
}

static bool read_chunk(const struct openai_reader *r, const json_t *chunk)
{
    const json_t *choice = json_array_get(json_object_get(chunk, "choices"), 0);
    r->state->begun = true;
    if (!read_delta(r, json_object_get(choice, "delta")))
        return false;
    read_stop(r, openai_text(choice, "finish_reason"));
    openai_read_usage(r, json_object_get(choice, "usage"));
    openai_read_usage(r, json_object_get(chunk, "usage"));
    return true;
}

static bool openai_read_event(struct answer *answer, struct dialect_state *state,
    const struct sse_event *event, struct err *err)
{
    AUTO_JSON json_t *chunk = NULL;
    struct openai_reader r = {answer, state, err};
    if (state->complete)
        return true;
    if (openai_is_done(event->data)) {
        openai_complete(answer, state);
        return true;
    }
    if (!wire_parse(event->data, &chunk, err))
        return false;
    if (is_error(chunk, event)) {
        const json_t *error = json_object_get(chunk, "error");
        return wire_fail(err, error ? error : chunk, STR("an error without a message"));
    }
    return read_chunk(&r, chunk);
}

static bool openai_finish(struct answer *answer, struct dialect_state *state, struct err *err)
{
    if (!state->complete && !state->stopped)
        return wire_cut_off(err);
    if (!state->complete)
        openai_complete(answer, state);
    return true;
}

static void openai_headers(struct str key, struct buf *lines)
{
    buf_add_z(lines, "content-type: application/json\n");
    if (key.n)
        buf_printf(lines, "authorization: Bearer " STR_FMT "\n", STR_ARG(key));
}

const struct dialect dialect_openai = {
    .name = "openai",
    .path = "/chat/completions",
    .default_base = "https://api.openai.com/v1",
    .default_model = "gpt-5.5",
    .key_variable = "OPENAI_API_KEY",
    .base_variable = "OPENAI_BASE_URL",
    .model_variable = "OPENAI_MODEL",
    .headers = openai_headers,
    .write = openai_write,
    .read = openai_read_event,
    .finish = openai_finish,
    .explain = wire_explain,
};
