/* Symlinks in a repository's directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitdir_links.h"

#include "io/dir.h"
#include "path/lexical.h"
#include "repo/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    LISTED_MAX = 50 * 1000, /* names in a directory */
};

/* A symlink, and the repository's directory that contains it. */
struct gitdir_links_link {
    struct protect *p;
    struct protect_root *root;
    struct str git;  /* relative to the root */
    struct str rest; /* directory of the symlink, relative to `git` */
    const char *name;
};

typedef void (*visit_fn)(const struct gitdir_links_link *link);

static bool gitdir_links_is_below_any(const char *const *dirs, size_t n, struct str rest)
{
    for (size_t i = 0; i < n; i++)
        if (lexical_is_below(str_z(dirs[i]), rest))
            return true;
    return false;
}

static bool has_dot_git(struct str path)
{
    struct str component, rest = path;
    while (str_cut(rest, '/', &component, &rest))
        if (str_is(component, ".git"))
            return true;
    return false;
}

/* Returns true if git writes in a directory, or follows a name there below which it writes or
 * deletes. In a `.git` that is everywhere; elsewhere a project directory may happen to have the
 * names of a repository, and contain other symlinks. */
static bool gitdir_links_git_writes_in(struct str git, struct str rest)
{
    static const char *const dirs[] = {"info", "logs", "modules", "objects", "rebase-apply",
        "rebase-merge", "refs", "rr-cache", "sequencer", "worktrees"};
    static const char *const checked[] = {"hooks", PARTS_HELD}; /* or set aside */
    if (rest.n == 0)
        return true;
    return has_dot_git(git) ? !gitdir_links_is_below_any(checked, ARRAY_LEN(checked), rest)
                            : gitdir_links_is_below_any(dirs, ARRAY_LEN(dirs), rest);
}

/* Returns the innermost repository around a directory in which git writes; NULL: none. */
static const struct scan_place *gitdir_of(
    const struct protect_root *r, struct str dir, struct str *ret_rest)
{
    const struct scan_place *best = NULL;
    for (size_t i = 0; i < r->scan.n_places; i++) {
        const struct scan_place *place = &r->scan.places[i];
        if (place->kind == SCAN_GITDIR && (!best || place->path.n > best->path.n) &&
            (!place->path.n || lexical_is_below(place->path, dir)))
            best = place;
    }
    if (!best)
        return NULL;
    *ret_rest = best->path.n ? lexical_rest(best->path, dir) : dir;
    return gitdir_links_git_writes_in(best->path, *ret_rest) ? best : NULL;
}

/* Parts are checked separately, and git itself may make HEAD a symlink. */
static bool gitdir_links_is_exempt(struct str rest, const char *name)
{
    if (rest.n)
        return str_is(rest, "info") && strcmp(name, "attributes") == 0;
    for (const char *const *part = parts_for_kind(SCAN_GITDIR); *part; part++)
        if (strcmp(*part, name) == 0)
            return true;
    return strcmp(name, "HEAD") == 0 || strcmp(name, "info") == 0;
}

static void gitdir_links_visit_dir(struct gitdir_links_link *link, struct str path, visit_fn visit)
{
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    struct stat st;
    if (!dir_take(&d, known_open(link->root, path)))
        return;
    while (dir_next(&d)) {
        link->name = d.name;
        if (fstatat(d.fd, d.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) &&
            !gitdir_links_is_exempt(link->rest, d.name))
            visit(link);
    }
}

static void gitdir_links_visit_all(struct protect *p, struct protect_root *r, visit_fn visit)
{
    struct gitdir_links_link link = {.p = p, .root = r};
    struct str path;
    for (size_t at = 0; scan_next_linked(&r->scan, &at, &path);) {
        const struct scan_place *place = gitdir_of(r, path, &link.rest);
        if (!place)
            continue;
        link.git = place->path;
        gitdir_links_visit_dir(&link, path, visit);
    }
}

static struct str gitdir_links_path(const struct gitdir_links_link *link, struct arena *a)
{
    return str_z(arena_printf(a, STR_FMT "%s" STR_FMT "%s%s", STR_ARG(link->git),
        link->git.n && link->rest.n ? "/" : "", STR_ARG(link->rest),
        link->git.n || link->rest.n ? "/" : "", link->name));
}

static void gitdir_links_add_link(const struct gitdir_links_link *link)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    (void)known_add_way(link->p, link->root, gitdir_links_path(link, &a));
}

void gitdir_links_know(struct protect *p, struct protect_root *r)
{
    gitdir_links_visit_all(p, r, gitdir_links_add_link);
}

static void gitdir_links_set_aside(const struct gitdir_links_link *link)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX + NAME_MAX);
    const struct protect_root *r = link->root;
    struct str path = gitdir_links_path(link, &a);
    if (known_is_way(r, path))
        return;
    AUTO_FD int dir = known_open(r, link->git);
    const char *part =
        arena_printf(&a, STR_FMT "%s%s", STR_ARG(link->rest), link->rest.n ? "/" : "", link->name);
    int errnum = dir < 0 ? errno : quarantine_part(dir, part, &where);
    if (errnum == ENOENT)
        return;
    struct str git = known_absolute(r, link->git, &a);
    protect_add_held(
        link->p, &(struct protect_held){.path = known_absolute(r, path, &a),
                     .where = str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(git), buf_z(&where))),
                     .what = STR("a link that git would write through"),
                     .errnum = errnum});
}

/* If the user has more symlinks than can be remembered, any of them may be the user's. */
void gitdir_links_check(struct protect *p, struct protect_root *r)
{
    if (r->n_ways < KNOWN_WAYS_MAX)
        gitdir_links_visit_all(p, r, gitdir_links_set_aside);
    else
        p->cut = true;
}
