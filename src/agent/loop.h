/* The agent's loop as a state machine without I/O: the caller reports events and asks for the next
 * action.
 *
 *     struct loop loop;
 *     loop_init(&loop, &limits, messages);
 *     while ((effect = loop_next(&loop)).kind != LOOP_DONE)
 *         perform(effect);              stream -> loop_answered(), calls -> loop_ran() for each
 *     loop_done(&loop);
 *
 * After every step each tool call of the conversation has a result or is about to run. A caller
 * that stops early must call loop_abort(), which makes the list valid for the next request.
 * Adjacent calls that only read run together; a call that changes something runs alone and in
 * order, so that calls after it see the change.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H

#include "base/err.h"
#include "llm/message.h"

enum {
    LOOP_CALLS_MAX = 128, /* per answer; calls beyond it get an error result */
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
    LOOP_BUDGET, /* budget: "turns", "tokens", "time", or as given to loop_abort() */
    LOOP_LENGTH, /* the answer was cut by the token limit */
    LOOP_REFUSED,
    LOOP_FAILED, /* the provider failed */
    LOOP_ABORTED,
};

struct loop_effect {
    enum loop_effect_kind kind;
    const json_t *const *calls; /* LOOP_RUN: blocks of the last answer; valid until the next step */
    size_t n_calls;
    enum loop_end end;  /* LOOP_DONE */
    const char *budget; /* of LOOP_BUDGET */
};

struct loop_call {
    const json_t *block; /* of the answer, owned by the list */
    json_t *result;      /* NULL: not yet run, or moved to the list */
};

struct loop {
    struct loop_limits limits;
    json_t *messages; /* the conversation; grows */
    json_t *ids;      /* ids of all calls, as keys */
    unsigned renamed; /* calls that were given another id */
    uint64_t turns;   /* answers requested */
    uint64_t tokens;
    bool asking; /* waiting for an answer */
    bool over;
    enum loop_end end;
    const char *budget;
    struct loop_call *calls; /* of the last answer */
    size_t n_calls;
    size_t next;            /* calls before this have their result in the list */
    const json_t **running; /* the calls of the last effect */
    size_t n_running;
};

/* Appends to the list; keeps a reference. */
void loop_init(struct loop *loop, const struct loop_limits *limits, json_t *messages);
void loop_done(struct loop *loop);

/* Continues with a shorter version of the list, in which every call has its result. */
void loop_replace(struct loop *loop, json_t *messages);

struct loop_effect loop_next(struct loop *loop);

/* The answer to LOOP_STREAM, or NULL; takes ownership. With an error the answer is partial and the
 * loop ends (E_CANCELED: aborted; E_TIMEOUT: budget "time"). A call with an id that was used before
 * is given another one. */
void loop_answered(struct loop *loop, json_t *message, const struct err *error);

/* Counts tokens that were not used by an answer. */
void loop_count(struct loop *loop, const struct usage *more);

/* The tool_result of a call of LOOP_RUN, in any order; takes ownership. */
void loop_ran(struct loop *loop, const json_t *call, json_t *result);

/* Ends the loop now: calls without a result get one that states the reason. budget: the one that
 * was used up; NULL: interrupted. */
void loop_abort(struct loop *loop, const char *budget);

#endif
