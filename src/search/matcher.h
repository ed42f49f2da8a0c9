/* Finds the matching lines of a text by the cheapest correct method: byte sequences alone, byte
 * sequences and then the line, many lines at once, or line by line.
 *
 *     struct matcher_plan *plan;
 *     if (!matcher_plan_new(pattern, &options, &plan, err)) return false;
 *     struct matcher *m = matcher_new(plan, &stop);            one for each thread
 *     matcher_begin(m, text, 0);
 *     while (matcher_next(m, &hit)) ...
 *
 * A line is the bytes before a newline, without a trailing carriage return. A line matches if the
 * pattern matches in it as if the line were the whole text.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_MATCHER_H
#define SEARCH_MATCHER_H

#include "search/pattern.h"
#include "search/stop.h"

struct matcher_plan;
struct matcher;

struct matcher_hit {
    struct regex_match line;  /* without its newline */
    struct regex_match match; /* in the text */
};

MUST_USE bool matcher_plan_new(struct str pattern, const struct pattern_options *options,
    struct matcher_plan **ret_plan, struct err *err);
void matcher_plan_free(struct matcher_plan *plan); /* accepts NULL */

/* Returns the name of the chosen method, for diagnostics and tests. */
const char *matcher_plan_way(const struct matcher_plan *plan);

MUST_USE struct matcher *matcher_new(const struct matcher_plan *plan, struct stop *stop);
void matcher_free(struct matcher *m); /* accepts NULL */

/* Sets the text: whole lines, or with REGEX_NOT_BEGIN and REGEX_NOT_END part of one line. */
void matcher_begin(struct matcher *m, struct str text, int flags);

/* Finds the next matching line. Returns false at the end and when the stop condition is met. */
bool matcher_next(struct matcher *m, struct matcher_hit *ret_hit);

/* Finds the first line on which the pattern hit its limit. Returns false if none did. */
bool matcher_gave_up(const struct matcher *m, size_t *ret_at);

#endif
