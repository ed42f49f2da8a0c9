/* Incremental HTTP/1.1 parser for consecutive messages: requests for a server, or answers for a
 * client.
 *
 *     intake_push(&in, bytes);
 *     while (in.state == INTAKE_WHOLE) {
 *         ... in.body ...
 *         intake_next(&in);
 *     }
 *
 * To stream a body, empty it between pushes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_INTAKE_H
#define LLM_INTAKE_H

#include "base/buf.h"

enum {
    INTAKE_HEAD_MAX = 64 * 1024,
    INTAKE_BODY_MAX = 64 << 20,
    INTAKE_READ = 64 * 1024, /* maximum number of bytes per push */
};

enum intake_state {
    INTAKE_HEAD,
    INTAKE_BODY,
    INTAKE_CHUNK_SIZE,
    INTAKE_CHUNK,
    INTAKE_CHUNK_END,
    INTAKE_TRAILER,
    INTAKE_REST, /* of an answer without a length: until the connection closes */
    INTAKE_WHOLE,
    INTAKE_BAD, /* not HTTP, or too long: parsing has stopped */
};

struct intake {
    enum intake_state state;
    bool answers;    /* parse answers instead of requests; set before the first push */
    struct buf in;   /* not parsed yet */
    size_t at;       /* offset of the unparsed part */
    size_t looked;   /* no newline before this */
    struct buf head; /* its lines */
    struct buf body;
    uint64_t left;             /* remaining bytes of the body or chunk */
    struct str method, target; /* of a request */
    long code;                 /* of an answer */
    bool http_1_0;
    unsigned status; /* of a bad request: the status to answer with */
};

void intake_init(struct intake *in);
void intake_done(struct intake *in);
void intake_push(struct intake *in, struct str bytes);
void intake_next(struct intake *in); /* drops a complete message and continues */
/* The connection was closed: true if the message is complete. */
bool intake_end(struct intake *in);

/* Iterates over headers; the name is as sent. */
bool intake_header(struct str *rest, struct str *ret_name, struct str *ret_value);
struct str intake_headers(const struct intake *in);                /* start of the iteration */
struct str intake_find(const struct intake *in, const char *name); /* no value: none */

#endif
