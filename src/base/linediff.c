/* Myers' line diff: numbers the lines, then recursively finds the middle of the shortest path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linediff.h"

#include "base/fnv.h"

#include <sys/random.h>

static void linediff_split(struct str text, struct linediff_side *side)
{
    size_t cap = 1;
    for (struct str rest = text, line; str_cut(rest, '\n', &line, &rest);)
        cap++;
    side->lines = base_alloc(cap * sizeof(*side->lines));
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) + 1 : text.n;
        side->lines[side->n++] = str_head(text, n);
        text = str_skip(text, n);
    }
    side->changed = base_alloc(side->n + 1);
}

void linediff_done(struct linediff *l)
{
    free(l->old.lines);
    free(l->old.changed);
    free(l->new.lines);
    free(l->new.changed);
    *l = (struct linediff){0};
}

/* Line numbering: equal lines get equal numbers. */

struct linediff_table {
    uint32_t *slots; /* 0: free, otherwise the line's number + 1 */
    size_t mask;
    struct str *lines; /* by number */
    uint64_t *hashes;
    uint32_t n;
    uint64_t seed;
    int64_t *budget;
};

/* Seeded at random, so that an attacker can't craft lines that collide in one slot. */
static uint64_t hash_line(const struct linediff_table *t, struct str line)
{
    uint64_t h = fnv_add(FNV_START ^ t->seed, line) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static uint32_t linediff_number_of(struct linediff_table *t, struct str line)
{
    uint64_t hash = hash_line(t, line);
    for (size_t at = hash & t->mask;; at = (at + 1) & t->mask) {
        uint32_t found = t->slots[at];
        if (found == 0) {
            t->lines[t->n] = line;
            t->hashes[t->n] = hash;
            t->slots[at] = ++t->n;
            return t->n;
        }
        if (t->hashes[found - 1] == hash && str_eq(t->lines[found - 1], line))
            return found;
        --*t->budget;
    }
}

struct linediff_work {
    uint32_t *a, *b; /* numbers of the lines */
    bool *gone, *new;
    int32_t *forward, *backward; /* furthest x on each diagonal; both point to diagonal 0 */
    int64_t *budget;
};

/* From (a0, b0) to (a1, b1), exclusive. */
struct linediff_area {
    int32_t a0, a1, b0, b1;
};

static void number_lines(
    const struct linediff_side *old, const struct linediff_side *new, struct linediff_work *w)
{
    size_t total = old->n + new->n, slots = 16;
    while (slots < 2 * total)
        slots *= 2;
    AUTO_FREE uint32_t *table = base_alloc(slots * sizeof(*table));
    AUTO_FREE struct str *lines = base_alloc((total + 1) * sizeof(*lines));
    AUTO_FREE uint64_t *hashes = base_alloc((total + 1) * sizeof(*hashes));
    struct linediff_table t = {
        .slots = table, .mask = slots - 1, .lines = lines, .hashes = hashes, .budget = w->budget};
    if (getrandom(&t.seed, sizeof(t.seed), 0) != sizeof(t.seed))
        t.seed = (uintptr_t)table;
    for (size_t i = 0; i < old->n; i++)
        w->a[i] = linediff_number_of(&t, old->lines[i]);
    for (size_t i = 0; i < new->n; i++)
        w->b[i] = linediff_number_of(&t, new->lines[i]);
}

/* The middle of a shortest path. */

struct linediff_search {
    const struct linediff_work *w;
    struct linediff_area in;
    int32_t n, m;
    int32_t difference; /* n - m: the diagonal of the end point */
};

static bool equal_at(const struct linediff_search *s, bool back, int32_t x, int32_t y)
{
    return back ? s->w->a[s->in.a1 - 1 - x] == s->w->b[s->in.b1 - 1 - y]
                : s->w->a[s->in.a0 + x] == s->w->b[s->in.b0 + y];
}

/* Extends one direction by one difference; returns true if it met the other, at (*ret_x, *ret_y)
 * counted from the start of this direction. */
static bool linediff_extend(
    const struct linediff_search *s, bool back, int32_t d, int32_t *ret_x, int32_t *ret_y)
{
    int32_t *mine = back ? s->w->backward : s->w->forward;
    const int32_t *other = back ? s->w->forward : s->w->backward;
    int32_t low = -(d - 2 * MAX(0, d - s->m)), high = d - 2 * MAX(0, d - s->n);
    bool odd = s->difference & 1;
    int32_t reach = back ? d : d - 1; /* how far the other direction has come */
    for (int32_t k = low; k <= high; k += 2) {
        bool down = k == -d || (k != d && mine[k - 1] < mine[k + 1]);
        int32_t x = down ? mine[k + 1] : mine[k - 1] + 1, y = x - k, from = x;
        while (x < s->n && y < s->m && equal_at(s, back, x, y)) {
            x++;
            y++;
        }
        mine[k] = x;
        *s->w->budget -= 1 + (x - from);
        int32_t across = s->difference - k;
        if (odd == !back && across >= -reach && across <= reach && x + other[across] >= s->n) {
            *ret_x = x;
            *ret_y = y;
            return true;
        }
    }
    return false;
}

/* Finds the point that splits the area in two; returns false if the budget is used up. */
static bool find_middle(
    const struct linediff_work *w, struct linediff_area in, int32_t *ret_a, int32_t *ret_b)
{
    struct linediff_search s = {.w = w, .in = in, .n = in.a1 - in.a0, .m = in.b1 - in.b0};
    int32_t x, y;
    s.difference = s.n - s.m;
    w->forward[1] = w->backward[1] = 0;
    for (int32_t d = 0; *w->budget > 0; d++) {
        if (linediff_extend(&s, false, d, &x, &y)) {
            *ret_a = in.a0 + x;
            *ret_b = in.b0 + y;
            return true;
        }
        if (linediff_extend(&s, true, d, &x, &y)) {
            *ret_a = in.a1 - x;
            *ret_b = in.b1 - y;
            return true;
        }
    }
    return false;
}

static void linediff_replace(const struct linediff_work *w, struct linediff_area in)
{
    memset(w->gone + in.a0, true, (size_t)(in.a1 - in.a0));
    memset(w->new + in.b0, true, (size_t)(in.b1 - in.b0));
}

/* Each split halves the number of differences, so the recursion is shallow. */
static void linediff_compare(const struct linediff_work *w, struct linediff_area in)
{
    int32_t a, b;
    while (in.a0 < in.a1 && in.b0 < in.b1 && w->a[in.a0] == w->b[in.b0]) {
        in.a0++;
        in.b0++;
    }
    while (in.a0 < in.a1 && in.b0 < in.b1 && w->a[in.a1 - 1] == w->b[in.b1 - 1]) {
        in.a1--;
        in.b1--;
    }
    if (in.a0 == in.a1 || in.b0 == in.b1 || !find_middle(w, in, &a, &b)) {
        linediff_replace(w, in);
        return;
    }
    bool no_cut = (a == in.a0 && b == in.b0) || (a == in.a1 && b == in.b1);
    if (no_cut) {
        linediff_replace(w, in);
        return;
    }
    linediff_compare(w, (struct linediff_area){in.a0, a, in.b0, b});
    linediff_compare(w, (struct linediff_area){a, in.a1, b, in.b1});
}

static void compare_all(
    const struct linediff_side *old, const struct linediff_side *new, int64_t *budget)
{
    size_t diagonals = old->n + new->n + 3;
    AUTO_FREE uint32_t *a = base_alloc((old->n + 1) * sizeof(*a));
    AUTO_FREE uint32_t *b = base_alloc((new->n + 1) * sizeof(*b));
    AUTO_FREE int32_t *forward = base_alloc(2 * diagonals * sizeof(*forward));
    AUTO_FREE int32_t *backward = base_alloc(2 * diagonals * sizeof(*backward));
    struct linediff_work w = {.a = a,
        .b = b,
        .gone = old->changed,
        .new = new->changed,
        .forward = forward + diagonals,
        .backward = backward + diagonals,
        .budget = budget};
    number_lines(old, new, &w);
    linediff_compare(&w, (struct linediff_area){0, (int32_t)old->n, 0, (int32_t) new->n});
}

/* Most of a file is unchanged before and after the edit: skip the common start and end without
 * numbering them. */
static void cut_ends(struct linediff_side *old, struct linediff_side *new)
{
    size_t most = MIN(old->n, new->n), start = 0, end = 0;
    while (start < most && str_eq(old->lines[start], new->lines[start]))
        start++;
    while (end < most - start && str_eq(old->lines[old->n - 1 - end], new->lines[new->n - 1 - end]))
        end++;
    struct linediff_side *const sides[] = {old, new};
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        sides[i]->lines += start;
        sides[i]->changed += start;
        sides[i]->n -= start + end;
    }
}

void linediff_make(struct str old, struct str new, int64_t *budget, struct linediff *ret_diff)
{
    struct linediff l = {0};
    linediff_split(old, &l.old);
    linediff_split(new, &l.new);
    *ret_diff = l;
    cut_ends(&l.old, &l.new);
    if (!l.old.n || !l.new.n || l.old.n >= LINEDIFF_LINES_MAX || l.new.n >= LINEDIFF_LINES_MAX) {
        memset(l.old.changed, true, l.old.n);
        memset(l.new.changed, true, l.new.n);
        return;
    }
    compare_all(&l.old, &l.new, budget);
}
