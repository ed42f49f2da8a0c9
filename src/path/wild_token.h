/* What a wildcard pattern is compiled to: private to wild.c and wild_match.c. */
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
    WILD_DIRS, /* before the ** of a `**` + '/': takes nothing, and may skip both */
};

enum {
    WILD_TOKENS_ALL = 3 * WILD_TOKENS_MAX + 2, /* stars don't stand next to each other */
};

struct wild_token {
    uint32_t value; /* the unit, or the number of the class */
    uint8_t kind;
};

struct wild {
    struct wild_token *tokens;
    struct wild_class *classes;
    struct wild_range *ranges;
    size_t n_tokens;
    size_t n_classes;
    size_t n_ranges;
    struct str tail; /* literal end: a text without it can be refused at once */
    uint64_t needs;  /* wild_bytes() of all literals: the same */
    int options;
    bool malformed;
    bool too_long;
};

#endif
