/* Actions: the only way to interact with a session.
 *
 *     if (!action_read(json, "steps[2].action", &arena, &action, err)) return false;
 *     if (!action_send(&action, session, &bytes, err)) return false;   all but wait and terminate
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
    struct condition condition; /* for ACTION_WAIT */
    struct mouse mouse;
    bool mouse_click;   /* a press and a release */
    const json_t *json; /* as given; lives as long as its document */
};

MUST_USE bool action_read(const json_t *json, const char *place, struct arena *arena,
    struct action *ret_action, struct err *err);
void action_done(struct action *a);

const char *action_name(enum action_type type);
const char *action_button(enum mouse_button button);

/* Appends the bytes of a key, text or mouse action for the modes of the terminal; nothing for
 * others. Mouse events that the program did not enable are E_PROTOCOL. */
MUST_USE bool action_encode(
    const struct action *a, const struct term *t, struct buf *bytes, struct err *err);

/* Encodes the action, sends it and returns the bytes that were sent. Does nothing for wait and
 * terminate. */
MUST_USE bool action_send(
    const struct action *a, struct session *s, struct buf *ret_bytes, struct err *err);

/* Returns the types with the JSON Schemas of their payloads, for documentation. */
MUST_USE json_t *action_schema(void);

/* Returns them as one JSON Schema. */
MUST_USE json_t *action_one_of(void);

#endif
