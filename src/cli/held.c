/* Masking of keys that are split across deltas. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/held.h"

enum {
    TEXT_MAX = 1 << 30,
};

void held_init(struct held *h, const struct mask *mask)
{
    *h = (struct held){.mask = mask};
}

static void held_remove_part(struct held *h, size_t at)
{
    buf_done(&h->parts[at].text);
    buf_done(&h->parts[at].id);
    h->n--;
    memmove(&h->parts[at], &h->parts[at + 1], (h->n - at) * sizeof(h->parts[0]));
}

void held_done(struct held *h)
{
    while (h->n)
        held_remove_part(h, h->n - 1);
}

static bool is_delta(enum llm_event_kind kind)
{
    return kind == LLM_TEXT_DELTA || kind == LLM_THINKING_DELTA || kind == LLM_TOOL_CALL_DELTA;
}

static bool put_part(const struct held_part *p, struct str text, held_put *put, void *context)
{
    const struct llm_event e = {
        .kind = p->kind, .index = p->index, .id = buf_str(&p->id), .delta = text};
    return text.n == 0 || put(context, &e);
}

/* Passes on held text that turned out not to be a key. */
static bool release_one(struct held *h, size_t at, held_put *put, void *context)
{
    bool ok = put_part(&h->parts[at], buf_str(&h->parts[at].text), put, context);
    held_remove_part(h, at);
    return ok;
}

bool held_release(struct held *h, held_put *put, void *context)
{
    bool ok = true;
    while (h->n)
        ok = release_one(h, 0, put, context) && ok;
    return ok;
}

static size_t held_find_part(const struct held *h, const struct llm_event *e)
{
    size_t i = 0;
    while (i < h->n && (h->parts[i].kind != e->kind || h->parts[i].index != e->index))
        i++;
    return i;
}

/* Holds back a possible start of a key. Returns false if put() failed for the oldest held block,
 * which had to be released. */
static bool held_add_part(
    struct held *h, const struct llm_event *e, struct str end, held_put *put, void *context)
{
    bool ok = h->n < HELD_MAX || release_one(h, 0, put, context);
    struct held_part *p = &h->parts[h->n++];
    *p = (struct held_part){
        .text = BUF_INIT(TEXT_MAX), .id = BUF_INIT(TEXT_MAX), .kind = e->kind, .index = e->index};
    buf_add_str(&p->text, end);
    buf_add_str(&p->id, e->id.p ? e->id : STR(""));
    return ok;
}

/* Releases held text if an event other than a delta ends its block. */
static bool held_release_block(
    struct held *h, const struct llm_event *e, held_put *put, void *context)
{
    if (e->kind == LLM_RESTART)
        return held_release(h, put, context);
    for (size_t i = 0; e->kind == LLM_TOOL_CALL_END && i < h->n; i++)
        if (h->parts[i].kind == LLM_TOOL_CALL_DELTA && str_eq(buf_str(&h->parts[i].id), e->id))
            return release_one(h, i, put, context);
    return true;
}

bool held_push(struct held *h, const struct llm_event *e, held_put *put, void *context)
{
    if (!is_delta(e->kind) || h->mask->n == 0)
        return held_release_block(h, e, put, context) && put(context, e);
    AUTO_BUF struct buf all = BUF_INIT(TEXT_MAX), clean = BUF_INIT(TEXT_MAX);
    size_t at = held_find_part(h, e);
    if (at < h->n) {
        buf_add_str(&all, buf_str(&h->parts[at].text));
        held_remove_part(h, at);
    }
    buf_add_str(&all, e->delta);
    size_t open = mask_add_part(h->mask, buf_str(&all), &clean);
    struct llm_event part = *e;
    part.delta = buf_str(&clean);
    if (part.delta.n && !put(context, &part))
        return false;
    return !open || held_add_part(h, e, str_skip(buf_str(&all), all.n - open), put, context);
}
