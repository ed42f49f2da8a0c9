/* Types a prompt into an agent's terminal, once, when the agent is ready, and checks that it
 * arrived.
 *
 *     prompt_delivery_begin(&d, agent, prompt, err)
 *     prompt_delivery_step(&d, session, now)                      on every event, and when due
 *     d.state                                              pending, delivered, unconfirmed
 *
 * An agent is ready when the row's pattern has matched for a while; without a pattern, when the
 * screen is not empty and has stopped changing. A screen without the pattern may be a question to
 * the user (whether a directory is trusted, a key used): nothing is typed then, however long it
 * takes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_PROMPT_DELIVERY_H
#define BOXD_PROMPT_DELIVERY_H

#include "base/regex.h"
#include "box/rows.h"
#include "box/state.h"
#include "session/session.h"
#include "term/keys.h"

enum {
    PROMPT_DELIVERY_LOOK_MS = 50,         /* polling interval */
    PROMPT_DELIVERY_LONG_MS = 120 * 1000, /* after this, poll at PROMPT_DELIVERY_SLOW_MS */
    PROMPT_DELIVERY_SLOW_MS = 1000,
    PROMPT_DELIVERY_QUIET_MS = 300,   /* without screen changes */
    PROMPT_DELIVERY_HOLD_MS = 1000,   /* pattern matching continuously */
    PROMPT_DELIVERY_READY_MS = 30000, /* wait for any output, without a pattern */
    PROMPT_DELIVERY_PASTE_MS = 2000,  /* wait for bracketed paste mode */
    PROMPT_DELIVERY_SEEN_MS = 5000,   /* wait for the typed text to appear */
    PROMPT_DELIVERY_KEY_MS = 100,     /* before each submit key, to separate it from the paste */
    PROMPT_DELIVERY_KEYS_MAX = 16,
};

enum prompt_delivery_step {
    PROMPT_DELIVERY_NONE, /* nothing to do, or finished */
    PROMPT_DELIVERY_WAITS,
    PROMPT_DELIVERY_TYPED,
    PROMPT_DELIVERY_SUBMITS,
};

struct prompt_delivery {
    enum prompt_delivery_step step;
    enum box_prompt_state state;
    const struct box_agent *agent;
    struct str prompt;
    struct regex *ready;
    uint64_t begun_ms, at_ms; /* start of the delivery, and of this step */
    uint64_t next_ms;         /* time of the next poll */
    uint64_t changes;         /* screen change counter at the last poll */
    uint64_t held_ms;         /* time since which the pattern matches; 0: it does not */
    size_t before;            /* occurrences of the end of the prompt on the screen before typing */
    unsigned keys;            /* number of submit keys pressed */
    bool was_ready, seen;     /* ready at the last poll; end of the prompt seen on the screen */
    bool meddled;             /* a user is typing */
};

MUST_USE bool prompt_delivery_begin(
    struct prompt_delivery *d, const struct box_agent *agent, struct str prompt, struct err *err);
void prompt_delivery_done(struct prompt_delivery *d);

void prompt_delivery_step(struct prompt_delivery *d, struct session *s, uint64_t now);

/* Deadline for the next step. */
uint64_t prompt_delivery_due(const struct prompt_delivery *d);

/* All rows of a screen as text, for matching patterns. */
void prompt_delivery_screen(const struct term *t, struct buf *out);

#endif
