/* Events of tool calls: start, end or error, and truncation.
 *
 *     sink.tell(sink.context, &event);
 *     AUTO_JSON json_t *line = tool_event_json(&event);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_EVENT_H
#define TOOL_TOOL_EVENT_H

#include "base/err.h"
#include "base/json.h"

enum tool_phase {
    TOOL_START,
    TOOL_END,
    TOOL_ERROR,
    TOOL_TRUNCATION,
};

struct tool_event {
    enum tool_phase phase;
    const char *tool;
    const char *run_id; /* of the toolbox */
    uint64_t call;      /* number of the call, from 1 */
    uint64_t wall_ms;
    uint64_t duration_us;  /* this and the following: not at the start */
    uint64_t bytes, lines; /* size of the content */
    bool truncated;
    bool has_exit;
    int exit_status;
    size_t files_changed;
    const struct err *error; /* only for an error */
};

struct tool_event_sink {
    void (*tell)(void *context, const struct tool_event *event); /* may be NULL */
    void *context;
};

MUST_USE json_t *tool_event_json(const struct tool_event *event);

#endif
