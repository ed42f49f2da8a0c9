/* The path boundary: an ordered set of roots, and the one answer to "where does this path lead,
 * and may it be used?". The check is the open: what a caller gets is a descriptor.
 *
 *     struct boundary *b = boundary_new();
 *     boundary_add(b, "/project", BOUNDARY_RO, BOUNDARY_USER_PROJECT, err);
 *     boundary_set_base(b, "/project/src", err);
 *     AUTO_FD int fd = boundary_open(b, STR("../README.md"), O_RDONLY, err);
 *
 * A path is resolved by openat2 with RESOLVE_BENEATH below a root's descriptor. What that refuses
 * (an absolute link, a path that crosses from one root into another) is resolved again step by
 * step, each link against all roots; it is followed if it stays inside them, and E_FS_VIOLATION
 * if not. The root with the longest path that holds the result decides class and access (the first
 * of equals; a system directory only where no other root holds it); one with BOUNDARY_NONE keeps
 * what is below it outside. A path
 * that does not exist yet is judged by its deepest existing ancestor. A leading "~" means the
 * home directory, and so is outside.
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
    struct str path; /* absolute, without links, NUL-terminated */
    enum boundary_access access;
    enum boundary_class class;
};

/* Where a path leads. */
struct resolved {
    const struct boundary_root *root; /* lives as long as the boundary */
    struct str path;                  /* absolute, without links, NUL-terminated */
    struct str rel;                   /* the same below the root; "" for the root itself */
    bool exists;
    struct stat st; /* if it exists */
};

#define AUTO_BOUNDARY AUTO(boundary_auto)

MUST_USE struct boundary *boundary_new(void);
void boundary_free(struct boundary *b);
void boundary_auto(struct boundary **b);

/* Adds a root: a directory that is there. At most 64 of them. */
MUST_USE bool boundary_add(struct boundary *b, const char *path, enum boundary_access access,
    enum boundary_class class, struct err *err);

/* Adds one for a directory that is open already; the descriptor stays the caller's. */
MUST_USE bool boundary_add_fd(struct boundary *b, int fd, enum boundary_access access,
    enum boundary_class class, struct err *err);

/* Adds the system's directories, read-only, with their class. */
MUST_USE bool boundary_add_system(struct boundary *b, struct err *err);

bool boundary_has_roots(const struct boundary *b);

/* Those that were added first and last; there must be one. */
const struct boundary_root *boundary_first_root(const struct boundary *b);
const struct boundary_root *boundary_last_root(const struct boundary *b);

/* What relative paths are relative to; the first root unless set. */
MUST_USE bool boundary_set_base(struct boundary *b, const char *path, struct err *err);

/* Where the path leads; the boundary must have roots. E_FS_VIOLATION (context: path, resolved,
 * class) if that is outside; E_IO if it can't be told: a loop of links, no permission, a file used
 * as a directory. */
MUST_USE bool boundary_resolve(struct boundary *b, struct str path, struct arena *a,
    struct resolved *ret_resolved, struct err *err);

/* Opens what is there with these flags (no O_CREAT, no O_TMPFILE: making files is the writer's);
 * gives the descriptor or -1. A FIFO waits for its other end, as with open(2): give O_NONBLOCK.
 * Writing needs a root with BOUNDARY_RW, anything else BOUNDARY_RO. */
MUST_USE int boundary_open(struct boundary *b, struct str path, int flags, struct err *err);

/* Opens what was resolved, unless it has been replaced by a link meanwhile. */
MUST_USE int boundary_open_resolved(const struct resolved *r, int flags, struct err *err);

/* Where an absolute path that lies in no root belongs: system or outside. */
enum boundary_class boundary_class_of(struct str absolute);

const char *boundary_class_name(enum boundary_class class);    /* "user_project" */
const char *boundary_access_name(enum boundary_access access); /* "ro" */

#endif
