/* Compares lines ignoring blanks and punctuation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/fold.h"

#include "base/utf8.h"

struct fold_range {
    uint32_t first, last;
    char plain;
};

static const struct fold_range blanks[] = {
    {0x09, 0x0D, 0},
    {0x20, 0x20, 0},
    {0x85, 0x85, 0},
    {0xA0, 0xA0, 0},
    {0x1680, 0x1680, 0},
    {0x2000, 0x200A, 0},
    {0x2028, 0x2029, 0},
    {0x202F, 0x202F, 0},
    {0x205F, 0x205F, 0},
    {0x3000, 0x3000, 0},
};

/* Characters that editors and word processors substitute for plain ones. */
static const struct fold_range typographic[] = {
    {0xA0, 0xA0, ' '},
    {0x2002, 0x200A, ' '},
    {0x2010, 0x2015, '-'},
    {0x2018, 0x201B, '\''},
    {0x201C, 0x201F, '"'},
    {0x202F, 0x202F, ' '},
    {0x205F, 0x205F, ' '},
    {0x2212, 0x2212, '-'},
    {0x3000, 0x3000, ' '},
};

static const char *const names[] = {
    [FOLD_EXACT] = "exact",
    [FOLD_TRAILING] = "trailing_blanks",
    [FOLD_AROUND] = "surrounding_blanks",
    [FOLD_PUNCTUATION] = "punctuation",
};

static const char *const words[] = {
    [FOLD_EXACT] = "exactly",
    [FOLD_TRAILING] = "ignoring trailing blanks",
    [FOLD_AROUND] = "ignoring surrounding blanks",
    [FOLD_PUNCTUATION] = "with typographic punctuation normalized",
};

const char *fold_name(enum fold fold)
{
    return names[fold];
}

const char *fold_words(enum fold fold)
{
    return words[fold];
}

static const struct fold_range *fold_find_range(
    const struct fold_range *ranges, size_t n, uint32_t cp)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= ranges[i].first && cp <= ranges[i].last)
            return &ranges[i];
    return NULL;
}

static bool fold_is_blank(uint32_t cp)
{
    return fold_find_range(blanks, ARRAY_LEN(blanks), cp) != NULL;
}

/* Returns the length of the blank at the start, or 0. */
static size_t blank_at_start(struct str s)
{
    uint32_t cp;
    if (s.n == 0)
        return 0;
    if ((unsigned char)s.p[0] < 0x80)
        return fold_is_blank((unsigned char)s.p[0]) ? 1 : 0;
    size_t n = utf8_decode(s, &cp);
    return n && fold_is_blank(cp) ? n : 0;
}

static size_t blank_at_end(struct str s)
{
    if (s.n == 0)
        return 0;
    if ((unsigned char)s.p[s.n - 1] < 0x80)
        return fold_is_blank((unsigned char)s.p[s.n - 1]) ? 1 : 0;
    for (size_t n = 2; n <= 3 && n <= s.n; n++)
        if (blank_at_start(str_skip(s, s.n - n)) == n)
            return n;
    return 0;
}

struct str fold_trim_end(struct str s)
{
    for (size_t n; (n = blank_at_end(s)) > 0;)
        s.n -= n;
    return s;
}

struct str fold_trim(struct str s)
{
    s = fold_trim_end(s);
    for (size_t n; (n = blank_at_start(s)) > 0;)
        s = str_skip(s, n);
    return s;
}

static struct str trim_for(struct str s, enum fold fold)
{
    if (fold == FOLD_EXACT)
        return s;
    return fold == FOLD_TRAILING ? fold_trim_end(s) : fold_trim(s);
}

/* Removes the next character from s and returns its plain equivalent. */
static uint32_t next_plain(struct str *s)
{
    uint32_t cp = (unsigned char)s->p[0];
    size_t n = 1;
    if (cp >= 0x80) {
        n = utf8_decode(*s, &cp);
        const struct fold_range *r =
            n ? fold_find_range(typographic, ARRAY_LEN(typographic), cp) : NULL;
        if (r)
            cp = (unsigned char)r->plain;
        else if (n == 0)
            cp = UTF8_LAST + 1 + (unsigned char)s->p[0];
        n = MAX(n, (size_t)1);
    }
    *s = str_skip(*s, n);
    return cp;
}

bool fold_equal(struct str a, struct str b, enum fold fold)
{
    a = trim_for(a, fold);
    b = trim_for(b, fold);
    if (fold != FOLD_PUNCTUATION)
        return str_eq(a, b);
    while (a.n && b.n)
        if (next_plain(&a) != next_plain(&b))
            return false;
    return a.n == b.n;
}

uint32_t fold_hash(struct str s, enum fold fold)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    s = trim_for(s, fold);
    while (s.n) {
        if (fold != FOLD_PUNCTUATION && s.n >= 8) {
            uint64_t word;
            memcpy(&word, s.p, sizeof(word));
            hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 29;
            s = str_skip(s, sizeof(word));
            continue;
        }
        uint32_t c = (unsigned char)s.p[0];
        if (fold == FOLD_PUNCTUATION)
            c = next_plain(&s);
        else
            s = str_skip(s, 1);
        hash = (hash ^ c) * UINT64_C(0x100000001b3);
    }
    return (uint32_t)(hash ^ hash >> 32);
}
