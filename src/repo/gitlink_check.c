/* Indexes that a command changed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitlink_check.h"

#include "base/utf8.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/gitdir_target.h"
#include "repo/gitlink.h"
#include "repo/quarantine.h"
#include "repo/tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    DROP_MAX = 1000, /* entries; with more, the whole index is set aside */
    NAMED_MAX = 400, /* bytes of their names in a line */
    ARENA_MAX = 64 << 20,
    LISTED_MAX = 1000, /* names in a git directory */
};

struct gitlink_check_context {
    struct protect *p;
    struct protect_root *root;
    const bool *touched;
    struct str git, tree; /* directory and work tree of the repository, relative to the root */
    bool open;            /* some entries stay that were not there before */
    struct str drop[DROP_MAX];
    size_t n;
};

/* One entry ------------------------------------------------------------------------------------ */

static bool is_known_link(const struct gitlink_check_context *l, struct str path)
{
    const struct protect_root *r = l->root;
    for (size_t i = 0; i < r->n_links; i++)
        if (str_eq(r->links[i].repository, l->git) && str_eq(r->links[i].path, path))
            return true;
    return false;
}

static bool was_repository(const struct gitlink_check_context *l, struct str git)
{
    for (size_t i = 0; i < l->root->n_known; i++)
        if (str_eq(l->root->known[i].path, git))
            return true;
    return false;
}

static size_t gitlink_check_place_index(
    const struct protect_root *r, const struct scan_place *place)
{
    return (size_t)(place - r->scan.places);
}

static bool is_submodule(
    const struct gitlink_check_context *l, const struct scan_place *place, struct arena *a)
{
    const struct protect_root *r = l->root;
    if (place->kind != SCAN_POINTER || l->touched[gitlink_check_place_index(r, place)])
        return false;
    struct str modules = str_z(arena_printf(a, STR_FMT "/modules/", STR_ARG(l->git)));
    struct str gitdir = gitdir_target_of_file(r, place->path, a);
    const struct scan_place *inner = gitdir.p ? scan_find(&r->scan, gitdir) : NULL;
    return inner && inner->kind == SCAN_GITDIR && str_starts_with(gitdir, modules) &&
           !l->touched[gitlink_check_place_index(r, inner)];
}

/* Checks a place that the search did not reach because it was cut short. */
static void check_unfound(
    const struct gitlink_check_context *l, struct str git, const struct stat *st)
{
    struct scan_place place = {.kind = SCAN_POINTER, .path = git};
    if (S_ISLNK(st->st_mode))
        place.kind = SCAN_LINK;
    else if (S_ISDIR(st->st_mode))
        place = (struct scan_place){SCAN_GITDIR, git, st->st_dev, st->st_ino};
    (void)check_one_place(l->p, l->root, &place);
}

/* Returns true if an entry may stay. */
static bool gitlink_check_entry_may_stay(struct gitlink_check_context *l, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct stat st;
    if (path.n >= PATH_MAX)
        return false;
    struct str git = str_z(arena_printf(
        &a, STR_FMT "%s" STR_FMT "/.git", STR_ARG(l->tree), l->tree.n ? "/" : "", STR_ARG(path)));
    AUTO_FD int fd = beneath_open(l->root->fd, git.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)) {
        l->open = true;
        return true;
    }
    const struct scan_place *place = scan_find(&l->root->scan, git);
    if (!place && fd >= 0 && fstat(fd, &st) == 0)
        check_unfound(l, git, &st);
    if (was_repository(l, git) || is_known_link(l, path))
        return true;
    bool stays = place && is_submodule(l, place, &a);
    l->open |= stays;
    return stays;
}

/* The index ------------------------------------------------------------------------------------ */

static void gitlink_check_report(const struct gitlink_check_context *l, const char *where,
    struct str what, int errnum, const struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str git = known_absolute(l->root, l->git, &a);
    protect_add_held(l->p,
        &(struct protect_held){.path = str_z(arena_printf(&a, STR_FMT "/index", STR_ARG(git))),
            .where = str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(git), where)),
            .what = what,
            .errnum = errnum,
            .why = str_z(err->code ? err->message : "")});
}

static void gitlink_check_add_names(const struct gitlink_check_context *l, struct buf *what)
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

static void gitlink_check_drop_entries(struct gitlink_check_context *l, int dir)
{
    AUTO_BUF struct buf what = BUF_INIT(8 * PATH_MAX);
    AUTO_ERR struct err err = {0};
    const struct gitlink_paths paths = {l->drop, l->n};
    bool dropped = false;
    if (gitlink_drop(dir, &paths, &dropped, &err) && !dropped)
        return;
    gitlink_check_add_names(l, &what);
    l->open |= err.code != ERR_NONE;
    gitlink_check_report(l, PARTS_HELD "/gitlinks", buf_str(&what), 0, &err);
}

static void gitlink_check_hold_index(
    const struct gitlink_check_context *l, int dir, struct str what)
{
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX);
    int errnum = quarantine_part(dir, "index", &where);
    gitlink_check_report(l, buf_z(&where), what, errnum, &(struct err){0});
}

static bool gitlink_check_check_all(
    struct gitlink_check_context *l, int dir, const struct tracked *t)
{
    for (size_t i = 0; i < t->n_links; i++) {
        if (gitlink_check_entry_may_stay(l, t->links[i]))
            continue;
        if (l->n == DROP_MAX) {
            gitlink_check_hold_index(
                l, dir, STR("an index with entries for very many new repositories"));
            return false;
        }
        l->drop[l->n++] = t->links[i];
    }
    if (l->n)
        gitlink_check_drop_entries(l, dir);
    return true;
}

/* Indexes that were read ----------------------------------------------------------------------- */

/* A command can change the entries of a split index without changing the index itself. */
static bool may_be_split(int dir)
{
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool found = !dir_open(&d, dir, ".");
    while (!found && dir_next(&d))
        found = str_starts_with(str_z(d.name), STR("sharedindex."));
    return found || !dir_complete(&d);
}

static struct known_index *slot_of(struct protect_root *r, const struct stat *st)
{
    return &r->indexes[st->st_ino % KNOWN_INDEXES];
}

static bool was_read(struct protect_root *r, const struct stat *st)
{
    const struct known_index *i = slot_of(r, st);
    return i->ino == st->st_ino && i->dev == st->st_dev && i->size == st->st_size &&
           i->changed.tv_sec == st->st_ctim.tv_sec && i->changed.tv_nsec == st->st_ctim.tv_nsec;
}

/* Remembers the present state. Commands that still run may change an index again within the same
 * tick of the clock. */
static void note_state(const struct gitlink_check_context *l, int dir, const struct stat *st,
    struct known_place *known, bool has_links)
{
    if (known)
        known->open_links = l->open;
    if (l->p->busy)
        return;
    if (known)
        (void)known_update_text(dir, "index", &known->index, NULL);
    else if (!has_links)
        *slot_of(l->root, st) =
            (struct known_index){st->st_dev, st->st_ino, st->st_size, st->st_ctim};
}

/* Returns true if no command can have changed the entries. */
static bool is_same(
    struct protect_root *r, int dir, const struct known_place *known, const struct stat *st)
{
    return (was_read(r, st) || (known && known_text_unchanged(dir, "index", &known->index))) &&
           !may_be_split(dir);
}

/* Reads an index that is not the same; sets it aside if git would not have written it. An index of
 * the user's that was already too large stays. */
static bool read_index(const struct gitlink_check_context *l, int dir, const struct stat *st,
    const struct known_place *known, struct tracked *t)
{
    AUTO_BUF struct buf what = BUF_INIT(PATH_MAX);
    AUTO_ERR struct err err = {0};
    if (known && known->index.size > PROTECT_INDEX_MAX) {
        l->p->cut = true;
        return false;
    }
    if (st->st_size > PROTECT_INDEX_MAX || (uint64_t)st->st_size > l->root->index_bytes) {
        gitlink_check_hold_index(l, dir,
            STR("an index that is too large to be read; create a new one with 'git reset'"));
        return false;
    }
    l->root->index_bytes -= (uint64_t)st->st_size;
    if (tracked_read(dir, t, &err))
        return true;
    buf_printf(&what, "%s; create a new one with 'git reset'", err.message);
    gitlink_check_hold_index(l, dir, buf_str(&what));
    return false;
}

void gitlink_check_check(
    struct protect *p, struct protect_root *r, size_t which, const bool *touched)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err ignored = {0};
    AUTO_TRACKED struct tracked t = {0};
    const struct scan_place *place = &r->scan.places[which];
    struct known_place *known = (struct known_place *)known_find(r, place);
    struct stat st;
    struct str git = place->path;
    bool usual = str_is(lexical_name(git), ".git");
    AUTO_FD int dir = place->kind == SCAN_GITDIR ? known_open(r, git) : -1;
    if (dir < 0 || fstatat(dir, "index", &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(st.st_mode) ||
        !known_has_head(dir))
        return;
    bool same = is_same(r, dir, known, &st);
    if (same && !r->scan.cut && !(known && known->open_links))
        return;
    struct gitlink_check_context *l = ARENA_NEW(&a, struct gitlink_check_context, 1);
    *l = (struct gitlink_check_context){
        .p = p, .root = r, .touched = touched, .git = git, .tree = arena_str(&a, known_above(git))};
    if (!(same ? tracked_read(dir, &t, &ignored) : read_index(l, dir, &st, known, &t)) ||
        (usual && !gitlink_check_check_all(l, dir, &t)))
        return;
    note_state(l, dir, &st, known, usual && t.n_links);
}
