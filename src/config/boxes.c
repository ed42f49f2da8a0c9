/* Boxes by the user's settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/boxes.h"

#include "config/config.h"
#include "config/project.h"

bool config_boxes(struct arena *a, enum boxes_use use, struct boxes *ret_boxes, struct err *err)
{
    const char *dir;
    return config_state_path(a, "sandboxes", &dir, err) && boxes_open(dir, use, ret_boxes, err);
}

bool config_box_rows(struct arena *a, struct agent_rows *ret_rows, struct err *err)
{
    struct config config;
    if (!config_load_user(a, &config, err))
        return false;
    *ret_rows = (struct agent_rows){config.agents, config.n_agents};
    return true;
}

bool config_box_open(
    struct arena *a, const char *name, unsigned purpose, struct box_use *ret_use, struct err *err)
{
    const char *dir;
    struct agent_rows rows;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (!config_state_path(a, "sandboxes", &dir, err) ||
        !box_use_find(dir, str_z(name), purpose, &use, err) || !config_box_rows(a, &rows, err) ||
        !box_use_read(&use, str_z(name), purpose, &rows, a, err))
        return false;
    *ret_use = use;
    use = BOX_USE_NONE;
    return true;
}

bool config_box_recover(
    struct arena *a, const struct box *box, struct notices warnings, struct err *err)
{
    AUTO(box_close_trees) struct box_trees trees = BOX_TREES_NONE;
    AUTO_ERR struct err gone = {0};
    /* A missing tree is reported by the command that needs it. */
    if (box->meta.workdir.mode == BOX_RW || !box_open_trees(box, &trees, &gone))
        return true;
    const int fds[] = {trees.project, trees.baseline};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0 && !project_recover(a, &(struct project){.fd = fds[i]}, warnings, err))
            return false;
    return true;
}
