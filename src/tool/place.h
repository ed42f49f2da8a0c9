/* Where some lines stand in a text: the first place wins, more exact ways of looking before others.
 *
 *     struct place_text text = {.lines = &lines};
 *     if (place_find(&text, wanted, n, from, false, &place)) ...place.at, place.how...
 *     place_done(&text);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_PLACE_H
#define TOOL_PLACE_H

#include "tool/fold.h"
#include "tool/lines.h"

/* Lines that may be looked at for one text; a patch that needs more is not worth the time. */
#define PLACE_WORK_MAX (UINT64_C(1) << 27)

struct place_text {
    const struct lines *lines;
    uint32_t *hashes[FOLDS]; /* made when they are needed */
    uint64_t work;
};

struct place {
    size_t at;
    enum fold how;
};

void place_done(struct place_text *t);

/* From a line on, or only where the text ends. No lines stand wherever one looks. False: nowhere,
 * or out of work (see place_is_spent). */
bool place_find(struct place_text *t, const struct str *wanted, size_t n, size_t from, bool at_end,
    struct place *ret_place);
/* The same in one way only. */
bool place_find_as(struct place_text *t, const struct str *wanted, size_t n, size_t from,
    enum fold fold, size_t *ret_at);
bool place_is_spent(const struct place_text *t);

#endif
