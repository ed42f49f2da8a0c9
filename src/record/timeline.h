/* Positions in the transcript of a run: the observations of its screen, with their times and sizes.
 *
 *     AUTO(timeline_done) struct timeline t = TIMELINE_NONE;
 *     timeline_observe(&t, transcript.n, object, step);       a line of events.jsonl; leniently
 *     timeline_complete(&t, transcript.n, run, scenario);
 *
 *     if (!timeline_read_steps(run, transcript.n, &t, err))   or run.json; strictly
 *         return false;
 *
 * `cordon trace` shows as much as it can of a record, also after a killed run: numbers are forced
 * into range and order. `cordon replay` compares the screens of steps, so a wrong number is an
 * error. Both are fed to a terminal by record/refeed.h.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_TIMELINE_H
#define RECORD_TIMELINE_H

#include "base/err.h"
#include "base/json.h"

enum {
    TIMELINE_OBSERVATIONS_MAX = 200 * 1000,
    TIMELINE_STEPS_MAX = 100 * 1000,
    TIMELINE_TIMES_MAX = 8 * 1000 * 1000,
};

struct timeline_mark {
    size_t offset; /* transcript bytes that its screen shows */
    /* A resize before it, at an offset; rows 0: none. */
    struct {
        size_t offset;
        uint16_t rows, cols;
    } resize;
    /* Of observations: */
    uint16_t rows, cols;     /* of its screen; 0: unknown */
    uint64_t from_ms, at_ms; /* the new output was printed in between */
    /* Range of the timeline's times; one for each `every` bytes. */
    size_t every, first_time, n_times;
    json_t *error, *matched_by, *action; /* borrowed from "keep"; may be NULL */
    /* Of steps: */
    size_t step;       /* its index */
    struct str id;     /* borrowed from the RunResult; no value: the end */
    size_t from;       /* transcript bytes shown when its action was performed */
    uint64_t pause_ms; /* between the previous step and this one */
};

struct timeline {
    uint16_t rows, cols; /* initial size */
    unsigned scrollback; /* lines */
    bool plain;          /* ran without a terminal: line feeds end lines */
    bool driven;         /* by a driver's requests */
    struct timeline_mark *marks;
    size_t n, cap;
    uint64_t end_ms;
    uint64_t *times; /* in ms */
    size_t n_times, cap_times;
    json_t *keep; /* owns the values that marks borrow */
};

#define TIMELINE_NONE ((struct timeline){0})

void timeline_done(struct timeline *t);

/* Members of observations that the timeline keeps: the caller limits their size. Ends in NULL. */
extern const char *const timeline_kept[];

/* Adds an observation; at most TIMELINE_OBSERVATIONS_MAX. The step with the same index, or NULL,
 * has the values that older records don't have in observations. */
void timeline_observe(
    struct timeline *t, size_t transcript_bytes, const json_t *observation, const json_t *step);

/* Determines the initial size and adds a last mark at the end of the output. */
void timeline_complete(
    struct timeline *t, size_t transcript_bytes, const json_t *run, const json_t *scenario);

/* Reads the steps of a RunResult, which must outlive the timeline. E_PROTOCOL if it is invalid;
 * E_NOT_FOUND if it does not include all of the input. */
MUST_USE bool timeline_read_steps(
    const json_t *run, size_t transcript_bytes, struct timeline *ret_timeline, struct err *err);

/* Returns a number from an object, limited to 0..max; `otherwise` if it is missing. */
uint64_t timeline_number(const json_t *object, const char *key, uint64_t max, uint64_t otherwise);

#endif
