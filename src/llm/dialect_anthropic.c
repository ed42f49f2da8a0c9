/* A script rendered in the format of the Messages API. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script_render.h"

static const char *dialect_anthropic_stop_word(const struct script_turn *turn)
{
    static const char *const words[STOP_REASONS] = {
        [STOP_END_TURN] = "end_turn",
        [STOP_LENGTH] = "max_tokens",
        [STOP_TOOL_USE] = "tool_use",
        [STOP_REFUSAL] = "refusal",
    };
    return words[script_stop(turn)];
}

static void dialect_anthropic_start(struct script_render *p)
{
    const struct usage *u = &p->turn->usage;
    script_render_event(p, "message_start",
        json_pack("{s:s, s:{s:o, s:s, s:s, s:s, s:[], s:n, s:n, s:{s:I, s:I, s:I, s:i}}}", "type",
            "message_start", "message", "id",
            json_sprintf("msg_%llu", (unsigned long long)p->number), "type", "message", "role",
            "assistant", "model", p->model, "content", "stop_reason", "stop_sequence", "usage",
            "input_tokens", (json_int_t)u->input_tokens, "cache_creation_input_tokens",
            (json_int_t)u->cache_write_tokens, "cache_read_input_tokens",
            (json_int_t)u->cache_read_tokens, "output_tokens", 1));
}

static json_t *first_block(const struct script_part *part, const char *id)
{
    if (part->text.p)
        return json_pack("{s:s, s:s}", "type", "text", "text", "");
    if (part->thinking.p)
        return json_pack("{s:s, s:s, s:s}", "type", "thinking", "thinking", "", "signature", "");
    if (part->redacted.p)
        return json_pack(
            "{s:s, s:o}", "type", "redacted_thinking", "data", json_text(part->redacted));
    json_t *block = json_pack(
        "{s:s, s:o, s:{}}", "type", "tool_use", "name", json_text(part->call->name), "input");
    if (id[0])
        json_put(block, "id", json_string(id));
    return block;
}

static void dialect_anthropic_begin_part(
    struct script_render *p, const struct script_part *part, const char *id)
{
    script_render_event(p, "content_block_start",
        json_pack("{s:s, s:I, s:o}", "type", "content_block_start", "index", (json_int_t)p->index,
            "content_block", first_block(part, id)));
}

static json_t *whole_block(struct script_render *p, const struct script_part *part)
{
    AUTO_BUF struct buf id = BUF_INIT(1024);
    if (part->call)
        script_render_call_id(p, part, &id);
    json_t *block = first_block(part, buf_z(&id));
    if (part->call && json_is_object(part->call->arguments))
        json_put(block, "input", json_incref(part->call->arguments));
    if (part->text.p)
        json_put(block, "text", json_text(part->text));
    if (part->thinking.p)
        json_put(block, "thinking", json_text(part->thinking));
    if (part->signature.p)
        json_put(block, "signature", json_text(part->signature));
    return block;
}

static json_t *dialect_anthropic_whole(struct script_render *p)
{
    const struct usage *u = &p->turn->usage;
    const char *word = dialect_anthropic_stop_word(p->turn);
    json_t *content = json_array();
    for (size_t i = 0; i < p->turn->n_parts; i++)
        if (!p->turn->parts[i].has_delay && !p->turn->parts[i].raw.p)
            json_push(content, whole_block(p, &p->turn->parts[i]));
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:n, s:{s:I, s:I, s:I, s:I}}", "id",
        json_sprintf("msg_%llu", (unsigned long long)p->number), "type", "message", "role",
        "assistant", "model", p->model, "content", content, "stop_reason",
        word ? json_string(word) : json_text(p->turn->stop_reason), "stop_sequence", "usage",
        "input_tokens", (json_int_t)u->input_tokens, "cache_creation_input_tokens",
        (json_int_t)u->cache_write_tokens, "cache_read_input_tokens",
        (json_int_t)u->cache_read_tokens, "output_tokens", (json_int_t)u->output_tokens);
}

static void say_delta(struct script_render *p, const char *type, const char *key, struct str text)
{
    script_render_event(p, "content_block_delta",
        json_pack("{s:s, s:I, s:{s:s, s:o}}", "type", "content_block_delta", "index",
            (json_int_t)p->index, "delta", "type", type, key, json_text(text)));
}

static void dialect_anthropic_delta(
    struct script_render *p, const struct script_part *part, struct str text)
{
    if (part->call)
        say_delta(p, "input_json_delta", "partial_json", text);
    else if (part->thinking.p)
        say_delta(p, "thinking_delta", "thinking", text);
    else
        say_delta(p, "text_delta", "text", text);
}

static void dialect_anthropic_end_part(struct script_render *p, const struct script_part *part)
{
    if (part->signature.p)
        say_delta(p, "signature_delta", "signature", part->signature);
    script_render_event(p, "content_block_stop",
        json_pack("{s:s, s:I}", "type", "content_block_stop", "index", (json_int_t)p->index));
}

static void say_usage(struct script_render *p, json_t *reason, uint64_t output_tokens)
{
    script_render_event(p, "message_delta",
        json_pack("{s:s, s:{s:o, s:n}, s:{s:I}}", "type", "message_delta", "delta", "stop_reason",
            reason, "stop_sequence", "usage", "output_tokens", (json_int_t)output_tokens));
}

static void dialect_anthropic_usage(struct script_render *p, uint64_t output_tokens)
{
    say_usage(p, json_null(), output_tokens);
}

static void dialect_anthropic_finish(struct script_render *p, bool last_event)
{
    const char *word = dialect_anthropic_stop_word(p->turn);
    say_usage(p, word ? json_string(word) : json_text(p->turn->stop_reason),
        p->turn->usage.output_tokens);
    if (last_event)
        script_render_event(p, "message_stop", json_pack("{s:s}", "type", "message_stop"));
}

static json_t *dialect_anthropic_error_body(const struct script_error *e, const char *request_id)
{
    json_t *body = json_pack("{s:s, s:{s:o, s:o}}", "type", "error", "error", "type",
        e->type.p ? json_text(e->type) : json_string("api_error"), "message",
        json_text(e->message));
    if (request_id)
        json_put(body, "request_id", json_string(request_id));
    return body;
}

static void dialect_anthropic_error(struct script_render *p, const struct script_error *e)
{
    script_render_event(p, "error", dialect_anthropic_error_body(e, NULL));
}

const struct script_dialect script_anthropic = {
    .name = "anthropic",
    .path = "/messages",
    .start = dialect_anthropic_start,
    .begin = dialect_anthropic_begin_part,
    .delta = dialect_anthropic_delta,
    .end = dialect_anthropic_end_part,
    .usage = dialect_anthropic_usage,
    .finish = dialect_anthropic_finish,
    .error = dialect_anthropic_error,
    .whole = dialect_anthropic_whole,
    .error_body = dialect_anthropic_error_body,
    .half_text = "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
                 "\"text\":\"caf\xC3\"}}",
};
