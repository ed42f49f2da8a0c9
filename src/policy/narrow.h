/* Shows directories of the home directory without the files of policy/home_table.h that hold
 * secrets.
 *
 *     struct narrow n;
 *     narrow_init(&n, home, &arena);
 *     switch (narrow_path(&n, path, &parts)) { ... }
 *
 * A directory with such a file is never mounted: only its other entries are, one by one, and its
 * symlinks are made again. So the file stays hidden also if it is replaced while a command runs, by
 * rename or otherwise. A file that is created there later, where there was none, is in a directory
 * that may be mounted: it stays visible until the next start.
 *
 * Only the places of the table are looked up; nothing is walked.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_NARROW_H
#define POLICY_NARROW_H

#include "base/arena.h"
#include "base/field.h"

/* A file or directory that stays hidden. */
struct narrow_hidden {
    struct str path; /* without symlinks */
    const char *reason;
    bool used; /* a shown directory contains it */
};

/* A symlink between shown paths. */
struct narrow_link {
    struct str at, target; /* NUL-terminated */
};

struct narrow {
    struct arena *arena;
    struct str home; /* resolved; no value: nothing is hidden */
    struct narrow_hidden *hidden;
    size_t n_hidden, cap_hidden;
    struct narrow_link *links;
    size_t n_links, cap_links;
    size_t seen;  /* entries of directories that were looked at */
    size_t parts; /* that were returned */
};

enum narrow_answer {
    NARROW_WHOLE,    /* nothing in it is hidden */
    NARROW_PARTS,    /* only these parts of it, and symlinks, may be shown */
    NARROW_HIDDEN,   /* nothing of it may be shown */
    NARROW_TOO_MANY, /* the same: it has too many parts */
};

/* Finds the hidden files that exist. `home` may be NULL. */
void narrow_init(struct narrow *n, const char *home, struct arena *arena);

/* Narrows an absolute, clean path of an existing file or directory. The parts are resolved paths. A
 * path that leads through symlinks to a narrowed directory becomes a symlink. */
enum narrow_answer narrow_path(struct narrow *n, struct str path, struct str_list *ret_parts);

/* A list without what is hidden: each path, or its parts. */
struct str_list narrow_list(struct narrow *n, struct str_list list);

/* Marks hidden files below a directory as used. */
void narrow_use(struct narrow *n, struct str dir);

/* The number of hidden files that are used, moved to the front. */
size_t narrow_used(struct narrow *n);

#endif
