/* Table of clusters: entries into one pool of code points, and an open-addressing hash table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/cluster.h"

enum {
    FIRST_ENTRIES = 64,
    FIRST_POOL = 256,
};

static uint32_t cluster_hash(const struct cluster_table *t, const uint32_t *codepoints, unsigned n)
{
    uint64_t h = t->seed ^ n;
    for (unsigned i = 0; i < n; i++) {
        h = (h ^ codepoints[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static void cluster_insert(struct cluster_table *t, uint32_t id)
{
    struct cluster c = cluster_get(t, id);
    uint32_t i = cluster_hash(t, c.codepoints, c.n) & (t->n_slots - 1);
    while (t->slots[i])
        i = (i + 1) & (t->n_slots - 1);
    t->slots[i] = id;
}

static void grow_entries(struct cluster_table *t)
{
    t->cap *= 2;
    t->entries = base_realloc(t->entries, t->cap * sizeof(*t->entries));
    free(t->slots);
    t->n_slots = t->cap * 2;
    t->slots = base_alloc(t->n_slots * sizeof(*t->slots));
    for (uint32_t id = 1; id < t->n; id++)
        cluster_insert(t, id);
}

void cluster_table_init(struct cluster_table *t)
{
    t->cap = FIRST_ENTRIES;
    t->n_slots = 2 * FIRST_ENTRIES;
    t->pool_cap = FIRST_POOL;
    t->entries = base_alloc(t->cap * sizeof(*t->entries));
    t->slots = base_alloc(t->n_slots * sizeof(*t->slots));
    t->pool = base_alloc(t->pool_cap * sizeof(*t->pool));
    t->seed = (uintptr_t)t->entries;
    t->n = 1;
    t->pool_n = 0;
}

void cluster_table_done(struct cluster_table *t)
{
    free(t->entries);
    free(t->slots);
    free(t->pool);
    *t = (struct cluster_table){0};
}

static bool cluster_same(
    const struct cluster_table *t, uint32_t id, const uint32_t *codepoints, unsigned n)
{
    struct cluster c = cluster_get(t, id);
    return c.n == n && memcmp(c.codepoints, codepoints, n * sizeof(*codepoints)) == 0;
}

uint32_t cluster_intern(struct cluster_table *t, const uint32_t *codepoints, unsigned n)
{
    BUG_ON(n < 2 || n > CLUSTER_MAX);
    uint32_t i = cluster_hash(t, codepoints, n) & (t->n_slots - 1);
    for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1))
        if (cluster_same(t, t->slots[i], codepoints, n)) {
            if (t->slots[i] == t->newest)
                t->newest = CLUSTER_NONE;
            return t->slots[i];
        }
    if (t->n >= CLUSTERS_MAX || t->pool_n + n > CLUSTER_POOL_MAX)
        return CLUSTER_NONE;
    if (t->n == t->cap)
        grow_entries(t);
    while (t->pool_n + n > t->pool_cap) {
        t->pool_cap *= 2;
        t->pool = base_realloc(t->pool, t->pool_cap * sizeof(*t->pool));
    }
    memcpy(t->pool + t->pool_n, codepoints, n * sizeof(*codepoints));
    t->entries[t->n] = (struct cluster_entry){t->pool_n, n};
    t->pool_n += n;
    cluster_insert(t, t->n);
    t->newest = t->n;
    return t->n++;
}

/* Safe without a tombstone: nothing was inserted after it, so no probe sequence continues past
 * it. */
static void drop_newest(struct cluster_table *t)
{
    struct cluster c = cluster_get(t, t->newest);
    uint32_t i = cluster_hash(t, c.codepoints, c.n) & (t->n_slots - 1);
    while (t->slots[i] != t->newest)
        i = (i + 1) & (t->n_slots - 1);
    t->slots[i] = 0;
    t->pool_n -= c.n;
    t->n--;
    t->newest = CLUSTER_NONE;
}

uint32_t cluster_replace(
    struct cluster_table *t, uint32_t id, const uint32_t *codepoints, unsigned n)
{
    /* Only if the replacement will fit: the cell must not be left with a stale number. */
    if (id != CLUSTER_NONE && id == t->newest &&
        t->pool_n - t->entries[id].n + n <= CLUSTER_POOL_MAX)
        drop_newest(t);
    return cluster_intern(t, codepoints, n);
}
