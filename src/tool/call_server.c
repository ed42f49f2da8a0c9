/* Serving tool calls, line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/call_server.h"

#include "base/protocol.h"
#include "io/timed_write.h"
#include "tool/guard.h"
#include "tool/sessions.h"
#include "tool/tool.h"

#include <errno.h>
#include <signal.h>

enum {
    LINE_MAX_BYTES = TOOL_ARGUMENTS_MAX,
    READ_SIZE = 64 * 1024,
    ANSWER_MAX = 64 << 20,
    ARENA_MAX = 64 << 20,
};

struct call_server {
    struct call_server_options options;
    struct toolbox *box;
    json_t *request_id; /* of the current call; borrowed, may be NULL */
    int out;            /* stdout, non-blocking if possible */
    size_t room;        /* bytes that can be written at once without blocking */
    struct buf input;
    size_t at;       /* start of the next line */
    size_t looked;   /* no line break before this offset */
    bool skipping;   /* skip the rest of a line that was too long */
    bool ended;      /* end of stdin */
    bool unread;     /* answers can no longer be written */
    int interrupted; /* signal number; 0: none */
};

struct call_server_request {
    struct str name;
    json_t *arguments, *request_id;
    int64_t protocol_version;
};

static const struct field request_fields[] = {
    FIELD_STR("name", struct call_server_request, name, "the tool", .flags = FIELD_REQUIRED),
    FIELD_JSON("arguments", struct call_server_request, arguments,
        "its arguments: an object, or a string that contains one"),
    FIELD_JSON("request_id", struct call_server_request, request_id, "returned with the result"),
    FIELD_I64("protocol_version", struct call_server_request, protocol_version,
        "version of the results", .def = "1", FIELD_RANGE(PROTOCOL_VERSION, PROTOCOL_VERSION)),
};

static const struct shape request_shape =
    SHAPE("request", struct call_server_request, request_fields, "a tool call");

/* Answers ------------------------------------------------------------------------------------- */

static void call_server_read_signal(struct call_server *s)
{
    s->interrupted = guard_take(s->box->options->signals);
}

/* Final output gets only a short write timeout. */
static bool call_server_write_last(struct str text)
{
    struct write_deadline p = TIMED_WRITE_INIT;
    timed_write_end(&p);
    return timed_write(STDOUT_FILENO, text, &p);
}

/* A slow or stalled reader delays neither sessions nor termination. */
static bool call_server_write(struct call_server *s, struct str text)
{
    while (text.n) {
        struct pollfd fds[] = {
            {.fd = s->out, .events = POLLOUT}, {.fd = s->box->options->signals, .events = POLLIN}};
        const struct sessions_wait wait = {
            .deadline_ms = UINT64_MAX, .fds = fds, .n_fds = ARRAY_LEN(fds)};
        if (sessions_wait(s->box, &wait) != SESSIONS_READABLE)
            continue;
        if (!fds[0].revents) {
            call_server_read_signal(s);
            return call_server_write_last(text);
        }
        ssize_t n = timed_write_put(s->out, str_head(text, MIN(text.n, s->room)));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        text = str_skip(text, n > 0 ? (size_t)n : 0);
    }
    return true;
}

static void call_server_add_answer(
    const struct tool_result *result, json_t *request_id, struct buf *line)
{
    AUTO_JSON json_t *whole = json_object();
    json_put(whole, "protocol_version", json_integer(PROTOCOL_VERSION));
    if (request_id)
        json_put(whole, "request_id", json_incref(request_id));
    AUTO_JSON json_t *object = tool_result_json(result);
    BUG_ON(json_object_update(whole, object) != 0);
    json_add_compact(line, whole);
    buf_add_byte(line, '\n');
}

static void call_server_send_answer(
    struct call_server *s, const struct tool_result *result, json_t *request_id)
{
    AUTO_BUF struct buf line = BUF_INIT(ANSWER_MAX);
    call_server_add_answer(result, request_id, &line);
    s->unread = !buf_ok(&line) || !call_server_write(s, buf_str(&line));
}

/* A signal interrupted a tool that does not poll: the tool can only be ended with the whole
 * process. */
static void call_server_on_canceled(void *context, const struct tool_result *result)
{
    const struct call_server *s = context;
    AUTO_BUF struct buf line = BUF_INIT(ANSWER_MAX);
    call_server_add_answer(result, s->request_id, &line);
    call_server_write_last(buf_str(&line));
    if (s->options.on_canceled)
        s->options.on_canceled(s->options.context, &result->error);
    _exit(err_status(result->error.code));
}

static void call_server_send_error(struct call_server *s, struct err *error, json_t *request_id)
{
    struct tool_result result;
    tool_result_init(&result);
    err_move(&result.error, error);
    buf_printf(&result.content, "error: %s", result.error.message);
    call_server_send_answer(s, &result, request_id);
    tool_result_done(&result);
}

/* SIGINT ends only the call; any other signal also ends the program. */
static void call_server_note_signal(struct call_server *s, const struct err *error)
{
    const struct err_pair *sig = error->code == E_CANCELED ? err_ctx_get(error, "signal") : NULL;
    if (sig && sig->number != SIGINT)
        s->interrupted = (int)sig->number;
}

static void call_server_call_tool(struct call_server *s, const struct call_server_request *r)
{
    struct tool_result result;
    AUTO_JSON json_t *none = json_object();
    s->request_id = r->request_id;
    if (json_is_string(r->arguments))
        tool_call(s->box, r->name, json_str(r->arguments), &result);
    else
        tool_call_json(s->box, r->name,
            r->arguments && !json_is_null(r->arguments) ? r->arguments : none, &result);
    call_server_note_signal(s, &result.error);
    call_server_send_answer(s, &result, r->request_id);
    tool_result_done(&result);
}

static bool call_server_is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\r')
            return false;
    return true;
}

static void call_server_handle_line(struct call_server *s, struct str line)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err error = {0};
    struct call_server_request request = {0};
    if (call_server_is_blank(line))
        return;
    if (json_parse(line, "input", E_PROTOCOL, &tree, &error) &&
        field_read(&request_shape, tree, &a, E_PROTOCOL, &request, &error))
        call_server_call_tool(s, &request);
    else
        call_server_send_error(s, &error, json_object_get(tree, "request_id"));
}

/* Input --------------------------------------------------------------------------------------- */

static void call_server_reject_long_line(struct call_server *s)
{
    AUTO_ERR struct err error = {0};
    err_set(&error, E_PROTOCOL, "a line of more than %d bytes was skipped", LINE_MAX_BYTES);
    call_server_send_error(s, &error, NULL);
    s->skipping = true;
}

/* Removes consumed input; shrinks a large buffer. */
static void call_server_compact_input(struct call_server *s)
{
    struct buf rest = BUF_INIT(LINE_MAX_BYTES + 2 * READ_SIZE);
    if (s->at == 0)
        return;
    if (s->input.cap > 4 * READ_SIZE && s->input.n - s->at < READ_SIZE) {
        buf_add(&rest, s->input.p + s->at, s->input.n - s->at);
        buf_done(&s->input);
        s->input = rest;
    } else {
        memmove(s->input.p, s->input.p + s->at, s->input.n - s->at);
        buf_truncate(&s->input, s->input.n - s->at);
    }
    s->looked -= MIN(s->looked, s->at);
    s->at = 0;
}

static void call_server_read_input(struct call_server *s)
{
    call_server_compact_input(s);
    char *room = buf_reserve(&s->input, READ_SIZE);
    ssize_t n = room ? read(STDIN_FILENO, room, READ_SIZE) : 0;
    if (n > 0)
        buf_grown(&s->input, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        s->ended = true;
}

/* Handles all complete lines; at end of input also an incomplete one. */
static void call_server_handle_lines(struct call_server *s)
{
    while (!s->unread && !s->interrupted && s->at < s->input.n) {
        s->looked = MAX(s->looked, s->at);
        const char *p = s->input.p, *end = memchr(p + s->looked, '\n', s->input.n - s->looked);
        size_t stop = end ? (size_t)(end - p) : s->input.n;
        if (!end && !s->ended) {
            s->looked = stop;
            if (s->skipping)
                s->at = stop;
            else if (stop - s->at > LINE_MAX_BYTES)
                call_server_reject_long_line(s);
            return;
        }
        struct str line = str_n(p + s->at, stop - s->at);
        s->at = stop + (end ? 1 : 0);
        if (s->skipping)
            s->skipping = false;
        else if (line.n > LINE_MAX_BYTES)
            call_server_reject_long_line(s), s->skipping = false;
        else
            call_server_handle_line(s, line);
    }
}

static bool call_server_finish(const struct call_server *s, struct err *err)
{
    if (s->interrupted)
        return guard_error(err, s->interrupted);
    return !s->unread ||
           err_set(err, E_IO, "cannot write the results: standard output is no longer read");
}

bool call_server_run(const struct call_server_options *options, struct err *err)
{
    AUTO_FD int own = timed_write_open(STDOUT_FILENO);
    struct toolbox *box = options->box;
    struct call_server s = {
        .options = *options,
        .box = box,
        .out = own >= 0 ? own : STDOUT_FILENO,
        .room = own >= 0 ? ANSWER_MAX : timed_write_room(STDOUT_FILENO),
        .input = BUF_INIT(LINE_MAX_BYTES + 2 * READ_SIZE),
    };
    options->toolbox->called_off = call_server_on_canceled;
    options->toolbox->context = &s;
    signal(SIGPIPE, SIG_IGN);
    while (!s.ended && !s.unread && !s.interrupted) {
        struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
            {.fd = box->options->signals, .events = POLLIN}};
        const struct sessions_wait wait = {
            .deadline_ms = UINT64_MAX, .fds = fds, .n_fds = ARRAY_LEN(fds)};
        if (sessions_wait(box, &wait) != SESSIONS_READABLE)
            continue;
        if (fds[1].revents)
            call_server_read_signal(&s);
        else if (fds[0].revents)
            call_server_read_input(&s);
        call_server_handle_lines(&s);
    }
    buf_done(&s.input);
    return call_server_finish(&s, err);
}
