/* Events of an agent as `cordon agent --json` prints them: objects in order, with keys masked.
 *
 *     struct event_stream stream;
 *     event_stream_init(&stream, &mask, put, context);
 *     agent.tell = event_stream_tell, agent.context = &stream;
 *     ...
 *     event_stream_put(&stream, event_json_done(id, &outcome));
 *     event_stream_done(&stream);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_EVENT_STREAM_H
#define AGENT_EVENT_STREAM_H

#include "agent/agent_run.h"
#include "llm/mask_stream.h"

struct event_stream {
    const struct mask *mask;
    struct mask_stream held;
    bool (*put)(void *context, const json_t *event); /* false stops the agent */
    void *context;
};

void event_stream_init(struct event_stream *s, const struct mask *mask,
    bool (*put)(void *context, const json_t *event), void *context);
void event_stream_done(struct event_stream *s);

/* For struct agent and provider_options. */
bool event_stream_tell(void *stream, const struct agent_event *event);
void event_stream_retry(void *stream, const struct retry_notice *notice);

/* Puts one more event, after the text that is held back. Takes ownership. */
bool event_stream_put(struct event_stream *s, json_t *event);

/* An event with "protocol_version" first and with keys masked. Takes ownership; a new object. */
MUST_USE json_t *event_stream_object(const struct mask *mask, json_t *event);

#endif
