/* Bytes from one descriptor to another, a buffer between them, never blocking on either.
 *
 *     struct relay out = {.from = child.out, .to = STDOUT_FILENO};
 *     relay_poll(&out, fds);      two entries: what it waits for now
 *     poll(fds, n, timeout);
 *     relay_step(&out, fds);
 *
 * The sink may be shared with others and so is left in blocking mode: it gets at most as much as
 * poll() vouches for. A relay without a sink (-1) throws the bytes away after showing them.
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
    bool own_to;    /* close the sink when the source has ended and all is written */
    bool no_socket; /* the sink, as far as we know */
    bool broken;    /* the sink takes nothing any more */
    size_t room;    /* in the sink, when poll() says that there is some; 0: not known yet */
    size_t start, n;
    /* Sees what was read, once, and says how much of it is passed on: if not all, that is the last.
     * May be NULL. */
    size_t (*seen)(void *context, struct str bytes);
    void *context;
    char *buffer; /* RELAY_BUFFER bytes, the caller's */
};

/* Nothing more to read, and nothing left to write. */
bool relay_done(const struct relay *r);

void relay_poll(const struct relay *r, struct pollfd fds[RELAY_POLLFDS]);
void relay_step(struct relay *r, const struct pollfd fds[RELAY_POLLFDS]);

/* Nothing more is read; what was read is still written. */
void relay_end(struct relay *r);

/* Closes what it owns. */
void relay_close(struct relay *r);

#endif
