/* What a box changed, as diff, apply and show need it.
 *
 *     AUTO(changes_done) struct box_changes c = BOX_CHANGES_NONE;
 *     if (!changes_open(box, &c, err) || !changes_read(&c, err) ||
 *         !changes_only(cli, box, paths, n, &c, &missed, err))
 *         return false;
 *
 * Not for a box of the kind `:rw`, which keeps nothing apart.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BOX_CHANGES_H
#define CLI_BOX_CHANGES_H

#include "box/acting.h"
#include "box/box.h"
#include "box/gitpatch.h"
#include "box/manifest.h"
#include "cli/out.h"

struct box_changes {
    struct box_trees trees;
    struct delta delta;
    struct manifest manifest; /* of a box without a copy */
    struct manifest same;     /* of one with a copy: see box_load_same() */
    int host;                 /* borrowed: the box's host/ */
};

#define BOX_CHANGES_NONE \
    ((struct box_changes){BOX_TREES_NONE, DELTA_INIT, MANIFEST_INIT, MANIFEST_INIT, -1})

/* In host/: see box/box.h. */
#define CHANGES_MANIFEST "manifest"

/* The trees alone: what was cut off in them can still be made whole. Then what is in them. */
MUST_USE bool changes_open(const struct box *box, struct box_changes *c, struct err *err);
MUST_USE bool changes_read(struct box_changes *c, struct err *err);
void changes_done(struct box_changes *c);

/* What the box started from: its copy, or the project. */
int changes_old_fd(const struct box_changes *c);

/* An empty path would stand for the whole project. E_CLI_INVALID_ARG. */
MUST_USE bool changes_check_paths(const char *const *paths, size_t n, struct err *err);

/* Leaves only what is at these paths or below: absolute, or from the project's top. Those that have
 * no change are told. E_FS_VIOLATION: one is not in the project. */
MUST_USE bool changes_only(struct cli *cli, const struct box *box, const char *const *paths,
    size_t n, struct box_changes *c, struct str_list *ret_missed, struct err *err);

/* What else changed in the project since, for a box without a copy. Of a large project only what
 * the box changed, too, is looked at, since looking at all would take longer than anything else. */
MUST_USE bool changes_drift(
    const struct box_changes *c, struct delta *drift, bool *ret_all, struct err *err);

/* The whole of it, however long it takes. */
MUST_USE bool changes_drift_all(const struct box_changes *c, struct delta *drift, struct err *err);

/* What can't be shown or applied, on stderr: the first few, with their names. */
void changes_warn_refused(struct cli *cli, const struct delta *d);

/* Which of the changes act by themselves, and which links lead out, as the box's layer is now; of
 * an apply that is known from what was taken. */
MUST_USE bool changes_acting(
    const struct box *box, const struct box_changes *c, struct acting *acting, struct err *err);

/* {"path","change"} of each, and if it acts by itself {"class","reason","as","leads_out"}, too; and
 * the like for what was refused: {"path","why"}. */
json_t *changes_item(const struct delta_item *item, const struct acting_row *acts);
void changes_put_acts(json_t *object, const struct acting_row *acts);
json_t *changes_refused(const struct delta *d);

/* Text of a box for a terminal: lines and tabs stay, everything else that a terminal would obey is
 * made visible. With colours as for a patch, if they are on. */
void changes_show_patch(struct cli *cli, struct str patch);
void changes_show_stat(struct cli *cli, struct str stat);

/* What --stat prints, as wide as the terminal is; of what was taken, or of what is there now. */
MUST_USE bool changes_stat(struct cli *cli, const struct box_changes *c, const struct taken *taken,
    struct buf *text, struct err *err);

#endif
