/* A copy of a project: what a box of the kind `:copy` starts from, and nothing writes any more.
 *
 *     AUTO_COPY struct copy_report report = COPY_REPORT_INIT;
 *     if (!copy_project(project_fd, target_fd, &(struct copy_options){0}, &report, err)) ...
 *
 * The target is an empty directory of ours. In it are then the project's files, links and
 * directories with their modes and times (as root with their owners); blocks are shared where the
 * file system can do that. What is ignored by the ignore files and not tracked by git is left out,
 * unless `include_ignored`. Nothing is followed: links are copied as they are. Devices, sockets,
 * pipes and what can't be read are left out, and said in the report. Attributes and hard links are
 * not kept.
 *
 * Git: `.git` comes along, so that the history can be read, but nothing in the copy leads back. A
 * `.git` that is a file (a linked work tree, a submodule) becomes a directory: what all work trees
 * share, and the HEAD and index of this one; `worktrees`, `modules` and the setting core.worktree
 * stay behind. A `.git` that is a link is left out.
 *
 * A copy that failed leaves a part of itself: the caller removes the target.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_COPY_H
#define BOX_COPY_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

enum {
    COPY_FILES_MAX = 2 * 1000 * 1000,
    COPY_NOTES_MAX = 1000, /* kept with their names; the rest is counted */
};
#define COPY_BYTES_MAX ((uint64_t)64 << 30)

struct copy_options {
    bool include_ignored;
    dev_t left_out_dev; /* a directory that is not copied; inode 0: none */
    ino_t left_out_ino;
    size_t files_max;   /* 0: COPY_FILES_MAX */
    uint64_t bytes_max; /* 0: COPY_BYTES_MAX */
};

struct copy_note {
    struct str path;
    const char *why; /* "is a socket" */
};

struct copy_report {
    struct arena arena;
    size_t files, dirs; /* links count as files */
    uint64_t bytes;
    bool shared; /* blocks are shared with the project */
    struct copy_note *notes;
    size_t n_notes; /* what was left out, apart from what is ignored: all, kept or not */
};

#define COPY_REPORT_INIT ((struct copy_report){.arena = ARENA_INIT(64 << 20)})
#define AUTO_COPY        AUTO(copy_report_done)

MUST_USE bool copy_project(int project_fd, int target_fd, const struct copy_options *options,
    struct copy_report *report, struct err *err);
void copy_report_done(struct copy_report *report);

#endif
