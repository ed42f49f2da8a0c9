/* Regular expressions (PCRE2, UTF-8) with limits on the cost of a match.
 *
 *     struct regex *r;
 *     if (!regex_new(STR("total [0-9]+"), &r, err)) return false;
 *     struct regex_match m;
 *     if (regex_find(r, text, 0, &m)) ...text.p + m.start...
 *     regex_free(r);
 *
 * `^` and `$` match at line boundaries. A search that exceeds a limit returns no match;
 * regex_gave_up() tells the difference.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/buf.h"
#include "base/err.h"

enum {
    REGEX_PATTERN_MAX = 16 * 1024,
    REGEX_MATCH_LIMIT = 1000 * 1000,
    REGEX_DEPTH_LIMIT = 10 * 1000,
    REGEX_HEAP_KIB = 20 * 1024,
};

struct regex;

struct regex_match {
    size_t start, end;
};

struct regex_options {
    bool ignore_case;
    bool literal;       /* all characters are literal */
    bool bytes;         /* ASCII only: no UTF-8, and only ASCII letters */
    bool any_bytes;     /* texts may contain invalid UTF-8, which never matches */
    bool unicode;       /* \w, \d and \s match all scripts */
    bool start_limit;   /* regex_last_start() will be called */
    enum err_code code; /* for an invalid pattern */
};

enum {
    REGEX_NOT_BEGIN = 1, /* the text begins within a line: '^' does not match there */
    REGEX_NOT_END = 2,
};

/* Errors are E_PROTOCOL with the reason and the offset in the pattern. */
MUST_USE bool regex_new(struct str pattern, struct regex **ret_regex, struct err *err);
MUST_USE bool regex_new_with(struct str pattern, const struct regex_options *options,
    struct regex **ret_regex, struct err *err);
void regex_free(struct regex *r); /* accepts NULL */

/* The same compiled pattern for another thread; must be freed before the original. */
MUST_USE struct regex *regex_share(const struct regex *r);

/* Limits the cost of one match, in steps per start position. */
void regex_limit(struct regex *r, uint32_t steps);

/* Whether the pattern has backreferences: a step may then cost as much as the text is long. */
bool regex_refers_back(const struct regex *r);

/* Limits the offset at which a match may start; SIZE_MAX: no limit. */
void regex_last_start(struct regex *r, size_t last);

/* Finds the first match at or after an offset. The text must be valid UTF-8. */
bool regex_find(struct regex *r, struct str text, size_t from, struct regex_match *ret_match);

/* The same for a part of a text: flags tell which ends are not line boundaries. */
bool regex_find_part(
    struct regex *r, struct str text, size_t from, int flags, struct regex_match *ret_match);

/* Whether the last search stopped at a limit. */
bool regex_gave_up(const struct regex *r);

/* Appends the text with every match replaced; $1 and ${name} in the replacement are groups. */
MUST_USE bool regex_replace(
    struct regex *r, struct str text, struct str with, struct buf *out, struct err *err);

#endif
