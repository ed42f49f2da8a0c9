/* cordon policy new: generate a policy for a program, or from a run of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "learn/propose.h"
#include "path/lexical.h"

enum {
    COMMAND_WORDS_MAX = 100 * 1000,
};

struct policy_new_options {
    const char *program;
    bool learn;
    bool write_ack;
};

static bool run_plain(
    struct cli *cli, const struct policy_new_options *options, struct str cwd, struct err *err)
{
    const struct propose p = {cli->arena, out_notices(cli)};
    AUTO_BUF struct buf text = BUF_INIT(PROPOSE_MAX);
    if (!propose_policy(&p, options->program, cwd, &text, err))
        return false;
    out_text(cli, buf_str(&text));
    return out_wrap(cli, "text", err);
}

static bool run_learn(struct cli *cli, const struct args *args, struct str cwd, struct err *err)
{
    const struct policy_new_options *options = args->options;
    const struct propose p = {cli->arena, out_notices(cli)};
    AUTO(proposal_done) struct proposal x = PROPOSAL_INIT;
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    if (!propose_learned(&p, &(struct propose_command){argv, cwd, options->write_ack}, &x, err))
        return false;
    cli->status = x.end.interrupted ? err_status(E_CANCELED) : 0;
    if (!cli->json) {
        out_text(cli, buf_str(&x.text));
        return true;
    }
    json_t *object = json_object();
    json_put(object, "text", json_text(buf_str(&x.text)));
    json_put(object, "learned", json_incref(x.learned));
    json_put(object, "exit_status", json_incref(x.exit_status));
    return out_json(cli, object, err);
}

static bool policy_new_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct policy_new_options *options = args->options;
    struct str cwd;
    if (options->learn && options->program)
        return err_set(err, E_CLI_INVALID_ARG,
            "--for and --learn cannot be combined: --learn takes the program from the command "
            "after '--'");
    if (options->learn && args->n == 0)
        return err_set(
            err, E_CLI_INVALID_ARG, "--learn requires a command after '--', such as -- make");
    if (!options->learn && args->n)
        return err_set(err, E_CLI_INVALID_ARG,
            "a command requires --learn, which runs it; for a program alone, use --for '%s'",
            args->v[0]);
    if (!options->learn && options->write_ack)
        return err_set(err, E_CLI_INVALID_ARG, "--ack-unsafe-write requires --learn");
    if (!lexical_cwd(cli->arena, &cwd, err))
        return false;
    return options->learn ? run_learn(cli, args, cwd, err) : run_plain(cli, options, cwd, err);
}

static const struct opt new_opts[] = {
    OPT_STRING("for", 0, struct policy_new_options, program, "PROGRAM", ARG_FILE,
        "program that may run: a path, or a name that is looked up in PATH"),
    OPT_SET("learn", 0, struct policy_new_options, learn,
        "run the command once, unconfined, and allow what it used"),
    OPT_SET("ack-unsafe-write", 0, struct policy_new_options, write_ack,
        "with --learn: also allow the writes, instead of listing them in a comment"),
};

static const struct example new_examples[] = {
    {"cordon policy new --for make > policy.yaml", "allow make to run and to read this directory"},
    {"cordon policy new --learn -- make test > policy.yaml",
        "allow what 'make test' used in this run"},
};

const struct cmd cmd_policy_new = {
    .name = "new",
    .summary = "print a policy to start from, with comments",
    .about = "The policy lets the program read the current directory and nothing else, and "
             "passes 'cordon policy check' unchanged; for a script, its interpreter may also "
             "run, and for a program that starts others (a shell, make, npm) those of your "
             "machine.\n\nWith --learn the command is run once WITHOUT A SANDBOX, and the policy "
             "allows the files that it read and executed. The files that it wrote, and its "
             "network access, are listed as comments. The command's output goes to standard "
             "error; if the command fails, its policy is printed anyway. Exit status 130: it "
             "was interrupted.",
    .usage = "[--learn -- COMMAND [ARGUMENT…]]",
    .max_args = COMMAND_WORDS_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(new_opts, struct policy_new_options),
    CMD_EXAMPLES(new_examples),
    .run = policy_new_run,
};
