/* The answer that grows: what every provider's reader tells, put together into one assistant
 * message, and told as events in the same order.
 *
 *     answer_begin(a, key, BLOCK_TEXT, err);
 *     answer_add(a, key, STR("Hello"), err);
 *     while (answer_take_event(a, &event)) ...
 *     json_t *message = answer_message(a);      also in the middle
 *
 * Keys are the service's own numbers of blocks, which may come interleaved; the order in the
 * message is that of beginning. A code point that is cut between two deltas is held back until it
 * is whole.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_ANSWER_H
#define LLM_ANSWER_H

#include "llm/event.h"
#include "llm/message.h"

enum {
    ANSWER_BLOCKS_MAX = 10 * 1000,
    ANSWER_BYTES_MAX = 64 << 20, /* of all blocks */
};

struct answer; /* opaque: blocks by key, the queue of events, usage, stop reason */

MUST_USE struct answer *answer_new(void);
void answer_free(struct answer *a); /* accepts NULL */

/* All of these: E_PROVIDER for what breaks a limit or names a block that is not open. A key that
 * was ended may begin again. */
MUST_USE bool answer_begin(struct answer *a, uint64_t key, enum block_type type, struct err *err);
/* A call without an id, or with one that another call of this answer has, gets a new one. */
MUST_USE bool answer_begin_call(
    struct answer *a, uint64_t key, struct str id, struct str name, struct err *err);
/* A block of a kind that means nothing to us: what is added to it is dropped, no message has it. */
MUST_USE bool answer_begin_ignored(struct answer *a, uint64_t key, struct err *err);
MUST_USE bool answer_add(struct answer *a, uint64_t key, struct str delta, struct err *err);
MUST_USE bool answer_sign(struct answer *a, uint64_t key, struct str signature, struct err *err);
/* A call's arguments if no delta comes. */
MUST_USE bool answer_preset(struct answer *a, uint64_t key, json_t *arguments, struct err *err);
/* Parses a call's arguments; none at all are {}. */
MUST_USE bool answer_end(struct answer *a, uint64_t key, struct err *err);
bool answer_has(const struct answer *a, uint64_t key);           /* it is open */
struct str answer_call_id(const struct answer *a, uint64_t key); /* as the service gave it */
void answer_end_all(struct answer *a);
bool answer_calls(const struct answer *a); /* it has a tool call that was ended */
bool answer_empty(const struct answer *a); /* no block began */

/* The service begins anew: blocks, usage and stop reason are gone; LLM_RESTART if some event of
 * them had been taken. */
void answer_restart(struct answer *a);

void answer_usage(struct answer *a, const struct usage *usage); /* replaces; an event if changed */
void answer_stop(struct answer *a, enum stop_reason stop, struct str raw);

bool answer_take_event(struct answer *a, struct llm_event *ret_event);

/* The message as far as it came; without answer_stop() its stop reason is "error". A turn that
 * ended beside a tool call is one that wants it: the stop reason is "tool_use". Of blocks that were
 * not ended: text and thinking stay (thinking without a signature stays unsigned), a tool call
 * stays with its text as "arguments" and "invalid". So does one that the token limit cut off before
 * its arguments began. */
MUST_USE json_t *answer_message(struct answer *a);

#endif
