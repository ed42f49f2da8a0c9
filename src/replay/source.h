/* A recording: the artifacts directory of a run, read through its descriptor.
 *
 *     AUTO(source_close) struct source s = SOURCE_NONE;
 *     struct mismatch m = {0};
 *     if (!source_open("out", &s, err)) return false;
 *     if (!source_verify(&s, &needs, &m, err)) return false;
 *     if (!m.kind && !source_read(&s, &m, err)) return false;
 *
 * The recording is not trusted: symlinks are not followed, and every size is limited. A wrong
 * checksum or a missing file is a mismatch; invalid content is an error.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include "base/arena.h"
#include "record/reader.h"
#include "replay/mismatch.h"
#include "run/scenario.h"

enum {
    SOURCE_TRANSCRIPT_MAX = 1 << 30,
    SOURCE_FILES_MAX = 100 * 1000,
    SOURCE_NAME_MAX = 256,
    SOURCE_EVENTS_MAX = 1000 * 1000,
};

struct source {
    int dir;
    json_t *run; /* the RunResult */
    struct buf transcript, policy, scenario;
    bool has_scenario;
};

#define SOURCE_NONE ((struct source){.dir = -1})

struct source_needs {
    bool events, checksums;
};

/* E_NOT_FOUND if the directory does not exist or has no recording. */
MUST_USE bool source_open(const char *path, struct source *ret_source, struct err *err);
void source_close(struct source *s);

/* Checks every file against checksums.json, and that every file is listed there. */
MUST_USE bool source_verify(
    const struct source *s, const struct source_needs *needs, struct mismatch *m, struct err *err);

/* Reads everything except the snapshots. */
MUST_USE bool source_read(struct source *s, struct mismatch *m, struct err *err);

/* Reads a snapshot by its index, from 0. */
MUST_USE bool source_snapshot(const struct source *s, size_t index, json_t **ret_snapshot,
    struct mismatch *m, struct err *err);

/* All events in order, regardless of the observation that reported them. */
struct source_events {
    json_t *list;
    bool known;   /* events.jsonl exists */
    bool dropped; /* some events are not in it */
};
MUST_USE bool source_events(
    const struct source *s, struct source_events *ret_events, struct err *err);

/* Sets the expected texts of the scenario's goldens from the recording. One that the recording does
 * not have is missing: no other file is read. */
MUST_USE bool source_goldens(
    const struct source *s, const struct scenario *scenario, struct err *err);

/* Reads a JSON object from a file and checks its version. E_NOT_FOUND if there is no such file. */
MUST_USE bool source_json(
    int dir, const char *name, const char *version_key, json_t **ret_tree, struct err *err);

#endif
