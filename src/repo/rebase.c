/* A rebase that has not ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/rebase.h"

#include "repo/hold.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    TODO_MAX = 4 << 20,
};

/* The first word as git reads it: blanks before it, a blank or the end of the line after it. */
static bool runs_program(struct str line)
{
    while (line.n && strchr(" \t\r", line.p[0]))
        line = str_skip(line, 1);
    size_t n = 0;
    while (n < line.n && !strchr(" \t\r", line.p[n]))
        n++;
    struct str word = str_head(line, n);
    return str_is(word, "exec") || str_is(word, "x");
}

/* A file that can't be read whole may say anything. */
static bool read_todo(int gitdir, struct buf *text, bool *ret_there)
{
    *ret_there = faccessat(gitdir, REBASE_TODO, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return *ret_there && hold_read_max(gitdir, REBASE_TODO, TODO_MAX, text);
}

static bool has_line(struct str lines, struct str wanted)
{
    struct str line;
    while (str_cut(lines, '\n', &line, &lines))
        if (str_eq(line, wanted))
            return true;
    return false;
}

struct str rebase_lines(int gitdir, struct arena *a)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * TODO_MAX), lines = BUF_INIT(2 * TODO_MAX);
    struct str line, rest;
    bool there;
    if (!read_todo(gitdir, &text, &there))
        return STR("");
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        if (runs_program(line) && !has_line(buf_str(&lines), line))
            buf_printf(&lines, STR_FMT "\n", STR_ARG(line));
    return arena_str(a, buf_str(&lines));
}

bool rebase_adds(int gitdir, struct str first)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * TODO_MAX);
    struct str line, rest;
    bool there;
    if (!read_todo(gitdir, &text, &there))
        return there;
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        if (runs_program(line) && !has_line(first, line))
            return true;
    return false;
}
