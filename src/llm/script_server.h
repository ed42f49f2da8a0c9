/* A server that plays a script: HTTP/1.1 on 127.0.0.1, for this client and any other.
 *
 *     if (!script_server_run(&options, err)) return false;      until options.stop_fd is readable
 *
 * Requests of all connections share the script: its turns are used up in the order of the requests.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SCRIPT_SERVER_H
#define LLM_SCRIPT_SERVER_H

#include "base/err.h"
#include "llm/script_render.h"

enum {
    SCRIPT_SERVER_CONNECTIONS_MAX = 64,
    SCRIPT_SERVER_IDLE_MS = 60 * 1000, /* maximum time without a request */
};

struct script_server_options {
    struct script *script;
    const struct script_dialect *dialect;
    uint16_t port; /* 0: any */
    int stop_fd;   /* readable: end */
    int log_fd;    /* one line per request; -1: none */
    /* Called once it listens; returning false stops it. */
    bool (*on_ready)(void *context, uint16_t port, struct err *err);
    void *context;
};

MUST_USE bool script_server_run(const struct script_server_options *options, struct err *err);

#endif
