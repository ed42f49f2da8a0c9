/* cordon box destroy: remove boxes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/name.h"
#include "box/reset.h"
#include "box/trash.h"
#include "boxd/client.h"
#include "cli/box_cmds.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>

enum {
    NAMES_MAX = 1000,
};

struct destroy_options {
    bool abandon, yes, all;
};

/* A box to destroy: its name is locked and, once stopped, it cannot be started. */
struct doomed {
    struct box box;
    int lock, hold;
    bool running;
};

struct destroying {
    struct cli *cli;
    const struct destroy_options *o;
    struct boxes boxes;
    struct agent_rows rows;
    struct doomed *p;
    size_t n;
};

/* A box whose files are damaged can still be destroyed. */
static bool open_broken(
    struct destroying *d, struct doomed *one, struct str name, struct err *why, struct err *err)
{
    if (!d->o->abandon) {
        err_ctx(why, "remedy", "--abandon-unapplied destroys it all the same");
        return err_move(err, why);
    }
    if (!boxes_find(&d->boxes, name, &one->box.fd, err))
        return false;
    AUTO_FREE char *path = beneath_name(one->box.fd);
    one->box.name = arena_str(d->cli->arena, name);
    one->box.path = arena_str(d->cli->arena, str_z(path ? path : ""));
    one->box.host = openat(one->box.fd, "host", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return true;
}

static bool destroy_add_box(struct destroying *d, struct str name, struct err *err)
{
    AUTO_ERR struct err why = {0};
    AUTO_FD int found = -1;
    struct box_state state;
    struct doomed *one = &d->p[d->n++];
    *one = (struct doomed){.box = BOX_NONE, .lock = -1, .hold = -1};
    if (!boxes_find(&d->boxes, name, &found, err) || !boxes_lock(&d->boxes, name, &one->lock, err))
        return false;
    if (!box_open(&d->boxes, name, &d->rows, d->cli->arena, &one->box, &why))
        return open_broken(d, one, name, &why, err);
    if (!config_box_recover(d->cli->arena, &one->box, out_notices(d->cli), &why) && !d->o->abandon)
        return err_move(err, &why);
    return state_load(one->box.host, d->cli->arena, &state, &one->running, err) &&
           (d->o->abandon || reset_refuse_loss(&one->box, "destroying", err));
}

/* --all asks even if nothing is at risk: the boxes were not named one by one. */
static bool destroy_confirm(struct destroying *d, struct err *err)
{
    AUTO_BUF struct buf act = BUF_INIT(64 * 1024);
    bool running = false;
    buf_add_z(&act, "Destroy ");
    for (size_t i = 0; i < d->n; i++) {
        running = running || d->p[i].running;
        buf_printf(&act, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(d->p[i].box.name));
    }
    if (d->o->all && !d->o->yes && d->n)
        return box_use_consent(
            d->cli, arena_printf(d->cli->arena, "%s?", buf_z(&act)), "give --yes", err);
    return box_use_risk(d->cli,
        &(struct box_risk){
            .act = buf_z(&act), .running = running, .abandon = d->o->abandon, .yes = d->o->yes},
        err);
}

static bool destroy_box(struct destroying *d, struct doomed *one, struct err *err)
{
    return (one->box.host < 0 || client_halt(&one->box, &one->hold, err)) &&
           boxes_destroy(&d->boxes, one->box.name, err);
}

static bool destroy_all(struct destroying *d, const struct str_list *names, struct err *err)
{
    d->p = ARENA_NEW(d->cli->arena, struct doomed, names->n + 1);
    for (size_t i = 0; i < names->n; i++)
        if (!destroy_add_box(d, names->p[i], err))
            return false;
    if (!destroy_confirm(d, err))
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (!destroy_box(d, &d->p[i], err))
            return false;
    return true;
}

static void destroy_close(struct destroying *d)
{
    for (size_t i = 0; i < d->n; i++) {
        box_close(&d->p[i].box);
        auto_fd(&d->p[i].lock);
        auto_fd(&d->p[i].hold);
    }
    boxes_close(&d->boxes);
}

/* The given names without duplicates. */
static bool destroy_parse_names(
    struct destroying *d, const struct args *args, struct str_list *ret_names, struct err *err)
{
    struct str_list names = {ARENA_NEW(d->cli->arena, struct str, args->n + 1), 0};
    if (d->o->all && args->n)
        return err_set(err, E_CLI_INVALID_ARG, "--all takes no names ('%s')", args->v[0]);
    if (d->o->all)
        return boxes_list(&d->boxes, d->cli->arena, ret_names, err);
    if (!args->n)
        return err_set(err, E_CLI_INVALID_ARG,
            "'cordon box destroy' needs an argument: cordon box destroy NAME…, or --all");
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

static bool destroy_print_json(struct destroying *d, struct err *err)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < d->n; i++)
        json_push(list, json_text(d->p[i].box.name));
    json_put(object, "destroyed", list);
    return out_json(d->cli, object, err);
}

static bool run_destroy(struct cli *cli, const struct args *args, struct err *err)
{
    struct destroying d = {.cli = cli, .o = args->options, .boxes = BOXES_NONE};
    struct str_list names;
    bool ok = config_boxes(cli->arena, BOXES_LOOK, &d.boxes, err) &&
              destroy_parse_names(&d, args, &names, err) &&
              config_box_rows(cli->arena, &d.rows, err);
    if (ok && names.n && d.boxes.fd >= 0) {
        boxes_close(&d.boxes);
        ok = config_boxes(cli->arena, BOXES_MAKE, &d.boxes, err);
    }
    ok = ok && destroy_all(&d, &names, err);
    if (ok && cli->json)
        ok = destroy_print_json(&d, err);
    if (ok)
        trash_empty_soon(&d.boxes);
    destroy_close(&d);
    return ok;
}

static const struct opt destroy_opts[] = {
    OPT_SET("abandon-unapplied", 0, struct destroy_options, abandon, "lose what was not applied"),
    OPT_SET("all", 0, struct destroy_options, all, "every box"),
    OPT_SET("yes", 'y', struct destroy_options, yes, "do not ask"),
};

static const struct example destroy_examples[] = {
    {"cordon box destroy fix-login", "when its changes are applied"},
    {"cordon box destroy try --abandon-unapplied", "with all that it did"},
};

const struct cmd cmd_box_destroy = {
    .name = "destroy",
    .summary = "remove boxes for good",
    .about = "A running box is stopped. If one of the boxes has changes that were not applied, "
             "none is destroyed without --abandon-unapplied (E_CONFLICT). The project is not "
             "touched. What takes long to delete is left to later commands.",
    .usage = "NAME…",
    .min_args = 0,
    .max_args = NAMES_MAX,
    .arg_kind = ARG_BOX,
    CMD_OPTS(destroy_opts, struct destroy_options),
    CMD_EXAMPLES(destroy_examples),
    .run = run_destroy,
};
