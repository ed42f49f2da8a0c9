/* Levels of tolerance when comparing two lines: exact, ignoring trailing blanks, ignoring
 * surrounding blanks, and also treating typographic punctuation as plain.
 *
 *     if (fold_equal(line, wanted, FOLD_TRAILING)) ...
 *
 * Blanks are the characters with the Unicode property White_Space. Invalid UTF-8 is compared
 * bytewise.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_FOLD_H
#define TOOL_FOLD_H

#include "base/str.h"

enum fold {
    FOLD_EXACT,
    FOLD_TRAILING,
    FOLD_AROUND,
    FOLD_PUNCTUATION,
    FOLDS,
};

struct str fold_trim_end(struct str s);
struct str fold_trim(struct str s);

bool fold_equal(struct str a, struct str b, enum fold fold);
/* Equal lines have equal hashes. */
uint32_t fold_hash(struct str s, enum fold fold);

/* For results ("surrounding_blanks") and for messages ("without surrounding blanks"). */
const char *fold_name(enum fold fold);
const char *fold_words(enum fold fold);

#endif
