/* Keys that come in several deltas: what can be the start of one waits for the next delta of the
 * same block, whatever other blocks say meanwhile.
 *
 *     held_push(&held, event, put, context);     puts what is clear
 *     held_release(&held, put, context);         nothing more comes: what waits was no key
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELD_H
#define CLI_HELD_H

#include "llm/event.h"
#include "llm/mask.h"

enum {
    HELD_MAX = 16, /* blocks that wait; one more, and the oldest waits no longer */
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
/* Whoever ends, or begins the answer anew, waits no longer. False: put said so. */
bool held_push(struct held *h, const struct llm_event *event, held_put *put, void *context);
bool held_release(struct held *h, held_put *put, void *context);

#endif
