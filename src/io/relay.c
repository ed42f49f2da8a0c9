/* Relaying between file descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/relay.h"

#include "io/file.h"
#include "io/timed_write.h"

#include <errno.h>
#include <sys/socket.h>

bool relay_done(const struct relay *r)
{
    return r->from < 0 && r->n == 0;
}

void relay_poll(const struct relay *r, struct pollfd fds[RELAY_POLLFDS])
{
    bool room = r->n == 0;
    fds[0] = (struct pollfd){.fd = room ? r->from : -1, .events = POLLIN};
    /* Poll the sink even if there is nothing to write, to notice that its reader is gone. */
    fds[1] = (struct pollfd){.fd = r->to, .events = room ? 0 : POLLOUT};
    if (r->from < 0 && room)
        fds[1].fd = -1;
}

void relay_close(struct relay *r)
{
    if (r->own_to && r->to >= 0)
        close(r->to);
    r->to = r->from = -1;
    r->n = 0;
}

void relay_end(struct relay *r)
{
    r->from = -1;
    if (r->n == 0)
        relay_close(r);
}

static void relay_read_some(struct relay *r)
{
    ssize_t n = read(r->from, r->buffer, RELAY_BUFFER);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) { /* a terminal reports its end as EIO */
        relay_end(r);
        return;
    }
    r->start = 0;
    r->n = (size_t)n;
    size_t wanted = r->seen ? r->seen(r->context, str_n(r->buffer, r->n)) : r->n;
    bool last = wanted < r->n;
    r->n = r->to >= 0 ? wanted : 0;
    if (last)
        relay_end(r);
}

/* Another relay may have written to the same terminal since the last poll(). */
static bool still_has_room(const struct relay *r)
{
    struct pollfd sink = {.fd = r->to, .events = POLLOUT};
    return r->room > 1 || poll(&sink, 1, 0) > 0;
}

static void relay_write_some(struct relay *r)
{
    const char *p = r->buffer + r->start;
    if (r->room == 0)
        r->room = timed_write_room(r->to);
    if (!still_has_room(r))
        return;
    size_t most = MIN(r->n, r->room);
    ssize_t n = r->no_socket ? -1 : send(r->to, p, most, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (r->no_socket || errno == ENOTSOCK)) {
        r->no_socket = true;
        n = file_write_quiet(r->to, str_n(p, most));
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {
        r->broken = true;
        relay_close(r);
        return;
    }
    r->start += (size_t)n;
    r->n -= (size_t)n;
    if (r->n == 0 && r->from < 0)
        relay_close(r);
}

void relay_step(struct relay *r, const struct pollfd fds[RELAY_POLLFDS])
{
    if (fds[1].fd >= 0 && (fds[1].revents & POLLOUT) && r->n)
        relay_write_some(r);
    else if (fds[1].fd >= 0 && (fds[1].revents & (POLLERR | POLLNVAL))) {
        r->broken = true;
        relay_close(r);
    } else if (fds[0].fd >= 0 && fds[0].revents)
        relay_read_some(r);
}
