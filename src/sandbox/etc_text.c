/* Changes lines of /etc/passwd and /etc/hosts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/etc_text.h"

#include "base/buf.h"

enum {
    PASSWD_ID = 2, /* fields of a line, from 0 */
    PASSWD_HOME = 5,
    PASSWD_FIELDS = 7,
    ETC_DIGITS = 10,
};

static bool etc_is_number(struct str text, uint64_t number)
{
    uint64_t n = 0;
    if (text.n == 0 || text.n > ETC_DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.p[i] - '0');
    }
    return n == number;
}

/* Splits a line at its colons. False: it does not have the fields of an entry. */
static bool passwd_split(struct str line, struct str fields[PASSWD_FIELDS])
{
    for (size_t i = 0; i < PASSWD_FIELDS; i++) {
        ptrdiff_t end = i + 1 < PASSWD_FIELDS ? str_find(line, ':') : (ptrdiff_t)line.n;
        if (end < 0)
            return false;
        fields[i] = str_head(line, (size_t)end);
        line = str_skip(line, MIN(line.n, (size_t)end + 1));
    }
    return true;
}

struct str etc_passwd(struct arena *arena, struct str text, uid_t uid, struct str home)
{
    AUTO_BUF struct buf out = BUF_INIT(text.n + home.n + 1);
    bool done = memchr(home.p, ':', home.n) || memchr(home.p, '\n', home.n);
    while (text.n) {
        ptrdiff_t end = str_find(text, '\n');
        struct str line = end < 0 ? text : str_head(text, (size_t)end), fields[PASSWD_FIELDS];
        text = str_skip(text, MIN(text.n, line.n + 1));
        if (!done && passwd_split(line, fields) && etc_is_number(fields[PASSWD_ID], uid)) {
            size_t at = (size_t)(fields[PASSWD_HOME].p - line.p);
            buf_add_str(&out, str_head(line, at));
            buf_add_str(&out, home);
            line = str_skip(line, at + fields[PASSWD_HOME].n);
            done = true; /* the first entry counts */
        }
        buf_add_str(&out, line);
        if (end >= 0)
            buf_add_byte(&out, '\n');
    }
    return out.n ? arena_str(arena, buf_str(&out)) : STR("");
}

/* Whether one of the names of a line is ours. */
static bool hosts_line_names(struct str line)
{
    ptrdiff_t comment = str_find(line, '#');
    if (comment >= 0)
        line = str_head(line, (size_t)comment);
    for (size_t i = 0, start = 0; i <= line.n; i++) {
        if (i < line.n && line.p[i] != ' ' && line.p[i] != '\t')
            continue;
        if (start > 0 && str_is(str_n(line.p + start, i - start), ETC_HOST_NAME))
            return true;
        start = i + 1;
    }
    return false;
}

struct str etc_hosts(struct arena *arena, struct str text)
{
    static const char line[] = "127.0.1.1\t" ETC_HOST_NAME "\n";
    AUTO_BUF struct buf out = BUF_INIT(text.n + sizeof(line) + 1);
    for (struct str rest = text; rest.n;) {
        ptrdiff_t end = str_find(rest, '\n');
        struct str one = end < 0 ? rest : str_head(rest, (size_t)end);
        if (hosts_line_names(one))
            return text;
        rest = str_skip(rest, MIN(rest.n, one.n + 1));
    }
    buf_add_str(&out, text);
    if (text.n && text.p[text.n - 1] != '\n')
        buf_add_byte(&out, '\n');
    buf_add_z(&out, line);
    return arena_str(arena, buf_str(&out));
}
