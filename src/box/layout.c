/* Boxes on disk: every visible change is a single rename. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/layout.h"

#include "base/choice.h"
#include "base/clock.h"
#include "base/id.h"
#include "box/name.h"
#include "io/dir.h"
#include "path/caret.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum {
    BOXES_MAX = 10 * 1000,
    LOCK_ROUNDS = 100,
    MAKE_ROUNDS = 10,
    SLOW_NS = 100 * 1000, /* mkdir() slower than this: ext4 had to search for an inode */
    NAME_SIZE = BOX_NAME_MAX + 1,
    DIR_MODE = 0700,
};

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

const struct box_part box_parts[] = {
    {"host", BOX_HOST_ONLY},
    {"base", BOX_READS},
    {"work", BOX_WRITES},
    {"home", BOX_WRITES},
    {"caches", BOX_WRITES},
};
const size_t n_box_parts = ARRAY_LEN(box_parts);

/* Returns a valid name NUL-terminated. */
static const char *name_z(struct str name, char text[NAME_SIZE])
{
    BUG_ON(!box_name_valid(name));
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return text;
}

static bool io_failed(struct err *err, const char *what, struct str name)
{
    return err_errno(err, E_IO, errno, "cannot %s the box '" STR_FMT "'", what, STR_ARG(name));
}

/* Directories --------------------------------------------------------------------------------- */

static int layout_make_dir(int dir, const char *name, mode_t mode)
{
    if (mkdirat(dir, name, mode) != 0 && errno != EEXIST)
        return -1;
    return openat(dir, name, OPEN_DIR);
}

static bool make_parents(const char *path, struct err *err)
{
    AUTO_FREE char *text = strdup(path);
    BUG_ON(!text);
    for (char *p = text + 1;; p++) {
        char end = *p;
        if (end != '/' && end != '\0')
            continue;
        *p = '\0';
        if (mkdir(text, DIR_MODE) != 0 && errno != EEXIST)
            return err_errno(err, E_IO, errno, "cannot create the directory '%s'", text);
        if (!end)
            return true;
        *p = '/';
    }
}

/* A user with write access there could forge the state of any box. */
static bool layout_check_owner(int fd, const char *dir, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat '%s'", dir);
    if (st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    err_set(err, E_CONFIG, "'%s' belongs to another user, or others can write to it", dir);
    return err_ctx(
        err, "remedy", "run chmod 700 on it, or set CORDON_HOME to a directory of your own");
}

bool boxes_open(const char *dir, enum boxes_use use, struct boxes *ret_boxes, struct err *err)
{
    struct boxes b = BOXES_NONE;
    static const char *const names[] = {".locks", LAYOUT_MAKING, ".trash"};
    int *const fds[] = {&b.locks, &b.making, &b.trash};
    if (use == BOXES_MAKE && !make_parents(dir, err))
        return false;
    b.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b.fd < 0 && use == BOXES_LOOK && errno == ENOENT) {
        *ret_boxes = b;
        return true;
    }
    bool ok = b.fd >= 0 || err_errno(err, E_IO, errno, "cannot open '%s'", dir);
    ok = ok && layout_check_owner(b.fd, dir, err);
    for (size_t i = 0; ok && i < ARRAY_LEN(names); i++) {
        *fds[i] = use == BOXES_MAKE ? layout_make_dir(b.fd, names[i], DIR_MODE)
                                    : openat(b.fd, names[i], OPEN_DIR);
        if (*fds[i] < 0 && (use == BOXES_MAKE || errno != ENOENT))
            ok = err_errno(err, E_IO, errno, "cannot open '%s/%s'", dir, names[i]);
    }
    if (!ok)
        boxes_close(&b);
    else
        *ret_boxes = b;
    return ok;
}

void boxes_close(struct boxes *b)
{
    int *const fds[] = {&b->fd, &b->locks, &b->making, &b->trash};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (*fds[i] >= 0)
            close(TAKE_FD(*fds[i]));
}

/* Locks --------------------------------------------------------------------------------------- */

bool boxes_lock(const struct boxes *boxes, struct str name, int *ret_lock, struct err *err)
{
    char text[NAME_SIZE];
    name_z(name, text);
    for (int round = 0; round < LOCK_ROUNDS; round++) {
        struct stat held, there;
        AUTO_FD int fd =
            openat(boxes->locks, text, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return io_failed(err, "lock", name);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK)
                return io_failed(err, "lock", name);
            err_set(err, E_CONFLICT,
                "another command is using the box '" STR_FMT "'; try again when it has finished",
                STR_ARG(name));
            return err_ctx(err, "name", STR_FMT, STR_ARG(name));
        }
        /* The lock file may have been deleted along with the box before we got the lock. */
        if (fstat(fd, &held) == 0 &&
            fstatat(boxes->locks, text, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
            held.st_ino == there.st_ino) {
            *ret_lock = TAKE_FD(fd);
            return true;
        }
    }
    errno = EAGAIN;
    return io_failed(err, "lock", name);
}

void boxes_unlock(int *lock)
{
    if (*lock < 0)
        return;
    flock(*lock, LOCK_UN);
    close(TAKE_FD(*lock));
}

/* Finding ------------------------------------------------------------------------------------- */

static int name_order(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_box(const struct dir *d)
{
    return (d->type == DT_DIR || d->type == DT_UNKNOWN) && box_name_valid(str_z(d->name));
}

bool boxes_list(
    const struct boxes *boxes, struct arena *a, struct str_list *ret_names, struct err *err)
{
    struct str_list names = {0};
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (boxes->fd < 0) {
        *ret_names = names;
        return true;
    }
    if (!dir_open(&d, boxes->fd, "."))
        return err_errno(err, E_IO, errno, "cannot list the boxes");
    names.p = ARENA_NEW(a, struct str, BOXES_MAX);
    while (names.n < BOXES_MAX && dir_next(&d))
        if (is_box(&d))
            names.p[names.n++] = arena_str(a, str_z(d.name));
    if (d.errnum)
        return err_errno(err, E_IO, d.errnum, "cannot list the boxes");
    if (names.n > 1)
        qsort(names.p, names.n, sizeof(*names.p), name_order);
    *ret_names = names;
    return true;
}

static bool layout_not_found(const struct boxes *boxes, struct str name, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(4 << 20);
    AUTO_CHOICE struct choice choice = CHOICE_INIT(name);
    AUTO_BUF struct buf hint = BUF_INIT(1024);
    struct str_list names;
    AUTO_ERR struct err ignored = {0};
    if (boxes_list(boxes, &a, &names, &ignored))
        for (size_t i = 0; i < names.n; i++)
            choice_add(&choice, names.p[i].p);
    choice_hint(&choice, "", &hint);
    if (!hint.n)
        buf_add_z(&hint, "; 'cordon box list' lists all boxes");
    err_set(err, E_NOT_FOUND, "no such box '" STR_FMT "'%s", STR_ARG(name), buf_z(&hint));
    return err_ctx(err, "name", STR_FMT, STR_ARG(name));
}

bool boxes_find(const struct boxes *boxes, struct str name, int *ret_fd, struct err *err)
{
    char text[NAME_SIZE];
    if (!box_name_check(name, err))
        return false;
    int fd = boxes->fd >= 0 ? openat(boxes->fd, name_z(name, text), OPEN_DIR) : -1;
    if (fd < 0 && (boxes->fd < 0 || errno == ENOENT))
        return layout_not_found(boxes, name, err);
    if (fd < 0)
        return io_failed(err, "open", name);
    *ret_fd = fd;
    return true;
}

/* Creation and removal ------------------------------------------------------------------------ */

/* Moves an entry to the trash; succeeds also if it does not exist. */
static bool throw_away(const struct boxes *boxes, int dir, const char *name)
{
    char id[ID_SIZE];
    id_new(id);
    return renameat(dir, name, boxes->trash, id) == 0 || errno == ENOENT;
}

/* ext4 allocates new inodes near their directory, and skips all inodes deleted there in the last
 * minutes, again for each new one: where a tree was deleted, creating the next one takes twenty
 * times as long. Below a directory with this flag, subdirectories are spread by the hash of their
 * names, so a fixed name would always map to the same place. Other file systems ignore the flag. */
static void layout_spread_inodes(int dir)
{
    int flags = 0;
    if (ioctl(dir, FS_IOC_GETFLAGS, &flags) != 0 || (flags & FS_TOPDIR_FL))
        return;
    flags |= FS_TOPDIR_FL;
    (void)!ioctl(dir, FS_IOC_SETFLAGS, &flags);
}

/* Creates the directory under a random name first, then renames it. A concurrent cleanup may remove
 * it in between as a leftover: then retry. */
static bool make_apart(int dir, const char *name)
{
    layout_spread_inodes(dir);
    for (int i = 0; i < MAKE_ROUNDS; i++) {
        char id[ID_SIZE], temp[ID_SIZE + 1];
        id_new(id);
        snprintf(temp, sizeof(temp), ".%s", id);
        if (mkdirat(dir, temp, DIR_MODE) != 0)
            return false;
        if (renameat2(dir, temp, dir, name, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != ENOENT) {
            int errnum = errno;
            unlinkat(dir, temp, AT_REMOVEDIR);
            errno = errnum;
            return false;
        }
    }
    return false;
}

/* *ret_ns: the shortest time of one mkdir(); other load can only increase it. */
static bool make_parts(int box, uint64_t *ret_ns)
{
    *ret_ns = UINT64_MAX;
    for (size_t i = 0; i < n_box_parts; i++) {
        uint64_t start = clock_mono_ns();
        if (mkdirat(box, box_parts[i].name, DIR_MODE) != 0)
            return false;
        *ret_ns = MIN(*ret_ns, clock_mono_ns() - start);
    }
    return true;
}

bool boxes_begin(const struct boxes *boxes, struct str name, int *ret_fd, struct err *err)
{
    char text[NAME_SIZE];
    uint64_t ns = UINT64_MAX;
    AUTO_FD int fd = -1;
    name_z(name, text);
    /* A slow mkdir() means that many inodes were deleted there recently: try another place. */
    for (int i = 0; i < MAKE_ROUNDS && ns > SLOW_NS; i++) {
        if (!throw_away(boxes, boxes->making, text) || !make_apart(boxes->making, text))
            return io_failed(err, "create", name);
        auto_fd(&fd);
        fd = openat(boxes->making, text, OPEN_DIR);
        if (fd < 0 || !make_parts(fd, &ns))
            return io_failed(err, "create", name);
    }
    *ret_fd = TAKE_FD(fd);
    return true;
}

static bool sync_name(int dir, const char *name)
{
    AUTO_FD int fd = openat(dir, name, OPEN_DIR);
    return fd >= 0 && fsync(fd) == 0;
}

static bool layout_exists_error(struct str name, struct err *err)
{
    err_set(err, E_CONFLICT, "the box '" STR_FMT "' already exists (use --replace to replace it)",
        STR_ARG(name));
    return err_ctx(err, "name", STR_FMT, STR_ARG(name));
}

/* After the exchange the old box is in .new: moved to the trash now, or by the next command if we
 * are killed first. */
bool boxes_finish(
    const struct boxes *boxes, struct str name, enum boxes_finish how, struct err *err)
{
    char text[NAME_SIZE];
    name_z(name, text);
    if (!sync_name(boxes->making, text))
        return io_failed(err, "create", name);
    bool done = renameat2(boxes->making, text, boxes->fd, text, RENAME_NOREPLACE) == 0;
    if (!done && errno == EEXIST && how == BOXES_NEW)
        return layout_exists_error(name, err);
    if (!done && errno == EEXIST) {
        done = renameat2(boxes->making, text, boxes->fd, text, RENAME_EXCHANGE) == 0;
        if (done)
            (void)!throw_away(boxes, boxes->making, text);
    }
    if (!done || fsync(boxes->fd) != 0)
        return io_failed(err, "create", name);
    return true;
}

void boxes_abandon(const struct boxes *boxes, struct str name)
{
    char text[NAME_SIZE];
    struct stat st;
    (void)!throw_away(boxes, boxes->making, name_z(name, text));
    if (fstatat(boxes->fd, text, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        unlinkat(boxes->locks, text, 0);
}

bool boxes_destroy(const struct boxes *boxes, struct str name, struct err *err)
{
    char text[NAME_SIZE];
    name_z(name, text);
    if (!throw_away(boxes, boxes->fd, text) || fsync(boxes->fd) != 0)
        return io_failed(err, "destroy", name);
    unlinkat(boxes->locks, text, 0); /* waiters notice that the file is gone */
    return true;
}

/* Layers -------------------------------------------------------------------------------------- */

/* The box sees the upper layer's mode as that of its project. */
static bool fill_layers(int dir, mode_t mode)
{
    AUTO_FD int upper = layout_make_dir(dir, "upper", DIR_MODE);
    return upper >= 0 && fchmod(upper, mode & 02777) == 0 && mkdirat(dir, "work", DIR_MODE) == 0 &&
           fsync(dir) == 0;
}

bool box_make_layers(int box_fd, struct str host_path, mode_t mode, struct err *err)
{
    char name[CARET_NAME_MAX + 1];
    caret_name(host_path, name);
    AUTO_FD int work = openat(box_fd, "work", OPEN_DIR);
    AUTO_FD int dir =
        work >= 0 && mkdirat(work, name, DIR_MODE) == 0 ? openat(work, name, OPEN_DIR) : -1;
    if (dir < 0 || !fill_layers(dir, mode) || fsync(work) != 0)
        return err_errno(
            err, E_IO, errno, "cannot create the layers of '" STR_FMT "'", STR_ARG(host_path));
    return true;
}

/* A nonzero mode creates the layers. */
bool box_begin_part(
    const struct boxes *boxes, struct str name, mode_t layers_mode, int *ret_fd, struct err *err)
{
    char text[NAME_SIZE];
    name_z(name, text);
    bool ok = throw_away(boxes, boxes->making, text) && mkdirat(boxes->making, text, DIR_MODE) == 0;
    AUTO_FD int fresh = ok ? openat(boxes->making, text, OPEN_DIR) : -1;
    if (fresh < 0 || (layers_mode && !fill_layers(fresh, layers_mode)))
        return io_failed(err, "reset", name);
    *ret_fd = TAKE_FD(fresh);
    return true;
}

bool box_swap_part(const struct boxes *boxes, struct str name, const char *part,
    struct str host_path, struct err *err)
{
    char layers[CARET_NAME_MAX + 1], text[NAME_SIZE];
    name_z(name, text);
    AUTO_FD int box = -1;
    if (!boxes_find(boxes, name, &box, err))
        return false;
    if (host_path.p)
        caret_name(host_path, layers);
    AUTO_FD int parent = openat(box, host_path.p ? part : ".", OPEN_DIR);
    if (parent < 0 || !sync_name(boxes->making, text) ||
        renameat2(boxes->making, text, parent, host_path.p ? layers : part, RENAME_EXCHANGE) != 0)
        return io_failed(err, "reset", name);
    (void)!throw_away(boxes, boxes->making, text);
    return fsync(parent) == 0 || io_failed(err, "reset", name);
}
