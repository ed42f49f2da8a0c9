/* Masking of keys that are split across deltas: a possible start of a key is held back until the
 * next delta of the same block, regardless of events for other blocks in between.
 *
 *     held_push(&held, event, put, context);     passes on everything but a possible key
 *     held_release(&held, put, context);         end of stream: passes on held text
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELD_H
#define CLI_HELD_H

#include "base/mask.h"
#include "llm/event.h"

enum {
    HELD_MAX = 16, /* blocks with held text; beyond that the oldest is released */
};

struct held_part {
    struct buf text, id;
    enum llm_event_kind kind;
    size_t index;
};

struct held {
    const struct mask *mask;
    struct held_part parts[HELD_MAX];
    size_t n;
};

typedef bool held_put(void *context, const struct llm_event *event);

void held_init(struct held *h, const struct mask *mask);
void held_done(struct held *h);
/* The end of a tool call or a restart of the answer releases held text. Return false if put()
 * did. */
bool held_push(struct held *h, const struct llm_event *event, held_put *put, void *context);
bool held_release(struct held *h, held_put *put, void *context);

#endif
