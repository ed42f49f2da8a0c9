/* The facts of this machine that sandbox/diagnose.h judges by: the one place that looks for them.
 *
 *     machine_facts(&(struct machine_failure){"mounting proc", EPERM}, &arena, &facts);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_MACHINE_FACTS_H
#define SANDBOX_MACHINE_FACTS_H

#include "sandbox/diagnose.h"
#include "sandbox/machine.h"

/* Everything but texts that need a failure; `failure` may be NULL. */
void machine_facts(const struct machine_failure *failure, struct arena *arena, struct facts *ret);

/* The failure that an error of machine_unavailable() is about; its texts are the error's. False if
 * it is another. */
bool machine_facts_failed(const struct err *err, struct machine_failure *ret_failure);

#endif
