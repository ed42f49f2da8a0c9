/* The agent's loop as a machine without I/O: it is told what happened, and says what to do next.
 *
 *     struct loop loop;
 *     loop_init(&loop, &limits, messages);
 *     while ((effect = loop_next(&loop)).kind != LOOP_DONE)
 *         perform(effect);              stream -> loop_answered(), calls -> loop_ran() for each
 *     loop_done(&loop);
 *
 * After every step each tool call of the conversation has a result or is about to run: whoever
 * stops in the middle calls loop_abort(), and the list is valid for the next request. Calls that
 * only read run together as far as they stand side by side; one that changes something runs alone
 * and in its place, so that what is read behind it sees the change.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H

#include "base/err.h"
#include "llm/message.h"

enum {
    LOOP_CALLS_MAX = 128, /* of one answer; those beyond get a result that says so */
};

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
    LOOP_BUDGET, /* context.budget: "turns", "tokens" or what loop_abort() was told */
    LOOP_LENGTH, /* the answer was cut by the token limit */
    LOOP_REFUSED,
    LOOP_FAILED, /* the provider */
    LOOP_ABORTED,
};

struct loop_effect {
    enum loop_effect_kind kind;
    const json_t *const *calls; /* LOOP_RUN: blocks of the last answer; until the next step */
    size_t n_calls;
    enum loop_end end;  /* LOOP_DONE */
    const char *budget; /* of LOOP_BUDGET */
};

struct loop_call {
    const json_t *block; /* of the answer, which the list owns */
    json_t *result;      /* NULL: not yet; then the list owns it */
};

struct loop {
    struct loop_limits limits;
    json_t *messages; /* the list, which grows */
    json_t *ids;      /* of all calls, as keys */
    unsigned renamed; /* calls that got another id */
    uint64_t turns;   /* answers that were asked for */
    uint64_t tokens;
    bool asking; /* an answer is awaited */
    bool over;
    enum loop_end end;
    const char *budget;
    struct loop_call *calls; /* of the last answer */
    size_t n_calls;
    size_t next;            /* calls before this have their result in the list */
    const json_t **running; /* the last effect's */
    size_t n_running;
};

/* The list is appended to; the loop keeps a reference. */
void loop_init(struct loop *loop, const struct loop_limits *limits, json_t *messages);
void loop_done(struct loop *loop);

/* Goes on with another list, in which every call has its result: the same, made shorter. */
void loop_replace(struct loop *loop, json_t *messages);

struct loop_effect loop_next(struct loop *loop);

/* What LOOP_STREAM gave, which is taken over; NULL: nothing. With an error: as far as it came, and
 * this is the end (E_CANCELED: aborted; E_TIMEOUT: the budget "time"). A call whose id was there
 * before gets another one. */
void loop_answered(struct loop *loop, json_t *message, const struct err *error);

/* Tokens that something else than an answer took. */
void loop_count(struct loop *loop, const struct usage *more);

/* What a call of LOOP_RUN gave: a tool_result, which is taken over. In any order. */
void loop_ran(struct loop *loop, const json_t *call, json_t *result);

/* The end, now: calls without a result get one that says why. The budget that was used up, or NULL:
 * interrupted. */
void loop_abort(struct loop *loop, const char *budget);

#endif
