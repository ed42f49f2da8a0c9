/* cordon driver: let another program control a terminal session, line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_prepare.h"
#include "cli/cmds.h"
#include "io/interrupt.h"
#include "job/job.h"
#include "policy/preset.h"
#include "run/driver.h"

enum {
    COMMAND_WORDS_MAX = 1000 * 1000,
    ANSWER_MAX = 256 << 20,
    ROWS = 24,
    COLS = 80,
};

struct driver_flags {
    struct prepare_options prepare;
    bool stdio, keep_going;
    int64_t rows, cols; /* 0: not given */
};

struct driver_ctx {
    struct cli *cli;
    const struct driver_flags *options;
    struct prepared p;
    bool unread; /* an answer was not read completely */
};

/* Writes a line immediately: the client waits for it. */
static bool driver_write_line(void *context, const json_t *object, struct write_deadline *deadline)
{
    struct driver_ctx *d = context;
    AUTO_BUF struct buf line = BUF_INIT(ANSWER_MAX);
    json_add_compact(&line, object);
    buf_add_byte(&line, '\n');
    d->unread = !buf_ok(&line) || !timed_write(STDOUT_FILENO, buf_str(&line), deadline);
    return !d->unread;
}

/* Writes the result on a new line, in case the client did not read the last answer completely. */
static bool write_last(struct driver_ctx *d)
{
    struct buf *out = &d->cli->stdout_buf;
    AUTO_BUF struct buf last = BUF_INIT(out->n + 1);
    buf_add_byte(&last, '\n');
    buf_add_str(&last, buf_str(out));
    buf_reset(out);
    (void)timed_write(STDOUT_FILENO, buf_str(&last), &d->cli->deadline);
    return true;
}

static bool driver_print_result(
    struct driver_ctx *d, const struct live_result *result, struct err *err)
{
    AUTO_JSON json_t *json = NULL;
    const struct err *error = &result->run.error;
    if (result->run.status != EXEC_PASSED || d->unread)
        timed_write_end(&d->cli->deadline);
    if (error->code)
        out_say_error(d->cli, error);
    d->cli->status = error->code ? err_status(error->code) : 0;
    job_live_end(&d->p, result, &json);
    prepare_tell_record(d->cli, &d->p);
    prepare_tell_held(d->cli, &d->p);
    prepare_tell_refused(d->cli, &d->p);
    return out_json(d->cli, json_take(&json), err) && (!d->unread || write_last(d));
}

static bool driver_run_session(struct driver_ctx *d, int cancel, struct err *err)
{
    uint16_t rows = (uint16_t)(d->options->rows ? d->options->rows : ROWS);
    uint16_t cols = (uint16_t)(d->options->cols ? d->options->cols : COLS);
    const struct driver_options driver = {
        .live = job_live(&d->p, rows, cols, cancel),
        .input = STDIN_FILENO,
        .keep_going = d->options->keep_going,
        .answer = driver_write_line,
        .context = d,
    };
    struct live_result result;
    prepare_warn(d->cli, &d->p);
    signal(SIGPIPE, SIG_IGN);
    bool ok = driver_run(&driver, &result, err);
    if (ok) {
        ok = driver_print_result(d, &result, err);
        live_result_done(&result);
    }
    return ok;
}

/* Signals are handled from here on, since the record must be completed even if interrupted. */
static bool prepare_and_drive(struct driver_ctx *d, struct err *err)
{
    sigset_t set;
    AUTO_FD int cancel = interrupt_open(false, &set);
    d->cli->deadline.cancel = cancel;
    bool ok = prepare_run(&d->p, err) && driver_run_session(d, cancel, err);
    d->cli->deadline.cancel = -1;
    interrupt_close(&set);
    return ok;
}

static bool driver_run_command(struct cli *cli, const struct args *args, struct err *err)
{
    const struct driver_flags *options = args->options;
    struct driver_ctx d = {.cli = cli, .options = options};
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    cli->json = true; /* the only output format */
    d.p = (struct prepared){.arena = cli->arena, .options = &options->prepare, .argv = argv};
    prepare_own(cli, &d.p);
    if (!prepare_settings(cli, &d.p, err) || !prepare_policy(&d.p, err))
        return false;
    if (options->prepare.explain)
        return prepare_explain(cli, &d.p, err);
    bool ok = prepare_and_drive(&d, err);
    prepared_done(&d.p);
    return ok;
}

static const struct opt driver_opts[] = {
    OPT_SET("stdio", 0, struct driver_flags, stdio,
        "use standard input and output (the default and only transport)"),
    OPT_SET("keep-going", 0, struct driver_flags, keep_going,
        "answer invalid input with an error, and continue"),
    OPT_INT("rows", 0, struct driver_flags, rows, "N", 1, SESSION_ROWS_MAX,
        "rows of the terminal; default: 24"),
    OPT_INT("cols", 0, struct driver_flags, cols, "N", 1, SESSION_COLS_MAX,
        "columns of the terminal; default: 80"),
    PREPARE_OPTS(struct driver_flags),
    PREPARE_UNSAFE_OPTS(struct driver_flags),
};

static const struct opt_group driver_groups[] = {PREPARE_GROUPS};

static const struct example driver_examples[] = {
    {"cordon driver --stdio -- htop", "then write one line per action to its standard input:"},
    {"{\"protocol_version\":1,\"action\":{\"type\":\"key\",\"payload\":{\"key\":\"F6\"}}}",
        "the answer is an Observation"},
};

const struct cmd cmd_driver = {
    .name = "driver",
    .summary = "drive a terminal program with JSON lines",
    .about = "Each line of input is an action, each line of output an Observation: the screen, "
             "and the output and events since the previous one. The last line is the "
             "RunResult. A key is answered when the screen has changed, or after a short time "
             "without a change; a wait is answered when its condition holds. The end of the "
             "input ends the command.",
    .usage = "[--] COMMAND [ARGUMENT…]",
    .min_args = 1,
    .max_args = COMMAND_WORDS_MAX,
    .own_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(driver_opts, struct driver_flags),
    CMD_GROUPS(driver_groups),
    CMD_EXAMPLES(driver_examples),
    .run = driver_run_command,
};
