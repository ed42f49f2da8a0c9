/* Two stream sockets, joined: bytes both ways through a buffer each, the end of each way passed on.
 *
 *     pair_init(&p, client, server);
 *     pair_poll(&p, fds);  poll(fds, 2, …);  pair_step(&p, fds);
 *     if (pair_finished(&p)) …
 *
 * Never blocks, and never spins: a socket is asked about only what can be done with it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_PAIR_H
#define BOX_PROXY_PAIR_H

#include "box/proxy_body.h"

#include <poll.h>

enum {
    PAIR_BUFFER = 64 * 1024,
};

/* What comes from one side, on its way to the other. */
struct pair_flow {
    char *bytes; /* PAIR_BUFFER */
    size_t at, n;
    bool eof;    /* nothing more comes */
    bool failed; /* and it ended as a broken connection does */
    bool ended;  /* the other side knows */
    bool broken; /* the other side takes nothing more: what comes is thrown away */
};

struct pair {
    int fd[2]; /* -1: none, and what comes from the other side is thrown away */
    struct pair_flow flow[2];
    bool limited; /* of side 0 only `body` is passed on; when side 1 has ended, so has all */
    struct proxy_body body;
    bool reset; /* something is wrong: both sides see a broken connection */
};

/* Takes the sockets over. */
void pair_init(struct pair *p, int fd0, int fd1);
void pair_close(struct pair *p);

/* Bytes as if they had come from that side; at most PAIR_BUFFER before the first step. */
void pair_push(struct pair *p, unsigned side, struct str bytes);

void pair_poll(const struct pair *p, struct pollfd fds[2]);
bool pair_step(struct pair *p, const struct pollfd fds[2]); /* did anything move? */

/* Both ways have ended. */
bool pair_finished(const struct pair *p);

/* Closes what needs no care, and goes on reading from who got the last bytes and still talks: a
 * socket closed on unread bytes takes back what it sent. False: nothing is left. */
bool pair_linger(struct pair *p);

#endif
