/* A slice of bytes that somebody else owns: pointer and length, passed by value.
 *
 *     struct str line, rest = text;
 *     while (str_cut(rest, '\n', &line, &rest))
 *         if (str_starts_with(line, STR("key "))) ...
 *
 * A slice need not end in NUL and may hold NUL. p is NULL only for "no value".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/base.h"

struct str {
    const char *p;
    size_t n;
};

#define STR(literal)   ((struct str){("" literal), sizeof(literal) - 1})
#define STR_FMT        "%.*s"
#define STR_ARG(slice) (int)(slice).n, (slice).p

static inline struct str str_n(const char *p, size_t n)
{
    return (struct str){p, n};
}

/* From a NUL-terminated string; NULL gives "no value". */
static inline struct str str_z(const char *z)
{
    return (struct str){z, z ? strlen(z) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *z)
{
    return str_eq(a, str_z(z));
}

static inline bool str_starts_with(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends_with(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

static inline struct str str_skip(struct str s, size_t n)
{
    return n >= s.n ? str_n(s.p + s.n, 0) : str_n(s.p + n, s.n - n);
}

static inline struct str str_head(struct str s, size_t n)
{
    return str_n(s.p, MIN(n, s.n));
}

/* Order by bytes, as unsigned values; a shorter prefix comes first. */
int str_cmp(struct str a, struct str b);

/* Where the byte first (last) stands, or -1. */
ptrdiff_t str_find(struct str s, char byte);
ptrdiff_t str_find_last(struct str s, char byte);

/* Cuts at the first separator: false at the end of the input, when nothing is left to give. */
bool str_cut(struct str s, char separator, struct str *ret_head, struct str *ret_rest);

/* Without the given byte at the end, however often it stands there. */
struct str str_trim_end(struct str s, char byte);
/* Without blanks (spaces, tabs) at both ends. */
struct str str_trim(struct str s);

/* Nothing but blanks, tabs and line ends. */
bool str_is_blank(struct str s);

/* Number of single-byte edits (insert, delete, replace, swap) between two short words; words of
 * more than 64 bytes are "far" (SIZE_MAX). */
size_t str_distance(struct str a, struct str b);

/* A whole decimal number within [min, max], no sign but '-', no blanks. */
bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *ret_value);

#endif
