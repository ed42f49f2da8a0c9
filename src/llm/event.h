/* What happens while a model answers. Purely of meaning: what goes wrong is an error, no event. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_EVENT_H
#define LLM_EVENT_H

#include "llm/message.h"

enum llm_event_kind {
    LLM_TEXT_DELTA,
    LLM_THINKING_DELTA,
    LLM_TOOL_CALL_BEGIN,
    LLM_TOOL_CALL_DELTA,
    LLM_TOOL_CALL_END,
    LLM_USAGE,
    LLM_RESTART, /* the service began its answer anew: all that was told of it is void */
    LLM_EVENT_KINDS,
};

/* Texts live until the next event is asked for. */
struct llm_event {
    enum llm_event_kind kind;
    size_t index;            /* the block's place in the message: of deltas */
    struct str id, name;     /* of a tool call */
    struct str delta;        /* of deltas: valid UTF-8, never empty */
    const json_t *arguments; /* of the end of a tool call: borrowed from the message */
    struct usage usage;      /* of LLM_USAGE: so far */
};

#endif
