/* Plays a transcript in order: pieces of output with their times, resizes and marks; to callbacks
 * or to a terminal.
 *
 *     struct refeed r = {.timeline = &timeline, .bytes = buf_str(&transcript), .term = term};
 *     refeed_to(&r, 2);                                  up to mark 2; then look at the terminal
 *
 *     refeed_run(&(struct refeed){..., .output = feed, .resize = resize, .context = &frames});
 *
 * If a record has no times for its output, it is spread evenly between two observations.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_REFEED_H
#define RECORD_REFEED_H

#include "record/timeline.h"
#include "term/term.h"

struct refeed {
    const struct timeline *timeline;
    struct str bytes;  /* the transcript, or another one of any length at the same offsets */
    struct term *term; /* gets the output, and sizes without a callback */
    size_t piece;      /* maximum size of a piece of output; 0: all up to the next change */
    /* Any may be NULL. */
    void (*output)(void *context, double at_ms, struct str bytes);
    void (*resize)(void *context, double at_ms, unsigned rows, unsigned cols);
    void (*mark)(void *context, size_t index);
    void *context;
    /* Private; 0 at first: */
    size_t next;  /* index of the next mark */
    size_t at;    /* offset in the transcript */
    size_t early; /* bytes before this offset arrived together with those after it */
    unsigned rows, cols;
    uint64_t cells; /* sum over all its resizes */
};

/* Plays up to a mark, from the last one; nothing if it was played. */
void refeed_to(struct refeed *r, size_t mark);

/* Plays up to the last mark. */
void refeed_run(struct refeed *r);

/* Returns a terminal in the state at the start of the run; with onlcr if the run had no terminal.
 * The callback for its events may be NULL. */
MUST_USE struct term *refeed_term(const struct timeline *t,
    void (*event)(void *context, const struct term_event *event), void *context);

/* Feeds output; replies are discarded. */
void refeed_feed(struct term *term, struct str bytes);

#endif
