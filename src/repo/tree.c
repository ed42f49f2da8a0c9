/* Work trees that git directories name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tree.h"

#include "path/gitdir.h"
#include "path/lexical.h"
#include "repo/gitdir_target.h"
#include "repo/path_walk.h"
#include "repo/quarantine.h"

#include <errno.h>
#include <limits.h>

enum {
    BACK_MAX = PATH_MAX + 64, /* bytes of `gitdir` */
};

/* Settings ------------------------------------------------------------------------------------- */

bool tree_is_setting(const struct gitconfig_entry *e)
{
    return str_is(e->section, "core") && !e->subsection.p && str_is(e->name, "worktree");
}

static bool is_relative_setting(const struct gitconfig_entry *e)
{
    return str_is(e->section, "extensions") && !e->subsection.p &&
           str_is(e->name, "relativeworktrees");
}

static struct str find_setting(
    int gitdir, const char *name, bool (*is_one)(const struct gitconfig_entry *e), struct arena *a)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct gitconfig config;
    struct str value = {0};
    if (!quarantine_read(gitdir, name, &text) || !gitconfig_parse(buf_str(&text), a, &config))
        return value;
    for (size_t i = 0; i < config.n; i++)
        if (is_one(&config.p[i]))
            value = arena_str(a, config.p[i].value);
    return value;
}

struct str tree_setting(int gitdir, const char *name, struct arena *a)
{
    return find_setting(gitdir, name, tree_is_setting, a);
}

/* The line of `gitdir`; no value: none. */
static struct str read_back(int gitdir, struct arena *a)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (!quarantine_read(gitdir, "gitdir", &text) || text.n > BACK_MAX)
        return (struct str){0};
    struct str line = gitdir_line(buf_str(&text), STR(""));
    return line.n ? arena_str(a, line) : (struct str){0};
}

/* Ways ----------------------------------------------------------------------------------------- */

/* Follows a path that begins in a git directory of the root. */
static bool follow(struct path_walk *w, const struct protect_root *r, const struct known_tree *tree)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str path = tree->path, git = known_absolute(r, tree->git, &a);
    if (path.n == 0 || path.n + git.n >= PATH_WALK_LONG)
        return false;
    bool absolute = path.p[0] == '/';
    if (!absolute)
        path = str_z(arena_printf(&a, STR_FMT "/" STR_FMT, STR_ARG(git), STR_ARG(path)));
    return path_walk_follow(w, path, !absolute && r->path.n > 1 ? r->path.n : 0);
}

struct visit {
    struct protect *p;
    struct protect_root *root;
};

static void know_link(void *context, struct str link)
{
    const struct visit *v = context;
    if (lexical_is_below(v->root->path, link))
        v->p->cut |= !known_add_way(v->p, v->root, lexical_rest(v->root->path, link));
}

static void hold_link(void *context, struct str link)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const struct visit *v = context;
    if (!lexical_is_below(v->root->path, link))
        return;
    struct str path = arena_str(&a, lexical_rest(v->root->path, link));
    if (!known_is_way(v->root, path))
        check_set_aside(v->p, v->root, path, STR("a link on the path of a work tree"));
}

static void follow_tree(struct protect *p, struct protect_root *r, const struct known_tree *tree,
    void (*on_link)(void *context, struct str link))
{
    struct visit v = {p, r};
    struct path_walk w = {.on_link = on_link, .context = &v};
    (void)follow(&w, r, tree);
}

static void know_one(
    struct protect *p, struct protect_root *r, const struct known_place *k, struct str path)
{
    if (!path.p)
        return;
    if (r->n_trees == KNOWN_TREES_MAX || path.n >= PATH_WALK_LONG ||
        arena_left(&p->facts) < path.n + 2 * KNOWN_ARENA_SPARE) {
        p->cut = true;
        return;
    }
    struct known_tree *tree = &r->trees[r->n_trees++];
    *tree = (struct known_tree){k->path, arena_str(&p->facts, path)};
    follow_tree(p, r, tree, know_link);
}

void tree_know(struct protect *p, struct protect_root *r)
{
    const char *const *parts = parts_for_kind(SCAN_GITDIR);
    for (size_t i = 0; i < r->n_known; i++) {
        const struct known_place *k = &r->known[i];
        AUTO_ARENA struct arena a = ARENA_INIT(32 << 20);
        AUTO_FD int dir = k->kind == SCAN_GITDIR ? known_open(r, k->path) : -1;
        for (size_t n = 0; dir >= 0 && n < KNOWN_TEXTS; n++)
            if (S_ISREG(k->parts[n].type))
                know_one(p, r, k, tree_setting(dir, parts[n], &a));
        if (dir >= 0)
            know_one(p, r, k, read_back(dir, &a));
    }
}

/* If the user has more symlinks than can be remembered, any of them may be the user's. */
void tree_check(struct protect *p, struct protect_root *r)
{
    for (size_t i = 0; i < r->n_trees && r->n_ways < KNOWN_WAYS_MAX; i++)
        follow_tree(p, r, &r->trees[i], hold_link);
}

/* Work trees that a command made ----------------------------------------------------------------
 */

bool tree_is_own(const struct protect_root *r, struct str git, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct path_walk w = {0};
    if (!follow(&w, r, &(struct known_tree){git, path}) || w.links ||
        !lexical_is_below(r->path, str_n(w.path, w.n)))
        return false;
    struct str tree = lexical_rest(r->path, str_n(w.path, w.n));
    if (parts_is_refused(tree))
        return false;
    struct str pointer =
        str_z(arena_printf(&a, STR_FMT "%s.git", STR_ARG(tree), tree.n ? "/" : ""));
    const struct scan_place *place = scan_find(&r->scan, pointer);
    return place && place->kind == SCAN_POINTER &&
           str_eq(gitdir_target_of_file(r, pointer, &a), git);
}

/* Returns true if a `.git` in a root leads to this git directory, or is a git directory itself. */
static bool leads_back(const struct protect_root *r, struct str pointer, const struct stat *git)
{
    const struct scan_place *place = scan_find(&r->scan, pointer);
    if (!place || place->kind != SCAN_POINTER)
        return place && place->kind == SCAN_GITDIR;
    struct known_lead lead = gitdir_target_of(r, place->kind, place->path);
    return lead.dev == git->st_dev && lead.ino == git->st_ino;
}

/* Outside the roots nothing may exist: a private /tmp of the command is gone. */
static bool names_nothing(struct path_walk *w)
{
    struct stat st;
    w->path[w->n - strlen("/.git")] = '\0';
    return lstat(w->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* git before 2.48 takes a relative path as relative to its current directory. */
static bool may_be_relative(const struct protect_root *r, struct str git)
{
    AUTO_ARENA struct arena a = ARENA_INIT(32 << 20);
    struct str common = known_above(known_above(git));
    const char *config = arena_printf(&a, STR_FMT "%sconfig", STR_ARG(common), common.n ? "/" : "");
    return find_setting(r->fd, config, is_relative_setting, &a).p;
}

bool tree_back_is_plain(
    const struct protect *p, const struct protect_root *r, int gitdir, struct str git)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct path_walk w = {0};
    struct stat st, there;
    struct str path = read_back(gitdir, &a);
    if (!path.p || fstat(gitdir, &st) != 0 || !str_ends_with(path, STR("/.git")) ||
        (path.p[0] != '/' && !may_be_relative(r, git)) ||
        !follow(&w, r, &(struct known_tree){git, path}) || w.links)
        return false;
    struct str to = str_n(w.path, w.n);
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, to))
            return lstat(w.path, &there) != 0 ||
                   leads_back(&p->roots[i], lexical_rest(p->roots[i].path, to), &st);
    return names_nothing(&w);
}
