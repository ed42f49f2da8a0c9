/* Table of styles. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/style.h"

enum {
    FIRST_STYLES = 64,
    FIRST_SLOTS = 256,
};

static uint64_t style_hash_mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

/* The seed is unknown to the program, so it cannot choose styles with colliding hashes. */
static uint32_t hash_style(const struct style_table *t, const struct style *s)
{
    uint64_t rest = s->attrs | (uint64_t)s->underline << 16 | (uint64_t)s->link << 24;
    uint64_t h = style_hash_mix(
        style_hash_mix(t->seed, s->fg | (uint64_t)s->bg << 32), s->underline_color | rest << 32);
    return (uint32_t)(style_hash_mix(h, s->link) >> 32);
}

bool style_is_valid(const struct style *s)
{
    return color_is_valid(s->fg) && color_is_valid(s->bg) && color_is_valid(s->underline_color) &&
           s->underline <= UNDERLINE_DASHED;
}

static bool same_style(const struct style *a, const struct style *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static void style_table_insert(struct style_table *t, uint32_t id)
{
    uint32_t i = hash_style(t, &t->styles[id]) & (t->n_slots - 1);
    while (t->slots[i])
        i = (i + 1) & (t->n_slots - 1);
    t->slots[i] = (uint16_t)(id + 1);
}

/* Keeps the hash table at most half full, so that probe sequences stay short. */
static void style_table_grow(struct style_table *t)
{
    t->cap *= 2;
    t->styles = base_realloc(t->styles, t->cap * sizeof(*t->styles));
    free(t->slots);
    t->n_slots = t->cap * 4;
    t->slots = base_alloc(t->n_slots * sizeof(*t->slots));
    for (uint32_t id = 0; id < t->n; id++)
        style_table_insert(t, id);
}

void style_table_init(struct style_table *t)
{
    t->cap = FIRST_STYLES;
    t->n_slots = FIRST_SLOTS;
    t->styles = base_alloc(t->cap * sizeof(*t->styles));
    t->slots = base_alloc(t->n_slots * sizeof(*t->slots));
    t->seed = (uintptr_t)t->styles;
    t->n = 1;
    style_table_insert(t, 0);
}

void style_table_done(struct style_table *t)
{
    free(t->styles);
    free(t->slots);
    *t = (struct style_table){0};
}

uint16_t style_intern(struct style_table *t, const struct style *s)
{
    uint32_t i = hash_style(t, s) & (t->n_slots - 1);
    for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1))
        if (same_style(&t->styles[t->slots[i] - 1], s))
            return (uint16_t)(t->slots[i] - 1);
    if (style_table_full(t))
        return 0;
    if (t->n == t->cap)
        style_table_grow(t);
    t->styles[t->n] = *s;
    style_table_insert(t, t->n);
    return (uint16_t)t->n++;
}
