/* The proxy as a child process: started, and ended with the reports of what it refused.
 *
 *     struct proxy_process proxy;
 *     if (!proxy_process_start(&(struct proxy_start){.listener = fd, .hosts = hosts}, &proxy, err))
 *     ...
 *     proxy_process_end(&proxy, &lines);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PROXY_PROCESS_H
#define PROXY_PROXY_PROCESS_H

#include "base/buf.h"
#include "proxy/proxy.h"

struct proxy_start {
    int listener; /* stays open here; -1: none */
    struct str_list hosts;
};

struct proxy_process {
    pid_t pid;  /* 0: none */
    int relays; /* see struct proxy_input; the proxy exits when it is closed */
    int report; /* non-blocking */
};

#define PROXY_PROCESS_NONE ((struct proxy_process){.relays = -1, .report = -1})

MUST_USE bool proxy_process_start(
    const struct proxy_start *start, struct proxy_process *ret_process, struct err *err);

/* Starts it on a socket of a sandbox, which only the proxy keeps: if it dies, connections fail.
 * Without a socket (-1) there is none. */
MUST_USE bool proxy_process_take(
    int *listener, struct str_list hosts, struct proxy_process *ret_process, struct err *err);

/* Ends it, and adds the lines of its report that were not read; `lines` may be NULL. */
void proxy_process_end(struct proxy_process *p, struct buf *lines);

#endif
