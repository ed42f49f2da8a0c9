/* cordon box prune: remove unneeded boxes and files left by crashed commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/reset.h"
#include "box/trash.h"
#include "cli/box_cmds.h"

enum {
    TRASH_MS = 60 * 1000,
    KEPT_OPEN_MAX = 200, /* boxes per run: each keeps two descriptors open */
};

struct prune_options {
    bool yes, dry_run;
};

/* A removable box: not running, with all changes applied. */
struct spare {
    struct str name;
    int lock, hold;
};

struct pruning {
    struct cli *cli;
    const struct prune_options *o;
    struct boxes boxes;
    struct agent_rows rows;
    struct spare spares[KEPT_OPEN_MAX];
    size_t n;
    struct trash_left left;
    size_t swept, runs;
};

/* Adds the box if it can be removed; any error means that it is kept. */
static void prune_inspect_box(struct pruning *p, struct str name)
{
    AUTO_ERR struct err why = {0};
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_BOX_LOCK int lock = -1;
    AUTO_FD int hold = -1;
    if (p->n == KEPT_OPEN_MAX || !boxes_lock(&p->boxes, name, &lock, &why) ||
        !box_open(&p->boxes, name, &p->rows, p->cli->arena, &box, &why) ||
        !state_hold(box.host, &hold, &why) ||
        !config_box_recover(p->cli->arena, &box, out_notices(p->cli), &why) ||
        !reset_refuse_loss(&box, "pruning", &why))
        return;
    p->spares[p->n++] = (struct spare){box.name, TAKE_FD(lock), TAKE_FD(hold)};
}

/* Deletes old recordings of the remaining boxes; with --dry-run, only counts them. */
static void drop_old_runs(struct pruning *p, const struct str_list *names)
{
    for (size_t i = 0; i < names->n; i++) {
        AUTO_ERR struct err ignored = {0};
        AUTO(box_close) struct box box = BOX_NONE;
        if (box_open(&p->boxes, names->p[i], &p->rows, p->cli->arena, &box, &ignored))
            p->runs += box_use_old_runs(&box, p->o->dry_run, p->cli->arena);
    }
}

static bool prune_confirm(struct pruning *p, struct err *err)
{
    AUTO_BUF struct buf names = BUF_INIT(64 * 1024);
    if (p->o->yes || p->o->dry_run || p->n == 0)
        return true;
    for (size_t i = 0; i < p->n; i++)
        buf_printf(&names, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(p->spares[i].name));
    const char *question =
        arena_printf(p->cli->arena, "Destroy %s (not running, nothing to apply)?", buf_z(&names));
    return box_use_consent(p->cli, question, "use --yes", err);
}

static bool destroy_spares(struct pruning *p, struct err *err)
{
    for (size_t i = 0; i < p->n && !p->o->dry_run; i++)
        if (!boxes_destroy(&p->boxes, p->spares[i].name, err))
            return false;
    return true;
}

static bool prune_print(struct pruning *p, struct err *err)
{
    struct cli *cli = p->cli;
    if (!cli->json) {
        for (size_t i = 0; i < p->n; i++)
            out_line(cli, "%s " STR_FMT, p->o->dry_run ? "would destroy" : "destroyed",
                STR_ARG(p->spares[i].name));
        if (p->swept)
            out_line(cli, "unfinished boxes removed: %zu", p->swept);
        if (p->runs)
            out_line(cli, "old recordings%s removed: %zu", p->o->dry_run ? " that would be" : "",
                p->runs);
        if (p->left.left)
            out_warn(cli, "%zu directory trees are not yet deleted: run this command again",
                p->left.left);
        return true;
    }
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < p->n; i++)
        json_push(list, json_text(p->spares[i].name));
    json_put(object, "destroyed", list);
    json_put(object, "dry_run", json_boolean(p->o->dry_run));
    json_put(object, "unfinished", json_integer((json_int_t)p->swept));
    json_put(object, "recordings", json_integer((json_int_t)p->runs));
    json_put(object, "deleted_files", json_integer((json_int_t)p->left.deleted));
    json_put(object, "left", json_integer((json_int_t)p->left.left));
    return out_json(cli, object, err);
}

static bool prune_boxes(struct pruning *p, struct err *err)
{
    struct str_list names;
    if (!config_box_rows(p->cli->arena, &p->rows, err) ||
        !boxes_list(&p->boxes, p->cli->arena, &names, err))
        return false;
    /* Leftovers are removed without asking. */
    if (!p->o->dry_run && (!trash_sweep(&p->boxes, &p->swept, err) ||
                              !trash_empty(&p->boxes, TRASH_MS, &p->left, err)))
        return false;
    for (size_t i = 0; i < names.n; i++)
        prune_inspect_box(p, names.p[i]);
    if (!prune_confirm(p, err) || !destroy_spares(p, err))
        return false;
    drop_old_runs(p, &names);
    size_t deleted = p->left.deleted;
    if (p->n && !p->o->dry_run && !trash_empty(&p->boxes, TRASH_MS, &p->left, err))
        return false;
    p->left.deleted += p->n ? deleted : 0;
    return prune_print(p, err);
}

static bool run_prune(struct cli *cli, const struct args *args, struct err *err)
{
    struct pruning *p = ARENA_NEW(cli->arena, struct pruning, 1);
    *p = (struct pruning){.cli = cli, .o = args->options, .boxes = BOXES_NONE};
    bool ok = config_boxes(cli->arena, BOXES_LOOK, &p->boxes, err);
    if (ok && p->boxes.fd >= 0) {
        boxes_close(&p->boxes);
        ok = config_boxes(cli->arena, BOXES_MAKE, &p->boxes, err);
    }
    ok = ok && prune_boxes(p, err);
    for (size_t i = 0; i < p->n; i++) {
        boxes_unlock(&p->spares[i].lock);
        auto_fd(&p->spares[i].hold);
    }
    boxes_close(&p->boxes);
    return ok;
}

static const struct opt prune_opts[] = {
    OPT_SET("dry-run", 0, struct prune_options, dry_run, "only list what would be removed"),
    OPT_SET("yes", 'y', struct prune_options, yes, "do not ask"),
};

static const struct example prune_examples[] = {
    {"cordon box prune --dry-run", "list boxes that would be removed"},
};

const struct cmd cmd_box_prune = {
    .name = "prune",
    .summary = "remove boxes with nothing to apply, and leftovers",
    .about = "Boxes that are running or have unapplied changes are kept. Leftovers of killed "
             "commands, remaining files of destroyed boxes, and all but the newest 10 "
             "recordings of each box are deleted without asking.",
    .usage = "",
    CMD_OPTS(prune_opts, struct prune_options),
    CMD_EXAMPLES(prune_examples),
    .run = run_prune,
};
