/* Applying the changes of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_apply.h"

#include "box/state.h"
#include "config/boxes.h"
#include "config/config.h"

static bool box_apply_read(struct box_apply *a, struct err *err)
{
    return applying_open(&a->x, a->box, err) &&
           (a->dry_run || config_box_recover(a->arena, a->box, a->warnings, err)) &&
           applying_read(&a->x, a->paths, a->n, a->arena, err);
}

/* The box may run, also commands of `exec`: they cannot change the copy that will be applied. */
static bool box_apply_ask(struct box_apply *a, struct err *err)
{
    struct box_state state;
    if (!state_runs(a->box->host, a->arena, &state, &a->x.running, err))
        return false;
    bool agent = state.status == BOX_RUNNING || state.status == BOX_IDLE;
    return !a->agree || a->agree(a->context, agent, err);
}

static bool box_apply_checked(struct box_apply *a, struct err *err)
{
    const char *journal;
    a->end = a->x.apply.n == 0 ? BOX_APPLY_NOTHING : BOX_APPLY_DRY;
    if (a->x.apply.n == 0)
        return a->dry_run || applying_forget(&a->x, err);
    if (!box_apply_ask(a, err))
        return false;
    if (a->dry_run)
        return true;
    a->end = BOX_APPLY_APPLIED;
    return config_state_path(a->arena, "journal", &journal, err) &&
           applying_commit(&a->x, journal, a->arena, err);
}

static bool box_apply_is_refusal(enum err_code code)
{
    return code == E_CONFLICT || code == E_FS_VIOLATION || code == E_APPROVAL_REQUIRED;
}

bool box_apply_run(struct box_apply *a, struct err *err)
{
    const struct apply_options options = {.allow_executed = a->allow_executed};
    a->x.box = a->box;
    a->end = BOX_APPLY_IN_PLACE;
    if (a->box->meta.workdir.mode == BOX_RW)
        return true;
    if (!box_apply_read(a, err))
        return false;
    if (applying_check(&a->x, &options, &a->why))
        return box_apply_checked(a, err);
    a->end = BOX_APPLY_REFUSED;
    return box_apply_is_refusal(a->why.code) || err_move(err, &a->why);
}

void box_apply_done(struct box_apply *a)
{
    applying_done(&a->x);
    err_done(&a->why);
}

json_t *box_apply_json(const struct box_apply *a)
{
    if (a->end == BOX_APPLY_REFUSED)
        return applying_refusal_json(&a->x);
    bool none = a->end == BOX_APPLY_IN_PLACE;
    return applying_result_json(a->box, none ? NULL : &a->x, !none && a->dry_run);
}
