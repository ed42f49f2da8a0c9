/* Plays a transcript in order, with its times: pieces of output, resizes and observations.
 *
 *     struct refeed r = {.output = feed, .resize = resize, .mark = mark, .context = &frames};
 *     refeed_run(&trace, &r);
 *
 * If a record has no times for its output, it is spread evenly between two observations.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_REFEED_H
#define TRACE_REFEED_H

#include "trace/source.h"

struct refeed {
    size_t piece; /* maximum size of a piece of output; 0: all up to the next change */
    /* Any may be NULL. */
    void (*output)(void *context, double at_ms, struct str bytes);
    void (*resize)(void *context, double at_ms, unsigned rows, unsigned cols);
    void (*mark)(void *context, size_t index);
    void *context;
};

void refeed_run(const struct trace *t, const struct refeed *r);

struct term;

/* Returns a terminal in the state at the start of the run; with onlcr if the run had no
 * terminal. */
MUST_USE struct term *refeed_term(const struct trace *t);

/* Feeds output; replies are discarded. */
void refeed_feed(struct term *term, struct str bytes);

/* Returns a terminal that shows the screen at a mark. */
MUST_USE struct term *refeed_until(const struct trace *t, size_t mark);

#endif
