/* Words of commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/words.h"

#include "path/lexical.h"

#include <limits.h>

static bool has(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

/* A word without a slash is looked for by the shell among programs, unless it is an argument. */
static bool looks_like_file(struct str text, bool first)
{
    ptrdiff_t dot = str_find_last(text, '.');
    bool named = !first && dot > 0 && (size_t)dot + 1 < text.n && text.p[0] != '-';
    return named || (has(text, "/") && !str_starts_with(text, STR("refs/")));
}

/* `HOME/x`, `{PWD}/x`: the name of a variable goes, and says where the rest begins. */
static bool cut_variable(struct word *w)
{
    struct str text = w->text;
    bool brace = text.n && text.p[0] == '{';
    size_t n = brace;
    while (n < text.n && text.p[n] != '/' && text.p[n] != '}')
        n++;
    struct str name = str_n(text.p + brace, n - brace);
    n += n < text.n && text.p[n] == '}';
    if (n + 1 >= text.n || text.p[n] != '/')
        return false;
    w->text = str_skip(text, n + 1);
    w->bases = str_is(name, "HOME")  ? WORD_HOME
               : str_is(name, "PWD") ? WORD_TOP
                                     : (unsigned)(WORD_TOP | WORD_GITDIR);
    w->is_file = true;
    return true;
}

/* The word between two ends; false: it names nothing. */
static bool make(const struct words *words, size_t start, size_t end, struct word *w)
{
    const char *line = words->line.p;
    char before = start ? line[start - 1] : ' ', earlier = start > 1 ? line[start - 2] : ' ';
    bool quoted = (before == '"' || before == '\'') && !strchr(" \t\n=;&|<(!", earlier);
    bool joined = before == ')' || before == '`' || quoted;
    *w = (struct word){.text = str_n(line + start, end - start)};
    if (w->text.n == 0 || w->text.n >= PATH_MAX || memchr(w->text.p, '\0', w->text.n) ||
        has(w->text, "://"))
        return false;
    if (before == '$')
        return cut_variable(w);
    w->is_file = looks_like_file(w->text, !words->begun);
    w->bases = w->text.p[0] == '/' ? WORD_ROOT : WORD_TOP;
    if (joined && w->bases == WORD_ROOT && w->text.n > 1)
        w->bases |= WORD_TOP | WORD_GITDIR; /* what stands before may be a directory */
    return true;
}

bool words_next(struct words *words, struct word *ret_word)
{
    static const char ends[] = " \t\n'\"=;&|<>()!`$";
    struct str line = words->line;
    while (words->at <= line.n) {
        size_t start = words->at, end = start;
        while (end < line.n && (line.p[end] == '\0' || !strchr(ends, line.p[end])))
            end++;
        words->at = end + 1;
        bool made = make(words, start, end, ret_word);
        words->begun |= end > start;
        if (made)
            return true;
    }
    return false;
}

bool words_is_gits(struct str path)
{
    static const char *const dirs[] = {"hooks", "info", "lfs", "logs", "modules", "objects",
        "rebase-apply", "rebase-merge", "refs", "sequencer", "worktrees"};
    struct str first, rest = path, name = lexical_name(path);
    if (!lexical_next(&rest, &first))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (str_is(first, dirs[i]))
            return true;
    return rest.n == 0 && (str_find(name, '.') < 0 || str_ends_with(name, STR(".lock")));
}
