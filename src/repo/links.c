/* Index entries for separate repositories. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/links.h"

#include "base/utf8.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/gitlink.h"
#include "repo/hold.h"
#include "repo/lead.h"
#include "repo/tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    DROP_MAX = 1000, /* entries; with more, the whole index is set aside */
    NAMED_MAX = 400, /* bytes of their names in a line */
    ARENA_MAX = 64 << 20,
};

struct links {
    struct protect *p;
    struct protect_root *root;
    const bool *touched;
    struct str git, tree; /* directory and work tree of the repository, relative to the root */
    bool open;            /* some entries stay that were not there before */
    struct str drop[DROP_MAX];
    size_t n;
};

/* One entry ------------------------------------------------------------------------------------ */

static bool is_known_link(const struct links *l, struct str path)
{
    const struct protect_root *r = l->root;
    for (size_t i = 0; i < r->n_links; i++)
        if (str_eq(r->links[i].repository, l->git) && str_eq(r->links[i].path, path))
            return true;
    return false;
}

static bool was_repository(const struct links *l, struct str git)
{
    for (size_t i = 0; i < l->root->n_known; i++)
        if (str_eq(l->root->known[i].path, git))
            return true;
    return false;
}

/* Paths as git writes them: a handcrafted index may have others. */
static bool is_clean(struct str path)
{
    struct str component, rest = path;
    while (str_cut(rest, '/', &component, &rest))
        if (component.n == 0 || str_is(component, ".") || str_is(component, ".."))
            return false;
    return path.n && path.n < PATH_MAX && path.p[path.n - 1] != '/';
}

static size_t number_of(const struct protect_root *r, const struct scan_place *place)
{
    return (size_t)(place - r->scan.places);
}

static bool is_submodule(const struct links *l, const struct scan_place *place, struct arena *a)
{
    const struct protect_root *r = l->root;
    if (place->kind != SCAN_POINTER || l->touched[number_of(r, place)])
        return false;
    struct str modules = str_z(arena_printf(a, STR_FMT "/modules/", STR_ARG(l->git)));
    struct str gitdir = lead_pointer(r, place->path, a);
    const struct scan_place *inner = gitdir.p ? scan_at(&r->scan, gitdir) : NULL;
    return inner && inner->kind == SCAN_GITDIR && str_starts_with(gitdir, modules) &&
           !l->touched[number_of(r, inner)];
}

/* Checks a place that the search did not reach because it was cut short. */
static void check_unfound(const struct links *l, struct str git, const struct stat *st)
{
    struct scan_place place = {.kind = SCAN_POINTER, .path = git};
    if (S_ISLNK(st->st_mode))
        place.kind = SCAN_LINK;
    else if (S_ISDIR(st->st_mode))
        place = (struct scan_place){SCAN_GITDIR, git, st->st_dev, st->st_ino};
    (void)check_found(l->p, l->root, &place);
}

/* Returns true if an entry may stay. */
static bool judge(struct links *l, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct stat st;
    if (!is_clean(path))
        return false;
    struct str git = str_z(arena_printf(
        &a, STR_FMT "%s" STR_FMT "/.git", STR_ARG(l->tree), l->tree.n ? "/" : "", STR_ARG(path)));
    AUTO_FD int fd = beneath_open(l->root->fd, git.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)) {
        l->open = true;
        return true;
    }
    const struct scan_place *place = scan_at(&l->root->scan, git);
    if (!place && fd >= 0 && fstat(fd, &st) == 0)
        check_unfound(l, git, &st);
    if (was_repository(l, git) || is_known_link(l, path))
        return true;
    bool stays = place && is_submodule(l, place, &a);
    l->open |= stays;
    return stays;
}

/* The index ------------------------------------------------------------------------------------ */

static void report(const struct links *l, const char *where, struct str what, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str git = known_absolute(l->root, l->git, &a);
    known_report(l->p,
        &(struct protect_held){.path = str_z(arena_printf(&a, STR_FMT "/index", STR_ARG(git))),
            .where = str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(git), where)),
            .what = what,
            .why = str_z(err->code ? err->message : "")});
}

static void add_names(const struct links *l, struct buf *what)
{
    buf_printf(what, l->n == 1 ? "the entry for the repository " : "the entries for repositories ");
    for (size_t i = 0; i < l->n; i++) {
        if (what->n > NAMED_MAX) {
            buf_printf(what, " and %zu more", l->n - i);
            return;
        }
        buf_add_z(what, i ? ", " : "");
        utf8_add_printable(what, l->drop[i]);
    }
}

static void drop(struct links *l, int dir)
{
    AUTO_BUF struct buf what = BUF_INIT(8 * PATH_MAX);
    AUTO_ERR struct err err = {0};
    const struct gitlink_paths paths = {l->drop, l->n};
    bool dropped = false;
    if (gitlink_drop(dir, &paths, &dropped, &err) && !dropped)
        return;
    add_names(l, &what);
    l->open |= err.code != ERR_NONE;
    report(l, PARTS_HELD "/gitlinks", buf_str(&what), &err);
}

static void hold_index(const struct links *l, int dir)
{
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX);
    AUTO_ERR struct err err = {0};
    int errnum = hold_part(dir, "index", &where);
    if (errnum)
        err_errno(&err, E_IO, errnum, "cannot move it");
    report(l, buf_z(&where), STR("an index with entries for very many new repositories"), &err);
}

static void check_all(struct links *l, int dir, const struct tracked *t)
{
    for (size_t i = 0; i < t->n_links; i++) {
        if (judge(l, t->links[i]))
            continue;
        if (l->n == DROP_MAX) {
            hold_index(l, dir);
            return;
        }
        l->drop[l->n++] = t->links[i];
    }
    if (l->n)
        drop(l, dir);
}

/* Returns true if there is anything to check. */
static bool is_due(const struct protect_root *r, int dir, struct known *known)
{
    return !known || known_read(dir, "index", &known->index, NULL) || known->open_links ||
           r->scan.cut;
}

void links_check(struct protect *p, struct protect_root *r, size_t which, const bool *touched)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err ignored = {0};
    AUTO_TRACKED struct tracked t = {0};
    const struct scan_place *place = &r->scan.places[which];
    struct known *known = (struct known *)known_find(r, place);
    struct stat st;
    struct str git = place->path;
    if (place->kind != SCAN_GITDIR || !str_is(lexical_name(git), ".git"))
        return;
    AUTO_FD int dir = known_open(r, git);
    if (dir < 0 || fstatat(dir, "index", &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    p->cut |= st.st_size > PROTECT_INDEX_MAX;
    if (st.st_size > PROTECT_INDEX_MAX || !is_due(r, dir, known) ||
        !tracked_read(dir, &t, &ignored))
        return;
    struct links *l = ARENA_NEW(&a, struct links, 1);
    *l = (struct links){
        .p = p, .root = r, .touched = touched, .git = git, .tree = arena_str(&a, known_above(git))};
    check_all(l, dir, &t);
    if (known) { /* remember the present state */
        known->open_links = l->open;
        (void)known_read(dir, "index", &known->index, NULL);
    }
}
