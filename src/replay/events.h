/* What happened besides the screen, compared: titles, bells, sequences, sizes.
 *
 *     if (!events_compare(&n, recorded, now, &m, err)) return false;
 *
 * Which observation tells of an event is a matter of time, and does not count; nor does when the
 * command ended, or came near a budget. Sizes change when they are told to, so their order among
 * the others is a matter of time, too.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_EVENTS_H
#define REPLAY_EVENTS_H

#include "replay/mismatch.h"
#include "replay/points.h"

/* Lists of events, in order. */
MUST_USE bool events_compare(const struct normalization *n, const json_t *expected,
    const json_t *actual, struct mismatch *m, struct err *err);

/* The terminal's events only: what a transcript makes happen up to the last point. A new list;
 * NULL: there are more than are kept. */
MUST_USE json_t *events_of(const struct points *points, struct str transcript);

/* The list without those that no transcript makes happen; a new one. */
MUST_USE json_t *events_of_terminal(const json_t *list);

#endif
