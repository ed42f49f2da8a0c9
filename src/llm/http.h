/* One HTTP request with a streaming answer. libcurl is loaded when the first one starts, so that
 * commands that never use a service do not pay for it. Plain HTTP to this machine needs no name
 * resolution, proxy or TLS, and does not use libcurl: a local server has the request before libcurl
 * would be loaded.
 *
 *     struct http *h;
 *     if (!http_open(&spec, &h, err)) return false;
 *     while (http_read(h, &bytes, err) && bytes.n) ...
 *     http_close(h);
 *
 * Redirects are not followed: keys are sent only to the configured host.
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
    HTTP_PENDING_MAX = 256 * 1024, /* unread bytes buffered before the transfer is paused */
};

/* Loads libcurl in a background thread if a request to this URL needs it. */
void http_prepare(const char *url);
void http_settle(void); /* waits for that thread, before the process exits */

/* Connections to one service, kept between requests; used by one request at a time. */
struct http_client;
MUST_USE struct http_client *http_client_new(void);
void http_client_free(struct http_client *c); /* accepts NULL */

struct http_spec {
    struct http_client *client; /* NULL: the connection is not kept */
    const char *url;
    struct str headers; /* lines, each terminated by \n */
    struct str body;    /* must outlive the request */
    struct waiter waiter;
    uint64_t connect_timeout_ms; /* 0: the default */
    uint64_t idle_timeout_ms;    /* maximum time without a byte; 0: the default */
};

struct http; /* opaque */

/* E_CONFIG: libcurl is missing. */
MUST_USE bool http_open(const struct http_spec *spec, struct http **ret_http, struct err *err);
void http_close(struct http *h); /* accepts NULL; at any time */

/* Waits for the status and headers. E_PROVIDER with context.transport for network failures ("tls"
 * and "url" would fail again), E_CANCELED, E_TIMEOUT. */
MUST_USE bool http_head(struct http *h, long *ret_status, struct err *err);
/* A header of the answer by its lower-case name; no value: none. */
struct str http_header(const struct http *h, const char *name);

/* The next bytes of the body; empty at its regular end. Valid until the next call. */
MUST_USE bool http_read(struct http *h, struct str *ret_bytes, struct err *err);

/* Limits the remaining time of the request: E_TIMEOUT. */
void http_hurry(struct http *h, uint64_t ms);

/* Call when the rest of the body is not needed: waits briefly for its end, so that the connection
 * can be kept. */
void http_finish(struct http *h);

#endif
