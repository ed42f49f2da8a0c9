/* Observations: the screen, and the output and events since the previous observation.
 *
 *     observer_init(&o, NULL);
 *     options.output = observer_output; options.event = observer_event; options.context = &o;
 *     json_t *observation = observer_take(&o, session_term(session), OBSERVER_FULL);
 *     observer_done(&o);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_OBSERVE_H
#define RUN_OBSERVE_H

#include "base/id.h"
#include "base/json.h"
#include "record/artifacts.h"
#include "record/timing.h"
#include "session/confined.h"
#include "session/session.h"

enum {
    OBSERVER_TEXT_MAX = 256 * 1024, /* bytes of output in an observation: the last ones */
    OBSERVER_EVENTS_MAX = 1000,     /* in one observation; more are counted */
};

enum observer_screen {
    OBSERVER_FULL,
    OBSERVER_CELLS,
    OBSERVER_DELTA, /* only the rows that have changed since the last observation */
};

struct observer {
    char run_id[ID_SIZE], session_id[ID_SIZE];
    uint64_t started_ms;
    struct buf text; /* since the last observation */
    uint64_t bytes;  /* total bytes of output, all of them shown on the screen */
    bool cut;
    uint64_t snapshot_max; /* limit for a screen's JSON; UINT64_MAX: none */
    bool too_large;        /* a screen was over the limit and was left out */
    bool ended;            /* no more output: flush a truncated character */
    json_t *events;
    size_t dropped;
    uint64_t *rows; /* row hashes of the last observation */
    unsigned n_rows;
    struct artifacts *artifacts;                   /* receives the transcript; may be NULL */
    struct timing timing;                          /* times of the output, for the record */
    uint64_t recorded;                             /* `bytes` at its last observation */
    void (*also)(void *context, struct str bytes); /* also receives the output; may be NULL */
    void *context;
};

/* Uses the given run id, or a new one if it is NULL. */
void observer_init(struct observer *o, const char *run_id);
void observer_done(struct observer *o);

/* Opens a session to observe, under its policy's budgets. */
struct observer_options {
    const struct confined *confined;
    uint16_t rows, cols;
    int cancel;
};
MUST_USE bool observer_open(struct observer *o, const struct observer_options *options,
    struct session **ret_session, struct err *err);

/* Callbacks for session_options. */
void observer_output(void *context, struct str bytes);
void observer_event(void *context, const struct session_event *event);

/* Return the event types [{"type", "help"}] and the fields of an observation [{"name", "help"}]. */
MUST_USE json_t *observer_event_types(void);
MUST_USE json_t *observer_fields(void);

/* Handles an event of a terminal without a session. */
void observer_term_event(void *context, const struct term_event *event);

/* Returns false with E_TIMEOUT if a screen in observer_take() was over its budget. */
MUST_USE bool observer_fits(const struct observer *o, struct err *err);

/* Returns the current ScreenSnapshot, a new object. */
MUST_USE json_t *observer_screen(const struct term *t);

/* Adds an observation to the record, if there is one, together with the times of its output and the
 * action it answers (may be NULL); these are not part of the answer. */
void observer_record(struct observer *o, json_t *observation, const json_t *action);

/* Returns a new object and starts the next observation. An incomplete character at the end of the
 * output is left for the next one. "screen" has the ScreenSnapshot, or null without a terminal. */
MUST_USE json_t *observer_take(struct observer *o, const struct term *t, enum observer_screen how);

#endif
