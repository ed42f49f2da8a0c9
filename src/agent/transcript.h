/* Records a run as a script (llm/script.h) that can be replayed.
 *
 *     struct transcript *t;
 *     if (!transcript_open(path, model, &t, err)) return false;
 *     transcript_add(t, answer);
 *     if (!transcript_close(t, &mask, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TRANSCRIPT_H
#define AGENT_TRANSCRIPT_H

#include "base/mask.h"

struct transcript; /* opaque */

/* Opens the file at once, so that an unwritable path is reported before the run. */
MUST_USE bool transcript_open(
    const char *path, const char *model, struct transcript **ret_transcript, struct err *err);

/* Adds an answer of the model as a turn. */
void transcript_add(struct transcript *t, const json_t *answer);

/* Writes the script with keys masked. Accepts NULL. */
MUST_USE bool transcript_close(struct transcript *t, const struct mask *mask, struct err *err);

#endif
