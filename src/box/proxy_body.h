/* Where the body of a request ends, while it passes in pieces. Pure.
 *
 *     size_t mine = body_take(&body, bytes);       the first so many belong to it
 *     if (body.state == BODY_BAD) …                  it is no body
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_BODY_H
#define BOX_PROXY_BODY_H

#include "base/str.h"

enum {
    BODY_LINE_MAX = 4 * 1024,     /* the size of a chunk with its extensions */
    BODY_TRAILER_MAX = 16 * 1024, /* all lines after the last chunk */
};

enum body_state {
    BODY_END, /* there is none, or nothing more of it */
    BODY_LENGTH,
    BODY_SIZE,      /* the number before a chunk */
    BODY_EXTENSION, /* the rest of that line */
    BODY_SIZE_LF,
    BODY_CHUNK,
    BODY_CHUNK_CR,
    BODY_CHUNK_LF,
    BODY_TRAILER, /* at the start of a line */
    BODY_TRAILER_LINE,
    BODY_TRAILER_LF,
    BODY_LAST_LF,
    BODY_BAD,
};

struct proxy_body {
    enum body_state state;
    uint64_t left;   /* bytes of the body or its chunk */
    unsigned digits; /* of the chunk's size */
    size_t line;     /* bytes of the line, or of all trailers */
};

/* How many of the bytes are the body's: fewer than given if it ended, or is bad. */
size_t body_take(struct proxy_body *body, struct str bytes);

#endif
