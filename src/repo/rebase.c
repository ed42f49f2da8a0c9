/* Programs that git runs when it continues an operation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/rebase.h"

#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/gitconfig.h"
#include "repo/quarantine.h"
#include "repo/tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX = 4 << 20,
    LINES_ARENA = 256 << 20, /* a line has at least two bytes */
};

static const char strategy[] = "a merge strategy that is a program";
static const char count[] = "a number that shells run in their prompt";
static const char key[] = "a key for signatures that is an option or a file";

const struct rebase_kind rebase_files[REBASE_FILES] = {
    [REBASE_TODO] = {"rebase-merge/git-rebase-todo", "a rebase that runs programs"},
    [REBASE_STRATEGY] = {"rebase-merge/strategy", strategy},
    [REBASE_SIGN] = {"rebase-merge/gpg_sign_opt", key},
    [REBASE_OPTIONS] = {"sequencer/opts",
        "a merge strategy that is a program, or a key that is a file"},
    [REBASE_APPLY] = {"rebase-apply/apply-opt", "options that make 'git apply' write other files"},
    [REBASE_AM_SIGN] = {"rebase-apply/gpg_sign_opt", key},
    [REBASE_NAMES] = {"BISECT_NAMES", "paths that a shell interprets as commands"},
    [REBASE_START] = {"BISECT_START", "a branch that is an option"},
    [REBASE_RERERE] = {"MERGE_RR",
        "files without a conflict in the index, or outside the work tree"},
    [REBASE_STEP] = {"rebase-merge/msgnum", count},
    [REBASE_STEPS] = {"rebase-merge/end", count},
    [REBASE_AM_STEP] = {"rebase-apply/next", count},
    [REBASE_AM_STEPS] = {"rebase-apply/last", count},
};

/* A file that can't be read completely may contain anything. */
static bool rebase_read_file(int gitdir, enum rebase_file which, struct buf *text, bool *ret_there)
{
    *ret_there = faccessat(gitdir, rebase_files[which].name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return *ret_there && quarantine_read_max(gitdir, rebase_files[which].name, FILE_MAX, text);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* Reads the first word as git does: blanks before it, a blank or the end of the line after it. */
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

struct rebase_lines {
    struct str *p;
    size_t n;
};

static int rebase_compare_lines(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    int order = memcmp(x->p, y->p, MIN(x->n, y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Returns the lines of a text that run programs, sorted and without duplicates. */
static struct rebase_lines sort_programs(struct str text, struct arena *a)
{
    struct rebase_lines lines = {0};
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
    qsort(lines.p, n, sizeof(*lines.p), rebase_compare_lines);
    lines.n = 1;
    for (size_t i = 1; i < n; i++)
        if (!str_eq(lines.p[i], lines.p[lines.n - 1]))
            lines.p[lines.n++] = lines.p[i];
    return lines;
}

static bool adds_lines(struct str text, struct str first)
{
    AUTO_ARENA struct arena a = ARENA_INIT(LINES_ARENA);
    struct rebase_lines now = sort_programs(text, &a), then = sort_programs(first, &a);
    size_t k = 0;
    for (size_t i = 0; i < now.n; i++) {
        while (k < then.n && rebase_compare_lines(&then.p[k], &now.p[i]) < 0)
            k++;
        if (k == then.n || !str_eq(then.p[k], now.p[i]))
            return true;
    }
    return false;
}

/* Strategies ----------------------------------------------------------------------------------- */

/* git runs `git-merge-NAME`, and looks for it in the work tree if the name has a slash. */
static bool is_own_strategy(struct str name)
{
    static const char *const names[] = {
        "", "octopus", "ort", "ours", "recursive", "resolve", "subtree"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* A key name or ID; `ssh-keygen` would also accept a path. */
static bool rebase_is_key_id(struct str word)
{
    return !memchr(word.p, '/', word.n) && !memchr(word.p, '\n', word.n) &&
           !str_starts_with(word, STR("-"));
}

static bool is_sign_option(struct str text)
{
    text = str_trim_end(text, '\n');
    return text.n == 0 || str_is(text, "--no-gpg-sign") ||
           (str_starts_with(text, STR("-S")) && rebase_is_key_id(str_skip(text, 2)));
}

static bool rebase_options_are_plain(struct str text)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 * (size_t)FILE_MAX);
    struct gitconfig config;
    if (!gitconfig_parse(text, &a, &config))
        return false;
    for (size_t i = 0; i < config.n; i++) {
        const struct gitconfig_entry *e = &config.p[i];
        if (!str_is(e->section, "options"))
            continue;
        if ((str_is(e->name, "strategy") && !is_own_strategy(e->value)) ||
            (str_is(e->name, "gpg-sign") && !rebase_is_key_id(e->value)))
            return false;
    }
    return true;
}

/* Words ---------------------------------------------------------------------------------------- */

/* Reads one word quoted by git for a shell; a word that contains a quote is in pieces: 'it'\''s'.
 * Returns false for any other syntax. */
static bool rebase_next_word(struct str *rest, struct buf *word)
{
    struct str s = *rest;
    buf_reset(word);
    while (s.n && s.p[0] == '\'') {
        s = str_skip(s, 1);
        ptrdiff_t end = str_find(s, '\'');
        if (end < 0)
            return false;
        buf_add_str(word, str_head(s, (size_t)end));
        s = str_skip(s, (size_t)end + 1);
        if (s.n < 3 || s.p[0] != '\\' || !strchr("'!", s.p[1]) || s.p[2] != '\'')
            break;
        buf_add_byte(word, s.p[1]);
        s = str_skip(s, 2);
    }
    bool ends = s.n == 0 || s.p[0] == ' ';
    bool found = s.p != rest->p && ends && buf_ok(word);
    *rest = s;
    return found;
}

static bool rebase_is_number(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n == s.n && n > 0;
}

/* Options that `git am` passes on. */
static bool is_apply_option(struct str word)
{
    static const char *const with_value[] = {
        "--whitespace=", "--directory=", "--exclude=", "--include="};
    static const char *const alone[] = {"--ignore-space-change", "--ignore-whitespace", "--reject"};
    for (size_t i = 0; i < ARRAY_LEN(with_value); i++)
        if (str_starts_with(word, str_z(with_value[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(alone); i++)
        if (str_is(word, alone[i]))
            return true;
    return (str_starts_with(word, STR("-p")) || str_starts_with(word, STR("-C"))) &&
           rebase_is_number(str_skip(word, 2));
}

static bool is_any_word(struct str word)
{
    (void)word;
    return true;
}

static bool rebase_words_are_plain(struct str text, bool (*allows)(struct str word))
{
    AUTO_BUF struct buf word = BUF_INIT(FILE_MAX);
    struct str rest = str_trim_end(text, '\n');
    while (rest.n) {
        if (rest.p[0] == ' ')
            rest = str_skip(rest, 1);
        else if (!rebase_next_word(&rest, &word) || !allows(buf_str(&word)))
            return false;
    }
    return true;
}

/* Files ---------------------------------------------------------------------------------------- */

/* A symlink on the path or in the place of the file would lead out of the work tree. One that is
 * missing may become a symlink when the user takes over a commit. */
static bool rebase_is_inside(int tree, struct str path, bool may_be_missing)
{
    char name[PATH_MAX];
    struct stat st;
    if (path.n == 0 || path.n >= sizeof(name) || path.p[0] == '/' || lexical_has_dots(path))
        return false;
    memcpy(name, path.p, path.n);
    name[path.n] = '\0';
    AUTO_FD int fd = beneath_open(tree, name, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0)
        return may_be_missing && (errno == ENOENT || errno == ENOTDIR);
    return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static bool rebase_has_record(struct str text, struct str record)
{
    struct str other;
    while (str_cut(text, '\0', &other, &text))
        if (str_eq(other, record))
            return true;
    return false;
}

/* Records: conflict ID, tab, file, NUL. As long as the index has the conflict, git refuses to take
 * over a commit, which might replace the file by a symlink. */
static bool rebase_files_are_inside(
    const struct tracked *index, int tree, struct str text, struct str resolved)
{
    struct str record, id, path;
    while (str_cut(text, '\0', &record, &text)) {
        bool is_resolved = rebase_has_record(resolved, record);
        if (!str_cut(record, '\t', &id, &path) || memchr(id.p, '/', id.n) ||
            !rebase_is_inside(tree, path, is_resolved) ||
            (!is_resolved && !tracked_is_unmerged(index, path)))
            return false;
    }
    return true;
}

/* Returns the records of files that have no conflict in the index. */
static struct str find_resolved(int gitdir, struct str text, struct arena *a)
{
    AUTO_TRACKED struct tracked index = {0};
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf resolved = BUF_INIT(2 * FILE_MAX);
    struct str record, id, path;
    if (text.n == 0 || !tracked_read(gitdir, &index, &ignored))
        return STR("");
    while (str_cut(text, '\0', &record, &text))
        if (str_cut(record, '\t', &id, &path) && !tracked_is_unmerged(&index, path)) {
            buf_add_str(&resolved, record);
            buf_add_byte(&resolved, '\0');
        }
    return arena_str(a, buf_str(&resolved));
}

/* All files ------------------------------------------------------------------------------------ */

static bool rebase_is_plain(enum rebase_file which, struct str text)
{
    switch (which) {
    case REBASE_STRATEGY:
        return is_own_strategy(str_trim_end(text, '\n'));
    case REBASE_SIGN:
    case REBASE_AM_SIGN:
        return is_sign_option(text);
    case REBASE_OPTIONS:
        return rebase_options_are_plain(text);
    case REBASE_APPLY:
        return rebase_words_are_plain(text, is_apply_option);
    case REBASE_NAMES:
        return rebase_words_are_plain(text, is_any_word);
    case REBASE_START:
        return !str_starts_with(text, STR("-"));
    case REBASE_STEP:
    case REBASE_STEPS:
    case REBASE_AM_STEP:
    case REBASE_AM_STEPS:
        return text.n == 0 || rebase_is_number(str_trim_end(text, '\n'));
    default:
        return false;
    }
}

bool rebase_has_conflicts(int gitdir)
{
    struct stat st;
    return fstatat(gitdir, rebase_files[REBASE_RERERE].name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_size > 0;
}

bool rebase_conflicts_are_inside(int gitdir, int tree, struct str resolved)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * FILE_MAX);
    AUTO_TRACKED struct tracked index = {0};
    AUTO_ERR struct err ignored = {0};
    bool there;
    return rebase_read_file(gitdir, REBASE_RERERE, &text, &there) &&
           tracked_read(gitdir, &index, &ignored) &&
           rebase_files_are_inside(&index, tree, buf_str(&text), resolved);
}

struct str rebase_programs(int gitdir, enum rebase_file which, struct arena *a)
{
    AUTO_ARENA struct arena own = ARENA_INIT(LINES_ARENA);
    AUTO_BUF struct buf text = BUF_INIT(2 * FILE_MAX), lines = BUF_INIT(2 * FILE_MAX);
    bool there;
    if (!rebase_read_file(gitdir, which, &text, &there))
        return STR("");
    if (which == REBASE_RERERE)
        return find_resolved(gitdir, buf_str(&text), a);
    if (which != REBASE_TODO)
        return rebase_is_plain(which, buf_str(&text)) ? STR("") : arena_str(a, buf_str(&text));
    struct rebase_lines programs = sort_programs(buf_str(&text), &own);
    for (size_t i = 0; i < programs.n; i++)
        buf_printf(&lines, STR_FMT "\n", STR_ARG(programs.p[i]));
    return arena_str(a, buf_str(&lines));
}

bool rebase_adds_programs(int gitdir, enum rebase_file which, struct str first)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * FILE_MAX);
    bool there;
    if (!rebase_read_file(gitdir, which, &text, &there))
        return there;
    if (which == REBASE_TODO)
        return adds_lines(buf_str(&text), first);
    return !rebase_is_plain(which, buf_str(&text)) && !str_eq(buf_str(&text), first);
}
