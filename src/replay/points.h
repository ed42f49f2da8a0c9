/* Points of a run at which its screen was recorded, as offsets in its transcript; and the screens
 * that a transcript shows there.
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
    uint64_t offset;     /* transcript bytes that its screen shows */
    uint64_t from;       /* transcript bytes shown when its action was performed */
    uint64_t pause_ms;   /* between the previous step and this one */
    uint16_t rows, cols; /* new terminal size; 0: unchanged */
};

struct points {
    uint16_t rows, cols; /* initial size */
    unsigned scrollback;
    bool screen; /* false: it ran on pipes, without any points */
    bool driven; /* by a driver's requests */
    struct point *p;
    size_t n;
};

/* Reads a RunResult. E_PROTOCOL if it is invalid; E_NOT_FOUND if it does not include all of the
 * input. */
MUST_USE bool points_read(const json_t *run, size_t transcript_bytes, struct arena *arena,
    struct points *ret_points, struct err *err);

struct refeed {
    const struct points *points;
    struct str bytes;
    struct term *term;
    uint64_t at; /* bytes fed so far */
    size_t next; /* index of the next point */
    /* Set before refeed_init(); may be NULL. */
    void (*event)(void *context, const struct term_event *event);
    void *context;
};

void refeed_init(struct refeed *r, const struct points *points, struct str transcript);
void refeed_done(struct refeed *r);

/* Feeds up to a point, which must not be before the last one. */
void refeed_go(struct refeed *r, size_t point);

/* Returns the ScreenSnapshot at a point, which must not be before the last one. A new object. */
MUST_USE json_t *refeed_screen(struct refeed *r, size_t point, bool cells);

/* Returns the terminal's current screen as a new object. */
MUST_USE json_t *points_screen(const struct term *t, bool cells);

#endif
