/* Static analysis of a regular expression: byte sequences one of which occurs in every matching
 * line, and a rewritten form that matches in many lines at once exactly where the original matches
 * in a single line.
 *
 *     struct pattern p = PATTERN_INIT;
 *     if (!pattern_parse(&p, text, &options, err)) return false;
 *     if (p.exact) ...p.needs is equivalent to the pattern...
 *     pattern_done(&p);
 *
 * Patterns with unsupported constructs (lookaround, backreferences, most options) are not analyzed:
 * they have no needs and no rewritten form, and are matched line by line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_PATTERN_H
#define SEARCH_PATTERN_H

#include "base/err.h"
#include "search/needle.h"

enum {
    PATTERN_DEPTH_MAX = 40, /* nested groups; deeper patterns are not analyzed */
    PATTERN_FORM_MAX = 16 * REGEX_PATTERN_MAX,
};

struct pattern {
    struct needle_set needs; /* empty: no sequence is required */
    bool exact;              /* a line with one of them matches */
    bool opaque;             /* not analyzed */
    struct buf form;         /* for many lines at once, unless opaque */
};

#define PATTERN_INIT ((struct pattern){.form = BUF_INIT(PATTERN_FORM_MAX)})

struct pattern_options {
    bool ignore_case;
    bool literal;
};

/* The text must be a pattern that compiles. E_TOOL_VALIDATION if it contains a newline. */
MUST_USE bool pattern_parse(
    struct pattern *p, struct str text, const struct pattern_options *options, struct err *err);
void pattern_done(struct pattern *p);

#endif
