/* Reads the record of a run: events with their times, and the output printed by then.
 *
 *     AUTO(trace_close) struct trace t = TRACE_NONE;
 *     if (!trace_open(dir, &t, err)) return false;
 *     t.marks[i].offset              bytes of the transcript at observation i
 *
 * The record is not trusted: sizes are limited, numbers are forced into range and order, and
 * nothing outside the directory is read. An unreadable transcript or events.jsonl is an error that
 * names the file: E_NOT_FOUND without a record, E_IO, E_PROTOCOL. Other damaged files are listed in
 * `damaged`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include "base/json.h"

enum {
    TRACE_MARKS_MAX = 200 * 1000,
    TRACE_EVENTS_MAX = 20 * 1000,
    TRACE_REPLAYS_MAX = 16, /* the newest ones that differed */
    TRACE_TIMES_MAX = 8 * 1000 * 1000,
    TRACE_TRANSCRIPT_MAX = 256 << 20,
};

/* A change of the terminal's size at an offset. */
struct trace_resize {
    size_t offset;
    unsigned rows, cols;
};

/* An observation. */
struct trace_mark {
    size_t offset;            /* bytes printed by then */
    uint64_t from_ms, at_ms;  /* the new output was printed in between */
    struct trace_resize size; /* a resize before it; rows 0: none */
    unsigned rows, cols;      /* of its screen; 0: unknown */
    /* Range of the trace's times; one for each `every` bytes. */
    size_t every, first_time, n_times;
    json_t *error, *matched_by, *action; /* borrowed from "keep"; may be NULL */
};

struct trace_replay;

struct trace {
    int dir;
    json_t *run;               /* the RunResult; NULL if the run was killed */
    json_t *scenario;          /* may be NULL */
    json_t *events;            /* [{"t", "type", ...}] */
    json_t *replays;           /* those that differed: [{"name", "summary", "diff"}] */
    struct trace_replay *runs; /* the new runs of these replays */
    size_t n_runs;
    json_t *keep;    /* owns the values that marks borrow */
    json_t *damaged; /* unreadable files and the reasons: texts */
    size_t events_dropped;
    struct buf transcript;
    struct trace_mark *marks;
    size_t n_marks, cap_marks;
    unsigned rows, cols; /* initial size */
    bool plain;          /* ran without a terminal: line feeds end lines */
    uint64_t end_ms;
    uint64_t *times; /* in ms */
    size_t n_times;
};

struct trace_replay {
    struct trace run;
    size_t index; /* in the list of replays */
};

#define TRACE_NONE ((struct trace){.dir = -1, .transcript = BUF_INIT(TRACE_TRANSCRIPT_MAX + 2)})

MUST_USE bool trace_open(const char *dir, struct trace *ret_trace, struct err *err);
void trace_close(struct trace *t);

/* Returns the steps of the run or of the scenario; a borrowed list, or NULL. */
const json_t *trace_steps(const struct trace *t);

bool trace_is_skipped(const json_t *step);

/* Whether an open file belongs to the record or is in one of its directories: it must not be
 * overwritten. */
bool trace_holds(const struct trace *t, int file);

/* Returns a number from an object, limited to 0..max; `otherwise` if it is missing. */
uint64_t trace_number(const json_t *object, const char *key, uint64_t max, uint64_t otherwise);

#endif
