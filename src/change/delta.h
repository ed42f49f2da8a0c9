/* The differences between two trees: the list that diff prints and apply carries out.
 *
 *     AUTO_DELTA struct delta d = DELTA_INIT;
 *     if (!upper_read(lower_fd, upper_fd, &options, &d, err)) ...
 *     for (size_t i = 0; i < d.n; i++)
 *         delta_read(upper_fd, &d.items[i], DELTA_NEW, &content, err)
 *
 * It contains only regular files and symbolic links, as in git: directories exist only through
 * their contents. Sorted by the bytes of the paths, without duplicates. `.git`, at any depth, is
 * never in it. Sockets and named pipes, which have no content, are in `left_out`; unsupported
 * entries (devices, unreadable files, names too deep) are in `refused`, for the caller to report.
 *
 * Both trees are untrusted and may change while they are read: everything is opened beneath a
 * descriptor without following symlinks, and compared with the state seen before.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_DELTA_H
#define CHANGE_DELTA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "path/stamp.h"

enum {
    DELTA_MAX = 1000 * 1000,    /* number of changes */
    DELTA_REFUSED_MAX = 1000,   /* stored with their names; further ones are only counted */
    DELTA_FILE_MAX = 512 << 20, /* bytes; limit for reading a file into memory */
    DELTA_LINK_MAX = 4096,
};

enum delta_kind {
    DELTA_ADDED,
    DELTA_DELETED,
    DELTA_MODIFIED, /* the content, possibly also the mode */
    DELTA_MODE,     /* only the mode */
    DELTA_TYPE,     /* a file replaced by a symlink, or vice versa */
};

enum delta_side {
    DELTA_OLD,
    DELTA_NEW,
};

struct delta_item {
    struct str path; /* relative, NUL-terminated */
    enum delta_kind kind;
    struct stamp old; /* inode 0: does not exist */
    struct stamp new;
};

struct delta_refused {
    struct str path;
    const char *why; /* "is a device" */
};

struct delta {
    struct arena arena;
    struct delta_item *items;
    size_t n, cap;
    struct delta_refused *refused;
    size_t n_refused; /* all of them, stored or not */
    struct delta_refused *left_out;
    size_t n_left_out; /* the same */
};

#define DELTA_INIT ((struct delta){.arena = ARENA_INIT((size_t)1 << 30)})
#define AUTO_DELTA AUTO(delta_done)

void delta_done(struct delta *d);

/* Copies the path. E_IO if there are too many. */
MUST_USE bool delta_add(struct delta *d, struct str path, enum delta_kind kind,
    const struct stat *old, const struct stat *new, struct err *err);
void delta_refuse(struct delta *d, struct str path, const char *why);
void delta_leave_out(struct delta *d, struct str path, const char *why);
void delta_sort(struct delta *d);

/* The item with this path, or NULL; the list must be sorted. */
const struct delta_item *delta_find(const struct delta *d, struct str path);

/* Keeps only items at or below one of these paths, also of the other lists. Returns the number of
 * paths that matched nothing. */
size_t delta_only(struct delta *d, const struct str *paths, size_t n);

/* Whether a path of a tree is `dir` or below it, by whole components; "" is the top. */
bool delta_is_at_or_below(struct str path, struct str dir);

/* Has a component `.git`, ignoring case, as git itself refuses it. */
bool delta_is_git(struct str path);

const char *delta_kind_name(enum delta_kind kind); /* "added" */

/* Appends the content of one side: the bytes of a file, the target of a symlink; nothing if the
 * side does not exist. E_CONFLICT if it changed since the list was made. */
MUST_USE bool delta_read(int root_fd, const struct delta_item *item, enum delta_side side,
    struct buf *content, struct err *err);

/* Opens a file or symlink beneath a root, without following symlinks in any component; -1 and errno
 * on failure. Anything but a regular file is opened with O_PATH. */
int delta_open(int root_fd, struct str path, struct stat *ret_st);

#endif
