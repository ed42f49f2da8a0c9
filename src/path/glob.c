/* Glob patterns: expanded braces as a list of wildcard patterns, and the search with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/glob.h"

#include "path/boundary.h"
#include "path/brace.h"
#include "path/wild.h"

#include <errno.h>
#include <sys/stat.h>

struct glob {
    struct alternative *items;
    size_t n;
    size_t work; /* characters of all alternatives: bounds the cost of a match */
};

struct alternative {
    const struct wild *wild;
    bool name_only; /* "**" + '/' + a pattern without '/': match only the name */
};

enum {
    SCRATCH_MAX = 64 << 20,
    SHOWN_MAX = 200, /* bytes of a pattern in a message */
    WORK_MAX = 32 * 1024,
};

/* Whether a component without its backslashes is "..". */
static bool is_parent(struct str component)
{
    size_t dots = 0;
    for (size_t i = 0; i < component.n; i++) {
        if (component.p[i] == '\\' && i + 1 < component.n)
            i++;
        if (component.p[i] != '.')
            return false;
        dots++;
    }
    return dots == 2;
}

static bool check_boundary(struct str text, struct str pattern, struct err *err)
{
    struct str shown = str_head(pattern, SHOWN_MAX), component, rest = text;
    const char *why = NULL;
    if (str_starts_with(text, STR("/")) || str_starts_with(text, STR("\\/")))
        why = "is absolute; patterns are relative to the root";
    else if (str_starts_with(text, STR("~")))
        why = "starts with '~'; patterns are relative to the root (for a literal '~' use '\\~')";
    while (!why && str_cut(rest, '/', &component, &rest))
        if (is_parent(component))
            why = "has a '..' component; patterns cannot leave the root";
    if (why)
        return err_set(err, E_FS_VIOLATION, "the pattern '" STR_FMT "' %s", STR_ARG(shown), why);
    return true;
}

static struct str strip_dots(struct str text)
{
    while (str_starts_with(text, STR("./"))) {
        text = str_skip(text, 2);
        while (str_starts_with(text, STR("/")))
            text = str_skip(text, 1);
    }
    return text;
}

static bool add_alternative(
    struct glob *g, struct str text, struct str pattern, struct arena *a, struct err *err)
{
    if (!check_boundary(text, pattern, err))
        return false;
    text = strip_dots(text);
    if (text.n == 0)
        return true;
    if (arena_left(a) < wild_memory(text))
        return err_set(err, E_CLI_INVALID_ARG, "the pattern takes too much memory");
    struct alternative *item = &g->items[g->n];
    struct str rest = str_skip(text, 3);
    item->name_only = str_starts_with(text, STR("**/")) && str_find(rest, '/') < 0;
    item->wild = wild_compile(text, WILD_PATH | WILD_UTF8, a);
    if (wild_malformed(item->wild))
        return err_set(err, E_CLI_INVALID_ARG,
            "the pattern '" STR_FMT
            "' has a '[' without a ']', or a '\\' at its end (for a literal '[' use '\\[')",
            STR_ARG(str_head(pattern, SHOWN_MAX)));
    if (wild_too_long(item->wild))
        return err_set(err, E_CLI_INVALID_ARG,
            "the pattern has more than %d characters, not counting stars", WILD_TOKENS_MAX);
    if (item->name_only)
        item->wild = wild_compile(rest, WILD_PATH | WILD_UTF8, a);
    g->work += MIN(text.n, (size_t)WILD_TOKENS_MAX);
    if (g->work > WORK_MAX)
        return err_set(err, E_CLI_INVALID_ARG,
            "the pattern's alternatives have more than %d characters in total", WORK_MAX);
    g->n++;
    return true;
}

static bool glob_check_text(struct str pattern, struct err *err)
{
    if (pattern.n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "the pattern is empty");
    if (pattern.n > GLOB_LENGTH_MAX)
        return err_set(
            err, E_CLI_INVALID_ARG, "the pattern is longer than %d bytes", GLOB_LENGTH_MAX);
    if (str_find(pattern, '\0') >= 0)
        return err_set(err, E_CLI_INVALID_ARG, "the pattern has a NUL byte");
    return true;
}

bool glob_compile(struct str pattern, struct arena *a, struct glob **ret_glob, struct err *err)
{
    AUTO_ARENA struct arena scratch = ARENA_INIT(SCRATCH_MAX);
    AUTO_BUF struct buf text = BUF_INIT(GLOB_LENGTH_MAX + 1);
    struct brace *b;
    if (!glob_check_text(pattern, err) || !brace_parse(pattern, &scratch, &b, err))
        return false;
    struct glob *g = ARENA_NEW(a, struct glob, 1);
    g->items = ARENA_NEW(a, struct alternative, brace_count(b));
    for (size_t i = 0; i < brace_count(b); i++) {
        buf_reset(&text);
        brace_expand(b, i, &text);
        if (!add_alternative(g, buf_str(&text), pattern, a, err))
            return false;
    }
    if (g->n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "the pattern is empty");
    *ret_glob = g;
    return true;
}

bool glob_match(const struct glob *g, struct str path)
{
    struct str name = str_skip(path, (size_t)(str_find_last(path, '/') + 1));
    uint64_t bytes = wild_bytes(path);
    for (size_t i = 0; i < g->n; i++)
        if (wild_match_known(g->items[i].wild, g->items[i].name_only ? name : path, bytes))
            return true;
    return false;
}

bool glob_may_match_below(const struct glob *g, struct str dir)
{
    AUTO_BUF struct buf start = BUF_INIT(dir.n + 2);
    buf_add_str(&start, dir);
    if (dir.n)
        buf_add_byte(&start, '/');
    for (size_t i = 0; i < g->n; i++)
        if (g->items[i].name_only || wild_may_extend(g->items[i].wild, buf_str(&start)))
            return true;
    return false;
}

struct glob_search {
    const struct glob *glob;
    struct walk_problems *problems;
    struct boundary *boundary; /* the root, to resolve symlinks */
};

/* A symlink that stays below the root and ends at a regular file. Failure to look at it is a
 * problem; being dangling, leading out or to another type is not. */
static bool leads_to_file(const struct glob_search *s, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct resolved r;
    if (boundary_resolve(s->boundary, path, &a, &r, &err))
        return r.exists && S_ISREG(r.st.st_mode);
    const struct err_pair *name = err_ctx_get(&err, "errno");
    bool lost = err.code == E_IO &&
                !(name && (strcmp(name->text, "ELOOP") == 0 || strcmp(name->text, "ENOTDIR") == 0));
    if (lost)
        walk_problems_add(s->problems, path, EIO);
    return false;
}

static bool is_found(const struct glob_search *s, const struct walk_entry *e)
{
    if ((e->type != DT_REG && e->type != DT_LNK) || e->closed || !glob_match(s->glob, e->path))
        return false;
    return e->type == DT_REG || leads_to_file(s, e->path);
}

bool glob_find(int root_fd, const struct glob *g, const struct walk_options *options, glob_fn found,
    void *ctx, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    AUTO_BOUNDARY struct boundary *boundary = boundary_new();
    const struct walk_entry *e;
    struct glob_search s = {g, options->problems, boundary};
    if (!boundary_add_fd(boundary, root_fd, BOUNDARY_RO, BOUNDARY_USER_PROJECT, err) ||
        !walk_open(root_fd, options, &w, err))
        return false;
    for (;;) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            return true;
        if (e->type == DT_DIR && !glob_may_match_below(g, e->path))
            walk_skip(w);
        else if (is_found(&s, e) && !found(ctx, e->path))
            return true;
    }
}
