/* The one way out of a box with an allow-list: an HTTP proxy (CONNECT, and plain http:// requests)
 * and SOCKS5 (names only) on a socket that listens inside the box, in a process of its own.
 *
 *     pid = fork(); if (!pid) proxy_main(&(struct proxy_input){…});
 *
 * A host is allowed if its name is in the list (`example.com`; `*.example.com` for those below it,
 * not for itself; `:port` after it; without a port 80 and 443), compared in lower case, without a
 * last dot, and never as an address unless the list has that very address. What it resolves to must
 * be no address of this machine, of a private network or link-local, unless the list names that
 * address itself: a name must not lead to what is beside the box (rebinding). The address that was
 * checked is the one connected to. What TLS says inside a tunnel is not looked at: a service that
 * answers for many names on one address answers for all of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_H
#define BOX_PROXY_H

#include "base/err.h"
#include "base/field.h"
#include "box/proxy_lookup.h"

enum {
    PROXY_CONNECTIONS_MAX = 256,
    PROXY_HEAD_MAX = 16 * 1024, /* bytes of a request's head */
    PROXY_HOSTS_MAX = 1000,
    PROXY_HEAD_MS = 20 * 1000,    /* for all of it, however it trickles */
    PROXY_RELAYS_MAX = 64,        /* forwarded ones, beside those of the box */
    PROXY_LOOKUPS_MAX = 16,       /* at the same time */
    PROXY_ATTEMPT_MS = 5 * 1000,  /* for one address, if there is another */
    PROXY_CONNECT_MS = 30 * 1000, /* from the request until there is a connection */
    PROXY_ANSWER_MS = 10 * 1000,  /* for taking a refusal */
    PROXY_LINGER_MS = 2 * 1000,
    PROXY_IDLE_MS = 30 * 60 * 1000,
};

/* Is an entry of the list right? E_CLI_INVALID_ARG with what is wrong. */
MUST_USE bool proxy_host_check(struct str host, struct err *err);

/* Would it be let through, by its name alone? Pure. */
bool proxy_allows(const struct str_list *hosts, struct str host, uint16_t port);

struct proxy_input {
    int listener; /* inside the box; -1: none, only relays. Becomes non-blocking */
    int relays;   /* a SOCK_SEQPACKET socket of packets with a byte and two stream sockets each
                     (SCM_RIGHTS), to be joined: for forwarded ports; -1: none. When its other side
                     is gone, so is the proxy */
    int report;   /* gets a line of JSON for each refusal: {"time","host","port","why"}; -1: none */
    struct str_list hosts;
    lookup_fn *lookup; /* NULL: the system's; for tests */
};

/* In a child of its own, which it ends with; never returns. Gives up what it does not need: all
 * other descriptors but stderr, capabilities, writing files, reading most (proxy_confine.h). */
NORETURN void proxy_main(const struct proxy_input *input);

#endif
