/* When a model's window is nearly full: the conversation as a summary and its last messages. Pure:
 * whoever asks the model for the summary is elsewhere (agent/run.h).
 *
 *     if (compact_is_due(compact_estimate(messages), window)) {
 *         size_t keep = compact_keep(messages, window);
 *         ... ask with compact_question(messages) ...
 *         AUTO_JSON json_t *summary = compact_summary(text, keep);
 *         AUTO_JSON json_t *shorter = compact_list(messages, summary, keep);
 *     }
 *
 * What is left out stays in the session's file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMPACT_H
#define AGENT_COMPACT_H

#include "llm/message.h"

enum {
    COMPACT_DUE_PERCENT = 85,  /* of the window */
    COMPACT_KEEP_PERCENT = 20, /* of the window, for the last messages */
    COMPACT_TOKEN_BYTES = 4,   /* where nobody has counted */
    COMPACT_IMAGE_TOKENS = 1600,
    COMPACT_BRIEF_BYTES = 1000, /* of a text that is cut */
};

/* Tokens of a request with these messages: what the service counted last, and a guess at what came
 * after it. */
uint64_t compact_estimate(const json_t *messages);

bool compact_is_due(uint64_t tokens, uint64_t window); /* window 0: never */

/* How many of the last messages stay as they are; they never start with a result. */
size_t compact_keep(const json_t *messages, uint64_t window);

/* The messages, and behind them the question for a summary: a new list. Brief: a short one, from
 * messages in which long texts are cut and images left out. */
MUST_USE json_t *compact_question(const json_t *messages, bool brief);

/* What stands in place of the older messages: a user message. */
MUST_USE json_t *compact_summary(struct str text, size_t keep);

/* The summary and the last messages: a new list. */
MUST_USE json_t *compact_list(const json_t *messages, json_t *summary, size_t keep);

#endif
