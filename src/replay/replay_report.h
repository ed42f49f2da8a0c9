/* The result of a replay on disk: replay-<run_id>/ below the artifacts directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_REPLAY_REPORT_H
#define REPLAY_REPLAY_REPORT_H

#include "base/id.h"
#include "base/json.h"
#include "record/artifacts.h"

enum {
    REPORT_NAME = sizeof("replay-") + ID_SIZE,
};

struct report {
    char name[REPORT_NAME]; /* of the directory */
    json_t *replay;         /* the ReplaySummary */
    json_t *diff;           /* the ReplayDiff, or null */
};

void report_done(struct report *r);

/* Writes replay.json, and diff.json if something differs: to the new run's files, which are settled
 * and then sealed, or to a new directory without one. */
MUST_USE bool report_write(int dir, struct artifacts *run, const struct report *r, struct err *err);

/* Returns the newest report. E_NOT_FOUND if there isn't one. */
MUST_USE bool report_latest(int dir, struct report *ret_report, struct err *err);

#endif
