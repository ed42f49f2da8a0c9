/* Derives wait conditions from screens: conditions that hold now and did not hold before.
 *
 *     json_t *step = await_step(&before, &now, term, settled);     NULL: no reliable condition
 *
 * Text that varies from run to run (times, sizes, hashes) is not waited for.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_AWAIT_H
#define RUN_AWAIT_H

#include "base/json.h"
#include "session/session.h"
#include "term/snapshot.h"

/* Returns a wait step {"action","assert"}. `before` has no rows if this is the first screen. */
MUST_USE json_t *await_step(
    const struct snapshot *before, const struct snapshot *now, const struct term *t, bool settled);

/* Whether a word is likely to differ in the next run. */
bool await_is_volatile(struct str word);

#endif
