/* Two joined stream sockets: forwards data in both directions, with a buffer each, and propagates
 * end of file.
 *
 *     pair_init(&p, client, server);
 *     pair_poll(&p, fds);
 *     poll(fds, 2, …);
 *     pair_step(&p, fds);
 *     if (pair_finished(&p)) …
 *
 * Never blocks, and never spins: a socket is polled only for events that can be handled.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PAIR_H
#define PROXY_PAIR_H

#include "proxy/body.h"

#include <poll.h>

enum {
    PAIR_BUFFER = 64 * 1024,
};

/* Data from one side on its way to the other. */
struct pair_flow {
    char *bytes; /* PAIR_BUFFER */
    size_t at, n;
    bool eof;    /* end of file was read */
    bool failed; /* the end was a connection error */
    bool ended;  /* end of file was propagated */
    bool broken; /* the other side cannot be written: data is discarded */
};

struct pair {
    int fd[2]; /* -1: none, and data from the other side is discarded */
    struct pair_flow flow[2];
    bool limited; /* forward only `body` from side 0; the end of side 1 ends the pair */
    struct proxy_body body;
    bool reset; /* an error occurred: both sides get a connection reset */
};

/* Takes ownership of the sockets. */
void pair_init(struct pair *p, int fd0, int fd1);
void pair_close(struct pair *p);

/* Queues data as if it came from that side; at most PAIR_BUFFER before the first step. */
void pair_push(struct pair *p, unsigned side, struct str bytes);

void pair_poll(const struct pair *p, struct pollfd fds[2]);
bool pair_step(struct pair *p, const struct pollfd fds[2]); /* returns whether any data moved */

/* Both directions have ended. */
bool pair_finished(const struct pair *p);

/* Closes sockets that can be closed at once, but continues to read from a side that received the
 * last data and still sends: closing a socket with unread data resets the connection, and the peer
 * may lose that data. False if none is left. */
bool pair_linger(struct pair *p);

#endif
