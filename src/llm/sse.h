/* Incremental parser for server-sent events, as in browsers.
 *
 *     struct sse sse;
 *     sse_init(&sse, on_event, context);
 *     if (!sse_push(&sse, bytes, err)) return false;      as often as bytes come
 *     sse_done(&sse);
 *
 * Skips one BOM at the start; lines end in CR, LF or CRLF; events without data are ignored, and
 * everything after the last empty line is dropped. Linear in the input, however it is split.
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
    struct str name; /* "message" if not given */
    struct str data; /* lines joined by \n; any bytes */
    struct str id;   /* the last one given */
};

/* Returns false to stop the parser, with err set; sse_push() returns the error. */
typedef bool sse_sink(void *context, const struct sse_event *event, struct err *err);

struct sse {
    sse_sink *sink;
    void *context;
    struct buf line, data, name, id;
    bool begun;    /* past the BOM */
    size_t bom_n;  /* bytes of the BOM received */
    bool after_cr; /* a following LF belongs to the CR */
    bool has_data;
    uint64_t retry_ms; /* the last "retry" field; UINT64_MAX: none */
};

void sse_init(struct sse *sse, sse_sink *sink, void *context);
void sse_done(struct sse *sse); /* accepts a zeroed one */

/* E_PROVIDER: a line or an event is too long; or the sink's error. */
MUST_USE bool sse_push(struct sse *sse, struct str bytes, struct err *err);

#endif
