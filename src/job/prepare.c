/* Turns policies and options into verdicts and plans. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/prepare.h"

#include "job/helpers.h"
#include "job/program.h"
#include "job/remedy.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/dir_list.h"
#include "policy/host.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "record/normalize.h"
#include "repo/protect.h"
#include "session/exec.h"

enum {
    REFUSED_MAX = 1 << 20, /* bytes of the proxy's report */
};

static struct str_list prepare_single(struct arena *a, struct str text)
{
    struct str *p = ARENA_NEW(a, struct str, 1);
    *p = text;
    return (struct str_list){p, 1};
}

/* Uses the directory to start in, and grants read access if possible: otherwise it is denied as the
 * working directory, not as an entry of a list that the user did not write. A directory that no
 * policy may name is left out. */
static void use_dir(struct prepared *x, struct str dir)
{
    struct arena *a = x->arena;
    struct policy policy = {.fs.allowed_read = prepare_single(a, dir)};
    struct verdict v;
    policy_validate(&policy, &x->host, a, &v);
    if (v.denials.n && v.denials.p[0].blocked) {
        x->unused_dir = dir;
        x->unused_why = v.denials.p[0].reason;
        return;
    }
    x->confined.policy.fs.working_dir = dir;
    if (v.denials.n == 0)
        x->confined.policy.fs.allowed_read = policy.fs.allowed_read;
}

static struct str_list prepare_paths(
    struct arena *a, struct str_list before, const struct starter_path *list, size_t n)
{
    struct str *p = ARENA_NEW(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        p[i] = list[i].path;
    return dir_list_join(a, before, (struct str_list){p, n});
}

/* Allows the command and the programs that it needs. A command that starts others may also start
 * those of the working directory, which is read-only. */
static void allow_helpers(struct prepared *x, struct str program, struct str dir)
{
    struct arena *a = x->arena;
    struct policy *p = &x->confined.policy;
    const struct str_list none = {0};
    struct helpers h;
    helpers_find(&(struct helpers_input){.arena = a, .program = program, .cwd = dir}, &h);
    p->exec.allowed_executables = prepare_paths(a, none, h.exec, h.n_exec);
    p->exec.allow_shell = h.shell;
    p->developer = h.developer;
    p->fs.allowed_read = prepare_paths(a, p->fs.allowed_read, h.read, h.n_read);
    if (h.developer && dir_list_holds(&p->fs.allowed_read, dir))
        p->exec.allowed_executables =
            dir_list_join(a, p->exec.allowed_executables, prepare_single(a, dir));
}

/* Programs find themselves and others by PATH; the developer's machine has its own. */
static void set_search_path(struct prepared *x)
{
    struct str_pair *path = ARENA_NEW(x->arena, struct str_pair, 1);
    *path = (struct str_pair){STR("PATH"), STR(STARTER_PATH)};
    x->confined.policy.env.set = (struct str_map){path, 1};
}

/* Without a policy: allows this command with its helpers, and reading the working directory. */
static bool default_policy(struct prepared *x, struct err *err)
{
    struct arena *a = x->arena;
    struct str program, dir = x->cwd;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "default", a, &x->confined.policy, err) ||
        !program_find(a, str_z(x->argv[0]), x->cwd, &program, err))
        return false;
    x->program = program.p;
    if (x->options->cwd)
        dir = lexical_absolute(a, x->cwd, str_z(x->options->cwd));
    else if (x->start.p)
        dir = x->start;
    use_dir(x, dir);
    set_search_path(x);
    allow_helpers(x, program, dir);
    return true;
}

static bool has_policy(const struct prepared *x)
{
    return x->options->policy || x->options->preset || x->given;
}

/* With a preset, as without a policy: a path relative to our own directory, or a name in PATH. */
static bool find_program(struct prepared *x, struct err *err)
{
    struct str program;
    if (x->program[0] == '/')
        return true;
    if (!program_find(x->arena, str_z(x->program), x->cwd, &program, err))
        return false;
    x->program = program.p;
    return true;
}

static bool load_policy(struct prepared *x, struct err *err)
{
    const struct prepare_options *o = x->options;
    struct arena *a = x->arena;
    if (o->policy)
        return policy_load(o->policy, a, &x->confined.policy, err);
    if (o->preset) {
        struct str root = lexical_absolute(a, x->cwd, o->root ? str_z(o->root) : x->cwd);
        return find_program(x, err) && preset_load(o->preset, root, a, &x->confined.policy, err);
    }
    if (x->given) {
        x->confined.policy = *x->given;
        return true;
    }
    return default_policy(x, err);
}

/* The user's settings cannot acknowledge a policy that asks for less than landlock. */
static void choose_sandbox(struct prepared *x)
{
    const struct prepare_options *o = x->options;
    struct policy *p = &x->confined.policy;
    if (o->no_sandbox)
        p->sandbox = POLICY_NO_SANDBOX;
    else if (o->sandbox)
        p->sandbox = policy_sandbox_of(o->sandbox);
    x->by_settings =
        x->landlock && !o->sandbox && !o->no_sandbox && p->sandbox != POLICY_NO_SANDBOX;
    if (x->by_settings) {
        p->sandbox = POLICY_LANDLOCK;
        p->sandbox_unsafe_ack = true;
    }
}

/* Adds the paths of an option, absolute, to a list of the policy. */
static struct prepare_added prepare_add_paths(
    struct prepared *x, const struct str_list *paths, struct str_list *list)
{
    struct prepare_added added = {list->n, paths->n};
    struct str *p = ARENA_NEW(x->arena, struct str, paths->n);
    for (size_t i = 0; i < paths->n; i++)
        p[i] = lexical_absolute(x->arena, x->cwd, paths->p[i]);
    if (paths->n)
        *list = dir_list_join(x->arena, *list, (struct str_list){p, paths->n});
    return added;
}

/* Programs by their names in PATH; other names are paths. */
static struct str_list find_programs(struct prepared *x, const struct str_list *names)
{
    struct str_list found = {ARENA_NEW(x->arena, struct str, names->n), names->n};
    AUTO_ERR struct err ignored = {0};
    for (size_t i = 0; i < names->n; i++)
        if (str_find(names->p[i], '/') >= 0 ||
            !program_find(x->arena, names->p[i], x->cwd, &found.p[i], &ignored))
            found.p[i] = names->p[i];
    return found;
}

static void add_flagged(struct prepared *x)
{
    const struct prepare_options *o = x->options;
    struct policy *p = &x->confined.policy;
    const struct str_list programs = find_programs(x, &o->exec);
    x->read = prepare_add_paths(x, &o->read, &p->fs.allowed_read);
    x->write = prepare_add_paths(x, &o->write, &p->fs.allowed_write);
    x->exec = prepare_add_paths(x, &programs, &p->exec.allowed_executables);
    p->allowed_hosts = dir_list_join(x->arena, p->allowed_hosts, o->hosts);
}

/* Applies the flags to the policy. */
static void edit_policy(struct prepared *x)
{
    const struct prepare_options *o = x->options;
    struct policy *p = &x->confined.policy;
    choose_sandbox(x);
    add_flagged(x);
    if (o->network)
        p->network = POLICY_NETWORK_ENABLED;
    p->sandbox_unsafe_ack |= o->ack.sandbox;
    p->network_unsafe_ack |= o->ack.network;
    p->unix_sockets_unsafe_ack |= o->ack.sockets;
    p->fs_write_unsafe_ack |= o->ack.write;
    p->limits_inexact_ack |= o->ack.inexact;
    p->fs_strict_write |= o->strict_write;
    if (o->artifacts && has_policy(x)) {
        p->artifacts.enabled = true;
        p->artifacts.dir = lexical_absolute(x->arena, x->cwd, str_z(o->artifacts));
    }
    if (x->replays.p)
        p->artifacts = (struct policy_artifacts){0};
}

/* Returns the author of the policy. */
static enum consent_author author_of(const struct prepared *x)
{
    return x->options->policy || x->options->preset || !x->given ? CONSENT_USER : x->author;
}

/* An author can accept inexact limits only for themselves; and a recording has all limits,
 * requested or not. */
static void take_limits(struct prepared *x)
{
    enum consent_author author = author_of(x);
    if (author != CONSENT_USER)
        x->confined.policy.limits_inexact_ack = false;
    if (author == CONSENT_RECORDING)
        policy_forget_defaults(&x->confined.policy);
}

/* The command, checked against the policy. */
static struct confined_options prepare_confined(const struct prepared *x)
{
    struct confined_options options = {
        .host = x->host,
        .command.path = x->program,
        .protect = x->protect,
        .plan = {.hidden = &x->hidden,
            .n_hidden = x->hidden.p != NULL,
            .own = x->own.p,
            .n_own = x->own.n},
        .environ = x->environ ? x->environ : (const char *const *)environ,
    };
    /* Other toolchains of the user need the same consent as paths that the recording lists. */
    if (author_of(x) == CONSENT_RECORDING && !x->options->ack.read)
        options.may_show = consent_is_system;
    if (x->options->cwd && has_policy(x))
        options.command.cwd = lexical_absolute(x->arena, x->cwd, str_z(x->options->cwd)).p;
    else if (x->start.p && has_policy(x))
        options.command.cwd = arena_strdup(x->arena, x->start);
    return options;
}

static void prepare_validate(struct prepared *x)
{
    static const struct denial unacknowledged = {"fs_strict_write",
        "write access requires explicit acknowledgement", STR("true"), "artifacts are written",
        "add --ack-unsafe-write, or omit --artifacts"};
    const struct policy *p = &x->confined.policy;
    struct confined_options options = prepare_confined(x);
    /* Without a policy from the user the record is our own affair, and is not in any list. */
    if (x->options->artifacts && !has_policy(x) && p->fs_strict_write && !p->fs_write_unsafe_ack)
        options.denial = &unacknowledged;
    confined_judge(&x->confined, &options, x->arena);
    remedy_denials(x);
}

void prepare_keep(struct prepared *x, struct str path)
{
    struct str base = x->cwd;
    AUTO_ERR struct err ignored = {0};
    if (!base.p && !lexical_cwd(x->arena, &base, &ignored))
        return;
    ARENA_GROW(x->arena, x->own.p, x->own.n, x->cap_own);
    x->own.p[x->own.n++] = lexical_absolute(x->arena, base, path);
}

/* Writable directories whose repositories are protected: those that no policy of the user lists,
 * but a preset, a policy of another author, or an option. */
static size_t protected_roots(struct prepared *x, struct str **ret_roots)
{
    bool listed = !x->options->preset && author_of(x) == CONSENT_USER;
    struct verdict_paths roots = x->confined.verdict.write;
    struct verdict_path *some = ARENA_NEW(x->arena, struct verdict_path, roots.n);
    size_t n = 0;
    for (size_t i = 0; i < roots.n; i++)
        if (!listed || roots.p[i].index - x->write.first < x->write.n)
            some[n++] = roots.p[i];
    return verdict_dirs(&(struct verdict_paths){some, n}, x->arena, ret_roots);
}

static void find_repositories(struct prepared *x)
{
    if (x->protect || x->confined.policy.sandbox == POLICY_NO_SANDBOX)
        return;
    struct str *roots;
    size_t n = protected_roots(x, &roots);
    if (n)
        x->protect = protect_new(&(struct protect_options){.roots = roots,
            .n_roots = n,
            .own = x->own.p,
            .n_own = x->own.n,
            .home = x->host.home,
            .settings = x->settings.p,
            .n_settings = x->settings.n,
            .sessions = x->sessions,
            .idle = x->idle,
            .accepted = x->accepts,
            .context = x->accepts_context});
}

/* The user must consent to everything that another author's policy reaches, for this run or
 * permanently. */
static void find_needs(struct prepared *x, bool network)
{
    enum consent_author author = author_of(x);
    struct consent given = x->options->ack;
    given.sandbox |= x->by_settings;
    const struct consent_input in = {
        .author = author,
        .given = &given,
        .dir = x->origin,
        .cwd = x->cwd,
        .network = network,
        .hosts = x->confined.policy.allowed_hosts.n - x->options->hosts.n,
    };
    consent_find(&in, &x->confined.verdict, &x->needs);
    if (x->needs.n && author == CONSENT_SCENARIO && x->is_trusted &&
        x->is_trusted(x->trust_context, &x->trust_note)) {
        x->needs.n = 0;
        x->confined.policy.fs_write_unsafe_ack = x->confined.policy.fs.allowed_write.n > 0;
        prepare_validate(x);
    }
    if (x->needs.n)
        consent_deny(&x->needs, author, &x->confined.verdict);
}

bool prepare_plan(struct prepared *x, struct err *err)
{
    find_repositories(x);
    const struct confined_options options = prepare_confined(x);
    x->confined.argv = x->argv;
    if (!confined_plan(&x->confined, &options, x->arena, err))
        return false;
    remedy_plan(x, author_of(x));
    if (!x->options->no_denials && !x->idle)
        x->confined.denied = denied_new();
    return true;
}

void prepare_check(struct prepared *x)
{
    if (x->protect)
        protect_check(x->protect);
}

static bool open_artifacts(struct prepared *x, struct err *err)
{
    struct arena *a = x->arena;
    const struct policy_artifacts *p = &x->confined.policy.artifacts;
    struct str dir = {0};
    if (x->options->artifacts)
        dir = lexical_absolute(a, x->cwd, str_z(x->options->artifacts));
    else if (p->enabled)
        dir = x->confined.verdict.artifacts_dir.resolved;
    if (x->replays.p)
        x->hidden = x->replays;
    if (!dir.p)
        return true;
    struct normalization n;
    if (!normalization_init(&x->confined.policy.replay, NULL, &n, err))
        return false;
    AUTO_JSON json_t *record = normalization_json(&n);
    normalization_done(&n);
    if (!artifacts_open(dir.p, p->overwrite, &x->artifacts, err))
        return false;
    struct str name;
    if (!artifacts_where(&x->artifacts, a, &name, err))
        return false;
    if (has_policy(x) && !verdict_holds(&x->confined.verdict.write, name))
        return err_set(err, E_POLICY_DENIED,
            "the artifacts directory was replaced after it was checked: '" STR_FMT "'",
            STR_ARG(name));
    x->hidden = name;
    /* Everything known before the command starts is written before it starts. */
    AUTO_JSON json_t *policy = policy_to_json(&x->confined.policy);
    return artifacts_put_json(&x->artifacts, "normalization.json", record, err) &&
           artifacts_put_json(&x->artifacts, "policy.json", policy, err);
}

bool prepare_policy(struct prepared *x, struct err *err)
{
    const struct prepare_options *o = x->options;
    x->artifacts = ARTIFACTS_NONE;
    x->refused = BUF_INIT(REFUSED_MAX);
    x->confined.refused = &x->refused;
    x->host.home = home_dir(x->arena);
    if (!x->program)
        x->program = x->argv[0];
    if (o->policy && o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "--policy and --preset cannot be combined");
    if (o->sandbox && o->no_sandbox)
        return err_set(err, E_CLI_INVALID_ARG, "--sandbox and --no-sandbox cannot be combined");
    for (size_t i = 0; i < o->hosts.n; i++)
        if (!host_check(o->hosts.p[i], "--enable-network --ack-unsafe-network", err))
            return err_wrap(err, "--allow-host");
    if (o->network && o->hosts.n)
        return err_set(err, E_CLI_INVALID_ARG,
            "--enable-network and --allow-host cannot be combined: the first allows every host; "
            "omit one of them");
    if (o->root && !o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "--root requires --preset");
    if (!lexical_cwd(x->arena, &x->cwd, err) || !load_policy(x, err))
        return false;
    if (o->policy)
        prepare_keep(x, str_z(o->policy));
    bool network = x->confined.policy.network_unsafe_ack;
    take_limits(x);
    edit_policy(x);
    consent_adopt(author_of(x), &x->confined.policy);
    prepare_validate(x);
    find_needs(x, network);
    return true;
}

bool prepared_ok(const struct prepared *x, struct err *err)
{
    const struct consent_hint hint = {x->document, x->trust_note};
    const struct denials *denials = &x->confined.verdict.denials;
    if (x->needs.n)
        return consent_error(&x->needs, author_of(x), &hint, err);
    if (verdict_ok(&x->confined.verdict, err))
        return true;
    /* The user did not write the keys of a scenario's own policy on the command line. */
    if (x->document && author_of(x) == CONSENT_SCENARIO && !denials->p[0].by_flag)
        return err_wrap(err, "%s: %s", x->document,
            strcmp(denials->p[0].field, "command") == 0 ? "run" : "run.policy");
    return false;
}

bool prepare_run(struct prepared *x, struct err *err)
{
    return prepared_ok(x, err) && open_artifacts(x, err) && prepare_plan(x, err);
}

struct artifacts *prepared_record(struct prepared *x)
{
    return x->artifacts.dir >= 0 ? &x->artifacts : NULL;
}

/* Records the first failure, in the result on disk and in the one that is reported. */
static void blame_record(struct prepared *x, json_t *result, struct err *error)
{
    json_put(result, "status", json_string(exec_status_name(EXEC_ERRORED)));
    json_put(result, "error", err_to_json(error));
    err_move(&x->record_error, error);
}

/* Writes each file independently: on a full disk one may fit where another did not. */
static bool prepare_write_result(struct prepared *x, const json_t *result, struct err *err)
{
    AUTO_ERR struct err later = {0};
    bool ok = artifacts_put_json(&x->artifacts, "run.json", result, err);
    return artifacts_seal(&x->artifacts, ok ? err : &later) && ok;
}

void prepare_finish(struct prepared *x, json_t *result)
{
    AUTO_ERR struct err first = {0}, second = {0};
    if (x->artifacts.dir < 0)
        return;
    bool stays = artifacts_stay(&x->artifacts, x->hidden, &first);
    bool whole = stays && artifacts_settle(&x->artifacts, &first);
    if (!whole)
        blame_record(x, result, &first);
    if (stays && !prepare_write_result(x, result, &second) && whole)
        blame_record(x, result, &second);
}

/* After every end, including a failed start: no process of the command is left. */
void prepared_done(struct prepared *x)
{
    if (x->protect && x->protect->unchecked)
        protect_check(x->protect);
    protect_free(x->protect);
    x->protect = NULL;
    denied_free(x->confined.denied);
    x->confined.denied = NULL;
    artifacts_close(&x->artifacts);
    buf_done(&x->refused);
    err_done(&x->record_error);
}
