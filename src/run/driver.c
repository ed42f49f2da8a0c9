/* Driving a session by lines of JSON. */
#include "run/driver.h"

#include "base/clock.h"
#include "run/result.h"
#include "run/runner.h"
#include "run/wait.h"
#include "session/budget.h"

#include <errno.h>
#include <poll.h>

enum {
    READ_SIZE = 64 * 1024,
    ARENA_MAX = 64 << 20,
};

static const char *const screens[] = {"full", "cells", "delta"}; /* by enum observer_screen */

struct message {
    uint32_t version;
    json_t *action;
    json_t *request_id;
    uint64_t timeout_ms, settle_ms;
    int screen;
};

static const struct field message_fields[] = {
    FIELD_U32("protocol_version", struct message, version, "1", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, 1)),
    FIELD_JSON(
        "action", struct message, action, "{\"type\", \"payload\"}", .flags = FIELD_REQUIRED),
    FIELD_JSON("request_id", struct message, request_id, "echoed in the answer"),
    FIELD_U64("timeout_ms", struct message, timeout_ms,
        "for a wait; for others: for the first change", .def = "5000",
        FIELD_RANGE(1, 24 * 3600 * 1000)),
    FIELD_U64("settle_ms", struct message, settle_ms,
        "answer only when nothing has changed for so long", .def = "0",
        FIELD_RANGE(0, 3600 * 1000)),
    FIELD_ENUM("screen", struct message, screen, screens,
        "full: the lines; cells: with every cell; delta: the rows that have changed since the last "
        "answer",
        .def = "\"full\""),
};
static const struct shape message_shape =
    SHAPE("driver_input", struct message, message_fields, "one line of the driver's input");

struct driver {
    const struct driver_job *job;
    struct driver_result *result;
    struct observer observer;
    struct session *session;
    struct buf input;
    bool input_ended;
    bool skipping; /* the rest of a line that was too long */
    uint64_t steps;
    bool over;
    bool canceled; /* and therefore over */
    bool unread;   /* nobody takes our answers: and therefore over */
};

/* Answers ------------------------------------------------------------------------------------- */

enum {
    ADDED_MATCHED_BY,
    ADDED_ERROR,
    ADDED_REQUEST_ID,
};

/* What an answer has beside what every observation has. */
static const struct {
    const char *name, *help;
} added[] = {
    [ADDED_MATCHED_BY] = {"matched_by", "what ended the wait; absent: nothing did"},
    [ADDED_ERROR] = {"error",
        "why the action did not do what it was to do: code, message, context"},
    [ADDED_REQUEST_ID] = {"request_id", "as it came with the action"},
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

static void answer(struct driver *d, json_t *object, const struct message *m)
{
    if (m && m->request_id)
        json_put(object, added[ADDED_REQUEST_ID].name, json_incref(m->request_id));
    if (!d->job->answer(d->job->context, object))
        d->over = d->unread = true;
}

static void answer_error(struct driver *d, const struct err *error, const struct message *m)
{
    json_t *object = json_object();
    json_put(object, "protocol_version", json_integer(RUN_PROTOCOL_VERSION));
    json_put(object, added[ADDED_ERROR].name, err_to_json(error));
    answer(d, object, m);
    json_decref(object);
}

/* What was sent to us makes no sense: with --keep-going that is all, otherwise it is the end. */
static void refuse(struct driver *d, struct err *error, const struct message *m)
{
    struct exec_result *run = &d->result->run;
    answer_error(d, error, m);
    if (d->job->keep_going)
        return;
    d->over = true;
    run->status = EXEC_ERRORED;
    err_move(&run->error, error);
}

/* Of ours, and therefore the end. */
static void fail(struct driver *d, struct err *error)
{
    struct exec_result *run = &d->result->run;
    d->over = true;
    if (run->error.code)
        return;
    run->status = EXEC_ERRORED;
    err_move(&run->error, error);
}

static void refuse_length(struct driver *d)
{
    AUTO_ERR struct err error = {0};
    err_set(&error, E_PROTOCOL, "a line of the input is longer than %d MiB", DRIVER_LINE_MAX >> 20);
    err_ctx_int(&error, "limit", DRIVER_LINE_MAX);
    refuse(d, &error, NULL);
}

/* Lines --------------------------------------------------------------------------------------- */

static bool has_line(const struct driver *d)
{
    return d->input.n && memchr(d->input.p, '\n', d->input.n);
}

static void read_input(struct driver *d)
{
    char *to = buf_reserve(&d->input, READ_SIZE);
    ssize_t n = to ? read(d->job->input, to, READ_SIZE) : 0;
    if (n > 0)
        buf_grown(&d->input, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        d->input_ended = true;
}

static void drop(struct driver *d, size_t n)
{
    memmove(d->input.p, d->input.p + n, d->input.n - n);
    buf_truncate(&d->input, d->input.n - n);
}

/* A line that is too long is answered at once, and nothing of it is kept. */
static void check_length(struct driver *d)
{
    const char *end = d->input.n ? memchr(d->input.p, '\n', d->input.n) : NULL;
    bool skipped = d->skipping;
    if (!skipped && !end && d->input.n > DRIVER_LINE_MAX) {
        d->skipping = true;
        refuse_length(d);
    }
    if (!d->skipping)
        return;
    drop(d, end ? (size_t)(end - d->input.p) + 1 : d->input.n);
    d->skipping = !end;
}

/* The command has ended; there may still be questions about it. */
static bool await_input(struct driver *d)
{
    struct pollfd fds[] = {
        {.fd = d->job->input, .events = POLLIN}, {.fd = d->job->cancel, .events = POLLIN}};
    if (poll(fds, ARRAY_LEN(fds), -1) > 0 && fds[1].revents)
        d->over = d->canceled = true;
    return fds[0].revents;
}

/* Takes output until there is a line, or the end: true with the line. */
static bool next_line(struct driver *d, struct buf *ret_line)
{
    while (!has_line(d) && !d->input_ended && !d->over) {
        session_watch(d->session, d->job->input);
        enum session_news news = session_next(d->session, UINT64_MAX);
        session_watch(d->session, -1);
        d->canceled |= news == SESSION_CANCELED;
        d->over |= news == SESSION_CANCELED || news == SESSION_FAILED;
        if (d->over)
            break;
        if (news == SESSION_INPUT || (news == SESSION_EXITED && await_input(d))) {
            read_input(d);
            check_length(d);
        }
    }
    const char *end = d->over || !d->input.n ? NULL : memchr(d->input.p, '\n', d->input.n);
    size_t n = end ? (size_t)(end - d->input.p) : d->input_ended && !d->over ? d->input.n : 0;
    if (!end && n == 0)
        return false;
    buf_add(ret_line, d->input.p, n);
    drop(d, n + (end ? 1 : 0));
    return true;
}

/* Observations -------------------------------------------------------------------------------- */

static void observe(
    struct driver *d, const struct message *m, const char *matched_by, const struct err *error)
{
    char name[ARTIFACTS_NAME];
    AUTO_ERR struct err own = {0};
    json_t *o =
        observer_take(&d->observer, session_term(d->session), (enum observer_screen)m->screen);
    struct artifacts *a = d->job->artifacts;
    if (!observer_fits(&d->observer, &own) ||
        (a && !artifacts_snapshot(a, json_object_get(o, "screen"), name, &own))) {
        fail(d, &own);
        error = &d->result->run.error;
    }
    if (matched_by)
        json_put(o, added[ADDED_MATCHED_BY].name, json_string(matched_by));
    if (error && error->code)
        json_put(o, added[ADDED_ERROR].name, err_to_json(error));
    if (a)
        artifacts_event(a, o);
    answer(d, o, m);
    json_decref(o);
}

/* Actions ------------------------------------------------------------------------------------- */

static uint64_t wait_limit(const struct driver *d, const struct message *m)
{
    return MIN(m->timeout_ms, d->job->verdict->policy->budgets.max_wait_ms);
}

static void blame_wait(struct driver *d, const struct message *m, const struct action *action,
    const struct wait_result *got, struct err *error)
{
    uint64_t limit = wait_limit(d, m);
    const struct session_exit *e = session_exit_of(d->session);
    if (got->end == WAIT_TIMEOUT) {
        err_set(error, E_TIMEOUT, "the condition did not hold within %llu ms",
            (unsigned long long)limit);
        err_ctx(error, "condition", "%s", condition_name(&action->condition));
        err_ctx(error, "budget", "%s", limit < m->timeout_ms ? "max_wait_ms" : "timeout_ms");
        runner_blame_screen(d->session, error);
    } else if (got->end == WAIT_EXITED) {
        err_set(error, E_PROCESS_EXIT, "the command has ended");
        err_ctx_int(error, e->signal ? "signal" : "exit_code", e->signal ? e->signal : e->code);
    }
}

static void do_wait(
    struct driver *d, const struct message *m, const struct action *action, uint64_t since)
{
    uint64_t now = clock_mono_ms();
    bool waits = action->type == ACTION_WAIT;
    const struct wait w = {
        .session = d->session,
        .conditions = &action->condition,
        .n = waits ? 1 : 0,
        .since = since,
        .sent_ms = now,
        .after_input = !waits,
        .settle_ms = m->settle_ms,
        .deadline_ms = now + wait_limit(d, m),
    };
    struct wait_result got;
    AUTO_ERR struct err error = {0};
    wait_run(&w, &got);
    if (!waits && got.end == WAIT_HELD && m->settle_ms == 0)
        session_drain(d->session);
    if (got.end == WAIT_FAILED)
        err_copy(&error, session_error(d->session));
    else if (waits)
        blame_wait(d, m, action, &got, &error);
    d->canceled |= got.end == WAIT_CANCELED;
    d->over |= got.end == WAIT_CANCELED || got.end == WAIT_FAILED;
    if (!d->canceled)
        observe(d, m, got.matched_by, &error);
}

static void perform(struct driver *d, const struct message *m, const struct action *action)
{
    AUTO_ERR struct err error = {0};
    AUTO_BUF struct buf sent = BUF_INIT(DRIVER_LINE_MAX);
    bool sends = action->type != ACTION_WAIT && action->type != ACTION_TERMINATE;
    if (action->type == ACTION_TERMINATE) {
        session_terminate(d->session, SESSION_GRACE_MS);
        observe(d, m, "exit", NULL);
        d->over = true;
        return;
    }
    if (sends && session_has_ended(d->session)) {
        blame_wait(d, m, action, &(struct wait_result){.end = WAIT_EXITED}, &error);
        observe(d, m, NULL, &error);
        return;
    }
    if (sends && !action_send(action, d->session, &sent, &error)) {
        observe(d, m, NULL, &error);
        return;
    }
    do_wait(d, m, action, session_changes(d->session));
}

static bool check_version(const json_t *tree, struct err *err)
{
    const json_t *version = json_object_get(tree, "protocol_version");
    if (!json_is_integer(version) || json_integer_value(version) == RUN_PROTOCOL_VERSION)
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH,
        "protocol_version %lld is not supported: this program speaks %d",
        (long long)json_integer_value(version), RUN_PROTOCOL_VERSION);
    err_ctx_int(err, "provided_version", (int64_t)json_integer_value(version));
    return err_ctx_int(err, "supported_version", RUN_PROTOCOL_VERSION);
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr(" \t\r", line.p[i]) || !line.p[i])
            return false;
    return true;
}

/* One action more than are allowed ends it. */
static bool may_act(struct driver *d, const struct message *m)
{
    AUTO_ERR struct err error = {0};
    const struct budget steps = {
        "max_steps", " actions", d->job->verdict->policy->budgets.max_steps, false};
    if (d->steps++ < steps.limit)
        return true;
    (void)budget_blame(&steps, &error);
    answer_error(d, &error, m);
    fail(d, &error);
    return false;
}

static void take_line(struct driver *d, struct str line)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(ARENA_MAX);
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err error = {0};
    struct message m = {0};
    struct action action = {0};
    if (is_blank(line))
        return;
    if (line.n > DRIVER_LINE_MAX) {
        refuse_length(d);
        return;
    }
    bool ok = json_parse(line, "input", E_PROTOCOL, &tree, &error);
    m.request_id = json_object_get(tree, "request_id");
    ok = ok && check_version(tree, &error) &&
         field_read(&message_shape, tree, &arena, E_PROTOCOL, &m, &error) &&
         action_read(m.action, "action", &arena, &action, &error);
    if (!ok) {
        refuse(d, &error, &m);
        return;
    }
    if (may_act(d, &m))
        perform(d, &m, &action);
    action_done(&action);
}

/* The whole ----------------------------------------------------------------------------------- */

static bool open_session(struct driver *d, struct err *err)
{
    const struct driver_job *job = d->job;
    const struct observer_job observed = {
        job->verdict, job->plan, job->argv, job->envp, job->rows, job->cols, job->cancel};
    return observer_open(&d->observer, &observed, &d->session, err);
}

/* What nobody asked for any more is in the result and in the record. */
static void observe_end(struct driver *d)
{
    char name[ARTIFACTS_NAME];
    AUTO_ERR struct err error = {0};
    struct artifacts *a = d->job->artifacts;
    d->observer.ended = true;
    json_t *o = observer_take(&d->observer, session_term(d->session), OBSERVER_FULL);
    if (a)
        artifacts_event(a, o);
    if (!observer_fits(&d->observer, &error) ||
        (a && !artifacts_snapshot(a, json_object_get(o, "screen"), name, &error)))
        fail(d, &error);
    json_decrefp(&d->result->observation);
    d->result->observation = o;
}

static void finish(struct driver *d)
{
    struct exec_result *run = &d->result->run;
    const struct err *error = session_error(d->session);
    observe_end(d);
    session_terminate(d->session, SESSION_GRACE_MS);
    if (error->code && !run->error.code) {
        run->status = EXEC_ERRORED;
        err_copy(&run->error, error);
    } else if (d->canceled && !run->error.code) {
        run->status = EXEC_CANCELED;
        err_set(&run->error, E_CANCELED, "interrupted");
    } else if (d->unread && !run->error.code) {
        run->status = EXEC_ERRORED;
        err_set(&run->error, E_IO, "cannot write the answers: nobody reads them any more");
    }
    run->exit = *session_exit_of(d->session);
    run->output_bytes = session_output_bytes(d->session);
    run->ended_ms = clock_mono_ms();
}

bool driver_run(const struct driver_job *job, struct driver_result *ret_result, struct err *err)
{
    struct driver_result result = {.run.status = EXEC_PASSED};
    struct driver d = {
        .job = job, .result = &result, .input = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE)};
    observer_init(&d.observer);
    d.observer.artifacts = job->artifacts;
    d.observer.snapshot_max = job->verdict->policy->budgets.max_snapshot_bytes;
    result.run.started_ms = d.observer.started_ms;
    memcpy(result.run_id, d.observer.run_id, sizeof(result.run_id));
    memcpy(result.session_id, d.observer.session_id, sizeof(result.session_id));
    bool ok = open_session(&d, err);
    while (ok && !d.over) {
        AUTO_BUF struct buf line = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE);
        if (!next_line(&d, &line))
            break;
        take_line(&d, buf_str(&line));
    }
    if (ok) {
        finish(&d);
        *ret_result = result;
    }
    session_close(d.session);
    observer_done(&d.observer);
    buf_done(&d.input);
    return ok;
}

void driver_result_done(struct driver_result *r)
{
    err_done(&r->run.error);
    json_decrefp(&r->observation);
    r->observation = NULL;
}

json_t *driver_schema(void)
{
    return field_schema(&message_shape);
}
