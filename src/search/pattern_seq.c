/* Required byte sequences: stretches of byte sets, of which the most selective is kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/pattern_seq.h"

static void seq_start(struct needle_set *set)
{
    set->n = 1;
    set->runs[0].n = 0;
}

struct seq *seq_new(void)
{
    struct seq *s = base_alloc(sizeof(*s));
    seq_start(&s->now);
    s->best.n = 0;
    s->best_cost = SEQ_NO_COST;
    s->exact = true;
    return s;
}

static double seq_cost_of(const struct needle_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->runs[i].n == 0)
            return SEQ_NO_COST;
    return set->n ? needle_cost(set) : SEQ_NO_COST;
}

static void seq_consider(struct seq *s, const struct needle_set *set, double cost)
{
    if (cost < s->best_cost) {
        s->best = *set;
        s->best_cost = cost;
    }
}

void seq_break(struct seq *s)
{
    seq_consider(s, &s->now, seq_cost_of(&s->now));
    seq_start(&s->now);
    s->exact = false;
}

static void seq_add_class(struct seq *s, const struct needle_class *c)
{
    for (size_t i = 0; i < s->now.n; i++)
        if (s->now.runs[i].n == NEEDLE_RUN_MAX) {
            seq_break(s);
            break;
        }
    for (size_t i = 0; i < s->now.n; i++)
        s->now.runs[i].at[s->now.runs[i].n++] = *c;
}

static struct needle_class seq_with_range(struct needle_class c, unsigned first, unsigned last)
{
    for (unsigned b = first; b <= last; b++)
        needle_class_add(&c, b);
    return c;
}

/* A character of unknown length ends a stretch with its first byte and starts one with its last. */
static void add_wide(struct seq *s, const struct needle_class *ascii)
{
    struct needle_class first = seq_with_range(*ascii, 0xC2, 0xF4),
                        last = seq_with_range(*ascii, 0x80, 0xBF);
    seq_add_class(s, &first);
    seq_break(s);
    seq_add_class(s, &last);
}

void seq_add_char(struct seq *s, const struct seq_char *c, struct seq_times times)
{
    size_t n = MIN(times.min, (size_t)NEEDLE_RUN_MAX);
    for (size_t i = 0; i < n; i++) {
        if (c->wide)
            add_wide(s, &c->ascii);
        else
            seq_add_class(s, &c->ascii);
    }
    if (times.min == times.max && times.min == n && n)
        return;
    seq_break(s);
    if (n && !c->wide)
        seq_add_class(s, &c->ascii);
}

void seq_add_bytes(struct seq *s, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        struct needle_class c = {0};
        needle_class_add(&c, (unsigned char)bytes.p[i]);
        seq_add_class(s, &c);
    }
}

static bool seq_fits(const struct needle_set *a, const struct needle_set *b)
{
    size_t longest[2] = {0};
    for (size_t i = 0; i < a->n; i++)
        longest[0] = MAX(longest[0], a->runs[i].n);
    for (size_t i = 0; i < b->n; i++)
        longest[1] = MAX(longest[1], b->runs[i].n);
    return a->n * b->n <= NEEDLE_SET_MAX && longest[0] + longest[1] <= NEEDLE_RUN_MAX;
}

/* Appends every stretch of the group to every stretch. */
static void seq_multiply(struct needle_set *now, const struct needle_set *group)
{
    AUTO_FREE struct needle_set *before = base_alloc(sizeof(*before));
    *before = *now;
    now->n = 0;
    for (size_t i = 0; i < before->n; i++)
        for (size_t j = 0; j < group->n; j++) {
            struct needle_run *run = &now->runs[now->n++];
            *run = before->runs[i];
            for (size_t k = 0; k < group->runs[j].n; k++)
                run->at[run->n++] = group->runs[j].at[k];
        }
}

void seq_add_group(struct seq *s, const struct seq_needs *group, struct seq_times times)
{
    bool once = times.min == 1 && times.max == 1;
    if (once && group->exact && seq_fits(&s->now, &group->set)) {
        seq_multiply(&s->now, &group->set);
        return;
    }
    seq_break(s);
    if (times.min > 0)
        seq_consider(s, &group->set, group->cost);
}

void seq_end(struct seq *s, struct seq_needs *needs)
{
    double cost = seq_cost_of(&s->now);
    needs->exact = s->exact;
    if (s->exact || cost < s->best_cost) {
        needs->set = s->now;
        needs->cost = cost;
    } else {
        needs->set = s->best;
        needs->cost = s->best_cost;
    }
}

void seq_needs_or(struct seq_needs *all, const struct seq_needs *other)
{
    if (all->set.n + other->set.n > NEEDLE_SET_MAX || other->set.n == 0 || all->set.n == 0) {
        all->set.n = 0;
        all->cost = SEQ_NO_COST;
        all->exact = false;
        return;
    }
    for (size_t i = 0; i < other->set.n; i++)
        all->set.runs[all->set.n++] = other->set.runs[i];
    all->cost = MIN(all->cost + other->cost, SEQ_NO_COST);
    all->exact &= other->exact;
}
