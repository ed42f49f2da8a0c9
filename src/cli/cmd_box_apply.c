/* cordon box apply: apply a box's changes to the project, all or nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/apply.h"
#include "cli/box_cmds.h"
#include "cli/box_patch.h"
#include "config/config.h"
#include "path/exact.h"
#include "repo/gitname.h"

enum {
    STEERING_SHOWN = 20,
};

struct apply_options_cli {
    bool dry_run, yes, allow_executed;
};

struct applying {
    struct cli *cli;
    const struct apply_options_cli *options;
    const struct box *box;
    struct box_changes changes;
    struct apply apply;
    bool shown;   /* the changes were already listed with the question */
    bool running; /* an agent or a command is running in the box */
};

static void applying_done(struct applying *x)
{
    apply_done(&x->apply);
    changes_done(&x->changes);
}

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

static bool runs_unasked(const struct apply_row *row)
{
    return row->state == APPLY_FITS && row->acts->class == SELFRUN_RUNS;
}

static bool is_steering(const struct apply_row *row)
{
    return row->state == APPLY_FITS && row->acts->class == SELFRUN_STEERS;
}

static bool leads_out(const struct apply_row *row)
{
    return row->state == APPLY_FITS && row->acts->leads_out;
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
    {"These files run without being started:", runs_unasked, say_risk, SIZE_MAX},
    {"These files steer builds or agents:", is_steering, say_risk, STEERING_SHOWN},
    {"These links lead out of the project:", leads_out, say_link, SIZE_MAX},
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

static json_t *box_apply_row_json(const struct apply_row *row)
{
    json_t *object = changes_item(row->item, row->acts);
    if (row->state == APPLY_CONFLICT)
        json_put(object, "project", json_text(str_trim_end(str_z(row->project), ',')));
    if (row->state == APPLY_DONE)
        json_put(object, "already", json_true());
    return object;
}

static json_t *box_apply_rows_json(
    const struct apply *a, bool (*wanted)(const struct apply_row *row))
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->n; i++)
        if (wanted(&a->rows[i]))
            json_push(list, box_apply_row_json(&a->rows[i]));
    return list;
}

static bool is_conflict(const struct apply_row *row)
{
    return row->state == APPLY_CONFLICT;
}

static bool is_forbidden(const struct apply_row *row)
{
    return row->state == APPLY_FORBIDDEN;
}

static bool is_applied(const struct apply_row *row)
{
    return row->state == APPLY_FITS || row->state == APPLY_DONE;
}

/* Refusals ------------------------------------------------------------------------------------ */

static bool box_apply_report_refusal(struct applying *x, struct err *why, struct err *err)
{
    const struct apply *a = &x->apply;
    json_t *more = json_object();
    if (why->code != E_CONFLICT && why->code != E_FS_VIOLATION &&
        why->code != E_APPROVAL_REQUIRED) {
        json_decref(more);
        return err_move(err, why);
    }
    json_put(more, "conflicts", box_apply_rows_json(a, is_conflict));
    json_put(more, "forbidden", box_apply_rows_json(a, is_forbidden));
    json_put(more, "refused", changes_refused(&x->changes.delta));
    json_put(more, "executed", box_apply_rows_json(a, apply_is_executed));
    json_put(more, "steering", box_apply_rows_json(a, is_steering));
    if (!out_fail(x->cli, why, more, err))
        return false;
    say_conflicts(x->cli, a);
    say_forbidden(x->cli, a, &x->changes.delta);
    say_groups(x->cli, a);
    return true;
}

/* Results ------------------------------------------------------------------------------------- */

static bool result_json(struct applying *x, bool dry, struct err *err)
{
    json_t *object = json_object();
    json_put(object, "name", json_text(x->box->name));
    exact_put(object, "workdir", x->box->meta.workdir.host_path);
    json_put(object, "dry_run", json_boolean(dry));
    json_put(object, dry ? "would_apply" : "applied", box_apply_rows_json(&x->apply, is_applied));
    return out_json(x->cli, object, err);
}

static void box_apply_print_rows(struct cli *cli, const struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        buf_printf(&cli->stdout_buf, "%-9s ", delta_kind_name(a->rows[i].item->kind));
        gitname_add(&cli->stdout_buf, "", a->rows[i].item->path);
        out_line(cli, "%s", a->rows[i].state == APPLY_DONE ? "  (the project has it already)" : "");
    }
}

static bool box_apply_print_result(struct applying *x, bool dry, struct err *err)
{
    size_t n = x->apply.n - x->apply.n_done;
    if (x->cli->json)
        return result_json(x, dry, err);
    if (!x->shown)
        box_apply_print_rows(x->cli, &x->apply);
    buf_printf(&x->cli->stdout_buf, "%s %zu change%s to ", dry ? "would apply" : "applied", n,
        n == 1 ? "" : "s");
    out_name(x->cli, x->box->meta.workdir.host_path, '\n');
    return true;
}

static bool print_nothing(struct applying *x, struct err *err)
{
    if (!x->options->dry_run && x->changes.trees.baseline >= 0 && x->changes.manifest.n &&
        !apply_commit(&x->apply, "", err)) /* only clears the note left by an interrupted apply */
        return false;
    if (x->cli->json)
        return result_json(x, x->options->dry_run, err);
    out_note(x->cli, "there is nothing to apply");
    return true;
}

/* Applying ------------------------------------------------------------------------------------ */

/* Also for commands of `exec`. Processes in the box cannot change the copy that will be applied. */
static bool box_apply_warn_running(struct applying *x, struct err *err)
{
    struct box_state state;
    if (!state_runs(x->box->host, x->cli->arena, &state, &x->running, err))
        return false;
    bool agent = state.status == BOX_RUNNING || state.status == BOX_IDLE;
    if (x->running)
        out_note(x->cli, "%s still running: what it changes from now on is not in this",
            agent ? "the agent is" : "a command in the box is");
    return true;
}

static bool box_apply_confirm(struct applying *x, struct err *err)
{
    AUTO_BUF struct buf stat = BUF_INIT((size_t)1 << 30);
    if (x->options->yes) {
        say_groups(x->cli, &x->apply);
        return true;
    }
    if (isatty(STDIN_FILENO) && !x->cli->json) {
        if (!changes_stat(&x->changes, &x->apply.saved, box_patch_columns(x->cli), &stat, err))
            return false;
        box_patch_show_stat(x->cli, buf_str(&stat));
        if (!out_flush(x->cli, err))
            return false;
        x->shown = true;
    }
    say_groups(x->cli, &x->apply);
    return box_use_consent(x->cli,
        arena_printf(x->cli->arena, "apply these changes to '" STR_FMT "'?",
            STR_ARG(x->box->meta.workdir.host_path)),
        "--yes applies them without a question; --dry-run says what would be done", err);
}

/* Only a cache: without it the files are read again. */
static void remember_same(struct applying *x)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_MANIFEST struct manifest same = MANIFEST_INIT;
    struct box_state state;
    bool running = true;
    if (x->running || !state_load(x->box->host, x->cli->arena, &state, &running, &ignored) ||
        running)
        return;
    if (apply_same(&x->apply, &x->changes.same, &same, &ignored))
        (void)!manifest_write(&same, x->box->host, BOX_SAME, &ignored);
}

static bool box_apply_commit(struct applying *x, struct err *err)
{
    const char *journal;
    AUTO_MANIFEST struct manifest moved = MANIFEST_INIT;
    if (!config_state_path(x->cli->arena, "journal", &journal, err) ||
        !apply_commit(&x->apply, journal, err))
        return false;
    if (x->changes.trees.baseline >= 0) {
        remember_same(x);
        return true;
    }
    return (apply_move_manifest(&x->apply, &x->changes.manifest, &moved, err) &&
               manifest_write(&moved, x->box->host, CHANGES_MANIFEST, err)) ||
           err_wrap(err, "the project has the changes, but the manifest could not be moved; the "
                         "next apply tries again");
}

static bool refuse_missed(const struct box *box, const struct str_list *missed, struct err *err)
{
    if (missed->n == 0)
        return true;
    err_set(err, E_NOT_FOUND,
        "'" STR_FMT "': the box changed nothing there, so nothing was applied (paths begin at "
        "'" STR_FMT "')",
        STR_ARG(missed->p[0]), STR_ARG(box->meta.workdir.host_path));
    return err_ctx(err, "path", STR_FMT, STR_ARG(missed->p[0]));
}

static bool read_changes(struct applying *x, const struct args *args, struct err *err)
{
    struct str_list missed;
    if (!changes_open(x->box, &x->changes, err))
        return false;
    if (x->changes.trees.project < 0) {
        err_set(err, E_NOT_FOUND, "the project '" STR_FMT "' is not there any more",
            STR_ARG(x->box->meta.workdir.host_path));
        return err_ctx(err, "remedy", "cordon box diff " STR_FMT " | git apply, where it is now",
            STR_ARG(x->box->name));
    }
    return (x->options->dry_run ||
               config_box_recover(x->cli->arena, x->box, out_notices(x->cli), err)) &&
           changes_read(&x->changes, err) &&
           changes_only(
               x->box, args->v + 1, args->n - 1, x->cli->arena, &x->changes, &missed, err) &&
           refuse_missed(x->box, &missed, err);
}

static bool apply_layers(
    struct cli *cli, const struct box *box, const struct args *args, struct err *err)
{
    const struct apply_options_cli *o = args->options;
    AUTO_ERR struct err why = {0};
    AUTO(applying_done)
    struct applying x = {
        .cli = cli, .options = o, .box = box, .changes = BOX_CHANGES_NONE, .apply = APPLY_INIT};
    if (!read_changes(&x, args, err))
        return false;
    const struct box_trees *t = &x.changes.trees;
    struct apply_trees trees = {t->project, t->baseline, t->upper, &x.changes.manifest, box->host,
        CHANGES_MANIFEST, box->host, box->meta.workdir.host_path};
    struct apply_options options = {.allow_executed = o->allow_executed};
    if (!apply_check(&x.apply, &trees, &x.changes.delta, &options, &why))
        return box_apply_report_refusal(&x, &why, err);
    if (x.apply.n == 0)
        return print_nothing(&x, err);
    if (!box_apply_warn_running(&x, err))
        return false;
    if (o->dry_run) {
        say_groups(cli, &x.apply);
        return box_apply_print_result(&x, true, err);
    }
    return box_apply_confirm(&x, err) && box_apply_commit(&x, err) &&
           box_apply_print_result(&x, false, err);
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
    json_t *object = json_object();
    json_put(object, "name", json_text(box->name));
    exact_put(object, "workdir", box->meta.workdir.host_path);
    json_put(object, "dry_run", json_false());
    json_put(object, "applied", json_array());
    return out_json(cli, object, err);
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
