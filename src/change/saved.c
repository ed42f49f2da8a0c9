/* Snapshot of a box's changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/saved.h"

#include "change/compare.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/clone.h"

#include <errno.h>
#include <fcntl.h>

enum {
    HOLE_MIN = 4096, /* shorter files are not checked for holes */
    BLOCK = 512,     /* unit of st_blocks */
};

struct saved_copier {
    struct saved *s;
    const struct saved_trees *trees;
    struct clone how;
    uint64_t bytes;
};

void saved_done(struct saved *s)
{
    free(s->files);
    arena_done(&s->arena);
    auto_fd(&s->fd);
    *s = SAVED_INIT;
}

static const struct saved_file *file_of(const struct saved *s, const struct delta_item *item)
{
    BUG_ON(item < s->items || item >= s->items + s->n);
    return &s->files[item - s->items];
}

static bool saved_changed_error(const struct delta_item *item, struct err *err)
{
    err_set(err, E_CONFLICT, "'%s' was changed while it was being read: try again", item->path.p);
    return err_ctx(err, "path", "%s", item->path.p);
}

/* Taking the snapshot ------------------------------------------------------------------------- */

static bool open_new(const struct saved_copier *t, const struct delta_item *item, int *ret_fd,
    struct stat *ret_st, struct err *err)
{
    int how = S_ISLNK(item->new.mode) ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY;
    AUTO_FD int fd =
        beneath_open(t->trees->upper_fd, item->path.p, how | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return err_errno(err, E_IO, errno, "cannot read '%s'", item->path.p);
    if (fd < 0 || fstat(fd, ret_st) != 0 || (ret_st->st_mode & S_IFMT) != (item->new.mode &S_IFMT))
        return saved_changed_error(item, err);
    *ret_fd = TAKE_FD(fd);
    return true;
}

static bool saved_copy_link(struct saved_copier *t, const struct delta_item *item, int fd,
    struct saved_file *f, size_t *ret_n, struct err *err)
{
    char target[DELTA_LINK_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof(target));
    if (n < 0 || n == (ssize_t)sizeof(target))
        return err_errno(
            err, E_IO, n < 0 ? errno : ENAMETOOLONG, "cannot read the link '%s'", item->path.p);
    if (arena_left(&t->s->arena) < (size_t)n + 64)
        return err_set(err, E_IO, "too many links: apply some paths at a time");
    f->text = arena_strdup(&t->s->arena, str_n(target, (size_t)n));
    *ret_n = (size_t)n;
    return true;
}

static bool saved_copy_text(struct saved_copier *t, const struct delta_item *item, int fd,
    size_t size, struct saved_file *f, size_t *ret_n, struct err *err)
{
    char *text = arena_alloc(&t->s->arena, size + 1);
    size_t n = 0;
    while (n < size) {
        ssize_t got = pread(fd, text + n, size - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, E_IO, errno, "cannot read '%s'", item->path.p);
        if (got == 0)
            break; /* truncated since: take the shorter content */
        n += (size_t)got;
    }
    f->text = text;
    *ret_n = n;
    return true;
}

/* Falls back to a file that is unlinked at once where O_TMPFILE is not supported. */
static int saved_make_file(int dir_fd)
{
    static const char name[] = ".snapshot";
    int fd = openat(dir_fd, ".", O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    unlinkat(dir_fd, name, 0);
    fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        unlinkat(dir_fd, name, 0);
    return fd;
}

static bool no_room(const struct delta_item *item, struct err *err)
{
    err_errno(err, E_IO, errno, "cannot store a temporary copy of '%s'", item->path.p);
    return err_ctx(
        err, "remedy", "free disk space below $CORDON_HOME, or apply some paths at a time");
}

static bool saved_copy_file(struct saved_copier *t, const struct delta_item *item, int fd,
    uint64_t size, struct saved_file *f, struct err *err)
{
    struct saved *s = t->s;
    struct stat st;
    if (s->fd < 0 && (s->fd = saved_make_file(t->trees->dir_fd)) < 0)
        return no_room(item, err);
    const struct clone_part part = {.from = fd, .to = s->fd, .to_at = s->used, .size = size};
    uint64_t whole = (size + CLONE_ALIGN - 1) / CLONE_ALIGN * CLONE_ALIGN;
    if (!clone_part(&t->how, &part) || ftruncate(s->fd, (off_t)(s->used + whole)) != 0)
        return no_room(item, err);
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < size)
        return saved_changed_error(item, err);
    f->at = s->used;
    s->used += whole;
    return true;
}

static bool has_holes(const struct stat *st)
{
    return st->st_size > HOLE_MIN && st->st_blocks * BLOCK < st->st_size;
}

static bool saved_copy_content(struct saved_copier *t, const struct delta_item *item, int fd,
    const struct stat *st, struct saved_file *f, size_t *ret_n, struct err *err)
{
    uint64_t size = (uint64_t)st->st_size;
    if (size > SAVED_BYTES_MAX - t->bytes)
        return err_set(err, E_IO,
            "the changed files have more than %llu bytes in total: apply some paths at a time",
            (unsigned long long)SAVED_BYTES_MAX);
    t->bytes += size;
    if (size <= SAVED_SMALL && !has_holes(st) && arena_left(&t->s->arena) > size + 64)
        return saved_copy_text(t, item, fd, (size_t)size, f, ret_n, err);
    *ret_n = (size_t)size;
    return saved_copy_file(t, item, fd, size, f, err);
}

/* The content was the same when the list was made, but may have changed since. */
static bool check_mode_only(struct saved_copier *t, struct delta_item *item, struct err *err)
{
    struct stat st;
    uint64_t left = SAVED_BYTES_MAX;
    bool same = false;
    AUTO_FD int fd = delta_open(t->trees->old_fd, item->path, &st);
    if (fd >= 0 && S_ISREG(st.st_mode) && !saved_same(t->s, item, fd, &st, &left, &same, err))
        return false;
    if (!same)
        item->kind = DELTA_MODIFIED;
    return true;
}

static bool saved_copy_item(
    struct saved_copier *t, size_t i, struct delta_item *item, struct err *err)
{
    struct saved_file *f = &t->s->files[i];
    AUTO_FD int fd = -1;
    struct stat st;
    size_t n;
    if (!item->new.ino)
        return true;
    if (!open_new(t, item, &fd, &st, err) ||
        !(S_ISLNK(st.st_mode) ? saved_copy_link(t, item, fd, f, &n, err)
                              : saved_copy_content(t, item, fd, &st, f, &n, err)))
        return false;
    f->ctime_s = st.st_ctim.tv_sec;
    f->ctime_ns = st.st_ctim.tv_nsec;
    item->new = stamp_of(&st);
    item->new.size = (int64_t)n;
    return item->kind != DELTA_MODE || check_mode_only(t, item, err);
}

bool saved_make(
    struct saved *s, const struct saved_trees *trees, struct delta *delta, struct err *err)
{
    struct saved_copier t = {.s = s, .trees = trees};
    BUG_ON(s->files);
    s->items = delta->items;
    s->n = delta->n;
    s->files = base_alloc((delta->n + 1) * sizeof(*s->files));
    for (size_t i = 0; i < delta->n; i++)
        if (!saved_copy_item(&t, i, &delta->items[i], err))
            return false;
    return true;
}

/* Reading ------------------------------------------------------------------------------------- */

struct str saved_text(const struct saved *s, const struct delta_item *item)
{
    const struct saved_file *f = file_of(s, item);
    return f->text ? str_n(f->text, (size_t)item->new.size) : (struct str){0};
}

uint64_t saved_at(const struct saved *s, const struct delta_item *item)
{
    return file_of(s, item)->at;
}

static bool same_target(int fd, struct str text)
{
    char target[DELTA_LINK_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof(target));
    return n >= 0 && str_eq(str_n(target, (size_t)n), text);
}

bool saved_same(const struct saved *s, const struct delta_item *item, int fd, const struct stat *st,
    uint64_t *left, bool *ret_same, struct err *err)
{
    struct str text = saved_text(s, item);
    if ((st->st_mode & S_IFMT) != (item->new.mode &S_IFMT) || st->st_size != item->new.size) {
        *ret_same = false;
        return true;
    }
    if (S_ISLNK(st->st_mode)) {
        *ret_same = same_target(fd, text);
        return true;
    }
    if (text.p)
        return compare_text(fd, text, left, ret_same, err);
    return compare_parts(&(struct compare_part){fd, 0},
        &(struct compare_part){s->fd, saved_at(s, item)}, (uint64_t)st->st_size, left, ret_same,
        err);
}

bool saved_read(
    const struct saved *s, const struct delta_item *item, struct buf *content, struct err *err)
{
    struct str text = saved_text(s, item);
    uint64_t at = saved_at(s, item), end = at + (uint64_t)item->new.size;
    char chunk[64 * 1024];
    if (!item->new.ino)
        return true;
    buf_add_str(content, text);
    while (!text.p && at < end) {
        ssize_t n = pread(s->fd, chunk, (size_t)MIN(end - at, (uint64_t)sizeof(chunk)), (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_errno(err, E_IO, n < 0 ? errno : EIO, "cannot read '%s'", item->path.p);
        buf_add(content, chunk, (size_t)n);
        at += (uint64_t)n;
    }
    return buf_ok(content) || err_set(err, E_IO, "'%s' is too large", item->path.p);
}

bool saved_is(const struct saved *s, const struct delta_item *item, const struct stat *st)
{
    const struct saved_file *f = file_of(s, item);
    return stamp_is(&item->new, st) && f->ctime_s == st->st_ctim.tv_sec &&
           f->ctime_ns == st->st_ctim.tv_nsec;
}
