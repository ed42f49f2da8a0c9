/* One connection of the proxy, from its first byte to its last.
 *
 * HEAD → QUEUED → LOOKUP → CONNECTING → PAIRED → LINGER; an address needs no lookup, and a refusal
 * is a pair whose other side is not there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_CONN_H
#define BOX_PROXY_CONN_H

#include "box/proxy_head.h"
#include "box/proxy_lookup.h"
#include "box/proxy_name.h"
#include "box/proxy_pair.h"
#include "box/proxy_report.h"

enum conn_state {
    CONN_FREE,
    CONN_HEAD,
    CONN_QUEUED, /* its host has to be looked up */
    CONN_LOOKUP,
    CONN_CONNECTING,
    CONN_PAIRED,
    CONN_LINGER,
};

/* What all of them share. */
struct conn_env {
    const struct str_list *hosts;
    struct proxy_report report;
    uint64_t now_ms;
};

struct conn {
    enum conn_state state;
    uint64_t serial;   /* no two have the same */
    uint64_t until_ms; /* of this state */
    uint64_t idle_ms;  /* PAIRED: added whenever something moves; 0: never */
    int client, server;
    bool socks, greeted;
    struct buf head;  /* what came of it */
    struct buf first; /* what the server gets first */
    enum proxy_kind kind;
    struct proxy_host host;
    uint16_t port;
    struct proxy_body body;
    uint64_t connected_by_ms;
    struct proxy_addr addrs[LOOKUP_ADDRS_MAX];
    size_t n_addrs, next_addr;
    int error; /* of the last attempt */
    struct pair pair;
};

/* Both take the sockets over. */
void conn_accept(struct conn_env *env, struct conn *c, int client, uint64_t serial);
void conn_join(struct conn_env *env, struct conn *c, int one, int other, uint64_t serial);
void conn_close(struct conn *c);

void conn_poll(const struct conn *c, struct pollfd fds[2]);
void conn_step(struct conn_env *env, struct conn *c, const struct pollfd fds[2]);
void conn_expire(struct conn_env *env, struct conn *c); /* its time is over */

/* QUEUED and LOOKUP: what was found; NULL: it could not be looked up. */
void conn_found(struct conn_env *env, struct conn *c, const struct lookup_answer *answer);

#endif
