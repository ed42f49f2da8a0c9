/* Looks for a few short sequences of bytes at once, each place of which is a set of bytes:
 * literals, literals in either case, alternatives, "[a-z]q[0-9]".
 *
 *     struct needle_run *run = needle_set_add(&set);  run->at[run->n++] = class;
 *     struct needle n;
 *     needle_init(&n, &set);
 *     if (needle_find(&n, text, from, &match)) ...
 *
 * Up to three places of each sequence are compared 32 bytes at a time (by half-byte tables, as
 * sets of eight groups of sequences); what passes is then compared whole.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_NEEDLE_H
#define SEARCH_NEEDLE_H

#include "base/regex.h"

enum {
    NEEDLE_RUN_MAX = 32, /* places of a sequence */
    NEEDLE_SET_MAX = 32, /* sequences */
    NEEDLE_PROBES = 3,   /* places that are compared first */
};

struct needle_class {
    uint64_t bits[4];
};

struct needle_run {
    struct needle_class at[NEEDLE_RUN_MAX];
    size_t n;
};

struct needle_set {
    struct needle_run runs[NEEDLE_SET_MAX];
    size_t n;
};

struct needle {
    struct needle_set set;
    size_t base[NEEDLE_SET_MAX]; /* where in each sequence the first probe stands */
    size_t delta[NEEDLE_PROBES]; /* from the first probe */
    size_t probes;
    unsigned char low[NEEDLE_PROBES][16], high[NEEDLE_PROBES][16];
    unsigned char groups[NEEDLE_PROBES][256]; /* the same for one byte at a time */
    bool vectors;                             /* the machine has them */
};

static inline void needle_class_add(struct needle_class *c, unsigned byte)
{
    c->bits[byte >> 6] |= (uint64_t)1 << (byte & 63);
}

static inline bool needle_class_has(const struct needle_class *c, unsigned byte)
{
    return c->bits[byte >> 6] >> (byte & 63) & 1;
}

/* How much one byte of ordinary text costs to search with this set, roughly in ns, where what is
 * found must still be judged by a regular expression. Large for a set that finds nearly
 * everything. */
double needle_cost(const struct needle_set *set);

/* Every sequence has a place. */
void needle_init(struct needle *n, const struct needle_set *set);

/* A place where one of them stands. Found in the order of lines, if none holds a newline. */
bool needle_find(const struct needle *n, struct str text, size_t from, struct regex_match *ret);

/* How many newlines. */
size_t needle_count_lines(struct str text);

/* Has no byte above 127. */
bool needle_is_ascii(struct str text);

#endif
