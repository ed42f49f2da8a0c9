/* Walks a tree below a descriptor, in byte order of the paths. Directories are opened by name in
 * their parent and never through a symlink, so a concurrent swap can't lead the walk outside.
 *
 *     AUTO_WALK struct walk *w = NULL;
 *     if (!walk_open(root_fd, &(struct walk_options){.ignore = true}, &w, err)) ...
 *     const struct walk_entry *e;
 *     while ((ok = walk_next(w, &e, err)) && e)
 *         if (e->type == DT_DIR && boring)
 *             walk_skip(w);
 *
 * Entries that vanish during the walk are omitted. Directories that can't be opened are problems:
 * counted, the first ones with their paths, for the caller to judge.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WALK_H
#define PATH_WALK_H

#include "base/err.h"

#include <dirent.h>

enum {
    WALK_DEPTH_MAX = 256, /* open directories; deeper ones are a problem */
    WALK_ENTRIES_MAX = 10 * 1000 * 1000,
    WALK_PROBLEMS_KEPT = 16,
};

struct walk_problem {
    char *path;
    int errnum; /* ELOOP: deeper than WALK_DEPTH_MAX */
};

struct walk_problems {
    struct walk_problem kept[WALK_PROBLEMS_KEPT];
    size_t n; /* all of them, kept or not */
};

#define AUTO_WALK_PROBLEMS AUTO(walk_problems_done)

void walk_problems_done(struct walk_problems *problems);
void walk_problems_add(struct walk_problems *problems, struct str path, int errnum);

/* Description of the problem for messages. */
const char *walk_problem_text(const struct walk_problem *problem);

struct walk_options {
    bool ignore;                    /* omit ignored paths (path/ignore.h) */
    bool all_names;                 /* also descend into the directories of walk_closed_name() */
    size_t entries_max;             /* more is E_IO; 0: WALK_ENTRIES_MAX */
    struct walk_problems *problems; /* may be NULL; filled while walking */
    /* Called from time to time if set: true ends the walk with E_CANCELED. */
    bool (*called_off)(void *context);
    void *context;
};

struct walk_entry {
    struct str path; /* from the root, NUL-terminated; valid until the next call */
    struct str name;
    int dir_fd;         /* the open parent */
    unsigned char type; /* DT_REG, DT_DIR, DT_LNK, …, never DT_UNKNOWN */
    bool closed; /* by its name: not descended into, and omitted from listings of project files */
};

struct walk;

#define AUTO_WALK AUTO(walk_closep)

MUST_USE bool walk_open(
    int root_fd, const struct walk_options *options, struct walk **ret_walk, struct err *err);
void walk_close(struct walk *w);

static inline void walk_closep(struct walk **w)
{
    walk_close(*w);
}

/* The next entry, a directory before its contents; NULL at the end. */
MUST_USE bool walk_next(struct walk *w, const struct walk_entry **ret_entry, struct err *err);

/* Don't descend into the directory that was returned last. */
void walk_skip(struct walk *w);

/* `.git` of any type; `node_modules` and `.cordon` if they are directories. */
bool walk_closed_name(struct str name, unsigned char type);

#endif
