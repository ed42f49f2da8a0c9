/* cordon box diff: print a box's changes as a git patch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/git_diff.h"
#include "boxes/box_diff.h"
#include "cli/box_cmds.h"
#include "cli/box_patch.h"
#include "repo/gitname.h"

struct diff_options {
    bool stat, name_only;
};

enum {
    WARNED = 10,
};
#define PATCH_MAX ((size_t)1 << 30)
#define NAMES_MAX ((size_t)64 << 20) /* reserved for files without a patch */

struct box_diff_ctx {
    struct cli *cli;
    const struct diff_options *options;
    struct box_diff diff;
    size_t start; /* of our output */
};

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
    return delta_find(&d->diff.changes.delta, drift->path);
}

static void warn_drift(struct box_diff_ctx *d, bool all)
{
    struct cli *cli = d->cli;
    size_t others = 0, n = 0;
    for (size_t i = 0; i < d->diff.drift.n; i++) {
        const struct delta_item *item = &d->diff.drift.items[i];
        if (!box_diff_collides(d, item))
            others++;
        else if (n++ < WARNED)
            out_warn(cli,
                "'" STR_FMT
                "' has also changed in the project since the box was created: apply will refuse "
                "it",
                STR_ARG(out_path(cli, item->path)));
    }
    if (n > WARNED)
        out_warn(cli, "%zu more files have changed on both sides", n - WARNED);
    if (others)
        out_warn(cli,
            "%zu other file%s of the project changed since the box was created; the box sees "
            "the changes",
            others, others == 1 ? "" : "s");
    if (!all)
        out_note(cli,
            "the project is large: only files that the box changed were compared with it; "
            "'cordon box show' compares all");
}

/* Too large to print as a patch; apply still handles them. */
static void warn_omitted(struct box_diff_ctx *d)
{
    size_t n = 0;
    for (size_t i = 0; d->diff.counts && i < d->diff.changes.delta.n; i++) {
        const struct delta_item *item = &d->diff.changes.delta.items[i];
        if (d->diff.counts[i].omitted && n++ < WARNED)
            out_warn(d->cli,
                "'" STR_FMT
                "' is too large for a patch, which lists it without its contents; 'cordon box "
                "apply' does not need a patch",
                STR_ARG(out_path(d->cli, item->path)));
    }
    if (n > WARNED)
        out_warn(d->cli, "%zu more files are too large for a patch", n - WARNED);
}

/* Output -------------------------------------------------------------------------------------- */

/* Space for one more patch. */
static size_t box_diff_patch_room(const struct box_diff_ctx *d)
{
    size_t used = MIN(d->cli->stdout_buf.n, PATCH_MAX);
    return MAX(PATCH_MAX - used, 2 * NAMES_MAX) - NAMES_MAX;
}

static bool print_patches(struct box_diff_ctx *d, struct err *err)
{
    struct gitpatch p =
        gitpatch_start(changes_old_fd(&d->diff.changes), d->diff.changes.trees.upper);
    box_diff_count(&d->diff);
    for (size_t i = 0; i < d->diff.changes.delta.n; i++) {
        AUTO_BUF struct buf text = BUF_INIT(box_diff_patch_room(d));
        if (!gitpatch_item(&p, &d->diff.changes.delta.items[i], &text, &d->diff.counts[i], err))
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
    if (d->diff.changes.delta.n == 0 && d->cli->to_terminal)
        out_note(d->cli, "no changes");
    if (d->options->name_only) {
        box_diff_print_names(d->cli, &d->diff.changes.delta);
        return true;
    }
    if (!d->options->stat)
        return print_patches(d, err);
    if (!changes_stat(&d->diff.changes, NULL, box_patch_columns(d->cli), &stat, err))
        return false;
    box_patch_show_stat(d->cli, buf_str(&stat));
    return true;
}

static bool box_diff_is_whole(const struct diff_options *o)
{
    return !o->stat && !o->name_only;
}

/* JSON ---------------------------------------------------------------------------------------- */

static bool box_diff_print_json(struct box_diff_ctx *d, struct err *err)
{
    json_t *object;
    return box_diff_json(&d->diff, box_diff_is_whole(d->options), &object, err) &&
           out_json(d->cli, object, err);
}

/* Writable project directories ---------------------------------------------------------------- */

static bool box_diff_print_git(
    struct cli *cli, struct box_diff *d, const struct diff_options *o, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(GIT_DIFF_MAX);
    json_t *object;
    if (cli->json)
        return box_diff_git_json(d, box_diff_is_whole(o), &object, err) &&
               out_json(cli, object, err);
    const struct git_diff what = {o->name_only ? GIT_DIFF_NAMES
                                  : o->stat    ? GIT_DIFF_STAT
                                               : GIT_DIFF_PATCH,
        d->paths, d->n};
    if (!git_diff(d->box, &what, cli->arena, &text, err))
        return false;
    if (text.n == 0 && cli->to_terminal)
        out_note(cli, "no changes");
    if (what.form == GIT_DIFF_STAT && is_for_people(cli))
        box_patch_show_stat(cli, buf_str(&text));
    else
        print_patch(cli, buf_str(&text));
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

/* Warnings are printed last, once everything else has succeeded. */
static bool try_layers(void *context, struct err *err)
{
    struct box_diff_ctx *d = context;
    struct cli *cli = d->cli;
    const struct str_list *missed = &d->diff.missed;
    if (!box_diff_read(&d->diff, err) ||
        !(cli->json ? box_diff_print_json(d, err) : box_diff_print_text(d, err)))
        return false;
    if (d->diff.drift.n)
        warn_drift(d, d->diff.drift_is_whole);
    for (size_t i = 0; i < missed->n; i++)
        out_warn(cli,
            "'" STR_FMT "': the box has no changes there (paths are relative to '" STR_FMT "')",
            STR_ARG(out_path(cli, missed->p[i])), STR_ARG(d->diff.box->meta.workdir.host_path));
    if (box_diff_is_whole(d->options))
        warn_omitted(d);
    box_patch_warn_refused(cli, &d->diff.changes.delta);
    return true;
}

static void box_diff_try_again(void *context)
{
    struct box_diff_ctx *d = context;
    box_diff_done(&d->diff);
    buf_truncate(&d->cli->stdout_buf, d->start);
}

static bool run_layers(
    struct cli *cli, const struct box_diff *diff, const struct diff_options *o, struct err *err)
{
    struct box_diff_ctx d = {.cli = cli, .options = o, .diff = *diff, .start = cli->stdout_buf.n};
    bool ok = box_diff_retry(try_layers, box_diff_try_again, &d, err);
    box_diff_done(&d.diff);
    return ok;
}

static bool run_diff(struct cli *cli, const struct args *args, struct err *err)
{
    const struct diff_options *options = args->options;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (options->stat && options->name_only)
        return err_set(err, E_CLI_INVALID_ARG, "--stat and --name-only cannot be combined");
    if (!changes_check_paths(args->v + 1, args->n - 1, err))
        return false;
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_NO_AGENT, &use, err))
        return false;
    struct box_diff diff = BOX_DIFF_INIT(cli->arena, &use.box, args->v + 1, args->n - 1);
    if (use.box.meta.workdir.mode == BOX_RW)
        return box_diff_print_git(cli, &diff, options, err);
    return config_box_recover(cli->arena, &use.box, out_notices(cli), err) &&
           run_layers(cli, &diff, options, err);
}

static const struct opt diff_opts[] = {
    OPT_SET("stat", 0, struct diff_options, stat, "print the number of changed lines per file"),
    OPT_SET(
        "name-only", 0, struct diff_options, name_only, "print only the names of changed files"),
};

static const struct example diff_examples[] = {
    {"cordon box diff fix-login --stat", "changed files, with the number of changed lines"},
    {"cordon box diff fix-login -- src", "only below src"},
    {"cordon box diff fix-login | git apply", "apply to another work tree"},
};

const struct cmd cmd_box_diff = {
    .name = "diff",
    .summary = "print a box's changes as a patch for git apply",
    .about = "Compares the box with the version that it started with, or that was applied "
             "last. Written to a pipe or a file, the output is exactly the format that 'git "
             "apply' accepts, including modes, links and binary files. On a terminal, control "
             "characters are escaped. The contents of .git are not included: a commit made in "
             "the box appears as changes to files. The exit status is 0 with and without "
             "changes.\nPaths are absolute, or relative to the project root.\nA ':rw' box "
             "works on the real directory; then git's own view of it is shown, compared with "
             "HEAD, by a git that runs in a sandbox.",
    .usage = "NAME [-- PATH…]",
    .min_args = 1,
    .max_args = 1 + BOX_PATHS_MAX,
    .arg_kind = ARG_BOX_FILES,
    CMD_OPTS(diff_opts, struct diff_options),
    CMD_EXAMPLES(diff_examples),
    .run = run_diff,
};
