/* A recording to be compared: record/record_files.h and the files that only a replay reads.
 *
 *     AUTO(replay_source_close) struct replay_source s = REPLAY_SOURCE_NONE;
 *     struct mismatch m = {0};
 *     if (!replay_source_open("out", &s, err)) return false;
 *     if (!checksums_verify(s.files.dir, &needs, &m, err)) return false;
 *     if (!m.kind && !replay_source_read(&s, &m, err)) return false;
 *
 * The recording is not trusted: symlinks are not followed, and every size is limited. A missing
 * file is a mismatch; invalid content is an error.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_REPLAY_SOURCE_H
#define REPLAY_REPLAY_SOURCE_H

#include "record/record_files.h"
#include "replay/mismatch.h"
#include "run/scenario.h"

struct replay_source {
    struct record_files files;
    struct buf policy, scenario;
    bool has_scenario;
};

#define REPLAY_SOURCE_NONE ((struct replay_source){.files = RECORD_FILES_NONE})

/* E_NOT_FOUND if the directory does not exist or has no recording. */
MUST_USE bool replay_source_open(
    const char *path, struct replay_source *ret_source, struct err *err);
void replay_source_close(struct replay_source *s);

/* Reads everything except the snapshots. */
MUST_USE bool replay_source_read(struct replay_source *s, struct mismatch *m, struct err *err);

/* Reads a snapshot by its index, from 0. */
MUST_USE bool source_snapshot(
    int dir, size_t index, json_t **ret_snapshot, struct mismatch *m, struct err *err);

/* All events in order, regardless of the observation that reported them. */
struct source_events {
    json_t *list;
    bool known;   /* events.jsonl exists */
    bool dropped; /* some events are not in it */
    size_t values;
};
/* E_IO if they have more than RECORD_VALUES_MAX values. */
MUST_USE bool source_events(int dir, struct source_events *ret_events, struct err *err);

/* Sets the expected texts of the scenario's goldens from the recording. One that the recording does
 * not have is missing: no other file is read. */
MUST_USE bool source_goldens(int dir, const struct scenario *scenario, struct err *err);

#endif
