/* From a policy to a plan and an environment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/confined.h"

#include "repo/protect.h"
#include "sandbox/env.h"

void confined_judge(struct confined *c, const struct confined_options *options, struct arena *arena)
{
    policy_validate(&c->policy, &options->host, arena, &c->verdict);
    if (options->denial)
        denials_add(&c->verdict.denials, options->denial);
    if (options->command.path)
        policy_validate_command(&c->verdict, &options->command);
}

bool confined_plan(struct confined *c, const struct confined_options *options, struct arena *arena,
    struct err *err)
{
    static const char *const nothing[] = {NULL};
    struct host_plan_input input = options->plan;
    struct protect *protect = options->protect;
    struct str *parts = NULL;
    if (protect)
        protect->no_mounts = c->policy.sandbox == POLICY_LANDLOCK;
    if (protect && !protect_allows(protect, err))
        return false;
    input.verdict = &c->verdict;
    input.n_kept = protect ? protect_kept(protect, arena, &parts) : 0;
    input.kept = parts;
    if (!host_plan(&input, arena, &c->plan, err))
        return false;
    if (options->inside_command.p)
        c->plan.command = options->inside_command;
    if (options->inside_cwd.p)
        c->plan.cwd = options->inside_cwd;
    c->envp = env_make(&c->policy.env, options->environ ? options->environ : nothing, arena);
    return true;
}

bool confined_make(struct confined *c, const struct confined_options *options, struct arena *arena,
    struct err *err)
{
    confined_judge(c, options, arena);
    return verdict_ok(&c->verdict, err) && confined_plan(c, options, arena, err);
}

struct process_budgets confined_budgets(const struct confined *c)
{
    const struct policy_budgets *b = &c->policy.budgets;
    return (struct process_budgets){b->max_runtime_ms, b->max_output_bytes};
}
