/* Running the agent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_run.h"

#include "agent/agent_compact.h"
#include "agent/calls.h"
#include "agent/output_reader.h"
#include "base/clock.h"
#include "llm/wire.h"

#include <poll.h>

enum {
    SUMMARY_MAX = 1 << 20,
};

struct agent_run_state {
    const struct agent *agent;
    struct loop loop;
    struct agent_outcome *outcome;
    size_t stored;      /* messages of the list that are in the session */
    uint64_t compacted; /* turn before which the last compaction was done; 0: never */
    bool deaf;          /* a->tell() has failed: report no more events */
    struct err error;   /* the first failure; no code: none */
};

static bool time_is_up(const struct agent_run_state *r)
{
    return r->agent->deadline_ms && clock_mono_ms() >= r->agent->deadline_ms;
}

static bool agent_is_canceled(const struct agent_run_state *r)
{
    struct pollfd fd = {.fd = r->agent->cancel_fd, .events = POLLIN};
    return fd.fd >= 0 && poll(&fd, 1, 0) > 0;
}

static bool agent_notify(struct agent_run_state *r, const struct agent_event *event)
{
    const struct agent *a = r->agent;
    if (r->deaf || !a->tell || a->tell(a->context, event))
        return true;
    r->deaf = true;
    if (!r->error.code &&
        agent_is_canceled(r)) /* a->tell() blocked on its reader until the cancellation */
        err_set(&r->error, E_CANCELED, "interrupted");
    else if (!r->error.code && a->host_stops)
        err_set(&r->error, E_CANCELED, "stopped by event()");
    else if (!r->error.code)
        err_set(&r->error, E_IO, "the output was closed by its reader");
    return false;
}

static void agent_stop(struct agent_run_state *r)
{
    loop_abort(&r->loop, time_is_up(r) ? "time" : NULL);
}

/* The session --------------------------------------------------------------------------------- */

/* Appends new messages of the list to the session, and reports them (except the user's) as
 * events. */
static bool agent_store_messages(struct agent_run_state *r)
{
    const json_t *messages = r->loop.messages;
    while (r->stored < json_array_size(messages)) {
        const json_t *m = json_array_get(messages, r->stored);
        if (!store_append(r->agent->store, m, &r->error))
            return false;
        r->stored++;
        bool result = message_type(m) == MESSAGE_TOOL_RESULT;
        if (message_type(m) == MESSAGE_USER)
            continue;
        if (!agent_notify(r,
                &(struct agent_event){.kind = result ? AGENT_RESULT : AGENT_MESSAGE, .message = m}))
            return false;
    }
    return true;
}

/* The model ----------------------------------------------------------------------------------- */

static void add_usage(struct agent_run_state *r, const json_t *message)
{
    struct usage u = message_usage(message);
    usage_add(&r->outcome->usage, &u);
}

/* Asks the model. Returns the answer as far as it came, or NULL. Quiet: reports no events. */
static json_t *agent_query_model(
    struct agent_run_state *r, const json_t *messages, bool quiet, struct err *err)
{
    const struct agent *a = r->agent;
    struct llm_request request = a->request;
    struct llm_event event;
    struct stream *stream = NULL;
    struct output_reader reader;
    json_t *message = NULL;
    request.messages = messages;
    if (!provider_stream(a->provider, &request, &stream, err))
        return NULL;
    output_reader_begin(&reader, a->box);
    enum stream_step step;
    while ((step = stream_next(stream, &event, err)) == STREAM_EVENT) {
        if (quiet || agent_notify(r, &(struct agent_event){.kind = AGENT_STREAM, .llm = &event}))
            continue;
        err_copy(err, &r->error);
        stream_close(stream);
        break;
    }
    AUTO_ERR struct err none = {0};
    if (stream_message(stream, &message, &none))
        add_usage(r, message);
    stream_free(stream);
    output_reader_end(&reader);
    return message;
}

static bool agent_compact_briefly(struct agent_run_state *r);

/* The service rejected the request as too long, whatever our estimate: compact and retry once. */
static json_t *ask_shorter(struct agent_run_state *r, struct err *err)
{
    AUTO_ERR struct err reason = {0};
    err_move(&reason, err);
    if (!agent_compact_briefly(r)) {
        if (r->error.code == E_PROVIDER)
            err_wrap(&r->error, "the conversation is too long for the model");
        err_copy(err, &r->error);
        return NULL;
    }
    json_t *message = agent_query_model(r, r->loop.messages, false, err);
    if (wire_is_length(err))
        err_wrap(err,
            "the conversation was summarized and is still too long: start a new session, or "
            "one from an earlier message with --fork");
    return message;
}

static void stream_answer(struct agent_run_state *r)
{
    AUTO_ERR struct err err = {0};
    if (!agent_notify(r, &(struct agent_event){.kind = AGENT_ASKING})) {
        agent_stop(r);
        return;
    }
    json_t *message = agent_query_model(r, r->loop.messages, false, &err);
    bool some = json_array_size(r->loop.messages) > 1; /* a prompt alone can't be shortened */
    if (wire_is_length(&err) && some && r->compacted != r->loop.turns) {
        json_decref(message);
        message = ask_shorter(r, &err);
    }
    if (message) {
        json_decref(r->outcome->answer);
        r->outcome->answer = json_incref(message);
    }
    if (err.code && time_is_up(r))
        err_set(&err, E_TIMEOUT, "timeout: the time limit has elapsed");
    loop_answered(&r->loop, message, &err);
    if (err.code && !r->error.code)
        err_move(&r->error, &err);
}

/* Compaction ---------------------------------------------------------------------------------- */

static bool too_full(struct agent_run_state *r, uint64_t tokens)
{
    err_set(&r->error, E_TIMEOUT,
        "the conversation uses about %llu of the model's %llu tokens, and a summary did "
        "not shorten it enough: start a new session, or one from an earlier message with "
        "--fork",
        (unsigned long long)tokens, (unsigned long long)r->agent->window);
    return err_ctx(&r->error, "budget", "context");
}

static bool fail_summary(
    struct agent_run_state *r, const char *words, const char *key, const char *value)
{
    err_set(&r->error, E_PROVIDER, "%s", words);
    return err_ctx(&r->error, key, "%s", value);
}

/* *ret_again: a shorter question may succeed. */
static bool ask_summary_once(
    struct agent_run_state *r, bool brief, struct buf *text, bool *ret_again)
{
    AUTO_JSON json_t *question = compact_question(r->loop.messages, brief);
    AUTO_JSON json_t *answer = agent_query_model(r, question, true, &r->error);
    struct usage u = message_usage(answer);
    loop_count(&r->loop, &u);
    *ret_again = wire_is_length(&r->error);
    if (r->error.code)
        return err_wrap(&r->error, "cannot summarize the conversation");
    if (message_stop(answer) == STOP_REFUSAL)
        return fail_summary(
            r, "the model refused to summarize the conversation", "stop_reason", "refusal");
    *ret_again = message_stop(answer) == STOP_LENGTH;
    if (*ret_again) /* a cut summary would silently lose information */
        return fail_summary(r,
            "the model's summary of the conversation was truncated: it reached the token "
            "limit (--max-tokens)",
            "stop_reason", "length");
    message_add_text(answer, text);
    return (text->n && buf_ok(text)) ||
           fail_summary(
               r, "the model returned no summary of the conversation", "budget", "context");
}

static bool ask_summary(struct agent_run_state *r, bool brief, struct buf *text)
{
    bool again = false;
    if (!agent_notify(r, &(struct agent_event){.kind = AGENT_COMPACTING}))
        return false;
    if (ask_summary_once(r, brief, text, &again))
        return true;
    if (!again || brief)
        return false;
    err_done(&r->error);
    return ask_summary_once(r, true, text, &again);
}

static bool replace_by_summary(struct agent_run_state *r, size_t kept, bool brief)
{
    AUTO_BUF struct buf text = BUF_INIT(SUMMARY_MAX);
    const json_t *messages = r->loop.messages;
    if (!ask_summary(r, brief, &text))
        return false;
    AUTO_JSON json_t *summary = compact_summary(buf_str(&text), kept);
    AUTO_JSON json_t *shorter = compact_list(messages, summary, kept);
    if (!store_note_compaction(r->agent->store, summary, kept, &r->error))
        return false;
    loop_replace(&r->loop, shorter);
    r->stored = json_array_size(shorter);
    r->compacted = r->loop.turns;
    return agent_notify(
        r, &(struct agent_event){.kind = AGENT_COMPACTED, .message = summary, .kept = kept});
}

/* Brief: the service rejects the messages at their current length. */
static bool agent_compact_messages(struct agent_run_state *r, uint64_t tokens, bool brief)
{
    uint64_t window = r->agent->window;
    if (brief) /* the real window is smaller than the estimate */
        window = window ? MIN(window, tokens) : tokens;
    /* Summarising a fresh summary again could repeat forever. */
    if (r->compacted && r->loop.turns <= r->compacted + 1)
        return too_full(r, tokens);
    if (!replace_by_summary(r, compact_keep(r->loop.messages, window), brief))
        return false;
    tokens = compact_estimate(r->loop.messages);
    return !compact_is_due(tokens, r->agent->window) || too_full(r, tokens);
}

static bool agent_compact_briefly(struct agent_run_state *r)
{
    return agent_compact_messages(r, compact_estimate(r->loop.messages), true);
}

/* Compacts if necessary before the model is asked. */
static bool agent_make_room(struct agent_run_state *r)
{
    uint64_t tokens = compact_estimate(r->loop.messages);
    return !compact_is_due(tokens, r->agent->window) || agent_compact_messages(r, tokens, false);
}

/* Tools --------------------------------------------------------------------------------------- */

static bool agent_announce_calls(struct agent_run_state *r, const struct loop_effect *effect)
{
    for (size_t i = 0; i < effect->n_calls; i++)
        if (!agent_notify(
                r, &(struct agent_event){.kind = AGENT_CALLING, .message = effect->calls[i]}))
            return false;
    return true;
}

static void run_calls(struct agent_run_state *r, const struct loop_effect *effect)
{
    size_t n = effect->n_calls;
    bool canceled = false;
    const json_t **calls = base_alloc(n * sizeof(*calls));
    json_t **results = base_alloc(n * sizeof(json_t *));
    for (size_t i = 0; i < n; i++)
        calls[i] = effect->calls[i];
    if (!agent_announce_calls(r, effect))
        canceled = true;
    else if (n == 1)
        results[0] = calls_run_one(r->agent->box, calls[0], &canceled);
    else
        calls_run_together(r->agent->box, calls, n, results, &canceled);
    for (size_t i = 0; i < n; i++)
        if (results[i])
            loop_ran(&r->loop, calls[i], results[i]);
    if (canceled)
        agent_stop(r);
    free(results);
    free(calls);
}

/* The run ------------------------------------------------------------------------------------- */

static void agent_perform(struct agent_run_state *r, const struct loop_effect *effect)
{
    if (agent_is_canceled(r) || time_is_up(r))
        agent_stop(r);
    else if (effect->kind == LOOP_RUN)
        run_calls(r, effect);
    else if (agent_make_room(r))
        stream_answer(r);
    else
        agent_stop(r);
}

static bool ended_by_budget(const struct agent_run_state *r, const char *budget, struct err *err)
{
    static const struct {
        const char *budget, *words;
    } rows[] = {
        {"turns", "the maximum number of requests to the model was reached (--max-turns)"},
        {"tokens", "the maximum number of tokens was reached (--max-total-tokens)"},
        {"time", "timeout: --max-time-ms has elapsed"},
        {"length", "the answer was truncated: it reached the token limit (--max-tokens)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].budget, budget) == 0)
            err_set(err, E_TIMEOUT, "%s", rows[i].words);
    err_ctx_int(err, "turns", (int64_t)r->loop.turns);
    return err_ctx(err, "budget", "%s", budget);
}

static bool agent_fail_refused(const struct agent_run_state *r, struct err *err)
{
    struct str raw = json_str(json_object_get(r->outcome->answer, "raw_stop_reason"));
    err_set(err, E_PROVIDER, "the model refused to answer");
    err_ctx(err, "stop_reason", "refusal");
    return err_ctx(err, "raw_stop_reason", STR_FMT, STR_ARG(raw.p ? raw : STR("")));
}

static bool agent_finish(struct agent_run_state *r, const struct loop_effect *end, struct err *err)
{
    if (end->end == LOOP_BUDGET)
        return ended_by_budget(r, end->budget, err);
    if (r->error.code)
        return err_move(err, &r->error);
    switch (end->end) {
    case LOOP_LENGTH:
        return ended_by_budget(r, "length", err);
    case LOOP_REFUSED:
        return agent_fail_refused(r, err);
    case LOOP_ABORTED:
        return err_set(err, E_CANCELED, "interrupted");
    case LOOP_FAILED:
        return err_set(err, E_PROVIDER, "the answer ended early");
    default:
        return true;
    }
}

/* Saves all messages to the session, however the loop ends. */
static struct loop_effect agent_drive_loop(struct agent_run_state *r)
{
    for (;;) {
        if (!agent_store_messages(r))
            agent_stop(r);
        struct loop_effect effect = loop_next(&r->loop);
        if (effect.kind == LOOP_DONE) {
            bool kept UNUSED = agent_store_messages(r);
            return effect;
        }
        agent_perform(r, &effect);
    }
}

bool agent_run(const struct agent *agent, const json_t *prompt, struct agent_outcome *ret_outcome,
    struct err *err)
{
    AUTO_JSON json_t *messages = store_messages(agent->store);
    struct agent_run_state r = {
        .agent = agent, .outcome = ret_outcome, .stored = json_array_size(messages)};
    *ret_outcome = (struct agent_outcome){0};
    undo_begin_turn(agent->undo, json_array_size(store_all(agent->store)));
    json_push(messages, json_incref((json_t *)prompt));
    loop_init(&r.loop, &agent->limits, messages);
    struct loop_effect end = agent_drive_loop(&r);
    ret_outcome->turns = r.loop.turns;
    bool ok = agent_finish(&r, &end, err);
    err_done(&r.error);
    loop_done(&r.loop);
    return ok;
}

bool agent_compact(const struct agent *agent, struct agent_outcome *ret_outcome, struct err *err)
{
    AUTO_JSON json_t *messages = store_messages(agent->store);
    struct agent_run_state r = {
        .agent = agent, .outcome = ret_outcome, .stored = json_array_size(messages)};
    *ret_outcome = (struct agent_outcome){0};
    if (r.stored < 2)
        return err_set(err, E_NOT_FOUND, "nothing to summarize yet");
    uint64_t tokens = compact_estimate(messages);
    loop_init(&r.loop, &agent->limits, messages);
    bool ok = replace_by_summary(&r, compact_keep(messages, tokens), false);
    if (!ok && agent_is_canceled(&r))
        err_set(&r.error, E_CANCELED, "interrupted");
    if (!ok)
        err_move(err, &r.error);
    err_done(&r.error);
    loop_done(&r.loop);
    return ok;
}

void agent_outcome_done(struct agent_outcome *outcome)
{
    json_decref(outcome->answer);
    *outcome = (struct agent_outcome){0};
}
