/* Parses requests to the proxy strictly: a request that two parsers could interpret differently is
 * rejected. Pure.
 *
 *     struct proxy_request r;
 *     switch (head_parse(bytes, &r)) { case HEAD_WHOLE: … r.host, r.port …; r.used bytes of it }
 *
 * A plain request is the only one on its connection: it is sent with `Connection: close`, and no
 * data after its body is forwarded, as that could be for another host.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_HEAD_H
#define PROXY_HEAD_H

#include "base/buf.h"
#include "policy/addr.h"
#include "proxy/body.h"

enum {
    HEAD_FIELDS_MAX = 100,
};

enum head_state {
    HEAD_MORE, /* incomplete */
    HEAD_WHOLE,
    HEAD_BAD,
};

enum proxy_kind {
    PROXY_TUNNEL, /* CONNECT */
    PROXY_PLAIN,  /* http:// */
    PROXY_SOCKS,
};

struct proxy_request {
    enum proxy_kind kind;
    struct str host; /* verbatim, not validated yet; points into the bytes or to `text` */
    uint16_t port;
    size_t used;            /* length of the head; the remaining bytes are for the other side */
    struct proxy_body body; /* of a plain request */
    struct str method, path, version, fields;
    unsigned status; /* if bad: the status to reply, */
    const char *why; /* and the reason */
    char text[ADDR_TEXT];
};

enum head_state head_parse(struct str bytes, struct proxy_request *ret_request);

/* Formats a plain request's head for its server: only the path, without hop-by-hop fields. */
void head_rewrite(const struct proxy_request *request, struct buf *out);

/* SOCKS5 has two phases. The greeting gets a reply of two bytes; `refused` if no method is
 * acceptable. */
struct socks_greeting {
    size_t used;
    uint8_t answer[2];
    bool refused;
};
enum head_state socks_greet(struct str bytes, struct socks_greeting *ret_greeting);

/* Here status is a SOCKS reply code. */
enum head_state socks_parse(struct str bytes, struct proxy_request *ret_request);

#endif
