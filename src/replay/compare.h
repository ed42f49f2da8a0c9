/* Comparing a run with its recording. Each function gives false if it can't be done, and otherwise
 * sets the mismatch if something differs.
 *
 *     if (!compare_screens(&n, &place, recorded, now, &m, err)) return false;
 *     if (m.kind) ...m.rows...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_COMPARE_H
#define REPLAY_COMPARE_H

#include "replay/mismatch.h"
#include "replay/points.h"

/* Where in the run. */
struct compare_place {
    size_t index; /* of the snapshot */
    const struct point *point;
};

/* ScreenSnapshots: size, lines, cells where both have them, cursor, title. */
MUST_USE bool compare_screens(const struct normalization *n, const struct compare_place *place,
    const json_t *expected, const json_t *actual, struct mismatch *m, struct err *err);

/* StepResults: how they ended, and which assertions held. */
void compare_steps(size_t index, const json_t *expected, const json_t *actual, struct mismatch *m);

/* RunResults: how the run and its command ended. Whether a command was still there to be ended
 * after the last step is a matter of time: it counts if `exact`. */
void compare_ends(const json_t *expected, const json_t *actual, bool exact, struct mismatch *m);

MUST_USE bool compare_transcripts(const struct normalization *n, struct str expected,
    struct str actual, struct mismatch *m, struct err *err);

/* RunResults: ids and times, as far as no filter takes them out. */
void compare_names(const struct normalization *n, const json_t *expected, const json_t *actual,
    struct mismatch *m);

#endif
