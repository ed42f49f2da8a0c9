/* The sandbox for git. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/git_run.h"

#include "path/home.h"
#include "policy/preset.h"

#define SHELL "/bin/sh"

/* Allows the system's programs, and reading the root. */
static bool git_run_make_policy(
    const struct git_run *run, struct arena *a, struct policy *p, struct err *err)
{
    if (!preset_load("readonly", run->root.p ? run->root : STR("/usr/bin"), a, p, err))
        return false;
    if (!run->root.p)
        p->fs.working_dir = (struct str){0};
    p->exec.allow_shell = true;
    p->env.set = (struct str_map){run->env, run->n_env};
    p->budgets.max_runtime_ms = run->runtime_ms;
    p->budgets.max_output_bytes = run->output_bytes;
    return true;
}

bool git_run(
    const struct git_run *run, struct arena *arena, struct exec_result *ret_result, struct err *err)
{
    struct confined *c = ARENA_NEW(arena, struct confined, 1);
    struct confined_options options = {
        .host = {.home = home_dir(arena), .own_env = true},
        .plan = {.binds = run->binds, .n_binds = run->n_binds},
    };
    if (run->root.p) {
        options.command = (struct policy_command){SHELL, run->dir};
    } else {
        options.inside_command = STR(SHELL);
        options.inside_cwd = str_z(run->dir);
    }
    c->argv = run->argv;
    if (!git_run_make_policy(run, arena, &c->policy, err) ||
        !confined_make(c, &options, arena, err))
        return false;
    const struct exec_options exec = {
        .confined = c,
        .input = -1,
        .output = {run->output[0], run->output[1]},
        .signals = run->signals,
        .cancel = -1,
        .seen = run->seen,
        .context = run->context,
    };
    return exec_run(&exec, ret_result, err);
}
