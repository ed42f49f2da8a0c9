/* A change of several files: names, locations, held directories, cleanup. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/change.h"

#include "path/beneath.h"
#include "path/fstype.h"
#include "path/split.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

enum {
    NOT_HELD = UINT16_MAX,
};
_Static_assert((int)CHANGE_HELD < (int)NOT_HELD, "numbers of held directories fit");

/* One for each distinct parent. */
struct held_dir {
    struct str parent;
    int fd;
    dev_t dev;
    ino_t ino;
    bool syncs_whole;
    unsigned pass; /* last pass in which its path was verified */
};

struct change_held {
    size_t n;
    struct held_dir *dirs;
    uint16_t *of_op; /* index of each file's directory, or NOT_HELD */
    unsigned pass;
    bool spares; /* a second link was created, or attempted */
};

static bool component_ok(struct str part)
{
    return part.n > 0 && part.n <= NAME_MAX && !str_is(part, ".") && !str_is(part, "..");
}

bool change_rel_ok(struct str rel)
{
    if (rel.n == 0 || rel.n >= PATH_MAX || str_find(rel, '\0') >= 0 || rel.p[rel.n - 1] == '/')
        return false;
    struct str part, rest = rel;
    while (str_cut(rest, '/', &part, &rest))
        if (!component_ok(part))
            return false;
    return true;
}

bool change_id_ok(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!strchr("0123456789abcdef", id.p[i]) || !id.p[i])
            return false;
    return id.n == CHANGE_ID - 1;
}

bool change_is_below(struct str rel, struct str dir)
{
    return rel.n > dir.n && rel.p[dir.n] == '/' && str_starts_with(rel, dir);
}

int change_order(struct str a, struct str b)
{
    for (size_t i = 0; i < MIN(a.n, b.n); i++) {
        int c = a.p[i] == '/' ? 0 : (unsigned char)a.p[i];
        int d = b.p[i] == '/' ? 0 : (unsigned char)b.p[i];
        if (c != d)
            return c - d;
    }
    return (a.n > b.n) - (a.n < b.n);
}

/* Directories are in the order of the files. */
static bool bind_dir(struct change *c, size_t op, size_t *dir)
{
    while (*dir < c->n_dirs && !str_eq(c->dirs[*dir].rel, c->ops[op].rel))
        ++*dir;
    if (*dir == c->n_dirs)
        return false;
    c->dirs[*dir].op = op + 1;
    return true;
}

bool change_bind(struct change *c)
{
    size_t carrier = 0, dir = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        struct change_op *op = &c->ops[i];
        const struct change_op *above = carrier ? &c->ops[carrier - 1] : NULL;
        if (above && change_is_below(op->rel, above->rel)) {
            op->carrier = carrier;
            if (op->kind != (above->kind == CHANGE_TO_DIR ? CHANGE_CREATE : CHANGE_DELETE))
                return false;
            continue;
        }
        carrier = change_is_shape(op) ? i + 1 : 0;
        if (op->kind == CHANGE_TO_DIR && !bind_dir(c, i, &dir))
            return false;
    }
    return true;
}

int change_parent_open(int root_fd, struct str rel, const char **ret_name)
{
    char parent[PATH_MAX] = ".";
    ptrdiff_t slash = str_find_last(rel, '/');
    BUG_ON(rel.n >= sizeof(parent));
    if (slash > 0) {
        memcpy(parent, rel.p, (size_t)slash);
        parent[slash] = '\0';
    }
    int fd = beneath_open(root_fd, parent, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    if (fd >= 0)
        *ret_name = rel.p + slash + 1;
    return fd;
}

bool change_open_error(struct err *err, int errnum, struct str rel)
{
    if (errnum == ELOOP)
        return err_set(err, E_FS_VIOLATION,
            "'%s' goes through a symbolic link: use the path that the link points to", rel.p);
    if (errnum == EXDEV)
        return err_set(err, E_FS_VIOLATION, "'%s' leaves its root", rel.p);
    if (errnum == ENOENT)
        return err_set(err, E_CONFLICT, "the directory of '%s' no longer exists", rel.p);
    if (errnum == ENOTDIR)
        return err_set(err, E_IO, "a parent of '%s' is not a directory", rel.p);
    return err_errno(err, E_IO, errnum, "cannot open the directory of '%s'", rel.p);
}

bool change_is_gone(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == EXDEV;
}

bool change_conflict(struct err *err, struct str rel, const char *what)
{
    err_set(err, E_CONFLICT, "'%s' %s: read it again and repeat the change", rel.p, what);
    return err_ctx(err, "path", "%s", rel.p);
}

/* A read-only file system fails before it looks up the name. */
int change_unlink(int dir_fd, const char *name, int flags)
{
    struct stat st;
    if (unlinkat(dir_fd, name, flags) == 0 || errno == ENOENT)
        return 0;
    int errnum = errno;
    if ((errnum == EROFS || errnum == EACCES || errnum == EPERM) &&
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return 0;
    errno = errnum;
    return -1;
}

static bool same_parent(struct str a, struct str b)
{
    ptrdiff_t n = str_find_last(a, '/'), m = str_find_last(b, '/');
    return n == m && (n < 0 || memcmp(a.p, b.p, (size_t)n) == 0);
}

static struct str change_parent(struct str rel)
{
    ptrdiff_t slash = str_find_last(rel, '/');
    return str_head(rel, slash > 0 ? (size_t)slash : 0);
}

/* The parent directory of a path if it is held, otherwise NULL. Searches from the end: in the order
 * of a change it is usually the last one. */
static struct held_dir *held_by_path(const struct change *c, struct str rel)
{
    struct str parent = change_parent(rel);
    for (size_t i = c->held ? c->held->n : 0; i-- > 0;)
        if (str_eq(c->held->dirs[i].parent, parent))
            return &c->held->dirs[i];
    return NULL;
}

/* The same for the i-th file. */
static struct held_dir *held_of(const struct change *c, size_t i)
{
    uint16_t at = c->held ? c->held->of_op[i] : NOT_HELD;
    return at == NOT_HELD ? NULL : &c->held->dirs[at];
}

/* Leave most descriptors for everything else. */
static size_t held_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return MIN((size_t)CHANGE_HELD, (size_t)MIN(limit.rlim_cur, (rlim_t)1 << 20) / 4);
}

static bool hold_one(const struct change *c, struct str rel, struct err *err)
{
    struct change_held *held = c->held;
    struct stat st;
    const char *name;
    AUTO_FD int fd = change_parent_open(c->root_fd, rel, &name);
    if (fd < 0 || fstat(fd, &st) != 0)
        return change_open_error(err, errno, rel);
    bool whole = c->n_ops > CHANGE_SYNC_WHOLE && fstype_syncs_whole(fd);
    held->dirs[held->n++] = (struct held_dir){
        .parent = change_parent(rel),
        .fd = TAKE_FD(fd),
        .dev = st.st_dev,
        .ino = st.st_ino,
        .syncs_whole = whole,
    };
    return true;
}

bool change_hold(struct change *c, struct err *err)
{
    size_t max = MIN(held_max(), c->n_ops);
    BUG_ON(c->held);
    c->held = base_alloc(sizeof(*c->held));
    *c->held = (struct change_held){
        .dirs = base_alloc((max + 1) * sizeof(*c->held->dirs)),
        .of_op = base_alloc(c->n_ops * sizeof(*c->held->of_op)),
    };
    for (size_t i = 0; i < c->n_ops; i++)
        c->held->of_op[i] = NOT_HELD; /* also for the files after one that can't be opened */
    const struct change_op *before = NULL;
    for (size_t i = 0; i < c->n_ops; i++) {
        struct change_op *op = &c->ops[i];
        if (op->carrier)
            continue; /* its directory is created or removed */
        if (before && same_parent(before->rel, op->rel)) {
            c->held->of_op[i] = c->held->of_op[before - c->ops];
            before = op;
            continue;
        }
        before = op;
        struct held_dir *dir = held_by_path(c, op->rel);
        if (!dir && c->held->n < max) {
            if (!hold_one(c, op->rel, err))
                return false;
            dir = &c->held->dirs[c->held->n - 1];
        }
        if (dir)
            c->held->of_op[i] = (uint16_t)(dir - c->held->dirs);
    }
    return true;
}

void change_release(struct change *c)
{
    if (!c->held)
        return;
    for (size_t i = 0; i < c->held->n; i++)
        close(c->held->dirs[i].fd);
    free(c->held->dirs);
    free(c->held->of_op);
    free(c->held);
    c->held = NULL;
}

void change_next_pass(const struct change *c)
{
    if (c->held)
        c->held->pass++;
}

void change_note_spare(const struct change *c)
{
    if (c->held)
        c->held->spares = true;
}

static void place_init(
    const struct change *c, size_t i, int dir_fd, const char *name, struct change_place *place)
{
    place->dir_fd = dir_fd;
    place->borrowed = false;
    place->name = name;
    size_t n = (size_t)snprintf(place->temp, CHANGE_NAME, ".cordon-%s-%zu.", c->id, i);
    BUG_ON(n > CHANGE_NAME - sizeof("kept"));
    memcpy(place->spare, place->temp, n);
    memcpy(place->kept, place->temp, n);
    memcpy(place->temp + n, "tmp", sizeof("tmp"));
    memcpy(place->spare + n, "old", sizeof("old"));
    memcpy(place->kept + n, "kept", sizeof("kept"));
}

/* Files are only replaced in the directory that is at their path. */
static bool change_is_held_dir(const struct held_dir *dir, int fd)
{
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == dir->dev && now.st_ino == dir->ino;
}

const char *change_staged_name(const struct change *c, size_t i, const struct change_place *at)
{
    return c->ops[i].carrier ? at->name : at->temp;
}

/* Inside a directory that is a new version, under its temporary name. */
static bool place_in_new(
    const struct change *c, size_t i, struct change_place *ret_place, struct err *err)
{
    size_t k = c->ops[i].carrier - 1;
    struct str rel = c->ops[i].rel;
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    const char *name;
    if (!change_place_open(c, k, &at, err))
        return false;
    AUTO_FD int top = openat(at.dir_fd, at.temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    AUTO_FD int fd = -1;
    if (top >= 0)
        fd = change_parent_open(top, str_skip(rel, c->ops[k].rel.n + 1), &name);
    if (fd < 0)
        return change_open_error(err, errno, rel);
    place_init(c, i, TAKE_FD(fd), name, ret_place);
    return true;
}

bool change_place_open(
    const struct change *c, size_t i, struct change_place *ret_place, struct err *err)
{
    struct str rel = c->ops[i].rel;
    struct held_dir *held = held_of(c, i);
    const char *name;
    if (c->ops[i].carrier && c->ops[i].kind == CHANGE_CREATE)
        return place_in_new(c, i, ret_place, err);
    if (held && held->pass == c->held->pass) {
        place_init(c, i, held->fd, rel.p + str_find_last(rel, '/') + 1, ret_place);
        ret_place->borrowed = true;
        return true;
    }
    AUTO_FD int fd = change_parent_open(c->root_fd, rel, &name);
    if (fd < 0)
        return change_open_error(err, errno, rel);
    if (held && !change_is_held_dir(held, fd))
        return change_conflict(err, rel, "is in a directory that was replaced in the meantime");
    if (held)
        held->pass = c->held->pass;
    place_init(c, i, TAKE_FD(fd), name, ret_place);
    return true;
}

bool change_place_find(const struct change *c, size_t i, struct change_place *ret_place,
    bool *ret_found, struct err *err)
{
    struct str rel = c->ops[i].rel;
    const char *name = rel.p + str_find_last(rel, '/') + 1;
    const struct held_dir *held = held_of(c, i);
    int fd = held ? held->fd : change_parent_open(c->root_fd, rel, &name);
    if (fd < 0 && !change_is_gone(errno))
        return change_open_error(err, errno, rel);
    if (fd >= 0)
        place_init(c, i, fd, name, ret_place);
    ret_place->borrowed = held != NULL;
    *ret_found = fd >= 0;
    return true;
}

void change_place_close(struct change_place *place)
{
    if (place->name && place->dir_fd >= 0 && !place->borrowed)
        close(place->dir_fd);
    place->dir_fd = -1;
    place->name = NULL;
}

bool change_find_lost(struct change *c, struct err *err)
{
    for (size_t i = 0; i < c->n_ops; i++) {
        AUTO_PLACE struct change_place at = {.dir_fd = -1};
        bool found;
        /* Their directories may have been removed as empty. */
        if (c->ops[i].carrier || (c->tidy && c->ops[i].kind == CHANGE_DELETE))
            continue;
        if (!change_place_find(c, i, &at, &found, err))
            return false;
        if (!found && c->n_lost++ == 0)
            snprintf(c->lost, sizeof(c->lost), "%s", c->ops[i].rel.p);
    }
    return true;
}

bool change_syncs_whole(const struct change *c, size_t i)
{
    const struct held_dir *dir = held_of(c, i);
    return dir && dir->syncs_whole;
}

/* File systems that are already synced. */
struct synced {
    dev_t devs[8];
    size_t n;
};

static bool is_synced(const struct synced *done, dev_t dev)
{
    for (size_t i = 0; i < done->n; i++)
        if (done->devs[i] == dev)
            return true;
    return false;
}

static int sync_fs(const struct held_dir *dir, struct synced *done)
{
    if (is_synced(done, dir->dev))
        return 0;
    if (done->n < ARRAY_LEN(done->devs))
        done->devs[done->n++] = dir->dev;
    return syncfs(dir->fd);
}

static int change_sync_dir(int fd, const struct synced *done)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && is_synced(done, st.st_dev))
        return 0;
    /* EINVAL: the file system does not support fsync on directories. */
    return fsync(fd) == 0 || errno == EINVAL ? 0 : -1;
}

static bool sync_parent(
    const struct change *c, struct str rel, struct synced *done, struct err *err)
{
    const char *name;
    const struct held_dir *held = held_by_path(c, rel);
    AUTO_FD int own = held ? -1 : change_parent_open(c->root_fd, rel, &name);
    int fd = held ? held->fd : own;
    if (fd < 0)
        return change_is_gone(errno) || change_open_error(err, errno, rel);
    if ((held && held->syncs_whole ? sync_fs(held, done) : change_sync_dir(fd, done)) != 0)
        return err_errno(err, E_IO, errno, "cannot sync the directory of '%s'", rel.p);
    return true;
}

bool change_sync(const struct change *c, struct err *err)
{
    struct synced done = {0};
    for (size_t i = 0; i < c->n_ops; i++) {
        if (i > 0 && same_parent(c->ops[i - 1].rel, c->ops[i].rel))
            continue;
        if (!sync_parent(c, c->ops[i].rel, &done, err))
            return false;
    }
    for (size_t i = 0; i < c->n_dirs; i++)
        if (!sync_parent(c, c->dirs[i].rel, &done, err))
            return false;
    return true;
}

static bool clean_op(void *change, size_t i, struct err *err)
{
    const struct change *c = change;
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    bool found;
    if (c->ops[i].carrier || change_is_shape(&c->ops[i]))
        return true;
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    const char *const names[] = {at.temp, at.spare};
    /* A live writer knows whether there can be a second link. */
    size_t n = c->held && !c->held->spares ? 1 : ARRAY_LEN(names);
    for (size_t k = 0; found && k < n; k++)
        if (change_unlink(at.dir_fd, names[k], 0) != 0)
            return err_errno(
                err, E_IO, errno, "cannot remove '%s' next to '%s'", names[k], c->ops[i].rel.p);
    return true;
}

bool change_clean(struct change *c, struct err *err)
{
    for (size_t i = 0; i < c->n_ops; i++) {
        AUTO_PLACE struct change_place at = {.dir_fd = -1};
        bool found;
        if (!change_is_shape(&c->ops[i]))
            continue;
        if (!change_place_find(c, i, &at, &found, err))
            return false;
        if (found && !shape_clean(c, i, &at, err))
            return false;
    }
    return split_run(c->n_ops, clean_op, c, err);
}

static bool change_dir_stays(int errnum)
{
    return errnum == ENOTEMPTY || errnum == EEXIST || errnum == EBUSY || errnum == EACCES ||
           errnum == EPERM || errnum == EROFS || change_is_gone(errnum);
}

/* Upwards, as long as they are empty. */
static bool tidy_above(const struct change *c, struct str rel, struct err *err)
{
    for (struct str dir = change_parent(rel); dir.n; dir = change_parent(dir)) {
        char path[PATH_MAX];
        const char *name;
        memcpy(path, dir.p, dir.n);
        path[dir.n] = '\0';
        AUTO_FD int fd = change_parent_open(c->root_fd, str_n(path, dir.n), &name);
        /* A missing one was removed before an interruption. */
        if ((fd >= 0 && unlinkat(fd, name, AT_REMOVEDIR) == 0) || errno == ENOENT)
            continue;
        return change_dir_stays(errno) ||
               err_errno(err, E_IO, errno, "cannot remove the directory '%s'", path);
    }
    return true;
}

bool change_tidy(const struct change *c, struct err *err)
{
    for (size_t i = c->tidy ? c->n_ops : 0; i-- > 0;) {
        const struct change_op *op = &c->ops[i], *next = op - 1;
        if (op->kind != CHANGE_DELETE || op->carrier)
            continue;
        bool again = i > 0 && next->kind == CHANGE_DELETE && !next->carrier &&
                     same_parent(op->rel, next->rel);
        if (!again && !tidy_above(c, op->rel, err))
            return false;
    }
    return true;
}
