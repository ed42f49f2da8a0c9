/* Runs the tool calls of an answer; calls that only read run in parallel.
 *
 *     calls_run_together(box, calls, n, results, &canceled);      one tool_result each
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CALLS_H
#define AGENT_CALLS_H

#include "llm/message.h"
#include "tool/toolbox.h"

/* Runs one call with this toolbox. Sets *ret_canceled if it was interrupted. */
MUST_USE json_t *calls_run_one(struct toolbox *box, const json_t *call, bool *ret_canceled);

/* Runs calls that only read on several threads, each with its own toolbox; one after the other if
 * calls may need approval, are reported as events or run remotely. Results are NULL for calls that
 * were not started. */
void calls_run_together(struct toolbox *box, const json_t *const *calls, size_t n,
    json_t **ret_results, bool *ret_canceled);

#endif
