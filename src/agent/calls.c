/* Running tool calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/calls.h"

#include "agent/agent_run.h"
#include "tool/tool.h"

#include <pthread.h>
#include <stdatomic.h>

static json_t *result_message(const json_t *call, const struct tool_result *result)
{
    struct str content = buf_str(&result->content);
    AUTO_BUF struct buf text = BUF_INIT(2 * TOOL_CONTENT_MAX);
    if (result->error.code == E_CANCELED)
        buf_add_z(&text, "aborted: ");
    buf_add_str(&text, content.n ? content : STR("(no output)"));
    return message_tool_result(json_member(call, "id"), json_member(call, "name"), buf_str(&text),
        result->error.code != ERR_NONE);
}

json_t *calls_run_one(struct toolbox *box, const json_t *call, bool *ret_canceled)
{
    struct tool_result result;
    tool_call_json(box, json_member(call, "name"), json_object_get(call, "arguments"), &result);
    json_t *message = result_message(call, &result);
    *ret_canceled = result.error.code == E_CANCELED;
    tool_result_done(&result);
    return message;
}

/* Threads ------------------------------------------------------------------------------------- */

struct calls_batch {
    struct toolbox *box;
    const json_t *const *calls;
    json_t **results;
    size_t n;
    atomic_size_t next;
    atomic_bool canceled;
};

static void calls_run_batch(struct calls_batch *b, struct toolbox *box)
{
    for (size_t i; !b->canceled && (i = b->next++) < b->n;) {
        bool canceled = false;
        b->results[i] = calls_run_one(box, b->calls[i], &canceled);
        if (canceled)
            b->canceled = true;
    }
}

/* If a toolbox cannot be opened, the other threads do the work. */
static void *calls_thread(void *context)
{
    struct calls_batch *b = context;
    struct toolbox *own = NULL;
    AUTO_ERR struct err err = {0};
    if (toolbox_open(b->box->options, &own, &err))
        calls_run_batch(b, own);
    toolbox_close(own);
    return NULL;
}

static size_t threads_for(const struct toolbox *box, size_t n)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (box->options->events.tell || box->options->approve.mode != APPROVE_NEVER ||
        box->options->remote || cores < 2)
        return 0;
    return MIN(n, (size_t)MIN(cores, (long)AGENT_THREADS)) - 1;
}

void calls_run_together(struct toolbox *box, const json_t *const *calls, size_t n,
    json_t **ret_results, bool *ret_canceled)
{
    struct calls_batch b = {.box = box, .calls = calls, .results = ret_results, .n = n};
    pthread_t threads[AGENT_THREADS];
    size_t wanted = threads_for(box, n), begun = 0;
    while (begun < wanted && pthread_create(&threads[begun], NULL, calls_thread, &b) == 0)
        begun++;
    calls_run_batch(&b, box);
    for (size_t i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    *ret_canceled = b.canceled;
}
