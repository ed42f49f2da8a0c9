/* A conversation made valid for every provider: whatever a crash, an interruption or a foreign file
 * left.
 *
 *     AUTO_JSON json_t *notes = json_array();
 *     AUTO_JSON json_t *valid = repair_messages(messages, notes);
 *
 * After it
 * - each assistant message with tool calls is followed by exactly one result for each, in the order
 *   of the calls; a missing one is an error that says "aborted"; results anywhere else are gone;
 * - no tool-call id occurs twice in the conversation: the later call (and its results) gets the id
 *   with "~2" behind it, and so on;
 * - no message is empty: a user message without content is dropped, an assistant message without
 *   content too (one that was cut off before its first word), blocks of empty text are dropped;
 * - the first message is the user's (results and answers before it are dropped).
 * Two user messages in a row stay: dialects join them. Messages that are fine are shared, others
 * are copies; the input is not changed. Repairing twice is repairing once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_REPAIR_H
#define AGENT_REPAIR_H

#include "base/json.h"

#define REPAIR_ABORTED "aborted: this call was interrupted, and its result is unknown"

/* A new list. Sentences about what was changed are pushed on notes (NULL: not wanted). */
MUST_USE json_t *repair_messages(const json_t *messages, json_t *notes);

/* Whether nothing is to be repaired. */
bool repair_is_valid(const json_t *messages);

/* How many of the first n messages end a whole step: never between calls and their results. */
size_t repair_boundary(const json_t *messages, size_t n);

#endif
