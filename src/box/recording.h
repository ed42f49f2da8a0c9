/* The recording of a run of a box: host/runs/<n>/, artifacts as `cordon trace` reads them.
 *
 *     if (!recording_open(&r, &input, err)) return false;
 *     options.output = recording_output; options.event = recording_event; options.context = &r;
 *     recording_look(&r, now);               from time to time: what was printed when
 *     recording_end(&r, &end);
 *
 * The agent's keys are taken out of it. It has a limit, at which it ends while the box goes on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_RECORDING_H
#define BOX_RECORDING_H

#include "box/box.h"
#include "box/view.h"
#include "llm/mask.h"
#include "run/observe.h"

enum {
    RECORDING_BYTES_MAX = 200 << 20,
    RECORDING_LOOKS_MAX = 50 * 1000,
    RECORDING_QUIET_MS = 500, /* then what was printed is one look */
    RECORDING_LOOK_MS = 5000, /* or after so long */
    RECORDING_MISS_MAX = 10000,
};

struct recording {
    struct artifacts artifacts;
    struct observer observer;
    struct mask mask;
    struct buf held;      /* the start of a key, perhaps */
    struct term *shown;   /* what is on the screen without keys; NULL: the session's own will do */
    struct session *from; /* the session, once there is one */
    uint64_t number, looked_ms, printed_ms, looked_bytes;
    size_t looks;
    uint16_t rows, cols;
    bool open, full, rang;
};

struct recording_input {
    const struct box *box;
    const char *const *environ; /* where the agent's keys are */
    uint64_t after;             /* the number of the last one */
    uint16_t rows, cols;
};

MUST_USE bool recording_open(
    struct recording *r, const struct recording_input *input, struct err *err);

/* For session_options. */
void recording_output(void *context, struct str bytes);
void recording_event(void *context, const struct session_event *event);

/* When the next look is due; UINT64_MAX: nothing is new. */
uint64_t recording_due(const struct recording *r);
void recording_look(struct recording *r, uint64_t now);

struct recording_end {
    const struct box_view *view;
    const char *const *argv;
    const struct session_exit *exit;
    const struct err *error; /* no code: none */
    uint64_t started_ms;
    bool stopped; /* by somebody */
};

/* Writes run.json and the rest. What fails is lost: the run was not about its record. */
void recording_end(struct recording *r, const struct recording_end *end);
/* There was nothing to record: the box was not started. */
void recording_abandon(struct recording *r, int host_fd);

#endif
