/* Finds the end of a request's body while it passes in pieces. Pure.
 *
 *     size_t mine = body_take(&body, bytes);       length of the prefix that belongs to it
 *     if (body.state == BODY_BAD) …                  malformed
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BODY_H
#define PROXY_BODY_H

#include "base/str.h"

enum {
    BODY_LINE_MAX = 4 * 1024,     /* size line of a chunk, including extensions */
    BODY_TRAILER_MAX = 16 * 1024, /* all lines after the last chunk */
};

enum body_state {
    BODY_END, /* no body, or complete */
    BODY_LENGTH,
    BODY_SIZE,      /* size of a chunk */
    BODY_EXTENSION, /* the rest of that line */
    BODY_SIZE_LF,
    BODY_CHUNK,
    BODY_CHUNK_CR,
    BODY_CHUNK_LF,
    BODY_TRAILER, /* at the beginning of a line */
    BODY_TRAILER_LINE,
    BODY_TRAILER_LF,
    BODY_LAST_LF,
    BODY_BAD,
};

struct proxy_body {
    enum body_state state;
    uint64_t left;   /* remaining bytes of the body or chunk */
    unsigned digits; /* digits of the chunk size read so far */
    size_t line;     /* length of the line, or of all trailers */
};

/* Returns how many of the bytes belong to the body: fewer than given if it ended or is
 * malformed. */
size_t body_take(struct proxy_body *body, struct str bytes);

#endif
