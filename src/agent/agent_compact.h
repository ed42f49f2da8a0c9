/* Compaction: when a model's context window is nearly full, the conversation is replaced by a
 * summary and its last messages. Pure: the model is asked for the summary in agent/agent_run.c.
 *
 *     if (compact_is_due(compact_estimate(messages), window)) {
 *         size_t keep = compact_keep(messages, window);
 *         ... ask with compact_question(messages, false) ...
 *         AUTO_JSON json_t *summary = compact_summary(text, keep);
 *         AUTO_JSON json_t *shorter = compact_list(messages, summary, keep);
 *     }
 *
 * The messages left out stay in the session's file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_COMPACT_H
#define AGENT_AGENT_COMPACT_H

#include "llm/message.h"

enum {
    COMPACT_DUE_PERCENT = 85,  /* of the window */
    COMPACT_KEEP_PERCENT = 20, /* of the window, for the last messages */
    COMPACT_TOKEN_BYTES = 4,   /* to estimate messages without a token count */
    COMPACT_IMAGE_TOKENS = 1600,
    COMPACT_BRIEF_BYTES = 1000, /* maximum length of a text in a brief question */
};

/* Tokens of a request with these messages: the service's last count, plus an estimate of the
 * messages after it. */
uint64_t compact_estimate(const json_t *messages);

bool compact_is_due(uint64_t tokens, uint64_t window); /* window 0: never */

/* Number of messages at the end that are kept; they never begin with a tool result. */
size_t compact_keep(const json_t *messages, uint64_t window);

/* Returns a new list: the messages, then the request for a summary. Brief: asks for a short
 * summary, with long texts cut and images left out. */
MUST_USE json_t *compact_question(const json_t *messages, bool brief);

/* The user message that replaces the older messages. */
MUST_USE json_t *compact_summary(struct str text, size_t keep);

/* Returns a new list: the summary and the last `keep` messages. */
MUST_USE json_t *compact_list(const json_t *messages, json_t *summary, size_t keep);

#endif
