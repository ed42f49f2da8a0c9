/* Server-sent events: bytes to lines, lines to fields, fields to events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/sse.h"

static const struct str bom = STR("\xEF\xBB\xBF");

void sse_init(struct sse *sse, sse_sink *sink, void *context)
{
    *sse = (struct sse){
        .sink = sink,
        .context = context,
        .line = BUF_INIT(SSE_LINE_MAX),
        .data = BUF_INIT(SSE_DATA_MAX),
        .name = BUF_INIT(SSE_LINE_MAX),
        .id = BUF_INIT(SSE_LINE_MAX),
        .retry_ms = UINT64_MAX,
    };
}

void sse_done(struct sse *sse)
{
    buf_done(&sse->line);
    buf_done(&sse->data);
    buf_done(&sse->name);
    buf_done(&sse->id);
}

static bool sse_dispatch(struct sse *sse, struct err *err)
{
    struct sse_event event = {
        .name = sse->name.n ? buf_str(&sse->name) : STR("message"),
        .data = buf_str(&sse->data),
        .id = buf_str(&sse->id),
    };
    bool ok = !sse->has_data || sse->sink(sse->context, &event, err);
    sse->has_data = false;
    buf_reset(&sse->data);
    buf_reset(&sse->name);
    return ok;
}

static void sse_set_field(struct buf *b, struct str value)
{
    buf_reset(b);
    buf_add_str(b, value);
}

static bool sse_add_data(struct sse *sse, struct str value, struct err *err)
{
    if (sse->has_data)
        buf_add_byte(&sse->data, '\n');
    buf_add_str(&sse->data, value);
    sse->has_data = true;
    if (buf_ok(&sse->data))
        return true;
    return err_set(
        err, E_PROVIDER, "an event of the answer is longer than %d MiB", SSE_DATA_MAX >> 20);
}

static void read_retry(struct sse *sse, struct str value)
{
    int64_t ms;
    if (value.n && value.p[0] != '-' && str_to_int(value, 0, INT64_MAX, &ms))
        sse->retry_ms = (uint64_t)ms;
}

/* Handles a line without its line break. */
static bool sse_read_line(struct sse *sse, struct str line, struct err *err)
{
    if (line.n == 0)
        return sse_dispatch(sse, err);
    ptrdiff_t colon = str_find(line, ':');
    struct str name = colon < 0 ? line : str_head(line, (size_t)colon);
    struct str value = colon < 0 ? STR("") : str_skip(line, (size_t)colon + 1);
    if (str_starts_with(value, STR(" ")))
        value = str_skip(value, 1);
    if (str_is(name, "data"))
        return sse_add_data(sse, value, err);
    if (str_is(name, "event"))
        sse_set_field(&sse->name, value);
    else if (str_is(name, "id") && str_find(value, '\0') < 0)
        sse_set_field(&sse->id, value);
    else if (str_is(name, "retry"))
        read_retry(sse, value);
    return true;
}

static bool sse_append_line(struct sse *sse, struct str part, struct err *err)
{
    buf_add_str(&sse->line, part);
    if (buf_ok(&sse->line))
        return true;
    return err_set(
        err, E_PROVIDER, "a line of the answer is longer than %d MiB", SSE_LINE_MAX >> 20);
}

/* Handles a complete line, the start of which may be in the buffer. */
static bool sse_end_line(struct sse *sse, struct str part, struct err *err)
{
    if (sse->line.n == 0)
        return part.n <= SSE_LINE_MAX ? sse_read_line(sse, part, err)
                                      : sse_append_line(sse, part, err);
    if (!sse_append_line(sse, part, err))
        return false;
    bool ok = sse_read_line(sse, buf_str(&sse->line), err);
    buf_reset(&sse->line);
    return ok;
}

/* The end of the line, or n. Caches the next LF: with CR line breaks, searching for it again on
 * each line would be quadratic. */
static size_t sse_find_end(struct str s, const char **lf)
{
    if (*lf < s.p)
        *lf = memchr(s.p, '\n', s.n);
    if (!*lf)
        *lf = s.p + s.n;
    size_t n = (size_t)(*lf - s.p);
    const char *cr = memchr(s.p, '\r', n);
    return cr ? (size_t)(cr - s.p) : n;
}

/* Skips the BOM; false: more bytes are needed to decide. */
static bool skip_bom(struct sse *sse, struct str *bytes)
{
    while (sse->bom_n < bom.n && bytes->n && bytes->p[0] == bom.p[sse->bom_n]) {
        sse->bom_n++;
        *bytes = str_skip(*bytes, 1);
    }
    if (sse->bom_n < bom.n && bytes->n == 0)
        return false;
    sse->begun = true;
    if (sse->bom_n < bom.n) /* not a BOM: the bytes belong to the first line */
        buf_add(&sse->line, bom.p, sse->bom_n);
    return true;
}

bool sse_push(struct sse *sse, struct str bytes, struct err *err)
{
    if (!sse->begun && !skip_bom(sse, &bytes))
        return true;
    const char *lf = NULL;
    while (bytes.n) {
        if (sse->after_cr && bytes.p[0] == '\n')
            bytes = str_skip(bytes, 1);
        sse->after_cr = false;
        if (bytes.n == 0)
            break;
        size_t n = sse_find_end(bytes, &lf);
        if (n == bytes.n)
            return sse_append_line(sse, bytes, err);
        sse->after_cr = bytes.p[n] == '\r';
        struct str part = str_head(bytes, n);
        bytes = str_skip(bytes, n + 1);
        if (!sse_end_line(sse, part, err))
            return false;
    }
    return true;
}
