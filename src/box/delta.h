/* What differs between two trees: the one list that diff prints and apply carries out.
 *
 *     AUTO_DELTA struct delta d = DELTA_INIT;
 *     if (!upper_read(lower_fd, upper_fd, &options, &d, err)) ...
 *     for (size_t i = 0; i < d.n; i++)
 *         delta_read(upper_fd, &d.items[i], DELTA_NEW, &content, err)
 *
 * Only regular files and symbolic links are in it, as git has it: directories are there because
 * something is in them. Sorted by the bytes of the paths, each path once. `.git`, at any depth, is
 * never in it. What can't be in it (devices, sockets, pipes, names too deep) is in `refused`, for
 * the caller to say.
 *
 * Both trees are strangers' and may change while they are read: everything is opened below a
 * descriptor with links refused, and compared with what was seen before.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_DELTA_H
#define BOX_DELTA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "path/stamp.h"

enum {
    DELTA_MAX = 1000 * 1000,    /* changes */
    DELTA_REFUSED_MAX = 1000,   /* kept with their names; the rest is counted */
    DELTA_FILE_MAX = 512 << 20, /* bytes of one file that is read whole */
    DELTA_LINK_MAX = 4096,
};

enum delta_kind {
    DELTA_ADDED,
    DELTA_DELETED,
    DELTA_MODIFIED, /* the content, perhaps the mode too */
    DELTA_MODE,     /* nothing but the mode */
    DELTA_TYPE,     /* a file where a link was, or the other way round */
};

enum delta_side {
    DELTA_OLD,
    DELTA_NEW,
};

struct delta_item {
    struct str path; /* relative, NUL-terminated */
    enum delta_kind kind;
    struct stamp old; /* inode 0: nothing there */
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
    size_t n_refused; /* all of them, kept or not */
};

#define DELTA_INIT ((struct delta){.arena = ARENA_INIT((size_t)1 << 30)})
#define AUTO_DELTA AUTO(delta_done)

void delta_done(struct delta *d);

/* The path is copied. Too many of them is E_IO. */
MUST_USE bool delta_add(struct delta *d, struct str path, enum delta_kind kind,
    const struct stat *old, const struct stat *new, struct err *err);
void delta_refuse(struct delta *d, struct str path, const char *why);
void delta_sort(struct delta *d);

/* The item with this path, or NULL; the list must be sorted. */
const struct delta_item *delta_find(const struct delta *d, struct str path);

/* Leaves only what is one of these paths or lies below one, of what is refused, too. Gives how many
 * of the paths had nothing to leave. */
size_t delta_only(struct delta *d, const struct str *paths, size_t n);

/* Has a component that is `.git`, in any case, as git itself refuses it. */
bool delta_is_git(struct str path);

const char *delta_kind_name(enum delta_kind kind); /* "added" */

/* Appends a side's content: of a file its bytes, of a link where it points to. E_CONFLICT if it is
 * not what it was when the list was made. Nothing for a side that isn't there. */
MUST_USE bool delta_read(int root_fd, const struct delta_item *item, enum delta_side side,
    struct buf *content, struct err *err);

/* Opens a file or link below a root, links refused in every component: -1 and errno. A link, and
 * what is neither, is opened with O_PATH. */
int delta_open(int root_fd, struct str path, struct stat *ret_st);

#endif
