/* The places in a tree that steer git, Cordon or another version control system: `.git` of every
 * kind, bare repositories, `.cordon`, `.hg` and the like. Found by descriptors, links not followed,
 * without git.
 *
 *     struct scan scan;
 *     scan_init(&scan, root_fd);
 *     scan_refresh(&scan);
 *     for (size_t i = 0; i < scan.n_places; i++) ... scan.places[i].path ...
 *     scan_done(&scan);
 *
 * A second refresh lists only directories that have changed since the first one. After scan_fix(),
 * file systems that are mounted in the tree later are not entered: a command that runs meanwhile
 * does not see them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SCAN_H
#define REPO_SCAN_H

#include "base/arena.h"

#include <sys/types.h>
#include <time.h>

enum {
    SCAN_DIRS_MAX = 100 * 1000,
    SCAN_PLACES_MAX = 4000,
    SCAN_PATHS_MAX = 16 << 20, /* bytes of the paths of all directories */
    SCAN_NAMES_MAX = 2 << 20,  /* bytes of the paths of all places */
    SCAN_ARENA = 512 << 20,    /* paths; little of it is used */
    SCAN_MOUNTS_MAX = 1000,
    SCAN_FOREIGN_MAX = 16, /* named */
};

enum scan_kind {
    SCAN_GITDIR,  /* a directory that git takes for a repository, or that is called .git */
    SCAN_POINTER, /* a file .git */
    SCAN_LINK,    /* a symbolic link .git or .cordon */
    SCAN_CORDON,  /* .cordon, as anything but a link */
    SCAN_HG,      /* directories of other systems */
    SCAN_SAPLING,
    SCAN_JJ,
    SCAN_BZR,
    SCAN_DARCS,
    SCAN_PIJUL,
};

struct scan_place {
    enum scan_kind kind;
    struct str path; /* from the root, NUL-terminated; "" is the root itself */
    dev_t dev;       /* of a directory; 0 otherwise */
    ino_t ino;
};

struct scan_dir;

/* A directory at which a mount begins. */
struct scan_mount {
    struct str path; /* from the root */
    uint64_t id;     /* 0: any, until it was seen */
};

struct scan {
    int root;       /* borrowed */
    uint64_t mount; /* of the root */
    struct scan_mount *mounts;
    size_t n_mounts;
    struct arena ways; /* paths of mounts */
    bool fixed;
    struct arena arena; /* paths of directories */
    struct arena names; /* paths of places */
    uint64_t seed;      /* of the hash: nobody can choose names that meet in one slot */
    struct scan_dir *dirs;
    size_t n_dirs, cap_dirs, n_gone;
    size_t path_bytes, name_bytes;
    uint32_t *slots; /* directories by path; index plus 1 */
    size_t n_slots;
    struct scan_place *places;
    size_t n_places, cap_places;
    bool cut;                             /* not all of the tree was looked at */
    struct str foreign[SCAN_FOREIGN_MAX]; /* mounts that were not entered */
    size_t n_foreign;
    bool forces; /* directories that are closed to their owner are opened */
};

void scan_init(struct scan *s, int root_fd);
void scan_done(struct scan *s);

/* From now on no other mounts are entered than those that were found or are added. */
void scan_fix(struct scan *s);
void scan_add_mount(struct scan *s, struct str path);

/* Opens a directory of the tree; links, and mounts that are not entered, are refused (EXDEV).
 * `force`: see force_open(). */
MUST_USE int scan_open(const struct scan *s, struct str path, bool force);

/* Finds the places as they are now; those of before, with their paths, are gone. */
void scan_refresh(struct scan *s);

/* The same, and the mounts that are there now are those that are entered from now on. */
void scan_learn(struct scan *s);

/* The same of the directories that hold a path, and of their `.git` only. */
void scan_way(struct scan *s, struct str path);

/* The next directory that has links in it, from the one with this number; false: there is none. */
bool scan_linked(const struct scan *s, size_t *at, struct str *ret_path);

/* The place at this path, or NULL. */
const struct scan_place *scan_at(const struct scan *s, struct str path);

#endif
