/* cordon box start, stop: start and stop a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/client.h"
#include "cli/box_cmds.h"

enum {
    GRACE_S = 5,
    GRACE_MAX_S = 3600,
};

static bool box_start_print_status(
    struct cli *cli, const struct box *box, const char *word, struct err *err)
{
    if (!cli->json) {
        out_note(cli, "%s: " STR_FMT, word, STR_ARG(box->name));
        return true;
    }
    struct box_state state;
    bool held;
    if (!state_load(box->host, cli->arena, &state, &held, err))
        return false;
    json_t *object = json_object();
    json_put(object, "name", json_text(box->name));
    json_put(object, "status", json_string(box_status_names[state.status]));
    return out_json(cli, object, err);
}

/* start --------------------------------------------------------------------------------------- */

struct box_start_flags {
    bool no_prompt, no_denials;
};

static bool run_start(struct cli *cli, const struct args *args, struct err *err)
{
    const struct box_start_flags *o = args->options;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_CHANGE, &use, err))
        return false;
    struct start_options start = box_use_start_options(&use.box);
    start.no_denials = o->no_denials;
    if (!start_agent(&start, !o->no_prompt, err))
        return false;
    box_use_gaps(cli, &use.box);
    return box_start_print_status(cli, &use.box, "started", err);
}

static const struct opt start_opts[] = {
    OPT_SET(
        "no-prompt", 0, struct box_start_flags, no_prompt, "start the agent without its prompt"),
    OPT_SET("no-denials", 0, struct box_start_flags, no_denials, BOX_NO_DENIALS_HELP),
};

static const struct example start_examples[] = {
    {"cordon box start fix-login",
        "the agent continues with the box's changes; its prompt is given again"},
    {"cordon box start fix-login --no-prompt", "do not give the prompt again"},
};

const struct cmd cmd_box_start = {
    .name = "start",
    .summary = "start the agent of a box",
    .about = "The agent runs in the background, on a terminal that 'cordon box attach' shows. "
             "Earlier changes in the box are kept. If the box is already running, fails with "
             "E_CONFLICT.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_OPTS(start_opts, struct box_start_flags),
    CMD_EXAMPLES(start_examples),
    .run = run_start,
};

/* stop ---------------------------------------------------------------------------------------- */

struct stop_options {
    int64_t grace;
};

static bool run_stop(struct cli *cli, const struct args *args, struct err *err)
{
    const struct stop_options *o = args->options;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    bool ran;
    uint64_t grace = o->grace < 0 ? 0 : o->grace ? (uint64_t)o->grace : GRACE_S;
    return config_box_open(cli->arena, args->v[0], BOX_USE_LOOK, &use, err) &&
           client_stop_box(&use.box, grace * 1000, &ran, err) &&
           box_start_print_status(cli, &use.box, ran ? "stopped" : "was not running", err);
}

static const struct opt stop_opts[] = {
    OPT_INT("grace", 0, struct stop_options, grace, "SECONDS", -1, GRACE_MAX_S,
        "time to exit before it is killed; default: 5; -1: kill at once"),
};

static const struct example stop_examples[] = {
    {"cordon box stop fix-login", "its changes are kept; resume with 'cordon box start'"},
};

const struct cmd cmd_box_stop = {
    .name = "stop",
    .summary = "stop everything that runs in a box; keep its changes",
    .about = "Sends SIGTERM to the agent and all commands, and kills them after the grace "
             "time. Returns when nothing runs in the box any more, or at once if the box is "
             "not running.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_OPTS(stop_opts, struct stop_options),
    CMD_EXAMPLES(stop_examples),
    .run = run_stop,
};
