/* The agent's loop as a machine without I/O: it is told what happened, and says what to do next.
 *
 *     struct loop loop;
 *     loop_init(&loop, &limits, messages);
 *     while ((effect = loop_next(&loop)).kind != LOOP_DONE)
 *         perform(effect);              stream -> loop_answered(), tools -> loop_ran()
 *
 * After every step each tool call of the conversation has a result or is about to run: whoever stops
 * in the middle calls loop_abort(), and the list is valid for the next request.
 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H

#include "llm/message.h"

struct loop_limits {
    uint64_t turns, tokens; /* 0: none; tokens: input and output of all turns */
};

enum loop_effect_kind {
    LOOP_STREAM, /* ask the model */
    LOOP_RUN,    /* run these calls: together if they only read, else one */
    LOOP_DONE,
};

enum loop_end {
    LOOP_ANSWERED,
    LOOP_BUDGET,  /* context.budget: "turns" or "tokens" */
    LOOP_LENGTH,  /* the answer was cut by the token limit */
    LOOP_REFUSED,
    LOOP_FAILED,  /* the provider */
    LOOP_ABORTED,
};

struct loop_effect {
    enum loop_effect_kind kind;
    const json_t **calls; /* LOOP_RUN: blocks of the last message */
    size_t n_calls;
    enum loop_end end;  /* LOOP_DONE */
    const char *budget; /* of LOOP_BUDGET */
};

#endif
