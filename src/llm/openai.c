/* Reading answers of Chat Completions, as OpenAI and compatible servers send them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/openai.h"

#include "llm/wire.h"

/* Calls have the service's index; texts have none and are numbered here. */
#define CALL_KEY (UINT64_C(1) << 32)

struct reading {
    struct answer *answer;
    struct dialect_state *state;
    struct err *err;
};

static struct str text_of(const json_t *object, const char *key)
{
    struct str text = json_str(json_object_get(object, key));
    return text.p ? text : STR("");
}

/* Tokens from the prompt cache are included in the count of the prompt. */
static void read_usage(const struct reading *r, const json_t *usage)
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

static bool end_text(const struct reading *r)
{
    uint64_t open = r->state->last_key;
    r->state->last_key = 0;
    return open == 0 || answer_end(r->answer, open - 1, r->err);
}

static bool add_text(const struct reading *r, enum block_type type, struct str text)
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
static bool begins(
    const struct reading *r, uint64_t key, struct str id, struct str name, bool indexed)
{
    if (!answer_has(r->answer, key))
        return true;
    bool other = !str_eq(id, answer_call_id(r->answer, key));
    return name.n && (id.n ? other : !indexed);
}

/* Arguments are a string; a few servers send the object itself. */
static bool add_arguments(const struct reading *r, uint64_t key, const json_t *arguments)
{
    AUTO_BUF struct buf text = BUF_INIT(ANSWER_BYTES_MAX);
    if (json_is_string(arguments))
        return answer_add(r->answer, key, json_str(arguments), r->err);
    if (json_is_object(arguments))
        json_add_compact(&text, arguments);
    return answer_add(r->answer, key, buf_str(&text), r->err);
}

static bool add_call(const struct reading *r, const json_t *call, size_t place)
{
    const json_t *function = json_object_get(call, "function");
    uint64_t index = place;
    bool indexed = wire_index(call, &index);
    uint64_t key = CALL_KEY + index;
    struct str id = text_of(call, "id"), name = text_of(function, "name");
    if (!end_text(r))
        return false;
    if (begins(r, key, id, name, indexed)) {
        if (answer_has(r->answer, key) && !answer_end(r->answer, key, r->err))
            return false;
        if (!answer_begin_call(r->answer, key, id, name, r->err))
            return false;
    }
    return add_arguments(r, key, json_object_get(function, "arguments"));
}

static bool read_delta(const struct reading *r, const json_t *delta)
{
    const json_t *calls = json_object_get(delta, "tool_calls");
    struct str reasoning = text_of(delta, "reasoning_content"), refusal = text_of(delta, "refusal");
    if (reasoning.n == 0)
        reasoning = text_of(delta, "reasoning");
    r->state->refused = r->state->refused || refusal.n;
    if (!add_text(r, BLOCK_THINKING, reasoning) ||
        !add_text(r, BLOCK_TEXT, text_of(delta, "content")) || !add_text(r, BLOCK_TEXT, refusal))
        return false;
    for (size_t i = 0; i < json_array_size(calls); i++)
        if (!add_call(r, json_array_get(calls, i), i))
            return false;
    return true;
}

/* Blocks stay open: a last delta or another reason may follow. */
static void read_stop(const struct reading *r, struct str raw)
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
static void complete(struct answer *answer, struct dialect_state *state)
{
    answer_end_all(answer);
    if (!state->stopped && state->refused)
        answer_stop(answer, STOP_REFUSAL, STR("refusal"));
    else if (!state->stopped)
        answer_stop(answer, STOP_END_TURN, STR(""));
    state->complete = true;
}

static bool is_done(struct str data)
{
    while (data.n && data.p[0] == ' ')
        data = str_skip(data, 1);
    return str_is(str_trim_end(data, ' '), "[DONE]");
}

static bool is_error(const json_t *chunk, const struct sse_event *event)
{
    const json_t *error = json_object_get(chunk, "error");
    return json_is_object(error) || json_is_string(error) || str_is(event->name, "error") ||
           str_is(text_of(chunk, "object"), "error");
}

static bool read_chunk(const struct reading *r, const json_t *chunk)
{
    const json_t *choice = json_array_get(json_object_get(chunk, "choices"), 0);
    r->state->begun = true;
    if (!read_delta(r, json_object_get(choice, "delta")))
        return false;
    read_stop(r, text_of(choice, "finish_reason"));
    read_usage(r, json_object_get(choice, "usage"));
    read_usage(r, json_object_get(chunk, "usage"));
    return true;
}

static bool read_event(struct answer *answer, struct dialect_state *state,
    const struct sse_event *event, struct err *err)
{
    AUTO_JSON json_t *chunk = NULL;
    struct reading r = {answer, state, err};
    if (state->complete)
        return true;
    if (is_done(event->data)) {
        complete(answer, state);
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

static bool finish(struct answer *answer, struct dialect_state *state, struct err *err)
{
    if (!state->complete && !state->stopped)
        return wire_cut_off(err);
    if (!state->complete)
        complete(answer, state);
    return true;
}

static void headers(struct str key, struct buf *lines)
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
    .headers = headers,
    .write = openai_write,
    .read = read_event,
    .finish = finish,
    .explain = wire_explain,
};
