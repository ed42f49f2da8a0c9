/* The answer that grows: what every provider's reader tells, put together into one assistant message,
 * and told as events in the same order.
 *
 *     answer_begin_block(&answer, key, BLOCK_TEXT);
 *     answer_add_text(&answer, key, STR("Hello"));
 *     while (answer_take_event(&answer, &event)) ...
 *     json_t *message = answer_message(&answer, STOP_END_TURN);      also in the middle
 *
 * Keys are the service's own numbers of blocks, which may come interleaved; the order in the message
 * is that of beginning. A code point that is cut between two deltas is held back until it is whole.
 */
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

/* All of these: E_PROVIDER for what breaks a limit or names a block that is not open. */
MUST_USE bool answer_begin(struct answer *a, uint64_t key, enum block_type type, struct err *err);
MUST_USE bool answer_begin_call(
    struct answer *a, uint64_t key, struct str id, struct str name, struct err *err);
MUST_USE bool answer_add(struct answer *a, uint64_t key, struct str delta, struct err *err);
MUST_USE bool answer_sign(struct answer *a, uint64_t key, struct str signature, struct err *err);
MUST_USE bool answer_end(struct answer *a, uint64_t key, struct err *err); /* parses a call's arguments */
bool answer_has(const struct answer *a, uint64_t key);
void answer_end_all(struct answer *a);
bool answer_calls(const struct answer *a); /* it has a whole tool call */

void answer_usage(struct answer *a, const struct usage *usage); /* replaces; queues an event if changed */
void answer_stop(struct answer *a, enum stop_reason stop, struct str raw);

bool answer_take_event(struct answer *a, struct llm_event *ret_event);

/* The message as far as it came. Of blocks that were not ended: text and thinking stay (thinking
 * without a signature stays unsigned), a tool call stays with its text as "arguments" and "invalid". */
MUST_USE json_t *answer_message(struct answer *a);

#endif
