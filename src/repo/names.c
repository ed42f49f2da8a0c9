/* Names in git's settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/names.h"

#include "base/utf8.h"
#include "io/dir.h"
#include "io/file.h"
#include "path/lexical.h"
#include "repo/lead.h"
#include "repo/settings.h"
#include "repo/way.h"
#include "repo/words.h"

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
enum pass {
    PASS_PATHS = 1,
    PASS_COMMANDS = 2,
};

struct cached {
    struct str gitdir;
    struct settings settings;
};

/* State of one pass that learns or compares all names. */
struct names {
    struct protect *p;
    struct settings_budget budget;
    struct settings user;
    struct cached cached[CACHED_MAX];
    size_t n_cached, n_lookups, n_each;
    struct arena arena; /* keys of the cache */
    unsigned pass;      /* bits of enum pass to process */
    size_t n_missing;   /* missing files of commands */
    bool checks;        /* compare names instead of learning them */
};

/* A work tree, and the settings that apply there. */
struct where {
    struct str top, gitdir; /* absolute */
    bool users;             /* the settings are the user's own, which apply everywhere */
};

static struct protect_root *root_of(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path))
            return &p->roots[i];
    return NULL;
}

bool names_in_roots(const struct protect *p, struct str path)
{
    return root_of(p, path) != NULL;
}

/* Returns true if the arena has room for a name besides everything else that is kept there. */
static bool has_room(const struct protect *p, size_t bytes)
{
    return arena_left(&p->facts) > bytes + 2 * (size_t)KNOWN_ARENA_SPARE;
}

/* Symlinks on the path --------------------------------------------------------------------------
 */

static void add_way(struct names *x, struct str path)
{
    struct protect *p = x->p;
    struct protect_root *r = root_of(p, path);
    if (!r)
        return;
    x->budget.cut |= !known_add_way(p, r, lexical_rest(r->path, path));
}

static void on_link(void *context, struct str link)
{
    add_way(context, link);
}

/* Remembers the symlinks if `names` is given. */
static bool follow(struct way *w, const struct protect *p, struct str path, struct names *names)
{
    const struct protect_root *r = root_of(p, path);
    w->on_link = names ? on_link : NULL;
    w->context = names;
    return way_follow(w, path, r && r->path.n > 1 ? r->path.n : 0);
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
enum found {
    FOUND_PATH, /* effective, whatever its type */
    FOUND_FILE, /* a program or script: effective if it is a file */
    FOUND_WORD, /* the same, but only where it already exists */
};

static void learn(struct names *x, const struct way *w, struct str given, enum found found)
{
    struct protect *p = x->p;
    struct stat st;
    struct str path = str_n(w->path, w->n);
    struct protect_root *r = root_of(p, path);
    bool there = r && lstat(w->path, &st) == 0;
    if (!r || find_named(r, path) || (found != FOUND_PATH && there && S_ISDIR(st.st_mode)) ||
        (found == FOUND_WORD && !there && !(r->before && find_named(r->before, path))))
        return;
    bool missing = found != FOUND_PATH && !there;
    if (r->n_named == KNOWN_NAMED_MAX || !has_room(p, w->n) ||
        (missing && x->n_missing == MISSING_MAX)) {
        x->budget.cut = true;
        return;
    }
    x->n_missing += missing;
    r->named[r->n_named++] = (struct known_named){.path = arena_str(&p->facts, path),
        .type = there ? st.st_mode & S_IFMT : 0,
        .word = found != FOUND_PATH};
    if (w->links) {
        struct way again;
        (void)follow(&again, p, given, x);
    }
}

/* Comparison ------------------------------------------------------------------------------------
 */

/* Returns true if a name is protected itself, or by the directory above it. */
static bool is_kept(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].n_named; k++) {
            const struct known_named *n = &p->roots[i].named[k];
            if (str_eq(n->path, path) || (!n->word && lexical_is_below(n->path, path)))
                return true;
        }
    return false;
}

static bool read_bytes(const char *path, struct buf *bytes)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 && file_read(fd, PROTECT_FILE_MAX, path, bytes, &ignored);
}

static bool same_text(const char *a, const char *b, const struct stat *st)
{
    AUTO_BUF struct buf first = BUF_INIT(2 * PROTECT_FILE_MAX);
    AUTO_BUF struct buf second = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (S_ISREG(st->st_mode))
        return read_bytes(a, &first) && read_bytes(b, &second) &&
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
static bool is_twin(const struct names *x, struct str path, struct str rest, const struct stat *st,
    struct buf *other_path)
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
                struct str twin = str_z(arena_printf(
                    &a, STR_FMT STR_FMT, STR_ARG(n.path), STR_ARG(str_skip(rest, end))));
                if (!str_eq(twin, path) && lstat(twin.p, &other) == 0 &&
                    (other.st_mode & S_IFMT) == (st->st_mode & S_IFMT)) {
                    if (same_text(path.p, twin.p, st))
                        return true;
                    buf_reset(other_path);
                    utf8_add_printable(other_path, twin);
                }
                if (arena_left(&a) < 2 * WAY_LONG)
                    return false;
            }
        }
    return false;
}

static void compare(struct names *x, struct str top, struct str path, unsigned depth);

static void compare_dir(struct names *x, struct str top, struct str path, unsigned depth)
{
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool listed = depth < DEPTH_MAX && dir_open_path(&d, path.p);
    while (listed && dir_next(&d)) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        if (!str_ends_with(str_z(d.name), STR(".sample")) && !strstr(d.name, "." PARTS_HELD))
            compare(
                x, top, str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(path), d.name)), depth + 1);
    }
    struct protect_root *r = root_of(x->p, path);
    if (!dir_complete(&d) && r)
        check_set_aside(x->p, r, lexical_rest(r->path, path), STR("settings of git name it"));
}

/* Only the last component of the path may be a symlink. */
static void compare(struct names *x, struct str top, struct str path, unsigned depth)
{
    struct stat st;
    struct protect_root *r = root_of(x->p, path);
    if (!r || path.n >= PATH_MAX || lstat(path.p, &st) != 0 || is_kept(x->p, path))
        return;
    if (S_ISDIR(st.st_mode)) {
        compare_dir(x, top, path, depth);
        return;
    }
    AUTO_BUF struct buf other = BUF_INIT(4 * PATH_MAX), what = BUF_INIT(5 * PATH_MAX);
    struct str rest = lexical_is_below(top, path) ? lexical_rest(top, path) : STR("");
    if (is_twin(x, path, rest, &st, &other) || check_accepts(x->p, r, lexical_rest(r->path, path)))
        return;
    buf_add_z(&what, "settings of git name it");
    if (other.n)
        buf_printf(&what, ", and it differs from %s; git shows it as deleted", buf_z(&other));
    check_set_aside(x->p, r, lexical_rest(r->path, path), buf_str(&what));
}

static void check_name(
    struct names *x, const struct where *at, const struct way *w, enum found found)
{
    struct way way;
    struct stat st;
    struct str path = str_n(w->path, w->n);
    if (lstat(w->path, &st) != 0 || (found != FOUND_PATH && !S_ISREG(st.st_mode)) ||
        !follow(&way, x->p, at->top, NULL))
        return;
    struct str top = str_n(way.path, way.n);
    if (found == FOUND_WORD && (at->users || !lexical_is_below(top, path) ||
                                   !is_kept_elsewhere(x->p, lexical_rest(top, path))))
        return;
    compare(x, top, path, 0);
}

/* Commands --------------------------------------------------------------------------------------
 */

static void add(struct names *x, const struct where *at, struct str path, enum found found)
{
    struct way w;
    if (x->n_lookups == LOOKUPS_MAX || x->n_each == EACH_MAX) {
        x->budget.cut = true;
        return;
    }
    x->n_lookups++;
    x->n_each++;
    bool led = follow(&w, x->p, path, NULL);
    x->budget.cut |= w.too_long;
    if (!led)
        return;
    if (x->checks)
        check_name(x, at, &w, found);
    else
        learn(x, &w, path, found);
}

static void add_below(
    struct names *x, const struct where *at, struct str base, struct str value, enum found found)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    if (base.n + value.n >= WAY_LONG)
        return;
    struct str path = settings_expand(x->p->options.home, base, value, &a);
    if (path.p)
        add(x, at, path, found);
    else
        x->budget.cut = true;
}

struct command {
    struct names *x;
    const struct where *at;
};

/* A missing script whose name has no slash counts in the repository's own settings, but not in the
 * user's, which apply in all repositories. */
static void on_word(void *context, const struct word *w)
{
    const struct command *c = context;
    const struct where *at = c->at;
    const char *home = c->x->p->options.home;
    bool plain = w->is_bare && (at->users || str_find(w->text, '.') <= 0);
    enum found found = plain ? FOUND_WORD : FOUND_FILE;
    if (found == FOUND_WORD && str_eq(at->top, at->gitdir))
        return; /* git's own files: HEAD, index */
    if (w->bases & (WORD_TOP | WORD_ROOT))
        add_below(c->x, at, at->top, w->text, found);
    if (w->bases & WORD_GITDIR)
        add_below(c->x, at, at->gitdir, w->text, found);
    if (w->bases & WORD_HOME && home)
        add_below(c->x, at, str_z(home), w->text, found);
}

/* Settings in a work tree -----------------------------------------------------------------------
 */

/* Symlinks among the hooks point to files that act as hooks. */
static void add_links(struct names *x, const struct where *at, struct str hooks)
{
    struct stat st;
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool listed = dir_open_path(&d, hooks.p);
    while (listed && dir_next(&d))
        if (d.name[0] != '.' && !str_ends_with(str_z(d.name), STR(".sample")) &&
            (d.type == DT_LNK || d.type == DT_UNKNOWN) &&
            fstatat(d.fd, d.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            add_below(x, at, hooks, str_z(d.name), FOUND_PATH);
    x->budget.cut |= listed && !dir_complete(&d);
}

static void add_hooks(struct names *x, const struct where *at, struct str value)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    value = str_trim_end(value, '/');
    add_below(x, at, at->top, value, FOUND_PATH);
    struct str hooks = at->top.n + value.n < WAY_LONG
                           ? settings_expand(x->p->options.home, at->top, value, &a)
                           : (struct str){0};
    if (!x->checks && hooks.p)
        add_links(x, at, hooks);
    if (str_ends_with(value, STR("/_"))) /* husky: the hooks in `_` run the files beside it */
        add_below(x, at, at->top, str_head(value, value.n - 2), FOUND_PATH);
}

static void apply_paths(struct names *x, const struct where *at, const struct settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *e = &s->p[i];
        if (e->kind == SETTING_HOOKS)
            add_hooks(x, at, e->value);
        else if (e->kind == SETTING_PATH)
            add_below(x, at, at->top, e->value, FOUND_PATH);
        else if (e->kind == SETTING_INCLUDED && !x->checks)
            add(x, at, e->value, FOUND_PATH);
    }
}

static void apply(struct names *x, const struct where *at, const struct settings *s)
{
    struct command command = {x, at};
    x->n_each = 0;
    if (x->pass & PASS_PATHS)
        apply_paths(x, at, s);
    for (size_t i = 0; x->pass & PASS_COMMANDS && i < s->n; i++)
        if (s->p[i].kind == SETTING_COMMAND && x->n_each < EACH_MAX)
            words_each(s->p[i].value, on_word, &command);
}

/* Git directories -------------------------------------------------------------------------------
 */

/* Returns the path that a file names after the prefix. An absolute path; no value: none. */
static struct str read_line(struct str dir, const char *name, struct str prefix, struct arena *a)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct stat st;
    const char *file = arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name);
    AUTO_FD int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        !file_read(fd, PROTECT_FILE_MAX, file, &text, &ignored))
        return (struct str){0};
    struct str path = lead_line(&text, prefix);
    if (path.n == 0 || path.n + prefix.n > WAY_LONG)
        return (struct str){0};
    return settings_expand(NULL, dir, path, a);
}

static struct str above(struct str path)
{
    path = str_trim_end(path, '/');
    ptrdiff_t slash = str_find_last(path, '/');
    return slash <= 0 ? STR("/") : str_head(path, (size_t)slash);
}

static void read_settings(struct settings *s, struct str gitdir, struct str common)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    settings_read(s, str_z(arena_printf(&a, STR_FMT "/config", STR_ARG(common))));
    settings_read(s, str_z(arena_printf(&a, STR_FMT "/config.worktree", STR_ARG(common))));
    if (!str_eq(gitdir, common))
        settings_read(s, str_z(arena_printf(&a, STR_FMT "/config.worktree", STR_ARG(gitdir))));
}

/* Returns the settings of a git directory; the caller must free those that don't fit in the
 * cache. */
static const struct settings *settings_of(
    struct names *x, struct str gitdir, struct str common, struct settings *other)
{
    for (size_t i = 0; i < x->n_cached; i++)
        if (str_eq(x->cached[i].gitdir, gitdir))
            return &x->cached[i].settings;
    if (x->n_cached == CACHED_MAX) {
        read_settings(other, gitdir, common);
        return other;
    }
    struct cached *c = &x->cached[x->n_cached++];
    *c = (struct cached){arena_str(&x->arena, gitdir), *other};
    read_settings(&c->settings, gitdir, common);
    return &c->settings;
}

/* Applies the settings of a git directory, and the user's, in its work trees. */
static void add_gitdir(struct names *x, struct str gitdir, struct str top)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO(settings_done) struct settings other = SETTINGS_INIT(x->p->options.home, &x->budget);
    if (gitdir.n >= PATH_MAX || top.n >= PATH_MAX) {
        x->budget.cut = true;
        return;
    }
    struct str common = read_line(gitdir, "commondir", STR(""), &a);
    struct str back = read_line(gitdir, "gitdir", STR(""), &a);
    common = common.p ? common : gitdir;
    const struct settings *s = settings_of(x, gitdir, common, &other);
    struct str tops[8] = {top, gitdir, back.p ? arena_str(&a, above(back)) : (struct str){0}};
    size_t n = back.p ? 3 : 2;
    for (size_t i = s->n; i > 0 && n < ARRAY_LEN(tops); i--) /* the last one takes effect */
        if (s->p[i - 1].kind == SETTING_WORKTREE)
            tops[n++] = settings_expand(NULL, gitdir, s->p[i - 1].value, &a);
    for (size_t i = 0; i < n; i++) {
        struct where at = {.top = tops[i], .gitdir = gitdir};
        if (i == 1 && str_eq(top, gitdir))
            continue;
        apply(x, &at, s);
        at.users = true;
        apply(x, &at, &x->user);
    }
    x->n_each = 0;
    if (!x->checks && x->pass & PASS_PATHS)
        add_links(x, &(struct where){.top = top, .gitdir = gitdir},
            str_z(arena_printf(&a, STR_FMT "/hooks", STR_ARG(common))));
}

/* `.git` in a directory: a git directory, a symlink to one, or a file that points to one. */
static void add_dot_git(struct names *x, struct str top)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct stat st;
    struct str git = str_z(arena_printf(&a, STR_FMT "/.git", STR_ARG(str_trim_end(top, '/'))));
    if (git.n >= PATH_MAX || stat(git.p, &st) != 0)
        return;
    if (S_ISREG(st.st_mode))
        git = read_line(top, ".git", STR("gitdir: "), &a);
    if (git.p)
        add_gitdir(x, git, top);
}

/* Adds a place of a root. */
static void add_place(
    struct names *x, const struct protect_root *r, enum scan_kind kind, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    if (r->path.n + path.n >= WAY_LONG)
        return;
    struct str absolute = known_absolute(r, path, &a);
    bool dot_git = str_is(lexical_name(path), ".git");
    if ((kind == SCAN_POINTER || kind == SCAN_LINK) && dot_git)
        add_dot_git(x, arena_str(&a, above(absolute)));
    else if (kind == SCAN_GITDIR)
        add_gitdir(x, absolute, dot_git ? arena_str(&a, above(absolute)) : absolute);
}

/* Learning --------------------------------------------------------------------------------------
 */

static void begin(struct names *x)
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

static void end(struct names *x)
{
    x->p->names_cut |= x->budget.cut;
    settings_done(&x->user);
    for (size_t i = 0; i < x->n_cached; i++)
        settings_done(&x->cached[i].settings);
    arena_done(&x->arena);
}

/* A settings file that does not exist can't be mounted read-only: a command can create it. One that
 * exists is for the caller to protect. */
static void learn_settings(struct names *x)
{
    const struct protect_options *o = &x->p->options;
    struct stat st;
    for (size_t i = 0; i < o->n_settings; i++) {
        struct protect_root *r = root_of(x->p, o->settings[i]);
        if (!r || lstat(o->settings[i].p, &st) == 0 || errno != ENOENT)
            continue;
        x->budget.cut |= r->n_named == KNOWN_NAMED_MAX;
        if (r->n_named < KNOWN_NAMED_MAX)
            r->named[r->n_named++] = (struct known_named){.path = o->settings[i], .settings = true};
    }
}

/* Repositories that enclose a root. */
static void learn_above(struct names *x, const struct protect_root *r)
{
    for (struct str dir = r->path; dir.n > 1;) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        dir = above(dir);
        if (!names_in_roots(x->p, dir))
            add_dot_git(x, arena_str(&a, dir));
    }
}

/* A root that is not a repository may become one; and the user's settings may name it by an
 * absolute path. */
static void learn_root(struct names *x, const struct protect_root *r)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    for (size_t i = 0; i < r->n_known; i++)
        if (str_is(r->known[i].path, ".git"))
            return;
    const struct where at = {.top = r->path,
        .gitdir = str_z(arena_printf(&a, STR_FMT "/.git", STR_ARG(r->path))),
        .users = true};
    apply(x, &at, &x->user);
}

/* Repositories of the usual form come first: others may be among untrusted files. */
static void learn_places(struct names *x, const struct protect_root *r, bool usual)
{
    for (size_t i = 0; i < r->n_known; i++) {
        const struct known *k = &r->known[i];
        if (!k->dormant && str_is(lexical_name(k->path), ".git") == usual)
            add_place(x, r, k->kind, k->path);
    }
}

static void learn_pass(struct names *x, enum pass pass)
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

void names_learn(struct protect *p)
{
    struct names x = {.p = p};
    begin(&x);
    learn_settings(&x);
    learn_pass(&x, PASS_PATHS);
    learn_pass(&x, PASS_COMMANDS);
    end(&x);
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
        check_set_aside(
            p, r, lexical_rest(r->path, str_n(path, n)), STR("leads to what settings of git name"));
        return;
    }
}

/* Returns true if a place has become a work tree, or its git directory, since. */
static bool is_new(const struct protect_root *r, const struct scan_place *place)
{
    const struct known *known = known_find(r, place);
    if (known && known->moved)
        return true;
    if (place->kind != SCAN_GITDIR && place->kind != SCAN_POINTER)
        return false;
    if (!known || !known->dormant)
        return !known;
    AUTO_FD int dir = known_open(r, place->path);
    return dir >= 0 && known_has_head(dir);
}

void names_check(struct protect *p)
{
    struct names x = {.p = p, .checks = true, .pass = PASS_PATHS | PASS_COMMANDS};
    bool begun = false;
    for (size_t i = 0; i < p->n_roots; i++) {
        struct protect_root *r = &p->roots[i];
        for (size_t k = 0; k < r->n_named; k++)
            check_way_to(p, r, &r->named[k]);
        for (size_t k = 0; k < r->scan.n_places; k++) {
            struct scan_place place = r->scan.places[k];
            if (!is_new(r, &place))
                continue;
            if (!begun)
                begin(&x);
            begun = true;
            add_place(&x, r, place.kind, place.path);
        }
    }
    if (begun)
        end(&x);
}
