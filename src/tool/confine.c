/* Builds the policy of a tool's command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/confine.h"

#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/blocked.h"
#include "policy/dir_list.h"
#include "policy/preset.h"
#include "tool/tool.h"
#include "tool/tool_world.h"

#include <fcntl.h>

enum {
    DENIED_TOLD = 2,   /* lines for the model */
    EXPAND_LEVELS = 4, /* depth of directories that a policy must not list as a whole */
    EXPAND_MAX = 4000, /* maximum entries of the list */
};

/* unrestricted -------------------------------------------------------------------------------- */

/* Expanded last: it may have very many entries. */
#define TEMPORARY "/tmp"

struct expansion {
    struct arena *a;
    const char *home;
    struct str *p;
    size_t n;
};

/* Lists the entries of directories that a policy must not list; omits those of the kernel. */
static void confine_expand_dir(struct expansion *x, struct str dir, unsigned level)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open(&d, AT_FDCWD, dir.p))
        return;
    while (x->n < EXPAND_MAX && dir_next(&d)) {
        struct str path = str_z(arena_printf(x->a, "%s/%s", dir.n > 1 ? dir.p : "", d.name));
        struct stat st;
        if (fstatat(d.fd, d.name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) || str_is(path, TEMPORARY))
            continue;
        bool home = x->home && str_is(path, x->home);
        if (!home && !blocked_path(path, BLOCKED_READ))
            x->p[x->n++] = path;
        else if (S_ISDIR(st.st_mode) && level < EXPAND_LEVELS &&
                 (home || !blocked_path(str_z(arena_printf(x->a, STR_FMT "/x", STR_ARG(path))),
                              BLOCKED_READ)))
            confine_expand_dir(x, path, level + 1);
    }
}

/* Everything is readable and the working directory is writable. Entries of /tmp appear in the
 * command's private /tmp, which is writable. */
static bool unrestricted_policy(
    const struct toolbox *box, struct arena *a, struct policy *ret_policy, struct err *err)
{
    struct expansion x = {.a = a, .home = box->options->home};
    if (!preset_load("build", str_z(box->options->cwd), a, ret_policy, err))
        return false;
    x.p = ARENA_NEW(a, struct str, EXPAND_MAX);
    confine_expand_dir(&x, STR("/"), 0);
    confine_expand_dir(&x, STR(TEMPORARY), 0);
    ret_policy->fs.allowed_read =
        dir_list_join(a, ret_policy->fs.allowed_read, (struct str_list){x.p, x.n});
    return true;
}

/* workspace ----------------------------------------------------------------------------------- */

/* The project is readable and executable, the workspace is writable. */
static bool workspace_policy(
    const struct toolbox *box, struct arena *a, struct policy *ret_policy, struct err *err)
{
    struct policy policy;
    if (!preset_load("build", box->root, a, &policy, err))
        return false;
    policy.fs.allowed_write = (struct str_list){ARENA_NEW(a, struct str, 1), 1};
    policy.fs.allowed_write.p[0] = box->workspace;
    *ret_policy = policy;
    return true;
}

static bool mode_policy(
    const struct toolbox *box, struct arena *a, struct policy *ret_policy, struct err *err)
{
    switch (box->options->mode) {
    case TOOLBOX_WORKSPACE:
        return workspace_policy(box, a, ret_policy, err);
    case TOOLBOX_UNRESTRICTED:
        return unrestricted_policy(box, a, ret_policy, err);
    default:
        return preset_load("build", box->root, a, ret_policy, err);
    }
}

/* Sets environment variables of a command in addition to the preset's. */
static void set_env(struct policy *p, struct arena *a)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"GIT_PAGER", "cat"},
        {"GIT_TERMINAL_PROMPT", "0"},
        {"PAGER", "cat"},
    };
    struct str_map *set = &p->env.set;
    struct str_pair *pairs = ARENA_NEW(a, struct str_pair, set->n + ARRAY_LEN(rows));
    memcpy(pairs, set->p, set->n * sizeof(*pairs));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        pairs[set->n++] = (struct str_pair){str_z(rows[i].name), str_z(rows[i].text)};
    set->p = pairs;
}

static void confine_weaken(const struct toolbox *box, struct policy *p)
{
    if (!box->options->landlock || p->sandbox == POLICY_NO_SANDBOX)
        return;
    p->sandbox = POLICY_LANDLOCK;
    p->sandbox_unsafe_ack = true;
}

/* A given policy is used as is, except for the caller's choice of sandbox. */
static bool confine_make_policy(
    const struct toolbox *box, struct arena *a, struct policy *ret_policy, struct err *err)
{
    if (box->options->policy) {
        *ret_policy = *box->options->policy;
        confine_weaken(box, ret_policy);
        return true;
    }
    struct policy policy;
    if (!mode_policy(box, a, &policy, err))
        return false;
    set_env(&policy, a);
    if (box->options->no_sandbox) {
        policy.sandbox = POLICY_NO_SANDBOX;
        policy.network = POLICY_NETWORK_ENABLED;
        policy.sandbox_unsafe_ack = policy.network_unsafe_ack = true;
    }
    confine_weaken(box, &policy);
    *ret_policy = policy;
    return true;
}

void confine_subject(struct str command, struct str workdir, struct buf *subject)
{
    if (workdir.n && !str_is(workdir, ".")) {
        buf_add_z(subject, "cd '");
        for (size_t i = 0; i < workdir.n; i++) {
            if (workdir.p[i] == '\'')
                buf_add_z(subject, "'\\'");
            buf_add_byte(subject, workdir.p[i]);
        }
        buf_add_z(subject, "' && ");
    }
    buf_add_str(subject, command);
}

static bool find_workdir(
    struct toolbox *box, struct str workdir, struct arena *a, const char **ret_dir, struct err *err)
{
    struct resolved where;
    if (!toolbox_resolve(
            box, workdir.p ? workdir : str_z(box->options->cwd), false, a, &where, err))
        return err_wrap(err, "workdir");
    if (!where.exists || !S_ISDIR(where.st.st_mode))
        return err_set(err, E_TOOL_VALIDATION, "workdir: '" STR_FMT "' is %s", STR_ARG(workdir),
            where.exists ? "not a directory" : "missing");
    *ret_dir = where.path.p;
    return true;
}

static const char *confine_shell(void)
{
    return access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
}

/* A session's later commands read the complete output of earlier ones at its path. A single command
 * has no later ones. */
static void confine_show_logs(struct toolbox *box, struct arena *a, struct host_plan_input *plan)
{
    const struct toolbox_options *o = box->options;
    struct stat st;
    if (!o->log_dir || o->policy || !tool_world_is_wanted(o) || !toolbox_make_logs(box))
        return;
    AUTO_FREE char *resolved = beneath_resolve(o->log_dir);
    if (!resolved || strcmp(resolved, o->log_dir) != 0 || lstat(resolved, &st) != 0)
        return;
    struct str path = str_z(arena_strdup(a, str_z(resolved)));
    struct plan_bind *bind = ARENA_NEW(a, struct plan_bind, 1);
    *bind = (struct plan_bind){.at = path, .source = {path, st.st_dev, st.st_ino}, .is_dir = true};
    plan->binds = bind;
    plan->n_binds = 1;
}

/* Makes the plan for a command in this directory. */
static bool confine_plan(
    struct toolbox *box, const char *cwd, struct arena *a, struct confined *c, struct err *err)
{
    const struct toolbox_options *o = box->options;
    if (o->extra)
        extra_apply(o->extra, (const char *const *)environ, a, &c->policy);
    struct confined_options options = {
        .host = {.home = o->home,
            .read_as_found = o->mode == TOOLBOX_UNRESTRICTED && !o->policy,
            .own_env = !o->policy},
        .command = {.path = confine_shell(), .cwd = cwd},
        .plan = {.own = o->own, .n_own = o->n_own},
        .environ = (const char *const *)environ,
    };
    confined_judge(c, &options, a);
    if (!verdict_ok(&c->verdict, err))
        return false;
    struct str *roots;
    size_t n = verdict_dirs(&c->verdict.write, a, &roots);
    toolbox_protect(box, roots, n);
    options.protect = box->protect;
    confine_show_logs(box, a, &options.plan);
    return confined_plan(c, &options, a, err);
}

/* A copy of the world's confinement for one command; `a` is the command's. */
static bool confine_in_world(struct toolbox *box, const char *cwd, struct arena *a,
    struct confined *c, struct world **ret_world, struct err *err)
{
    struct tool_world *w = tool_world_current(box);
    if (!w) {
        w = tool_world_new();
        if (!confine_make_policy(box, &w->arena, &w->confined.policy, err) ||
            !confine_plan(box, cwd, &w->arena, &w->confined, err) ||
            !tool_world_open(box, w, err)) {
            tool_world_drop(box, w);
            return false;
        }
    }
    *c = w->confined;
    c->verdict.arena = c->verdict.denials.arena = a;
    policy_validate_command(
        &c->verdict, &(struct policy_command){.path = confine_shell(), .cwd = cwd});
    *ret_world = w->world;
    return verdict_ok(&c->verdict, err);
}

/* A request has its own limits; those of a given policy stay. */
static void confine_set_budgets(
    const struct toolbox *box, const struct confine_request *request, struct policy_budgets *b)
{
    if (!box->options->policy) {
        b->max_output_bytes = request->output_bytes ? request->output_bytes : CONFINE_OUTPUT_MAX;
        b->max_runtime_ms = CONFINE_RUNTIME_MAX_MS;
    }
    b->max_runtime_ms = MIN(b->max_runtime_ms, request->runtime_ms);
}

bool confine(struct toolbox *box, const struct confine_request *request, struct arena *a,
    struct confine *ret_confine, struct err *err)
{
    struct confine *c = ret_confine;
    const char **argv = ARENA_NEW(a, const char *, 4), *cwd = NULL;
    c->world = NULL;
    if (!find_workdir(box, request->workdir, a, &cwd, err))
        return false;
    bool ok = tool_world_is_wanted(box->options)
                  ? confine_in_world(box, cwd, a, &c->confined, &c->world, err)
                  : confine_make_policy(box, a, &c->confined.policy, err) &&
                        confine_plan(box, cwd, a, &c->confined, err);
    if (!ok)
        return false;
    confine_set_budgets(box, request, &c->confined.policy.budgets);
    c->cwd = c->world ? c->confined.verdict.cwd.resolved.p : c->confined.plan.cwd.p;
    argv[0] = confine_shell();
    argv[1] = "-c";
    argv[2] = arena_strdup(a, request->command);
    argv[3] = NULL;
    c->confined.argv = argv;
    if (!c->world && !box->options->no_denials)
        c->confined.denied = denied_new();
    return true;
}

void confine_done(struct confine *c)
{
    if (!c->world)
        denied_free(c->confined.denied);
    c->confined.denied = NULL;
}

/* The directory that commands can write. */
static struct str confine_project(const struct toolbox *box)
{
    switch (box->options->mode) {
    case TOOLBOX_WORKSPACE:
        return box->workspace;
    case TOOLBOX_UNRESTRICTED:
        return str_z(box->options->cwd);
    default:
        return box->root;
    }
}

void confine_tell_denied(const struct toolbox *box, const struct confine *c, pid_t session,
    bool failed, struct tool_result *result)
{
    struct denied_style style = {.front = DENIED_FOR_TOOL,
        .home = box->options->home,
        .root = confine_project(box),
        .session = session,
        .failed_only = failed,
        .or_others = failed,
        .kept_only = !failed};
    AUTO_BUF struct buf text = BUF_INIT(64 << 10);
    struct str line, rest;
    size_t n = 0;
    if (!c->confined.denied)
        return;
    AUTO_JSON json_t *reasons = denied_json(c->confined.denied, &style);
    style.failed_only = style.or_others = style.kept_only = false;
    tool_detail(result, "denied", denied_take(c->confined.denied, &style));
    denied_add_lines(&text, reasons);
    rest = buf_str(&text);
    while (n++ < DENIED_TOLD && str_cut(rest, '\n', &line, &rest))
        buf_printf(&result->content, "[" STR_FMT "]\n", STR_ARG(line));
}
