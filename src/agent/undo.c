/* Keeping old versions of files before they are replaced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/undo_state.h"
#include "base/log.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/clone.h"
#include "path/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>

enum {
    SYNC_ONE_BY_ONE = 8, /* if more files than this, sync their file system once */
};
#define ARENA_MAX ((size_t)1 << 30)

struct undo *undo_new(const char *dir, const char *id, const char *journal_dir)
{
    struct undo *u = base_alloc(sizeof(*u));
    AUTO_BUF struct buf home = BUF_INIT(2 * PATH_MAX);
    buf_printf(&home, "%s/%s", dir, id);
    *u = (struct undo){.arena = ARENA_INIT(ARENA_MAX),
        .dir = strdup(dir),
        .home = buf_take(&home),
        .journal_dir = strdup(journal_dir),
        .file = LINE_FILE_NONE,
        .fd = -1,
        .next = 1};
    BUG_ON(!u->dir || !u->journal_dir);
    return u;
}

void undo_free(struct undo *u)
{
    if (!u)
        return;
    line_file_close(&u->file);
    if (u->fd >= 0)
        close(u->fd);
    arena_done(&u->arena);
    free(u->entries);
    free(u->dir);
    free(u->home);
    free(u->journal_dir);
    free(u);
}

void undo_begin_turn(struct undo *u, size_t turn)
{
    if (u)
        u->turn = turn + 1; /* 0 means no turn */
}

void undo_drop_blobs(struct undo *u, const struct undo_entry *e)
{
    for (size_t i = 0; u->fd >= 0 && i < e->n_files; i++)
        if (e->files[i].blob.n)
            unlinkat(u->fd, e->files[i].blob.p, 0);
}

/* Old versions -------------------------------------------------------------------------------- */

static bool undo_is_changed(struct str path, struct err *err)
{
    return err_set(err, E_CONFLICT,
        "'" STR_FMT "' was changed while it was being copied: try again", STR_ARG(path));
}

static bool cannot_keep(struct str path, struct err *err)
{
    return err_errno(
        err, E_IO, errno, "cannot save the old version of '" STR_FMT "'", STR_ARG(path));
}

static bool still_is(int fd, const struct stamp *stamp)
{
    struct stat st;
    return fstat(fd, &st) == 0 && stamp_is(stamp, &st);
}

static bool keep_link(struct undo *u, int fd, struct undo_file *f, struct err *err)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof(target));
    if (n < 0 || n == sizeof(target))
        return cannot_keep(f->path, err);
    f->link = undo_encode(&u->arena, str_n(target, (size_t)n));
    return true;
}

/* Copies owner and extended attributes. Errors are ignored: a tool could not have changed an
 * attribute that cannot be set here. */
static void keep_belongings(int from, int to)
{
    AUTO_FREE char *names = base_alloc(XATTR_LIST_MAX), *value = base_alloc(XATTR_SIZE_MAX);
    struct stat st;
    ssize_t n = flistxattr(from, names, XATTR_LIST_MAX);
    if (fstat(from, &st) == 0)
        (void)!fchown(to, st.st_uid, st.st_gid);
    for (const char *name = names; name < names + MAX(n, 0); name += strlen(name) + 1) {
        ssize_t size = fgetxattr(from, name, value, XATTR_SIZE_MAX);
        if (size >= 0)
            (void)fsetxattr(to, name, value, (size_t)size, 0);
    }
}

static bool keep_content(struct undo *u, int from, struct undo_file *f, const struct stamp *stamp,
    bool sync, struct err *err)
{
    struct clone how = {0};
    AUTO_FD int to =
        openat(u->fd, f->blob.p, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0 || !clone_content(&how, from, to, (uint64_t)stamp->size))
        return cannot_keep(f->path, err);
    keep_belongings(from, to);
    if (sync && fsync(to) != 0)
        return cannot_keep(f->path, err);
    return still_is(from, stamp) || undo_is_changed(f->path, err);
}

/* Keeps the current version of a file or symlink. */
static bool keep_file(struct undo *u, int root_fd, struct undo_file *f, const struct stamp *stamp,
    bool sync, struct err *err)
{
    bool regular = S_ISREG(stamp->mode);
    AUTO_FD int fd = beneath_open(root_fd, f->path.p,
        regular ? O_RDONLY | O_NOFOLLOW | O_NONBLOCK : O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0)
        return cannot_keep(f->path, err);
    if (!still_is(fd, stamp))
        return undo_is_changed(f->path, err);
    return regular ? keep_content(u, fd, f, stamp, sync, err) : keep_link(u, fd, f, err);
}

/* Skips files larger than UNDO_FILE_MAX; undo_back() will report that. */
static bool keep_files(
    struct undo *u, const struct writer_plan *plan, struct undo_entry *e, struct err *err)
{
    bool one_by_one = plan->n <= SYNC_ONE_BY_ONE;
    for (size_t i = 0; i < plan->n; i++) {
        const struct stamp *old = &plan->files[i].old;
        struct undo_file *f = &e->files[i];
        bool wanted = old->ino && (S_ISLNK(old->mode) || S_ISREG(old->mode));
        if (!wanted || (uint64_t)old->size > UNDO_FILE_MAX)
            continue;
        if (S_ISREG(old->mode))
            f->blob = str_z(arena_printf(&u->arena, "%llu.%zu", (unsigned long long)e->n, i));
        if (!keep_file(u, plan->root_fd, f, old, one_by_one, err))
            return false;
    }
    return one_by_one ? fsync(u->fd) == 0 || errno == EINVAL || cannot_keep(STR("."), err)
                      : syncfs(u->fd) == 0 || cannot_keep(STR("."), err);
}

/* Removes the old versions of the oldest turns until there is room, but not those of the current
 * turn. */
static bool undo_make_room(struct undo *u, uint64_t wanted, struct err *err)
{
    for (size_t i = 0; i < u->n && u->bytes + wanted > UNDO_BYTES_MAX; i++) {
        const struct undo_entry *oldest = u->entries[i];
        if (!oldest->bytes || oldest->turn == u->turn)
            continue;
        struct undo_entry *line = undo_entry_new(u, UNDO_FORGET, 0, 0);
        line->turn = oldest->turn;
        if (!undo_append(u, line, err))
            return false;
        for (size_t k = 0; k < u->n; k++)
            if (u->entries[k]->turn <= line->turn)
                undo_drop_blobs(u, u->entries[k]);
    }
    return true;
}

/* Backups ------------------------------------------------------------------------------------- */

static struct undo_entry *undo_entry_of(struct undo *u, const struct writer_plan *plan)
{
    struct undo_entry *e = undo_entry_new(u, UNDO_CHANGE, plan->n, plan->n_dirs);
    struct stat st = {0};
    fstat(plan->root_fd, &st);
    e->n = u->next;
    e->turn = u->turn;
    e->root = arena_str(&u->arena, plan->root);
    e->root_name = undo_encode(&u->arena, plan->root);
    e->root_ino = (int64_t)st.st_ino;
    for (size_t i = 0; i < plan->n; i++) {
        struct undo_file *f = &e->files[i];
        f->path = arena_str(&u->arena, plan->files[i].path);
        f->name = undo_encode(&u->arena, f->path);
        f->old = undo_stamp_of(&plan->files[i].old);
        f->new = undo_stamp_of(&plan->files[i].new);
    }
    for (size_t i = 0; i < plan->n_dirs; i++) {
        e->dirs[i].name = undo_encode(&u->arena, plan->dirs[i].path);
        e->dirs[i].ino = (int64_t)plan->dirs[i].ino;
    }
    return e;
}

static bool not_kept(const struct undo *u, struct err *err)
{
    AUTO_BUF struct buf b = BUF_INIT(64 << 10);
    bool damaged = err->code == E_CONFIG;
    buf_printf(&b, "cannot save old versions for /undo: %s", err->message);
    if (damaged)
        buf_printf(&b, "; remove '%s' to start over", u->home);
    return err_set(err, damaged ? E_IO : err->code, "%s", buf_z(&b));
}

static bool undo_start_change(void *context, const struct writer_plan *plan, struct err *err)
{
    struct undo *u = context;
    uint64_t wanted = 0;
    if (!undo_load(u, err) || !undo_make(u, err))
        return not_kept(u, err);
    for (size_t i = 0; i < plan->n; i++)
        wanted += plan->files[i].old.ino ? (uint64_t)plan->files[i].old.size : 0;
    struct undo_entry *e = undo_entry_of(u, plan);
    if (!undo_make_room(u, wanted, err) || !keep_files(u, plan, e, err) ||
        !undo_append(u, e, err)) {
        undo_drop_blobs(u, e);
        return not_kept(u, err);
    }
    u->open = e;
    return true;
}

/* If the change failed, the writer has restored the files or the next command will: the entry stays
 * open until its outcome is known. */
static void undo_finish_change(void *context, bool changed)
{
    struct undo *u = context;
    AUTO_ERR struct err err = {0};
    struct undo_entry *e = u->open;
    u->open = NULL;
    if (e && changed && !undo_mark(u, e, true, &err))
        LOG_WARN("%s", err.message);
}

struct toolbox_backup undo_backup(struct undo *u)
{
    return (struct toolbox_backup){undo_start_change, undo_finish_change, u};
}
