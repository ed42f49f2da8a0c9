/* A scenario from what somebody does: each action with a wait before it, for what was on the
 * screen when it was done.
 *
 *     recorder_init(&r);
 *     if (!recorder_take(&r, session, &typed, settled, err)) return false;     records and sends it
 *     recorder_end(&r, session, settled);
 *     json_t *steps = r.steps;
 *     recorder_done(&r);
 *
 * What is typed while the terminal does not show it (a password) is sent, and not recorded: a
 * placeholder stands for it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RECORDER_H
#define RUN_RECORDER_H

#include "run/scenario.h"
#include "term/snapshot.h"
#include "term/typed.h"

#define RECORDER_SECRET "SECRET"

enum {
    RECORDER_ACTIONS_MAX = SCENARIO_STEPS_MAX / 2 - 1,
};

struct recorder {
    json_t *steps;
    size_t actions, secrets, lost; /* lost: bytes that are no text */
    struct buf text;               /* of characters that are one action so far */
    bool open, secret;             /* there is such an action; it is not to be seen */
    unsigned row;                  /* where it began */
    bool alternate;
    struct mouse pressed; /* the last action was a press of this button */
    bool has_pressed;
    struct arena arenas[2];
    unsigned arena;         /* which of them holds `before` */
    struct snapshot before; /* the screen before the last action; no rows: there was none */
};

void recorder_init(struct recorder *r);
void recorder_done(struct recorder *r);

/* Whether this goes on with the text before it, and needs no look at the screen. */
bool recorder_joins(const struct recorder *r, struct session *s, const struct typed *typed);

/* Sends and records it. settled: the screen has come to rest. */
MUST_USE bool recorder_take(struct recorder *r, struct session *s, const struct typed *typed,
    bool settled, struct err *err);
MUST_USE bool recorder_resize(struct recorder *r, struct session *s, uint16_t rows, uint16_t cols,
    bool settled, struct err *err);

/* The last wait: for the command's end, or for what the screen shows. */
void recorder_end(struct recorder *r, struct session *s, bool settled);

/* How the document is written for people: YAML, one step after the other. */
void recorder_yaml(const json_t *scenario, struct buf *out);

#endif
