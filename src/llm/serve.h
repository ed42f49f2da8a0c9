/* A server that plays a script: HTTP/1.1 on 127.0.0.1, for this client and any other.
 *
 *     if (!serve_script(&options, err)) return false;      until options.stop_fd is readable
 *
 * Requests of all connections share the script: its turns are used up in the order of the requests.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SERVE_H
#define LLM_SERVE_H

#include "base/err.h"
#include "llm/play.h"

enum {
    SERVE_CONNECTIONS_MAX = 64,
    SERVE_IDLE_MS = 60 * 1000, /* maximum time without a request */
};

struct serve_options {
    struct script *script;
    const struct voice *voice;
    uint16_t port; /* 0: any */
    int stop_fd;   /* readable: end */
    int log_fd;    /* one line per request; -1: none */
    /* Called once it listens; returning false stops it. */
    bool (*on_ready)(void *context, uint16_t port, struct err *err);
    void *context;
};

MUST_USE bool serve_script(const struct serve_options *options, struct err *err);

#endif
