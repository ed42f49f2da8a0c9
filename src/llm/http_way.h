/* The two ways of llm/http.h: libcurl, and for plain HTTP on this machine a socket. Both do the
 * same to whoever uses them; tests/llm runs against both.
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
    HTTP_INTERIM_MAX = 16, /* answers such as 100 Continue before the one that counts */
};

struct http_way;

/* The start of what each way has for a request. */
struct http {
    const struct http_way *way;
    struct http_spec spec;
    struct http_client *client; /* NULL: nothing is kept */
    uint64_t last_ms; /* when the last byte of a body came, or went; or when the head was there */
    unsigned interim; /* answers that were none yet */
};

struct http_way {
    MUST_USE bool (*open)(struct http **ret_http, struct err *err);
    MUST_USE bool (*head)(struct http *h, long *ret_status, struct err *err);
    struct str (*header)(const struct http *h, const char *name);
    MUST_USE bool (*read)(struct http *h, struct str *ret_bytes, struct err *err);
    void (*finish)(struct http *h);
    void (*close)(struct http *h); /* the memory, too */
};

extern const struct http_way http_curl, http_plain;

struct http_client {
    atomic_bool busy;
    void *multi; /* libcurl's; NULL: none yet */
    int fd;      /* a connection of the other way; -1: none */
};
void http_curl_forget(struct http_client *c);

/* Where a URL leads on this machine, if it does and needs nothing but a socket: the host without
 * its port, what goes into the Host header, the port, the path. */
struct http_place {
    struct str host, authority, path;
    uint16_t port;
};
bool http_find_place(const char *url, struct http_place *ret_place);
/* "localhost", a name below it, 127.x.x.x, [::1], in any scheme: no proxy could find the way back.
 */
bool http_is_loopback(const char *url);

/* E_PROVIDER with context.transport; %s in the words is the host, behind them may come more in
 * brackets (NULL or "": nothing). */
bool http_fail(
    const struct http *h, const char *kind, const char *words, const char *more, struct err *err);

/* Notes an interim answer, which is no progress; false: there were too many. */
bool http_note_interim(struct http *h);
bool http_too_many_interim(const struct http *h, struct err *err); /* E_PROVIDER */

/* How long it may still be quiet. Until the head is there, what comes does not count: neither
 * interim answers nor a head byte by byte keep a request waiting. False: too long, E_PROVIDER. */
MUST_USE bool http_quiet(const struct http *h, uint64_t *ret_left_ms, struct err *err);

#endif
