/* Finds lines in a text: exact matches are preferred to tolerant ones, then the first match wins.
 *
 *     struct place_text text = {.lines = &lines};
 *     if (place_find(&text, wanted, n, from, false, &place)) ...place.at, place.how...
 *     place_done(&text);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_PLACE_H
#define TOOL_TOOL_PLACE_H

#include "tool/fold.h"
#include "tool/lines.h"

/* Limit of line comparisons per text; a patch that needs more is rejected. */
#define PLACE_WORK_MAX (UINT64_C(1) << 27)

struct place_text {
    const struct lines *lines;
    uint32_t *hashes[FOLDS]; /* computed on demand */
    uint64_t work;
};

struct place {
    size_t at;
    enum fold how;
};

void place_done(struct place_text *t);

/* Searches from a line on, or only at the end of the text. An empty list matches at `from`. Returns
 * false if not found or if the limit is reached (see place_is_spent). */
bool place_find(struct place_text *t, const struct str *wanted, size_t n, size_t from, bool at_end,
    struct place *ret_place);
/* The same with one level of tolerance. */
bool place_find_as(struct place_text *t, const struct str *wanted, size_t n, size_t from,
    enum fold fold, size_t *ret_at);
bool place_is_spent(const struct place_text *t);

#endif
