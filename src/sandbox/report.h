/* What enforces a policy on this machine, concern by concern, and what stays open.
 *
 *     AUTO_JSON json_t *report = report_json(&verdict, &plan, &child.limiter.kept);
 *
 * {"mode","fs","exec","net","processes","environment","terminal","limits","gaps":[]}
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_REPORT_H
#define SANDBOX_REPORT_H

#include "sandbox/limiter.h"

/* With the mechanisms of a sandbox that was built; NULL, or one that was not: of one built now. */
MUST_USE json_t *report_json(
    const struct verdict *v, const struct plan *plan, const struct limiter_kept *kept);

/* How the number of processes is limited, in words; in the buffer. */
void report_processes(const struct plan *plan, const struct limiter_kept *kept, struct buf *text);

#endif
