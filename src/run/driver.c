/* Driving a session by lines of JSON. */
#include "run/driver.h"

#include "run/result.h"
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
    json_t *timeout; /* as it came */
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
        "for a wait; for others: for the first change; echoed", .def = "5000",
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
    struct live live;
    struct patience patience; /* for whoever reads the answers: as long as the command may run */
    struct buf input;
    bool input_ended;
    bool skipping; /* the rest of a line that was too long */
    uint64_t steps;
    bool over;
    bool unread;      /* nobody takes our answers: and therefore over */
    struct err error; /* what ended it, if it was not the session */
};

/* Answers ------------------------------------------------------------------------------------- */

enum {
    ADDED_MATCHED_BY,
    ADDED_ERROR,
    ADDED_REQUEST_ID,
    ADDED_TIMEOUT_MS,
};

/* What an answer has beside what every observation has. */
static const struct {
    const char *name, *help;
} added[] = {
    [ADDED_MATCHED_BY] = {"matched_by", "what ended the wait; absent: nothing did"},
    [ADDED_ERROR] = {"error",
        "why the action did not do what it was to do: code, message, context"},
    [ADDED_REQUEST_ID] = {"request_id", "as it came with the action"},
    [ADDED_TIMEOUT_MS] = {"timeout_ms", "as it came with the action"},
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

static bool is_canceled(const struct driver *d)
{
    struct pollfd word = {.fd = d->job->live.observed.cancel, .events = POLLIN};
    return poll(&word, 1, 0) > 0;
}

static void answer(struct driver *d, json_t *object, const struct message *m)
{
    if (m && m->request_id)
        json_put(object, added[ADDED_REQUEST_ID].name, json_incref(m->request_id));
    if (m && m->timeout)
        json_put(object, added[ADDED_TIMEOUT_MS].name, json_incref(m->timeout));
    if (d->job->answer(d->job->context, object, &d->patience))
        return;
    d->over = d->unread = true;
    d->live.canceled |= is_canceled(d);
}

static void answer_error(struct driver *d, const struct err *error, const struct message *m)
{
    json_t *object = json_object();
    json_put(object, "protocol_version", json_integer(RUN_PROTOCOL_VERSION));
    json_put(object, added[ADDED_ERROR].name, err_to_json(error));
    answer(d, object, m);
    json_decref(object);
}

/* Of ours, or of what was sent to us, and therefore the end; the first one counts. */
static void fail(struct driver *d, struct err *error)
{
    d->over = true;
    if (!d->error.code)
        err_move(&d->error, error);
}

/* What was sent to us makes no sense: with --keep-going that is all, otherwise it is the end. */
static void refuse(struct driver *d, struct err *error, const struct message *m)
{
    answer_error(d, error, m);
    if (!d->job->keep_going)
        fail(d, error);
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
    struct pollfd fds[] = {{.fd = d->job->input, .events = POLLIN},
        {.fd = d->job->live.observed.cancel, .events = POLLIN}};
    if (poll(fds, ARRAY_LEN(fds), -1) > 0 && fds[1].revents)
        d->over = d->live.canceled = true;
    return fds[0].revents;
}

/* Takes output until there is a line, or the end: true with the line. */
static bool next_line(struct driver *d, struct buf *ret_line)
{
    while (!has_line(d) && !d->input_ended && !d->over) {
        session_watch(d->live.session, d->job->input);
        enum session_news news = session_next(d->live.session, UINT64_MAX);
        session_watch(d->live.session, -1);
        d->live.canceled |= news == SESSION_CANCELED;
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
    AUTO_ERR struct err own = {0};
    if (!live_observe(&d->live, (enum observer_screen)m->screen, matched_by, error, &own))
        fail(d, &own);
    answer(d, d->live.observation, m);
}

/* Actions ------------------------------------------------------------------------------------- */

static void perform(struct driver *d, const struct message *m, const struct action *action)
{
    AUTO_ERR struct err error = {0};
    const struct live_wish wish = {m->timeout_ms, m->settle_ms, false};
    const char *matched_by = NULL;
    bool waits = action->type == ACTION_WAIT, ends = action->type == ACTION_TERMINATE;
    bool sent = live_send(&d->live, action, &error);
    if (ends)
        matched_by = "exit";
    else if (sent)
        (void)!live_wait(&d->live, waits ? &action->condition : NULL, &wish, &matched_by, &error);
    d->over |= ends || d->live.canceled || d->live.failed;
    if (!d->live.canceled)
        observe(d, m, matched_by, &error);
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
        "max_steps", " actions", d->job->live.observed.verdict->policy->budgets.max_steps, false};
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
    m.timeout = json_object_get(tree, "timeout_ms");
    if (!ok) {
        refuse(d, &error, &m);
        return;
    }
    if (may_act(d, &m))
        perform(d, &m, &action);
    action_done(&action);
}

/* The whole ----------------------------------------------------------------------------------- */

/* What ended it first counts. */
static void finish(struct driver *d, struct live_result *ret_result)
{
    live_end(&d->live, true, ret_result);
    struct exec_result *run = &ret_result->run;
    if (!d->error.code && !run->error.code && d->unread)
        err_set(&d->error, E_IO, "cannot write the answers: nobody reads them any more");
    if (!d->error.code)
        return;
    run->status = EXEC_ERRORED;
    err_move(&run->error, &d->error);
}

bool driver_run(const struct driver_job *job, struct live_result *ret_result, struct err *err)
{
    struct driver d = {.job = job, .input = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE)};
    if (!live_open(&job->live, &d.live, err))
        return false;
    d.patience = (struct patience){session_ends_ms(d.live.session), job->live.observed.cancel};
    while (!d.over) {
        AUTO_BUF struct buf line = BUF_INIT(DRIVER_LINE_MAX + READ_SIZE);
        if (!next_line(&d, &line))
            break;
        take_line(&d, buf_str(&line));
    }
    finish(&d, ret_result);
    live_done(&d.live);
    buf_done(&d.input);
    return true;
}

json_t *driver_schema(void)
{
    return field_schema(&message_shape);
}
