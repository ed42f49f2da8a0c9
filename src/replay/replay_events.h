/* Compares events other than screen changes: titles, bells, sequences, sizes.
 *
 *     if (!events_compare(&n, recorded, now, &m, err)) return false;
 *
 * The observation that reports an event depends on timing and is ignored; so are exit events and
 * budget warnings. The size changes on request, so its order relative to other events also depends
 * on timing: resizes are compared separately.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_REPLAY_EVENTS_H
#define REPLAY_REPLAY_EVENTS_H

#include "record/timeline.h"
#include "replay/mismatch.h"

/* Compares lists of events, in order. */
MUST_USE bool events_compare(const struct normalization *n, const json_t *expected,
    const json_t *actual, struct mismatch *m, struct err *err);

/* Returns the terminal events caused by a transcript up to the last mark, as a new list; NULL if
 * there are more than are kept. */
MUST_USE json_t *events_of(const struct timeline *timeline, struct str transcript);

/* Returns a new list without the events that a transcript can't cause. */
MUST_USE json_t *events_of_terminal(const json_t *list);

#endif
