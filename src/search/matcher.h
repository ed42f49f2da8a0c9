/* Which lines of a text match, by the cheapest way that gives the right answer: byte sequences
 * alone, byte sequences and then the line, many lines at once, or line by line.
 *
 *     struct matcher_plan *plan;
 *     if (!matcher_plan_new(pattern, &options, &plan, err)) return false;
 *     struct matcher *m = matcher_new(plan, &stop);            one for each thread
 *     matcher_begin(m, text, 0);
 *     while (matcher_next(m, &hit)) ...
 *
 * What a line is: the bytes before a newline, without a carriage return there. A line matches if
 * the pattern matches in it as if nothing stood around it.
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

/* For people and tests: which way it is. */
const char *matcher_plan_way(const struct matcher_plan *plan);

MUST_USE struct matcher *matcher_new(const struct matcher_plan *plan, struct stop *stop);
void matcher_free(struct matcher *m); /* accepts NULL */

/* A text of whole lines, or with REGEX_NOT_BEGIN and REGEX_NOT_END a part of one line. */
void matcher_begin(struct matcher *m, struct str text, int flags);

/* The next line that matches; false at the end, and when it is told to stop. */
bool matcher_next(struct matcher *m, struct matcher_hit *ret_hit);

/* Where the first line stands at which the pattern took too much; false: nowhere. */
bool matcher_gave_up(const struct matcher *m, size_t *ret_at);

#endif
