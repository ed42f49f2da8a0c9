/* From a policy to a plan and an environment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/confined.h"

#include "base/variable.h"
#include "policy/host.h"
#include "repo/identity.h"
#include "repo/protect.h"
#include "sandbox/env.h"

static void confined_add_developer(
    struct confined *c, const struct confined_options *options, struct arena *arena)
{
    const struct developer_input input = {
        .home = options->host.home,
        .environ = options->environ,
        .no_home = c->policy.sandbox == POLICY_LANDLOCK || c->policy.sandbox == POLICY_NO_SANDBOX,
        .may_show = options->may_show,
    };
    developer_add(&input, arena, &c->effective, &c->developer);
}

void confined_judge(struct confined *c, const struct confined_options *options, struct arena *arena)
{
    c->effective = c->policy;
    c->developer = (struct developer){0};
    if (c->policy.developer && !options->own_view)
        confined_add_developer(c, options, arena);
    policy_validate(&c->effective, &options->host, arena, &c->verdict);
    if (options->denial)
        denials_add(&c->verdict.denials, options->denial);
    if (options->command.path)
        policy_validate_command(&c->verdict, &options->command);
}

/* The private home directory gets the safe part of the user's git settings. */
static void confined_add_identity(struct host_plan_input *input, const struct confined *c,
    const char *const *variables, struct arena *arena)
{
    const char *config = variable_of(variables, STR("XDG_CONFIG_HOME")).p;
    struct str text = identity_read(c->developer.home.p, config, arena);
    struct baseline_file *file = ARENA_NEW(arena, struct baseline_file, 1);
    const char *at = arena_printf(arena, STR_FMT "/.gitconfig", STR_ARG(c->developer.home));
    if (!text.n)
        return;
    *file = (struct baseline_file){str_z(at), text};
    input->files = file;
    input->n_files = 1;
}

/* Programs find the proxy by these; all others have no way out. */
static void confined_add_proxy(struct confined *c, struct arena *arena)
{
    static const char *const names[] = {
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"};
    AUTO_BUF struct buf text = BUF_INIT(64);
    host_add_direct(&c->plan.hosts, &text);
    const struct str direct = arena_str(arena, buf_str(&text));
    const struct {
        const char *name, *text;
    } others[] = {
        {"NO_PROXY", direct.p}, {"no_proxy", direct.p},
        {"NODE_USE_ENV_PROXY", "1"}, /* without it node ignores these variables */
    };
    struct str_map *set = &c->effective.env.set;
    size_t cap = set->n; /* full: the policy has the same list */
    struct str url = str_z(arena_printf(arena, "http://127.0.0.1:%d", PLAN_PROXY_PORT));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        ARENA_GROW(arena, set->p, set->n, cap);
        set->p[set->n++] = (struct str_pair){str_z(names[i]), url};
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        ARENA_GROW(arena, set->p, set->n, cap);
        set->p[set->n++] = (struct str_pair){str_z(others[i].name), str_z(others[i].text)};
    }
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
    input.home = c->developer.home;
    if (c->developer.home.n)
        confined_add_identity(&input, c, options->environ, arena);
    if (!options->own_view) {
        input.links = c->developer.narrow.links;
        input.n_links = c->developer.narrow.n_links;
    }
    input.n_kept = protect ? protect_kept(protect, arena, &parts) : 0;
    input.kept = c->kept = parts;
    c->n_kept = input.n_kept;
    if (!host_plan(&input, arena, &c->plan, err))
        return false;
    if (options->inside_command.p) {
        c->plan.command = options->inside_command;
        c->plan.command_name = (struct str){0};
    }
    if (options->inside_cwd.p)
        c->plan.cwd = options->inside_cwd;
    if (c->plan.hosts.n)
        confined_add_proxy(c, arena);
    c->envp = env_make(&c->effective.env, options->environ ? options->environ : nothing, arena);
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
