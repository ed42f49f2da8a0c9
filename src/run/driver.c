/* Drives a session by lines of JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/driver.h"

#include "base/clock.h"
#include "run/run_request.h"
#include "run/run_result.h"
#include "session/budget.h"

#include <errno.h>
#include <poll.h>

enum {
    READ_SIZE = 64 * 1024,
    ARENA_MAX = 64 << 20,
};

struct driver {
    const struct driver_options *options;
    struct live live;
    struct write_deadline deadline; /* timeout for writing answers: the command's own run time */
    struct buf input;
    bool input_ended;
    bool skipping; /* discarding the rest of a line that was too long */
    uint64_t actions;
    json_t *steps;              /* for the record; NULL: no record */
    struct request_result step; /* the current one */
    size_t line_bytes;          /* length of the line that the step came from */
    size_t kept_bytes;          /* total length of the lines kept as steps */
    bool steps_cut;
    bool over;
    bool unread;      /* answers can't be written, so the session is over */
    struct err error; /* the error that ended it, unless the session itself failed */
};

/* Answers ------------------------------------------------------------------------------------- */

enum {
    ADDED_MATCHED_BY,
    ADDED_ERROR,
    ADDED_REQUEST_ID,
    ADDED_TIMEOUT_MS,
};

/* Fields of an answer in addition to those of every observation. */
static const struct {
    const char *name, *help;
} added[] = {
    [ADDED_MATCHED_BY] = {"matched_by", "event that ended the wait; absent if none did"},
    [ADDED_ERROR] = {"error", "reason why the action failed: code, message, context"},
    [ADDED_REQUEST_ID] = {"request_id", "copied from the action"},
    [ADDED_TIMEOUT_MS] = {"timeout_ms", "copied from the action"},
};

json_t *driver_fields(void)
{
    json_t *list = observer_fields();
    for (size_t i = 0; i < ARRAY_LEN(added); i++) {
        json_t *entry = json_object();
        json_put(entry, "name", json_string(added[i].name));
        json_put(entry, "help", json_string(added[i].help));
        json_push(list, entry);
    }
    return list;
}

static bool driver_is_canceled(const struct driver *d)
{
    struct pollfd word = {.fd = d->options->live.observed.cancel, .events = POLLIN};
    return poll(&word, 1, 0) > 0;
}

static void driver_send_answer(struct driver *d, json_t *object, const struct request *m)
{
    if (m && m->request_id)
        json_put(object, added[ADDED_REQUEST_ID].name, json_incref(m->request_id));
    json_t *timeout = m ? json_object_get(m->tree, "timeout_ms") : NULL;
    if (timeout)
        json_put(object, added[ADDED_TIMEOUT_MS].name, json_incref(timeout));
    if (d->options->answer(d->options->context, object, &d->deadline))
        return;
    d->over = d->unread = true;
    d->live.canceled |= driver_is_canceled(d);
}

static void driver_send_error(struct driver *d, const struct err *error, const struct request *m)
{
    json_t *object = json_object();
    json_put(object, "protocol_version", json_integer(RUN_PROTOCOL_VERSION));
    json_put(object, added[ADDED_ERROR].name, err_to_json(error));
    driver_send_answer(d, object, m);
    json_decref(object);
}

/* Ends the session with an error, ours or the client's; the first one counts. */
static void driver_fail(struct driver *d, struct err *error)
{
    d->over = true;
    if (!d->error.code)
        err_move(&d->error, error);
}

/* The record ---------------------------------------------------------------------------------- */

static uint64_t since_start(const struct driver *d)
{
    return clock_mono_ms() - d->live.observer.started_ms;
}

static void begin_step(struct driver *d, struct str line)
{
    d->line_bytes = line.n;
    d->step = (struct request_result){.index = json_array_size(d->steps),
        .started_ms = since_start(d),
        .from_bytes = session_fed_bytes(d->live.session),
        .snapshot = ""};
}

/* Beyond its limits a record is incomplete and can't be replayed. */
static bool may_keep(struct driver *d)
{
    d->kept_bytes += d->line_bytes;
    bool fits = d->kept_bytes <= DRIVER_KEPT_MAX && json_array_size(d->steps) < DRIVER_STEPS_MAX;
    d->steps_cut |= d->steps && !fits;
    return d->steps && fits;
}

static void keep_step(struct driver *d, const struct request *m, const struct err *error)
{
    d->step.error = error;
    d->step.ended_ms = since_start(d);
    d->step.end_bytes = session_fed_bytes(d->live.session);
    if (may_keep(d))
        json_push(d->steps, request_step(m, &d->step));
}

static void keep_refused(struct driver *d, struct str line, const struct err *error)
{
    d->step.error = error;
    d->step.ended_ms = since_start(d);
    if (may_keep(d))
        json_push(d->steps, request_refused(line, &d->step));
}

/* Answers input that can't be understood. Without --keep-going it also ends the session, and
 * becomes part of the record. */
static void driver_refuse(
    struct driver *d, struct str line, struct err *error, const struct request *m)
{
    driver_send_error(d, error, m);
    if (d->options->keep_going)
        return;
    keep_refused(d, line, error);
    driver_fail(d, error);
}

static void refuse_length(struct driver *d, struct str line)
{
    AUTO_ERR struct err error = {0};
    err_set(&error, E_PROTOCOL, "a line of the input is longer than %d MiB", DRIVER_LINE_MAX >> 20);
    err_ctx_int(&error, "limit", DRIVER_LINE_MAX);
    driver_refuse(d, line, &error, NULL);
}

/* Lines --------------------------------------------------------------------------------------- */

static bool has_line(const struct driver *d)
{
    return d->input.n && memchr(d->input.p, '\n', d->input.n);
}

static void driver_read_input(struct driver *d)
{
    char *to = buf_reserve(&d->input, READ_SIZE);
    ssize_t n = to ? read(d->options->input, to, READ_SIZE) : 0;
    if (n > 0)
        buf_grown(&d->input, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        d->input_ended = true;
}

static void driver_discard_input(struct driver *d, size_t n)
{
    memmove(d->input.p, d->input.p + n, d->input.n - n);
    buf_truncate(&d->input, d->input.n - n);
}

/* Answers an overlong line at once and discards it. */
static void check_length(struct driver *d)
{
    const char *end = d->input.n ? memchr(d->input.p, '\n', d->input.n) : NULL;
    bool skipped = d->skipping;
    if (!skipped && !end && d->input.n > DRIVER_LINE_MAX) {
        d->skipping = true;
        begin_step(d, buf_str(&d->input));
        refuse_length(d, buf_str(&d->input));
    }
    if (!d->skipping)
        return;
    driver_discard_input(d, end ? (size_t)(end - d->input.p) + 1 : d->input.n);
    d->skipping = !end;
}

/* Waits for input after the command has ended: the client may still ask about it. */
static bool await_input(struct driver *d)
{
    struct pollfd fds[] = {{.fd = d->options->input, .events = POLLIN},
        {.fd = d->options->live.observed.cancel, .events = POLLIN}};
    if (poll(fds, ARRAY_LEN(fds), -1) > 0 && fds[1].revents)
        d->over = d->live.canceled = true;
    return fds[0].revents;
}

/* Handles output until there is a line or the end. Returns true with the line. */
static bool driver_next_line(struct driver *d, struct buf *ret_line)
{
    while (!has_line(d) && !d->input_ended && !d->over) {
        session_watch(d->live.session, d->options->input);
        enum session_news news = session_next(d->live.session, UINT64_MAX);
        session_watch(d->live.session, -1);
        d->live.canceled |= news == SESSION_CANCELED;
        d->over |= news == SESSION_CANCELED || news == SESSION_FAILED;
        if (d->over)
            break;
        if (news == SESSION_INPUT || (news == SESSION_EXITED && await_input(d))) {
            driver_read_input(d);
            check_length(d);
        }
    }
    const char *end = d->over || !d->input.n ? NULL : memchr(d->input.p, '\n', d->input.n);
    size_t n = end ? (size_t)(end - d->input.p) : d->input_ended && !d->over ? d->input.n : 0;
    if (!end && n == 0)
        return false;
    buf_add(ret_line, d->input.p, n);
    driver_discard_input(d, n + (end ? 1 : 0));
    return true;
}

/* Observations -------------------------------------------------------------------------------- */

static void driver_observe(
    struct driver *d, const struct request *m, const char *matched_by, const struct err *error)
{
    AUTO_ERR struct err own = {0};
    const struct live_look look = {
        (enum observer_screen)m->screen, matched_by, error, m->action_json};
    if (d->options->after)
        d->options->after(d->options->context, d->live.session);
    bool ok = live_observe(&d->live, &look, &own);
    d->step.matched_by = matched_by;
    d->step.snapshot = d->live.snapshot;
    keep_step(d, m, ok ? error : &own);
    if (!ok)
        driver_fail(d, &own);
    driver_send_answer(d, d->live.observation, m);
}

/* Actions ------------------------------------------------------------------------------------- */

static void driver_perform(struct driver *d, const struct request *m)
{
    const struct action *action = &m->action;
    AUTO_ERR struct err error = {0};
    const struct live_wait_options options = {m->timeout_ms, m->settle_ms, false};
    const char *matched_by = NULL;
    bool waits = action->type == ACTION_WAIT, ends = action->type == ACTION_TERMINATE;
    bool sent = live_send(&d->live, action, &error);
    d->step.sent = buf_str(&d->live.sent);
    if (ends)
        matched_by = "exit";
    else if (sent)
        (void)!live_wait(
            &d->live, waits ? &action->condition : NULL, &options, &matched_by, &error);
    d->over |= ends || d->live.canceled || d->live.failed;
    if (!d->live.canceled)
        driver_observe(d, m, matched_by, &error);
}

static bool driver_is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr(" \t\r", line.p[i]) || !line.p[i])
            return false;
    return true;
}

/* Ends the session at the first action beyond max_steps. */
static bool may_act(struct driver *d, const struct request *m)
{
    AUTO_ERR struct err error = {0};
    const struct budget steps = {"max_steps", "received more than", " actions",
        d->options->live.observed.confined->policy.budgets.max_steps, false};
    if (d->actions++ < steps.limit)
        return true;
    (void)budget_blame(&steps, &error);
    driver_send_error(d, &error, m);
    keep_step(d, m, &error);
    driver_fail(d, &error);
    return false;
}

static void driver_handle_request(struct driver *d, struct str line)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err error = {0};
    struct request request;
    if (!request_read(line, &arena, &request, &error))
        driver_refuse(d, line, &error, &request);
    else if (may_act(d, &request))
        driver_perform(d, &request);
    request_done(&request);
}

static void driver_handle_line(struct driver *d, struct str line)
{
    if (driver_is_blank(line))
        return;
    if (d->options->before)
        d->options->before(d->options->context, d->live.session);
    begin_step(d, line);
    if (line.n > DRIVER_LINE_MAX)
        refuse_length(d, line);
    else
        driver_handle_request(d, line);
}

/* Start and end ------------------------------------------------------------------------------- */

/* Takes the last screen when the input has ended. The first error counts. */
static void driver_finish(struct driver *d, struct live_result *ret_result)
{
    if (d->options->before && !d->over)
        d->options->before(d->options->context, d->live.session);
    if (!d->over)
        session_drain(d->live.session);
    live_end(&d->live, true, ret_result);
    ret_result->steps = d->steps;
    ret_result->steps_cut = d->steps_cut;
    struct exec_result *run = &ret_result->run;
    if (!d->error.code && !run->error.code && d->unread)
        err_set(&d->error, E_IO, "cannot write the answers: the output was closed by its reader");
    if (!d->error.code)
        return;
    run->status = EXEC_ERRORED;
    err_move(&run->error, &d->error);
}

bool driver_run(
    const struct driver_options *options, struct live_result *ret_result, struct err *err)
{
    struct driver d = {.options = options, .input = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE)};
    if (!live_open(&options->live, &d.live, err))
        return false;
    d.deadline =
        (struct write_deadline){session_ends_ms(d.live.session), options->live.observed.cancel};
    d.steps = options->live.artifacts ? json_array() : NULL;
    while (!d.over) {
        AUTO_BUF struct buf line = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE);
        if (!driver_next_line(&d, &line))
            break;
        driver_handle_line(&d, buf_str(&line));
    }
    driver_finish(&d, ret_result);
    live_done(&d.live);
    buf_done(&d.input);
    return true;
}

json_t *driver_schema(void)
{
    return request_schema();
}
