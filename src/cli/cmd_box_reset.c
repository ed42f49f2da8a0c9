/* cordon box reset: restore a box to its initial state. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/reset.h"
#include "box/trash.h"
#include "boxd/client.h"
#include "cli/box_cmds.h"

struct reset_args {
    bool clean, no_prompt, yes, abandon;
};

static bool box_reset_confirm(struct cli *cli, const struct box_use *use,
    const struct reset_args *o, bool running, struct err *err)
{
    const char *act = arena_printf(cli->arena, "Reset '" STR_FMT "'", STR_ARG(use->box.name));
    return box_use_risk(cli,
        &(struct box_risk){.act = act, .running = running, .abandon = o->abandon, .yes = o->yes},
        err);
}

/* Resets the state to that of a new box, but keeps the number of its last recording. */
static bool forget_run(const struct box *box, const struct box_state *state, struct err *err)
{
    if (!state->run && !state->started_at.n)
        return true;
    return state_save(box->host,
        &(struct box_state){.exit_code = -1, .run = state->run, .agent = state->agent}, err);
}

static bool box_reset_restore(struct cli *cli, const struct box_use *use,
    const struct reset_args *o, bool *ret_started, struct err *err)
{
    const struct box *box = &use->box;
    struct box_state state;
    bool running;
    AUTO_FD int hold = -1;
    if (!state_load(box->host, cli->arena, &state, &running, err) ||
        !config_box_recover(cli->arena, box, out_notices(cli), err) ||
        (!o->abandon && !reset_refuse_loss(box, "resetting", err)) ||
        !box_reset_confirm(cli, use, o, running, err) || !client_halt(box, &hold, err) ||
        !reset_box(&use->boxes, box, &(struct reset_options){.clean = o->clean}, err) ||
        !forget_run(box, &state, err))
        return false;
    *ret_started = state.agent;
    close(TAKE_FD(hold));
    return !state.agent || box_use_start(box, !o->no_prompt, err);
}

static bool run_reset(struct cli *cli, const struct args *args, struct err *err)
{
    const struct reset_args *o = args->options;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    bool started = false;
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_CHANGE, &use, err) ||
        !box_reset_restore(cli, &use, o, &started, err))
        return false;
    trash_empty_soon(&use.boxes);
    bool real = use.box.meta.workdir.mode == BOX_RW;
    if (!cli->json) {
        if (real)
            out_warn(cli, "the box changes '" STR_FMT "' itself: changes made there are kept",
                STR_ARG(use.box.meta.workdir.host_path));
        out_note(cli, "box '%s' reset to its initial state%s", args->v[0],
            started ? "; its agent was restarted" : "");
        return true;
    }
    json_t *object = json_object();
    json_put(object, "name", json_string(args->v[0]));
    json_put(object, "started", json_boolean(started));
    return out_json(cli, object, err);
}

static const struct opt reset_opts[] = {
    OPT_SET("clean", 0, struct reset_args, clean,
        "also empty the agent's home directory and the files it added to caches"),
    OPT_SET("no-prompt", 0, struct reset_args, no_prompt, "start the agent without its prompt"),
    OPT_SET("abandon-unapplied", 0, struct reset_args, abandon, "discard unapplied changes"),
    OPT_SET("yes", 'y', struct reset_args, yes, "do not ask"),
};

static const struct example reset_examples[] = {
    {"cordon box reset fix-login --abandon-unapplied", "discard its changes and start over"},
};

const struct cmd cmd_box_reset = {
    .name = "reset",
    .summary = "discard a box's changes and restart its agent",
    .about = "A running box is stopped. If the agent had been started, it is restarted with "
             "its prompt. A ':copy' box starts again from the same copy, an ':overlay' box "
             "from the current state of the project. Unapplied changes are not discarded "
             "without --abandon-unapplied (E_CONFLICT).",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_OPTS(reset_opts, struct reset_args),
    CMD_EXAMPLES(reset_examples),
    .run = run_reset,
};
