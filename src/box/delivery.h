/* A prompt that is typed into an agent's terminal: when it is ready for it, once, and seen to
 * arrive.
 *
 *     delivery_begin(&d, agent, prompt, err)
 *     delivery_step(&d, session, now)                      whenever something happened, or is due
 *     d.state                                              pending, delivered, unconfirmed
 *
 * Ready is what the row's pattern says, for a while; where there is none, a screen that has
 * something on it and keeps still. A screen without the pattern may be a question to the user
 * (whether a directory is trusted, a key used): nothing is typed then, however long it takes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_DELIVERY_H
#define BOX_DELIVERY_H

#include "base/regex.h"
#include "box/rows.h"
#include "box/state.h"
#include "session/session.h"
#include "term/keys.h"

enum {
    DELIVERY_LOOK_MS = 50,         /* between looks */
    DELIVERY_LONG_MS = 120 * 1000, /* then it is looked less often */
    DELIVERY_SLOW_MS = 1000,
    DELIVERY_QUIET_MS = 300,   /* of a screen that keeps still */
    DELIVERY_HOLD_MS = 1000,   /* of a pattern that stays on the screen */
    DELIVERY_READY_MS = 30000, /* for anything on the screen, without a pattern */
    DELIVERY_PASTE_MS = 2000,  /* for a program that does not take pastes yet */
    DELIVERY_SEEN_MS = 5000,   /* for what was typed to be seen */
    DELIVERY_KEY_MS = 100,     /* before each key that submits it: not part of a paste */
    DELIVERY_KEYS_MAX = 16,
};

enum delivery_step {
    DELIVERY_NONE, /* nothing to do, or done */
    DELIVERY_WAITS,
    DELIVERY_TYPED,
    DELIVERY_SUBMITS,
};

struct delivery {
    enum delivery_step step;
    enum box_prompt_state state;
    const struct box_agent *agent;
    struct str prompt;
    struct regex *ready;
    uint64_t begun_ms, at_ms; /* of all, and of this step */
    uint64_t next_ms;         /* when to look again; UINT64_MAX: at the next change */
    uint64_t changes;         /* of the screen, at the last look */
    uint64_t held_ms;         /* since when the pattern is there; 0: it is not */
    size_t before;            /* how often the end of the prompt was on the screen already */
    unsigned keys;            /* that were pressed */
    bool was_ready, seen;     /* at the last look; the end of the prompt was on the screen */
    bool meddled;             /* somebody types */
};

MUST_USE bool delivery_begin(
    struct delivery *d, const struct box_agent *agent, struct str prompt, struct err *err);
void delivery_done(struct delivery *d);

void delivery_step(struct delivery *d, struct session *s, uint64_t now);

/* When to step at the latest. */
uint64_t delivery_due(const struct delivery *d);

/* All rows of a screen as text, for patterns. */
void delivery_screen(const struct term *t, struct buf *out);

#endif
