/* Collects the byte sequences that a sequence of characters and groups requires during parsing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_PATTERN_SEQ_H
#define SEARCH_PATTERN_SEQ_H

#include "search/needle.h"

/* One character of a text: the ASCII characters allowed, and whether others are. */
struct seq_char {
    struct needle_class ascii;
    bool wide;
};

/* Repetition; max is SIZE_MAX if unbounded. */
struct seq_times {
    size_t min, max;
};

/* Byte sequences of which a part of a pattern requires one, if there are any. */
struct seq_needs {
    struct needle_set set;
    double cost;
    bool exact; /* the part is equivalent to the set */
};

struct seq {
    struct needle_set now;  /* stretch read since the last break */
    struct needle_set best; /* best stretch before */
    double best_cost;       /* SEQ_NO_COST: none */
    bool exact;
};

#define SEQ_NO_COST 1e6

struct seq *seq_new(void); /* released with free() */
void seq_add_char(struct seq *s, const struct seq_char *c, struct seq_times times);
void seq_add_bytes(struct seq *s, struct str bytes);
void seq_add_group(struct seq *s, const struct seq_needs *group, struct seq_times times);
void seq_break(struct seq *s); /* at an unknown item */
void seq_end(struct seq *s, struct seq_needs *ret_needs);

/* Adds another alternative. */
void seq_needs_or(struct seq_needs *all, const struct seq_needs *other);

#endif
