/* How much of a difference between two lines is overlooked: nothing, trailing blanks, surrounding
 * blanks, and then typographic punctuation, too.
 *
 *     if (fold_equal(line, wanted, FOLD_TRAILING)) ...
 *
 * Blanks are the characters that Unicode calls white space. Bytes that are no UTF-8 stand for
 * themselves.
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
/* Equal lines have equal ones. */
uint32_t fold_hash(struct str s, enum fold fold);

/* For results ("surrounding_blanks") and for people ("without surrounding blanks"). */
const char *fold_name(enum fold fold);
const char *fold_words(enum fold fold);

#endif
