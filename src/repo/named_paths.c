/* Names in git's settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/named_paths.h"

#include "base/utf8.h"
#include "io/dir.h"
#include "io/file.h"
#include "path/gitdir.h"
#include "path/lexical.h"
#include "repo/path_walk.h"
#include "repo/settings.h"
#include "repo/shell_words.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    LOOKUPS_MAX = 100 * 1000, /* of names, in all roots */
    EACH_MAX = 5000,          /* lookups for one git directory in one work tree */
    LISTED_MAX = 20 * 1000,   /* entries of a hooks directory */
    CACHED_MAX = 32,          /* git directories whose settings are cached */
    DEPTH_MAX = 4,            /* of directories that are compared */
    MISSING_MAX = 1000,       /* missing files of commands, in all roots */
};

/* Hooks and settings of all repositories come before files of commands, of which each repository
 * may have many. */
enum named_paths_pass {
    PASS_PATHS = 1,
    PASS_COMMANDS = 2,
};

struct named_paths_cached {
    struct str gitdir;
    struct settings settings;
};

/* State of one pass that learns or compares all names. */
struct named_paths_context {
    struct protect *p;
    struct settings_budget budget;
    struct settings user;
    struct named_paths_cached cached[CACHED_MAX];
    size_t n_cached, n_lookups, n_each;
    struct arena arena; /* keys of the cache */
    unsigned pass;      /* bits of enum named_paths_pass to process */
    size_t n_missing;   /* missing files of commands */
    bool checks;        /* compare names instead of learning them */
};

/* A work tree, and the settings that apply there. */
struct named_paths_worktree {
    struct str top, gitdir; /* absolute */
    bool users;             /* the settings are the user's own, which apply everywhere */
};

static struct protect_root *named_paths_find_root(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path))
            return &p->roots[i];
    return NULL;
}

bool protect_in_roots(const struct protect *p, struct str path)
{
    return named_paths_find_root(p, path) != NULL;
}

/* Returns true if the arena has room for a name besides everything else that is kept there. */
static bool named_paths_has_room(const struct protect *p, size_t bytes)
{
    return arena_left(&p->facts) > bytes + 2 * (size_t)KNOWN_ARENA_SPARE;
}

/* Symlinks on the path --------------------------------------------------------------------------
 */

static void add_way(struct named_paths_context *x, struct str path)
{
    struct protect *p = x->p;
    struct protect_root *r = named_paths_find_root(p, path);
    if (!r)
        return;
    x->budget.cut |= !known_add_way(p, r, lexical_rest(r->path, path));
}

static void on_link(void *context, struct str link)
{
    add_way(context, link);
}

/* Remembers the symlinks if `names` is given. */
static bool named_paths_follow(struct path_walk *w, const struct protect *p, struct str path,
    struct named_paths_context *names)
{
    const struct protect_root *r = named_paths_find_root(p, path);
    w->on_link = names ? on_link : NULL;
    w->context = names;
    return path_walk_follow(w, path, r && r->path.n > 1 ? r->path.n : 0);
}

/* The list --------------------------------------------------------------------------------------
 */

static const struct known_named *find_named(const struct protect_root *r, struct str path)
{
    for (size_t i = 0; r && i < r->n_named; i++)
        if (str_eq(r->named[i].path, path))
            return &r->named[i];
    return NULL;
}

/* The way in which a name was found. */
enum named_paths_found {
    FOUND_PATH, /* effective, whatever its type */
    FOUND_FILE, /* a program or script: effective if it is a file */
    FOUND_WORD, /* the same, but only where it already exists */
    FOUND_DATA, /* the same, but only if it looks like a program or script */
};

/* Returns true for an executable file, one that starts with `#!`, or has the name of a script. */
static bool named_paths_is_script(const char *path, const struct stat *st)
{
    static const char endings[] =
        " awk bash bats bb cjs cmd csh exs fish go groovy hy jl js ksh kts "
        "lua mjs mts nu php pl pm ps1 py r rb raku sed sh tcl ts zsh ";
    char word[16], start[2];
    ptrdiff_t dot = str_find_last(lexical_name(str_z(path)), '.');
    struct str ending = dot < 0 ? STR("") : str_skip(lexical_name(str_z(path)), (size_t)dot + 1);
    if (!S_ISREG(st->st_mode))
        return false;
    snprintf(word, sizeof(word), " " STR_FMT " ", STR_ARG(str_head(ending, sizeof(word) - 3)));
    for (char *c = word; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (st->st_mode & 0111 || (ending.n && strstr(endings, word)))
        return true;
    AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 && read(fd, start, 2) == 2 && start[0] == '#' && start[1] == '!';
}

static void named_paths_learn_path(struct named_paths_context *x, const struct path_walk *w,
    struct str given, enum named_paths_found found)
{
    struct protect *p = x->p;
    struct stat st;
    struct str path = str_n(w->path, w->n);
    struct protect_root *r = named_paths_find_root(p, path);
    bool there = r && lstat(w->path, &st) == 0;
    bool known = r && r->before && find_named(r->before, path);
    if (!r || find_named(r, path) || (found != FOUND_PATH && there && S_ISDIR(st.st_mode)) ||
        (found >= FOUND_WORD && !there && !known) ||
        (found == FOUND_DATA && !known && !named_paths_is_script(w->path, &st)))
        return;
    bool missing = found != FOUND_PATH && !there;
    if (r->n_named == KNOWN_NAMED_MAX || !named_paths_has_room(p, w->n) ||
        (missing && x->n_missing == MISSING_MAX)) {
        x->budget.cut = true;
        return;
    }
    x->n_missing += missing;
    r->named[r->n_named++] = (struct known_named){.path = arena_str(&p->facts, path),
        .type = there ? st.st_mode & S_IFMT : 0,
        .word = found != FOUND_PATH};
    if (w->links) {
        struct path_walk again;
        (void)named_paths_follow(&again, p, given, x);
    }
}

/* Comparison ------------------------------------------------------------------------------------
 */

/* Returns true if a name is protected itself, or by the directory above it. */
static bool named_paths_is_kept(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].n_named; k++) {
            const struct known_named *n = &p->roots[i].named[k];
            if (str_eq(n->path, path) || (!n->word && lexical_is_below(n->path, path)))
                return true;
        }
    return false;
}

static bool named_paths_read_file(const char *path, struct buf *bytes)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 && file_read(fd, PROTECT_FILE_MAX, path, bytes, &ignored);
}

static bool named_paths_same_content(const char *a, const char *b, const struct stat *st)
{
    AUTO_BUF struct buf first = BUF_INIT(2 * PROTECT_FILE_MAX);
    AUTO_BUF struct buf second = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (S_ISREG(st->st_mode))
        return named_paths_read_file(a, &first) && named_paths_read_file(b, &second) &&
               str_eq(buf_str(&first), buf_str(&second));
    if (!S_ISLNK(st->st_mode))
        return false;
    char *one = buf_reserve(&first, PATH_MAX), *other = buf_reserve(&second, PATH_MAX);
    ssize_t n = readlink(a, one, PATH_MAX), m = readlink(b, other, PATH_MAX);
    return n > 0 && n == m && memcmp(one, other, (size_t)n) == 0;
}

static bool ends_with_path(struct str path, struct str end)
{
    return path.n > end.n && str_ends_with(path, end) && path.p[path.n - end.n - 1] == '/';
}

/* Returns true if a file with this path is protected in another work tree. */
static bool is_kept_elsewhere(const struct protect *p, struct str rest)
{
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].n_named; k++)
            if (p->roots[i].named[k].type && ends_with_path(p->roots[i].named[k].path, rest))
                return true;
    return false;
}

/* Returns true if a file or symlink is the same as a protected one at the same path in another work
 * tree. Sets `other_path` to the path of a protected one that differs. */
static bool is_same_file_elsewhere(const struct named_paths_context *x, struct str path,
    struct str rest, const struct stat *st, struct buf *other_path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const struct protect *p = x->p;
    struct stat other;
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].n_named; k++) {
            struct known_named n = p->roots[i].named[k];
            /* The name ends somewhere within `rest`, or with it. */
            for (size_t end = rest.n; n.type && end > 0; end--) {
                if ((end < rest.n && rest.p[end] != '/') ||
                    !ends_with_path(n.path, str_head(rest, end)))
                    continue;
                struct str alias = str_z(arena_printf(
                    &a, STR_FMT STR_FMT, STR_ARG(n.path), STR_ARG(str_skip(rest, end))));
                if (!str_eq(alias, path) && lstat(alias.p, &other) == 0 &&
                    (other.st_mode & S_IFMT) == (st->st_mode & S_IFMT)) {
                    if (named_paths_same_content(path.p, alias.p, st))
                        return true;
                    buf_reset(other_path);
                    utf8_add_printable(other_path, alias);
                }
                if (arena_left(&a) < 2 * PATH_WALK_LONG)
                    return false;
            }
        }
    return false;
}

static void named_paths_compare(
    struct named_paths_context *x, struct str top, struct str path, unsigned depth);

static void named_paths_compare_dir(
    struct named_paths_context *x, struct str top, struct str path, unsigned depth)
{
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool listed = depth < DEPTH_MAX && dir_open_path(&d, path.p);
    while (listed && dir_next(&d)) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        if (!str_ends_with(str_z(d.name), STR(".sample")) && !strstr(d.name, "." PARTS_HELD))
            named_paths_compare(
                x, top, str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(path), d.name)), depth + 1);
    }
    struct protect_root *r = named_paths_find_root(x->p, path);
    if (!dir_complete(&d) && r)
        check_set_aside(x->p, r, lexical_rest(r->path, path), STR("named in git's settings"));
}

/* Only the last component of the path may be a symlink. */
static void named_paths_compare(
    struct named_paths_context *x, struct str top, struct str path, unsigned depth)
{
    struct stat st;
    struct protect_root *r = named_paths_find_root(x->p, path);
    if (!r || path.n >= PATH_MAX || lstat(path.p, &st) != 0 || named_paths_is_kept(x->p, path))
        return;
    if (S_ISDIR(st.st_mode)) {
        named_paths_compare_dir(x, top, path, depth);
        return;
    }
    AUTO_BUF struct buf other = BUF_INIT(4 * PATH_MAX), what = BUF_INIT(5 * PATH_MAX);
    struct str rest = lexical_is_below(top, path) ? lexical_rest(top, path) : STR("");
    if (is_same_file_elsewhere(x, path, rest, &st, &other) ||
        check_accepts(x->p, r, lexical_rest(r->path, path)))
        return;
    buf_add_z(&what, "named in git's settings");
    if (other.n)
        buf_printf(&what, ", and different from %s; git shows it as deleted", buf_z(&other));
    check_set_aside(x->p, r, lexical_rest(r->path, path), buf_str(&what));
}

static void named_paths_check_path(struct named_paths_context *x,
    const struct named_paths_worktree *at, const struct path_walk *w, enum named_paths_found found)
{
    struct path_walk way;
    struct stat st;
    struct str path = str_n(w->path, w->n);
    if (lstat(w->path, &st) != 0 || (found != FOUND_PATH && !S_ISREG(st.st_mode)) ||
        !named_paths_follow(&way, x->p, at->top, NULL))
        return;
    struct str top = str_n(way.path, way.n);
    if (found >= FOUND_WORD && (at->users || !lexical_is_below(top, path) ||
                                   !is_kept_elsewhere(x->p, lexical_rest(top, path))))
        return;
    named_paths_compare(x, top, path, 0);
}

/* Commands --------------------------------------------------------------------------------------
 */

static void named_paths_add(struct named_paths_context *x, const struct named_paths_worktree *at,
    struct str path, enum named_paths_found found)
{
    struct path_walk w;
    if (x->n_lookups == LOOKUPS_MAX || x->n_each == EACH_MAX) {
        x->budget.cut = true;
        return;
    }
    x->n_lookups++;
    x->n_each++;
    bool led = named_paths_follow(&w, x->p, path, NULL);
    x->budget.cut |= w.too_long;
    if (!led)
        return;
    if (x->checks)
        named_paths_check_path(x, at, &w, found);
    else
        named_paths_learn_path(x, &w, path, found);
}

static void named_paths_add_below(struct named_paths_context *x,
    const struct named_paths_worktree *at, struct str base, struct str value,
    enum named_paths_found found)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    if (base.n + value.n >= PATH_WALK_LONG)
        return;
    struct str path = settings_expand(x->p->options.home, base, value, &a);
    if (path.p)
        named_paths_add(x, at, path, found);
    else
        x->budget.cut = true;
}

struct named_paths_word_context {
    struct named_paths_context *x;
    const struct named_paths_worktree *at;
};

/* A missing script whose name has no slash counts in the repository's own settings, but not in the
 * user's, which apply in all repositories. */
static void on_word(void *context, const struct shell_word *w)
{
    const struct named_paths_word_context *c = context;
    const struct named_paths_worktree *at = c->at;
    const char *home = c->x->p->options.home;
    bool plain = w->is_argument || (w->is_bare && (at->users || str_find(w->text, '.') <= 0));
    enum named_paths_found found = w->is_data ? FOUND_DATA : plain ? FOUND_WORD : FOUND_FILE;
    if (found >= FOUND_WORD && str_eq(at->top, at->gitdir))
        return; /* git's own files: HEAD, index */
    if (w->bases & (WORD_TOP | WORD_ROOT))
        named_paths_add_below(c->x, at, at->top, w->text, found);
    if (w->bases & WORD_GITDIR)
        named_paths_add_below(c->x, at, at->gitdir, w->text, found);
    if (w->bases & WORD_HOME && home)
        named_paths_add_below(c->x, at, str_z(home), w->text, found);
}

static struct str named_paths_parent_path(struct str path)
{
    path = str_trim_end(path, '/');
    ptrdiff_t slash = str_find_last(path, '/');
    return slash <= 0 ? STR("/") : str_head(path, (size_t)slash);
}

/* Settings in a work tree -----------------------------------------------------------------------
 */

/* Symlinks among the hooks point to files that act as hooks. */
static void named_paths_add_links(
    struct named_paths_context *x, const struct named_paths_worktree *at, struct str hooks)
{
    struct stat st;
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool listed = dir_open_path(&d, hooks.p);
    while (listed && dir_next(&d))
        if (d.name[0] != '.' && !str_ends_with(str_z(d.name), STR(".sample")) &&
            (d.type == DT_LNK || d.type == DT_UNKNOWN) &&
            fstatat(d.fd, d.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            named_paths_add_below(x, at, hooks, str_z(d.name), FOUND_PATH);
    x->budget.cut |= listed && !dir_complete(&d);
}

static void named_paths_add_hooks(
    struct named_paths_context *x, const struct named_paths_worktree *at, struct str value)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    value = str_trim_end(value, '/');
    named_paths_add_below(x, at, at->top, value, FOUND_PATH);
    struct str hooks = at->top.n + value.n < PATH_WALK_LONG
                           ? settings_expand(x->p->options.home, at->top, value, &a)
                           : (struct str){0};
    if (!x->checks && hooks.p)
        named_paths_add_links(x, at, hooks);
    if (str_ends_with(value, STR("/_"))) /* husky: the hooks in `_` run the files beside it */
        named_paths_add_below(x, at, at->top, str_head(value, value.n - 2), FOUND_PATH);
}

static void named_paths_apply_paths(
    struct named_paths_context *x, const struct named_paths_worktree *at, const struct settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *e = &s->p[i];
        if (e->kind == SETTING_HOOKS)
            named_paths_add_hooks(x, at, e->value);
        else if (e->kind == SETTING_PATH)
            named_paths_add_below(x, at, at->top, e->value, FOUND_PATH);
        else if (e->kind == SETTING_INCLUDED && !x->checks)
            named_paths_add(x, at, e->value, FOUND_PATH);
    }
}

static void named_paths_apply_command(
    struct named_paths_context *x, const struct named_paths_worktree *at, struct str value)
{
    struct named_paths_word_context command = {x, at};
    x->budget.cut |= x->n_each == EACH_MAX || !shell_words_each(value, on_word, &command);
}

/* Submodules, and other repositories below a work tree. */
static void named_paths_apply_update(
    struct named_paths_context *x, const struct named_paths_worktree *at, struct str value)
{
    for (size_t i = 0; i < x->p->n_roots; i++)
        for (size_t k = 0; k < x->p->roots[i].n_known; k++) {
            AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
            const struct known_place *place = &x->p->roots[i].known[k];
            if (place->dormant || !str_is(lexical_name(place->path), ".git") ||
                x->p->roots[i].path.n + place->path.n >= PATH_WALK_LONG)
                continue;
            struct str git = known_absolute(&x->p->roots[i], place->path, &a);
            struct named_paths_worktree inner = *at;
            inner.top = arena_str(&a, named_paths_parent_path(git));
            if (!str_eq(inner.top, at->top) && lexical_is_below(at->top, inner.top))
                named_paths_apply_command(x, &inner, value);
        }
}

static void named_paths_apply_settings(
    struct named_paths_context *x, const struct named_paths_worktree *at, const struct settings *s)
{
    x->n_each = 0;
    if (x->pass & PASS_PATHS)
        named_paths_apply_paths(x, at, s);
    for (size_t i = 0; x->pass & PASS_COMMANDS && i < s->n; i++) {
        const struct setting *e = &s->p[i];
        if (e->kind == SETTING_COMMAND || e->kind == SETTING_UPDATE)
            named_paths_apply_command(x, at, e->value);
        if (e->kind == SETTING_UPDATE)
            named_paths_apply_update(x, at, e->value);
        if (e->kind == SETTING_PROGRAM)
            named_paths_add_below(x, at, at->top, e->value, FOUND_FILE);
    }
}

/* Git directories -------------------------------------------------------------------------------
 */

/* Returns the path that a file names after the prefix. An absolute path; no value: none. */
static struct str named_paths_read_pointer(
    struct str dir, const char *name, struct str prefix, struct arena *a)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct stat st;
    const char *file = arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name);
    AUTO_FD int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        !file_read(fd, PROTECT_FILE_MAX, file, &text, &ignored))
        return (struct str){0};
    struct str path = gitdir_line(buf_str(&text), prefix);
    if (path.n == 0 || path.n + prefix.n > PATH_WALK_LONG)
        return (struct str){0};
    return settings_expand(NULL, dir, path, a);
}

static void named_paths_read_settings(struct settings *s, struct str gitdir, struct str common)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    settings_read(s, str_z(arena_printf(&a, STR_FMT "/config", STR_ARG(common))));
    settings_read(s, str_z(arena_printf(&a, STR_FMT "/config.worktree", STR_ARG(common))));
    if (!str_eq(gitdir, common))
        settings_read(s, str_z(arena_printf(&a, STR_FMT "/config.worktree", STR_ARG(gitdir))));
}

/* Returns the settings of a git directory; the caller must free those that don't fit in the
 * cache. */
static const struct settings *named_paths_cached_settings(
    struct named_paths_context *x, struct str gitdir, struct str common, struct settings *other)
{
    for (size_t i = 0; i < x->n_cached; i++)
        if (str_eq(x->cached[i].gitdir, gitdir))
            return &x->cached[i].settings;
    if (x->n_cached == CACHED_MAX) {
        named_paths_read_settings(other, gitdir, common);
        return other;
    }
    struct named_paths_cached *c = &x->cached[x->n_cached++];
    *c = (struct named_paths_cached){arena_str(&x->arena, gitdir), *other};
    named_paths_read_settings(&c->settings, gitdir, common);
    return &c->settings;
}

/* Applies the settings of a git directory, and the user's, in its work trees. */
static void add_gitdir(struct named_paths_context *x, struct str gitdir, struct str top)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO(settings_done) struct settings other = SETTINGS_INIT(x->p->options.home, &x->budget);
    if (gitdir.n >= PATH_MAX || top.n >= PATH_MAX) {
        x->budget.cut = true;
        return;
    }
    struct str common = named_paths_read_pointer(gitdir, "commondir", STR(""), &a);
    struct str back = named_paths_read_pointer(gitdir, "gitdir", STR(""), &a);
    common = common.p ? common : gitdir;
    const struct settings *s = named_paths_cached_settings(x, gitdir, common, &other);
    struct str tops[8] = {
        top, gitdir, back.p ? arena_str(&a, named_paths_parent_path(back)) : (struct str){0}};
    size_t n = back.p ? 3 : 2;
    for (size_t i = s->n; i > 0 && n < ARRAY_LEN(tops); i--) /* the last one takes effect */
        if (s->p[i - 1].kind == SETTING_WORKTREE)
            tops[n++] = settings_expand(NULL, gitdir, s->p[i - 1].value, &a);
    for (size_t i = 0; i < n; i++) {
        struct named_paths_worktree at = {.top = tops[i], .gitdir = gitdir};
        if (i == 1 && str_eq(top, gitdir))
            continue;
        named_paths_apply_settings(x, &at, s);
        at.users = true;
        named_paths_apply_settings(x, &at, &x->user);
    }
    x->n_each = 0;
    if (!x->checks && x->pass & PASS_PATHS)
        named_paths_add_links(x, &(struct named_paths_worktree){.top = top, .gitdir = gitdir},
            str_z(arena_printf(&a, STR_FMT "/hooks", STR_ARG(common))));
}

/* `.git` in a directory: a git directory, a symlink to one, or a file that points to one. */
static void add_dot_git(struct named_paths_context *x, struct str top)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct stat st;
    struct str git = str_z(arena_printf(&a, STR_FMT "/.git", STR_ARG(str_trim_end(top, '/'))));
    if (git.n >= PATH_MAX || stat(git.p, &st) != 0)
        return;
    if (S_ISREG(st.st_mode))
        git = named_paths_read_pointer(top, ".git", STR("gitdir: "), &a);
    if (git.p)
        add_gitdir(x, git, top);
}

/* Adds a place of a root. */
static void named_paths_add_place(struct named_paths_context *x, const struct protect_root *r,
    enum scan_kind kind, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    if (r->path.n + path.n >= PATH_WALK_LONG)
        return;
    struct str absolute = known_absolute(r, path, &a);
    bool dot_git = str_is(lexical_name(path), ".git");
    if ((kind == SCAN_POINTER || kind == SCAN_LINK) && dot_git)
        add_dot_git(x, arena_str(&a, named_paths_parent_path(absolute)));
    else if (kind == SCAN_GITDIR)
        add_gitdir(
            x, absolute, dot_git ? arena_str(&a, named_paths_parent_path(absolute)) : absolute);
}

/* Learning --------------------------------------------------------------------------------------
 */

static void named_paths_init(struct named_paths_context *x)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const char *home = x->p->options.home;
    struct str file;
    x->arena = ARENA_INIT(1 << 20);
    x->user = SETTINGS_INIT(home, &x->budget);
    for (size_t i = 0; i < SETTINGS_USER_FILES; i++)
        if (settings_user_file(i, home, &a, &file))
            settings_read(&x->user, file);
    settings_read_environment(&x->user);
}

static void named_paths_done(struct named_paths_context *x)
{
    x->p->names_cut |= x->budget.cut;
    settings_done(&x->user);
    for (size_t i = 0; i < x->n_cached; i++)
        settings_done(&x->cached[i].settings);
    arena_done(&x->arena);
}

/* A settings file that does not exist can't be mounted read-only: a command can create it. One that
 * exists is for the caller to protect. */
static void learn_settings(struct named_paths_context *x)
{
    const struct protect_options *o = &x->p->options;
    struct stat st;
    for (size_t i = 0; i < o->n_settings; i++) {
        struct protect_root *r = named_paths_find_root(x->p, o->settings[i]);
        if (!r || lstat(o->settings[i].p, &st) == 0 || errno != ENOENT)
            continue;
        x->budget.cut |= r->n_named == KNOWN_NAMED_MAX;
        if (r->n_named < KNOWN_NAMED_MAX)
            r->named[r->n_named++] = (struct known_named){.path = o->settings[i], .settings = true};
    }
}

/* Repositories that enclose a root. */
static void learn_above(struct named_paths_context *x, const struct protect_root *r)
{
    for (struct str dir = r->path; dir.n > 1;) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        dir = named_paths_parent_path(dir);
        if (!protect_in_roots(x->p, dir))
            add_dot_git(x, arena_str(&a, dir));
    }
}

/* A root that is not a repository may become one; and the user's settings may name it by an
 * absolute path. */
static void learn_root(struct named_paths_context *x, const struct protect_root *r)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    for (size_t i = 0; i < r->n_known; i++)
        if (str_is(r->known[i].path, ".git"))
            return;
    const struct named_paths_worktree at = {.top = r->path,
        .gitdir = str_z(arena_printf(&a, STR_FMT "/.git", STR_ARG(r->path))),
        .users = true};
    named_paths_apply_settings(x, &at, &x->user);
}

/* Repositories of the usual form come first: others may be among untrusted files. */
static void learn_places(struct named_paths_context *x, const struct protect_root *r, bool usual)
{
    for (size_t i = 0; i < r->n_known; i++) {
        const struct known_place *k = &r->known[i];
        if (!k->dormant && str_is(lexical_name(k->path), ".git") == usual)
            named_paths_add_place(x, r, k->kind, k->path);
    }
}

static void learn_pass(struct named_paths_context *x, enum named_paths_pass pass)
{
    const struct protect *p = x->p;
    x->pass = pass;
    x->n_lookups = x->budget.files = x->budget.bytes = 0;
    for (size_t i = 0; i < p->n_roots; i++) {
        learn_root(x, &p->roots[i]);
        learn_above(x, &p->roots[i]);
    }
    for (int usual = 1; usual >= 0; usual--)
        for (size_t i = 0; i < p->n_roots; i++)
            learn_places(x, &p->roots[i], usual);
}

void named_paths_learn(struct protect *p)
{
    struct named_paths_context x = {.p = p};
    named_paths_init(&x);
    learn_settings(&x);
    learn_pass(&x, PASS_PATHS);
    learn_pass(&x, PASS_COMMANDS);
    named_paths_done(&x);
}

/* A name that did not exist has no symlinks on its path: one that leads to it now is new. */
static void check_way_to(struct protect *p, struct protect_root *r, const struct known_named *named)
{
    char path[PATH_MAX];
    struct stat st;
    struct str to = named->path;
    if (named->type || to.n >= sizeof(path) || lstat(to.p, &st) != 0 ||
        (named->word && S_ISDIR(st.st_mode)))
        return;
    for (size_t n = r->path.n + 1; n < to.n; n++) {
        if (to.p[n] != '/')
            continue;
        memcpy(path, to.p, n);
        path[n] = '\0';
        if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
            continue;
        check_set_aside(p, r, lexical_rest(r->path, str_n(path, n)),
            STR("leads to a file that git's settings name"));
        return;
    }
}

/* Returns true if a place has become a work tree, or its git directory, since. */
static bool named_paths_is_new_place(const struct protect_root *r, const struct scan_place *place)
{
    const struct known_place *known = known_find(r, place);
    if (known && known->moved)
        return true;
    if (place->kind != SCAN_GITDIR && place->kind != SCAN_POINTER)
        return false;
    if (!known || !known->dormant)
        return !known;
    AUTO_FD int dir = known_open(r, place->path);
    return dir >= 0 && known_has_head(dir);
}

void named_paths_check(struct protect *p)
{
    struct named_paths_context x = {.p = p, .checks = true, .pass = PASS_PATHS | PASS_COMMANDS};
    bool begun = false;
    for (size_t i = 0; i < p->n_roots; i++) {
        struct protect_root *r = &p->roots[i];
        for (size_t k = 0; k < r->n_named; k++)
            check_way_to(p, r, &r->named[k]);
        for (size_t k = 0; k < r->scan.n_places; k++) {
            struct scan_place place = r->scan.places[k];
            if (!named_paths_is_new_place(r, &place))
                continue;
            if (!begun)
                named_paths_init(&x);
            begun = true;
            named_paths_add_place(&x, r, place.kind, place.path);
        }
    }
    if (begun)
        named_paths_done(&x);
}
