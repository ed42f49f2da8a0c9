/* Events of an agent as JSON objects: {"type": ..., ...}. Keys are not masked.
 *
 *     AUTO_JSON json_t *object = event_json(event);       NULL: an event that is not reported
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_EVENT_JSON_H
#define AGENT_EVENT_JSON_H

#include "agent/agent_run.h"

/* Return new objects. */
MUST_USE json_t *event_json(const struct agent_event *event);
MUST_USE json_t *event_json_stream(const struct llm_event *event);
MUST_USE json_t *event_json_retry(const struct retry_notice *notice);
/* The end of a run that succeeded. */
MUST_USE json_t *event_json_done(const char *session_id, const struct agent_outcome *outcome);

#endif
