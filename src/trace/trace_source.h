/* Reads the record of a run: events with their times, and the output printed by then.
 *
 *     AUTO(trace_close) struct trace t = TRACE_NONE;
 *     if (!trace_open(dir, &t, err)) return false;
 *     t.timeline.marks[i].offset     bytes of the transcript at observation i
 *
 * The record is not trusted: sizes are limited, numbers are forced into range and order, and
 * nothing outside the directory is read. An unreadable transcript or events.jsonl is an error that
 * names the file: E_NOT_FOUND without a record, E_IO, E_PROTOCOL. Other damaged files, and replays
 * that exceed the limits for all of them together, are listed in `damaged`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_SOURCE_H
#define TRACE_TRACE_SOURCE_H

#include "record/record_files.h"
#include "record/timeline.h"

enum {
    TRACE_EVENTS_MAX = 20 * 1000,
    TRACE_REPLAYS_MAX = 16, /* the newest ones that differed */
    /* bytes, of all replays together */
    TRACE_REPLAYS_TRANSCRIPTS_MAX = RECORD_FILES_TRANSCRIPT_MAX,
};

struct trace_replay;

struct trace {
    struct record_files files; /* .run is NULL if the run was killed */
    struct timeline timeline;
    json_t *scenario;          /* may be NULL */
    json_t *events;            /* [{"t", "type", ...}] */
    json_t *replays;           /* those that differed: [{"name", "summary", "diff"}] */
    struct trace_replay *runs; /* the new runs of these replays */
    size_t n_runs, cap_runs;
    json_t *damaged; /* unreadable files and the reasons: texts */
    size_t events_dropped;
    size_t values;       /* JSON values kept, including those of replays */
    size_t replay_bytes; /* of the transcripts of replays */
};

struct trace_replay {
    struct trace run;
    size_t index; /* in the list of replays */
};

#define TRACE_NONE ((struct trace){.files = RECORD_FILES_NONE})

MUST_USE bool trace_open(const char *dir, struct trace *ret_trace, struct err *err);
void trace_close(struct trace *t);

/* Returns the steps of the run or of the scenario; a borrowed list, or NULL. */
const json_t *trace_steps(const struct trace *t);

bool trace_is_skipped(const json_t *step);

/* Whether an open file belongs to the record or is in one of its directories: it must not be
 * overwritten. */
bool trace_holds(const struct trace *t, int file);

#endif
