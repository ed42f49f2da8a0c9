/* Links of OSC 8 by number: where they lead, and the id that makes several runs of cells one link.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_LINK_H
#define TERM_LINK_H

#include "base/str.h"

enum {
    LINKS_MAX = 4096,
    LINK_URI_MAX = 2083, /* what terminals agree on */
    LINK_ID_MAX = 250,
};

struct link {
    char *text; /* the URI, then the id */
    uint16_t uri_n, id_n;
};

struct link_table {
    struct link *links; /* number 0 is none */
    uint32_t n, cap;
    uint16_t *slots; /* an open hash of numbers, 0: free; made with the first link. Its address is
                        the hash's seed, which no program knows */
};

void link_table_init(struct link_table *t);
void link_table_done(struct link_table *t);

/* The number of a link, 0 if the table is full or a part too long. */
uint32_t link_intern(struct link_table *t, struct str uri, struct str id);

static inline bool link_table_full(const struct link_table *t)
{
    return t->n >= LINKS_MAX;
}

struct str link_uri(const struct link_table *t, uint32_t link);
struct str link_id(const struct link_table *t, uint32_t link);

/* Drops those that are not marked; the new numbers are left in `marks`. */
void link_table_keep(struct link_table *t, uint32_t marks[LINKS_MAX]);

#endif
