/* Wildcard patterns, with git's semantics of `?`, `*`, `**`, `[a-z]` and `\`. A pattern is compiled
 * once; no pattern is slow: the worst case is the length of the text times that of the pattern.
 *
 *     const struct wild *w = wild_compile(STR("src/[!_]*.c"), WILD_PATH, &arena);
 *     if (wild_match(w, path)) ...
 *     if (!wild_may_extend(w, STR("docs/"))) ...nothing below docs can match...
 *
 * A malformed pattern (an unclosed class, a lone backslash at the end) matches nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WILD_H
#define PATH_WILD_H

#include "base/arena.h"

enum {
    WILD_PATH = 1,     /* only ** crosses '/'; otherwise every wildcard also matches '/' */
    WILD_CASEFOLD = 2, /* ASCII letters, the way git does it */
    WILD_UTF8 = 4,     /* ? and [..] match whole characters, not bytes */

    WILD_TOKENS_MAX = 4096, /* besides stars; no path is long enough for more */
};

struct wild;

/* Uses at most wild_memory() bytes of the arena; the pattern need not outlive the call. */
MUST_USE const struct wild *wild_compile(struct str pattern, int options, struct arena *a);
size_t wild_memory(struct str pattern);

bool wild_match(const struct wild *w, struct str text);

/* A coarse bit set of the bytes in a text. Worth computing once when matching many patterns against
 * one text: most are then rejected by one comparison. `bytes` may be that of a longer text. */
uint64_t wild_bytes(struct str text);
bool wild_match_known(const struct wild *w, struct str text, uint64_t bytes);

/* The same result by simulating all positions in the pattern at once: predictable, but usually
 * slower. */
bool wild_simulate(const struct wild *w, struct str text);

/* Whether some longer text that starts with this one could match. */
bool wild_may_extend(const struct wild *w, struct str start);

/* Whether it has more than WILD_TOKENS_MAX tokens, and so matches nothing. */
bool wild_too_long(const struct wild *w);

/* Whether it has an unclosed class or a lone backslash at its end, and so matches nothing. */
bool wild_malformed(const struct wild *w);

/* Length of the class at the start of s (from '[' to ']'), or 0 if it is malformed. */
size_t wild_class_length(struct str s);

#endif
