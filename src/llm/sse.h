/* Server-sent events, as browsers read them: bytes are pushed in any pieces, events come out.
 *
 *     struct sse sse;
 *     sse_init(&sse, on_event, context);
 *     if (!sse_push(&sse, bytes, err)) return false;      as often as bytes come
 *     sse_done(&sse);
 *
 * One BOM at the start is skipped; lines end in CR, LF or CRLF; an event without data is none, and
 * what stands behind the last empty line is dropped. Linear in the bytes, however they are cut.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SSE_H
#define LLM_SSE_H

#include "base/buf.h"
#include "base/err.h"

enum {
    SSE_LINE_MAX = 64 << 20,
    SSE_DATA_MAX = 64 << 20,
};

struct sse_event {
    struct str name; /* "message" if none was given */
    struct str data; /* lines joined by \n; any bytes */
    struct str id;   /* the last that was given */
};

/* False stops the parser: err is set, and sse_push() gives it back. */
typedef bool sse_sink(void *context, const struct sse_event *event, struct err *err);

struct sse {
    sse_sink *sink;
    void *context;
    struct buf line, data, name, id;
    bool begun;    /* the BOM is behind us */
    size_t bom_n;  /* bytes of it that came */
    bool after_cr; /* a LF would belong to it */
    bool has_data;
    uint64_t retry_ms; /* the last "retry" field; UINT64_MAX: none */
};

void sse_init(struct sse *sse, sse_sink *sink, void *context);
void sse_done(struct sse *sse); /* accepts a zeroed one */

/* E_PROVIDER: a line or an event is too long, or what the sink said. */
MUST_USE bool sse_push(struct sse *sse, struct str bytes, struct err *err);

#endif
