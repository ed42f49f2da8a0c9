/* The proxy process: one loop over its connections, lookups and forwarded sockets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy.h"

#include "base/clock.h"
#include "proxy/conn.h"
#include "proxy/proxy_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

enum {
    CONNS = PROXY_CONNECTIONS_MAX + PROXY_RELAYS_MAX, /* those of the box first */
    AT_LISTENER = 0,
    AT_RELAYS = 1,
    AT_LOOKUPS = 2,
    AT_CONNS = AT_LOOKUPS + PROXY_LOOKUPS_MAX,
    POLLFDS = AT_CONNS + 2 * CONNS,
    REST_MS = 100, /* after running out of file descriptors */
    DRAIN_MAX = 16,
};

/* A slot is in use until its process has exited, even if its connection is gone. */
struct proxy_lookup_slot {
    int fd; /* -1: free */
    uint64_t serial;
    struct conn *conn;
};

struct proxy {
    const struct proxy_input *in;
    int listener, relays;
    uint64_t rest_until_ms;
    uint64_t serial;
    struct conn_env env;
    struct proxy_lookup_slot lookups[PROXY_LOOKUPS_MAX];
    struct conn conns[CONNS];
    struct pollfd fds[POLLFDS];
};

static struct conn *free_conn(struct proxy *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (p->conns[i].state == CONN_FREE)
            return &p->conns[i];
    return NULL;
}

static struct conn *free_for_box(struct proxy *p)
{
    return free_conn(p, 0, PROXY_CONNECTIONS_MAX);
}

static struct conn *free_for_relay(struct proxy *p)
{
    return free_conn(p, PROXY_CONNECTIONS_MAX, CONNS);
}

/* Lookups ------------------------------------------------------------------------------------- */

static struct conn *longest_queued(struct proxy *p)
{
    struct conn *first = NULL;
    for (size_t i = 0; i < PROXY_CONNECTIONS_MAX; i++) {
        struct conn *c = &p->conns[i];
        if (c->state == CONN_QUEUED && (!first || c->serial < first->serial))
            first = c;
    }
    return first;
}

static void start_lookups(struct proxy *p)
{
    for (size_t i = 0; i < PROXY_LOOKUPS_MAX; i++) {
        struct proxy_lookup_slot *l = &p->lookups[i];
        struct conn *c = l->fd < 0 ? longest_queued(p) : NULL;
        if (!c)
            continue;
        l->fd = lookup_start(c->host.name, p->in->lookup);
        if (l->fd < 0) {
            conn_found(&p->env, c, NULL);
            continue;
        }
        l->conn = c;
        l->serial = c->serial;
        c->state = CONN_LOOKUP;
    }
}

static void end_lookup(struct proxy *p, struct proxy_lookup_slot *l)
{
    struct lookup_answer answer;
    bool there = lookup_read(TAKE_FD(l->fd), &answer);
    struct conn *c = l->conn;
    if (c->serial == l->serial && c->state == CONN_LOOKUP)
        conn_found(&p->env, c, there ? &answer : NULL);
}

/* New connections ----------------------------------------------------------------------------- */

static void accept_some(struct proxy *p)
{
    for (int i = 0; i < DRAIN_MAX; i++) {
        struct conn *c = free_for_box(p);
        int fd = c ? accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (fd >= 0) {
            conn_accept(&p->env, c, fd, ++p->serial);
            continue;
        }
        if (c && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            p->rest_until_ms = p->env.now_ms + REST_MS;
        return;
    }
}

static bool is_stream(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static size_t proxy_read_fds(struct msghdr *m, int fds[2])
{
    size_t n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        n = MIN(2, (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)); /* the control buffer holds two */
        memcpy(fds, CMSG_DATA(c), n * sizeof(int));
    }
    return n;
}

static void proxy_accept_relay(struct proxy *p)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    char byte;
    int fds[2] = {-1, -1};
    struct iovec io = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &io,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes)};
    ssize_t n = recvmsg(p->relays, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        _exit(0); /* the supervisor is gone */
    size_t got = proxy_read_fds(&m, fds);
    struct conn *c = free_for_relay(p);
    if (c && got == 2 && !(m.msg_flags & MSG_CTRUNC) && is_stream(fds[0]) && is_stream(fds[1])) {
        conn_join(&p->env, c, fds[0], fds[1], ++p->serial);
        return;
    }
    auto_fd(&fds[0]);
    auto_fd(&fds[1]);
}

/* Main loop ----------------------------------------------------------------------------------- */

static void proxy_fill_polls(struct proxy *p)
{
    bool rests = p->env.now_ms < p->rest_until_ms;
    p->fds[AT_LISTENER] =
        (struct pollfd){.fd = !rests && free_for_box(p) ? p->listener : -1, .events = POLLIN};
    p->fds[AT_RELAYS] = (struct pollfd){.fd = p->relays, .events = free_for_relay(p) ? POLLIN : 0};
    for (size_t i = 0; i < PROXY_LOOKUPS_MAX; i++)
        p->fds[AT_LOOKUPS + i] = (struct pollfd){.fd = p->lookups[i].fd, .events = POLLIN};
    for (size_t i = 0; i < CONNS; i++)
        conn_poll(&p->conns[i], &p->fds[AT_CONNS + 2 * i]);
}

static int time_left(const struct proxy *p)
{
    uint64_t until = UINT64_MAX, now = p->env.now_ms;
    if (p->rest_until_ms > now)
        until = p->rest_until_ms;
    for (size_t i = 0; i < CONNS; i++)
        if (p->conns[i].state != CONN_FREE)
            until = MIN(until, p->conns[i].until_ms);
    return clock_timeout_ms(now, until);
}

static void proxy_step(struct proxy *p)
{
    const short gone = POLLHUP | POLLERR | POLLNVAL;
    for (size_t i = 0; i < CONNS; i++) {
        struct conn *c = &p->conns[i];
        conn_step(&p->env, c, &p->fds[AT_CONNS + 2 * i]);
        if (c->state != CONN_FREE && c->until_ms <= p->env.now_ms)
            conn_expire(&p->env, c);
    }
    for (size_t i = 0; i < PROXY_LOOKUPS_MAX; i++)
        if (p->lookups[i].fd >= 0 && p->fds[AT_LOOKUPS + i].revents)
            end_lookup(p, &p->lookups[i]);
    start_lookups(p);
    if (p->fds[AT_RELAYS].revents & POLLIN)
        proxy_accept_relay(p);
    else if (p->fds[AT_RELAYS].revents & gone)
        _exit(0);
    if (p->fds[AT_LISTENER].revents & POLLIN)
        accept_some(p);
    else if (p->fds[AT_LISTENER].revents & gone)
        p->listener = -1;
}

_Static_assert((int)POLLFDS <= (int)PROXY_FILES, "poll() refuses more than the limit");

static void proxy_init(struct proxy *p, const struct proxy_input *input)
{
    p->in = input;
    p->listener = input->listener;
    p->relays = input->relays;
    p->env.hosts = &input->hosts;
    p->env.report.fd = input->report;
    confine_descriptors((int *[]){&p->listener, &p->relays, &p->env.report.fd}, 3);
    confine_process();
    if (p->listener >= 0)
        fcntl(p->listener, F_SETFL, fcntl(p->listener, F_GETFL) | O_NONBLOCK);
    for (size_t i = 0; i < PROXY_LOOKUPS_MAX; i++)
        p->lookups[i].fd = -1;
    for (size_t i = 0; i < CONNS; i++)
        p->conns[i].client = p->conns[i].server = -1;
}

void proxy_main(const struct proxy_input *input)
{
    struct proxy *p = base_alloc(sizeof(*p));
    memset(p, 0, sizeof(*p));
    proxy_init(p, input);
    while (p->listener >= 0 || p->relays >= 0) {
        p->env.now_ms = clock_mono_ms();
        proxy_fill_polls(p);
        if (poll(p->fds, POLLFDS, time_left(p)) < 0) {
            if (errno != EINTR)
                _exit(1);
            continue;
        }
        p->env.now_ms = clock_mono_ms();
        proxy_step(p);
    }
    _exit(0);
}
