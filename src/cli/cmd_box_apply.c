/* cordon box apply: apply a box's changes to the project, all or nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_apply.h"
#include "cli/box_cmds.h"
#include "cli/box_patch.h"
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
    struct box_apply apply;
    bool shown; /* the changes were already listed with the question */
};

/* Changes by class ----------------------------------------------------------------------------- */

static const char *const kind_words[] = {
    [DELTA_ADDED] = "added",
    [DELTA_DELETED] = "deleted",
    [DELTA_MODIFIED] = "changed",
    [DELTA_MODE] = "changed the mode of",
    [DELTA_TYPE] = "changed the type of",
};

/* Lists both sides of each conflict: each one has to be reviewed. */
static void say_conflicts(struct cli *cli, const struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct apply_row *row = &a->rows[i];
        if (row->state == APPLY_CONFLICT)
            out_note(cli, "  conflict: '" STR_FMT "': the box %s it, the project %s",
                STR_ARG(row->item->path), kind_words[row->item->kind], row->project);
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
    {"These files are executed automatically:", applying_runs, say_risk, SIZE_MAX},
    {"These files affect builds or agents:", applying_steers, say_risk, STEERING_SHOWN},
    {"These links point outside the project:", applying_leads_out, say_link, SIZE_MAX},
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
            out_note(cli, "  and %zu more (use --json to list them)", n - groups[g].most);
    }
}

/* Refusals ------------------------------------------------------------------------------------ */

static bool box_apply_report_refusal(struct box_apply_ctx *c, struct err *err)
{
    const struct apply *a = &c->apply.x.apply;
    if (!out_fail(c->cli, &c->apply.why, box_apply_json(&c->apply), err))
        return false;
    say_conflicts(c->cli, a);
    say_forbidden(c->cli, a, &c->apply.x.changes.delta);
    say_groups(c->cli, a);
    return true;
}

/* Results ------------------------------------------------------------------------------------- */

static void box_apply_print_rows(struct cli *cli, const struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        buf_printf(&cli->stdout_buf, "%-9s ", delta_kind_name(a->rows[i].item->kind));
        gitname_add(&cli->stdout_buf, "", a->rows[i].item->path);
        out_line(cli, "%s", a->rows[i].state == APPLY_DONE ? "  (already in the project)" : "");
    }
}

static void box_apply_print_done(struct box_apply_ctx *c, bool dry)
{
    const struct apply *a = &c->apply.x.apply;
    size_t n = a->n - a->n_done;
    if (!c->shown)
        box_apply_print_rows(c->cli, a);
    buf_printf(&c->cli->stdout_buf, "%s %zu change%s to ", dry ? "would apply" : "applied", n,
        n == 1 ? "" : "s");
    out_name(c->cli, c->apply.box->meta.workdir.host_path, '\n');
}

static bool box_apply_print_result(struct box_apply_ctx *c, struct err *err)
{
    enum box_apply_end end = c->apply.end;
    if (end == BOX_APPLY_REFUSED)
        return box_apply_report_refusal(c, err);
    box_patch_warn_left_out(c->cli, &c->apply.x.changes.delta);
    if (c->cli->json)
        return out_json(c->cli, box_apply_json(&c->apply), err);
    if (end == BOX_APPLY_NOTHING)
        out_note(c->cli, "there is nothing to apply");
    else if (end == BOX_APPLY_IN_PLACE)
        out_note(c->cli,
            "nothing to apply: the box works directly on '" STR_FMT
            "' (:rw), so its changes are already there",
            STR_ARG(c->apply.box->meta.workdir.host_path));
    else
        box_apply_print_done(c, end == BOX_APPLY_DRY);
    return true;
}

/* Applying ------------------------------------------------------------------------------------ */

static bool box_apply_confirm(struct box_apply_ctx *c, struct err *err)
{
    AUTO_BUF struct buf stat = BUF_INIT((size_t)1 << 30);
    if (c->options->yes) {
        say_groups(c->cli, &c->apply.x.apply);
        return true;
    }
    if (isatty(STDIN_FILENO) && !c->cli->json) {
        if (!changes_stat(&c->apply.x.changes, &c->apply.x.apply.saved, box_patch_columns(c->cli),
                &stat, err))
            return false;
        box_patch_show_stat(c->cli, buf_str(&stat));
        if (!out_flush(c->cli, err))
            return false;
        c->shown = true;
    }
    say_groups(c->cli, &c->apply.x.apply);
    return box_use_consent(c->cli,
        arena_printf(c->cli->arena, "Apply these changes to '" STR_FMT "'?",
            STR_ARG(c->apply.x.box->meta.workdir.host_path)),
        "use --yes to apply without asking, or --dry-run to show what would be applied", err);
}

static bool box_apply_agree(void *context, bool agent, struct err *err)
{
    struct box_apply_ctx *c = context;
    if (c->apply.x.running)
        out_note(c->cli, "%s still running; later changes are not included",
            agent ? "the agent is" : "a command in the box is");
    if (!c->options->dry_run)
        return box_apply_confirm(c, err);
    say_groups(c->cli, &c->apply.x.apply);
    return true;
}

static bool run_apply(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (!changes_check_paths(args->v + 1, args->n - 1, err))
        return false;
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_CHANGE | BOX_USE_NO_AGENT, &use, err))
        return false;
    const struct apply_options_cli *o = args->options;
    struct box_apply_ctx c = {.cli = cli, .options = o};
    c.apply = BOX_APPLY_INIT(cli->arena, &use.box, args->v + 1, args->n - 1);
    c.apply.dry_run = o->dry_run;
    c.apply.allow_executed = o->allow_executed;
    c.apply.warnings = out_notices(cli);
    c.apply.agree = box_apply_agree;
    c.apply.context = &c;
    bool ok = box_apply_run(&c.apply, err) && box_apply_print_result(&c, err);
    box_apply_done(&c.apply);
    return ok;
}

static const struct opt apply_opts[] = {
    OPT_SET("dry-run", 'n', struct apply_options_cli, dry_run,
        "show what would be applied, and change nothing"),
    OPT_SET("yes", 'y', struct apply_options_cli, yes, "do not ask"),
    OPT_SET("allow-executed-config", 0, struct apply_options_cli, allow_executed,
        "also apply files that are executed automatically (hooks, CI, editor tasks, shell "
        "startup files) and links that point outside the project"),
};

static const struct example apply_examples[] = {
    {"cordon box apply fix-login", "show the changes, and ask"},
    {"cordon box apply fix-login --yes -- src", "only below src, without asking"},
};

const struct cmd cmd_box_apply = {
    .name = "apply",
    .summary = "apply a box's changes to the project",
    .about = "Applies all changes or none. A change can be applied if the project still has "
             "the version that the box started with. Anything else is a conflict: each is "
             "listed with both sides, and nothing is applied (exit status 19). Devices, "
             "sockets, pipes and set-user-ID files are never applied (13), and neither is "
             "anything in .git. Files that are executed automatically, and links that point "
             "outside the project, are listed separately and require --allow-executed-config "
             "(20). Files that affect builds or agents are also listed.\nThe changes are "
             "copied before anything is shown or asked, and this copy is applied. Applied "
             "changes no longer count as changes: the next diff shows only newer ones. The "
             "agent may be running. On a terminal, asks for confirmation once; without one, "
             "--yes is required (20).",
    .usage = "NAME [-- PATH…]",
    .min_args = 1,
    .max_args = 1 + BOX_PATHS_MAX,
    .arg_kind = ARG_BOX_FILES,
    CMD_OPTS(apply_opts, struct apply_options_cli),
    CMD_EXAMPLES(apply_examples),
    .run = run_apply,
};
