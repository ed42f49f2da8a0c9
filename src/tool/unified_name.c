/* File names in diff headers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/unified_name.h"

#include "base/buf.h"

enum {
    QUOTED_MAX = 64 * 1024,
};

static char name_byte_at(struct str s, size_t i)
{
    return i < s.n ? s.p[i] : '\0';
}

static bool name_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool name_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct str name_none(void)
{
    return (struct str){0};
}

/* Copies a name and collapses repeated slashes. */
static struct str name_squash(struct arena *a, struct str name)
{
    if (!name.p)
        return name;
    char *copy = arena_strdup(a, name);
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '/' || i == 0 || name.p[i - 1] != '/')
            copy[n++] = name.p[i];
    copy[n] = '\0';
    return str_n(copy, n);
}

/* Quoted names ----------------------------------------------------------------------------------
 */

/* Decodes the escape sequence after a backslash; returns its length, 0 if invalid. */
static size_t name_unescape(struct str s, char *ret_byte)
{
    static const char from[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";
    const char *known = name_byte_at(s, 0) ? strchr(from, name_byte_at(s, 0)) : NULL;
    if (known) {
        *ret_byte = to[known - from];
        return 1;
    }
    if (name_byte_at(s, 0) < '0' || name_byte_at(s, 0) > '3' || name_byte_at(s, 1) < '0' ||
        name_byte_at(s, 1) > '7' || name_byte_at(s, 2) < '0' || name_byte_at(s, 2) > '7')
        return 0;
    *ret_byte = (char)((name_byte_at(s, 0) - '0') << 6 | (name_byte_at(s, 1) - '0') << 3 |
                       (name_byte_at(s, 2) - '0'));
    return 3;
}

/* Decodes a quoted string; returns its length with the quotes, 0 if unterminated or malformed. */
static size_t name_unquote(struct arena *a, struct str s, struct str *ret_text)
{
    AUTO_BUF struct buf text = BUF_INIT(QUOTED_MAX);
    size_t i = 1;
    while (i < s.n && s.p[i] != '"') {
        char byte = s.p[i++];
        if (byte == '\\') {
            size_t n = name_unescape(str_skip(s, i), &byte);
            if (n == 0)
                return 0;
            i += n;
        }
        buf_add_byte(&text, byte);
    }
    if (i >= s.n || !buf_ok(&text) || str_find(buf_str(&text), '\0') >= 0)
        return 0;
    *ret_text = arena_str(a, buf_str(&text));
    return i + 1;
}

/* Returns the part after the given number of slashes. */
static struct str strip_quoted(struct str name, size_t strip)
{
    for (; strip; strip--) {
        ptrdiff_t slash = str_find(name, '/');
        if (slash < 0)
            return name_none();
        name = str_skip(name, (size_t)slash + 1);
    }
    return name;
}

static struct str read_quoted(struct arena *a, struct str line, size_t strip)
{
    struct str text;
    if (!name_unquote(a, line, &text))
        return name_none();
    return name_squash(a, strip_quoted(text, strip));
}

/* Plain names -----------------------------------------------------------------------------------
 */

static bool ends_name(char c, unsigned ends)
{
    return name_is_blank(c) && c != ' ' && (c != '\t' || (ends & NAME_TAB_ENDS));
}

/* Reads up to `end` bytes, or up to a byte that ends a name. */
static struct str read_plain(
    struct arena *a, struct str line, struct str other, size_t strip, size_t end, unsigned ends)
{
    size_t i = 0, start = strip ? SIZE_MAX : 0;
    while (i < line.n && i < end) {
        char c = line.p[i];
        if (end == SIZE_MAX && ends_name(c, ends))
            break;
        i++;
        if (c == '/' && strip && --strip == 0)
            start = i;
    }
    if (start == SIZE_MAX || i == start)
        return name_squash(a, other);
    struct str name = str_n(line.p + start, i - start);
    if (other.p && other.n < name.n && str_starts_with(name, other))
        return name_squash(a, other);
    return name_squash(a, name);
}

struct str name_read(struct arena *a, struct str line, size_t strip, unsigned ends)
{
    struct str name = name_byte_at(line, 0) == '"' ? read_quoted(a, line, strip) : name_none();
    return name.p ? name : read_plain(a, line, name_none(), strip, SIZE_MAX, ends);
}

/* Dates -----------------------------------------------------------------------------------------
 */

/* Whether the text ends in a pattern, in which 0 is a digit and + a sign. */
static bool ends_like(struct str s, const char *pattern)
{
    size_t n = strlen(pattern);
    if (s.n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = s.p[s.n - n + i], p = pattern[i];
        bool fits = p == '0' ? name_is_digit(c) : p == '+' ? c == '+' || c == '-' : c == p;
        if (!fits)
            return false;
    }
    return true;
}

static struct str cut_end(struct str s, size_t n)
{
    return str_head(s, s.n - n);
}

static struct str cut_zone(struct str s)
{
    if (ends_like(s, " +0000"))
        return cut_end(s, 6);
    return ends_like(s, " +00:00") ? cut_end(s, 7) : s;
}

static struct str cut_time(struct str s)
{
    if (ends_like(s, " 00:00:00"))
        return cut_end(s, 9);
    struct str whole = s;
    while (whole.n && name_is_digit(whole.p[whole.n - 1]))
        whole.n--;
    if (whole.n == 0 || whole.n == s.n || whole.p[whole.n - 1] != '.')
        return s;
    whole.n--;
    return ends_like(whole, " 00:00:00") ? cut_end(whole, 9) : s;
}

/* Returns the length of a name before a date (without line break); SIZE_MAX without a date. */
static size_t before_date(struct str line)
{
    if (line.n == 0 || !name_is_digit(line.p[line.n - 1]))
        return SIZE_MAX;
    struct str s = cut_time(cut_zone(line));
    if (!ends_like(s, "00-00-00"))
        return SIZE_MAX;
    s = cut_end(s, ends_like(s, "0000-00-00") ? 10 : 8);
    if (s.n == 0)
        return SIZE_MAX;
    if (s.p[s.n - 1] == '\t')
        return s.n - 1;
    return s.p[s.n - 1] == ' ' ? str_trim_end(s, ' ').n : SIZE_MAX;
}

struct str name_read_dated(struct arena *a, struct str line, struct str other, size_t strip)
{
    struct str name = name_byte_at(line, 0) == '"' ? read_quoted(a, line, strip) : name_none();
    if (name.p)
        return name;
    ptrdiff_t lf = str_find(line, '\n');
    size_t end = before_date(lf < 0 ? line : str_head(line, (size_t)lf));
    return read_plain(a, line, other, strip, end, end == SIZE_MAX ? NAME_TAB_ENDS : 0);
}

bool name_is_null(struct str line)
{
    struct str null = STR("/dev/null");
    return str_starts_with(line, null) && name_is_blank(name_byte_at(line, null.n));
}

static int name_number(struct str s, size_t i, size_t n)
{
    int value = 0;
    for (size_t k = i; k < i + n; k++)
        value = 10 * value + (name_byte_at(s, k) - '0');
    return value;
}

/* Reads an offset from UTC in minutes: +0000 or +00:00, and the line break. */
static bool read_zone(struct str s, int *ret_minutes)
{
    struct str digits = STR("+0000\n"), colon = STR("+00:00\n");
    bool plain = s.n == digits.n && ends_like(s, digits.p);
    if (!plain && !(s.n == colon.n && ends_like(s, colon.p)))
        return false;
    if (name_byte_at(s, 1) > '2' || name_byte_at(s, plain ? 3 : 4) > '5')
        return false;
    int minutes = 60 * name_number(s, 1, 2) + name_number(s, plain ? 3 : 4, 2);
    *ret_minutes = name_byte_at(s, 0) == '-' ? -minutes : minutes;
    return true;
}

bool name_is_at_epoch(struct str line)
{
    ptrdiff_t tab = str_find_last(line, '\t');
    struct str s = tab < 0 ? STR("") : str_skip(line, (size_t)tab + 1);
    bool west = str_starts_with(s, STR("1969-12-31 "));
    if (!west && !str_starts_with(s, STR("1970-01-01 ")))
        return false;
    s = str_skip(s, sizeof("1970-01-01 ") - 1);
    if (s.n < 8 || !ends_like(str_head(s, 8), "00:00:00") || name_byte_at(s, 0) > '2' ||
        name_byte_at(s, 3) > '5' || name_number(s, 6, 2) != 0)
        return false;
    int minutes = 60 * name_number(s, 0, 2) + name_number(s, 3, 2), zone;
    s = str_skip(s, 8);
    if (name_byte_at(s, 0) == '.') {
        size_t n = 1;
        while (name_byte_at(s, n) == '0')
            n++;
        if (n == 1)
            return false;
        s = str_skip(s, n);
    }
    if (name_byte_at(s, 0) != ' ' || !read_zone(str_skip(s, 1), &zone))
        return false;
    return minutes - zone == (west ? 24 * 60 : 0);
}

/* diff --git ------------------------------------------------------------------------------------
 */

/* Removes `strip` components; returns an unset string if there are not enough. */
static struct str strip_prefix(struct str s, size_t strip)
{
    if (strip == 0)
        return name_byte_at(s, 0) == '/' ? name_none() : s;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '/' && --strip == 0)
            return i == 0 ? name_none() : str_skip(s, i + 1);
    return name_none();
}

static struct str twice_quoted(struct arena *a, struct str line, size_t strip)
{
    struct str first, second;
    size_t n = name_unquote(a, line, &first);
    if (n == 0)
        return name_none();
    first = strip_prefix(first, strip);
    while (name_is_blank(name_byte_at(line, n)))
        n++;
    if (!first.p || n >= line.n)
        return name_none();
    struct str rest = str_skip(line, n);
    if (rest.p[0] == '"') {
        if (!name_unquote(a, rest, &second))
            return name_none();
    } else {
        second = str_trim_end(rest, '\n');
    }
    second = strip_prefix(second, strip);
    return second.p && str_eq(first, second) ? first : name_none();
}

/* An unquoted name followed by a quoted one. */
static struct str twice_half_quoted(struct arena *a, struct str name, size_t quote, size_t strip)
{
    struct str text;
    if (!name_unquote(a, str_skip(name, quote), &text))
        return name_none();
    text = strip_prefix(text, strip);
    bool same =
        text.p && text.n < quote && str_starts_with(name, text) && name_is_blank(name.p[text.n]);
    return same ? text : name_none();
}

struct str name_read_twice(struct arena *a, struct str line, size_t strip)
{
    if (name_byte_at(line, 0) == '"')
        return twice_quoted(a, line, strip);
    struct str name = strip_prefix(line, strip);
    if (!name.p)
        return name_none();
    ptrdiff_t quote = str_find(name, '"'), lf = str_find(name, '\n');
    if (quote >= 0)
        return twice_half_quoted(a, name, (size_t)quote, strip);
    if (lf < 0)
        return name_none();
    name = str_head(name, (size_t)lf);
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] != '\t' && name.p[i] != ' ')
            continue;
        struct str second = strip_prefix(str_skip(name, i + 1), strip);
        if (!second.p)
            return name_none();
        if (str_eq(second, str_head(name, i)))
            return arena_str(a, second);
    }
    return name_none();
}
