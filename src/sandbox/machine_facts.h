/* Collects the facts about this machine that sandbox/diagnose.h works on. No other code looks for
 * them.
 *
 *     machine_facts(&(struct machine_failure){"mounting proc", EPERM}, &arena, &facts);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_MACHINE_FACTS_H
#define SANDBOX_MACHINE_FACTS_H

#include "sandbox/diagnose.h"
#include "sandbox/machine.h"

/* Collects all facts. `failure` may be NULL: then no step has failed, and errnum is 0. */
void machine_facts(
    const struct machine_failure *failure, struct arena *arena, struct diagnose_facts *ret);

/* Gets the failure from an error of machine_unavailable(); its texts belong to the error. Returns
 * false for other errors. */
bool machine_facts_failed(const struct err *err, struct machine_failure *ret_failure);

#endif
