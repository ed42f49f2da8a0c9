/* Searches for a few short byte sequences at once, each position of which is a set of bytes:
 * literals, literals in either case, alternatives, "[a-z]q[0-9]".
 *
 *     struct needle_run *run = &set.runs[set.n++];  run->at[run->n++] = class;
 *     struct needle n;
 *     needle_init(&n, &set);
 *     if (needle_find(&n, text, from, &match)) ...
 *
 * Up to three positions of each sequence are compared 32 bytes at a time (nibble lookup tables
 * that hold the sequences as eight groups); candidates are then compared in full.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_NEEDLE_H
#define SEARCH_NEEDLE_H

#include "base/regex.h"

enum {
    NEEDLE_RUN_MAX = 32, /* positions of a sequence */
    NEEDLE_SET_MAX = 32, /* sequences */
    NEEDLE_PROBES = 3,   /* positions that are compared first */
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
    size_t base[NEEDLE_SET_MAX]; /* offset of the first probe in each sequence */
    size_t delta[NEEDLE_PROBES]; /* offset from the first probe */
    size_t probes;
    unsigned char low[NEEDLE_PROBES][16], high[NEEDLE_PROBES][16];
    unsigned char groups[NEEDLE_PROBES][256]; /* lookup table for the bytewise fallback */
    bool vectors;                             /* the CPU supports AVX2 */
};

static inline void needle_class_add(struct needle_class *c, unsigned byte)
{
    c->bits[byte >> 6] |= (uint64_t)1 << (byte & 63);
}

static inline bool needle_class_has(const struct needle_class *c, unsigned byte)
{
    return c->bits[byte >> 6] >> (byte & 63) & 1;
}

/* Returns the estimated cost in ns per byte of ordinary text to search with this set if each
 * candidate must still be checked by a regular expression. Large for a set that matches nearly
 * everything. */
double needle_cost(const struct needle_set *set);

/* Every sequence must have at least one position. */
void needle_init(struct needle *n, const struct needle_set *set);

/* Finds an occurrence of one of the sequences. Occurrences come in line order if no sequence
 * contains a newline. */
bool needle_find(const struct needle *n, struct str text, size_t from, struct regex_match *ret);

/* Returns the number of newlines. */
size_t needle_count_lines(struct str text);

/* Returns true if no byte is above 127. */
bool needle_is_ascii(struct str text);

#endif
