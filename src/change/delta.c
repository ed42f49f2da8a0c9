/* The list of changes, and access to their content. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/delta.h"

#include "base/grow.h"
#include "io/file.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>

enum {
    ROOM_MAX = 16 << 20, /* preallocate at most this much on the basis of a file's size */
};

void delta_done(struct delta *d)
{
    free(d->items);
    free(d->refused);
    free(d->left_out);
    arena_done(&d->arena);
    *d = DELTA_INIT;
}

bool delta_add(struct delta *d, struct str path, enum delta_kind kind, const struct stat *old,
    const struct stat *new, struct err *err)
{
    if (d->n == DELTA_MAX || arena_left(&d->arena) < path.n + 64)
        return err_set(err, E_IO, "more than %d files were changed", DELTA_MAX);
    GROW(d->items, d->n, d->cap, DELTA_MAX);
    d->items[d->n++] = (struct delta_item){
        .path = arena_str(&d->arena, path),
        .kind = kind,
        .old = old ? stamp_of(old) : (struct stamp){0},
        .new = new ? stamp_of(new) : (struct stamp){0},
    };
    return true;
}

static void delta_note(
    struct delta *d, struct delta_refused **list, size_t *n, struct str path, const char *why)
{
    size_t i = (*n)++;
    if (i >= DELTA_REFUSED_MAX || arena_left(&d->arena) < path.n + 64)
        return;
    if (!*list)
        *list = base_alloc(DELTA_REFUSED_MAX * sizeof(**list));
    (*list)[i] = (struct delta_refused){arena_str(&d->arena, path), why};
}

void delta_refuse(struct delta *d, struct str path, const char *why)
{
    delta_note(d, &d->refused, &d->n_refused, path, why);
}

void delta_leave_out(struct delta *d, struct str path, const char *why)
{
    delta_note(d, &d->left_out, &d->n_left_out, path, why);
}

static int delta_compare_paths(const void *a, const void *b)
{
    return str_cmp(((const struct delta_item *)a)->path, ((const struct delta_item *)b)->path);
}

void delta_sort(struct delta *d)
{
    if (d->n > 1)
        qsort(d->items, d->n, sizeof(*d->items), delta_compare_paths);
}

const struct delta_item *delta_find(const struct delta *d, struct str path)
{
    struct delta_item key = {.path = path};
    return d->n ? bsearch(&key, d->items, d->n, sizeof(*d->items), delta_compare_paths) : NULL;
}

bool delta_is_at_or_below(struct str path, struct str dir)
{
    return dir.n == 0 || (str_starts_with(path, dir) && (path.n == dir.n || path.p[dir.n] == '/'));
}

static bool delta_is_wanted(struct str path, const struct str *paths, size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (delta_is_at_or_below(path, paths[p]))
            return true;
    return false;
}

static size_t notes_kept(const struct delta_refused *list, size_t n)
{
    return list ? MIN(n, (size_t)DELTA_REFUSED_MAX) : 0;
}

/* Entries that were only counted, without a name, may be anywhere, so they are kept. */
static void only_notes(
    struct delta_refused *list, size_t *n_list, const struct str *paths, size_t n)
{
    size_t kept = 0, named = notes_kept(list, *n_list), unnamed = *n_list - named;
    for (size_t i = 0; i < named; i++)
        if (delta_is_wanted(list[i].path, paths, n))
            list[kept++] = list[i];
    *n_list = kept;
    if (unnamed && list && kept < DELTA_REFUSED_MAX)
        list[kept] =
            (struct delta_refused){STR("(others)"), "are not regular files, and not listed"};
    if (unnamed)
        (*n_list)++;
}

static bool any_note(const struct delta_refused *list, size_t n, struct str path)
{
    for (size_t i = 0; i < notes_kept(list, n); i++)
        if (delta_is_at_or_below(list[i].path, path))
            return true;
    return false;
}

size_t delta_only(struct delta *d, const struct str *paths, size_t n)
{
    size_t kept = 0, idle = 0;
    for (size_t p = 0; p < n; p++) {
        bool any = false;
        for (size_t i = 0; i < d->n && !any; i++)
            any = delta_is_at_or_below(d->items[i].path, paths[p]);
        idle += !any && !any_note(d->refused, d->n_refused, paths[p]) &&
                !any_note(d->left_out, d->n_left_out, paths[p]);
    }
    for (size_t i = 0; i < d->n; i++) {
        if (delta_is_wanted(d->items[i].path, paths, n))
            d->items[kept++] = d->items[i];
    }
    d->n = kept;
    only_notes(d->refused, &d->n_refused, paths, n);
    only_notes(d->left_out, &d->n_left_out, paths, n);
    return idle;
}

bool delta_is_git(struct str path)
{
    struct str part, rest = path;
    while (str_cut(rest, '/', &part, &rest))
        if (part.n == 4 && strncasecmp(part.p, ".git", 4) == 0)
            return true;
    return false;
}

const char *delta_kind_name(enum delta_kind kind)
{
    static const char *const names[] = {
        [DELTA_ADDED] = "added",
        [DELTA_DELETED] = "deleted",
        [DELTA_MODIFIED] = "modified",
        [DELTA_MODE] = "mode",
        [DELTA_TYPE] = "type",
    };
    return names[kind];
}

static int open_regular(int root_fd, const char *path)
{
    return beneath_open(
        root_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, BENEATH_NO_SYMLINKS);
}

int delta_open(int root_fd, struct str path, struct stat *ret_st)
{
    /* Use O_PATH first: opening a device or a pipe can have side effects. */
    AUTO_FD int seen = beneath_open(root_fd, path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (seen < 0 || fstat(seen, ret_st) != 0)
        return -1;
    if (!S_ISREG(ret_st->st_mode))
        return TAKE_FD(seen);
    AUTO_FD int fd = open_regular(root_fd, path.p);
    struct stat now;
    if (fd < 0 || fstat(fd, &now) != 0)
        return -1;
    if (now.st_ino != ret_st->st_ino || now.st_dev != ret_st->st_dev) {
        errno = EAGAIN;
        return -1;
    }
    *ret_st = now;
    return TAKE_FD(fd);
}

static bool delta_read_link(int fd, struct str path, struct buf *content, struct err *err)
{
    char target[DELTA_LINK_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof(target));
    if (n < 0 || n == (ssize_t)sizeof(target))
        return err_errno(
            err, E_IO, n < 0 ? errno : ENAMETOOLONG, "cannot read the link '%s'", path.p);
    buf_add(content, target, (size_t)n);
    return buf_ok(content) || err_set(err, E_IO, "'%s' is too large", path.p);
}

/* The type is known from the stamp, so no O_PATH lookup is needed. */
static int open_again(int root_fd, struct str path, const struct stamp *stamp, struct stat *ret_st)
{
    if (!S_ISREG(stamp->mode))
        return delta_open(root_fd, path, ret_st);
    AUTO_FD int fd = open_regular(root_fd, path.p);
    return fd >= 0 && fstat(fd, ret_st) == 0 ? TAKE_FD(fd) : -1;
}

bool delta_read(int root_fd, const struct delta_item *item, enum delta_side side,
    struct buf *content, struct err *err)
{
    const struct stamp *stamp = side == DELTA_OLD ? &item->old : &item->new;
    struct stat st;
    if (!stamp->ino)
        return true;
    AUTO_FD int fd = open_again(root_fd, item->path, stamp, &st);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return err_errno(err, E_IO, errno, "cannot read '%s'", item->path.p);
    if (fd < 0 || !stamp_is(stamp, &st)) {
        err_set(
            err, E_CONFLICT, "'%s' was changed while it was being read: try again", item->path.p);
        return err_ctx(err, "path", "%s", item->path.p);
    }
    if (S_ISLNK(st.st_mode))
        return delta_read_link(fd, item->path, content, err);
    if (st.st_size < ROOM_MAX && (size_t)st.st_size + 1 < content->max - content->n)
        (void)buf_reserve(content, (size_t)st.st_size + 1);
    return file_read(fd, DELTA_FILE_MAX, item->path.p, content, err);
}
