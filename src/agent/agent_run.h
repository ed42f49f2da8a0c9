/* Runs the agent: performs the loop's actions with a provider, a toolbox and a session.
 *
 *     struct agent_outcome outcome;
 *     bool ok = agent_run(&agent, prompt, &outcome, err);
 *     agent_outcome_done(&outcome);
 *
 * However it ends, the session holds everything received so far, and every tool call in it has a
 * result.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_RUN_H
#define AGENT_AGENT_RUN_H

#include "agent/loop.h"
#include "agent/store.h"
#include "agent/undo.h"
#include "llm/provider.h"
#include "tool/toolbox.h"

enum {
    AGENT_THREADS = 4, /* for calls that only read */
};

enum agent_event_kind {
    AGENT_ASKING,     /* a request is sent to the model */
    AGENT_STREAM,     /* part of the answer: llm */
    AGENT_MESSAGE,    /* the complete answer: message */
    AGENT_CALLING,    /* a tool is called: message is the call */
    AGENT_RESULT,     /* its result: message */
    AGENT_COMPACTING, /* a summary is requested */
    AGENT_COMPACTED,  /* the summary: message; kept: number of messages kept besides it */
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
    struct undo *undo;          /* NULL: old versions of files are not kept */
    struct llm_request request; /* without messages */
    struct loop_limits limits;
    uint64_t
        deadline_ms; /* clock_mono_ms(); 0: none. The provider and the calls must have it as well */
    uint64_t window; /* tokens of the model's context; 0: unknown */
    int cancel_fd;   /* readable: stop; -1: none */
    /* Returns false to stop: because the output cannot be delivered (E_IO), or because the host
     * stops the turn (E_CANCELED). Always called from the thread that runs the agent. */
    bool (*tell)(void *context, const struct agent_event *event);
    bool host_stops;
    void *context;
};

struct agent_outcome {
    struct usage usage; /* of all turns */
    uint64_t turns;
    json_t *answer; /* the last one; NULL: none */
};

/* Continues the session's conversation with this user message. Returns false if it does not end
 * with an answer:
 *   E_TIMEOUT   context.budget: turns, tokens, time, length (of one answer), context (the window)
 *   E_PROVIDER  the service failed; context.stop_reason: it refused
 *   E_CANCELED  interrupted, or stopped by tell() of a host
 *   E_IO        the session can't be written, or tell() returned false
 * The outcome is filled in either way. */
MUST_USE bool agent_run(const struct agent *agent, const json_t *prompt,
    struct agent_outcome *ret_outcome, struct err *err);
/* Summarises the conversation now, whatever its length. E_NOT_FOUND: nothing to summarise. */
MUST_USE bool agent_compact(
    const struct agent *agent, struct agent_outcome *ret_outcome, struct err *err);
void agent_outcome_done(struct agent_outcome *outcome);

#endif
