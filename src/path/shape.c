/* A change of several files: directories that become files or symlinks, and the other way round. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/change.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/grow.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* The files that move with a directory follow it in the list. */
static size_t members_end(const struct change *c, size_t i)
{
    size_t end = i + 1;
    while (end < c->n_ops && c->ops[end].carrier == i + 1)
        end++;
    return end;
}

struct shape_scan {
    const struct change *c;
    size_t i, end;
    struct buf rel; /* path of the entry from the root */
    struct walk *w;
    struct walk_problems problems;
};

static void shape_scan_done(struct shape_scan *l)
{
    buf_done(&l->rel);
    walk_close(l->w);
    walk_problems_done(&l->problems);
}

static bool shape_scan_open(
    struct shape_scan *l, const struct change *c, size_t i, int fd, struct err *err)
{
    struct walk_options options = {.all_names = true, .problems = &l->problems};
    l->c = c;
    l->i = i;
    l->end = members_end(c, i);
    return walk_open(fd, &options, &l->w, err);
}

/* The operation of the change for an entry, or NULL. */
static const struct change_op *shape_find_member(struct shape_scan *l, struct str path)
{
    size_t low = l->i + 1, high = l->end;
    buf_reset(&l->rel);
    buf_add_str(&l->rel, l->c->ops[l->i].rel);
    buf_add_byte(&l->rel, '/');
    buf_add_str(&l->rel, path);
    while (low < high && buf_ok(&l->rel)) {
        size_t mid = low + (high - low) / 2;
        int order = change_order(l->c->ops[mid].rel, buf_str(&l->rel));
        if (order == 0)
            return &l->c->ops[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* A check before anything is staged has no new stamps; no other program uses such names then. */
static bool is_ours(const struct change_op *op, const struct walk_entry *e)
{
    struct stat st;
    const struct stamp *stamp = op && op->kind == CHANGE_DELETE ? &op->old : op ? &op->new : NULL;
    if (!stamp)
        return false;
    if (!stamp->ino)
        return true;
    return fstatat(e->dir_fd, e->name.p, &st, AT_SYMLINK_NOFOLLOW) == 0 && stamp_is(stamp, &st);
}

static bool can_empty(int dir_fd, const char *name)
{
    return faccessat(dir_fd, name, W_OK | X_OK, AT_EACCESS) == 0;
}

bool shape_look(const struct change *c, size_t i, int parent_fd, const char *name, bool writable,
    bool *ret_known, struct err *err)
{
    AUTO(shape_scan_done) struct shape_scan l = {.rel = BUF_INIT(2 * PATH_MAX)};
    const struct walk_entry *e;
    AUTO_FD int fd = openat(parent_fd, name, OPEN_DIR);
    bool known = fd >= 0;
    size_t n = 0;
    if (fd >= 0 && writable && !can_empty(fd, "."))
        return err_errno(err, E_IO, errno, "cannot empty '%s'", c->ops[i].rel.p);
    if (fd >= 0 && !shape_scan_open(&l, c, i, fd, err))
        return false;
    while (known) {
        if (!walk_next(l.w, &e, err))
            return false;
        if (!e)
            break;
        if (e->type == DT_DIR && writable && !can_empty(e->dir_fd, e->name.p))
            return err_errno(err, E_IO, errno, "cannot empty '%s/%s'", c->ops[i].rel.p, e->path.p);
        known = e->type == DT_DIR || is_ours(shape_find_member(&l, e->path), e);
        n += e->type != DT_DIR;
    }
    *ret_known = known && l.problems.n == 0 && n == l.end - i - 1;
    return true;
}

/* Removal. */

/* Removes the files that are ours; lists the directories, parents first. */
static bool clean_files(
    struct shape_scan *l, struct arena *a, struct str **dirs, size_t *n_dirs, struct err *err)
{
    const struct walk_entry *e;
    size_t cap = 0;
    for (;;) {
        if (!walk_next(l->w, &e, err))
            return false;
        if (!e)
            return true;
        if (e->type != DT_DIR) {
            if (is_ours(shape_find_member(l, e->path), e) &&
                change_unlink(e->dir_fd, e->name.p, 0) != 0)
                return err_errno(err, E_IO, errno, "cannot remove the old version of '%s'",
                    l->c->ops[l->i].rel.p);
            continue;
        }
        if (arena_left(a) < e->path.n + 64)
            return err_set(err, E_IO, "'%s' has too many directories", l->c->ops[l->i].rel.p);
        GROW(*dirs, *n_dirs, cap, GROW_MAX);
        (*dirs)[(*n_dirs)++] = arena_str(a, e->path);
    }
}

static bool empty_dir(const struct change *c, size_t i, int fd, struct err *err)
{
    AUTO(shape_scan_done) struct shape_scan l = {.rel = BUF_INIT(2 * PATH_MAX)};
    AUTO_ARENA struct arena a = ARENA_INIT(256 << 20);
    AUTO_FREE struct str *dirs = NULL;
    size_t n = 0;
    if (!shape_scan_open(&l, c, i, fd, err) || !clean_files(&l, &a, &dirs, &n, err))
        return false;
    while (n-- > 0) {
        const char *name;
        AUTO_FD int parent = change_parent_open(fd, dirs[n], &name);
        if (parent < 0 || change_unlink(parent, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY ||
            errno == EEXIST)
            continue;
        return err_errno(
            err, E_IO, errno, "cannot remove the old version of '%s'", c->ops[i].rel.p);
    }
    return true;
}

bool shape_clean(struct change *c, size_t i, const struct change_place *at, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    struct stat st;
    if (fstatat(at->dir_fd, at->temp, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, E_IO, errno,
                                      "cannot stat the temporary file next to '%s'", op->rel.p);
    AUTO_FD int fd = S_ISDIR(st.st_mode) ? openat(at->dir_fd, at->temp, OPEN_DIR) : -1;
    if (fd >= 0 && !empty_dir(c, i, fd, err))
        return false;
    if (change_unlink(at->dir_fd, at->temp, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) == 0)
        return true;
    /* Another program put something there at the last moment. */
    if (errno == ENOTEMPTY || errno == EEXIST)
        return change_keep_aside(c, at, op, at->temp, err);
    return err_errno(err, E_IO, errno, "cannot remove '%s' next to '%s'", at->temp, op->rel.p);
}

/* Syncing. */

static bool sync_one(const struct change *c, size_t op, struct str rel, struct err *err)
{
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    struct str below = str_skip(rel, MIN(rel.n, c->ops[op].rel.n + 1));
    const char *name = ".";
    if (!change_place_open(c, op, &at, err))
        return false;
    AUTO_FD int top = openat(at.dir_fd, at.temp, OPEN_DIR);
    AUTO_FD int parent = top >= 0 && below.n ? change_parent_open(top, below, &name) : -1;
    AUTO_FD int fd = openat(below.n ? parent : top, name, OPEN_DIR);
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        return err_errno(err, E_IO, errno, "cannot sync the directory '%s'", rel.p);
    return true;
}

bool shape_sync(const struct change *c, struct err *err)
{
    size_t op = 0;
    for (size_t i = 0; i < c->n_dirs; i++) {
        const struct change_dir *dir = &c->dirs[i];
        bool inside = op && change_is_below(dir->rel, c->ops[op - 1].rel);
        op = dir->op ? dir->op : inside ? op : 0;
        if (op && !sync_one(c, op - 1, dir->rel, err))
            return false;
    }
    return true;
}
