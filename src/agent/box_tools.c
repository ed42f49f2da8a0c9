/* Running an agent's tools in a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_tools.h"

#include "box/box.h"
#include "config/config.h"
#include "job/program.h"

#include <errno.h>
#include <limits.h>

enum {
    START_MS = 60 * 1000, /* the box is started as well, if it is not running */
};

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
                "%s cannot be combined with --box: the box itself is the boundary", rows[i].name);
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

/* The box is the boundary; the tool server adds no second sandbox inside it. */
static bool box_tools_serve(const char *name, const char *program, enum remote_user user,
    struct remote **ret_remote, struct err *err)
{
    const char *const argv[] = {program, "box", "exec", name, program, "tool", "--serve",
        "--fs-mode", "unrestricted", "--no-sandbox", "--ack-unsafe-sandbox", "--ack-unsafe-network",
        NULL};
    return remote_start(argv, user, ret_remote, err);
}

bool box_tools_start(struct arena *a, const char *name, const char *program, const char **ret_dir,
    struct remote **ret_remote, struct err *err)
{
    struct str found;
    const char *dir;
    if (!box_tools_find_project(a, name, &dir, err))
        return false;
    if (!program && !program_find(a, STR("cordon"), STR("/"), &found, err))
        return err_wrap(err, "the tools of a box are run by cordon(1)");
    struct remote *remote;
    if (!box_tools_serve(name, program ? program : found.p, REMOTE_LIBRARY, &remote, err))
        return err_wrap(err, "cannot start the tools of the box");
    if (!remote_await(remote, START_MS, err)) {
        remote_stop(remote);
        return err_wrap(err, "cannot start the tools of the box");
    }
    *ret_remote = remote;
    *ret_dir = dir;
    return true;
}

bool box_tools_open(struct arena *a, const char *name, struct remote **ret_remote, struct err *err)
{
    char self[PATH_MAX];
    const char *project = NULL;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0)
        return err_errno(err, E_IO, errno, "cannot determine the path of this program");
    self[n] = '\0';
    if (!box_tools_find_project(a, name, &project, err))
        return false;
    if (chdir(project) != 0)
        return err_errno(err, E_IO, errno, "cannot change to the box's project '%s'", project);
    return box_tools_serve(name, self, REMOTE_PROGRAM, ret_remote, err);
}
