/* One HTTP request whose answer streams in. libcurl is loaded when the first one starts: commands
 * that never ask a service do not pay for it.
 *
 *     struct http *h;
 *     if (!http_open(&spec, &h, err)) return false;
 *     while (http_read(h, &bytes, err) && bytes.n) ...
 *     http_close(h);
 *
 * No redirects are followed: keys go only to the host that was named.
 */
#ifndef LLM_HTTP_H
#define LLM_HTTP_H

#include "base/buf.h"
#include "base/err.h"

struct http_spec {
    const char *url;
    struct str headers; /* lines, each ended by \n */
    struct str body;    /* must live as long as the request */
    int cancel_fd;      /* readable: stop at once; -1: none */
    uint64_t connect_timeout_ms;
    uint64_t idle_timeout_ms; /* without a byte */
    uint64_t deadline_ms;     /* clock_mono_ms(); 0: none */
};

struct http; /* opaque */

MUST_USE bool http_open(const struct http_spec *spec, struct http **ret_http, struct err *err);
void http_close(struct http *h); /* accepts NULL; at any time */

/* Waits for the status and headers. E_PROVIDER with context.transport for what the network did,
 * E_CANCELED. */
MUST_USE bool http_head(struct http *h, long *ret_status, struct err *err);
/* A header of the answer by its lower-case name; no value: none. */
struct str http_header(const struct http *h, const char *name);

/* The next bytes of the body; none: it ended as it should. They live until the next call. */
MUST_USE bool http_read(struct http *h, struct str *ret_bytes, struct err *err);

#endif
