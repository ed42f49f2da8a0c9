/* Changes made by a box, for diff, apply and show.
 *
 *     AUTO(changes_done) struct box_changes c = BOX_CHANGES_NONE;
 *     if (!changes_open(box, &c, err) || !changes_read(&c, err) ||
 *         !changes_only(box, paths, n, &arena, &c, &missed, err))
 *         return false;
 *
 * Not for `:rw` boxes, which have no separate layer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_CHANGES_H
#define BOX_CHANGES_H

#include "base/json.h"
#include "box/box.h"
#include "change/gitpatch.h"
#include "change/manifest.h"
#include "change/risks.h"

struct box_changes {
    struct box_trees trees;
    struct delta delta;
    struct manifest manifest; /* for boxes without a copy */
    struct manifest same;     /* for boxes with a copy: see box_load_same() */
    int host;                 /* borrowed: the box's host/ */
};

#define BOX_CHANGES_NONE \
    ((struct box_changes){BOX_TREES_NONE, DELTA_INIT, MANIFEST_INIT, MANIFEST_INIT, -1})

/* In host/: see box/box.h. */
#define CHANGES_MANIFEST "manifest"

/* changes_open() only opens the trees, so that an interrupted change in them can be recovered
 * before changes_read() reads them. */
MUST_USE bool changes_open(const struct box *box, struct box_changes *c, struct err *err);
MUST_USE bool changes_read(struct box_changes *c, struct err *err);
void changes_done(struct box_changes *c);

/* Tree that the box started from: its copy, or the project. */
int changes_old_fd(const struct box_changes *c);

/* Fails with E_CLI_INVALID_ARG if a path is empty: it would mean the whole project. */
MUST_USE bool changes_check_paths(const char *const *paths, size_t n, struct err *err);

/* Keeps only changes at or below these paths, which are absolute or relative to the project's root.
 * Paths without changes are returned in ret_missed. Fails with E_FS_VIOLATION if a path is outside
 * the project. */
MUST_USE bool changes_only(const struct box *box, const char *const *paths, size_t n,
    struct arena *arena, struct box_changes *c, struct str_list *ret_missed, struct err *err);

/* Other changes to the project since the box was made, for boxes without a copy. In a large project
 * only files that the box also changed are compared, since a complete comparison would take too
 * long; *ret_all tells which. */
MUST_USE bool changes_drift(
    const struct box_changes *c, struct delta *drift, bool *ret_all, struct err *err);

/* Compares the whole project, however long it takes. */
MUST_USE bool changes_drift_all(const struct box_changes *c, struct delta *drift, struct err *err);

/* Finds changes that take effect automatically and symlinks that point out of the project, in the
 * box's layer as it is now. (apply classifies its own copy of the changes instead.) */
MUST_USE bool changes_risks(
    const struct box *box, const struct box_changes *c, struct risks *risks, struct err *err);

/* changes_item() returns {"path","change"}, with {"class","reason","as","leads_out"} added for
 * changes that take effect automatically. changes_refused() and changes_left_out() return a list of
 * {"path","why"}. */
json_t *changes_item(const struct delta_item *item, const struct risks_row *acts);
void changes_put_acts(json_t *object, const struct risks_row *acts);
json_t *changes_refused(const struct delta *d);
json_t *changes_left_out(const struct delta *d);

/* Name, mode and directory of a box as a new object, to which changes are added. */
MUST_USE json_t *changes_json(const struct box *box);
/* Adds "patch". Files need not be UTF-8; such a patch is "patch_base64". */
void changes_put_patch(json_t *object, struct str patch);

struct changes_diff {
    const struct box *box;
    const struct box_changes *changes;
    const struct delta *drift;
    struct gitpatch_count *counts; /* receives one for each change */
    bool whole;                    /* with the patch */
};

/* All changes with their counts, risks and drift. */
MUST_USE bool changes_diff_json(const struct changes_diff *d, json_t **ret_object, struct err *err);

/* Output of --stat with this many columns, for the copy that apply took or, if `saved` is NULL,
 * for the box's current files. */
MUST_USE bool changes_stat(const struct box_changes *c, const struct saved *saved, size_t columns,
    struct buf *text, struct err *err);

#endif
