/* A box's changes brought into the project: all of them, or none.
 *
 *     struct apply_trees trees = {.project_fd = p, .baseline_fd = b, .upper_fd = u};
 *     AUTO_APPLY struct apply a = APPLY_INIT;
 *     if (!apply_check(&a, &trees, &delta, &options, err)) ...      nothing is written
 *     for (size_t i = 0; i < a.n; i++) ... a.rows[i] ...            what would happen
 *     if (!apply_commit(&a, journal_dir, err)) ...
 *
 * What is applied was taken before anything is asked: the box may go on. A change fits if the
 * project has what the baseline has: the same content, type and execute bit. If it
 * has what the box has already, there is nothing to do. Anything else is a conflict, and one
 * conflict refuses all (E_CONFLICT); the rows name each file and what either side did. For a box
 * without a copy the project itself is the baseline, and the manifest tells what was changed
 * meanwhile.
 *
 * Never applied (E_FS_VIOLATION): anything in `.git`, set-user-id and set-group-id files, and
 * whatever of devices, sockets and pipes the box left (delta.refused). Paths are opened below the
 * project with links refused, so that nothing lands outside of it or behind a link. What runs
 * without being started (box/acting.h), and a link that leads out, needs `allow_executed`; without
 * it E_APPROVAL_REQUIRED, and the rows say why.
 *
 * Of a mode only the execute bit counts, as in git: a new file gets 0666 or 0777 without the umask,
 * a file that is there keeps its mode.
 *
 * The writer (path/writer.h) replaces the files, with its journal: after a crash all is old or
 * new. Contents go from file to file, not through memory. A directory counts as no file: one that
 * becomes a file or link must have nothing in it but what the box deleted, or it is a conflict.
 * Directories that are empty then are removed, as git does.
 *
 * The baseline moves with it. Of a copy: the same changes are written into the baseline, where they
 * are hidden from the box by its own upper layer, which stays as it is; what is equal on both sides
 * is no change. If only the first half was done, the next diff shows the changes once more, and the
 * next apply finds them done and moves the baseline. Without a copy: apply_move_manifest().
 *
 * With `manifest_name` the files are noted in `<name>.next` before the project is changed. If we
 * are killed between the two, manifest_load() knows them; and of a copy, what the project has from
 * us is no conflict when the box has changed the same file once more: manifest_read_next().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_APPLY_H
#define BOX_APPLY_H

#include "box/acting.h"
#include "box/manifest.h"
#include "box/taken.h"

struct apply_trees {
    int project_fd;
    int baseline_fd; /* the copy; -1: the project is its own baseline, see manifest */
    int upper_fd;
    const struct manifest *manifest; /* if there is no copy; of one: what was noted, or NULL */
    int manifest_dir;                /* where it is kept, if it has a name */
    const char *manifest_name;
    int stage_dir;  /* where the box can't look, for what is too large for memory */
    struct str top; /* the project's path, absolute; or no value */
};

struct apply_options {
    bool allow_executed;
};

enum apply_state {
    APPLY_FITS,
    APPLY_DONE, /* the project has it already */
    APPLY_CONFLICT,
    APPLY_FORBIDDEN,
};

struct apply_row {
    const struct delta_item *item; /* what the box did */
    enum apply_state state;
    const char *project;           /* what the project did: "has another one", "has none" */
    const struct acting_row *acts; /* whether it acts by itself, and how */
    struct stamp now;              /* of the project's file, or the directory in its place */
    bool barred;                   /* the way to it leads through a file or link */
};

struct apply {
    struct apply_trees trees;
    struct apply_row *rows; /* one for each change */
    size_t n;
    size_t n_conflicts, n_forbidden, n_done;
    size_t n_executed; /* that need `allow_executed` */
    struct taken taken;
    struct acting acting;
};

#define APPLY_INIT ((struct apply){.rows = NULL, .taken = TAKEN_INIT, .acting = ACTING_INIT})
#define AUTO_APPLY AUTO(apply_done)

/* Takes the changes as they are now (box/taken.h) and looks at everything. The rows are there also
 * if it says no: E_CONFLICT, E_FS_VIOLATION, E_APPROVAL_REQUIRED, in that order. The delta must
 * outlive it; its new sides are as they were taken. */
MUST_USE bool apply_check(struct apply *a, const struct apply_trees *trees, struct delta *delta,
    const struct apply_options *options, struct err *err);

/* Needs `allow_executed`: it runs without being started, or is a link that leads out. */
bool apply_is_executed(const struct apply_row *row);

/* Writes what was checked, and moves the baseline of a copy. What changed since the check is
 * E_CONFLICT, and nothing is written. */
MUST_USE bool apply_commit(struct apply *a, const char *journal_dir, struct err *err);

/* A manifest in which the applied files are as they are now; `moved` must be empty. */
MUST_USE bool apply_move_manifest(
    const struct apply *a, const struct manifest *old, struct manifest *moved, struct err *err);

/* After a commit, and if nothing runs in the box, which could write through a mapping without a
 * trace: what of the box's own layer is the same as its baseline now, for upper_options.same, so
 * that it need not be read again to see that. `old` is the one of before,
 * or empty; `same` must be empty. */
MUST_USE bool apply_same(
    const struct apply *a, const struct manifest *old, struct manifest *same, struct err *err);

void apply_done(struct apply *a);

#endif
