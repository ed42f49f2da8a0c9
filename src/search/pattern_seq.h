/* Collects what a sequence of characters and groups needs, while a pattern is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_PATTERN_SEQ_H
#define SEARCH_PATTERN_SEQ_H

#include "search/needle.h"

/* One character of a text: which ASCII ones, and whether there are others. */
struct seq_char {
    struct needle_class ascii;
    bool wide;
};

/* How often; max is SIZE_MAX without a bound. */
struct seq_times {
    size_t min, max;
};

/* What a part of a pattern needs: one of these, if there are any. */
struct seq_needs {
    struct needle_set set;
    double cost;
    bool exact; /* it is nothing else */
};

struct seq {
    struct needle_set now;  /* what has been read since the last break */
    struct needle_set best; /* the best stretch before */
    double best_cost;       /* above SEQ_NO_COST: none */
    bool exact;
};

#define SEQ_NO_COST 1e6

struct seq *seq_new(void); /* for free() */
void seq_add_char(struct seq *s, const struct seq_char *c, struct seq_times times);
void seq_add_bytes(struct seq *s, struct str bytes);
void seq_add_group(struct seq *s, const struct seq_needs *group, struct seq_times times);
void seq_break(struct seq *s); /* something unknown stands here */
void seq_end(struct seq *s, struct seq_needs *ret_needs);

/* Adds another alternative. */
void seq_needs_or(struct seq_needs *all, const struct seq_needs *other);

#endif
