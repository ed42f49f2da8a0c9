/* The result of a replay: the first difference from the recording, if any.
 *
 *     struct mismatch m = {0};
 *     return mismatch_set(&m, "snapshot", 3, "...");      m.error, m.rows
 *     mismatch_done(&m);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_MISMATCH_H
#define REPLAY_MISMATCH_H

#include "base/json.h"
#include "record/normalize.h"

enum {
    MISMATCH_NO_INDEX = -1,
    MISMATCH_ROWS_MAX = 1000, /* listed at most */
    MISMATCH_CELLS_MAX = 100, /* per row */
    REPLAY_VERSION = 1,
};

struct mismatch {
    char *kind;       /* NULL: nothing differs */
    int64_t index;    /* of the step or snapshot, or MISMATCH_NO_INDEX */
    struct err error; /* E_REPLAY_MISMATCH */
    json_t *rows;     /* [{"row","expected","actual"}], or NULL */
};

void mismatch_done(struct mismatch *m);

/* Replaces the contents and returns false, like err_set(). */
bool mismatch_set(struct mismatch *m, const char *kind, int64_t index, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Sets it to a missing file of the recording; returns false. */
bool mismatch_missing(struct mismatch *m, const char *name);

/* Returns a new ReplayDiff; null if nothing differs. */
MUST_USE json_t *mismatch_json(const struct mismatch *m);

/* Return a new ReplaySummary, and its JSON Schema. The normalization is NULL if the replay failed
 * before it was read. */
MUST_USE json_t *mismatch_summary(const struct mismatch *m, const struct normalization *n);
MUST_USE json_t *mismatch_summary_schema(void);

#endif
