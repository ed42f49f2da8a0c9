/* A recording: the artifacts directory of a run, read through its descriptor.
 *
 *     AUTO(source_close) struct source s = SOURCE_NONE;
 *     struct mismatch m = {0};
 *     if (!source_open("out", &s, err)) return false;
 *     if (!source_verify(&s, &needs, &m, err)) return false;
 *     if (!m.kind && !source_read(&s, &m, err)) return false;
 *
 * Whoever wrote it is not trusted: no link is followed, every size has a limit. What differs from
 * its checksum or is missing is a mismatch; what can't be understood is an error.
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

/* E_NOT_FOUND if there is no such directory, or no recording in it. */
MUST_USE bool source_open(const char *path, struct source *ret_source, struct err *err);
void source_close(struct source *s);

/* Every file against checksums.json, and that against the files. */
MUST_USE bool source_verify(
    const struct source *s, const struct source_needs *needs, struct mismatch *m, struct err *err);

/* Everything but the snapshots. */
MUST_USE bool source_read(struct source *s, struct mismatch *m, struct err *err);

/* A snapshot by its index, from 0. */
MUST_USE bool source_snapshot(const struct source *s, size_t index, json_t **ret_snapshot,
    struct mismatch *m, struct err *err);

/* Everything that happened, in order, whenever it was observed. */
struct source_events {
    json_t *list;
    bool known;   /* there is an events.jsonl */
    bool dropped; /* and it does not tell of all */
};
MUST_USE bool source_events(
    const struct source *s, struct source_events *ret_events, struct err *err);

/* What the scenario's goldens were compared with. One that is not in the recording is missing: it
 * is not looked for anywhere else. */
MUST_USE bool source_goldens(
    const struct source *s, const struct scenario *scenario, struct err *err);

/* A JSON object in a file, whose version is right. E_NOT_FOUND: there is none. */
MUST_USE bool source_json(
    int dir, const char *name, const char *version_key, json_t **ret_tree, struct err *err);

#endif
