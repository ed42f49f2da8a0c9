/* The list of files to copy, collected before anything is written. Only for copy.c.
 *
 *     AUTO(copy_list_done) struct copy_list list = {.arena = ARENA_INIT(..)};
 *     copy_list_project(&list, project_fd, err)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_COPY_LIST_H
#define CHANGE_COPY_LIST_H

#include "change/copy.h"

#include <sys/stat.h>

enum {
    COPY_SOURCES_MAX = 256, /* the project and each git directory in it */
};

struct copy_job {
    int from_fd;     /* base of `from`; owned by the list */
    struct str from; /* NUL-terminated, as is `to` */
    struct str to;
    mode_t mode;   /* including the type */
    int errnum;    /* result of the copy */
    bool settings; /* a git config from another location: some lines are dropped */
    uint64_t size;
};

struct copy_dir {
    struct str to;
    mode_t mode;
    struct timespec mtime;
};

/* A work tree: the project or one nested in it. */
struct copy_tree {
    struct str prefix; /* its path with trailing '/'; "" for the project */
    struct str above;  /* project's path in a work tree that begins further up, with a '/'; or "" */
    int git_fd;        /* directory of its index; owned by the list */
};

struct copy_list {
    struct arena arena;
    const struct copy_options *options;
    struct copy_report *report;
    int sources[COPY_SOURCES_MAX];
    size_t n_sources;
    struct copy_tree trees[COPY_SOURCES_MAX];
    size_t n_trees;
    struct copy_job *jobs;
    size_t n_jobs, cap_jobs;
    struct copy_dir *dirs; /* parents first; may contain duplicates */
    size_t n_dirs, cap_dirs;
    uint64_t bytes;
};

MUST_USE bool copy_list_project(struct copy_list *list, int project_fd, struct err *err);
void copy_list_done(struct copy_list *list);

void copy_list_note(struct copy_list *list, struct str path, const char *why);

/* Adds the git directory of a work tree: dir_fd contains `.git`, prefix is its path with a '/'. */
MUST_USE bool copy_git(struct copy_list *list, int dir_fd, struct str prefix, struct err *err);

/* For copy_git.c. */
MUST_USE bool copy_list_add(struct copy_list *list, int from_fd, struct str from, struct str to,
    const struct stat *st, struct err *err);
MUST_USE bool copy_list_add_dir(
    struct copy_list *list, struct str to, const struct stat *st, struct err *err);
/* Keeps a descriptor until copy_list_done(); -1 and an error if there are too many. */
int copy_list_keep(struct copy_list *list, int fd, struct err *err);
struct str copy_list_join(struct copy_list *list, struct str prefix, struct str path);

#endif
