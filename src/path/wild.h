/* Wildcard patterns, with git's meaning of `?`, `*`, `**`, `[a-z]` and `\`. A pattern is compiled
 * once; no pattern is slow: the worst case is the length of the text times that of the pattern.
 *
 *     const struct wild *w = wild_compile(STR("src/[!_]*.c"), WILD_PATH, &arena);
 *     if (wild_match(w, path)) ...
 *     if (!wild_may_extend(w, STR("docs/"))) ...nothing below docs can match...
 *
 * A pattern that is malformed (an open class, a lone backslash at the end) matches nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WILD_H
#define PATH_WILD_H

#include "base/arena.h"

enum {
    WILD_PATH = 1,     /* only ** crosses '/'; without it every wildcard takes '/' too */
    WILD_CASEFOLD = 2, /* ASCII letters, the way git does it */
    WILD_UTF8 = 4,     /* ? and [..] take whole characters, not bytes */

    WILD_TOKENS_MAX = 4096, /* besides stars; no path is long enough for more */
};

struct wild;

/* Takes at most wild_memory() bytes of the arena; the pattern may go away. */
MUST_USE const struct wild *wild_compile(struct str pattern, int options, struct arena *a);
size_t wild_memory(struct str pattern);

bool wild_match(const struct wild *w, struct str text);

/* Which bytes a text has, coarsely. With many patterns for one text it is worth to find out once:
 * most are then refused by one look. `bytes` may be those of a longer text. */
uint64_t wild_bytes(struct str text);
bool wild_match_known(const struct wild *w, struct str text, uint64_t bytes);

/* The same answer by following all places in the pattern at once: steady, but slower mostly. */
bool wild_simulate(const struct wild *w, struct str text);

/* Could some text match that starts with this one and is longer? */
bool wild_may_extend(const struct wild *w, struct str start);

/* Has more than WILD_TOKENS_MAX tokens, and so matches nothing. */
bool wild_too_long(const struct wild *w);

/* Has an open class or a lone backslash at its end, and so matches nothing. */
bool wild_malformed(const struct wild *w);

/* Length of the class that s starts with (from '[' to ']'), or 0 if it is malformed. */
size_t wild_class_length(struct str s);

#endif
