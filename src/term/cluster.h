/* Table of grapheme clusters of more than one code point: a cell has room for one number only.
 *
 *     uint32_t id = cluster_intern(&table, codepoints, n);
 *     struct cluster c = cluster_get(&table, id);
 *
 * The table's size is limited; when it is full, the terminal reuses unused numbers
 * (term_compact.c).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_CLUSTER_H
#define TERM_CLUSTER_H

#include "base/base.h"

enum {
    CLUSTER_MAX = 32, /* code points per cluster; more are dropped */
    CLUSTERS_MAX = 256 * 1024,
    CLUSTER_POOL_MAX = 1024 * 1024, /* code points in all clusters */
    CLUSTER_NONE = 0,               /* not a valid number */
};

struct cluster {
    const uint32_t *codepoints;
    unsigned n;
};

struct cluster_entry {
    uint32_t at;
    uint32_t n;
};

struct cluster_table {
    struct cluster_entry *entries; /* entry 0 is unused */
    uint32_t n, cap;
    uint32_t *pool;
    uint32_t pool_n, pool_cap;
    uint32_t *slots; /* numbers; 0: free */
    uint32_t n_slots;
    uint32_t newest; /* last number added, if returned only once; or CLUSTER_NONE */
    uint64_t seed;   /* hash seed: an address, unknown to the program */
};

void cluster_table_init(struct cluster_table *t);
void cluster_table_done(struct cluster_table *t);

/* Returns the number of a cluster of 2 to CLUSTER_MAX code points, or CLUSTER_NONE if the table is
 * full. */
uint32_t cluster_intern(struct cluster_table *t, const uint32_t *codepoints, unsigned n);

/* Like cluster_intern(), for a cluster that replaces `id` in a cell. Clusters arrive one code point
 * at a time: if `id` is the newest entry and no other cell uses it, it is freed first. */
uint32_t cluster_replace(
    struct cluster_table *t, uint32_t id, const uint32_t *codepoints, unsigned n);

static inline struct cluster cluster_get(const struct cluster_table *t, uint32_t id)
{
    const struct cluster_entry *e = &t->entries[id];
    return (struct cluster){t->pool + e->at, e->n};
}

#endif
