/* The only way out of a box with an allowlist: an HTTP proxy (CONNECT, and plain http:// requests)
 * and SOCKS5 on a socket that listens inside the box, in a separate process.
 *
 *     pid = fork();
 *     if (!pid)
 *         proxy_main(&(struct proxy_input){…});
 *
 * A host is allowed if its name is in the list (`example.com`; `*.example.com` for its subdomains,
 * but not for itself; optionally with `:port`, otherwise ports 80 and 443), compared in lower case
 * and without a trailing dot. An address is allowed only if the list has that very address. A name
 * must not resolve to an address of this machine, of a private network or link-local, unless the
 * list has that address itself: this prevents access to the box's surroundings by DNS rebinding.
 * The address that was checked is the one connected to. TLS inside a tunnel is not inspected: if a
 * server hosts many names on one address, allowing one name allows all of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include "base/err.h"
#include "base/field.h"
#include "proxy/lookup.h"

enum {
    PROXY_CONNECTIONS_MAX = 256,
    PROXY_HEAD_MAX = 16 * 1024,   /* maximum size of a request's head */
    PROXY_HEAD_MS = 20 * 1000,    /* for the complete head, however slowly it arrives */
    PROXY_RELAYS_MAX = 64,        /* forwarded connections, in addition to those of the box */
    PROXY_LOOKUPS_MAX = 16,       /* concurrent */
    PROXY_ATTEMPT_MS = 5 * 1000,  /* per address, if there is another */
    PROXY_CONNECT_MS = 30 * 1000, /* from the request until the connection is established */
    PROXY_ANSWER_MS = 10 * 1000,  /* for sending a refusal */
    PROXY_LINGER_MS = 2 * 1000,
    PROXY_IDLE_MS = 30 * 60 * 1000,
    PROXY_FILES = /* the limit of open files that it needs */
        2 * (PROXY_CONNECTIONS_MAX + PROXY_RELAYS_MAX) + PROXY_LOOKUPS_MAX + 32,
};

struct proxy_input {
    int listener; /* inside the box; -1: none, only relays. Becomes non-blocking */
    int relays;   /* a SOCK_SEQPACKET socket for forwarded ports; each packet has one byte and two
                     stream sockets (SCM_RIGHTS) to be joined; -1: none. The proxy exits when its
                     peer closes it */
    int report;   /* receives a line of JSON per refusal: {"time","host","port","why"}; -1: none */
    struct str_list hosts;
    lookup_fn *lookup; /* NULL: the system's resolver; for tests */
};

/* Runs in a child process, which exits with its parent; never returns. Drops all privileges it does
 * not need: other file descriptors except stderr, capabilities, writing files, reading most files
 * (proxy_confine.h). */
NORETURN void proxy_main(const struct proxy_input *input);

#endif
