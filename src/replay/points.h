/* The moments of a run at which its screen was recorded, as places in its transcript; and the
 * screens that a transcript shows there.
 *
 *     struct points points;
 *     if (!points_read(run, transcript.n, &arena, &points, err)) return false;
 *     refeed_init(&r, &points, transcript);
 *     json_t *screen = refeed_screen(&r, 2, false);
 *     refeed_done(&r);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_POINTS_H
#define REPLAY_POINTS_H

#include "base/arena.h"
#include "base/json.h"
#include "term/term.h"

struct point {
    size_t step;         /* index of the step */
    struct str id;       /* of the step; no value: the end */
    uint64_t offset;     /* bytes of the transcript that its screen shows */
    uint64_t from;       /* that were shown when its action came */
    uint64_t pause_ms;   /* between the step before and this one */
    uint16_t rows, cols; /* the size that the terminal gets then; 0: it stays */
};

struct points {
    uint16_t rows, cols; /* at the start */
    unsigned scrollback;
    bool screen; /* otherwise it ran on pipes, and there are none */
    bool driven; /* by a driver's requests */
    struct point *p;
    size_t n;
};

/* From a RunResult. E_PROTOCOL if it is not what a run writes; E_NOT_FOUND if it does not tell all
 * that was done. */
MUST_USE bool points_read(const json_t *run, size_t transcript_bytes, struct arena *arena,
    struct points *ret_points, struct err *err);

struct refeed {
    const struct points *points;
    struct str bytes;
    struct term *term;
    uint64_t at; /* bytes that are fed */
    size_t next; /* the first point that was not come to */
    /* Given before refeed_init(); may be NULL. */
    void (*event)(void *context, const struct term_event *event);
    void *context;
};

void refeed_init(struct refeed *r, const struct points *points, struct str transcript);
void refeed_done(struct refeed *r);

/* Feeds up to a point, which must not be before the last one. */
void refeed_go(struct refeed *r, size_t point);

/* The ScreenSnapshot at a point, which must not be before the last one asked for. A new object. */
MUST_USE json_t *refeed_screen(struct refeed *r, size_t point, bool cells);

/* The terminal's screen as it is now, as a new object. */
MUST_USE json_t *points_screen(const struct term *t, bool cells);

#endif
