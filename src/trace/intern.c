/* Hash table with open addressing over values in one buffer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/intern.h"

#include "base/fnv.h"

enum {
    SLOTS_MIN = 1024,
};

void intern_init(struct intern *t, char separator, size_t max_bytes)
{
    *t = (struct intern){.text = BUF_INIT(max_bytes), .separator = separator, .n_slots = SLOTS_MIN};
    t->slots = base_alloc(SLOTS_MIN * sizeof(*t->slots));
    memset(t->slots, 0, SLOTS_MIN * sizeof(*t->slots));
}

void intern_done(struct intern *t)
{
    buf_done(&t->text);
    free(t->slots);
    t->slots = NULL;
}

static struct intern_slot *intern_find(struct intern *t, uint64_t hash, struct str value)
{
    size_t i = (hash ^ hash >> 32) & (t->n_slots - 1);
    for (;; i = (i + 1) & (t->n_slots - 1)) {
        struct intern_slot *s = &t->slots[i];
        if (!s->id || (s->hash == hash && str_eq(str_n(t->text.p + s->at, s->n), value)))
            return s;
    }
}

static void intern_grow(struct intern *t)
{
    struct intern_slot *old = t->slots;
    size_t n = t->n_slots;
    t->n_slots = 2 * n;
    t->slots = base_alloc(t->n_slots * sizeof(*old));
    memset(t->slots, 0, t->n_slots * sizeof(*old));
    for (size_t i = 0; i < n; i++)
        if (old[i].id) {
            size_t at = (old[i].hash ^ old[i].hash >> 32) & (t->n_slots - 1);
            while (t->slots[at].id)
                at = (at + 1) & (t->n_slots - 1);
            t->slots[at] = old[i];
        }
    free(old);
}

uint32_t intern_add(struct intern *t, struct str value)
{
    uint64_t hash = fnv_add(FNV_START, value);
    struct intern_slot *s = intern_find(t, hash, value);
    if (s->id)
        return s->id - 1;
    size_t between = t->n ? 1 : 0;
    if (!buf_ok(&t->text) || !buf_reserve(&t->text, value.n + between))
        return 0;
    if (between)
        buf_add_byte(&t->text, t->separator);
    *s = (struct intern_slot){hash, t->text.n, value.n, (uint32_t)++t->n};
    buf_add_str(&t->text, value);
    uint32_t id = s->id - 1;
    if (2 * t->n > t->n_slots)
        intern_grow(t);
    return id;
}
