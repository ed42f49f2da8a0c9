/* Tool calls of an answer, run: several at once if they only read.
 *
 *     calls_run(box, calls, n, results);      one tool_result each
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CALLS_H
#define AGENT_CALLS_H

#include "llm/message.h"
#include "tool/toolbox.h"

/* One call with the box itself. True in *ret_canceled: it was interrupted. */
MUST_USE json_t *calls_run_one(struct toolbox *box, const json_t *call, bool *ret_canceled);

/* Calls that only read, on threads with boxes of their own. Where somebody may be asked or is told
 * of calls, one after the other. Results are NULL for those that were not begun. */
void calls_run_together(struct toolbox *box, const json_t *const *calls, size_t n,
    json_t **ret_results, bool *ret_canceled);

#endif
