/* An answer under construction: combines the parts read by a provider into one assistant message,
 * and queues them as events in the same order.
 *
 *     answer_begin(a, key, BLOCK_TEXT, err);
 *     answer_add(a, key, STR("Hello"), err);
 *     while (answer_take_event(a, &event)) ...
 *     json_t *message = answer_message(a);      also in the middle
 *
 * Keys are the service's own block numbers; blocks may be interleaved. The message has them in the
 * order in which they began. A code point split between two deltas is held back until it is
 * complete.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_ANSWER_H
#define LLM_ANSWER_H

#include "llm/llm_event.h"
#include "llm/message.h"

enum {
    ANSWER_BLOCKS_MAX = 10 * 1000,
    ANSWER_BYTES_MAX = 64 << 20, /* of all blocks */
};

struct answer; /* opaque: blocks by key, the queue of events, usage, stop reason */

MUST_USE struct answer *answer_new(void);
void answer_free(struct answer *a); /* accepts NULL */

/* These fail with E_PROVIDER if a limit is exceeded or the block is not open. A key may be reused
 * after its block has ended. */
MUST_USE bool answer_begin(struct answer *a, uint64_t key, enum block_type type, struct err *err);
/* A call without an id, or with the id of another call in this answer, is given a new one. */
MUST_USE bool answer_begin_call(
    struct answer *a, uint64_t key, struct str id, struct str name, struct err *err);
/* Begins a block of an unknown type: its content is dropped, and it is not part of the message. */
MUST_USE bool answer_begin_ignored(struct answer *a, uint64_t key, struct err *err);
MUST_USE bool answer_add(struct answer *a, uint64_t key, struct str delta, struct err *err);
MUST_USE bool answer_sign(struct answer *a, uint64_t key, struct str signature, struct err *err);
/* Sets a call's arguments in case no delta comes. */
MUST_USE bool answer_preset(struct answer *a, uint64_t key, json_t *arguments, struct err *err);
/* Parses a call's arguments; an empty text counts as {}. */
MUST_USE bool answer_end(struct answer *a, uint64_t key, struct err *err);
bool answer_has(const struct answer *a, uint64_t key);           /* it is open */
struct str answer_call_id(const struct answer *a, uint64_t key); /* as given by the service */
void answer_end_all(struct answer *a);
bool answer_calls(const struct answer *a); /* it has a complete tool call */
bool answer_empty(const struct answer *a); /* no block has begun */

/* The service restarts: discards blocks, usage and stop reason. Queues LLM_RESTART if an event of
 * them was taken. */
void answer_restart(struct answer *a);

void answer_usage(struct answer *a, const struct usage *usage); /* replaces; an event if changed */
void answer_stop(struct answer *a, enum stop_reason stop, struct str raw);

bool answer_take_event(struct answer *a, struct llm_event *ret_event);

/* The message so far; without answer_stop() its stop reason is "error". A turn that ended with a
 * tool call has the stop reason "tool_use". Unfinished blocks: text and thinking stay (thinking
 * without a signature stays unsigned); a tool call stays with its text as "arguments" and "invalid"
 * set, as does one that the token limit cut off before its arguments began. */
MUST_USE json_t *answer_message(struct answer *a);

#endif
