/* Records a scenario from interactive use: each action, preceded by a wait for the screen that the
 * user saw.
 *
 *     recorder_init(&r);
 *     if (!recorder_take(&r, session, &typed, settled, err)) return false;     records and sends it
 *     recorder_end(&r, session, settled);
 *     json_t *steps = r.steps;
 *     recorder_done(&r);
 *
 * Input that the terminal does not echo (a password) is sent but not recorded: the scenario has a
 * placeholder instead.
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
    size_t actions, secrets, lost; /* lost: bytes that are not text */
    struct buf text;               /* characters typed so far for the open text action */
    bool open, secret;             /* a text action is being collected; its text is hidden */
    unsigned row;                  /* cursor row where it began */
    bool alternate;
    struct mouse pressed; /* the last action, if has_pressed */
    bool has_pressed;
    struct arena arenas[2];
    unsigned arena;         /* index of the one that holds `before` */
    struct snapshot before; /* screen before the last action; without rows at first */
};

void recorder_init(struct recorder *r);
void recorder_done(struct recorder *r);

/* Whether the input extends the open text action, so that the screen need not be examined. */
bool recorder_joins(const struct recorder *r, struct session *s, const struct typed *typed);

/* Sends and records the input. settled: the screen has stopped changing. */
MUST_USE bool recorder_take(struct recorder *r, struct session *s, const struct typed *typed,
    bool settled, struct err *err);
MUST_USE bool recorder_resize(struct recorder *r, struct session *s, uint16_t rows, uint16_t cols,
    bool settled, struct err *err);

/* Adds the last wait: for the command's exit or for the current screen. */
void recorder_end(struct recorder *r, struct session *s, bool settled);

/* Writes the document as readable YAML, one step after the other. */
void recorder_yaml(const json_t *scenario, struct buf *out);

#endif
