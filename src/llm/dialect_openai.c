/* A script rendered in the format of Chat Completions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script_render.h"

static const char *dialect_openai_stop_word(const struct script_turn *turn)
{
    static const char *const words[STOP_REASONS] = {
        [STOP_END_TURN] = "stop",
        [STOP_LENGTH] = "length",
        [STOP_TOOL_USE] = "tool_calls",
        [STOP_REFUSAL] = "content_filter",
    };
    return words[script_stop(turn)];
}

static json_t *usage_words(const struct usage *u, uint64_t output_tokens)
{
    uint64_t input = u->input_tokens + u->cache_read_tokens;
    return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", (json_int_t)input,
        "completion_tokens", (json_int_t)output_tokens, "total_tokens",
        (json_int_t)(input + output_tokens), "prompt_tokens_details", "cached_tokens",
        (json_int_t)u->cache_read_tokens);
}

/* Takes ownership of the choices. */
static json_t *dialect_openai_new_chunk(struct script_render *p, json_t *choices)
{
    return json_pack("{s:o, s:s, s:i, s:s, s:o}", "id",
        json_sprintf("chatcmpl-%llu", (unsigned long long)p->number), "object",
        "chat.completion.chunk", "created", 0, "model", p->model, "choices", choices);
}

static void dialect_openai_send_delta(struct script_render *p, json_t *delta, json_t *reason)
{
    script_render_event(p, NULL,
        dialect_openai_new_chunk(p,
            json_pack("[{s:i, s:o, s:o}]", "index", 0, "delta", delta, "finish_reason", reason)));
}

static void dialect_openai_start(struct script_render *p)
{
    dialect_openai_send_delta(
        p, json_pack("{s:s, s:s}", "role", "assistant", "content", ""), json_null());
}

static void dialect_openai_begin_part(
    struct script_render *p, const struct script_part *part, const char *id)
{
    if (!part->call)
        return;
    json_t *call = json_pack("{s:I, s:s, s:{s:o, s:s}}", "index", (json_int_t)p->calls, "type",
        "function", "function", "name", json_text(part->call->name), "arguments", "");
    if (id[0])
        json_put(call, "id", json_string(id));
    dialect_openai_send_delta(p, json_pack("{s:[o]}", "tool_calls", call), json_null());
}

static void dialect_openai_delta(
    struct script_render *p, const struct script_part *part, struct str text)
{
    json_t *words = json_text(text);
    if (part->call)
        dialect_openai_send_delta(p,
            json_pack("{s:[{s:I, s:{s:o}}]}", "tool_calls", "index", (json_int_t)p->calls,
                "function", "arguments", words),
            json_null());
    else
        dialect_openai_send_delta(p,
            json_pack("{s:o}", part->thinking.p ? "reasoning_content" : "content", words),
            json_null());
}

static void dialect_openai_end_part(struct script_render *p, const struct script_part *part)
{
    (void)p;
    (void)part;
}

static void dialect_openai_usage(struct script_render *p, uint64_t output_tokens)
{
    json_t *c = dialect_openai_new_chunk(p, json_array());
    json_put(c, "usage", usage_words(&p->turn->usage, output_tokens));
    script_render_event(p, NULL, c);
}

static void dialect_openai_finish(struct script_render *p, bool last_event)
{
    const char *word = dialect_openai_stop_word(p->turn);
    dialect_openai_send_delta(
        p, json_object(), word ? json_string(word) : json_text(p->turn->stop_reason));
    dialect_openai_usage(p, p->turn->usage.output_tokens);
    if (last_event)
        script_render_event_text(p, NULL, STR("[DONE]"));
}

static json_t *whole_call(struct script_render *p, const struct script_part *part)
{
    AUTO_BUF struct buf id = BUF_INIT(1024), arguments = BUF_INIT(2 * (size_t)SCRIPT_TEXT_MAX);
    script_render_call_id(p, part, &id);
    script_arguments(part->call, &arguments);
    return json_pack("{s:s, s:s, s:{s:o, s:o}}", "id", buf_z(&id), "type", "function", "function",
        "name", json_text(part->call->name), "arguments", json_text(buf_str(&arguments)));
}

static json_t *dialect_openai_whole(struct script_render *p)
{
    const char *word = dialect_openai_stop_word(p->turn);
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)SCRIPT_TEXT_MAX);
    json_t *calls = json_array();
    for (size_t i = 0; i < p->turn->n_parts; i++) {
        if (p->turn->parts[i].text.p)
            buf_add_str(&text, p->turn->parts[i].text);
        if (p->turn->parts[i].call)
            json_push(calls, whole_call(p, &p->turn->parts[i]));
    }
    json_t *message =
        json_pack("{s:s, s:o}", "role", "assistant", "content", json_text(buf_str(&text)));
    if (json_array_size(calls))
        json_put(message, "tool_calls", json_incref(calls));
    json_decref(calls);
    return json_pack("{s:o, s:s, s:i, s:s, s:[{s:i, s:o, s:o}], s:o}", "id",
        json_sprintf("chatcmpl-%llu", (unsigned long long)p->number), "object", "chat.completion",
        "created", 0, "model", p->model, "choices", "index", 0, "message", message, "finish_reason",
        word ? json_string(word) : json_text(p->turn->stop_reason), "usage",
        usage_words(&p->turn->usage, p->turn->usage.output_tokens));
}

static json_t *dialect_openai_error_body(const struct script_error *e, const char *request_id)
{
    (void)request_id;
    return json_pack("{s:{s:o, s:o, s:n, s:n}}", "error", "message", json_text(e->message), "type",
        e->type.p ? json_text(e->type) : json_string("server_error"), "param", "code");
}

static void dialect_openai_error(struct script_render *p, const struct script_error *e)
{
    script_render_event(p, NULL, dialect_openai_error_body(e, NULL));
}

const struct script_dialect script_openai = {
    .name = "openai",
    .path = "/chat/completions",
    .start = dialect_openai_start,
    .begin = dialect_openai_begin_part,
    .delta = dialect_openai_delta,
    .end = dialect_openai_end_part,
    .usage = dialect_openai_usage,
    .finish = dialect_openai_finish,
    .error = dialect_openai_error,
    .whole = dialect_openai_whole,
    .error_body = dialect_openai_error_body,
    .half_text =
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,"
        "\"delta\":{\"content\":\"caf\xC3\"},\"finish_reason\":null}]}",
};
