/* A session as one JSON document (an envelope): splits it into the lines of a session file, and
 * builds it again.
 *
 * Messages are parsed one by one: a document may be far larger than json_parse() accepts.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_ENVELOPE_H
#define AGENT_ENVELOPE_H

#include "agent/store.h"
#include "base/mask.h"

/* Writes the lines of a session file: first the header, then the messages in order. */
struct envelope_lines {
    const struct mask *mask;
    struct buf *lines;
    json_t *header;    /* borrowed */
    size_t n;          /* messages so far */
    size_t compaction; /* index of the next one in the header's list */
    struct str last;   /* time of the last message that has one, in `time` */
    struct buf time;
};

#define ENVELOPE_LINES(keys, out) \
    ((struct envelope_lines){.mask = (keys), .lines = (out), .time = BUF_INIT(64 * 1024)})

/* The header must have passed line_check_header(). */
MUST_USE bool envelope_lines_begin(struct envelope_lines *l, json_t *header, struct err *err);
MUST_USE bool envelope_lines_add(struct envelope_lines *l, const json_t *message, struct err *err);
MUST_USE bool envelope_lines_end(struct envelope_lines *l, struct err *err);
void envelope_lines_done(struct envelope_lines *l);

/* Converts a whole document. E_CONFIG names the location: NAME:LINE:COLUMN, or NAME:
 * messages[3].content[0]. */
MUST_USE bool envelope_to_lines(
    struct str text, const char *name, const struct mask *mask, struct buf *lines, struct err *err);

/* Appends the whole document, with a newline at the end. */
struct envelope_parts {
    const json_t *header, *messages, *compactions;
    struct str updated_at, title; /* no value: as in the header */
};
void envelope_add(const struct envelope_parts *parts, struct buf *out);

#endif
