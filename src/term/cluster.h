/* Grapheme clusters of more than one code point, by number: a cell has room for one.
 *
 *     uint32_t id = cluster_intern(&table, codepoints, n);
 *     struct cluster c = cluster_get(&table, id);
 *
 * The table has a limit; when it is full, the terminal gives unused numbers away.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_CLUSTER_H
#define TERM_CLUSTER_H

#include "base/base.h"

enum {
    CLUSTER_MAX = 32, /* code points; more of them are dropped */
    CLUSTERS_MAX = 256 * 1024,
    CLUSTER_POOL_MAX = 1024 * 1024, /* code points of all */
    CLUSTER_NONE = 0,               /* no cluster has this number */
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
    struct cluster_entry *entries; /* number 0 is none */
    uint32_t n, cap;
    uint32_t *pool;
    uint32_t pool_n, pool_cap;
    uint32_t *slots; /* numbers, 0: free */
    uint32_t n_slots;
    uint32_t newest; /* was given out once, and last; or CLUSTER_NONE */
    uint64_t seed;   /* of the hash: an address, which no program knows */
};

void cluster_table_init(struct cluster_table *t);
void cluster_table_done(struct cluster_table *t);

/* The number of a cluster of 2 to CLUSTER_MAX code points; CLUSTER_NONE if the table is full. */
uint32_t cluster_intern(struct cluster_table *t, const uint32_t *codepoints, unsigned n);

/* The same for one that takes the place of number `id` in the only cell that got that number last:
 * a cluster comes code point by code point, and its beginnings are not kept. */
uint32_t cluster_replace(
    struct cluster_table *t, uint32_t id, const uint32_t *codepoints, unsigned n);

static inline struct cluster cluster_get(const struct cluster_table *t, uint32_t id)
{
    const struct cluster_entry *e = &t->entries[id];
    return (struct cluster){t->pool + e->at, e->n};
}

#endif
