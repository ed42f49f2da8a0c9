/* Changes of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_diff.h"

#include "box/git_diff.h"
#include "config/boxes.h"
#include "path/exact.h"
#include "path/lexical.h"

enum {
    ROUNDS = 5,
};

bool box_diff_read(struct box_diff *d, struct err *err)
{
    return changes_open(d->box, &d->changes, err) && changes_read(&d->changes, err) &&
           changes_only(d->box, d->paths, d->n, d->arena, &d->changes, &d->missed, err) &&
           changes_drift(&d->changes, &d->drift, &d->drift_is_whole, err);
}

void box_diff_done(struct box_diff *d)
{
    changes_done(&d->changes);
    delta_done(&d->drift);
    free(d->counts);
    *d = BOX_DIFF_INIT(d->arena, d->box, d->paths, d->n);
}

void box_diff_count(struct box_diff *d)
{
    d->counts = base_alloc((d->changes.delta.n + 1) * sizeof(*d->counts));
}

bool box_diff_retry(bool (*attempt)(void *context, struct err *err), void (*again)(void *context),
    void *context, struct err *err)
{
    for (int round = 1; !attempt(context, err); round++) {
        if (err->code != E_CONFLICT || round == ROUNDS)
            return false;
        err_done(err);
        if (again)
            again(context);
    }
    return true;
}

/* JSON ---------------------------------------------------------------------------------------- */

static void box_diff_put_missed(const struct box_diff *d, json_t *object)
{
    json_put(object, "missed", json_array());
    for (size_t i = 0; i < d->missed.n; i++)
        exact_push(object, "missed", d->missed.p[i]);
}

bool box_diff_json(struct box_diff *d, bool whole, json_t **ret_object, struct err *err)
{
    box_diff_count(d);
    const struct changes_diff diff = {d->box, &d->changes, &d->drift, d->counts, whole};
    if (!changes_diff_json(&diff, ret_object, err))
        return false;
    box_diff_put_missed(d, *ret_object);
    return true;
}

static bool box_diff_run_git(
    const struct box_diff *d, enum git_diff_form form, struct buf *text, struct err *err)
{
    const struct git_diff what = {form, d->paths, d->n};
    return git_diff(d->box, &what, d->arena, text, err);
}

/* Whether the list of letters and paths, each NUL-terminated, has a path at or below this one. */
static bool box_diff_git_has(struct str status, struct str path)
{
    struct str letter, at;
    while (
        status.n && str_cut(status, '\0', &letter, &status) && str_cut(status, '\0', &at, &status))
        if (path.n == 0 || str_eq(at, path) ||
            (at.n > path.n && at.p[path.n] == '/' && str_starts_with(at, path)))
            return true;
    return false;
}

static void box_diff_git_missed(struct box_diff *d, struct str status)
{
    struct str top = d->box->meta.workdir.host_path;
    d->missed = (struct str_list){ARENA_NEW(d->arena, struct str, d->n + 1), 0};
    for (size_t i = 0; i < d->n; i++) {
        struct str path = lexical_absolute(d->arena, top, str_z(d->paths[i]));
        if (!lexical_is_below(top, path) || !box_diff_git_has(status, lexical_rest(top, path)))
            d->missed.p[d->missed.n++] = str_z(d->paths[i]);
    }
}

bool box_diff_git_json(struct box_diff *d, bool whole, json_t **ret_object, struct err *err)
{
    AUTO_BUF struct buf status = BUF_INIT(GIT_DIFF_MAX), patch = BUF_INIT(GIT_DIFF_MAX);
    if (!box_diff_run_git(d, GIT_DIFF_STATUS, &status, err) ||
        (whole && !box_diff_run_git(d, GIT_DIFF_PATCH, &patch, err)))
        return false;
    json_t *object = changes_json(d->box);
    json_put(object, "changes", git_diff_changes(buf_str(&status)));
    json_put(object, "refused", json_array());
    json_put(object, "drift", json_array());
    box_diff_git_missed(d, buf_str(&status));
    box_diff_put_missed(d, object);
    if (whole)
        changes_put_patch(object, buf_str(&patch));
    *ret_object = object;
    return true;
}

struct box_diff_attempt {
    struct box_diff *d;
    bool whole;
    json_t *object;
};

static bool box_diff_try(void *context, struct err *err)
{
    struct box_diff_attempt *x = context;
    return box_diff_read(x->d, err) && box_diff_json(x->d, x->whole, &x->object, err);
}

static void box_diff_again(void *context)
{
    struct box_diff_attempt *x = context;
    box_diff_done(x->d);
}

bool box_diff_object(
    struct box_diff *d, bool whole, struct notices warnings, json_t **ret_object, struct err *err)
{
    struct box_diff_attempt x = {d, whole, NULL};
    if (d->box->meta.workdir.mode == BOX_RW)
        return box_diff_git_json(d, whole, ret_object, err);
    if (!config_box_recover(d->arena, d->box, warnings, err) ||
        !box_diff_retry(box_diff_try, box_diff_again, &x, err))
        return false;
    *ret_object = x.object;
    return true;
}
