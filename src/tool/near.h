/* Finds the place most similar to lines that were not found, and the difference there, so that
 * their author can correct them in one turn.
 *
 *     struct near near = near_find(&lines, wanted, n, expected_at);
 *     near_add_sentence(&near, &words);     "; the nearest is line 12, where line 13 differs in..."
 *     near_add_block(&near, &text);         the lines side by side
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_NEAR_H
#define TOOL_NEAR_H

#include "base/json.h"
#include "tool/lines.h"

enum near_kind {
    NEAR_NOTHING,  /* nothing similar found */
    NEAR_BLANKS,   /* only white space differs */
    NEAR_CHANGED,  /* a line differs in content */
    NEAR_TOO_LONG, /* the text ends before the last wanted line */
};

struct near {
    enum near_kind kind;
    const struct lines *lines;
    const struct str *wanted;
    size_t n;
    size_t at;    /* line at which the wanted lines would start */
    size_t first; /* index of the first wanted line that differs */
};

/* The expected line, or SIZE_MAX, breaks ties. Both texts must outlive the result. */
struct near near_find(
    const struct lines *lines, const struct str *wanted, size_t n, size_t expected_at);

/* Compares at a known line. */
struct near near_at(const struct lines *lines, const struct str *wanted, size_t n, size_t at);

void near_add_sentence(const struct near *near, struct buf *words);
void near_add_block(const struct near *near, struct buf *text);
/* {"line", "differs_at", "difference", "expected", "actual"}, or NULL if nothing is near. */
MUST_USE json_t *near_json(const struct near *near);

#endif
