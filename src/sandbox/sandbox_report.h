/* Reports which mechanisms enforce a policy on this machine, by concern, and which gaps remain.
 *
 *     AUTO_JSON json_t *report = report_json(&verdict, &plan, &child.limiter.kept);
 *
 * {"mode","fs","exec","net","processes","environment","terminal","limits","gaps":[]}
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SANDBOX_REPORT_H
#define SANDBOX_SANDBOX_REPORT_H

#include "sandbox/limiter.h"

/* Reports the mechanisms of the sandbox that was built. If `kept` is NULL, or of a sandbox that was
 * not built, those that a sandbox built now would use. */
MUST_USE json_t *report_json(
    const struct verdict *v, const struct plan *plan, const struct limiter_kept *kept);

/* Appends a text about how the number of processes is limited. */
void report_processes(const struct plan *plan, const struct limiter_kept *kept, struct buf *text);

#endif
