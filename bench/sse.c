/* Parsing server-sent events of a long answer: MB/s in pieces of 16 KiB, then the time for n and
 * for 2n bytes, one at a time (ns), the best of several rounds, in turns.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/sse.h"
#include "base/clock.h"

#include <stdio.h>

enum {
    TEXT = 8 << 20,
    PIECE = 16 << 10,
    ROUNDS = 15,
};

struct counts {
    size_t events, bytes;
};

static bool count(void *context, const struct sse_event *event, struct err *err)
{
    struct counts *c = context;
    (void)err;
    c->events++;
    c->bytes += event->data.n;
    return true;
}

/* As services send them: a name, a line of JSON, an empty line. */
static size_t add_events(struct buf *text)
{
    size_t n = 0;
    for (; text->n < TEXT; n++)
        buf_printf(text,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
            "\"delta\":{\"type\":\"text_delta\",\"text\":\" word %zu of a long answer\"}}\n\n",
            n);
    return n;
}

static uint64_t parse(struct str text, size_t piece, struct counts *counts)
{
    AUTO_ERR struct err err = {0};
    struct sse sse;
    *counts = (struct counts){0};
    uint64_t begun = clock_mono_ns();
    sse_init(&sse, count, counts);
    for (size_t at = 0; at < text.n; at += piece)
        if (!sse_push(&sse, str_n(text.p + at, MIN(piece, text.n - at)), &err))
            exit(1);
    sse_done(&sse);
    return clock_mono_ns() - begun;
}

int main(void)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * TEXT);
    struct counts whole, single, half;
    size_t n = add_events(&text);
    uint64_t pieces = UINT64_MAX, half_ns = UINT64_MAX, whole_ns = UINT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        pieces = MIN(pieces, parse(buf_str(&text), PIECE, &whole));
        half_ns = MIN(half_ns, parse(str_head(buf_str(&text), text.n / 2), 1, &half));
        whole_ns = MIN(whole_ns, parse(buf_str(&text), 1, &single));
    }
    if (whole.events != n || single.events != n || single.bytes != whole.bytes)
        return 1;
    printf("%.1f %llu %llu\n", (double)text.n / ((double)pieces / 1e9) / 1e6,
        (unsigned long long)half_ns, (unsigned long long)whole_ns);
    return 0;
}
