/* What happened while bytes were fed, as a list of bounded length: equal events are one with a
 * count.
 *
 *     struct events *e = events_new();
 *     options.event = events_add;
 *     options.context = e;
 *     ...
 *     json_put(object, "events", events_json(e, t));
 *     events_free(e);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_EVENTS_H
#define TERM_EVENTS_H

#include "base/json.h"
#include "term/term.h"

enum {
    EVENTS_MAX = 1000,
    EVENTS_TEXT_MAX = 4096, /* bytes of a text that are kept */
};

struct events;

MUST_USE struct events *events_new(void);
void events_free(struct events *e);

/* For term_options.event. */
void events_add(void *context, const struct term_event *event);

/* "title", "unknown_sequence", ...; NULL for what is no event to the outside. And what it means, in
 * a few words. */
const char *event_name(enum term_event_type type);
const char *event_help(enum term_event_type type);

/* [{"type","text","count"}], in the order in which they first happened. The terminal knows how
 * often an unknown sequence came. */
MUST_USE json_t *events_json(struct events *e, const struct term *t);

/* How many were not kept, since the list was full. */
uint64_t events_dropped(const struct events *e);

#endif
