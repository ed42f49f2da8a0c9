/* Fuzzes the reader of event streams: the same events whole, byte by byte and in parts of three. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/sse.h"

enum {
    INPUT_MAX = 1 << 16,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool collect(void *context, const struct sse_event *event, struct err *err)
{
    struct buf *b = context;
    (void)err;
    buf_printf(b, "%zu %zu %zu\n", event->name.n, event->id.n, event->data.n);
    buf_add_str(b, event->name);
    buf_add_str(b, event->id);
    buf_add_str(b, event->data);
    return true;
}

static void read_parts(struct str bytes, size_t part, struct buf *events)
{
    AUTO_ERR struct err err = {0};
    struct sse sse;
    sse_init(&sse, collect, events);
    for (size_t at = 0; at < bytes.n; at += part)
        BUG_ON(!sse_push(&sse, str_head(str_skip(bytes, at), part), &err));
    buf_printf(events, "%llu", (unsigned long long)sse.retry_ms);
    sse_done(&sse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF struct buf whole = BUF_INIT(1 << 30), bytewise = BUF_INIT(1 << 30),
                        threes = BUF_INIT(1 << 30);
    struct str bytes = str_n((const char *)data, size);
    if (size > INPUT_MAX)
        return 0;
    read_parts(bytes, INPUT_MAX, &whole);
    read_parts(bytes, 1, &bytewise);
    read_parts(bytes, 3, &threes);
    BUG_ON(
        !str_eq(buf_str(&whole), buf_str(&bytewise)) || !str_eq(buf_str(&whole), buf_str(&threes)));
    return 0;
}
