/* The compiled form of a wildcard pattern: private to wild.c and wild_match.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WILD_TOKEN_H
#define PATH_WILD_TOKEN_H

#include "path/wild.h"
#include "path/wild_class.h"

enum wild_kind {
    WILD_UNIT, /* exactly this byte or character */
    WILD_ONE,  /* ? */
    WILD_CLASS,
    WILD_STAR, /* * */
    WILD_DEEP, /* **, crosses '/' */
    WILD_DIRS, /* before the ** of a `**` + '/': matches nothing, and may skip both */
};

enum {
    WILD_TOKENS_ALL = 3 * WILD_TOKENS_MAX + 2, /* stars are never adjacent */
};

struct wild_token {
    uint32_t value; /* the unit, or the index of the class */
    uint8_t kind;
};

struct wild {
    struct wild_token *tokens;
    struct wild_class *classes;
    struct wild_range *ranges;
    size_t n_tokens;
    size_t n_classes;
    size_t n_ranges;
    struct str tail; /* literal suffix: a text without it is rejected at once */
    uint64_t needs;  /* wild_bytes() of all literals: likewise */
    int options;
    bool malformed;
    bool too_long;
};

#endif
