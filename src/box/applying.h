/* Applying the changes of a box to its project.
 *
 *     AUTO(applying_done) struct applying x = APPLYING_INIT;
 *     if (!applying_open(&x, &box, err) || !recover(&box, err) ||
 *         !applying_read(&x, paths, n, &arena, err) || !applying_check(&x, &options, &why))
 *         ...
 *     if (x.apply.n && agreed) ok = applying_commit(&x, journal, &arena, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_APPLYING_H
#define BOX_APPLYING_H

#include "box/changes.h"
#include "change/apply.h"

struct applying {
    const struct box *box;
    struct box_changes changes;
    struct apply apply;
    struct former former; /* for boxes without a copy */
    bool running;         /* an agent or a command is running in the box: set by the caller */
};

#define APPLYING_INIT \
    ((struct applying){.changes = BOX_CHANGES_NONE, .apply = APPLY_INIT, .former = FORMER_INIT})

/* Opens the trees. E_NOT_FOUND if the project is gone. */
MUST_USE bool applying_open(struct applying *x, const struct box *box, struct err *err);
/* Reads the changes at or below these paths. E_NOT_FOUND if there are none at one of them. */
MUST_USE bool applying_read(
    struct applying *x, const char *const *paths, size_t n, struct arena *arena, struct err *err);
/* Saves the changes where the box can't reach them, and compares them with the project. */
MUST_USE bool applying_check(
    struct applying *x, const struct apply_options *options, struct err *err);
MUST_USE bool applying_commit(
    struct applying *x, const char *journal, struct arena *arena, struct err *err);
/* If there is nothing to apply: clears the note left by an interrupted apply. */
MUST_USE bool applying_forget(struct applying *x, struct err *err);
void applying_done(struct applying *x);

/* Classes of rows. */
bool applying_runs(const struct apply_row *row);   /* runs without being started */
bool applying_steers(const struct apply_row *row); /* controls builds or agents */
bool applying_leads_out(const struct apply_row *row);
bool applying_conflicts(const struct apply_row *row);
bool applying_forbidden(const struct apply_row *row);
bool applying_applied(const struct apply_row *row);

/* Why nothing was applied, by class, and the result. `a` may be NULL: nothing. */
MUST_USE json_t *applying_refusal_json(const struct applying *x);
MUST_USE json_t *applying_result_json(const struct box *box, const struct applying *x, bool dry);

#endif
