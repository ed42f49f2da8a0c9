/* cordon box apply: apply a box's changes to the project, all or nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/applying.h"
#include "cli/box_cmds.h"
#include "cli/box_patch.h"
#include "config/config.h"
#include "repo/gitname.h"

enum {
    STEERING_SHOWN = 20,
};

struct apply_options_cli {
    bool dry_run, yes, allow_executed;
};

struct box_apply_ctx {
    struct cli *cli;
    const struct apply_options_cli *options;
    struct applying x;
    bool shown; /* the changes were already listed with the question */
};

/* Changes by class ----------------------------------------------------------------------------- */

static const char *const kind_words[] = {
    [DELTA_ADDED] = "added",
    [DELTA_DELETED] = "deleted",
    [DELTA_MODIFIED] = "changed",
    [DELTA_MODE] = "gave another mode to",
    [DELTA_TYPE] = "made another kind of file of",
};

/* Lists both sides of each conflict: each one has to be reviewed. */
static void say_conflicts(struct cli *cli, const struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct apply_row *row = &a->rows[i];
        struct str project = str_trim_end(str_z(row->project), ',');
        if (row->state == APPLY_CONFLICT)
            out_note(cli, "  conflict: '" STR_FMT "': the box %s it, the project " STR_FMT,
                STR_ARG(row->item->path), kind_words[row->item->kind], STR_ARG(project));
    }
}

static void say_forbidden(struct cli *cli, const struct apply *a, const struct delta *d)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->rows[i].state == APPLY_FORBIDDEN)
            out_note(cli, "  never applied: '" STR_FMT "': %s", STR_ARG(a->rows[i].item->path),
                delta_is_git(a->rows[i].item->path) ? "belongs to git"
                                                    : "has a set-user-id or set-group-id bit");
    for (size_t i = 0; i < MIN(d->n_refused, (size_t)DELTA_REFUSED_MAX); i++)
        out_note(cli, "  never applied: '" STR_FMT "' %s", STR_ARG(d->refused[i].path),
            d->refused[i].why);
}

static void say_risk(struct cli *cli, const struct apply_row *row)
{
    const struct risks_row *acts = row->acts;
    AUTO_BUF struct buf as = BUF_INIT(1 << 20);
    if (acts->as.n)
        buf_printf(&as, " (as '" STR_FMT "')", STR_ARG(acts->as));
    out_note(cli, "  '" STR_FMT "': %s%s", STR_ARG(row->item->path), acts->reason, buf_z(&as));
}

static void say_link(struct cli *cli, const struct apply_row *row)
{
    out_note(cli, "  '" STR_FMT "' -> '" STR_FMT "'", STR_ARG(row->item->path),
        STR_ARG(row->acts->target));
}

/* Changes that need review, by group. The first and the last group need a flag to be applied, so
 * they are always listed in full. */
static const struct {
    const char *title;
    bool (*has)(const struct apply_row *row);
    void (*say)(struct cli *cli, const struct apply_row *row);
    size_t most;
} groups[] = {
    {"These files run without being started:", applying_runs, say_risk, SIZE_MAX},
    {"These files steer builds or agents:", applying_steers, say_risk, STEERING_SHOWN},
    {"These links lead out of the project:", applying_leads_out, say_link, SIZE_MAX},
};

static void say_groups(struct cli *cli, const struct apply *a)
{
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        size_t n = 0;
        for (size_t i = 0; i < a->n; i++) {
            if (!groups[g].has(&a->rows[i]))
                continue;
            if (n++ == 0)
                out_note(cli, "%s", groups[g].title);
            if (n <= groups[g].most)
                groups[g].say(cli, &a->rows[i]);
        }
        if (n > groups[g].most)
            out_note(cli, "  and %zu more, which --json lists", n - groups[g].most);
    }
}

/* Refusals ------------------------------------------------------------------------------------ */

static bool box_apply_report_refusal(struct box_apply_ctx *c, struct err *why, struct err *err)
{
    const struct apply *a = &c->x.apply;
    if (why->code != E_CONFLICT && why->code != E_FS_VIOLATION && why->code != E_APPROVAL_REQUIRED)
        return err_move(err, why);
    if (!out_fail(c->cli, why, applying_refusal_json(&c->x), err))
        return false;
    say_conflicts(c->cli, a);
    say_forbidden(c->cli, a, &c->x.changes.delta);
    say_groups(c->cli, a);
    return true;
}

/* Results ------------------------------------------------------------------------------------- */

static bool result_json(struct box_apply_ctx *c, bool dry, struct err *err)
{
    return out_json(c->cli, applying_result_json(c->x.box, &c->x.apply, dry), err);
}

static void box_apply_print_rows(struct cli *cli, const struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        buf_printf(&cli->stdout_buf, "%-9s ", delta_kind_name(a->rows[i].item->kind));
        gitname_add(&cli->stdout_buf, "", a->rows[i].item->path);
        out_line(cli, "%s", a->rows[i].state == APPLY_DONE ? "  (the project has it already)" : "");
    }
}

static bool box_apply_print_result(struct box_apply_ctx *c, bool dry, struct err *err)
{
    size_t n = c->x.apply.n - c->x.apply.n_done;
    if (c->cli->json)
        return result_json(c, dry, err);
    if (!c->shown)
        box_apply_print_rows(c->cli, &c->x.apply);
    buf_printf(&c->cli->stdout_buf, "%s %zu change%s to ", dry ? "would apply" : "applied", n,
        n == 1 ? "" : "s");
    out_name(c->cli, c->x.box->meta.workdir.host_path, '\n');
    return true;
}

static bool print_nothing(struct box_apply_ctx *c, struct err *err)
{
    if (!c->options->dry_run && !applying_forget(&c->x, err))
        return false;
    if (c->cli->json)
        return result_json(c, c->options->dry_run, err);
    out_note(c->cli, "there is nothing to apply");
    return true;
}

/* Applying ------------------------------------------------------------------------------------ */

/* Also for commands of `exec`. Processes in the box cannot change the copy that will be applied. */
static bool box_apply_warn_running(struct box_apply_ctx *c, struct err *err)
{
    struct box_state state;
    if (!state_runs(c->x.box->host, c->cli->arena, &state, &c->x.running, err))
        return false;
    bool agent = state.status == BOX_RUNNING || state.status == BOX_IDLE;
    if (c->x.running)
        out_note(c->cli, "%s still running: what it changes from now on is not in this",
            agent ? "the agent is" : "a command in the box is");
    return true;
}

static bool box_apply_confirm(struct box_apply_ctx *c, struct err *err)
{
    AUTO_BUF struct buf stat = BUF_INIT((size_t)1 << 30);
    if (c->options->yes) {
        say_groups(c->cli, &c->x.apply);
        return true;
    }
    if (isatty(STDIN_FILENO) && !c->cli->json) {
        if (!changes_stat(&c->x.changes, &c->x.apply.saved, box_patch_columns(c->cli), &stat, err))
            return false;
        box_patch_show_stat(c->cli, buf_str(&stat));
        if (!out_flush(c->cli, err))
            return false;
        c->shown = true;
    }
    say_groups(c->cli, &c->x.apply);
    return box_use_consent(c->cli,
        arena_printf(c->cli->arena, "apply these changes to '" STR_FMT "'?",
            STR_ARG(c->x.box->meta.workdir.host_path)),
        "--yes applies them without a question; --dry-run says what would be done", err);
}

static bool box_apply_commit(struct box_apply_ctx *c, struct err *err)
{
    const char *journal;
    return config_state_path(c->cli->arena, "journal", &journal, err) &&
           applying_commit(&c->x, journal, c->cli->arena, err);
}

static bool read_changes(
    struct box_apply_ctx *c, const struct box *box, const struct args *args, struct err *err)
{
    struct arena *a = c->cli->arena;
    return applying_open(&c->x, box, err) &&
           (c->options->dry_run || config_box_recover(a, box, out_notices(c->cli), err)) &&
           applying_read(&c->x, args->v + 1, args->n - 1, a, err);
}

static bool apply_checked(struct box_apply_ctx *c, struct err *err)
{
    if (c->x.apply.n == 0)
        return print_nothing(c, err);
    if (!box_apply_warn_running(c, err))
        return false;
    if (c->options->dry_run) {
        say_groups(c->cli, &c->x.apply);
        return box_apply_print_result(c, true, err);
    }
    return box_apply_confirm(c, err) && box_apply_commit(c, err) &&
           box_apply_print_result(c, false, err);
}

static bool apply_layers(
    struct cli *cli, const struct box *box, const struct args *args, struct err *err)
{
    const struct apply_options_cli *o = args->options;
    const struct apply_options options = {.allow_executed = o->allow_executed};
    AUTO_ERR struct err why = {0};
    struct box_apply_ctx c = {.cli = cli, .options = o, .x = APPLYING_INIT};
    bool ok = read_changes(&c, box, args, err);
    if (ok)
        ok = applying_check(&c.x, &options, &why) ? apply_checked(&c, err)
                                                  : box_apply_report_refusal(&c, &why, err);
    applying_done(&c.x);
    return ok;
}

static bool explain_rw(struct cli *cli, const struct box *box, struct err *err)
{
    if (!cli->json) {
        out_note(cli,
            "there is nothing to apply: the box works on '" STR_FMT "' itself (:rw), its changes "
            "are there already",
            STR_ARG(box->meta.workdir.host_path));
        return true;
    }
    return out_json(cli, applying_result_json(box, NULL, false), err);
}

static bool run_apply(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (!changes_check_paths(args->v + 1, args->n - 1, err))
        return false;
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_CHANGE | BOX_USE_NO_AGENT, &use, err))
        return false;
    if (use.box.meta.workdir.mode == BOX_RW)
        return explain_rw(cli, &use.box, err);
    return apply_layers(cli, &use.box, args, err);
}

static const struct opt apply_opts[] = {
    OPT_SET("dry-run", 'n', struct apply_options_cli, dry_run,
        "say what would be done, and do nothing"),
    OPT_SET("yes", 'y', struct apply_options_cli, yes, "do not ask"),
    OPT_SET("allow-executed-config", 0, struct apply_options_cli, allow_executed,
        "also apply files that run without being started (hooks, CI, editors' tasks, shells' start "
        "files) and links that lead out of the project"),
};

static const struct example apply_examples[] = {
    {"cordon box apply fix-login", "shows what it is about, and asks"},
    {"cordon box apply fix-login --yes -- src", "only below src, without a question"},
};

const struct cmd cmd_box_apply = {
    .name = "apply",
    .summary = "bring what a box changed into the project",
    .about =
        "All changes, or none. A change fits if the project still has what the box began with; "
        "anything else is a conflict, each is named with both sides, and nothing is applied "
        "(status 19). Devices, sockets, pipes and set-user-id files are never applied (13), and "
        "neither is anything in .git. Files that run without being started, and links that lead "
        "out of the project, are listed apart and need --allow-executed-config (20); files that "
        "steer builds or agents are listed, too.\n"
        "The changes are copied before anything is shown or asked, and that copy is applied. What "
        "was applied is no change any more: the next diff shows what is new since. It can be done "
        "while the agent works. On a terminal it asks once; without one it needs --yes (20).",
    .usage = "NAME [-- PATH…]",
    .min_args = 1,
    .max_args = 1 + BOX_PATHS_MAX,
    .arg_kind = ARG_BOX_FILES,
    CMD_OPTS(apply_opts, struct apply_options_cli),
    CMD_EXAMPLES(apply_examples),
    .run = run_apply,
};
