/* A server that plays a script: one poll loop; each connection has an intake and a play. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script_server.h"

#include "base/clock.h"
#include "io/file.h"
#include "llm/intake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    FILL_SIZE = 64 * 1024,
    LOG_LINE_MAX = 160 << 20,
    SCRIPT_SERVER_WAIT_MAX = 60 * 1000,
};

struct llm_serve_connection {
    int fd; /* -1: free */
    uint64_t number;
    struct intake in;
    bool playing;
    struct script_render play;
    size_t at, mark;  /* bytes of the play's body sent; index of the next mark */
    uint64_t filled;  /* bytes of the endless answer */
    uint64_t wake_ms; /* send nothing before this time */
    uint64_t last_ms;
    bool chunked, keep;
    struct buf out; /* bytes to be sent */
    size_t out_at;
};

struct llm_server {
    const struct script_server_options *o;
    int listen_fd;
    uint16_t port;
    uint64_t requests, accepted;
    struct llm_serve_connection connections[SCRIPT_SERVER_CONNECTIONS_MAX];
    char *filler;
};

/* The log ------------------------------------------------------------------------------------- */

static bool script_server_is_secret(struct str name)
{
    static const char *const names[] = {
        "x-api-key", "authorization", "api-key", "proxy-authorization", "cookie"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (name.n == strlen(names[i]) && strncasecmp(name.p, names[i], name.n) == 0)
            return true;
    return false;
}

static json_t *headers_json(const struct intake *in)
{
    json_t *object = json_object();
    struct str rest = intake_headers(in), name, value;
    while (intake_header(&rest, &name, &value)) {
        AUTO_BUF struct buf key = BUF_INIT(INTAKE_HEAD_MAX);
        for (size_t i = 0; i < name.n; i++)
            buf_add_byte(
                &key, (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] | 0x20 : name.p[i]));
        AUTO_JSON json_t *text = json_text(buf_str(&key));
        json_put(object, json_string_value(text),
            script_server_is_secret(name) ? json_string("***") : json_text(value));
    }
    return object;
}

/* Takes ownership of the body. */
static bool write_log(
    struct llm_server *s, const struct llm_serve_connection *c, json_t *body, struct err *err)
{
    const struct intake *in = &c->in;
    AUTO_BUF struct buf line = BUF_INIT(LOG_LINE_MAX);
    char time[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), time);
    AUTO_JSON json_t *entry = json_object();
    json_put(entry, "time", json_string(time));
    json_put(entry, "monotonic_us", json_integer((json_int_t)(clock_mono_ns() / 1000)));
    json_put(entry, "request", json_integer((json_int_t)s->requests));
    json_put(entry, "connection", json_integer((json_int_t)c->number));
    json_put(entry, "method", json_text(in->method));
    json_put(entry, "path", json_text(in->target));
    json_put(entry, "headers", headers_json(in));
    json_put(entry, "body", body);
    json_add_compact(&line, entry);
    buf_add_byte(&line, '\n');
    if (!buf_ok(&line))
        return true;
    return file_write(s->o->log_fd, buf_str(&line), "the request log", err);
}

/* Requests ------------------------------------------------------------------------------------ */

static void script_server_add_texts(const json_t *content, struct buf *text)
{
    if (json_is_string(content))
        buf_add_str(text, json_str(content));
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *block = json_array_get(content, i);
        if (str_is(json_str(json_object_get(block, "type")), "text"))
            buf_add_str(text, json_str(json_object_get(block, "text")));
    }
}

static bool has_result(const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++)
        if (str_is(json_str(json_object_get(json_array_get(content, i), "type")), "tool_result"))
            return true;
    return str_is(json_str(json_object_get(message, "role")), "tool");
}

/* The last text of the user, in either dialect; and whether a tool result follows it. */
static enum script_last read_messages(const json_t *body, struct buf *text)
{
    const json_t *messages = json_object_get(body, "messages");
    size_t n = json_array_size(messages);
    for (size_t i = n; i-- > 0 && text->n == 0;) {
        const json_t *m = json_array_get(messages, i);
        if (str_is(json_str(json_object_get(m, "role")), "user"))
            script_server_add_texts(json_object_get(m, "content"), text);
    }
    bool result = n && has_result(json_array_get(messages, n - 1));
    return result ? SCRIPT_LAST_TOOL_RESULT : SCRIPT_LAST_USER;
}

static void llm_serve_refuse(
    struct llm_server *s, struct llm_serve_connection *c, unsigned status, const char *message)
{
    const struct script_error e = {.message = str_z(message), .type = STR("invalid_request_error")};
    script_render_json(&c->play, status, s->o->dialect->error_body(&e, NULL));
}

static bool path_is(struct str target, const char *end)
{
    ptrdiff_t query = str_find(target, '?');
    return str_ends_with(str_head(target, query < 0 ? target.n : (size_t)query), str_z(end));
}

static void play_request(struct llm_server *s, struct llm_serve_connection *c, const json_t *body)
{
    const struct script_dialect *dialect = s->o->dialect;
    AUTO_BUF struct buf text = BUF_INIT(INTAKE_BODY_MAX);
    struct str model = json_str(json_object_get(body, "model"));
    AUTO_BUF struct buf name = BUF_INIT(4096);
    if (str_is(c->in.method, "HEAD") || str_is(c->in.method, "GET")) {
        script_render_json(
            &c->play, path_is(c->in.target, dialect->path) ? 405 : 200, json_object());
        return;
    }
    if (!path_is(c->in.target, dialect->path)) {
        llm_serve_refuse(s, c, 404, "serve-script serves another path, or another dialect");
        return;
    }
    if (!json_is_object(body) || !json_is_array(json_object_get(body, "messages"))) {
        llm_serve_refuse(s, c, 400, "the request is not a JSON object with messages");
        return;
    }
    buf_add_str(&name, script_model(s->o->script).p ? script_model(s->o->script) : model);
    enum script_last last = read_messages(body, &text);
    const struct script_render_spec spec = {s->o->script, buf_z(&name), s->requests, s->port,
        !json_is_true(json_object_get(body, "stream"))};
    script_render_turn(&c->play, dialect, &spec, script_next(s->o->script, buf_str(&text), last));
}

/* Writes status and headers; the body of a stream is chunked. */
static void begin_answer(struct llm_serve_connection *c, bool head_only)
{
    struct script_render *p = &c->play;
    bool stream = p->n_marks || p->end;
    c->at = c->mark = 0;
    c->filled = 0;
    c->wake_ms = 0;
    c->chunked = stream && !c->in.http_1_0;
    buf_printf(&c->out, "HTTP/1.1 %u %s\r\n", p->status, p->status < 300 ? "OK" : "Failed");
    buf_add_str(&c->out, buf_str(&p->headers));
    if (c->chunked)
        buf_add_z(&c->out, "Transfer-Encoding: chunked\r\n");
    else if (!stream)
        buf_printf(&c->out, "Content-Length: %zu\r\n", p->body.n);
    c->keep = c->keep && (c->chunked || !stream);
    buf_add_z(&c->out, c->keep ? "\r\n" : "Connection: close\r\n\r\n");
    if (head_only)
        c->at = p->body.n;
    c->playing = true;
}

static bool llm_serve_answer(struct llm_server *s, struct llm_serve_connection *c, struct err *err)
{
    struct str connection = intake_find(&c->in, "connection");
    AUTO_JSON json_t *body = NULL;
    AUTO_ERR struct err ignored = {0};
    s->requests++;
    c->keep = !c->in.http_1_0 && !(connection.n == 5 && strncasecmp(connection.p, "close", 5) == 0);
    if (c->in.body.n && !json_parse(buf_str(&c->in.body), "request", E_PROTOCOL, &body, &ignored))
        body = json_text(buf_str(&c->in.body));
    if (s->o->log_fd >= 0 && !write_log(s, c, body ? json_incref(body) : json_null(), err))
        return false;
    script_render_init(&c->play);
    play_request(s, c, body);
    begin_answer(c, str_is(c->in.method, "HEAD"));
    return true;
}

static void answer_bad(struct llm_server *s, struct llm_serve_connection *c)
{
    c->keep = false;
    script_render_init(&c->play);
    llm_serve_refuse(s, c, c->in.status, "not an HTTP request, or the request is too long");
    begin_answer(c, false);
}

/* Sending ------------------------------------------------------------------------------------- */

static void llm_serve_drop(struct llm_serve_connection *c, bool reset)
{
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    if (reset)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    close(c->fd);
    intake_done(&c->in);
    buf_done(&c->out);
    if (c->playing)
        script_render_done(&c->play);
    *c = (struct llm_serve_connection){.fd = -1};
}

/* End of the next piece: the end of an event or chunk_bytes, and every delay. */
static size_t next_cut(struct llm_serve_connection *c)
{
    const struct script_render *p = &c->play;
    if (!p->n_marks)
        return p->body.n;
    while (c->mark < p->n_marks && p->marks[c->mark].at <= c->at)
        c->mark++;
    size_t cut = p->chunk_bytes ? c->at + p->chunk_bytes : p->body.n;
    for (size_t i = c->mark; i < p->n_marks && p->marks[i].at < cut; i++)
        if (!p->chunk_bytes || p->marks[i].delay_ms)
            cut = p->marks[i].at;
    return MIN(cut, p->body.n);
}

/* Sum of the delays at this offset. */
static uint64_t pause_at(const struct llm_serve_connection *c, size_t from)
{
    const struct script_render *p = &c->play;
    uint64_t ms = 0;
    for (size_t i = from; i < p->n_marks && p->marks[i].at <= c->at; i++)
        if (p->marks[i].at == c->at)
            ms += p->marks[i].delay_ms;
    return ms;
}

static void add_piece(struct llm_serve_connection *c, struct str piece)
{
    if (c->chunked)
        buf_printf(&c->out, "%zx\r\n", piece.n);
    buf_add_str(&c->out, piece);
    if (c->chunked)
        buf_add_z(&c->out, "\r\n");
}

/* Called when the whole body was sent; false: the connection was closed. */
static bool end_answer(struct llm_server *s, struct llm_serve_connection *c)
{
    switch (c->play.end) {
    case SCRIPT_RENDER_RESET:
    case SCRIPT_RENDER_CLOSED:
        llm_serve_drop(c, c->play.end == SCRIPT_RENDER_RESET);
        return false;
    case SCRIPT_RENDER_STALLED:
        c->wake_ms = UINT64_MAX;
        return true;
    case SCRIPT_RENDER_FILLED:
        if (c->filled < SCRIPT_RENDER_ENDLESS) {
            c->filled += FILL_SIZE;
            add_piece(c, str_n(s->filler, FILL_SIZE));
            return true;
        }
        break;
    default:
        break;
    }
    if (c->chunked)
        buf_add_z(&c->out, "0\r\n\r\n");
    script_render_done(&c->play);
    c->playing = false;
    return true;
}

/* Fills the empty buffer with the next piece. */
static bool llm_serve_produce(struct llm_server *s, struct llm_serve_connection *c)
{
    if (c->at == c->play.body.n)
        return end_answer(s, c);
    size_t cut = next_cut(c), mark = c->mark;
    add_piece(c, str_n(c->play.body.p + c->at, cut - c->at));
    c->at = cut;
    uint64_t pause = pause_at(c, mark);
    if (pause)
        c->wake_ms = clock_mono_ms() + pause;
    return true;
}

static bool llm_serve_flush(struct llm_serve_connection *c)
{
    while (c->out_at < c->out.n) {
        ssize_t n = send(c->fd, c->out.p + c->out_at, c->out.n - c->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        c->out_at += (size_t)n;
        c->last_ms = clock_mono_ms();
    }
    buf_reset(&c->out);
    c->out_at = 0;
    return true;
}

static bool is_waiting(const struct llm_serve_connection *c)
{
    return c->wake_ms && c->wake_ms > clock_mono_ms();
}

/* Sends as much as possible now, and handles the next request when the answer is complete. */
static bool send_more(struct llm_server *s, struct llm_serve_connection *c, struct err *err)
{
    for (size_t pieces = 0; c->fd >= 0; pieces++) {
        if (!llm_serve_flush(c)) {
            llm_serve_drop(c, false);
            return true;
        }
        if (c->out.n || pieces > 256) /* give other connections a turn */
            return true;
        if (c->playing) {
            if (is_waiting(c) || !llm_serve_produce(s, c))
                return true;
        } else if (c->in.state == INTAKE_WHOLE) {
            if (!llm_serve_answer(s, c, err))
                return false;
            intake_next(&c->in);
        } else if (c->in.state == INTAKE_BAD && c->in.status) {
            answer_bad(s, c);
            c->in.status = 0;
        } else {
            if (!c->keep)
                llm_serve_drop(c, false);
            return true;
        }
    }
    return true;
}

/* Receiving ----------------------------------------------------------------------------------- */

static void llm_serve_receive(struct llm_serve_connection *c)
{
    char bytes[INTAKE_READ / 4];
    ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        llm_serve_drop(c, false);
        return;
    }
    c->last_ms = clock_mono_ms();
    bool waits = c->in.state == INTAKE_HEAD;
    intake_push(&c->in, str_n(bytes, (size_t)n));
    struct str expect = intake_find(&c->in, "expect");
    bool body = c->in.state > INTAKE_HEAD && c->in.state < INTAKE_WHOLE;
    if (waits && body && expect.n && strncasecmp(expect.p, "100", 3) == 0)
        buf_add_z(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
}

static void accept_one(struct llm_server *s)
{
    int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int on = 1;
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    for (size_t i = 0; i < SCRIPT_SERVER_CONNECTIONS_MAX; i++) {
        struct llm_serve_connection *c = &s->connections[i];
        if (c->fd >= 0)
            continue;
        *c = (struct llm_serve_connection){
            .fd = fd, .number = ++s->accepted, .keep = true, .last_ms = clock_mono_ms()};
        c->out = BUF_INIT((size_t)SCRIPT_TEXT_MAX * 64);
        intake_init(&c->in);
        return;
    }
    close(fd);
}

static bool llm_serve_handle(
    struct llm_server *s, struct llm_serve_connection *c, short events, struct err *err)
{
    /* A client that disconnects during an answer is detected when sending, or here. */
    if ((events & (POLLERR | POLLHUP)) && !(events & POLLIN)) {
        llm_serve_drop(c, false);
        return true;
    }
    if (events & POLLIN)
        llm_serve_receive(c);
    if (c->fd >= 0 && !c->playing && !c->out.n &&
        clock_mono_ms() - c->last_ms > SCRIPT_SERVER_IDLE_MS)
        llm_serve_drop(c, false);
    return c->fd < 0 || send_more(s, c, err);
}

/* The loop ------------------------------------------------------------------------------------ */

/* Fills in the descriptors to poll and the timeout; returns their number. */
static size_t llm_serve_fill_pollfds(struct llm_server *s, struct pollfd *fds, int *ret_timeout)
{
    uint64_t now = clock_mono_ms(), wait = SCRIPT_SERVER_WAIT_MAX;
    size_t busy = 0;
    for (size_t i = 0; i < SCRIPT_SERVER_CONNECTIONS_MAX; i++) {
        struct llm_serve_connection *c = &s->connections[i];
        fds[i] = (struct pollfd){.fd = c->fd};
        if (c->fd < 0)
            continue;
        busy++;
        /* During an answer the client's next request can wait, but its disconnect cannot. */
        fds[i].events = c->playing || c->in.state >= INTAKE_WHOLE ? POLLRDHUP : POLLIN;
        if (c->out.n || (c->playing && !is_waiting(c)))
            fds[i].events |= POLLOUT;
        else if (c->playing && c->wake_ms != UINT64_MAX)
            wait = MIN(wait, c->wake_ms - MIN(now, c->wake_ms) + 1);
    }
    fds[SCRIPT_SERVER_CONNECTIONS_MAX] = (struct pollfd){
        .fd = busy < SCRIPT_SERVER_CONNECTIONS_MAX ? s->listen_fd : -1, .events = POLLIN};
    fds[SCRIPT_SERVER_CONNECTIONS_MAX + 1] = (struct pollfd){.fd = s->o->stop_fd, .events = POLLIN};
    *ret_timeout = (int)wait;
    return SCRIPT_SERVER_CONNECTIONS_MAX + 2;
}

static bool llm_serve_loop(struct llm_server *s, struct err *err)
{
    struct pollfd fds[SCRIPT_SERVER_CONNECTIONS_MAX + 2];
    int timeout;
    for (;;) {
        size_t n = llm_serve_fill_pollfds(s, fds, &timeout);
        if (poll(fds, n, timeout) < 0 && errno != EINTR)
            return err_errno(err, E_IO, errno, "cannot wait for requests");
        if (fds[SCRIPT_SERVER_CONNECTIONS_MAX + 1].revents)
            return true;
        for (size_t i = 0; i < SCRIPT_SERVER_CONNECTIONS_MAX; i++) {
            struct llm_serve_connection *c = &s->connections[i];
            if (c->fd < 0)
                continue;
            if (fds[i].revents & POLLRDHUP)
                fds[i].revents |= POLLIN;
            if (!llm_serve_handle(s, c, fds[i].revents, err))
                return false;
        }
        if (fds[SCRIPT_SERVER_CONNECTIONS_MAX].revents)
            accept_one(s);
    }
}

static bool listen_on(struct llm_server *s, struct err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
        .sin_port = htons(s->o->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    const int on = 1;
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listen_fd < 0)
        return err_errno(err, E_IO, errno, "cannot create a socket");
    setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(s->listen_fd, SCRIPT_SERVER_CONNECTIONS_MAX) != 0)
        return err_errno(err, errno == EADDRINUSE ? E_CONFLICT : E_IO, errno,
            "cannot listen on 127.0.0.1:%u", (unsigned)s->o->port);
    if (getsockname(s->listen_fd, (struct sockaddr *)&address, &size) != 0)
        return err_errno(err, E_IO, errno, "cannot determine the port");
    s->port = ntohs(address.sin_port);
    return true;
}

bool script_server_run(const struct script_server_options *options, struct err *err)
{
    struct llm_server *s = base_alloc(sizeof(*s));
    *s = (struct llm_server){.o = options, .listen_fd = -1, .filler = base_alloc(FILL_SIZE)};
    memset(s->filler, 'x', FILL_SIZE);
    for (size_t i = 0; i < SCRIPT_SERVER_CONNECTIONS_MAX; i++)
        s->connections[i].fd = -1;
    bool ok = listen_on(s, err) &&
              (!options->on_ready || options->on_ready(options->context, s->port, err)) &&
              llm_serve_loop(s, err);
    for (size_t i = 0; i < SCRIPT_SERVER_CONNECTIONS_MAX; i++)
        if (s->connections[i].fd >= 0)
            llm_serve_drop(&s->connections[i], false);
    if (s->listen_fd >= 0)
        close(s->listen_fd);
    free(s->filler);
    free(s);
    return ok;
}
