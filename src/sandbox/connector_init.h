/* Process 1's part in connecting Unix sockets for the commands of its sandbox: sandbox/connector.h
 * asks, connector_serve() answers. Only here the new socket belongs to the sandbox's network, and
 * the kernel tells exactly whether its peer is in the sandbox's pid namespace, even if that process
 * has ended. Allocates nothing.
 *
 * In a private network the kernel also lists the names that its sockets listen on, so that sockets
 * of the host are not even touched. With the host's network one is connected, recognised, and
 * closed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_CONNECTOR_INIT_H
#define SANDBOX_CONNECTOR_INIT_H

#include "base/base.h"

#include <limits.h>
#include <stdint.h>

/* One packet; the path is absolute, or begins with NUL: an abstract name. */
struct connector_request {
    uint32_t id;
    uint32_t type; /* SOCK_STREAM or SOCK_SEQPACKET */
    char path[PATH_MAX];
};

/* One packet, with the connected socket, which does not block, if `errnum` is 0. */
struct connector_answer {
    uint32_t id;
    int32_t errnum;
    uint32_t foreign; /* ECONNREFUSED: no process of the sandbox listens there */
};

/* Opens the list of sockets of the private network; before the filter is installed. */
void connector_prepare(void);

/* Takes one request from a packet socket and answers it. `cwd`: process 1's directory, which may be
 * changed in between. */
void connector_serve(int from, const char *cwd);

#endif
