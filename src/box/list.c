/* The list of boxes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/list.h"

#include "change/upper.h"
#include "path/exact.h"

static bool look_at_changes(const struct box *box, bool *ret_any, struct err *err)
{
    AUTO(box_close_trees) struct box_trees t = BOX_TREES_NONE;
    *ret_any = false;
    if (box->setup.layering == BOX_LAYERS_NONE)
        return true;
    if (!box_open_trees(box, &t, err))
        return false;
    AUTO_MANIFEST struct manifest same = MANIFEST_INIT;
    box_load_same(&t, box->host, &same);
    struct upper_options options = {.opaque_root = t.opaque_root, .same = &same};
    return upper_any(t.baseline >= 0 ? t.baseline : t.project, t.upper, &options, ret_any, err);
}

static bool look_inside(const struct boxes *boxes, const struct agent_rows *rows,
    struct arena *arena, struct box_listed *b, struct err *err)
{
    AUTO(box_close) struct box box = BOX_NONE;
    struct box_state state;
    bool held;
    if (!box_open(boxes, b->name, rows, arena, &box, err))
        return false;
    b->meta = box.meta;
    b->has_meta = true;
    if (!state_load(box.host, arena, &state, &held, err))
        return false;
    b->status = state.status;
    return look_at_changes(&box, &b->changes, err);
}

/* Returns false if the box was destroyed in the meantime. */
static bool inspect_box(const struct boxes *boxes, const struct agent_rows *rows,
    struct arena *arena, struct box_listed *b)
{
    AUTO_ERR struct err none = {0};
    AUTO_FD int fd = -1;
    if (look_inside(boxes, rows, arena, b, &b->error))
        return true;
    bool found = boxes_find(boxes, b->name, &fd, &none);
    if (!found && none.code == E_NOT_FOUND)
        return false;
    b->status = b->has_meta ? b->status : BOX_FAILED;
    b->has_meta = b->has_meta || (found && meta_load(fd, b->name, arena, &b->meta, &none));
    return true;
}

void list_inspect(const struct boxes *boxes, const struct str_list *names,
    const struct agent_rows *rows, struct arena *arena, struct box_list *ret_list)
{
    struct box_listed *list = ARENA_NEW(arena, struct box_listed, names->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++) {
        list[n] = (struct box_listed){.name = names->p[i]};
        if (inspect_box(boxes, rows, arena, &list[n]))
            n++;
        else
            err_done(&list[n].error);
    }
    *ret_list = (struct box_list){list, n};
}

void list_done(struct box_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        err_done(&list->p[i].error);
    list->n = 0;
}

json_t *list_json(const struct box_listed *b)
{
    json_t *object = json_object();
    const struct box_meta *m = &b->meta;
    json_put(object, "name", json_text(b->name));
    json_put(object, "status", json_string(box_status_names[b->status]));
    json_put(object, "agent", json_text(m->agent));
    json_put(object, "mode", json_string(b->has_meta ? box_mode_name(m->workdir.mode) : ""));
    exact_put(object, "workdir", m->workdir.host_path);
    json_put(object, "created_at", json_text(m->created_at));
    json_put(object, "changes", json_boolean(b->changes));
    if (b->error.code)
        json_put(object, "error", err_to_json(&b->error));
    return object;
}

json_t *list_all_json(const struct box_list *list)
{
    json_t *object = json_object(), *boxes = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_push(boxes, list_json(&list->p[i]));
    json_put(object, "boxes", boxes);
    return object;
}
