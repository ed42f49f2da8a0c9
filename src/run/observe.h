/* Observations: what the screen shows, what was printed and what happened since the one before.
 *
 *     struct observer o = OBSERVER_INIT;
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
#include "session/session.h"

enum {
    OBSERVER_TEXT_MAX = 256 * 1024, /* bytes of output that an observation holds: the last ones */
    OBSERVER_EVENTS_MAX = 1000,     /* of one observation; more are counted */
};

enum observer_screen {
    OBSERVER_FULL,
    OBSERVER_CELLS,
    OBSERVER_DELTA, /* only the rows that have changed since the last one */
};

struct observer {
    char run_id[ID_SIZE], session_id[ID_SIZE];
    uint64_t started_ms;
    struct buf text; /* since the last observation */
    uint64_t bytes;  /* of output, from the start: those that the screen shows */
    bool cut;
    uint64_t snapshot_max; /* bytes of a screen's JSON; UINT64_MAX: any */
    bool too_large;        /* a screen had more: it was left out */
    bool ended;            /* no output follows: what is cut off stays so */
    json_t *events;
    size_t dropped;
    uint64_t *rows; /* hashes of the last delta's rows */
    unsigned n_rows;
    struct artifacts *artifacts;                   /* may be NULL: gets the transcript */
    struct timing timing;                          /* of the output, for it */
    uint64_t recorded;                             /* bytes that its last observation tells of */
    void (*also)(void *context, struct str bytes); /* may be NULL: sees the output, too */
    void *context;
};

/* The run has an id, or gets a new one (NULL). */
void observer_init(struct observer *o, const char *run_id);
void observer_done(struct observer *o);

/* A session that it observes, under the verdict's budgets. */
struct observer_job {
    const struct verdict *verdict;
    const struct plan *plan;
    const char *const *argv, *const *envp;
    uint16_t rows, cols;
    int cancel;
};
MUST_USE bool observer_open(struct observer *o, const struct observer_job *job,
    struct session **ret_session, struct err *err);

/* For session_options. */
void observer_output(void *context, struct str bytes);
void observer_event(void *context, const struct session_event *event);

/* What types of events there are: [{"type", "help"}]; and what an observation has: [{"name",
 * "help"}]
 */
MUST_USE json_t *observer_event_types(void);
MUST_USE json_t *observer_fields(void);

/* A terminal's event, for a terminal without a session. */
void observer_term_event(void *context, const struct term_event *event);

/* After observer_take(): false with E_TIMEOUT if the screen was over its budget. */
MUST_USE bool observer_fits(const struct observer *o, struct err *err);

/* The ScreenSnapshot as it is now; a new object. */
MUST_USE json_t *observer_screen(const struct term *t);

/* Puts an observation into the record, if there is one: with the times of its output, and the
 * action that it answers (may be NULL), which are not in the answer. */
void observer_record(struct observer *o, json_t *observation, const json_t *action);

/* A new object, and a new beginning: but for the start of a character whose rest has not come yet,
 * which is left for the next one. The ScreenSnapshot is in "screen", which is null without a
 * terminal. */
MUST_USE json_t *observer_take(struct observer *o, const struct term *t, enum observer_screen how);

#endif
