/* Masking of keys that are split across deltas: a possible start of a key is held back until the
 * next delta of the same block, regardless of events for other blocks in between.
 *
 *     mask_stream_push(&stream, event, put, context);     passes on everything but a possible key
 *     mask_stream_release(&stream, put, context);       end of stream: passes on held text
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_MASK_STREAM_H
#define LLM_MASK_STREAM_H

#include "base/mask.h"
#include "llm/llm_event.h"

enum {
    MASK_STREAM_MAX = 16, /* blocks with held text; beyond that the oldest is released */
};

struct mask_stream_part {
    struct buf text, id;
    enum llm_event_kind kind;
    size_t index;
};

struct mask_stream {
    const struct mask *mask;
    struct mask_stream_part parts[MASK_STREAM_MAX];
    size_t n;
};

typedef bool mask_stream_put(void *context, const struct llm_event *event);

void mask_stream_init(struct mask_stream *h, const struct mask *mask);
void mask_stream_done(struct mask_stream *h);
/* The end of a tool call or a restart of the answer releases held text. Return false if put()
 * did. */
bool mask_stream_push(
    struct mask_stream *h, const struct llm_event *event, mask_stream_put *put, void *context);
bool mask_stream_release(struct mask_stream *h, mask_stream_put *put, void *context);

#endif
