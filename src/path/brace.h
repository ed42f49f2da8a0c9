/* Braces in patterns: `{a,b}` stands for either, may be nested, and may have empty parts. A brace
 * without its partner is an ordinary character, and so is one behind a backslash or in `[..]`.
 *
 *     struct brace *b;
 *     if (!brace_parse(STR("*.{c,h}"), &arena, &b, err)) ...
 *     for (size_t i = 0; i < brace_count(b); i++)
 *         brace_expand(b, i, &text);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_BRACE_H
#define PATH_BRACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    BRACE_COUNT_MAX = 1000, /* expansions of one pattern */
    BRACE_DEPTH_MAX = 64,   /* braces in braces */
};

struct brace;

/* The text must outlive the result; takes up to 256 bytes of memory for each of its bytes. More
 * expansions than the limit are E_CLI_INVALID_ARG, found without making them. */
MUST_USE bool brace_parse(
    struct str text, struct arena *a, struct brace **ret_brace, struct err *err);

size_t brace_count(const struct brace *b);
void brace_expand(const struct brace *b, size_t index, struct buf *text); /* appends */

#endif
