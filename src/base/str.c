/* Byte slices: comparison, search, splitting, and the edit distance for "did you mean". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

enum {
    DISTANCE_MAX_LEN = 64,
};

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n);
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

size_t str_lower_bound(const struct str *sorted, size_t n, struct str key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(sorted[mid], key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

ptrdiff_t str_find(struct str s, char byte)
{
    const char *at = s.n ? memchr(s.p, byte, s.n) : NULL;
    return at ? at - s.p : -1;
}

ptrdiff_t str_find_last(struct str s, char byte)
{
    const char *at = s.n ? memrchr(s.p, byte, s.n) : NULL;
    return at ? at - s.p : -1;
}

bool str_cut(struct str s, char separator, struct str *ret_head, struct str *ret_rest)
{
    if (s.n == 0)
        return false;
    ptrdiff_t at = str_find(s, separator);
    size_t head = at < 0 ? s.n : (size_t)at;
    *ret_head = str_head(s, head);
    *ret_rest = str_skip(s, head + 1);
    return true;
}

struct str str_trim_end(struct str s, char byte)
{
    while (s.n && s.p[s.n - 1] == byte)
        s.n--;
    return s;
}

static bool str_is_blank_char(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
    while (s.n && str_is_blank_char(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && str_is_blank_char(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_is_blank(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!memchr(" \t\r\n", s.p[i], 4))
            return false;
    return true;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = MIN(a, b);
    return MIN(ab, c);
}

size_t str_distance(struct str a, struct str b)
{
    if (a.n > DISTANCE_MAX_LEN || b.n > DISTANCE_MAX_LEN)
        return SIZE_MAX;
    size_t row[3][DISTANCE_MAX_LEN + 1]; /* two rows back, one back, current */
    for (size_t j = 0; j <= b.n; j++)
        row[1][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        row[2][0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t replace = row[1][j - 1] + (a.p[i - 1] != b.p[j - 1]);
            row[2][j] = min3(replace, row[1][j] + 1, row[2][j - 1] + 1);
            bool swapped = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            if (swapped && row[0][j - 2] + 1 < row[2][j])
                row[2][j] = row[0][j - 2] + 1;
        }
        memcpy(row[0], row[1], sizeof(row[0]));
        memcpy(row[1], row[2], sizeof(row[1]));
    }
    return row[1][b.n];
}

bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *ret_value)
{
    bool negative = s.n && s.p[0] == '-';
    struct str digits = negative ? str_skip(s, 1) : s;
    if (digits.n == 0 || digits.n > 19)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];
        if (c < '0' || c > '9')
            return false;
        /* Accumulate negative values, so that INT64_MIN can be read. */
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, c - '0', &value))
            return false;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
        return false;
    if (value < min || value > max)
        return false;
    *ret_value = value;
    return true;
}
