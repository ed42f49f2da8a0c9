/* Masking of keys that are split across deltas. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/mask_stream.h"

enum {
    TEXT_MAX = 1 << 30,
};

void mask_stream_init(struct mask_stream *h, const struct mask *mask)
{
    *h = (struct mask_stream){.mask = mask};
}

static void mask_stream_remove_part(struct mask_stream *h, size_t at)
{
    buf_done(&h->parts[at].text);
    buf_done(&h->parts[at].id);
    h->n--;
    memmove(&h->parts[at], &h->parts[at + 1], (h->n - at) * sizeof(h->parts[0]));
}

void mask_stream_done(struct mask_stream *h)
{
    while (h->n)
        mask_stream_remove_part(h, h->n - 1);
}

static bool mask_stream_is_delta(enum llm_event_kind kind)
{
    return kind == LLM_TEXT_DELTA || kind == LLM_THINKING_DELTA || kind == LLM_TOOL_CALL_DELTA;
}

static bool mask_stream_put_part(
    const struct mask_stream_part *p, struct str text, mask_stream_put *put, void *context)
{
    const struct llm_event e = {
        .kind = p->kind, .index = p->index, .id = buf_str(&p->id), .delta = text};
    return text.n == 0 || put(context, &e);
}

/* Passes on held text that turned out not to be a key. */
static bool mask_stream_release_part(
    struct mask_stream *h, size_t at, mask_stream_put *put, void *context)
{
    bool ok = mask_stream_put_part(&h->parts[at], buf_str(&h->parts[at].text), put, context);
    mask_stream_remove_part(h, at);
    return ok;
}

bool mask_stream_release(struct mask_stream *h, mask_stream_put *put, void *context)
{
    bool ok = true;
    while (h->n)
        ok = mask_stream_release_part(h, 0, put, context) && ok;
    return ok;
}

static size_t mask_stream_find_part(const struct mask_stream *h, const struct llm_event *e)
{
    size_t i = 0;
    while (i < h->n && (h->parts[i].kind != e->kind || h->parts[i].index != e->index))
        i++;
    return i;
}

/* Holds back a possible start of a key. Returns false if put() failed for the oldest held block,
 * which had to be released. */
static bool mask_stream_add_part(struct mask_stream *h, const struct llm_event *e, struct str end,
    mask_stream_put *put, void *context)
{
    bool ok = h->n < MASK_STREAM_MAX || mask_stream_release_part(h, 0, put, context);
    struct mask_stream_part *p = &h->parts[h->n++];
    *p = (struct mask_stream_part){
        .text = BUF_INIT(TEXT_MAX), .id = BUF_INIT(TEXT_MAX), .kind = e->kind, .index = e->index};
    buf_add_str(&p->text, end);
    buf_add_str(&p->id, e->id.p ? e->id : STR(""));
    return ok;
}

/* Releases held text if an event other than a delta ends its block. */
static bool mask_stream_release_block(
    struct mask_stream *h, const struct llm_event *e, mask_stream_put *put, void *context)
{
    if (e->kind == LLM_RESTART)
        return mask_stream_release(h, put, context);
    for (size_t i = 0; e->kind == LLM_TOOL_CALL_END && i < h->n; i++)
        if (h->parts[i].kind == LLM_TOOL_CALL_DELTA && str_eq(buf_str(&h->parts[i].id), e->id))
            return mask_stream_release_part(h, i, put, context);
    return true;
}

bool mask_stream_push(
    struct mask_stream *h, const struct llm_event *e, mask_stream_put *put, void *context)
{
    if (!mask_stream_is_delta(e->kind) || h->mask->n == 0)
        return mask_stream_release_block(h, e, put, context) && put(context, e);
    AUTO_BUF struct buf all = BUF_INIT(TEXT_MAX), clean = BUF_INIT(TEXT_MAX);
    size_t at = mask_stream_find_part(h, e);
    if (at < h->n) {
        buf_add_str(&all, buf_str(&h->parts[at].text));
        mask_stream_remove_part(h, at);
    }
    buf_add_str(&all, e->delta);
    size_t open = mask_add_part(h->mask, buf_str(&all), &clean);
    struct llm_event part = *e;
    part.delta = buf_str(&clean);
    if (part.delta.n && !put(context, &part))
        return false;
    return !open || mask_stream_add_part(h, e, str_skip(buf_str(&all), all.n - open), put, context);
}
