/* Finds the places in a tree that control git, Cordon or another version control system: `.git` of
 * every kind, bare repositories, `.cordon`, `.hg` and the like. Works on file descriptors, without
 * following symlinks and without git.
 *
 *     struct repo_scan scan;
 *     scan_init(&scan, root_fd);
 *     scan_refresh(&scan);
 *     for (size_t i = 0; i < scan.n_places; i++) ... scan.places[i].path ...
 *     scan_done(&scan);
 *
 *
 * A second refresh lists only directories that have changed since the first one. After
 * scan_freeze_mounts(), file systems mounted in the tree later are not entered: a command that is
 * already running does not see them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_REPO_SCAN_H
#define REPO_REPO_SCAN_H

#include "base/arena.h"

#include <sys/types.h>
#include <time.h>

enum {
    SCAN_DIRS_MAX = 100 * 1000,
    SCAN_PLACES_MAX = 4000,
    SCAN_PATHS_MAX = 16 << 20, /* total bytes of directory paths */
    SCAN_NAMES_MAX = 2 << 20,  /* total bytes of place paths */
    SCAN_ARENA = 512 << 20,    /* address space for paths; little of it is used */
    SCAN_MOUNTS_MAX = 1000,
    SCAN_FOREIGN_MAX = 16, /* listed */
};

enum scan_kind {
    SCAN_GITDIR,  /* a directory that git accepts as a repository, or that is called .git */
    SCAN_POINTER, /* a .git file */
    SCAN_LINK,    /* a symlink .git or .cordon */
    SCAN_CORDON,  /* .cordon of any type but a symlink */
    SCAN_HG,      /* directories of other version control systems */
    SCAN_SAPLING,
    SCAN_JJ,
    SCAN_BZR,
    SCAN_DARCS,
    SCAN_PIJUL,
};

struct scan_place {
    enum scan_kind kind;
    struct str path; /* relative to the root, NUL-terminated; "" is the root itself */
    dev_t dev;       /* of a directory; otherwise 0 */
    ino_t ino;
};

struct scan_dir;

/* A mount point. */
struct scan_mount {
    struct str path; /* relative to the root */
    uint64_t id;     /* 0: any, until it has been seen */
};

struct repo_scan {
    int root;       /* borrowed */
    uint64_t mount; /* mount ID of the root */
    struct scan_mount *mounts;
    size_t n_mounts;
    struct arena ways; /* paths of mount points */
    bool fixed;
    struct arena arena; /* paths of directories */
    struct arena names; /* paths of places */
    uint64_t seed;      /* of the hash: prevents names chosen to collide in one slot */
    struct scan_dir *dirs;
    size_t n_dirs, cap_dirs, n_gone;
    size_t path_bytes, name_bytes;
    uint32_t *slots; /* directories by path; index + 1 */
    size_t n_slots;
    struct scan_place *places;
    size_t n_places, cap_places;
    bool cut;                             /* the tree could not be searched completely */
    struct str foreign[SCAN_FOREIGN_MAX]; /* mounts that were not entered */
    size_t n_foreign;
    bool forces; /* open directories whose mode denies their owner access */
};

void scan_init(struct repo_scan *s, int root_fd);
void scan_done(struct repo_scan *s);

/* From now on enters only mounts that were found or are added. */
void scan_freeze_mounts(struct repo_scan *s);
void scan_add_mount(struct repo_scan *s, struct str path);

/* Opens a directory of the tree; refuses symlinks, and mounts that must not be entered (EXDEV). For
 * `force`, see force_open(). */
MUST_USE int scan_open(const struct repo_scan *s, struct str path, bool force);

/* Finds the places as they are now; invalidates the earlier places and their paths. */
void scan_refresh(struct repo_scan *s);

/* Does the same, and makes the present mounts the ones to enter from now on. */
void scan_learn(struct repo_scan *s);

/* Does the same for the directories on the way to a path only, and for their `.git`. */
void scan_path(struct repo_scan *s, struct str path);

/* Finds the next directory that contains symlinks, starting at index *at; false: none left. */
bool scan_next_linked(const struct repo_scan *s, size_t *at, struct str *ret_path);

/* Returns the place at this path, or NULL. */
const struct scan_place *scan_find(const struct repo_scan *s, struct str path);

#endif
