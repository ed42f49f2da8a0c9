/* Finds lines in a text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_place.h"

enum {
    COMPARE_COST = 8, /* cost of comparing a line, relative to comparing a hash */
};

void place_done(struct place_text *t)
{
    for (size_t i = 0; i < FOLDS; i++)
        free(t->hashes[i]);
    *t = (struct place_text){0};
}

bool place_is_spent(const struct place_text *t)
{
    return t->work > PLACE_WORK_MAX;
}

static const uint32_t *hashes_of(struct place_text *t, enum fold fold)
{
    if (!t->hashes[fold]) {
        uint32_t *h = base_alloc((t->lines->n + 1) * sizeof(*h));
        for (size_t i = 0; i < t->lines->n; i++)
            h[i] = fold_hash(lines_text(t->lines, i), fold);
        t->hashes[fold] = h;
    }
    return t->hashes[fold];
}

static bool stands_at(
    struct place_text *t, const struct str *wanted, size_t n, size_t at, enum fold fold)
{
    size_t i = 0;
    while (i < n && fold_equal(lines_text(t->lines, at + i), wanted[i], fold))
        i++;
    t->work += COMPARE_COST * i;
    return i == n;
}

/* Searches at lines from..last. */
static bool find_within(struct place_text *t, const struct str *wanted, size_t n, size_t from,
    size_t last, enum fold fold, size_t *ret_at)
{
    if (from > last || place_is_spent(t))
        return false;
    const uint32_t *hashes = hashes_of(t, fold);
    uint32_t first = fold_hash(wanted[0], fold);
    for (size_t at = from; at <= last && !place_is_spent(t); at++) {
        if (hashes[at] != first || !stands_at(t, wanted, n, at, fold))
            continue;
        t->work += at - from;
        *ret_at = at;
        return true;
    }
    t->work += last - from;
    return false;
}

bool place_find_as(struct place_text *t, const struct str *wanted, size_t n, size_t from,
    enum fold fold, size_t *ret_at)
{
    if (n == 0) {
        *ret_at = from;
        return true;
    }
    return n <= t->lines->n && find_within(t, wanted, n, from, t->lines->n - n, fold, ret_at);
}

bool place_find(struct place_text *t, const struct str *wanted, size_t n, size_t from, bool at_end,
    struct place *ret_place)
{
    struct place place = {.at = from};
    if (n > t->lines->n)
        return false;
    if (at_end && n > 0)
        from = MAX(from, t->lines->n - n);
    for (enum fold fold = FOLD_EXACT; fold < FOLDS; fold++) {
        if (!place_find_as(t, wanted, n, from, fold, &place.at))
            continue;
        place.how = fold;
        *ret_place = place;
        return true;
    }
    return false;
}
