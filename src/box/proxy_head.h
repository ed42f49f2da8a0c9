/* What a client asks of the proxy, read strictly: where two readers could see two different
 * requests, it is none. Pure.
 *
 *     struct proxy_request r;
 *     switch (head_parse(bytes, &r)) { case HEAD_WHOLE: … r.host, r.port …; r.used bytes of it }
 *
 * A plain request is the only one on its connection: `Connection: close` goes with it, and nothing
 * after its body is passed on, since what follows could be for another host.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_HEAD_H
#define BOX_PROXY_HEAD_H

#include "base/buf.h"
#include "box/proxy_addr.h"
#include "box/proxy_body.h"

enum {
    HEAD_FIELDS_MAX = 100,
};

enum head_state {
    HEAD_MORE, /* not all of it is there */
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
    struct str host; /* as it was written: not checked yet; points into the bytes or to `text` */
    uint16_t port;
    size_t used;            /* bytes; what follows is for the other side */
    struct proxy_body body; /* of a plain request */
    struct str method, path, version, fields;
    unsigned status; /* of a bad one: what to answer, */
    const char *why; /* and the reason */
    char text[ADDR_TEXT];
};

enum head_state head_parse(struct str bytes, struct proxy_request *ret_request);

/* The head of a plain request as its server gets it: the path alone, without what was for us. */
void head_rewrite(const struct proxy_request *request, struct buf *out);

/* SOCKS5 comes in two parts. The first has an answer of two bytes; `why` says if it is a no. */
struct socks_greeting {
    size_t used;
    uint8_t answer[2];
    bool refused;
};
enum head_state socks_greet(struct str bytes, struct socks_greeting *ret_greeting);

/* status is here the code of SOCKS for what is wrong. */
enum head_state socks_parse(struct str bytes, struct proxy_request *ret_request);

#endif
