/* The agent's loop: events in, actions out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/loop.h"

#include "tool/tool.h"

enum {
    ID_MAX = 256,
};

void loop_init(struct loop *loop, const struct loop_limits *limits, json_t *messages)
{
    *loop = (struct loop){
        .limits = *limits,
        .messages = json_incref(messages),
        .ids = json_object(),
    };
    size_t i, k;
    json_t *message, *block;
    json_array_foreach(messages, i, message)
    {
        json_array_foreach(json_object_get(message, "content"), k, block)
        {
            const char *id = json_string_value(json_object_get(block, "id"));
            if (id)
                json_put(loop->ids, id, json_true());
        }
    }
}

static void forget_calls(struct loop *loop)
{
    for (size_t i = 0; i < loop->n_calls; i++)
        json_decref(loop->calls[i].result);
    free(loop->calls);
    free(loop->running);
    loop->calls = NULL;
    loop->running = NULL;
    loop->n_calls = loop->next = loop->n_running = 0;
}

void loop_done(struct loop *loop)
{
    forget_calls(loop);
    json_decref(loop->messages);
    json_decref(loop->ids);
    *loop = (struct loop){0};
}

void loop_replace(struct loop *loop, json_t *messages)
{
    BUG_ON(loop->next < loop->n_calls);
    forget_calls(loop);
    json_incref(messages);
    json_decref(loop->messages);
    loop->messages = messages;
}

static void loop_finish(struct loop *loop, enum loop_end end, const char *budget)
{
    if (loop->over)
        return;
    loop->over = true;
    loop->end = end;
    loop->budget = budget;
}

/* Results ------------------------------------------------------------------------------------- */

static struct str loop_block_text(const json_t *block, const char *key)
{
    struct str text = json_str(json_object_get(block, key));
    return text.p ? text : STR("");
}

static void loop_refuse_call(struct loop_call *call, const char *why)
{
    if (!call->result)
        call->result = message_tool_result(loop_block_text(call->block, "id"),
            loop_block_text(call->block, "name"), str_z(why), true);
}

/* Appends results in the order of the calls, up to the first that is missing. */
static void append_results(struct loop *loop)
{
    while (loop->next < loop->n_calls && loop->calls[loop->next].result) {
        struct loop_call *call = &loop->calls[loop->next++];
        json_push(loop->messages, call->result);
        call->result = NULL;
    }
}

static void refuse_all(struct loop *loop, const char *why)
{
    for (size_t i = loop->next; i < loop->n_calls; i++)
        loop_refuse_call(&loop->calls[i], why);
    append_results(loop);
    loop->n_running = 0;
}

/* An answer ----------------------------------------------------------------------------------- */

/* Gives a call an unused id: services reject a conversation with duplicate ids. */
static void rename_call(struct loop *loop, json_t *block, const char *id)
{
    char name[ID_MAX + 32];
    do
        snprintf(name, sizeof(name), "%.*s_%u", ID_MAX, id, ++loop->renamed + 1);
    while (json_object_get(loop->ids, name));
    json_put(block, "id", json_string(name));
    json_put(loop->ids, name, json_true());
}

static bool is_in_answer(const struct loop *loop, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(loop_block_text(loop->calls[i].block, "id"), id))
            return true;
    return false;
}

static void loop_accept_call(struct loop *loop, size_t index, json_t *block)
{
    struct loop_call *call = &loop->calls[index];
    const char *id = json_string_value(json_object_get(block, "id"));
    call->block = block;
    bool again = id && index < LOOP_CALLS_MAX && is_in_answer(loop, index, id);
    if (id && json_object_get(loop->ids, id))
        rename_call(loop, block, id);
    else if (id)
        json_put(loop->ids, id, json_true());
    if (index >= LOOP_CALLS_MAX)
        loop_refuse_call(
            call, "error: not run: too many calls in one answer; call again with fewer");
    else if (again)
        loop_refuse_call(call, "error: not run: another call in this answer has the same id");
    else if (json_is_true(json_object_get(block, "invalid")))
        loop_refuse_call(call, "error: not run: the arguments are not valid JSON");
}

static void loop_accept_calls(struct loop *loop, const json_t *message)
{
    json_t *content = json_object_get(message, "content"), *block;
    size_t i, most = json_array_size(content);
    loop->calls = base_alloc((most + 1) * sizeof(*loop->calls));
    loop->running = base_alloc((most + 1) * sizeof(*loop->running));
    json_array_foreach(content, i, block)
    {
        if (block_type(block) == BLOCK_TOOL_CALL)
            loop_accept_call(loop, loop->n_calls++, block);
    }
}

/* Effect of each stop reason: how the loop ends, and the result for calls that are not run. */
static const struct {
    bool ends;
    enum loop_end end;
    const char *why;
} stops[STOP_REASONS] = {
    [STOP_LENGTH] = {true, LOOP_LENGTH,
        "error: not run: the answer was truncated at the token limit, and the call may be "
        "incomplete"},
    [STOP_REFUSAL] = {true, LOOP_REFUSED, "error: not run: the answer ended with a refusal"},
    [STOP_ERROR] = {true, LOOP_FAILED, "error: not run: the answer ended early"},
    [STOP_ABORTED] = {true, LOOP_ABORTED, "aborted: not run: interrupted"},
};

void loop_count(struct loop *loop, const struct usage *more)
{
    uint64_t sum, n = usage_total(more);
    loop->tokens = __builtin_add_overflow(loop->tokens, n, &sum) ? UINT64_MAX : sum;
}

static void loop_count_message(struct loop *loop, const json_t *message)
{
    struct usage u = message_usage(message);
    loop_count(loop, &u);
}

/* The service asks to be called again with its partial answer. */
static bool is_pause(const json_t *message)
{
    return str_is(loop_block_text(message, "raw_stop_reason"), "pause_turn");
}

void loop_answered(struct loop *loop, json_t *message, const struct err *error)
{
    bool failed = error && error->code;
    BUG_ON(!loop->asking);
    loop->asking = false;
    forget_calls(loop);
    bool empty = json_array_size(json_object_get(message, "content")) == 0;
    /* An empty answer that is not final would only make the next request invalid. */
    if (message && !(empty && (failed || is_pause(message)))) {
        json_push(loop->messages, json_incref(message));
        loop_count_message(loop, message);
        loop_accept_calls(loop, message);
    }
    enum stop_reason stop = message ? message_stop(message) : STOP_ERROR;
    if (failed)
        stop = error->code == E_CANCELED ? STOP_ABORTED : STOP_ERROR;
    if (failed && error->code == E_TIMEOUT)
        loop_finish(loop, LOOP_BUDGET, "time");
    if (stops[stop].ends) {
        refuse_all(loop, stops[stop].why);
        loop_finish(loop, stops[stop].end, NULL);
    } else if (loop->n_calls == 0 && !is_pause(message)) {
        loop_finish(loop, LOOP_ANSWERED, NULL);
    }
    append_results(loop);
    json_decref(message);
}

/* Choosing the next action -------------------------------------------------------------------- */

/* Unknown tools count as reading: running them only returns an error. */
static bool only_reads(const json_t *block)
{
    const struct tool *tool = tool_find(loop_block_text(block, "name"));
    return !tool || !tool->mutating;
}

/* Chooses the next calls that can run together, skipping those that have a result. */
static void choose_calls(struct loop *loop)
{
    loop->n_running = 0;
    for (size_t i = loop->next; i < loop->n_calls; i++) {
        const struct loop_call *call = &loop->calls[i];
        if (call->result)
            continue;
        bool reads = only_reads(call->block);
        if (reads || loop->n_running == 0)
            loop->running[loop->n_running++] = call->block;
        if (!reads)
            return;
    }
}

static const char *loop_spent_limit(const struct loop *loop)
{
    if (loop->limits.turns && loop->turns >= loop->limits.turns)
        return "turns";
    if (loop->limits.tokens && loop->tokens >= loop->limits.tokens)
        return "tokens";
    return NULL;
}

struct loop_effect loop_next(struct loop *loop)
{
    append_results(loop);
    if (!loop->over && !loop->asking && loop->next < loop->n_calls) {
        choose_calls(loop);
        return (struct loop_effect){
            .kind = LOOP_RUN, .calls = loop->running, .n_calls = loop->n_running};
    }
    const char *budget = loop_spent_limit(loop);
    if (!loop->asking && budget)
        loop_finish(loop, LOOP_BUDGET, budget);
    if (loop->over)
        return (struct loop_effect){.kind = LOOP_DONE, .end = loop->end, .budget = loop->budget};
    if (!loop->asking)
        loop->turns++;
    loop->asking = true;
    return (struct loop_effect){.kind = LOOP_STREAM};
}

void loop_ran(struct loop *loop, const json_t *call, json_t *result)
{
    for (size_t i = loop->next; i < loop->n_calls; i++) {
        struct loop_call *c = &loop->calls[i];
        if (c->block != call || c->result)
            continue;
        c->result = result;
        append_results(loop);
        return;
    }
    BUG_ON(true);
}

void loop_abort(struct loop *loop, const char *budget)
{
    refuse_all(loop, budget ? "aborted: a limit of the run was reached" : "aborted: interrupted");
    loop->asking = false;
    loop_finish(loop, budget ? LOOP_BUDGET : LOOP_ABORTED, budget);
}
