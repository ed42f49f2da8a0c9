/* Remedies by cause: a denial that a flag caused names the flag, one that a file caused names the
 * file's key. policy/validate.h names keys, because it only sees the policy.
 *
 *     policy_validate(...);
 *     remedy_denials(prepared);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_REMEDY_H
#define JOB_REMEDY_H

#include "job/prepare.h"

/* Replaces the remedies of denials that flags caused. */
void remedy_denials(struct prepared *p);

/* Sets the remedies of the plan: those for failures to start the command. */
void remedy_plan(struct prepared *p, enum consent_author author);

#endif
