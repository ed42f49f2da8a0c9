/* Applies a box's changes to the project: all of them, or none.
 *
 *     struct apply_trees trees = {.project_fd = p, .baseline_fd = b, .upper_fd = u};
 *     AUTO_APPLY struct apply a = APPLY_INIT;
 *     if (!apply_check(&a, &trees, &delta, &options, err)) ...      nothing is written
 *     for (size_t i = 0; i < a.n; i++) ... a.rows[i] ...            planned action
 *     if (!apply_commit(&a, journal_dir, err)) ...
 *
 * A snapshot of the changes is taken before any prompt, so the box may continue to run. A change
 * fits if the project still matches the baseline: the same content, type and execute bit. If the
 * project already matches the box, there is nothing to do. Anything else is a conflict, and one
 * conflict refuses everything (E_CONFLICT); the rows name each file and the change on either side.
 * For a box without a copy the project itself is the baseline, and the manifest tells which files
 * have changed since; a file that has its old content again (change/former.h), or that only became
 * writable, has not.
 *
 * Never applied (E_FS_VIOLATION): anything in `.git`, set-user-id and set-group-id files, and
 * devices left by the box (delta.refused). Sockets and pipes are not part of the changes
 * (delta.left_out). Paths are opened beneath the project
 * without following symlinks, so that nothing is written outside of it or through a symlink. Files
 * that run without being started (change/risks.h), and symlinks that lead out, require
 * `allow_executed`; otherwise E_APPROVAL_REQUIRED, and the rows give the reason.
 *
 * As in git, only the execute bit of a mode counts: a new file gets 0666 or 0777 minus the umask,
 * an existing file keeps its mode. If we are root, a new file belongs to the owner of its
 * directory.
 *
 * The writer (path/writer.h) replaces the files, using its journal: after a crash all are old or
 * all are new. Contents are copied from file to file, not through memory. Directories are not
 * changes themselves: one that becomes a file or symlink must contain only files that the box
 * deleted, otherwise it is a conflict. Directories that become empty are removed, as git does.
 *
 * The baseline is updated as well. For a copy the same changes are written to the baseline, where
 * the box's own unmodified upper layer hides them from the box; entries that are equal in both are
 * not changes. If only the project was written, the next diff shows the changes again, and the next
 * apply finds them done and updates the baseline. Without a copy: apply_move_manifest().
 *
 * With `manifest_name` the files are recorded in `<name>.next` before the project is changed. If we
 * are killed in between, manifest_load() knows them; and for a copy, a file that we wrote to the
 * project is not a conflict even if the box has changed it again: manifest_read_next().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_APPLY_H
#define CHANGE_APPLY_H

#include "change/former.h"
#include "change/manifest.h"
#include "change/risks.h"
#include "change/saved.h"

struct apply_trees {
    int project_fd;
    int baseline_fd; /* the copy; -1: the project is the baseline, see manifest */
    int upper_fd;
    const struct manifest *manifest; /* without a copy; with one: the recorded `.next`, or NULL */
    int manifest_dir;                /* its directory, if it has a name */
    const char *manifest_name;
    int stage_dir;         /* directory inaccessible to the box, for files too large for memory */
    struct str top;        /* the project's absolute path; or no value */
    struct former *former; /* without a copy: contents that the manifest's files had; may be NULL */
};

struct apply_options {
    bool allow_executed;
};

enum apply_state {
    APPLY_FITS,
    APPLY_DONE, /* already in the project */
    APPLY_CONFLICT,
    APPLY_FORBIDDEN,
};

struct apply_row {
    const struct delta_item *item; /* the change in the box */
    enum apply_state state;
    const char *project;          /* the change in the project: "has another one", "has none" */
    const struct risks_row *acts; /* whether and how it takes effect automatically */
    struct stamp now;             /* of the project's file, or the directory in its place */
    bool barred;                  /* a parent of its path is a file or symlink */
};

struct apply {
    struct apply_trees trees;
    struct apply_row *rows; /* one per change */
    size_t n;
    size_t n_conflicts, n_forbidden, n_done;
    size_t n_executed; /* rows that need `allow_executed` */
    struct saved saved;
    struct risks risks;
};

#define APPLY_INIT ((struct apply){.rows = NULL, .saved = SAVED_INIT, .risks = RISKS_INIT})
#define AUTO_APPLY AUTO(apply_done)

/* Takes a snapshot of the changes (change/saved.h) and checks everything. The rows are also set on
 * refusal: E_CONFLICT, E_FS_VIOLATION, E_APPROVAL_REQUIRED, in that order. The delta must outlive
 * it; its new sides are updated to the snapshot. */
MUST_USE bool apply_check(struct apply *a, const struct apply_trees *trees, struct delta *delta,
    const struct apply_options *options, struct err *err);

/* Needs `allow_executed`: runs without being started, or is a symlink that leads out. */
bool apply_is_executed(const struct apply_row *row);

/* Writes the checked changes, and updates the baseline of a copy. If anything changed since the
 * check: E_CONFLICT, and nothing is written. */
MUST_USE bool apply_commit(struct apply *a, const char *journal_dir, struct err *err);

/* Makes a manifest with the current state of the applied files; `moved` must be empty. */
MUST_USE bool apply_move_manifest(
    const struct apply *a, const struct manifest *old, struct manifest *moved, struct err *err);

/* After a commit, and only if nothing runs in the box (a process could write through a mapping
 * undetected): lists files of the box's layer that now match its baseline, for upper_options.same,
 * so that they need not be read again. `old` is the previous list, or empty; `same` must be
 * empty. */
MUST_USE bool apply_same(
    const struct apply *a, const struct manifest *old, struct manifest *same, struct err *err);

void apply_done(struct apply *a);

#endif
