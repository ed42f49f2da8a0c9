/* Makes a conversation valid for every provider after a crash, an interruption or an import.
 *
 *     AUTO_JSON json_t *notes = json_array();
 *     AUTO_JSON json_t *valid = repair_messages(messages, notes);
 *
 * Afterwards
 * - each assistant message with tool calls is followed by exactly one result for each, in the order
 *   of the calls; a missing one becomes an "aborted" error; results anywhere else are dropped;
 * - no tool-call id occurs twice in the conversation: "~2", "~3", ... is appended to the id of a
 *   later call and its result;
 * - no message is empty: messages without content are dropped (an assistant message has none if it
 *   was cut off before its first word), as are blocks of empty text;
 * - the first message is the user's (results and answers before it are dropped).
 * Consecutive user messages stay: dialects join them. Valid messages are shared, others are copied;
 * the input is not changed. Repair is idempotent.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_REPAIR_H
#define AGENT_REPAIR_H

#include "base/json.h"

#define REPAIR_ABORTED "aborted: this call was interrupted, and its result is unknown"

/* Returns a new list. Appends a sentence about each kind of change to notes (NULL: not wanted). */
MUST_USE json_t *repair_messages(const json_t *messages, json_t *notes);

/* Whether the messages need no repair. */
bool repair_is_valid(const json_t *messages);

/* Rounds n up so that the first n messages do not end between calls and their results. */
size_t repair_boundary(const json_t *messages, size_t n);

#endif
