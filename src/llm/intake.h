/* HTTP/1.1 out of bytes in any pieces, one message after the other: requests as a server reads
 * them, or answers as a client does.
 *
 *     intake_push(&in, bytes);
 *     while (in.state == INTAKE_WHOLE) { ... in.body ...; intake_next(&in); }
 *
 * Whoever wants a body as it comes empties it between pushes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_INTAKE_H
#define LLM_INTAKE_H

#include "base/buf.h"

enum {
    INTAKE_HEAD_MAX = 64 * 1024,
    INTAKE_BODY_MAX = 64 << 20,
    INTAKE_READ = 64 * 1024, /* bytes to push at once, at most */
};

enum intake_state {
    INTAKE_HEAD,
    INTAKE_BODY,
    INTAKE_CHUNK_SIZE,
    INTAKE_CHUNK,
    INTAKE_CHUNK_END,
    INTAKE_TRAILER,
    INTAKE_REST, /* of an answer without a length: until the connection ends */
    INTAKE_WHOLE,
    INTAKE_BAD, /* no HTTP, or too long: nothing more is read */
};

struct intake {
    enum intake_state state;
    bool answers;    /* not requests; set before the first push */
    struct buf in;   /* not understood yet */
    size_t at;       /* what of it was used */
    size_t looked;   /* no line ends before this */
    struct buf head; /* its lines */
    struct buf body;
    uint64_t left;             /* bytes of the body, or of its chunk */
    struct str method, target; /* of a request */
    long code;                 /* of an answer */
    bool http_1_0;
    unsigned status; /* of a bad request: what to answer */
};

void intake_init(struct intake *in);
void intake_done(struct intake *in);
void intake_push(struct intake *in, struct str bytes);
void intake_next(struct intake *in); /* forgets a whole message, and goes on */
/* The connection has ended: true if nothing is missing. */
bool intake_end(struct intake *in);

/* The next header; the name as it was sent. */
bool intake_header(struct str *rest, struct str *ret_name, struct str *ret_value);
struct str intake_headers(const struct intake *in);                /* the rest to start with */
struct str intake_find(const struct intake *in, const char *name); /* no value: none */

#endif
