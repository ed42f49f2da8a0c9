/* What enforces a policy on this machine, concern by concern, and what stays open.
 *
 *     AUTO_JSON json_t *report = report_json(&verdict, &plan);
 *
 * {"mode","fs","exec","net","processes","environment","terminal","limits","gaps":[]}
 */
#ifndef SANDBOX_REPORT_H
#define SANDBOX_REPORT_H

#include "sandbox/plan.h"

MUST_USE json_t *report_json(const struct verdict *v, const struct plan *plan);

#endif
