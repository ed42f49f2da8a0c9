/* Brace expansion in patterns: `{a,b}` matches either, may be nested, and may have empty parts. An
 * unmatched brace is an ordinary character, and so is one after a backslash or in `[..]`.
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
    BRACE_DEPTH_MAX = 64,   /* nesting depth */
};

struct brace;

/* The text must outlive the result; uses up to 256 bytes of memory for each byte of it. Exceeding
 * the expansion limit is E_CLI_INVALID_ARG, detected without expanding. */
MUST_USE bool brace_parse(
    struct str text, struct arena *a, struct brace **ret_brace, struct err *err);

size_t brace_count(const struct brace *b);
void brace_expand(const struct brace *b, size_t index, struct buf *text); /* appends */

#endif
