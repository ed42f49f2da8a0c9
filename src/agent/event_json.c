/* Events of an agent as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/event_json.h"

#include "llm/message.h"
#include "tool/tool.h"

static void event_json_add_delta(const struct llm_event *e, json_t *o)
{
    json_put(o, "index", json_integer((json_int_t)e->index));
    json_put(o, "delta", json_text(e->delta));
}

static void event_json_add_call(const struct llm_event *e, json_t *o)
{
    json_put(o, "id", json_text(e->id));
    if (e->kind != LLM_TOOL_CALL_DELTA)
        json_put(o, "name", json_text(e->name));
    else
        json_put(o, "delta", json_text(e->delta));
    if (e->kind == LLM_TOOL_CALL_END)
        json_put(o, "arguments", json_incref((json_t *)e->arguments));
}

static void event_json_add_retry(unsigned attempt, uint64_t delay_ms, json_t *o)
{
    json_put(o, "attempt", json_integer(attempt));
    json_put(o, "delay_ms", json_integer((json_int_t)delay_ms));
    json_put(o, "discard", json_true());
}

static void event_json_add_usage(const struct llm_event *e, json_t *o)
{
    AUTO_JSON json_t *usage = usage_json(&e->usage);
    BUG_ON(json_object_update(o, usage) != 0);
}

static void event_json_add_restart(const struct llm_event *e, json_t *o)
{
    (void)e;
    event_json_add_retry(0, 0, o);
}

static const struct {
    const char *type;
    void (*add)(const struct llm_event *e, json_t *o);
} stream_events[LLM_EVENT_KINDS] = {
    [LLM_TEXT_DELTA] = {"text_delta", event_json_add_delta},
    [LLM_THINKING_DELTA] = {"thinking_delta", event_json_add_delta},
    [LLM_TOOL_CALL_BEGIN] = {"tool_call_begin", event_json_add_call},
    [LLM_TOOL_CALL_DELTA] = {"tool_call_delta", event_json_add_call},
    [LLM_TOOL_CALL_END] = {"tool_call_end", event_json_add_call},
    [LLM_USAGE] = {"usage", event_json_add_usage},
    [LLM_RESTART] = {"retry", event_json_add_restart},
};

static json_t *event_json_new(const char *type)
{
    json_t *o = json_object();
    json_put(o, "type", json_string(type));
    return o;
}

json_t *event_json_stream(const struct llm_event *e)
{
    json_t *o = event_json_new(stream_events[e->kind].type);
    stream_events[e->kind].add(e, o);
    return o;
}

json_t *event_json_retry(const struct retry_notice *n)
{
    json_t *o = event_json_new("retry");
    event_json_add_retry(n->attempt, n->delay_ms, o);
    return o;
}

static json_t *event_json_message(const json_t *message)
{
    json_t *o = event_json_new("message");
    json_put(o, "message", json_incref((json_t *)message));
    return o;
}

static json_t *event_json_result(const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * TOOL_CONTENT_MAX);
    json_t *o = event_json_new("tool_result");
    message_add_text(message, &text);
    json_put(o, "id", json_incref(json_object_get(message, "tool_call_id")));
    json_put(o, "name", json_incref(json_object_get(message, "tool_name")));
    json_put(o, "content", json_text(buf_str(&text)));
    json_put(o, "is_error", json_incref(json_object_get(message, "is_error")));
    return o;
}

static json_t *event_json_compaction(const struct agent_event *e)
{
    json_t *o = event_json_new("compaction");
    json_put(o, "kept", json_integer((json_int_t)e->kept));
    json_put(o, "message", json_incref((json_t *)e->message));
    return o;
}

json_t *event_json(const struct agent_event *e)
{
    switch (e->kind) {
    case AGENT_STREAM:
        return event_json_stream(e->llm);
    case AGENT_MESSAGE:
        return event_json_message(e->message);
    case AGENT_RESULT:
        return event_json_result(e->message);
    case AGENT_COMPACTED:
        return event_json_compaction(e);
    case AGENT_ASKING:
    case AGENT_CALLING:
    case AGENT_COMPACTING:
        return NULL;
    }
    return NULL;
}

json_t *event_json_done(const char *session_id, const struct agent_outcome *outcome)
{
    static const char *const keys[] = {"stop_reason", "raw_stop_reason"};
    json_t *o = event_json_new("done");
    json_put(o, "session_id", json_string(session_id));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(outcome->answer, keys[i]);
        json_put(o, keys[i], value ? json_incref(value) : json_string(""));
    }
    json_put(o, "turns", json_integer((json_int_t)outcome->turns));
    json_put(o, "usage", usage_json(&outcome->usage));
    return o;
}
