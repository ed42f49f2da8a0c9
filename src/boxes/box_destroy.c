/* Destroying boxes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_destroy.h"

#include "box/name.h"
#include "box/reset.h"
#include "box/state.h"
#include "box/trash.h"
#include "boxd/client.h"
#include "config/boxes.h"
#include "path/beneath.h"

#include <fcntl.h>

/* A box whose files are damaged can still be destroyed. */
static bool box_destroy_open_broken(struct box_destroy *d, struct box_destroy_one *one,
    struct str name, struct err *why, struct err *err)
{
    if (!d->abandon) {
        err_ctx(why, "remedy", "use --abandon-unapplied to destroy it anyway");
        return err_move(err, why);
    }
    if (!boxes_find(&d->boxes, name, &one->box.fd, err))
        return false;
    AUTO_FREE char *path = beneath_name(one->box.fd);
    one->box.name = arena_str(d->arena, name);
    one->box.path = arena_str(d->arena, str_z(path ? path : ""));
    one->box.host = openat(one->box.fd, "host", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return true;
}

static bool box_destroy_add(struct box_destroy *d, struct str name, struct err *err)
{
    AUTO_ERR struct err why = {0};
    AUTO_FD int found = -1;
    struct box_state state;
    struct box_destroy_one *one = &d->p[d->n++];
    *one = (struct box_destroy_one){.box = BOX_NONE, .lock = -1, .hold = -1};
    if (!boxes_find(&d->boxes, name, &found, err) || !boxes_lock(&d->boxes, name, &one->lock, err))
        return false;
    if (!box_open(&d->boxes, name, &d->rows, d->arena, &one->box, &why))
        return box_destroy_open_broken(d, one, name, &why, err);
    if (!config_box_recover(d->arena, &one->box, d->warnings, &why) && !d->abandon)
        return err_move(err, &why);
    return state_load(one->box.host, d->arena, &state, &one->running, err) &&
           (d->abandon || reset_refuse_loss(&one->box, "destroying", err));
}

static bool box_destroy_one(struct box_destroy *d, struct box_destroy_one *one, struct err *err)
{
    return (one->box.host < 0 || client_halt(&one->box, &one->hold, err)) &&
           boxes_destroy(&d->boxes, one->box.name, err);
}

static bool box_destroy_all(struct box_destroy *d, const struct str_list *names, struct err *err)
{
    d->p = ARENA_NEW(d->arena, struct box_destroy_one, names->n + 1);
    for (size_t i = 0; i < names->n; i++)
        if (!box_name_check(names->p[i], err) || !box_destroy_add(d, names->p[i], err))
            return false;
    if (d->agree && !d->agree(d->context, d, err))
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (!box_destroy_one(d, &d->p[i], err))
            return false;
    return true;
}

void box_destroy_done(struct box_destroy *d)
{
    for (size_t i = 0; i < d->n; i++) {
        box_close(&d->p[i].box);
        boxes_unlock(&d->p[i].lock);
        auto_fd(&d->p[i].hold);
    }
    boxes_close(&d->boxes);
}

/* Without boxes their directory is not created. */
bool box_destroy_run(struct box_destroy *d, const struct str_list *names, struct err *err)
{
    if (!config_boxes(d->arena, BOXES_LOOK, &d->boxes, err) ||
        !config_box_rows(d->arena, &d->rows, err))
        return false;
    if (names->n && d->boxes.fd >= 0) {
        boxes_close(&d->boxes);
        d->boxes = BOXES_NONE;
        if (!config_boxes(d->arena, BOXES_MAKE, &d->boxes, err))
            return false;
    }
    if (!box_destroy_all(d, names, err))
        return false;
    trash_empty_soon(&d->boxes);
    return true;
}

json_t *box_destroy_json(const struct box_destroy *d)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < d->n; i++)
        json_push(list, json_text(d->p[i].box.name));
    json_put(object, "destroyed", list);
    return object;
}
