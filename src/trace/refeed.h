/* The transcript once more, in order and with its times: pieces of output, changes of the size,
 * observations.
 *
 *     struct refeed r = {.output = feed, .resize = resize, .mark = mark, .context = &frames};
 *     refeed_run(&trace, &r);
 *
 * Records that do not tell when output came have it spread evenly between two observations.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_REFEED_H
#define TRACE_REFEED_H

#include "trace/source.h"

struct refeed {
    size_t piece; /* bytes of output at once, at most; 0: all up to the next change */
    /* Any may be NULL. */
    void (*output)(void *context, double at_ms, struct str bytes);
    void (*resize)(void *context, double at_ms, unsigned rows, unsigned cols);
    void (*mark)(void *context, size_t index);
    void *context;
};

void refeed_run(const struct trace *t, const struct refeed *r);

struct term;

/* A terminal as it was at the start of the run; onlcr where there was none. */
MUST_USE struct term *refeed_term(const struct trace *t);

/* Feeds it; answers go nowhere. */
void refeed_feed(struct term *term, struct str bytes);

/* The screen of the mark with this number. */
MUST_USE struct term *refeed_until(const struct trace *t, size_t mark);

#endif
