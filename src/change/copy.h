/* A copy of a project: the baseline of a `:copy` box, changed afterwards only by apply.
 *
 *     AUTO_COPY struct copy_report report = COPY_REPORT_INIT;
 *     if (!copy_project(project_fd, target_fd, &(struct copy_options){0}, &report, err)) ...
 *
 * The target is an empty directory of ours. It receives the project's files, symlinks and
 * directories with their modes and times, also those of directories shared by a group. All belong
 * to us, so that the box can change them also if the project belongs to another user; apply keeps
 * the project's owners. Blocks are shared where the file system supports it. Files that are ignored
 * by the ignore files and not tracked by git are omitted, unless `include_ignored`. Symlinks are
 * copied, never followed. Devices, sockets, pipes and unreadable files are omitted and listed in
 * the report. Extended attributes and hard links are not preserved.
 *
 * Git: `.git` is copied, so that the history can be read, but nothing in the copy refers back to
 * the original. A `.git` that is a file (a linked work tree, a submodule) becomes a directory: the
 * part shared by all work trees, with the HEAD and index of this one; `worktrees`, `modules` and
 * the setting core.worktree are omitted. A `.git` that is a symlink is omitted. Objects borrowed
 * from another repository are not copied: for the project's own `.git` the caller handles that.
 *
 * A failed copy leaves a partial target: the caller removes it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_COPY_H
#define CHANGE_COPY_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

enum {
    COPY_FILES_MAX = 2 * 1000 * 1000,
    COPY_NOTES_MAX = 1000, /* stored with their names; further ones are only counted */
};
#define COPY_BYTES_MAX ((uint64_t)64 << 30)

struct copy_options {
    bool include_ignored;
    dev_t left_out_dev; /* a directory to omit; inode 0: none */
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
    size_t files, dirs; /* symlinks count as files */
    uint64_t bytes;
    bool shared; /* blocks are shared with the project */
    struct copy_note *notes;
    size_t n_notes; /* omitted entries except ignored ones: total, stored or not */
};

#define COPY_REPORT_INIT ((struct copy_report){.arena = ARENA_INIT(64 << 20)})
#define AUTO_COPY        AUTO(copy_report_done)

MUST_USE bool copy_project(int project_fd, int target_fd, const struct copy_options *options,
    struct copy_report *report, struct err *err);
void copy_report_done(struct copy_report *report);
void copy_report_note(struct copy_report *report, struct str path, const char *why);

#endif
