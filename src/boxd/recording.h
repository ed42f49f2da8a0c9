/* Recording of a box's run: host/runs/<n>/, artifacts as `cordon trace` reads them.
 *
 *     if (!recording_open(&r, &input, err)) return false;
 *     options.output = recording_output; options.event = recording_event; options.context = &r;
 *     recording_look(&r, now);               periodically: records the screen
 *     recording_end(&r, &end);
 *
 * The agent's keys are masked. The size is limited: when the limit is reached, the recording stops,
 * but the box continues.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_RECORDING_H
#define BOXD_RECORDING_H

#include "base/mask.h"
#include "box/box.h"
#include "box/view.h"
#include "run/observe.h"

enum {
    RECORDING_BYTES_MAX = 200 << 20,
    RECORDING_LOOKS_MAX = 50 * 1000,
    RECORDING_QUIET_MS = 500, /* observe the screen after this time without output */
    RECORDING_LOOK_MS = 5000, /* or at the latest after this time */
    RECORDING_MISS_MAX = 10000,
};

struct recording {
    struct artifacts artifacts;
    struct observer observer;
    struct mask mask;
    struct buf held;      /* possibly the start of a key */
    struct term *shown;   /* the screen with keys masked; NULL: use the session's own */
    struct session *from; /* the session, once it exists */
    uint64_t number, looked_ms, printed_ms, looked_bytes;
    size_t looks;
    uint16_t rows, cols;
    bool open, full, rang;
};

struct recording_input {
    const struct box *box;
    const char *const *environ; /* holds the agent's keys */
    uint64_t after;             /* number of the previous recording */
    uint16_t rows, cols;
};

MUST_USE bool recording_open(
    struct recording *r, const struct recording_input *input, struct err *err);

/* Callbacks for session_options. */
void recording_output(void *context, struct str bytes);
void recording_event(void *context, const struct session_event *event);

/* Time of the next observation; UINT64_MAX: nothing is new. */
uint64_t recording_due(const struct recording *r);
void recording_look(struct recording *r, uint64_t now);

struct recording_end {
    const struct box_view *view;
    const char *const *argv;
    const struct session_exit *exit;
    const struct err *error; /* code 0: no error */
    uint64_t started_ms;
    bool stopped; /* by a stop request */
};

/* Writes run.json and the rest. Errors are ignored: they must not affect the run. */
void recording_end(struct recording *r, const struct recording_end *end);
/* Removes the recording if the box could not be started. */
void recording_abandon(struct recording *r, int host_fd);

#endif
