/* Table of OSC 8 links: URIs, and the ids that combine several runs of cells into one link. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_LINK_H
#define TERM_TERM_LINK_H

#include "base/str.h"

enum {
    LINKS_MAX = 4096,
    LINK_URI_MAX = 2083, /* limit common to most terminals */
    LINK_ID_MAX = 250,
};

struct link {
    char *text; /* URI followed by id */
    uint16_t uri_n, id_n;
};

struct link_table {
    struct link *links; /* entry 0 is unused */
    uint32_t n, cap;
    uint16_t *slots; /* open-addressing hash table of numbers, 0: free; allocated with the first
                        link. Its address seeds the hash and is unknown to the program */
};

void link_table_init(struct link_table *t);
void link_table_done(struct link_table *t);

/* Returns the number of a link, adding it if necessary, or 0 if the table is full or a part too
 * long. */
uint32_t link_intern(struct link_table *t, struct str uri, struct str id);

static inline bool link_table_full(const struct link_table *t)
{
    return t->n >= LINKS_MAX;
}

struct str link_uri(const struct link_table *t, uint32_t link);
struct str link_id(const struct link_table *t, uint32_t link);

/* Drops unmarked links and stores the new numbers in `marks`. */
void link_table_keep(struct link_table *t, uint32_t marks[LINKS_MAX]);

#endif
