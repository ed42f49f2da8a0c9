/* Copies bytes from one file descriptor to another through a buffer, without blocking on either.
 *
 *     struct relay out = {.from = child.out, .to = STDOUT_FILENO};
 *     relay_poll(&out, fds);      two entries: the events to wait for
 *     poll(fds, n, timeout);
 *     relay_step(&out, fds);
 *
 * The sink may be shared with other processes, so it stays in blocking mode: no more is written
 * than poll() guarantees. A relay without a sink (-1) discards the bytes after the callback.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_RELAY_H
#define IO_RELAY_H

#include "base/str.h"

#include <poll.h>

enum {
    RELAY_BUFFER = 64 * 1024,
    RELAY_POLLFDS = 2,
};

struct relay {
    int from, to;   /* -1: closed */
    bool own_to;    /* close the sink at the end of the source, once everything is written */
    bool no_socket; /* cached: send() failed with ENOTSOCK */
    bool broken;    /* writing to the sink failed */
    size_t room;    /* bytes that fit into the sink after POLLOUT; 0: not known yet */
    size_t start, n;
    /* Called once with each chunk read; returns how many of its bytes to forward. Fewer than all
     * ends the relay. May be NULL. */
    size_t (*seen)(void *context, struct str bytes);
    void *context;
    char *buffer; /* RELAY_BUFFER bytes, owned by the caller */
};

/* Whether the source is closed and the buffer is empty. */
bool relay_done(const struct relay *r);

void relay_poll(const struct relay *r, struct pollfd fds[RELAY_POLLFDS]);
void relay_step(struct relay *r, const struct pollfd fds[RELAY_POLLFDS]);

/* Stops reading; buffered bytes are still written. */
void relay_end(struct relay *r);

/* Closes the descriptors it owns. */
void relay_close(struct relay *r);

#endif
