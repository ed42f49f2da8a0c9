/* Names that git's settings give. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/names.h"

#include "path/file.h"
#include "path/lexical.h"
#include "repo/hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    HOPS_MAX = 40,
    INCLUDES_MAX = 10,
};

bool names_in_roots(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path))
            return true;
    return false;
}

/* Links on the way ------------------------------------------------------------------------------
 */

static void add_way(struct protect *p, struct protect_root *r, struct str path)
{
    struct str rest = lexical_rest(r->path, path);
    if (r->n_ways == KNOWN_WAYS_MAX || !lexical_is_below(r->path, path))
        return;
    for (size_t i = 0; i < r->n_ways; i++)
        if (str_eq(r->ways[i].path, rest))
            return;
    r->ways[r->n_ways++] =
        (struct known_way){arena_str(&p->facts, rest), known_look(r->fd, rest.p, &p->facts)};
}

/* Remembers each link that leads from this path to a file; gives where it leads, there or not. */
static struct str follow(struct protect *p, struct protect_root *r, struct str path)
{
    char target[PATH_MAX], way[PATH_MAX];
    for (int hops = 0; hops < HOPS_MAX && path.n < sizeof(way); hops++) {
        struct str link = {0};
        for (size_t n = 1; n <= path.n && !link.p; n++) {
            struct stat st;
            way[n - 1] = path.p[n - 1];
            way[n] = '\0';
            if ((n == path.n || path.p[n] == '/') && lstat(way, &st) == 0 && S_ISLNK(st.st_mode))
                link = arena_str(&p->facts, str_n(way, n));
        }
        ssize_t n = link.p ? readlink(link.p, target, sizeof(target)) : -1;
        if (n <= 0 || n == sizeof(target))
            return path;
        add_way(p, r, link);
        struct str dir = str_head(link, (size_t)str_find_last(link, '/'));
        struct str there = lexical_absolute(
            &p->facts, arena_str(&p->facts, dir.n ? dir : STR("/")), str_n(target, (size_t)n));
        path = path.n > link.n ? lexical_absolute(&p->facts, there, str_skip(path, link.n + 1))
                               : there;
    }
    return path;
}

/* What settings name ----------------------------------------------------------------------------
 */

static void add_named(struct protect *p, struct protect_root *r, struct str path)
{
    struct stat st;
    struct str clean = follow(p, r, lexical_absolute(&p->facts, STR("/"), path));
    if (!names_in_roots(p, clean) || r->n_named == KNOWN_NAMED_MAX)
        return;
    for (size_t i = 0; i < r->n_named; i++)
        if (str_eq(r->named[i].path, clean))
            return;
    bool there = lstat(clean.p, &st) == 0;
    r->named[r->n_named++] =
        (struct known_named){.path = clean, .type = there ? st.st_mode & S_IFMT : 0};
}

/* A path in settings, `~` being the home directory. */
static struct str expand(struct protect *p, struct str base, struct str value)
{
    const char *home = p->options.home;
    if (home && str_starts_with(value, STR("~/")))
        return lexical_absolute(&p->facts, str_z(home), str_skip(value, 2));
    return lexical_absolute(&p->facts, base, value);
}

/* Whether settings named this file before it was removed: it stays protected if it is made again.
 */
static bool was_named(const struct protect_root *before, struct str path)
{
    for (size_t i = 0; before && i < before->n_named; i++)
        if (str_eq(before->named[i].path, path))
            return true;
    return false;
}

struct reading {
    struct protect *p;
    struct protect_root *root;
    struct str file; /* absolute */
    struct str top;  /* where hooks of a relative path are looked for: absolute */
    unsigned depth;  /* of includes */
};

static void read_file(const struct reading *x);

/* Words of a command that are files: a filter, a helper, an alias. */
static void add_words(const struct reading *x, struct str line)
{
    struct stat st;
    size_t start = 0;
    for (size_t i = 0; i <= line.n; i++) {
        if (i < line.n && !strchr(" \t\n'\"=;&|<>()!`$", line.p[i]))
            continue;
        struct str word = str_n(line.p + start, i - start);
        start = i + 1;
        if (word.n == 0 || word.n >= PATH_MAX || memchr(word.p, '\0', word.n))
            continue;
        struct str path = expand(x->p, x->top, word);
        bool is_there = lstat(path.p, &st) == 0;
        if ((is_there && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))) ||
            (!is_there && was_named(x->root->before, path)))
            add_named(x->p, x->root, path);
    }
}

static void read_entry(const struct reading *x, const struct gitconfig_entry *e)
{
    struct str dir = str_head(x->file, (size_t)MAX(str_find_last(x->file, '/'), (ptrdiff_t)0));
    if (str_is(e->section, "core") && str_is(e->name, "hookspath")) {
        struct str path = expand(x->p, x->top, e->value);
        add_named(x->p, x->root, path);
        if (str_ends_with(path, STR("/_"))) /* husky: what is there runs what lies beside it */
            add_named(x->p, x->root, arena_str(&x->p->facts, str_head(path, path.n - 2)));
    } else if (str_starts_with(e->section, STR("include")) && str_is(e->name, "path")) {
        struct reading inner = *x;
        inner.file = expand(x->p, dir, e->value);
        inner.depth++;
        add_named(x->p, x->root, inner.file);
        if (inner.depth < INCLUDES_MAX)
            read_file(&inner);
    } else if (!parts_setting_is_plain(e)) {
        add_words(x, e->value);
    }
}

static void read_settings(const struct reading *x, struct str text)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct gitconfig config;
    if (!gitconfig_parse(text, &a, &config))
        return;
    for (size_t i = 0; i < config.n; i++)
        if (config.p[i].value.n)
            read_entry(x, &config.p[i]);
}

/* A file that may be a link, as the user's own settings often are. */
static void read_file(const struct reading *x)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct stat st;
    AUTO_FD int fd = open(x->file.p, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        file_read(fd, PROTECT_FILE_MAX, x->file.p, &text, &ignored))
        read_settings(x, buf_str(&text));
}

/* The work tree of a repository's directory, from the root: its parent if it is called .git. */
static struct str top_of(struct str gitdir)
{
    ptrdiff_t slash = str_find_last(gitdir, '/');
    struct str name = slash < 0 ? gitdir : str_skip(gitdir, (size_t)slash + 1);
    if (!str_is(name, ".git"))
        return gitdir;
    return slash < 0 ? STR("") : str_head(gitdir, (size_t)slash);
}

static void read_own_settings(struct protect *p, struct protect_root *r, const struct known *k)
{
    static const char *const files[] = {"config", "config.worktree"};
    AUTO_FD int dir = known_open(r, k->path);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
        if (dir < 0 || !hold_read(dir, files[i], &text))
            continue;
        struct str gitdir = known_absolute(r, k->path, &p->facts);
        read_settings(&(struct reading){p, r,
                          str_z(arena_printf(&p->facts, STR_FMT "/%s", STR_ARG(gitdir), files[i])),
                          known_absolute(r, arena_str(&p->facts, top_of(k->path)), &p->facts), 0},
            buf_str(&text));
    }
}

/* The user's own settings hold in every repository. */
static void read_user_settings(struct protect *p, struct protect_root *r, const struct known *k)
{
    const char *home = p->options.home, *xdg = getenv("XDG_CONFIG_HOME");
    const char *files[] = {
        home ? arena_printf(&p->facts, "%s/.gitconfig", home) : NULL,
        xdg && xdg[0] == '/' ? arena_printf(&p->facts, "%s/git/config", xdg)
        : home               ? arena_printf(&p->facts, "%s/.config/git/config", home)
                             : NULL,
        "/etc/gitconfig",
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (files[i])
            read_file(&(struct reading){p, r, str_z(files[i]),
                known_absolute(r, arena_str(&p->facts, top_of(k->path)), &p->facts), 0});
}

/* Learning ---------------------------------------------------------------------------------------
 */

/* Links among the hooks lead to files that act as hooks. */
static void know_hooks(struct protect *p, struct protect_root *r, struct str hooks)
{
    struct stat st;
    DIR *stream = opendir(hooks.p);
    const struct dirent *d;
    while (stream && (d = readdir(stream)))
        if (!str_ends_with(str_z(d->d_name), STR(".sample")) &&
            fstatat(dirfd(stream), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            add_named(
                p, r, str_z(arena_printf(&p->facts, STR_FMT "/%s", STR_ARG(hooks), d->d_name)));
    if (stream)
        closedir(stream);
}

void names_settings(struct protect *p, struct protect_root *r)
{
    struct stat st;
    for (size_t i = 0; i < p->options.n_settings; i++) {
        struct str path = p->options.settings[i];
        if (r->n_named < KNOWN_NAMED_MAX && lexical_is_below(r->path, path) &&
            lstat(path.p, &st) != 0 && errno == ENOENT)
            r->named[r->n_named++] = (struct known_named){.path = path, .settings = true};
    }
}

void names_place(struct protect *p, struct protect_root *r, const struct known *k)
{
    struct str dir = known_absolute(r, k->path, &p->facts);
    know_hooks(p, r, str_z(arena_printf(&p->facts, STR_FMT "/hooks", STR_ARG(dir))));
    read_own_settings(p, r, k);
    read_user_settings(p, r, k);
}
