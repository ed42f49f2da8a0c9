/* The path boundary: an ordered set of roots that decides where a path leads and whether it may be
 * used. The check is the open: callers get a file descriptor.
 *
 *     struct boundary *b = boundary_new();
 *     boundary_add(b, "/project", BOUNDARY_RO, BOUNDARY_USER_PROJECT, err);
 *     boundary_set_base(b, "/project/src", err);
 *     AUTO_FD int fd = boundary_open(b, STR("../README.md"), O_RDONLY, err);
 *
 * A path is resolved by openat2 with RESOLVE_BENEATH below a root's descriptor. Paths that this
 * refuses (an absolute symlink, a path that crosses from one root into another) are resolved again
 * step by step, each symlink against all roots; they are followed if they stay inside the roots,
 * and are E_FS_VIOLATION otherwise. The root with the longest path that contains the result
 * determines class and access (the first of equals; a system directory only if no other root
 * contains it); a root with BOUNDARY_NONE excludes everything below it. A path that does not exist
 * yet is judged by its deepest existing ancestor. A leading "~" means the home directory, and so is
 * outside.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_BOUNDARY_H
#define PATH_BOUNDARY_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/stat.h>

enum boundary_access {
    BOUNDARY_NONE,
    BOUNDARY_RO,
    BOUNDARY_RW,
};

enum boundary_class {
    BOUNDARY_AGENT_WORKSPACE,
    BOUNDARY_USER_PROJECT,
    BOUNDARY_SYSTEM_RESTRICTED,
    BOUNDARY_OUTSIDE,
};

struct boundary;

struct boundary_root {
    int fd;          /* O_PATH */
    struct str path; /* absolute, without symlinks, NUL-terminated */
    enum boundary_access access;
    enum boundary_class class;
};

/* The result of resolving a path. */
struct resolved {
    const struct boundary_root *root; /* lives as long as the boundary */
    struct str path;                  /* absolute, without symlinks, NUL-terminated */
    struct str rel;                   /* relative to the root; "" for the root itself */
    bool exists;
    struct stat st; /* if it exists */
};

#define AUTO_BOUNDARY AUTO(boundary_auto)

MUST_USE struct boundary *boundary_new(void);
void boundary_free(struct boundary *b);
void boundary_auto(struct boundary **b);

/* Adds a root: an existing directory. At most 64 of them. */
MUST_USE bool boundary_add(struct boundary *b, const char *path, enum boundary_access access,
    enum boundary_class class, struct err *err);

/* Adds a root for an open directory; the caller keeps ownership of the descriptor. */
MUST_USE bool boundary_add_fd(struct boundary *b, int fd, enum boundary_access access,
    enum boundary_class class, struct err *err);

/* Adds the system directories, read-only, with their class. */
MUST_USE bool boundary_add_system(struct boundary *b, struct err *err);

bool boundary_has_roots(const struct boundary *b);

/* The roots that were added first and last; there must be at least one. */
const struct boundary_root *boundary_first_root(const struct boundary *b);
const struct boundary_root *boundary_last_root(const struct boundary *b);

/* Sets the base of relative paths; the default is the first root. */
MUST_USE bool boundary_set_base(struct boundary *b, const char *path, struct err *err);

/* Resolves a path; the boundary must have roots. Fails with E_FS_VIOLATION (context: path,
 * resolved, class) if it leads outside, or with E_IO if it can't be resolved: a symlink loop, no
 * permission, a file used as a directory. */
MUST_USE bool boundary_resolve(struct boundary *b, struct str path, struct arena *a,
    struct resolved *ret_resolved, struct err *err);

/* Opens an existing path with these flags (no O_CREAT, no O_TMPFILE: creating files is the writer's
 * job); returns the descriptor or -1. A FIFO waits for its other end, as with open(2): pass
 * O_NONBLOCK. Writing needs a root with BOUNDARY_RW, anything else BOUNDARY_RO. */
MUST_USE int boundary_open(struct boundary *b, struct str path, int flags, struct err *err);

/* Opens a resolved path, unless it was replaced by a symlink in the meantime. */
MUST_USE int boundary_open_resolved(const struct resolved *r, int flags, struct err *err);

/* The class of an absolute path that is in no root: system or outside. */
enum boundary_class boundary_class_of(struct str absolute);

const char *boundary_class_name(enum boundary_class class);    /* "user_project" */
const char *boundary_access_name(enum boundary_access access); /* "ro" */

#endif
