/* cordon policy: check, show, schema; `new` is in cmd_policy_new.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"
#include "cli/cmds.h"
#include "cli/explain_page.h"
#include "config/config.h"
#include "job/program.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/grants.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "record/normalize.h"
#include "replay/mismatch.h"
#include "run/scenario.h"

enum {
    COMMAND_WORDS_MAX = 100 * 1000,
};

static struct policy_host policy_make_host(const struct cli *cli)
{
    return (struct policy_host){.home = home_dir(cli->arena)};
}

/* Policy to work on: a file or a preset. */
struct policy_source_options {
    const char *preset;
    const char *root;
};

#define SOURCE_OPTS(type)                                                                        \
    OPT_ONE_OF(                                                                                  \
        "preset", 0, type, source.preset, "NAME", preset_names, "a built-in policy: {choices}"), \
        OPT_STRING("root", 0, type, source.root, "DIR", ARG_DIR,                                 \
            "working root of the preset; default: the current directory")

static bool load_preset(struct cli *cli, const struct policy_source_options *source,
    struct policy *ret_policy, struct err *err)
{
    struct str cwd;
    if (!lexical_cwd(cli->arena, &cwd, err))
        return false;
    struct str root = source->root ? str_z(source->root) : cwd;
    return preset_load(
        source->preset, lexical_absolute(cli->arena, cwd, root), cli->arena, ret_policy, err);
}

/* Loads the policy, and removes the file name from the arguments. */
static bool load_source(struct cli *cli, const struct policy_source_options *source,
    struct args *args, struct policy *ret_policy, struct err *err)
{
    if (source->preset)
        return load_preset(cli, source, ret_policy, err);
    if (source->root)
        return err_set(err, E_CLI_INVALID_ARG, "--root requires --preset");
    if (args->n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "no policy: give a file, or --preset NAME");
    const char *path = args->v[0];
    args->v++;
    args->n--;
    return policy_load(path, cli->arena, ret_policy, err);
}

static bool refuse_file(
    const struct policy_source_options *source, const char *word, struct err *err)
{
    return err_set(err, E_CLI_INVALID_ARG, "FILE and --preset %s cannot be combined: '%s'",
        source->preset, word);
}

/* Compiles the patterns of the replay rules, as a run does that writes a record. */
static bool check_rules(const struct policy *policy, struct err *err)
{
    struct normalization n;
    if (!normalization_init(&policy->replay, NULL, &n, err))
        return false;
    normalization_done(&n);
    return true;
}

/* check --------------------------------------------------------------------------------------- */

struct policy_check_options {
    struct policy_source_options source;
    const char *cwd;
};

static void print_verdict(struct cli *cli, const struct verdict *v)
{
    if (v->denials.n == 0) {
        out_styled(cli, OUT_GREEN, "allowed");
        out_text(cli, STR("\n"));
    }
    explain_denials(cli, &v->denials);
}

/* With a preset, as 'exec' does it: a path relative to the current directory, or a name in PATH. */
static bool policy_find_program(
    struct cli *cli, const struct policy_check_options *o, const char **program, struct err *err)
{
    struct str cwd, found;
    if (!o->source.preset || (*program)[0] == '/')
        return true;
    if (!lexical_cwd(cli->arena, &cwd, err) ||
        !program_find(cli->arena, str_z(*program), cwd, &found, err))
        return false;
    *program = found.p;
    return true;
}

static bool policy_run_check(struct cli *cli, const struct args *given, struct err *err)
{
    const struct policy_check_options *options = given->options;
    const struct policy_host user = policy_make_host(cli);
    struct args args = *given;
    struct policy policy;
    struct verdict v;
    if (options->source.preset && args.n_before)
        return refuse_file(&options->source, args.v[0], err);
    if (!load_source(cli, &options->source, &args, &policy, err) || !check_rules(&policy, err))
        return false;
    if (options->cwd && args.n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "--cwd requires a command: -- COMMAND");
    const char *program = args.n ? args.v[0] : NULL;
    if (program && !policy_find_program(cli, options, &program, err))
        return false;
    policy_validate(&policy, &user, cli->arena, &v);
    if (program)
        policy_validate_command(&v, &(struct policy_command){.path = program, .cwd = options->cwd});
    cli->status = v.denials.n ? err_status(E_POLICY_DENIED) : 0;
    if (cli->json)
        return out_json(cli, policy_explain(&v), err);
    print_verdict(cli, &v);
    return true;
}

static const struct opt check_opts[] = {
    SOURCE_OPTS(struct policy_check_options),
    OPT_STRING("cwd", 0, struct policy_check_options, cwd, "DIR", ARG_DIR,
        "working directory of the command; default: the policy's working_dir"),
};

static const struct example check_examples[] = {
    {"cordon policy check policy.yaml", "print 'allowed', or every denial with its reason and fix"},
    {"cordon policy check policy.yaml -- /usr/bin/make", "check whether it allows make"},
    {"cordon policy check --preset build --json", "print what the preset grants here"},
};

static const struct cmd cmd_check = {
    .name = "check",
    .summary = "check a policy, and whether it allows a command",
    .about =
        "Checks every part of the policy. Lists all denials; a malformed policy is reported at "
        "its first error. Nothing is run. Exit status: 0 allowed, 2 denied, 8 unsupported "
        "version, 9 malformed, 10 the file cannot be read.",
    .usage = "FILE|--preset NAME [-- COMMAND [ARGUMENT…]]",
    .max_args = COMMAND_WORDS_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(check_opts, struct policy_check_options),
    CMD_EXAMPLES(check_examples),
    .run = policy_run_check,
};

/* show, schema -------------------------------------------------------------------------------- */

struct policy_show_options {
    struct policy_source_options source;
};

/* Takes ownership of the tree. */
static bool print_tree(struct cli *cli, const char *key, json_t *tree, struct err *err)
{
    if (cli->json) {
        json_t *object = json_object();
        json_put(object, key, tree);
        return out_json(cli, object, err);
    }
    json_add_pretty(&cli->stdout_buf, tree);
    json_decref(tree);
    out_text(cli, STR("\n"));
    return true;
}

static bool policy_run_show(struct cli *cli, const struct args *given, struct err *err)
{
    const struct policy_show_options *options = given->options;
    struct args args = *given;
    struct policy policy;
    if (!load_source(cli, &options->source, &args, &policy, err))
        return false;
    if (args.n)
        return refuse_file(&options->source, args.v[0], err);
    return print_tree(cli, "policy", policy_to_json(&policy), err);
}

static const struct opt show_opts[] = {
    SOURCE_OPTS(struct policy_show_options),
};

static const struct example show_examples[] = {
    {"cordon policy show --preset c > policy.json", "write a preset to a file for editing"},
};

static const struct cmd cmd_show = {
    .name = "show",
    .summary = "print the effective policy: every key with its value",
    .about = "Keys that the policy omits have their defaults, which grant nothing.",
    .usage = "FILE|--preset NAME",
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(show_opts, struct policy_show_options),
    CMD_EXAMPLES(show_examples),
    .run = policy_run_show,
};

/* In the order of schema_names[]. */
static json_t *(*const schemas[])(void) = {
    policy_schema, scenario_schema, normalization_schema, mismatch_summary_schema};
static const char *const schema_names[] = {
    "policy", "scenario", "normalization", "replay-summary", NULL};

static bool policy_run_schema(struct cli *cli, const struct args *args, struct err *err)
{
    const char *name = args->n ? args->v[0] : "policy";
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_z(name));
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX);
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
        if (strcmp(schema_names[i], name) == 0)
            return print_tree(cli, "schema", schemas[i](), err);
    choice_add_all(&c, schema_names);
    choice_hint(&c, "", &hint);
    err_set(err, E_CLI_INVALID_ARG, "no such schema '%s': expected one of %s%s", name,
        choice_list(&c), buf_z(&hint));
    return err_ctx(err, "command", "cordon policy schema");
}

static const struct cmd cmd_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of a policy, scenario or record",
    .about = "Draft 2020-12; describes every key with its meaning and default. NAME is policy "
             "(default), scenario, normalization (of a recording) or replay-summary "
             "(replay.json).",
    .usage = "[NAME]",
    .max_args = 1,
    .arg_choices = schema_names,
    .run = policy_run_schema,
};

static const struct cmd *const subs[] = {
    &cmd_check,
    &cmd_show,
    &cmd_schema,
    &cmd_policy_new,
    &cmd_policy_learn,
    NULL,
};

const struct cmd cmd_policy = {
    .name = "policy",
    .summary = "check, show and create policies",
    .about = "A policy lists the files that a program may read and write, the programs that it "
             "may run, and its network access. Everything else is denied. JSON or YAML, "
             "version 4.",
    .subs = subs,
};
