/* cordon box diff: print a box's changes as a git patch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/git_diff.h"
#include "cli/box_cmds.h"
#include "cli/box_patch.h"
#include "io/interrupt.h"
#include "repo/gitname.h"

struct diff_options {
    bool stat, name_only;
};

enum {
    WARNED = 10,
    ROUNDS = 5,
};
#define PATCH_MAX ((size_t)1 << 30)
#define NAMES_MAX ((size_t)64 << 20) /* reserved for files without a patch */

struct box_diff_ctx {
    struct cli *cli;
    const struct diff_options *options;
    const struct box *box;
    struct box_changes changes;
    struct delta drift;
    struct gitpatch_count *counts; /* one for each change; NULL: no patch was made */
};

static void diff_done(struct box_diff_ctx *d)
{
    changes_done(&d->changes);
    delta_done(&d->drift);
    free(d->counts);
}

/* Control characters are escaped on a terminal; to a pipe or file the patch is written byte for
 * byte, so that git can apply it. */
static bool is_for_people(const struct cli *cli)
{
    return cli->to_terminal || cli->color;
}

static void print_patch(struct cli *cli, struct str patch)
{
    if (is_for_people(cli))
        box_patch_show(cli, patch);
    else
        out_text(cli, patch);
}

/* Warnings ------------------------------------------------------------------------------------ */

static bool box_diff_collides(const struct box_diff_ctx *d, const struct delta_item *drift)
{
    return delta_find(&d->changes.delta, drift->path);
}

static void warn_drift(struct box_diff_ctx *d, bool all)
{
    struct cli *cli = d->cli;
    size_t others = 0, n = 0;
    for (size_t i = 0; i < d->drift.n; i++) {
        const struct delta_item *item = &d->drift.items[i];
        if (!box_diff_collides(d, item))
            others++;
        else if (n++ < WARNED)
            out_warn(cli,
                "'" STR_FMT "' has changed in the project, too, since the box was made: apply "
                "refuses it",
                STR_ARG(out_path(cli, item->path)));
    }
    if (n > WARNED)
        out_warn(cli, "%zu more have changed on both sides", n - WARNED);
    if (others)
        out_warn(cli,
            "%zu other file%s of the project changed since the box was made, which the box sees",
            others, others == 1 ? "" : "s");
    if (!all)
        out_note(cli, "the project is large: only what the box changed was compared with it; "
                      "'cordon box show' compares all");
}

/* Too large to print as a patch; apply still handles them. */
static void warn_omitted(struct box_diff_ctx *d)
{
    size_t n = 0;
    for (size_t i = 0; d->counts && i < d->changes.delta.n; i++) {
        const struct delta_item *item = &d->changes.delta.items[i];
        if (d->counts[i].omitted && n++ < WARNED)
            out_warn(d->cli,
                "'" STR_FMT "' is too large for a patch, which names it and does not hold it; "
                "'cordon box apply' needs no patch",
                STR_ARG(out_path(d->cli, item->path)));
    }
    if (n > WARNED)
        out_warn(d->cli, "%zu more files are too large for a patch", n - WARNED);
}

/* Output -------------------------------------------------------------------------------------- */

static void new_counts(struct box_diff_ctx *d)
{
    d->counts = base_alloc((d->changes.delta.n + 1) * sizeof(*d->counts));
}

/* Space for one more patch. */
static size_t box_diff_patch_room(const struct box_diff_ctx *d)
{
    size_t used = MIN(d->cli->stdout_buf.n, PATCH_MAX);
    return MAX(PATCH_MAX - used, 2 * NAMES_MAX) - NAMES_MAX;
}

static bool print_patches(struct box_diff_ctx *d, struct err *err)
{
    struct gitpatch p = gitpatch_start(changes_old_fd(&d->changes), d->changes.trees.upper);
    new_counts(d);
    for (size_t i = 0; i < d->changes.delta.n; i++) {
        AUTO_BUF struct buf text = BUF_INIT(box_diff_patch_room(d));
        if (!gitpatch_item(&p, &d->changes.delta.items[i], &text, &d->counts[i], err))
            return false;
        print_patch(d->cli, buf_str(&text));
    }
    return true;
}

static void box_diff_print_names(struct cli *cli, const struct delta *delta)
{
    for (size_t i = 0; i < delta->n; i++) {
        gitname_add(&cli->stdout_buf, "", delta->items[i].path);
        buf_add_byte(&cli->stdout_buf, '\n');
    }
}

static bool box_diff_print_text(struct box_diff_ctx *d, struct err *err)
{
    AUTO_BUF struct buf stat = BUF_INIT(PATCH_MAX);
    if (d->changes.delta.n == 0 && d->cli->to_terminal)
        out_note(d->cli, "no changes");
    if (d->options->name_only) {
        box_diff_print_names(d->cli, &d->changes.delta);
        return true;
    }
    if (!d->options->stat)
        return print_patches(d, err);
    if (!changes_stat(&d->changes, NULL, box_patch_columns(d->cli), &stat, err))
        return false;
    box_patch_show_stat(d->cli, buf_str(&stat));
    return true;
}

/* JSON ---------------------------------------------------------------------------------------- */

static bool box_diff_print_json(struct box_diff_ctx *d, struct err *err)
{
    const bool whole = !d->options->stat && !d->options->name_only;
    json_t *object;
    new_counts(d);
    const struct changes_diff diff = {d->box, &d->changes, &d->drift, d->counts, whole};
    return changes_diff_json(&diff, &object, err) && out_json(d->cli, object, err);
}

/* Writable project directories ---------------------------------------------------------------- */

static bool run_git(struct cli *cli, const struct box *box, enum git_diff_form form,
    const struct args *args, struct buf *text, struct err *err)
{
    const struct git_diff what = {form, args->v + 1, args->n - 1};
    return git_diff(box, &what, cli->arena, text, err);
}

static bool print_git_json(struct cli *cli, const struct box *box, const struct diff_options *o,
    const struct args *args, struct err *err)
{
    AUTO_BUF struct buf status = BUF_INIT(GIT_DIFF_MAX), patch = BUF_INIT(GIT_DIFF_MAX);
    bool whole = !o->stat && !o->name_only;
    if (!run_git(cli, box, GIT_DIFF_STATUS, args, &status, err) ||
        (whole && !run_git(cli, box, GIT_DIFF_PATCH, args, &patch, err)))
        return false;
    json_t *object = changes_json(box);
    json_put(object, "changes", git_diff_changes(buf_str(&status)));
    json_put(object, "refused", json_array());
    json_put(object, "drift", json_array());
    if (whole)
        changes_put_patch(object, buf_str(&patch));
    return out_json(cli, object, err);
}

static bool box_diff_run_git(struct cli *cli, const struct box *box, const struct diff_options *o,
    const struct args *args, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(GIT_DIFF_MAX);
    enum git_diff_form form = o->name_only ? GIT_DIFF_NAMES
                              : o->stat    ? GIT_DIFF_STAT
                                           : GIT_DIFF_PATCH;
    if (cli->json)
        return print_git_json(cli, box, o, args, err);
    if (!run_git(cli, box, form, args, &text, err))
        return false;
    if (text.n == 0 && cli->to_terminal)
        out_note(cli, "no changes");
    if (form == GIT_DIFF_STAT && is_for_people(cli))
        box_patch_show_stat(cli, buf_str(&text));
    else
        print_patch(cli, buf_str(&text));
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

/* Warnings are printed last, once everything else has succeeded. */
static bool try_layers(
    struct cli *cli, const struct box *box, const struct args *args, struct err *err)
{
    AUTO(diff_done)
    struct box_diff_ctx d = {.cli = cli,
        .options = args->options,
        .box = box,
        .changes = BOX_CHANGES_NONE,
        .drift = DELTA_INIT};
    struct str_list missed;
    bool all;
    if (!changes_open(box, &d.changes, err) || !changes_read(&d.changes, err) ||
        !changes_only(box, args->v + 1, args->n - 1, cli->arena, &d.changes, &missed, err) ||
        !changes_drift(&d.changes, &d.drift, &all, err) ||
        !(cli->json ? box_diff_print_json(&d, err) : box_diff_print_text(&d, err)))
        return false;
    if (d.drift.n)
        warn_drift(&d, all);
    for (size_t i = 0; i < missed.n; i++)
        out_warn(cli, "'" STR_FMT "': the box changed nothing there (paths begin at '" STR_FMT "')",
            STR_ARG(out_path(cli, missed.p[i])), STR_ARG(box->meta.workdir.host_path));
    if (!d.options->stat && !d.options->name_only)
        warn_omitted(&d);
    box_patch_warn_refused(cli, &d.changes.delta);
    return true;
}

/* Retries: a running agent may change a file while it is read. */
static bool run_layers(
    struct cli *cli, const struct box *box, const struct args *args, struct err *err)
{
    size_t start = cli->stdout_buf.n;
    for (int round = 1; !try_layers(cli, box, args, err); round++) {
        if (err->code != E_CONFLICT || round == ROUNDS)
            return false;
        err_done(err);
        buf_truncate(&cli->stdout_buf, start);
    }
    return true;
}

static bool run_diff(struct cli *cli, const struct args *args, struct err *err)
{
    const struct diff_options *options = args->options;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (options->stat && options->name_only)
        return err_set(err, E_CLI_INVALID_ARG, "--stat or --name-only, not both");
    if (!changes_check_paths(args->v + 1, args->n - 1, err))
        return false;
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_NO_AGENT, &use, err))
        return false;
    if (use.box.meta.workdir.mode == BOX_RW)
        return box_diff_run_git(cli, &use.box, options, args, err);
    return config_box_recover(cli->arena, &use.box, out_notices(cli), err) &&
           run_layers(cli, &use.box, args, err);
}

static const struct opt diff_opts[] = {
    OPT_SET("stat", 0, struct diff_options, stat, "how many lines of which files"),
    OPT_SET("name-only", 0, struct diff_options, name_only, "the names of the files only"),
};

static const struct example diff_examples[] = {
    {"cordon box diff fix-login --stat", "which files, and how much of them"},
    {"cordon box diff fix-login -- src", "only below src"},
    {"cordon box diff fix-login | git apply", "into another work tree"},
};

const struct cmd cmd_box_diff = {
    .name = "diff",
    .summary = "show what a box changed, as a patch that git takes",
    .about =
        "Compares what the box has with what it began with, or with what was applied last. Into a "
        "pipe or file it is byte for byte what 'git apply' takes: modes, links and binary files "
        "included. On a terminal nothing in it is obeyed. What is in .git is no part of it: a "
        "commit made inside shows as its content. The status is 0 with and without changes.\n"
        "Paths are absolute, or begin at the project's top.\n"
        "A box of the kind :rw works on the real directory: then this is git's own view of it, "
        "against HEAD, by a git that runs in a sandbox.",
    .usage = "NAME [-- PATH…]",
    .min_args = 1,
    .max_args = 1 + BOX_PATHS_MAX,
    .arg_kind = ARG_BOX_FILES,
    CMD_OPTS(diff_opts, struct diff_options),
    CMD_EXAMPLES(diff_examples),
    .run = run_diff,
};
