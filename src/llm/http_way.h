/* The two transports of llm/http.h: libcurl, and a plain socket for HTTP to this machine. Both
 * behave the same to callers; tests/llm runs against both.
 *
 * The plain one lets a model on this machine be used where libcurl is not installed. It also saves
 * loading libcurl: 4.8 instead of 13.5 ms to the first request, 16.5 instead of 28.3 ms for a turn
 * with one command, 3.8 instead of 11.9 MiB for each agent; the limits of `script/bench agent`
 * depend on it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_HTTP_WAY_H
#define LLM_HTTP_WAY_H

#include "llm/http.h"

#include <stdatomic.h>

enum {
    HTTP_HEADERS_MAX = 64 * 1024,
    HTTP_READ_SIZE = 64 * 1024,
    HTTP_FINISH_MS = 20,
    HTTP_INTERIM_MAX = 16, /* interim answers such as 100 Continue before the final one */
};

struct http_way;

/* First member of the request structure of each transport. */
struct http {
    const struct http_way *way;
    struct http_spec spec;
    struct http_client *client; /* NULL: the connection is not kept */
    uint64_t last_ms; /* time of the last body byte received or sent, or the end of the head */
    unsigned interim; /* number of interim answers */
};

struct http_way {
    MUST_USE bool (*open)(struct http **ret_http, struct err *err);
    MUST_USE bool (*head)(struct http *h, long *ret_status, struct err *err);
    struct str (*header)(const struct http *h, const char *name);
    MUST_USE bool (*read)(struct http *h, struct str *ret_bytes, struct err *err);
    void (*finish)(struct http *h);
    void (*close)(struct http *h); /* also frees it */
};

extern const struct http_way http_curl, http_plain;

struct http_client {
    atomic_bool busy;
    void *multi; /* of libcurl; NULL: none yet */
    int fd;      /* connection of the plain transport; -1: none */
};
void http_curl_forget(struct http_client *c);

/* A URL to this machine that needs only a socket: the host without its port, the value of the Host
 * header, the port, the path. http_find_place() returns false for other URLs. */
struct http_place {
    struct str host, authority, path;
    uint16_t port;
};
bool http_find_place(const char *url, struct http_place *ret_place);
/* "localhost", a name below it, 127.x.x.x, [::1], in any scheme: a proxy could not reach it. */
bool http_is_loopback(const char *url);

/* E_PROVIDER with context.transport; %s in `words` is replaced by the host, and `more` is appended
 * in parentheses (NULL or "": nothing). */
bool http_fail(
    const struct http *h, const char *kind, const char *words, const char *more, struct err *err);

/* Counts an interim answer, which does not reset the idle timeout; false: too many. */
bool http_note_interim(struct http *h);
bool http_too_many_interim(const struct http *h, struct err *err); /* E_PROVIDER */

/* Remaining idle time. Bytes received before the head is complete do not reset it, so that neither
 * interim answers nor a slow head keep a request waiting. False: timed out, E_PROVIDER. */
MUST_USE bool http_quiet(const struct http *h, uint64_t *ret_left_ms, struct err *err);

#endif
