/* One HTTP/1.1 request to this machine, over a socket. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "llm/http_way.h"
#include "llm/intake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct http_plain_request {
    struct http http;
    int fd;
    bool reused; /* the connection was used for an earlier request */
    bool lost;   /* it was closed or failed: see errnum */
    int errnum;
    struct buf request; /* its head; the body belongs to the caller */
    size_t sent;        /* of both */
    struct intake in;
    struct buf read; /* returned to the caller */
};

static struct http_plain_request *http_plain_of(const struct http *h)
{
    return (struct http_plain_request *)h;
}

/* Waiting ------------------------------------------------------------------------------------- */

static bool http_plain_wait(
    struct http_plain_request *p, short events, uint64_t ms, struct err *err)
{
    const struct waiter *w = &p->http.spec.waiter;
    struct pollfd fds[] = {{.fd = p->fd, .events = events}, {.fd = w->cancel_fd, .events = POLLIN},
        {.fd = w->close_fd, .events = POLLIN}};
    poll(fds, ARRAY_LEN(fds), (int)MIN(waiter_left(w, ms), (uint64_t)INT_MAX));
    return waiter_check(w, err);
}

static bool wait_while_quiet(struct http_plain_request *p, short events, struct err *err)
{
    uint64_t left_ms;
    return http_quiet(&p->http, &left_ms, err) && http_plain_wait(p, events, left_ms, err);
}

/* Connecting ---------------------------------------------------------------------------------- */

static void hang_up(struct http_plain_request *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* Returns true if connected, or with errnum set on failure; false on timeout or cancellation. */
static bool http_plain_connect_to(struct http_plain_request *p, const struct sockaddr *to,
    socklen_t size, uint64_t end_ms, struct err *err)
{
    const int yes = 1;
    socklen_t length = sizeof(p->errnum);
    p->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    p->errnum = p->fd >= 0 && connect(p->fd, to, size) == 0 ? 0 : errno;
    while (p->errnum == EINPROGRESS) {
        struct pollfd fd = {.fd = p->fd, .events = POLLOUT};
        uint64_t now = clock_mono_ms();
        if (now >= end_ms)
            return http_fail(&p->http, "timeout", "%s did not answer in time", NULL, err);
        if (!http_plain_wait(p, POLLOUT, end_ms - now, err))
            return false;
        if (poll(&fd, 1, 0) > 0)
            getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &p->errnum, &length);
    }
    if (p->errnum)
        hang_up(p);
    else
        setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return true;
}

/* A name may have both kinds of addresses: use the first that accepts. */
static bool connect_any(struct http_plain_request *p, struct err *err)
{
    struct http_place place;
    uint64_t most = p->http.spec.connect_timeout_ms;
    uint64_t end_ms = clock_mono_ms() + (most ? most : HTTP_CONNECT_MS);
    BUG_ON(!http_find_place(p->http.spec.url, &place));
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(place.port)};
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(place.port), .sin6_addr = in6addr_loopback};
    char ip[INET_ADDRSTRLEN];
    snprintf(ip, sizeof(ip), STR_FMT, STR_ARG(place.host));
    bool number = inet_pton(AF_INET, ip, &four.sin_addr) == 1;
    if (!number)
        four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!number &&
        !http_plain_connect_to(p, (const struct sockaddr *)&six, sizeof(six), end_ms, err))
        return false;
    if (p->fd < 0 && place.host.p[0] != '[' &&
        !http_plain_connect_to(p, (const struct sockaddr *)&four, sizeof(four), end_ms, err))
        return false;
    if (p->fd < 0)
        return http_fail(
            &p->http, "connect", "cannot connect to %s", strerrordesc_np(p->errnum), err);
    p->http.last_ms = clock_mono_ms();
    return true;
}

/* Reuses a kept connection, unless the peer has closed it or sent unexpected data. */
static void take_kept(struct http_plain_request *p)
{
    struct http_client *c = p->http.client;
    struct pollfd fd = {.fd = c ? c->fd : -1, .events = POLLIN};
    if (fd.fd < 0)
        return;
    p->fd = fd.fd;
    c->fd = -1;
    p->reused = true;
    if (poll(&fd, 1, 0) != 0)
        hang_up(p);
}

/* Receiving ----------------------------------------------------------------------------------- */

static bool http_plain_has_head(const struct http_plain_request *p)
{
    return p->in.state != INTAKE_HEAD && p->in.state != INTAKE_BAD && p->in.code >= 200;
}

/* Reads available bytes; does not wait. */
static void http_plain_receive(struct http_plain_request *p)
{
    char bytes[INTAKE_READ];
    ssize_t n = recv(p->fd, bytes, sizeof(bytes), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        p->lost = true;
        p->errnum = n < 0 ? errno : 0;
        if (n == 0)
            (void)!intake_end(&p->in);
        return;
    }
    intake_push(&p->in, str_n(bytes, (size_t)n));
    while (p->in.state == INTAKE_WHOLE && p->in.code < 200) { /* interim, e.g. 100 Continue */
        if (!http_note_interim(&p->http)) {
            p->in.state = INTAKE_BAD;
            return;
        }
        intake_next(&p->in);
    }
    if (http_plain_has_head(p))
        p->http.last_ms = clock_mono_ms();
}

static bool http_plain_fail(struct http_plain_request *p, struct err *err)
{
    const char *why = p->lost && p->errnum ? strerrordesc_np(p->errnum) : NULL;
    if (p->http.interim > HTTP_INTERIM_MAX)
        return http_too_many_interim(&p->http, err);
    if (p->in.state == INTAKE_BAD)
        return http_fail(&p->http, "protocol", "the answer of %s is not HTTP", NULL, err);
    if (why)
        return http_fail(&p->http, "reset", "%s closed the connection unexpectedly", why, err);
    return http_fail(&p->http, "reset",
        http_plain_has_head(p) ? "%s closed the connection in the middle of the answer"
                               : "%s closed the connection without an answer",
        NULL, err);
}

/* Sending ------------------------------------------------------------------------------------- */

static void write_head(struct http_plain_request *p)
{
    const struct http_spec *s = &p->http.spec;
    struct http_place place;
    struct str line, rest = s->headers;
    BUG_ON(!http_find_place(s->url, &place));
    buf_printf(&p->request, "POST " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\n",
        STR_ARG(place.path.n ? place.path : STR("/")), STR_ARG(place.authority));
    buf_add_z(&p->request, "User-Agent: cordon/" CORDON_VERSION "\r\nAccept: */*\r\n");
    while (str_cut(rest, '\n', &line, &rest))
        if (line.n)
            buf_printf(&p->request, STR_FMT "\r\n", STR_ARG(line));
    buf_printf(&p->request, "Content-Length: %zu\r\n\r\n", s->body.n);
    BUG_ON(!buf_ok(&p->request));
}

static size_t left_to_send(const struct http_plain_request *p)
{
    return p->request.n + p->http.spec.body.n - p->sent;
}

static ssize_t send_some(struct http_plain_request *p)
{
    struct str head = str_skip(buf_str(&p->request), MIN(p->sent, p->request.n));
    struct str body = str_skip(p->http.spec.body, p->sent - (p->request.n - head.n));
    struct iovec parts[] = {{(void *)head.p, head.n}, {(void *)body.p, body.n}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts)};
    return sendmsg(p->fd, &message, MSG_NOSIGNAL);
}

/* The server has rejected the request, or its answer is complete. */
static bool is_answered(const struct http_plain_request *p)
{
    return p->in.state == INTAKE_BAD || p->in.state == INTAKE_WHOLE ||
           (http_plain_has_head(p) && p->in.code >= 300);
}

/* Sends until everything is sent, the server has answered early, or the peer has closed the
 * connection: even then there may be an answer. */
static bool send_request(struct http_plain_request *p, struct err *err)
{
    while (left_to_send(p) && !is_answered(p) && !p->lost) {
        ssize_t n = send_some(p);
        if (n > 0) {
            p->sent += (size_t)n;
            p->http.last_ms = clock_mono_ms();
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return true;
        if (!wait_while_quiet(p, POLLIN | POLLOUT, err))
            return false;
        http_plain_receive(p);
    }
    return true;
}

static bool exchange_once(struct http_plain_request *p, struct err *err)
{
    if (p->fd < 0 && !connect_any(p, err))
        return false;
    if (!send_request(p, err))
        return false;
    while (!http_plain_has_head(p) && p->in.state != INTAKE_BAD && !p->lost) {
        if (!wait_while_quiet(p, POLLIN, err))
            return false;
        http_plain_receive(p);
    }
    return true;
}

/* A kept connection may have been closed just now, which is not this request's failure: retry
 * once. */
static bool http_plain_exchange(struct http_plain_request *p, struct err *err)
{
    if (!exchange_once(p, err))
        return false;
    if (!p->reused || !p->lost || p->in.head.n || p->in.in.n || http_plain_has_head(p))
        return true;
    hang_up(p);
    p->reused = p->lost = false;
    p->sent = 0;
    return exchange_once(p, err);
}

/* The transport ------------------------------------------------------------------------------- */

static bool http_plain_open(struct http **ret_http, struct err *err)
{
    (void)err;
    struct http_plain_request *p = base_alloc(sizeof(*p));
    *p = (struct http_plain_request){.fd = -1,
        .request = BUF_INIT((size_t)2 * HTTP_HEADERS_MAX),
        .read = BUF_INIT(INTAKE_BODY_MAX)};
    intake_init(&p->in);
    p->in.answers = true;
    *ret_http = &p->http;
    return true;
}

static bool http_plain_read_head(struct http *h, long *ret_status, struct err *err)
{
    struct http_plain_request *p = http_plain_of(h);
    if (!waiter_check(&h->spec.waiter, err))
        return false;
    if (!http_plain_has_head(p)) {
        take_kept(p);
        write_head(p);
        if (!http_plain_exchange(p, err))
            return false;
    }
    if (!http_plain_has_head(p))
        return http_plain_fail(p, err);
    *ret_status = p->in.code;
    return true;
}

static struct str http_plain_header(const struct http *h, const char *name)
{
    return intake_find(&http_plain_of(h)->in, name);
}

static bool http_plain_read_body(struct http *h, struct str *ret_bytes, struct err *err)
{
    struct http_plain_request *p = http_plain_of(h);
    if (!waiter_check(&h->spec.waiter, err))
        return false;
    while (
        p->in.body.n == 0 && p->in.state != INTAKE_WHOLE && p->in.state != INTAKE_BAD && !p->lost) {
        if (!wait_while_quiet(p, POLLIN, err))
            return false;
        http_plain_receive(p);
    }
    if (p->in.body.n == 0 && p->in.state != INTAKE_WHOLE)
        return http_plain_fail(p, err);
    struct buf read = p->read;
    p->read = p->in.body;
    buf_reset(&read);
    p->in.body = read;
    *ret_bytes = buf_str(&p->read);
    return true;
}

static void http_plain_finish(struct http *h)
{
    struct http_plain_request *p = http_plain_of(h);
    uint64_t end = clock_mono_ms() + HTTP_FINISH_MS, now;
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};
    while (p->in.state != INTAKE_WHOLE && p->in.state != INTAKE_BAD && !p->lost &&
           (now = clock_mono_ms()) < end) {
        if (poll(&fd, 1, (int)(end - now)) > 0)
            http_plain_receive(p);
        buf_reset(&p->in.body); /* no longer needed */
    }
}

static bool can_be_kept(const struct http_plain_request *p)
{
    struct str connection = intake_find(&p->in, "connection");
    bool closes = connection.n == 5 && strncasecmp(connection.p, "close", 5) == 0;
    return p->http.client && p->fd >= 0 && !p->lost && p->in.state == INTAKE_WHOLE && !closes &&
           !p->in.http_1_0 && p->in.in.n == p->in.at && left_to_send(p) == 0;
}

static void http_plain_close(struct http *h)
{
    struct http_plain_request *p = http_plain_of(h);
    if (can_be_kept(p))
        h->client->fd = p->fd;
    else
        hang_up(p);
    intake_done(&p->in);
    buf_done(&p->request);
    buf_done(&p->read);
    free(p);
}

const struct http_way http_plain = {
    .open = http_plain_open,
    .head = http_plain_read_head,
    .header = http_plain_header,
    .read = http_plain_read_body,
    .finish = http_plain_finish,
    .close = http_plain_close,
};
