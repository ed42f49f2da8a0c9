/* Names to addresses, without waiting: each in a process of its own, for a limited time.
 *
 *     int fd = lookup_start("example.com", NULL);   readable when there is an answer
 *     lookup_read(fd, &answer);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_LOOKUP_H
#define BOX_PROXY_LOOKUP_H

#include "box/proxy_addr.h"

enum {
    LOOKUP_ADDRS_MAX = 8,
    LOOKUP_SECONDS = 15,
};

struct lookup_answer {
    int error; /* of getaddrinfo(); 0: none */
    size_t n;  /* of the addresses, in the order in which they should be tried */
    struct proxy_addr addrs[LOOKUP_ADDRS_MAX];
    bool own[LOOKUP_ADDRS_MAX]; /* it is one of this machine */
};

/* How a name is looked up, in that process. */
typedef void lookup_fn(const char *name, struct lookup_answer *ret_answer);

/* NULL: as the system does, but never with a domain of its search list behind the name. A
 * descriptor, or -1. */
MUST_USE int lookup_start(const char *name, lookup_fn *how);

/* Closes it. False: the process ended without an answer. */
bool lookup_read(int fd, struct lookup_answer *ret_answer);

#endif
