/* A session as one document, taken apart into the lines of a session file, and put together again.
 *
 * Messages are parsed one by one: a document may be far larger than what json_parse() takes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_ENVELOPE_H
#define AGENT_ENVELOPE_H

#include "agent/store.h"
#include "llm/mask.h"

/* Lines of a session file as they are made: first the envelope, then its messages in order. */
struct envelope_lines {
    const struct mask *mask;
    struct buf *lines;
    json_t *header;    /* borrowed */
    size_t n;          /* messages so far */
    size_t compaction; /* the next of the header's */
    struct str last;   /* the last message's time, in `lines` or in the message */
    struct buf time;
};

#define ENVELOPE_LINES(keys, out) \
    ((struct envelope_lines){.mask = (keys), .lines = (out), .time = BUF_INIT(64 * 1024)})

/* The header is one that line_check_header() took. */
MUST_USE bool envelope_lines_begin(struct envelope_lines *l, json_t *header, struct err *err);
MUST_USE bool envelope_lines_add(struct envelope_lines *l, const json_t *message, struct err *err);
MUST_USE bool envelope_lines_end(struct envelope_lines *l, struct err *err);
void envelope_lines_done(struct envelope_lines *l);

/* All of it from a text. E_CONFIG says where: NAME:LINE:COLUMN, or NAME: messages[3].content[0]. */
MUST_USE bool envelope_to_lines(
    struct str text, const char *name, const struct mask *mask, struct buf *lines, struct err *err);

/* The whole document, with its newline. */
struct envelope_parts {
    const json_t *header, *messages, *compactions;
    struct str updated_at, title; /* no value: as in the header */
};
void envelope_add(const struct envelope_parts *parts, struct buf *out);

#endif
