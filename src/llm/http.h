/* One HTTP request whose answer streams in. libcurl is loaded when the first one starts: commands
 * that never ask a service do not pay for it. Plain HTTP to this machine needs no names, proxies or
 * TLS, and goes without it: a server here has its request before libcurl would be loaded.
 *
 *     struct http *h;
 *     if (!http_open(&spec, &h, err)) return false;
 *     while (http_read(h, &bytes, err) && bytes.n) ...
 *     http_close(h);
 *
 * No redirects are followed: keys go only to the host that was named.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_HTTP_H
#define LLM_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "llm/waiter.h"

enum {
    HTTP_CONNECT_MS = 8 * 1000,
    HTTP_IDLE_MS = 300 * 1000,
    HTTP_PENDING_MAX = 256 * 1024, /* bytes that wait for a reader; then the service has to */
};

/* Loads libcurl in a thread of its own, while there is something else to do, if a request to this
 * URL needs it. */
void http_prepare(const char *url);
void http_settle(void); /* waits until that is over, before the process ends */

/* Connections to one service that are kept between requests; one request at a time uses it. */
struct http_client;
MUST_USE struct http_client *http_client_new(void);
void http_client_free(struct http_client *c); /* accepts NULL */

struct http_spec {
    struct http_client *client; /* NULL: the connection is not kept */
    const char *url;
    struct str headers; /* lines, each ended by \n */
    struct str body;    /* must live as long as the request */
    struct waiter waiter;
    uint64_t connect_timeout_ms; /* 0: the default */
    uint64_t idle_timeout_ms;    /* without a byte; 0: the default */
};

struct http; /* opaque */

/* E_CONFIG: libcurl is not there. */
MUST_USE bool http_open(const struct http_spec *spec, struct http **ret_http, struct err *err);
void http_close(struct http *h); /* accepts NULL; at any time */

/* Waits for the status and headers. E_PROVIDER with context.transport for what the network did
 * ("tls" and "url" would fail again), E_CANCELED, E_TIMEOUT. */
MUST_USE bool http_head(struct http *h, long *ret_status, struct err *err);
/* A header of the answer by its lower-case name; no value: none. */
struct str http_header(const struct http *h, const char *name);

/* The next bytes of the body; none: it ended as it should. They live until the next call. */
MUST_USE bool http_read(struct http *h, struct str *ret_bytes, struct err *err);

/* From now on everything together takes at most so long: E_TIMEOUT. */
void http_hurry(struct http *h, uint64_t ms);

/* All that counts has come: waits a moment for the end, so that the connection can be kept. */
void http_finish(struct http *h);

#endif
