/* What can be done to a session: the only way to interact with it.
 *
 *     if (!action_read(json, "steps[2].action", &arena, &action, err)) return false;
 *     if (!action_send(&action, session, err)) return false;      all but wait and terminate
 *     action_done(&action);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ACTION_H
#define RUN_ACTION_H

#include "run/condition.h"
#include "term/keys.h"

enum action_type {
    ACTION_KEY,
    ACTION_TEXT,
    ACTION_RESIZE,
    ACTION_WAIT,
    ACTION_TERMINATE,
    ACTION_MOUSE,
};

struct action {
    enum action_type type;
    struct key key;
    struct str text;
    bool paste;
    uint16_t rows, cols;
    struct condition condition; /* of a wait */
    struct mouse mouse;
    bool mouse_click;   /* a press and a release */
    const json_t *json; /* as it was given; lives as long as its document */
};

MUST_USE bool action_read(const json_t *json, const char *place, struct arena *arena,
    struct action *ret_action, struct err *err);
void action_done(struct action *a);

const char *action_name(enum action_type type);
const char *action_button(enum mouse_button button);

/* Sends it, encoded for the modes that the command has set; gives the bytes that were sent. Does
 * nothing for those that send nothing. A mouse that the command did not ask for is E_PROTOCOL. */
MUST_USE bool action_send(
    const struct action *a, struct session *s, struct buf *ret_bytes, struct err *err);

/* The types with the JSON Schemas of their payloads, for documentation. */
MUST_USE json_t *action_schema(void);

/* As one JSON Schema. */
MUST_USE json_t *action_one_of(void);

#endif
