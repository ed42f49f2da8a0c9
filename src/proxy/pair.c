/* Joined stream sockets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/pair.h"

#include <errno.h>
#include <sys/socket.h>

void pair_init(struct pair *p, int fd0, int fd1)
{
    *p = (struct pair){.fd = {fd0, fd1}};
    for (unsigned s = 0; s < 2; s++) {
        p->flow[s].bytes = base_alloc(PAIR_BUFFER);
        p->flow[s].broken = p->fd[!s] < 0;
        p->flow[s].eof = p->fd[s] < 0;
    }
}

static void close_side(struct pair *p, unsigned s)
{
    const struct linger at_once = {.l_onoff = 1};
    if (p->fd[s] < 0)
        return;
    if (p->reset)
        setsockopt(p->fd[s], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(p->fd[s]);
    p->fd[s] = -1;
    p->flow[s].eof = true;
}

void pair_close(struct pair *p)
{
    for (unsigned s = 0; s < 2; s++) {
        close_side(p, s);
        free(p->flow[s].bytes);
        p->flow[s].bytes = NULL;
    }
}

void pair_push(struct pair *p, unsigned side, struct str bytes)
{
    struct pair_flow *f = &p->flow[side];
    BUG_ON(f->at || bytes.n > PAIR_BUFFER - f->n);
    if (bytes.n)
        memcpy(f->bytes + f->n, bytes.p, bytes.n);
    f->n += bytes.n;
}

static bool wants_in(const struct pair *p, unsigned s)
{
    const struct pair_flow *f = &p->flow[s];
    return !f->eof && (f->broken || f->n == 0);
}

static bool wants_out(const struct pair *p, unsigned s)
{
    const struct pair_flow *f = &p->flow[!s];
    return p->fd[s] >= 0 && f->n > 0 && !f->broken;
}

static bool flow_over(const struct pair_flow *f)
{
    return f->ended || f->broken;
}

void pair_poll(const struct pair *p, struct pollfd fds[2])
{
    for (unsigned s = 0; s < 2; s++) {
        int events = (wants_in(p, s) ? POLLIN : 0) | (wants_out(p, s) ? POLLOUT : 0);
        /* poll() reports a hang-up even without requested events, every time. It is of no interest
         * if nothing more is sent to that side. */
        bool quiet = events == 0 && flow_over(&p->flow[!s]);
        fds[s] = (struct pollfd){.fd = quiet ? -1 : p->fd[s], .events = (short)events};
    }
}

static void flow_break(struct pair_flow *f)
{
    f->broken = true;
    f->at = f->n = 0;
}

/* Propagates the end once all data was written. */
static void pass_end(struct pair *p, unsigned from)
{
    struct pair_flow *f = &p->flow[from];
    if (!f->eof || f->n || flow_over(f))
        return;
    if (f->failed) {
        p->reset = true;
        return;
    }
    shutdown(p->fd[!from], SHUT_WR);
    f->ended = true;
}

static bool write_side(struct pair *p, unsigned s)
{
    struct pair_flow *f = &p->flow[!s];
    ssize_t n = send(p->fd[s], f->bytes + f->at, f->n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
        return false;
    if (n < 0) {
        flow_break(f);
        return true;
    }
    f->at += (size_t)n;
    f->n -= (size_t)n;
    if (f->n == 0)
        f->at = 0;
    return true;
}

static void pair_received(struct pair *p, unsigned s, size_t n)
{
    struct pair_flow *f = &p->flow[s];
    if (s == 0 && p->limited) {
        n = body_take(&p->body, str_n(f->bytes, n));
        if (p->body.state == BODY_BAD)
            p->reset = true;
    }
    f->n = n;
    if (f->n)
        write_side(p, !s);
}

static bool pair_read_side(struct pair *p, unsigned s)
{
    struct pair_flow *f = &p->flow[s];
    ssize_t n = recv(p->fd[s], f->bytes, PAIR_BUFFER, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        f->eof = true;
        f->failed = n < 0;
    } else if (!f->broken) {
        pair_received(p, s, (size_t)n);
    }
    return true;
}

bool pair_step(struct pair *p, const struct pollfd fds[2])
{
    bool moved = false;
    for (unsigned s = 0; s < 2; s++) {
        const short gone = POLLHUP | POLLERR | POLLNVAL;
        short seen = fds[s].fd >= 0 ? fds[s].revents : 0;
        bool in = wants_in(p, s), out = wants_out(p, s);
        if (out && (seen & (POLLOUT | gone)))
            moved |= write_side(p, s);
        if (in && (fds[s].events & POLLIN) && (seen & (POLLIN | gone)))
            moved |= pair_read_side(p, s);
        if (fds[s].events == 0 && (seen & gone))
            flow_break(&p->flow[!s]);
    }
    pass_end(p, 0);
    pass_end(p, 1);
    return moved;
}

bool pair_finished(const struct pair *p)
{
    if (p->reset || (p->limited && flow_over(&p->flow[1])))
        return true;
    return flow_over(&p->flow[0]) && flow_over(&p->flow[1]);
}

bool pair_linger(struct pair *p)
{
    for (unsigned s = 0; s < 2; s++) {
        flow_break(&p->flow[s]);
        if (p->reset || p->flow[s].eof || !p->flow[!s].ended)
            close_side(p, s);
    }
    return p->fd[0] >= 0 || p->fd[1] >= 0;
}
