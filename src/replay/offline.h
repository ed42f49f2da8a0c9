/* Checks a recording against itself: feeds its transcript to the emulator again, without a
 * command. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_OFFLINE_H
#define REPLAY_OFFLINE_H

#include "replay/replay_compare.h"
#include "replay/replay_source.h"

/* Returns false if it can't be checked. Otherwise m tells whether the snapshots match the
 * transcript. */
MUST_USE bool offline_check(const struct record_files *files, const struct timeline *timeline,
    const struct normalization *n, struct mismatch *m, struct err *err);

/* For a snapshot whose checksum differs: adds the rows that differ, as far as they can be
 * determined. */
void offline_explain(struct replay_source *s, struct mismatch *m);

#endif
