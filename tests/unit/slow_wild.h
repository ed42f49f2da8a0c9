/* A second wildcard matcher, for comparison: plain recursion straight from the rules, as slow as it
 * is simple. Bytes only, no folding of case, and only for short inputs.
 *
 *     CHECK(wild_match(w, text) == slow_wild(pattern, text, true));
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SLOW_WILD_H
#define TESTS_UNIT_SLOW_WILD_H

#include "base/str.h"

#include <ctype.h>

static inline bool slow_named(struct str name, unsigned char c, bool *ret_in)
{
    static const struct {
        const char *name;
        int (*holds)(int);
    } names[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
        {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
        {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!str_is(name, names[i].name))
            continue;
        bool git_differs = str_is(name, "space") && (c == '\v' || c == '\f');
        *ret_in = *ret_in || (names[i].holds(c) && !git_differs);
        return true;
    }
    return false;
}

/* Parses the class at the start of p: its length, and whether c is in it; false if malformed. */
static inline bool slow_class(struct str p, unsigned char c, size_t *ret_length, bool *ret_in)
{
    const unsigned char *s = (const unsigned char *)p.p;
    size_t i = 1;
    bool in = false, negated = i < p.n && (s[i] == '!' || s[i] == '^');
    int before = -1;
    i += negated;
    for (bool first = true; first || i >= p.n || s[i] != ']'; first = false) {
        if (i >= p.n)
            return false;
        struct str rest = str_skip(p, i + 2);
        ptrdiff_t close = str_find(rest, ']');
        bool colons = s[i] == '[' && i + 1 < p.n && s[i + 1] == ':';
        if (colons && close < 0)
            return false;
        if (colons && close > 0 && rest.p[close - 1] == ':') {
            if (!slow_named(str_head(rest, (size_t)close - 1), c, &in))
                return false;
            i += 2 + (size_t)close + 1;
            before = -1;
            continue;
        }
        bool range = s[i] == '-' && before > 0 && i + 1 < p.n && s[i + 1] != ']';
        i += range;
        i += s[i] == '\\';
        if (i >= p.n)
            return false;
        in = in || (range ? c >= before && c <= s[i] : c == s[i]);
        before = range ? -1 : s[i];
        i++;
    }
    *ret_length = i + 1;
    *ret_in = in != negated;
    return true;
}

static inline bool slow_from(struct str whole, size_t at, struct str text, bool path);

static inline bool slow_stars(struct str whole, size_t at, struct str text, bool path)
{
    size_t end = at;
    while (end < whole.n && whole.p[end] == '*')
        end++;
    struct str rest = str_skip(whole, end);
    bool opens = at == 0 || whole.p[at - 1] == '/';
    bool closes = rest.n == 0 || rest.p[0] == '/' || str_starts_with(rest, STR("\\/"));
    bool deep = path && end - at >= 2 && opens && closes;
    if (deep && rest.n && rest.p[0] == '/' && slow_from(whole, end + 1, text, path))
        return true;
    for (size_t i = 0;; i++) {
        if (slow_from(whole, end, str_skip(text, i), path))
            return true;
        if (i == text.n || (path && !deep && text.p[i] == '/'))
            return false;
    }
}

static inline bool slow_from(struct str whole, size_t at, struct str text, bool path)
{
    struct str p = str_skip(whole, at);
    size_t length = 1;
    bool takes;
    if (p.n == 0)
        return text.n == 0;
    if (p.p[0] == '*')
        return slow_stars(whole, at, text, path);
    if (text.n == 0)
        return false;
    unsigned char c = (unsigned char)text.p[0];
    if (p.p[0] == '[') {
        if (!slow_class(p, c, &length, &takes))
            return false;
        takes = takes && !(path && c == '/');
    } else if (p.p[0] == '\\') {
        length = 2;
        takes = p.n > 1 && p.p[1] == text.p[0];
    } else {
        takes = p.p[0] == '?' ? !(path && c == '/') : p.p[0] == text.p[0];
    }
    return takes && slow_from(whole, at + length, str_skip(text, 1), path);
}

static inline bool slow_wild(struct str pattern, struct str text, bool path)
{
    return slow_from(pattern, 0, text, path);
}

#endif
