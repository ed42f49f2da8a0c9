/* A recording against itself: its transcript is fed to the emulator again, with no command. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_OFFLINE_H
#define REPLAY_OFFLINE_H

#include "replay/compare.h"
#include "replay/source.h"

/* False if it can't be done; otherwise m says whether its snapshots are what the transcript shows.
 */
MUST_USE bool offline_check(const struct source *s, const struct points *points,
    const struct normalization *n, struct mismatch *m, struct err *err);

/* For a snapshot whose checksum differs: adds the rows that do, as far as that can be found out. */
void offline_explain(struct source *s, struct mismatch *m);

#endif
