/* What can be known of a regular expression without matching it: sequences of bytes of which one
 * stands in every line that matches, and a form of it that matches in many lines at once exactly
 * where it would match in one.
 *
 *     struct pattern p = PATTERN_INIT;
 *     if (!pattern_parse(&p, text, &options, err)) return false;
 *     if (p.exact) ...p.needs is all there is to it...
 *     pattern_done(&p);
 *
 * What it does not know (look-around, back references, most options) is not looked into: such a
 * pattern has no needs and no other form, and is matched line by line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_PATTERN_H
#define SEARCH_PATTERN_H

#include "base/err.h"
#include "search/needle.h"

enum {
    PATTERN_DEPTH_MAX = 40, /* groups in groups; deeper is not looked into */
    PATTERN_FORM_MAX = 16 * REGEX_PATTERN_MAX,
};

struct pattern {
    struct needle_set needs; /* empty: nothing is needed */
    bool exact;              /* and what has one of them matches */
    bool opaque;             /* not understood */
    bool ascii;              /* the pattern's own characters are */
    struct buf form;         /* for many lines at once, unless opaque */
};

#define PATTERN_INIT ((struct pattern){.form = BUF_INIT(PATTERN_FORM_MAX)})

struct pattern_options {
    bool ignore_case;
    bool literal;
};

/* The text is a pattern that compiles. E_TOOL_VALIDATION for one that needs more than a line. */
MUST_USE bool pattern_parse(
    struct pattern *p, struct str text, const struct pattern_options *options, struct err *err);
void pattern_done(struct pattern *p);

#endif
