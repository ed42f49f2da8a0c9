/* The parts of a wildcard pattern that match single units: bytes, or characters in UTF-8, and the
 * classes `[a-z]`. For wild.c only.
 *
 *     struct wild_class_parser p = {.in = pattern, .at = at, .class = &class};
 *     if (!wild_class_parse(&p)) ...malformed...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WILD_CLASS_H
#define PATH_WILD_CLASS_H

#include "base/utf8.h"

enum {
    WILD_LOW = 256,                    /* units covered by the bitmap of a class */
    WILD_INVALID_BYTE = UTF8_LAST + 1, /* plus the byte: a unit that is not valid UTF-8 */
};

struct wild_range {
    uint32_t first, last;
};

struct wild_class {
    uint64_t low[WILD_LOW / 64];
    uint32_t first_range; /* members beyond the bitmap */
    uint32_t n_ranges;
    bool negated;
};

/* Reads the first unit of s: returns its length, or 0 at the end (and unit 0). */
size_t wild_unit(struct str s, int options, uint32_t *ret_unit);
size_t wild_unit_write(uint32_t unit, int options, char bytes[UTF8_MAX]);
uint32_t wild_fold(uint32_t unit, int options);

struct wild_class_parser {
    struct str in;
    size_t at; /* of the '['; on success, after the ']' */
    int options;
    struct wild_class *class;
    struct wild_range *ranges; /* room for one per byte of the pattern, or NULL: discard */
    size_t n_ranges;
};

bool wild_class_parse(struct wild_class_parser *p);
bool wild_class_has(const struct wild_class *class, const struct wild_range *ranges, uint32_t unit);

#endif
