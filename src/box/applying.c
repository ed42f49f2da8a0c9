/* Applying the changes of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/applying.h"

#include "box/state.h"
#include "path/exact.h"

void applying_done(struct applying *x)
{
    apply_done(&x->apply);
    former_done(&x->former);
    changes_done(&x->changes);
}

bool applying_open(struct applying *x, const struct box *box, struct err *err)
{
    x->box = box;
    if (!changes_open(box, &x->changes, err))
        return false;
    if (x->changes.trees.project >= 0)
        return true;
    err_set(err, E_NOT_FOUND, "the project '" STR_FMT "' no longer exists",
        STR_ARG(box->meta.workdir.host_path));
    return err_ctx(err, "remedy",
        "cordon box diff " STR_FMT " | git apply, in the new location of the project",
        STR_ARG(box->name));
}

static bool refuse_missed(const struct box *box, const struct str_list *missed, struct err *err)
{
    if (missed->n == 0)
        return true;
    err_set(err, E_NOT_FOUND,
        "'" STR_FMT
        "': the box has no changes there, so nothing was applied (paths are relative to '" STR_FMT
        "')",
        STR_ARG(missed->p[0]), STR_ARG(box->meta.workdir.host_path));
    return err_ctx(err, "path", STR_FMT, STR_ARG(missed->p[0]));
}

bool applying_read(
    struct applying *x, const char *const *paths, size_t n, struct arena *arena, struct err *err)
{
    struct str_list missed;
    return changes_read(&x->changes, err) &&
           changes_only(x->box, paths, n, arena, &x->changes, &missed, err) &&
           refuse_missed(x->box, &missed, err);
}

bool applying_check(struct applying *x, const struct apply_options *options, struct err *err)
{
    const struct box *box = x->box;
    const struct box_trees *t = &x->changes.trees;
    const struct apply_trees trees = {t->project, t->baseline, t->upper, &x->changes.manifest,
        box->host, CHANGES_MANIFEST, box->host, box->meta.workdir.host_path, &x->former};
    if (t->baseline < 0)
        former_load(box->host, &x->former);
    return apply_check(&x->apply, &trees, &x->changes.delta, options, err);
}

/* Only a cache: without it the files are read again. */
static void remember_same(struct applying *x, struct arena *arena)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_MANIFEST struct manifest same = MANIFEST_INIT;
    struct box_state state;
    bool running = true;
    if (x->running || !state_load(x->box->host, arena, &state, &running, &ignored) || running)
        return;
    if (apply_same(&x->apply, &x->changes.same, &same, &ignored))
        (void)!manifest_write(&same, x->box->host, BOX_SAME, &ignored);
}

bool applying_commit(struct applying *x, const char *journal, struct arena *arena, struct err *err)
{
    AUTO_MANIFEST struct manifest moved = MANIFEST_INIT;
    if (!apply_commit(&x->apply, journal, err))
        return false;
    if (x->changes.trees.baseline >= 0) {
        remember_same(x, arena);
        return true;
    }
    return (apply_move_manifest(&x->apply, &x->changes.manifest, &moved, err) &&
               manifest_write(&moved, x->box->host, CHANGES_MANIFEST, err)) ||
           err_wrap(err,
               "the changes were applied, but the manifest could not be updated; the next apply "
               "retries this");
}

bool applying_forget(struct applying *x, struct err *err)
{
    return x->changes.trees.baseline < 0 || !x->changes.manifest.n ||
           apply_commit(&x->apply, "", err);
}

/* Rows ---------------------------------------------------------------------------------------- */

bool applying_runs(const struct apply_row *row)
{
    return row->state == APPLY_FITS && row->acts->class == SELFRUN_RUNS;
}

bool applying_steers(const struct apply_row *row)
{
    return row->state == APPLY_FITS && row->acts->class == SELFRUN_STEERS;
}

bool applying_leads_out(const struct apply_row *row)
{
    return row->state == APPLY_FITS && row->acts->leads_out;
}

bool applying_conflicts(const struct apply_row *row)
{
    return row->state == APPLY_CONFLICT;
}

bool applying_forbidden(const struct apply_row *row)
{
    return row->state == APPLY_FORBIDDEN;
}

bool applying_applied(const struct apply_row *row)
{
    return row->state == APPLY_FITS || row->state == APPLY_DONE;
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *applying_row_json(const struct apply_row *row)
{
    json_t *object = changes_item(row->item, row->acts);
    if (row->state == APPLY_CONFLICT)
        json_put(object, "project", json_text(str_trim_end(str_z(row->project), ',')));
    if (row->state == APPLY_DONE)
        json_put(object, "already", json_true());
    return object;
}

static json_t *applying_rows_json(
    const struct apply *a, bool (*wanted)(const struct apply_row *row))
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->n; i++)
        if (wanted(&a->rows[i]))
            json_push(list, applying_row_json(&a->rows[i]));
    return list;
}

json_t *applying_refusal_json(const struct applying *x)
{
    const struct apply *a = &x->apply;
    json_t *more = json_object();
    json_put(more, "conflicts", applying_rows_json(a, applying_conflicts));
    json_put(more, "forbidden", applying_rows_json(a, applying_forbidden));
    json_put(more, "refused", changes_refused(&x->changes.delta));
    json_put(more, "left_out", changes_left_out(&x->changes.delta));
    json_put(more, "executed", applying_rows_json(a, apply_is_executed));
    json_put(more, "steering", applying_rows_json(a, applying_steers));
    return more;
}

json_t *applying_result_json(const struct box *box, const struct applying *x, bool dry)
{
    json_t *object = json_object();
    json_put(object, "name", json_text(box->name));
    exact_put(object, "workdir", box->meta.workdir.host_path);
    json_put(object, "dry_run", json_boolean(dry));
    json_put(object, dry ? "would_apply" : "applied",
        x ? applying_rows_json(&x->apply, applying_applied) : json_array());
    json_put(object, "left_out", x ? changes_left_out(&x->changes.delta) : json_array());
    return object;
}
