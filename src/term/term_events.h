/* Bounded list of terminal events; equal events are merged and counted.
 *
 *     struct events *e = events_new();
 *     options.event = events_add;
 *     options.context = e;
 *     ...
 *     json_put(object, "events", events_json(e, t));
 *     events_free(e);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_EVENTS_H
#define TERM_TERM_EVENTS_H

#include "base/json.h"
#include "term/term.h"

enum {
    EVENTS_MAX = 1000,
    EVENTS_TEXT_MAX = 4096, /* maximum bytes kept of a text */
};

struct events;

MUST_USE struct events *events_new(void);
void events_free(struct events *e);

/* Callback for term_options.event. */
void events_add(void *context, const struct term_event *event);

/* Public name of an event ("title", "unknown_sequence", ...), or NULL if the event is internal; and
 * a short description. */
const char *event_name(enum term_event_type type);
const char *event_help(enum term_event_type type);

/* [{"type","text","count"}], in order of first occurrence. The counts of unknown sequences and
 * unanswered queries come from the terminal. */
MUST_USE json_t *events_json(struct events *e, const struct term *t);

/* Number of events that were dropped because the list was full. */
uint64_t events_dropped(const struct events *e);

#endif
