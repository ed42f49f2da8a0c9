/* Events of an agent, masked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/event_stream.h"

#include "agent/event_json.h"
#include "base/protocol.h"

json_t *event_stream_object(const struct mask *mask, json_t *object)
{
    AUTO_JSON json_t *event = json_object();
    json_put(event, "protocol_version", json_integer(PROTOCOL_VERSION));
    BUG_ON(json_object_update(event, object) != 0);
    json_decref(object);
    return mask_tree(mask, event);
}

void event_stream_init(struct event_stream *s, const struct mask *mask,
    bool (*put)(void *context, const json_t *event), void *context)
{
    *s = (struct event_stream){.mask = mask, .put = put, .context = context};
    mask_stream_init(&s->held, mask);
}

void event_stream_done(struct event_stream *s)
{
    mask_stream_done(&s->held);
}

static bool event_stream_add(struct event_stream *s, json_t *object)
{
    AUTO_JSON json_t *event = event_stream_object(s->mask, object);
    return s->put(s->context, event);
}

static bool event_stream_part(void *stream, const struct llm_event *event)
{
    return event_stream_add(stream, event_json_stream(event));
}

bool event_stream_put(struct event_stream *s, json_t *event)
{
    if (mask_stream_release(&s->held, event_stream_part, s))
        return event_stream_add(s, event);
    json_decref(event);
    return false;
}

bool event_stream_tell(void *stream, const struct agent_event *event)
{
    struct event_stream *s = stream;
    if (event->kind == AGENT_STREAM)
        return mask_stream_push(&s->held, event->llm, event_stream_part, s);
    json_t *object = event_json(event);
    return object ? event_stream_put(s, object)
                  : mask_stream_release(&s->held, event_stream_part, s);
}

void event_stream_retry(void *stream, const struct retry_notice *notice)
{
    bool sent UNUSED = event_stream_put(stream, event_json_retry(notice));
}
