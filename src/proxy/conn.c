/* Connections of the proxy. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/conn.h"

#include "proxy/proxy.h"
#include "proxy/proxy_answer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
    SOCKS_FIRST_BYTE = 5,
    SOCKS_FAILED = 1,
    SOCKS_REFUSED = 2,
    SOCKS_UNREACHABLE = 4,
    SOCKS_NOBODY = 5,
    STATUS_BAD = 400,
    STATUS_REFUSED = 403,
    STATUS_NO_SERVER = 502,
    STATUS_TOO_LATE = 504,
    ENTRY_MAX = HOST_NAME_MAX_BYTES + 16,
    WHY_MAX = 256,
};

static void conn_set_state(struct conn_env *env, struct conn *c, enum conn_state state, uint64_t ms)
{
    c->state = state;
    c->until_ms = env->now_ms + ms;
}

void conn_close(struct conn *c)
{
    if (c->state == CONN_PAIRED || c->state == CONN_LINGER) {
        pair_close(&c->pair);
    } else {
        auto_fd(&c->client);
        auto_fd(&c->server);
    }
    buf_done(&c->head);
    buf_done(&c->first);
    *c = (struct conn){.client = -1, .server = -1};
}

static void hurry_bytes(int fd)
{
    const int on = 1; /* fails harmlessly on sockets other than TCP */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

static void make_pair(struct conn_env *env, struct conn *c, uint64_t idle_ms)
{
    hurry_bytes(c->client);
    if (c->server >= 0)
        hurry_bytes(c->server);
    pair_init(&c->pair, TAKE_FD(c->client), TAKE_FD(c->server));
    conn_set_state(env, c, CONN_PAIRED, idle_ms ? idle_ms : PROXY_ANSWER_MS);
    c->idle_ms = idle_ms;
}

void conn_accept(struct conn_env *env, struct conn *c, int client, uint64_t serial)
{
    *c = (struct conn){.client = client,
        .server = -1,
        .serial = serial,
        .head = BUF_INIT(PROXY_HEAD_MAX + 1), /* one more: overlong heads are reported */
        .first = BUF_INIT(PAIR_BUFFER)};
    conn_set_state(env, c, CONN_HEAD, PROXY_HEAD_MS);
}

void conn_join(struct conn_env *env, struct conn *c, int one, int other, uint64_t serial)
{
    *c = (struct conn){.client = one, .server = other, .serial = serial};
    make_pair(env, c, PROXY_IDLE_MS);
}

/* Error replies ------------------------------------------------------------------------------- */

static void conn_answer(struct conn_env *env, struct conn *c, struct str bytes)
{
    if (c->server >= 0)
        close(TAKE_FD(c->server));
    make_pair(env, c, 0);
    pair_push(&c->pair, 1, bytes);
}

static void conn_fail(
    struct conn_env *env, struct conn *c, unsigned status, uint8_t code, const char *text)
{
    AUTO_BUF struct buf out = BUF_INIT(ANSWER_MAX);
    if (c->socks)
        answer_socks(&out, code);
    else
        answer_http(&out, status, str_z(text));
    conn_answer(env, c, buf_str(&out));
}

static void fail_server(
    struct conn_env *env, struct conn *c, unsigned status, uint8_t code, const char *what)
{
    char text[WHY_MAX + ENTRY_MAX], addr[ADDR_TEXT] = "";
    if (c->host.is_addr)
        addr_text(&c->host.addr, addr);
    snprintf(text, sizeof(text), "cordon: no connection to %s:%u: %s\n",
        c->host.is_addr ? addr : c->host.name, c->port, what);
    conn_fail(env, c, status, code, text);
}

/* Formats the list entry that would allow the host; omits a default port. */
static void make_entry(const char *host, uint16_t port, char entry[ENTRY_MAX])
{
    bool usual = port == 80 || port == 443;
    snprintf(entry, ENTRY_MAX, usual ? "%s" : "%s:%u", host, port);
}

static void conn_refuse(
    struct conn_env *env, struct conn *c, struct str host, const char *why, const char *entry)
{
    AUTO_BUF struct buf text = BUF_INIT(ANSWER_MAX / 2);
    answer_refusal(&text, host, c->port, why, entry);
    report_refusal(&env->report, host, c->port, why);
    conn_fail(env, c, STATUS_REFUSED, SOCKS_REFUSED, buf_z(&text));
}

/* Connecting to the server -------------------------------------------------------------------- */

static void conn_established(struct conn_env *env, struct conn *c)
{
    AUTO_BUF struct buf out = BUF_INIT(ANSWER_MAX);
    if (c->kind == PROXY_SOCKS)
        answer_socks(&out, 0);
    else if (c->kind == PROXY_TUNNEL)
        buf_add_z(&out, "HTTP/1.1 200 Connection established\r\n\r\n");
    make_pair(env, c, PROXY_IDLE_MS);
    c->pair.limited = c->kind == PROXY_PLAIN;
    c->pair.body = c->body;
    pair_push(&c->pair, 0, buf_str(&c->first));
    pair_push(&c->pair, 1, buf_str(&out));
    buf_done(&c->first);
    buf_done(&c->head);
}

static bool connect_one(struct conn *c, const struct proxy_addr *addr)
{
    struct sockaddr_storage to;
    socklen_t size = addr_to_sockaddr(addr, c->port, &to);
    c->server = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->server >= 0 &&
        (connect(c->server, (const struct sockaddr *)&to, size) == 0 || errno == EINPROGRESS))
        return true;
    c->error = errno;
    if (c->server >= 0)
        close(TAKE_FD(c->server));
    return false;
}

static void connect_next(struct conn_env *env, struct conn *c)
{
    if (c->server >= 0)
        close(TAKE_FD(c->server));
    while (c->next_addr < c->n_addrs && env->now_ms < c->connected_by_ms) {
        bool last = c->next_addr + 1 == c->n_addrs;
        uint64_t left = c->connected_by_ms - env->now_ms;
        if (!connect_one(c, &c->addrs[c->next_addr++]))
            continue;
        conn_set_state(env, c, CONN_CONNECTING, last ? left : MIN(left, PROXY_ATTEMPT_MS));
        return;
    }
    bool late = c->error == ETIMEDOUT;
    fail_server(env, c, late ? STATUS_TOO_LATE : STATUS_NO_SERVER,
        c->error == ECONNREFUSED ? SOCKS_NOBODY : SOCKS_UNREACHABLE, strerror(c->error));
}

static void conn_check_connect(struct conn_env *env, struct conn *c)
{
    socklen_t size = sizeof(c->error);
    if (getsockopt(c->server, SOL_SOCKET, SO_ERROR, &c->error, &size) != 0)
        c->error = errno;
    if (c->error)
        connect_next(env, c);
    else
        conn_established(env, c);
}

/* Of the addresses of a name, accepts only public ones and those in the list themselves. */
static const char *addr_fault(
    const struct conn_env *env, const struct conn *c, const struct proxy_addr *addr, bool own)
{
    const struct proxy_host host = {.is_addr = true, .addr = *addr};
    const char *fault = own ? "this machine" : addr_not_public(addr);
    return fault && !host_allowed(env->hosts, &host, c->port) ? fault : NULL;
}

static void refuse_addr(
    struct conn_env *env, struct conn *c, const struct proxy_addr *addr, const char *fault)
{
    char text[ADDR_TEXT], entry[ENTRY_MAX], why[WHY_MAX];
    addr_text(addr, text);
    make_entry(text, c->port, entry);
    snprintf(why, sizeof(why),
        "its address %s is not public (%s), and is refused unless the list contains the "
        "address itself",
        text, fault);
    conn_refuse(env, c, str_z(c->host.name), why, entry);
}

void conn_found(struct conn_env *env, struct conn *c, const struct lookup_answer *answer)
{
    const char *refused = NULL;
    size_t which = 0;
    for (size_t i = 0; answer && answer->error == 0 && i < answer->n; i++) {
        const char *fault = addr_fault(env, c, &answer->addrs[i], answer->own[i]);
        if (!fault) {
            c->addrs[c->n_addrs++] = answer->addrs[i];
        } else if (!refused) {
            refused = fault;
            which = i;
        }
    }
    if (c->n_addrs)
        connect_next(env, c);
    else if (refused)
        refuse_addr(env, c, &answer->addrs[which], refused);
    else
        fail_server(env, c, STATUS_NO_SERVER, SOCKS_UNREACHABLE,
            answer && answer->error ? gai_strerror(answer->error) : "its address was not found");
}

/* Requests ------------------------------------------------------------------------------------ */

static bool keep_first(struct conn *c, const struct proxy_request *r)
{
    struct str rest = str_skip(buf_str(&c->head), r->used);
    c->body = r->body;
    if (c->kind == PROXY_PLAIN) {
        head_rewrite(r, &c->first);
        rest = str_head(rest, body_take(&c->body, rest));
    }
    buf_add_str(&c->first, rest);
    return buf_ok(&c->first) && c->body.state != BODY_BAD;
}

static void conn_handle_request(struct conn_env *env, struct conn *c, const struct proxy_request *r)
{
    const char *why;
    char entry[ENTRY_MAX], addr[ADDR_TEXT];
    c->kind = r->kind;
    c->port = r->port;
    if (!host_parse(r->host, &c->host, &why)) {
        conn_refuse(env, c, r->host, why, "");
        return;
    }
    if (c->host.is_addr)
        addr_text(&c->host.addr, addr);
    if (!host_allowed(env->hosts, &c->host, c->port)) {
        make_entry(c->host.is_addr ? addr : c->host.name, c->port, entry);
        conn_refuse(env, c, r->host, "it is not in the list of hosts", entry);
        return;
    }
    if (!keep_first(c, r)) {
        conn_fail(
            env, c, STATUS_BAD, SOCKS_FAILED, "cordon: the body of the request is malformed\n");
        return;
    }
    c->connected_by_ms = env->now_ms + PROXY_CONNECT_MS;
    conn_set_state(env, c, CONN_QUEUED, PROXY_CONNECT_MS);
    if (c->host.is_addr) {
        c->addrs[c->n_addrs++] = c->host.addr;
        connect_next(env, c);
    }
}

static void conn_bad_request(struct conn_env *env, struct conn *c, const struct proxy_request *r)
{
    char text[WHY_MAX];
    snprintf(text, sizeof(text), "cordon: invalid request: %s\n", r->why);
    conn_fail(env, c, r->status, (uint8_t)r->status, text);
}

static void drop_head(struct conn *c, size_t n)
{
    memmove(c->head.p, c->head.p + n, c->head.n - n);
    buf_truncate(&c->head, c->head.n - n);
}

/* False: incomplete, or the connection is finished. */
static bool conn_greet(struct conn_env *env, struct conn *c)
{
    struct socks_greeting g;
    if (socks_greet(buf_str(&c->head), &g) != HEAD_WHOLE)
        return false;
    c->greeted = true;
    drop_head(c, g.used);
    if (g.refused)
        conn_answer(env, c, str_n((const char *)g.answer, sizeof(g.answer)));
    else if (send(c->client, g.answer, sizeof(g.answer), MSG_DONTWAIT | MSG_NOSIGNAL) !=
             (ssize_t)sizeof(g.answer))
        conn_close(c);
    return c->state == CONN_HEAD;
}

static void conn_parse_head(struct conn_env *env, struct conn *c)
{
    struct proxy_request r;
    c->socks = c->socks || c->head.p[0] == SOCKS_FIRST_BYTE;
    if (c->socks && !c->greeted && !conn_greet(env, c))
        return;
    struct str bytes = buf_str(&c->head);
    enum head_state state = c->socks ? socks_parse(bytes, &r) : head_parse(bytes, &r);
    if (state == HEAD_WHOLE)
        conn_handle_request(env, c, &r);
    else if (state == HEAD_BAD)
        conn_bad_request(env, c, &r);
}

static void conn_read_head(struct conn_env *env, struct conn *c)
{
    size_t room = PROXY_HEAD_MAX - c->head.n;
    char *at = buf_reserve(&c->head, room);
    BUG_ON(!at);
    ssize_t n = recv(c->client, at, room, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        conn_close(c);
        return;
    }
    buf_grown(&c->head, (size_t)n);
    conn_parse_head(env, c);
}

/* Events -------------------------------------------------------------------------------------- */

void conn_poll(const struct conn *c, struct pollfd fds[2])
{
    fds[0] = (struct pollfd){.fd = -1};
    fds[1] = (struct pollfd){.fd = -1};
    if (c->state == CONN_PAIRED || c->state == CONN_LINGER)
        pair_poll(&c->pair, fds);
    else if (c->state != CONN_FREE)
        fds[0] = (struct pollfd){.fd = c->client, .events = c->state == CONN_HEAD ? POLLIN : 0};
    if (c->state == CONN_CONNECTING)
        fds[1] = (struct pollfd){.fd = c->server, .events = POLLOUT};
}

static void step_pair(struct conn_env *env, struct conn *c, const struct pollfd fds[2])
{
    bool moved = pair_step(&c->pair, fds);
    if (c->state == CONN_LINGER) {
        if (!pair_linger(&c->pair))
            conn_close(c);
        return;
    }
    if (moved && c->idle_ms)
        c->until_ms = env->now_ms + c->idle_ms;
    if (!pair_finished(&c->pair))
        return;
    conn_set_state(env, c, CONN_LINGER, PROXY_LINGER_MS);
    if (!pair_linger(&c->pair))
        conn_close(c);
}

void conn_step(struct conn_env *env, struct conn *c, const struct pollfd fds[2])
{
    if (!fds[0].revents && !fds[1].revents)
        return;
    if (c->state == CONN_PAIRED || c->state == CONN_LINGER)
        step_pair(env, c, fds);
    else if (c->state == CONN_HEAD)
        conn_read_head(env, c);
    else if (fds[0].revents & (POLLERR | POLLHUP | POLLNVAL))
        conn_close(c); /* the client is gone */
    else if (c->state == CONN_CONNECTING)
        conn_check_connect(env, c);
}

void conn_expire(struct conn_env *env, struct conn *c)
{
    switch (c->state) {
    case CONN_HEAD:
        if (c->head.n && !c->socks)
            conn_fail(env, c, STATUS_BAD, SOCKS_FAILED, "cordon: the request took too long\n");
        else
            conn_close(c);
        break;
    case CONN_QUEUED:
    case CONN_LOOKUP:
        fail_server(
            env, c, STATUS_TOO_LATE, SOCKS_UNREACHABLE, "its address was not found in time");
        break;
    case CONN_CONNECTING:
        c->error = ETIMEDOUT;
        connect_next(env, c);
        break;
    default:
        conn_close(c);
    }
}
