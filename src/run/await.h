/* What to wait for: conditions that hold on the screen now, and did not before.
 *
 *     json_t *step = await_step(&before, session, settled);      NULL: nothing would be certain
 *
 * What changes from run to run (times, sizes, hashes) is not waited for.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_AWAIT_H
#define RUN_AWAIT_H

#include "base/json.h"
#include "session/session.h"
#include "term/snapshot.h"

/* {"name","action","assert"}, a wait. `before` has no rows if there was no screen before. */
MUST_USE json_t *await_step(
    const struct snapshot *before, const struct snapshot *now, const struct term *t, bool settled);

/* Whether a word is likely to be another one the next time. */
bool await_is_volatile(struct str word);

#endif
