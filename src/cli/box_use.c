/* What the commands of `cordon box` begin with. */
#include "cli/box_cmds.h"
#include "cli/config.h"

bool box_use_boxes(struct cli *cli, enum boxes_use use, struct boxes *ret_boxes, struct err *err)
{
    const char *dir;
    return config_state_path(cli->arena, "sandboxes", &dir, err) &&
           boxes_open(dir, use, ret_boxes, err);
}

bool box_use_rows(struct cli *cli, struct agent_rows *ret_rows, struct err *err)
{
    struct config config;
    if (!config_load_user(cli->arena, &config, err))
        return false;
    *ret_rows = (struct agent_rows){config.agents, config.n_agents};
    return true;
}
