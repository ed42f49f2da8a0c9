/* Driving a session by lines of JSON. */
#include "run/driver.h"

#include "base/clock.h"
#include "run/request.h"
#include "run/result.h"
#include "run/runner.h"
#include "run/wait.h"

#include <errno.h>
#include <poll.h>

enum {
    READ_SIZE = 64 * 1024,
    ARENA_MAX = 64 << 20,
};

struct driver {
    const struct driver_job *job;
    struct driver_result *result;
    struct observer observer;
    struct session *session;
    struct buf input;
    struct request_result step; /* the one under way */
    size_t line_bytes;
    size_t kept_bytes; /* of what the steps were made from */
    bool input_ended;
    bool over;
    bool canceled; /* and therefore over */
    bool unread;   /* nobody takes our answers: and therefore over */
};

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
        if (news == SESSION_INPUT || (news == SESSION_EXITED && await_input(d)))
            read_input(d);
    }
    const char *end = d->over || !d->input.n ? NULL : memchr(d->input.p, '\n', d->input.n);
    size_t n = end ? (size_t)(end - d->input.p) : d->input_ended && !d->over ? d->input.n : 0;
    if (!end && n == 0)
        return false;
    buf_add(ret_line, d->input.p, n);
    size_t taken = n + (end ? 1 : 0);
    memmove(d->input.p, d->input.p + taken, d->input.n - taken);
    buf_truncate(&d->input, d->input.n - taken);
    return true;
}

/* Answers ------------------------------------------------------------------------------------- */

static void answer(struct driver *d, json_t *object, const struct request *m)
{
    if (m && m->request_id)
        json_put(object, "request_id", json_incref(m->request_id));
    if (!d->job->answer(d->job->context, object))
        d->over = d->unread = true;
}

static void answer_error(struct driver *d, const struct err *error, const struct request *m)
{
    json_t *object = json_object();
    json_put(object, "protocol_version", json_integer(RUN_PROTOCOL_VERSION));
    json_put(object, "error", err_to_json(error));
    answer(d, object, m);
    json_decref(object);
}

static uint64_t since_start(const struct driver *d)
{
    return clock_mono_ms() - d->observer.started_ms;
}

/* A record has limits; what is beyond them makes it one that can't be run again. */
static bool may_keep(struct driver *d, size_t bytes)
{
    d->kept_bytes += bytes;
    bool fits =
        d->kept_bytes <= DRIVER_KEPT_MAX && json_array_size(d->result->steps) < DRIVER_STEPS_MAX;
    d->result->steps_cut |= d->job->artifacts && !fits;
    return d->job->artifacts && fits;
}

/* What was sent to us makes no sense: with --keep-going that is all, otherwise it is the end, and
 * part of the record. */
static void refuse(struct driver *d, struct str line, struct err *error, const struct request *m)
{
    struct exec_result *run = &d->result->run;
    answer_error(d, error, m);
    if (d->job->keep_going)
        return;
    d->step.error = error;
    d->step.ended_ms = since_start(d);
    if (may_keep(d, line.n))
        json_push(d->result->steps, request_refused(line, &d->step));
    d->over = true;
    run->status = EXEC_ERRORED;
    err_move(&run->error, error);
}

/* The screen into the record: whole, also where only what has changed is answered. */
static void keep_screen(struct driver *d, const json_t *observation, bool delta, char *ret_name)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_JSON json_t *whole = delta ? observer_screen(session_term(d->session)) : NULL;
    struct artifacts *a = d->job->artifacts;
    ret_name[0] = '\0';
    if (!a || d->observer.too_large)
        return;
    /* What can't be written is told when the record is sealed. */
    if (!artifacts_snapshot(
            a, whole ? whole : json_object_get(observation, "screen"), ret_name, &ignored))
        ret_name[0] = '\0';
}

static void keep_step(struct driver *d, const struct request *m, const char *snapshot)
{
    d->step.snapshot = snapshot;
    d->step.ended_ms = since_start(d);
    d->step.end_bytes = session_fed_bytes(d->session);
    if (may_keep(d, d->line_bytes))
        json_push(d->result->steps, request_step(m, &d->step));
}

static void observe(
    struct driver *d, const struct request *m, const char *matched_by, const struct err *error)
{
    char name[ARTIFACTS_NAME];
    if (d->job->after)
        d->job->after(d->job->context, d->session);
    json_t *o =
        observer_take(&d->observer, session_term(d->session), (enum observer_screen)m->screen);
    struct exec_result *run = &d->result->run;
    if (!run->error.code && !observer_fits(&d->observer, &run->error)) {
        run->status = EXEC_ERRORED;
        d->over = true;
        error = &run->error;
    }
    if (matched_by)
        json_put(o, "matched_by", json_string(matched_by));
    if (error && error->code)
        json_put(o, "error", err_to_json(error));
    observer_record(&d->observer, o, m->action_json);
    keep_screen(d, o, m->screen == OBSERVER_DELTA, name);
    d->step.matched_by = matched_by;
    d->step.error = error;
    keep_step(d, m, name);
    answer(d, o, m);
    json_decref(o);
}

/* Actions ------------------------------------------------------------------------------------- */

static uint64_t wait_limit(const struct driver *d, const struct request *m)
{
    uint64_t most = d->job->verdict->policy->budgets.max_wait_ms;
    return most ? MIN(m->timeout_ms, most) : m->timeout_ms;
}

static void blame_wait(struct driver *d, const struct request *m, const struct action *action,
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
    struct driver *d, const struct request *m, const struct action *action, uint64_t since)
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

static void perform(struct driver *d, const struct request *m, const struct action *action)
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
    bool sent_it = !sends || action_send(action, d->session, &sent, &error);
    d->step.sent = buf_str(&sent);
    if (!sent_it) {
        observe(d, m, NULL, &error);
        return;
    }
    do_wait(d, m, action, session_changes(d->session));
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr(" \t\r", line.p[i]) || !line.p[i])
            return false;
    return true;
}

static void take_line(struct driver *d, struct str line)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err error = {0};
    struct request request;
    if (is_blank(line))
        return;
    if (d->job->before)
        d->job->before(d->job->context, d->session);
    d->line_bytes = line.n;
    d->step = (struct request_result){.index = json_array_size(d->result->steps),
        .started_ms = since_start(d),
        .from_bytes = session_fed_bytes(d->session)};
    if (request_read(line, &arena, &request, &error))
        perform(d, &request, &request.action);
    else
        refuse(d, line, &error, &request);
    request_done(&request);
}

/* The whole ----------------------------------------------------------------------------------- */

static bool open_session(struct driver *d, struct err *err)
{
    const struct driver_job *job = d->job;
    const struct observer_job observed = {
        job->verdict, job->plan, job->argv, job->envp, job->rows, job->cols, job->cancel};
    return observer_open(&d->observer, &observed, &d->session, err);
}

/* The last screen is what is there when nobody asks any more. */
static void observe_end(struct driver *d)
{
    char ignored[ARTIFACTS_NAME];
    if (d->job->before && !d->over)
        d->job->before(d->job->context, d->session);
    if (!d->over)
        session_drain(d->session);
    d->observer.ended = true;
    json_t *o = observer_take(&d->observer, session_term(d->session), OBSERVER_FULL);
    json_put(o, "transcript_bytes", json_integer((json_int_t)session_fed_bytes(d->session)));
    observer_record(&d->observer, o, NULL);
    keep_screen(d, o, false, ignored);
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
    struct driver_result result = {.run.status = EXEC_PASSED, .steps = json_array()};
    struct driver d = {
        .job = job, .result = &result, .input = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE)};
    observer_init(&d.observer, job->run_id);
    d.observer.artifacts = job->artifacts;
    d.observer.also = job->output;
    d.observer.context = job->context;
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
    } else {
        driver_result_done(&result);
    }
    session_close(d.session);
    observer_done(&d.observer);
    buf_done(&d.input);
    return ok;
}

void driver_result_done(struct driver_result *r)
{
    err_done(&r->run.error);
    json_decrefp(&r->steps);
    json_decrefp(&r->observation);
    r->steps = r->observation = NULL;
}

json_t *driver_schema(void)
{
    return request_schema();
}
