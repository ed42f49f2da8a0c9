/* Running an agent's tools in a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_tools.h"

#include "box/box.h"
#include "config/config.h"

#include <errno.h>
#include <limits.h>

bool box_tools_check(const struct tool_setup_options *o, struct err *err)
{
    const struct {
        const char *name;
        bool given;
    } rows[] = {
        {"--policy", o->policy},
        {"--fs-mode", o->fs_mode && strcmp(o->fs_mode, "restricted") != 0},
        {"--no-sandbox", o->no_sandbox},
        {"--sandbox", o->sandbox},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].given)
            return err_set(err, E_CLI_INVALID_ARG,
                "%s does not go with --box: the box is the boundary, and was made with one",
                rows[i].name);
    return true;
}

static bool box_tools_find_project(
    struct arena *a, const char *name, const char **ret_dir, struct err *err)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    struct config config;
    const char *dir;
    if (!config_load_user(a, &config, err) || !config_state_path(a, "sandboxes", &dir, err) ||
        !boxes_open(dir, BOXES_LOOK, &boxes, err))
        return false;
    const struct agent_rows users = {config.agents, config.n_agents};
    if (!box_open(&boxes, str_z(name), &users, a, &box, err))
        return false;
    *ret_dir = arena_strdup(a, box.meta.workdir.host_path);
    return true;
}

bool box_tools_open(struct arena *a, const char *name, struct remote **ret_remote, struct err *err)
{
    char self[PATH_MAX];
    const char *project = NULL;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0)
        return err_errno(err, E_IO, errno, "cannot find this program");
    self[n] = '\0';
    if (!box_tools_find_project(a, name, &project, err))
        return false;
    if (chdir(project) != 0)
        return err_errno(err, E_IO, errno, "cannot go to the box's project '%s'", project);
    /* The box is the boundary; the tool server adds no second sandbox inside it. */
    const char *const argv[] = {self, "box", "exec", name, self, "tool", "--serve", "--fs-mode",
        "unrestricted", "--no-sandbox", "--ack-unsafe-sandbox", "--ack-unsafe-network", NULL};
    return remote_start(argv, ret_remote, err);
}
