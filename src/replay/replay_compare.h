/* Compares a run with its recording. Each function returns false if the comparison is impossible;
 * otherwise it sets the mismatch if something differs.
 *
 *     if (!compare_screens(&n, &place, recorded, now, &m, err)) return false;
 *     if (m.kind) ...m.rows...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_REPLAY_COMPARE_H
#define REPLAY_REPLAY_COMPARE_H

#include "record/timeline.h"
#include "replay/mismatch.h"
#include "term/term.h"

/* Position in the run. */
struct compare_place {
    size_t index; /* of the snapshot */
    const struct timeline_mark *mark;
};

/* Returns the current screen of a terminal as a ScreenSnapshot, a new object. */
MUST_USE json_t *compare_screen_of(const struct term *t, bool cells);

/* Compares ScreenSnapshots: size, lines, cells if both have them, cursor, title. */
MUST_USE bool compare_screens(const struct normalization *n, const struct compare_place *place,
    const json_t *expected, const json_t *actual, struct mismatch *m, struct err *err);

/* Compares StepResults: status, error code and failed assertion. */
void compare_steps(size_t index, const json_t *expected, const json_t *actual, struct mismatch *m);

/* Compares RunResults: the status of the run and of its command. Whether the command was still
 * running after the last step depends on timing: it counts only if `exact`. */
void compare_ends(const json_t *expected, const json_t *actual, bool exact, struct mismatch *m);

MUST_USE bool compare_transcripts(const struct normalization *n, struct str expected,
    struct str actual, struct mismatch *m, struct err *err);

/* Compares RunResults: ids and times that no filter excludes. */
void compare_names(const struct normalization *n, const json_t *expected, const json_t *actual,
    struct mismatch *m);

#endif
