/* cordon exec: run one command under a policy. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_prepare.h"
#include "cli/cmds.h"
#include "io/interrupt.h"
#include "io/tty.h"
#include "job/job.h"
#include "job/refused.h"
#include "learn/additions.h"
#include "policy/preset.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum {
    COMMAND_WORDS_MAX = 1000 * 1000,
    SIGNAL_BASE = 128,
};

struct exec_flags {
    struct prepare_options prepare;
    const char *exit_code;
    bool pty, pipes, learn;
};

struct exec_ctx {
    struct cli *cli;
    const struct exec_flags *options;
    struct prepared p;
};

/* Running ------------------------------------------------------------------------------------- */

/* A terminal that is not read would block us: use a separate, non-blocking descriptor. */
static int open_sink(int fd)
{
    int own = isatty(fd) ? timed_write_open(fd) : -1;
    return own >= 0 ? own : fd;
}

/* Whether standard input may have data to forward; /dev/null does not. */
static bool exec_has_input(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && !S_ISCHR(st.st_mode);
}

static struct exec_options exec_make_options(const struct exec_ctx *x, int signals)
{
    const struct exec_flags *o = x->options;
    bool json = x->cli->json, in_tty = isatty(STDIN_FILENO), out_tty = isatty(STDOUT_FILENO);
    bool terminal = !o->pipes && (o->pty || json || x->p.artifacts.dir >= 0 || out_tty);
    bool pass_keys = terminal && in_tty && out_tty && !json;
    struct tty_size size = tty_size(out_tty && !json ? STDOUT_FILENO : -1);
    return (struct exec_options){
        .terminal = terminal,
        .pass_keys = pass_keys,
        .pipe_input = terminal && !pass_keys,
        .input = pass_keys || exec_has_input() || (!terminal && !json) ? STDIN_FILENO : -1,
        .output = {json ? -1 : open_sink(STDOUT_FILENO), json ? -1 : open_sink(STDERR_FILENO)},
        .signals = signals,
        .cancel = -1,
        .rows = size.rows,
        .cols = size.cols,
    };
}

static int exit_status(const struct exec_ctx *x, const struct exec_result *r)
{
    const char *how = x->options->exit_code;
    bool child = how && strcmp(how, "child") == 0;
    if (child && (r->status == EXEC_PASSED || r->status == EXEC_FAILED))
        return r->exit.signal ? SIGNAL_BASE + r->exit.signal : r->exit.code;
    return r->error.code ? err_status(r->error.code) : 0;
}

/* Prints the additions to the policy on stderr: stdout has the command's output. */
static void exec_tell_learned(struct exec_ctx *x)
{
    AUTO_BUF struct buf text = BUF_INIT(ADDITIONS_MAX);
    AUTO_JSON json_t *result = json_object();
    struct refused_hosts hosts;
    struct str line, rest;
    json_put(result, "denied",
        denied_json(x->p.confined.denied, &(struct denied_style){.home = x->p.host.home}));
    refused_list(buf_str(&x->p.refused), x->cli->arena, &hosts);
    refused_add_json(&hosts, result);
    additions_add(&text, json_object_get(result, "denied"));
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        out_note(x->cli, STR_FMT, STR_ARG(line));
}

static bool exec_print_result(struct exec_ctx *x, struct observed_exec *done, struct err *err)
{
    struct cli *cli = x->cli;
    const struct exec_result *r = &done->result;
    AUTO_JSON json_t *json = NULL;
    cli->status = exit_status(x, r);
    /* If the reader stalled on the command's output it may also stall on ours: after an aborted
     * run, use only the short write timeout. */
    if (r->status == EXEC_ERRORED || r->status == EXEC_CANCELED)
        timed_write_end(&cli->deadline);
    bool own_code = cli->status != err_status(r->error.code ? r->error.code : E_INTERNAL);
    if (r->error.code && !(own_code && r->status == EXEC_FAILED))
        out_say_error(cli, &r->error);
    if (x->options->learn)
        exec_tell_learned(x);
    else
        prepare_tell_denied(cli, &x->p, r->status == EXEC_FAILED || r->status == EXEC_ERRORED);
    job_exec_end(&x->p, done, cli->json ? &json : NULL);
    prepare_tell_record(cli, &x->p);
    prepare_tell_held(cli, &x->p);
    if (!x->options->learn)
        prepare_tell_refused(cli, &x->p);
    return !cli->json || out_json(cli, json_take(&json), err);
}

static bool exec_run_job(struct exec_ctx *x, int signals, struct err *err)
{
    const struct exec_options options = exec_make_options(x, signals);
    struct observed_exec done;
    prepare_warn(x->cli, &x->p);
    signal(SIGPIPE, SIG_IGN);
    bool ok = job_exec(&x->p, &options, x->cli->json || x->options->prepare.artifacts, &done, err);
    if (ok) {
        ok = exec_print_result(x, &done, err);
        if (done.result.output_closed && !x->cli->json && x->p.artifacts.dir < 0) {
            /* Like any program whose reader has exited. */
            signal(SIGPIPE, SIG_DFL);
            raise(SIGPIPE);
        }
        observed_exec_done(&done);
    }
    return ok;
}

/* Signals are handled from here on, since the record must be completed even if interrupted. */
static bool exec_prepare_and_run(struct exec_ctx *x, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = interrupt_open(true, &set);
    x->cli->deadline.cancel = signals;
    bool ok = prepare_run(&x->p, err) && exec_run_job(x, signals, err);
    x->cli->deadline.cancel = -1;
    interrupt_close(&set);
    return ok;
}

static bool exec_run_command(struct cli *cli, const struct args *args, struct err *err)
{
    const struct exec_flags *options = args->options;
    struct exec_ctx *x = ARENA_NEW(cli->arena, struct exec_ctx, 1);
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    *x = (struct exec_ctx){.cli = cli, .options = options};
    x->p = (struct prepared){.arena = cli->arena, .options = &options->prepare, .argv = argv};
    if (options->pty && options->pipes)
        return err_set(err, E_CLI_INVALID_ARG, "--pty and --pipes cannot be combined");
    if (options->learn && options->prepare.no_denials)
        return err_set(err, E_CLI_INVALID_ARG, "--learn and --no-denials cannot be combined");
    prepare_own(cli, &x->p);
    if (!prepare_settings(cli, &x->p, err) || !prepare_policy(&x->p, err))
        return false;
    if (options->prepare.explain)
        return prepare_explain(cli, &x->p, err);
    bool ok = exec_prepare_and_run(x, err);
    prepared_done(&x->p);
    return ok;
}

static const char *const exit_codes[] = {"cordon", "child", NULL};

static const struct opt exec_opts[] = {
    OPT_SET("pty", 0, struct exec_flags, pty, "run the command on its own terminal"),
    OPT_SET("pipes", 0, struct exec_flags, pipes, "run the command on pipes"),
    OPT_ONE_OF("exit-code", 0, struct exec_flags, exit_code, "WHOSE", exit_codes,
        "exit status if the command fails: cordon (6, the default) or child (the "
        "command's own)"),
    OPT_SET("learn", 0, struct exec_flags, learn,
        "at the end, print the policy entries that would allow the denied accesses"),
    PREPARE_OPTS(struct exec_flags),
    PREPARE_UNSAFE_OPTS(struct exec_flags),
};

static const struct opt_group exec_groups[] = {PREPARE_GROUPS};

static const struct example exec_examples[] = {
    {"cordon exec -- ls -la", "ls sees only this directory and the system's libraries"},
    {"cordon exec --preset build -- make -j4",
        "make may write here and run the programs that it builds"},
    {"cordon exec --policy policy.yaml --json -- /usr/bin/true", "print the result as JSON"},
    {"cordon exec --explain-policy -- python3", "show what would be granted"},
};

const struct cmd cmd_exec = {
    .name = "exec",
    .summary = "run a command under a policy that the kernel enforces",
    .about = "The command sees the files named by the policy and a small part of the system, "
             "can run only the programs listed in the policy, and has no network access and no "
             "capabilities. All its processes are killed when it exits. On a terminal it is "
             "fully interactive. It may run for 60 seconds and print 8 MiB, unless the policy "
             "has other budgets. Exit status: 0, or 6 if the command fails, 2 if the policy "
             "denies it, 3 if this machine cannot enforce the policy, 4 if a budget is "
             "exceeded, 130 if it was interrupted.",
    .usage = "[--] COMMAND [ARGUMENT…]",
    .min_args = 1,
    .max_args = COMMAND_WORDS_MAX,
    .own_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(exec_opts, struct exec_flags),
    CMD_GROUPS(exec_groups),
    CMD_EXAMPLES(exec_examples),
    .run = exec_run_command,
};
