/* Events of a streaming answer. Failures are errors, not events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_LLM_EVENT_H
#define LLM_LLM_EVENT_H

#include "llm/message.h"

enum llm_event_kind {
    LLM_TEXT_DELTA,
    LLM_THINKING_DELTA,
    LLM_TOOL_CALL_BEGIN,
    LLM_TOOL_CALL_DELTA,
    LLM_TOOL_CALL_END,
    LLM_USAGE,
    LLM_RESTART, /* the service restarted its answer: discard all events so far */
    LLM_EVENT_KINDS,
};

/* Strings are valid until the next event is requested. */
struct llm_event {
    enum llm_event_kind kind;
    size_t index;            /* of deltas: index of the block in the message */
    struct str id, name;     /* of a tool call */
    struct str delta;        /* of deltas: valid UTF-8, never empty */
    const json_t *arguments; /* of LLM_TOOL_CALL_END: borrowed from the message */
    struct usage usage;      /* of LLM_USAGE: totals so far */
};

#endif
