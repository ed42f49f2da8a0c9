/* One connection of the proxy, from its first byte to its last.
 *
 * HEAD → QUEUED → LOOKUP → CONNECTING → PAIRED → LINGER; an address needs no lookup, and a refusal
 * is a pair without a server.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_CONN_H
#define PROXY_CONN_H

#include "policy/host.h"
#include "proxy/head.h"
#include "proxy/lookup.h"
#include "proxy/pair.h"
#include "proxy/proxy_report.h"

enum conn_state {
    CONN_FREE,
    CONN_HEAD,
    CONN_QUEUED, /* waiting for a lookup slot */
    CONN_LOOKUP,
    CONN_CONNECTING,
    CONN_PAIRED,
    CONN_LINGER,
};

/* Shared by all connections. */
struct conn_env {
    const struct str_list *hosts;
    struct proxy_report report;
    uint64_t now_ms;
};

struct conn {
    enum conn_state state;
    uint64_t serial;   /* unique */
    uint64_t until_ms; /* deadline of this state */
    uint64_t idle_ms;  /* PAIRED: idle timeout, restarted by activity; 0: fixed deadline */
    int client, server;
    bool socks, greeted;
    struct buf head;  /* the request received so far */
    struct buf first; /* initial data for the server */
    enum proxy_kind kind;
    struct proxy_host host;
    uint16_t port;
    struct proxy_body body;
    uint64_t connected_by_ms;
    struct proxy_addr addrs[LOOKUP_ADDRS_MAX];
    size_t n_addrs, next_addr;
    int error; /* errno of the last attempt */
    struct pair pair;
};

/* Both take ownership of the sockets. */
void conn_accept(struct conn_env *env, struct conn *c, int client, uint64_t serial);
void conn_join(struct conn_env *env, struct conn *c, int one, int other, uint64_t serial);
void conn_close(struct conn *c);

void conn_poll(const struct conn *c, struct pollfd fds[2]);
void conn_step(struct conn_env *env, struct conn *c, const struct pollfd fds[2]);
void conn_expire(struct conn_env *env, struct conn *c); /* its deadline has passed */

/* QUEUED and LOOKUP: result of the lookup; NULL if it failed. */
void conn_found(struct conn_env *env, struct conn *c, const struct lookup_answer *answer);

#endif
