/* Non-blocking name resolution: each lookup runs in a child process, with a timeout.
 *
 *     int fd = lookup_start("example.com", NULL);   readable when the result is available
 *     lookup_read(fd, &answer);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_LOOKUP_H
#define PROXY_LOOKUP_H

#include "policy/addr.h"

enum {
    LOOKUP_ADDRS_MAX = 8,
    LOOKUP_SECONDS = 15,
};

struct lookup_answer {
    int error; /* of getaddrinfo(); 0: success */
    size_t n;  /* number of addresses, in the order to try them */
    struct proxy_addr addrs[LOOKUP_ADDRS_MAX];
    bool own[LOOKUP_ADDRS_MAX]; /* an address of this machine */
};

/* Resolves a name, in the child process. */
typedef void lookup_fn(const char *name, struct lookup_answer *ret_answer);

/* Returns a file descriptor, or -1. how is NULL for the system's resolver, which is used without
 * search domains. */
MUST_USE int lookup_start(const char *name, lookup_fn *how);

/* Closes it. False if the child exited without a result. */
bool lookup_read(int fd, struct lookup_answer *ret_answer);

#endif
