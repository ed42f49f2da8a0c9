/* The agent at work: the loop's effects performed with a provider, a toolbox and a session.
 *
 *     struct agent_outcome outcome;
 *     bool ok = agent_run(&agent, prompt, &outcome, err);
 *     agent_outcome_done(&outcome);
 *
 * However it ends, the session holds what had come, and every tool call in it has a result.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_RUN_H
#define AGENT_RUN_H

#include "agent/loop.h"
#include "agent/store.h"
#include "agent/undo.h"
#include "llm/provider.h"
#include "tool/toolbox.h"

enum {
    AGENT_THREADS = 4, /* for calls that only read */
};

enum agent_event_kind {
    AGENT_ASKING,     /* the model, with a request; an answer comes */
    AGENT_STREAM,     /* something of the answer: llm */
    AGENT_MESSAGE,    /* it is there: message */
    AGENT_CALLING,    /* a tool: message is the call */
    AGENT_RESULT,     /* what it gave: message */
    AGENT_COMPACTING, /* a summary is asked for */
    AGENT_COMPACTED,  /* and is there: message; kept says how many messages stay beside it */
};

struct agent_event {
    enum agent_event_kind kind;
    const struct llm_event *llm;
    const json_t *message;
    size_t kept;
};

struct agent {
    struct provider *provider;
    struct toolbox *box;
    struct store *store;
    struct undo *undo;          /* NULL: what tools replace is not kept */
    struct llm_request request; /* without messages */
    struct loop_limits limits;
    uint64_t
        deadline_ms; /* clock_mono_ms(); 0: none. The provider and the calls must end then, too */
    uint64_t window; /* tokens of the model's context; 0: not known */
    int cancel_fd;   /* readable: stop; -1: none */
    /* False: nobody listens any more, stop. Always called by the thread that runs the agent. */
    bool (*tell)(void *context, const struct agent_event *event);
    void *context;
};

struct agent_outcome {
    struct usage usage; /* of all turns */
    uint64_t turns;
    json_t *answer; /* the last one; NULL: none */
};

/* Goes on with the session's conversation and this user message. False: why it is not an answer:
 *   E_TIMEOUT   context.budget: turns, tokens, time, length (of one answer), context (the window)
 *   E_PROVIDER  the service failed; context.stop_reason: it refused
 *   E_CANCELED  interrupted
 *   E_IO        the session can't be written, or nobody listens
 * The outcome is filled in either way. */
MUST_USE bool agent_run(const struct agent *agent, const json_t *prompt,
    struct agent_outcome *ret_outcome, struct err *err);
/* Makes a summary of the conversation now, whatever its length. E_NOT_FOUND: there is nothing to
 * summarise. */
MUST_USE bool agent_compact(
    const struct agent *agent, struct agent_outcome *ret_outcome, struct err *err);
void agent_outcome_done(struct agent_outcome *outcome);

#endif
