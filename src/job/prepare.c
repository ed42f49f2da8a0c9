/* Turns policies and options into verdicts and plans. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/prepare.h"

#include "job/program.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "record/normalize.h"
#include "repo/protect.h"
#include "session/exec.h"

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
    if (v.denials.n && v.denials.p[0].blocked)
        return;
    x->confined.policy.fs.working_dir = dir;
    if (v.denials.n == 0)
        x->confined.policy.fs.allowed_read = policy.fs.allowed_read;
}

/* Without a policy: allows this command, and reading the working directory. */
static bool default_policy(struct prepared *x, struct err *err)
{
    struct arena *a = x->arena;
    struct str program, dir = x->cwd;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "default", a, &x->confined.policy, err) ||
        !program_find(a, str_z(x->argv[0]), x->cwd, &program, err))
        return false;
    x->program = program.p;
    x->confined.policy.exec.allowed_executables = prepare_single(a, program);
    x->confined.policy.exec.allow_shell = policy_is_shell(program);
    if (x->options->cwd)
        dir = lexical_absolute(a, x->cwd, str_z(x->options->cwd));
    else if (x->start.p)
        dir = x->start;
    use_dir(x, dir);
    return true;
}

static bool has_policy(const struct prepared *x)
{
    return x->options->policy || x->options->preset || x->given;
}

static bool load_policy(struct prepared *x, struct err *err)
{
    const struct prepare_options *o = x->options;
    struct arena *a = x->arena;
    if (o->policy)
        return policy_load(o->policy, a, &x->confined.policy, err);
    if (o->preset) {
        struct str root = lexical_absolute(a, x->cwd, o->root ? str_z(o->root) : x->cwd);
        return preset_load(o->preset, root, a, &x->confined.policy, err);
    }
    if (x->given) {
        x->confined.policy = *x->given;
        return true;
    }
    return default_policy(x, err);
}

const char *const prepare_sandboxes[] = {"native", "landlock", "none", NULL};

enum policy_sandbox prepare_sandbox_mode(const char *name)
{
    static const enum policy_sandbox modes[] = {POLICY_NATIVE, POLICY_LANDLOCK, POLICY_NO_SANDBOX};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (strcmp(prepare_sandboxes[i], name) == 0)
            return modes[i];
    return POLICY_NATIVE;
}

/* The user's settings cannot acknowledge a policy that asks for less than landlock. */
static void choose_sandbox(struct prepared *x)
{
    const struct prepare_options *o = x->options;
    struct policy *p = &x->confined.policy;
    if (o->no_sandbox)
        p->sandbox = POLICY_NO_SANDBOX;
    else if (o->sandbox)
        p->sandbox = prepare_sandbox_mode(o->sandbox);
    x->by_settings =
        x->landlock && !o->sandbox && !o->no_sandbox && p->sandbox != POLICY_NO_SANDBOX;
    if (x->by_settings) {
        p->sandbox = POLICY_LANDLOCK;
        p->sandbox_unsafe_ack = true;
    }
}

/* Applies the flags to the policy. */
static void edit_policy(struct prepared *x)
{
    const struct prepare_options *o = x->options;
    struct policy *p = &x->confined.policy;
    choose_sandbox(x);
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

/* A request made by a flag is acknowledged by a flag: naming the policy's key would not help. */
static void name_flags(struct prepared *x)
{
    const struct prepare_options *o = x->options;
    const bool weaker = o->no_sandbox || o->sandbox;
    for (size_t i = 0; i < x->confined.verdict.denials.n; i++) {
        struct denial *d = &x->confined.verdict.denials.p[i];
        bool bare = x->confined.policy.sandbox == POLICY_NO_SANDBOX &&
                    !x->confined.policy.network_unsafe_ack;
        if (strcmp(d->field, "sandbox") == 0 && weaker)
            d->fix = bare ? "add --ack-unsafe-sandbox and --ack-unsafe-network"
                          : "add --ack-unsafe-sandbox";
        if (strcmp(d->field, "network") == 0 && (weaker || o->network))
            d->fix = "add --ack-unsafe-network";
    }
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
        "add --ack-unsafe-write, or leave out --artifacts"};
    const struct policy *p = &x->confined.policy;
    struct confined_options options = prepare_confined(x);
    /* Without a policy from the user the record is our own affair, and is not in any list. */
    if (x->options->artifacts && !has_policy(x) && p->fs_strict_write && !p->fs_write_unsafe_ack)
        options.denial = &unacknowledged;
    confined_judge(&x->confined, &options, x->arena);
    name_flags(x);
}

void prepare_keep(struct prepared *x, struct str path)
{
    struct str base = x->cwd;
    AUTO_ERR struct err ignored = {0};
    if (!base.p && !lexical_cwd(x->arena, &base, &ignored))
        return;
    struct str *p = ARENA_NEW(x->arena, struct str, x->own.n + 1);
    if (x->own.n)
        memcpy(p, x->own.p, x->own.n * sizeof(*p));
    p[x->own.n++] = lexical_absolute(x->arena, base, path);
    x->own.p = p;
}

/* If neither the user nor the user's policy defines what may be written, the user's repositories
 * are protected: with presets, and with policies of other authors. */
static void find_repositories(struct prepared *x)
{
    bool named = !x->options->preset && author_of(x) == CONSENT_USER;
    if (named || x->protect || x->confined.policy.sandbox == POLICY_NO_SANDBOX)
        return;
    struct str *roots;
    size_t n = verdict_dirs(&x->confined.verdict.write, x->arena, &roots);
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
    return confined_plan(&x->confined, &options, x->arena, err);
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
            "the artifacts directory is not what was checked a moment ago: '" STR_FMT "'",
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
    x->host.home = home_dir(x->arena);
    if (!x->program)
        x->program = x->argv[0];
    if (o->policy && o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "--policy or --preset, not both");
    if (o->sandbox && o->no_sandbox)
        return err_set(err, E_CLI_INVALID_ARG, "--sandbox or --no-sandbox, not both");
    if (o->root && !o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "--root goes with --preset");
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
    if (x->needs.n)
        return consent_error(&x->needs, author_of(x), &hint, err);
    return verdict_ok(&x->confined.verdict, err);
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
    artifacts_close(&x->artifacts);
    err_done(&x->record_error);
}
