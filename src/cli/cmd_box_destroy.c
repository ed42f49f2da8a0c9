/* cordon box destroy: remove boxes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/name.h"
#include "boxes/box_destroy.h"
#include "cli/box_cmds.h"

enum {
    NAMES_MAX = 1000,
};

struct destroy_options {
    bool abandon, yes, all;
};

struct destroy_ctx {
    struct cli *cli;
    const struct destroy_options *o;
};

/* --all asks even if nothing is at risk: the boxes were not named one by one. */
static bool destroy_confirm(void *context, const struct box_destroy *d, struct err *err)
{
    const struct destroy_ctx *c = context;
    AUTO_BUF struct buf act = BUF_INIT(64 * 1024);
    bool running = false;
    buf_add_z(&act, "Destroy ");
    for (size_t i = 0; i < d->n; i++) {
        running = running || d->p[i].running;
        buf_printf(&act, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(d->p[i].box.name));
    }
    if (c->o->all && !c->o->yes && d->n)
        return box_use_consent(
            c->cli, arena_printf(c->cli->arena, "%s?", buf_z(&act)), "use --yes", err);
    return box_use_risk(c->cli,
        &(struct box_risk){
            .act = buf_z(&act), .running = running, .abandon = c->o->abandon, .yes = c->o->yes},
        err);
}

static bool destroy_list_all(struct cli *cli, struct str_list *ret_names, struct err *err)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    return config_boxes(cli->arena, BOXES_LOOK, &boxes, err) &&
           boxes_list(&boxes, cli->arena, ret_names, err);
}

/* The given names without duplicates. */
static bool destroy_parse_names(const struct destroy_ctx *c, const struct args *args,
    struct str_list *ret_names, struct err *err)
{
    struct str_list names = {ARENA_NEW(c->cli->arena, struct str, args->n + 1), 0};
    if (c->o->all && args->n)
        return err_set(
            err, E_CLI_INVALID_ARG, "--all cannot be combined with a name: '%s'", args->v[0]);
    if (c->o->all)
        return destroy_list_all(c->cli, ret_names, err);
    if (!args->n)
        return err_set(err, E_CLI_INVALID_ARG,
            "'cordon box destroy' needs NAME or --all: cordon box destroy [OPTION…] NAME…|--all");
    for (size_t i = 0; i < args->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < names.n; k++)
            seen = seen || str_is(names.p[k], args->v[i]);
        if (!box_name_check(str_z(args->v[i]), err))
            return false;
        if (!seen)
            names.p[names.n++] = str_z(args->v[i]);
    }
    *ret_names = names;
    return true;
}

static bool run_destroy(struct cli *cli, const struct args *args, struct err *err)
{
    struct destroy_ctx c = {.cli = cli, .o = args->options};
    struct box_destroy d = BOX_DESTROY_INIT(cli->arena);
    struct str_list names;
    d.abandon = c.o->abandon;
    d.warnings = out_notices(cli);
    d.agree = destroy_confirm;
    d.context = &c;
    bool ok = destroy_parse_names(&c, args, &names, err) && box_destroy_run(&d, &names, err);
    if (ok && cli->json)
        ok = out_json(cli, box_destroy_json(&d), err);
    box_destroy_done(&d);
    return ok;
}

static const struct opt destroy_opts[] = {
    OPT_SET("abandon-unapplied", 0, struct destroy_options, abandon, "discard unapplied changes"),
    OPT_SET("all", 0, struct destroy_options, all, "destroy all boxes"),
    OPT_SET("yes", 'y', struct destroy_options, yes, "do not ask"),
};

static const struct example destroy_examples[] = {
    {"cordon box destroy fix-login", "after its changes are applied"},
    {"cordon box destroy try --abandon-unapplied", "including its unapplied changes"},
};

const struct cmd cmd_box_destroy = {
    .name = "destroy",
    .summary = "delete boxes permanently",
    .about = "A running box is stopped. If one of the boxes has unapplied changes, none is "
             "destroyed without --abandon-unapplied (E_CONFLICT). The project is not modified. "
             "Files that take long to delete are left for later commands to delete.",
    .usage = "NAME…|--all",
    .min_args = 0,
    .max_args = NAMES_MAX,
    .arg_kind = ARG_BOX,
    CMD_OPTS(destroy_opts, struct destroy_options),
    CMD_EXAMPLES(destroy_examples),
    .run = run_destroy,
};
