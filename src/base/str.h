/* A borrowed slice of bytes: pointer and length, passed by value.
 *
 *     struct str line, rest = text;
 *     while (str_cut(rest, '\n', &line, &rest))
 *         if (str_starts_with(line, STR("key "))) ...
 *
 * A slice need not be NUL-terminated and may contain NUL. p is NULL only for "no value".
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

/* Compares bytes as unsigned values; a prefix sorts first. */
int str_cmp(struct str a, struct str b);
/* Index of the first sorted slice that is not less than this one; n: none. */
size_t str_lower_bound(const struct str *sorted, size_t n, struct str key);

/* Offset of the first (last) occurrence of the byte, or -1. */
ptrdiff_t str_find(struct str s, char byte);
ptrdiff_t str_find_last(struct str s, char byte);

/* Splits at the first separator. Returns false if the input is empty. */
bool str_cut(struct str s, char separator, struct str *ret_head, struct str *ret_rest);

/* Removes all trailing occurrences of the byte. */
struct str str_trim_end(struct str s, char byte);
/* Removes spaces and tabs at both ends. */
struct str str_trim(struct str s);

/* Only spaces, tabs and line breaks. */
bool str_is_blank(struct str s);

/* Number of single-byte edits (insert, delete, replace, swap) between two short words; SIZE_MAX if
 * one is longer than 64 bytes. */
size_t str_distance(struct str a, struct str b);

/* A whole decimal number within [min, max]; no sign but '-', no whitespace. */
bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *ret_value);

#endif
