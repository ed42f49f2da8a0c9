/* Programs that git runs when it continues. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/rebase.h"

#include "repo/gitconfig.h"
#include "repo/hold.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_MAX = 4 << 20,
    LINES_ARENA = 256 << 20, /* a line has at least two bytes */
};

const char *const rebase_files[REBASE_FILES] = {
    [REBASE_TODO] = "rebase-merge/git-rebase-todo",
    [REBASE_STRATEGY] = "rebase-merge/strategy",
    [REBASE_OPTIONS] = "sequencer/opts",
};

/* A file that can't be read whole may say anything. */
static bool read_file(int gitdir, enum rebase_file which, struct buf *text, bool *ret_there)
{
    *ret_there = faccessat(gitdir, rebase_files[which], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return *ret_there && hold_read_max(gitdir, rebase_files[which], FILE_MAX, text);
}

/* Steps ---------------------------------------------------------------------------------------- */

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

struct lines {
    struct str *p;
    size_t n;
};

static int compare(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    int order = memcmp(x->p, y->p, MIN(x->n, y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* The lines of a text that run programs, in order, each once. */
static struct lines sort_programs(struct str text, struct arena *a)
{
    struct lines lines = {0};
    struct str line, rest = text;
    while (str_cut(rest, '\n', &line, &rest))
        lines.n += runs_program(line);
    if (!lines.n)
        return lines;
    lines.p = ARENA_NEW(a, struct str, lines.n);
    size_t n = 0;
    for (rest = text; str_cut(rest, '\n', &line, &rest);)
        if (runs_program(line))
            lines.p[n++] = line;
    qsort(lines.p, n, sizeof(*lines.p), compare);
    lines.n = 1;
    for (size_t i = 1; i < n; i++)
        if (!str_eq(lines.p[i], lines.p[lines.n - 1]))
            lines.p[lines.n++] = lines.p[i];
    return lines;
}

static bool adds_lines(struct str text, struct str first)
{
    AUTO_ARENA struct arena a = ARENA_INIT(LINES_ARENA);
    struct lines now = sort_programs(text, &a), then = sort_programs(first, &a);
    size_t k = 0;
    for (size_t i = 0; i < now.n; i++) {
        while (k < then.n && compare(&then.p[k], &now.p[i]) < 0)
            k++;
        if (k == then.n || !str_eq(then.p[k], now.p[i]))
            return true;
    }
    return false;
}

/* Strategies ----------------------------------------------------------------------------------- */

/* git starts `git-merge-NAME`, and looks for it in the work tree if the name has a slash. */
static bool is_own_strategy(struct str name)
{
    static const char *const names[] = {
        "", "octopus", "ort", "ours", "recursive", "resolve", "subtree"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool has_other_strategy(enum rebase_file which, struct str text)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 * (size_t)FILE_MAX);
    struct gitconfig config;
    if (which == REBASE_STRATEGY)
        return !is_own_strategy(str_trim_end(text, '\n'));
    if (!gitconfig_parse(text, &a, &config))
        return true;
    for (size_t i = 0; i < config.n; i++)
        if (str_is(config.p[i].section, "options") && str_is(config.p[i].name, "strategy") &&
            !is_own_strategy(config.p[i].value))
            return true;
    return false;
}

/* Both ----------------------------------------------------------------------------------------- */

struct str rebase_programs(int gitdir, enum rebase_file which, struct arena *a)
{
    AUTO_ARENA struct arena own = ARENA_INIT(LINES_ARENA);
    AUTO_BUF struct buf text = BUF_INIT(2 * FILE_MAX), lines = BUF_INIT(2 * FILE_MAX);
    bool there;
    if (!read_file(gitdir, which, &text, &there))
        return STR("");
    if (which != REBASE_TODO)
        return has_other_strategy(which, buf_str(&text)) ? arena_str(a, buf_str(&text)) : STR("");
    struct lines programs = sort_programs(buf_str(&text), &own);
    for (size_t i = 0; i < programs.n; i++)
        buf_printf(&lines, STR_FMT "\n", STR_ARG(programs.p[i]));
    return arena_str(a, buf_str(&lines));
}

bool rebase_adds(int gitdir, enum rebase_file which, struct str first)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * FILE_MAX);
    bool there;
    if (!read_file(gitdir, which, &text, &there))
        return there;
    if (which == REBASE_TODO)
        return adds_lines(buf_str(&text), first);
    return has_other_strategy(which, buf_str(&text)) && !str_eq(buf_str(&text), first);
}
