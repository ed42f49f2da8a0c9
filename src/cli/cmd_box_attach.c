/* cordon box attach, exec: use a box from the user's terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_exec.h"
#include "cli/box_cmds.h"
#include "io/interrupt.h"
#include "sandbox/descriptors.h"
#include "tui/display.h"

#include <signal.h>
#include <sys/wait.h>

enum {
    SIGNAL_BASE = 128,
    DENIED_TEXT_MAX = 64 * 1024,
    WORDS_MAX = 100 * 1000,
};

/* attach -------------------------------------------------------------------------------------- */

static bool not_running(const struct box *box, struct err *err)
{
    err_set(
        err, E_NOT_FOUND, "the agent of the box '" STR_FMT "' is not running", STR_ARG(box->name));
    return err_ctx(err, "remedy", "cordon box start " STR_FMT, STR_ARG(box->name));
}

/* Time at which the agent last ended, if it has. */
static struct str ended_at(struct cli *cli, const struct box *box)
{
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    bool held;
    return state_load(box->host, cli->arena, &state, &held, &ignored) ? state.ended_at
                                                                      : (struct str){0};
}

/* CLIENT_CUT also occurs if this client was too slow to receive the end message. If the end time is
 * the same as before, the supervisor was already exiting when we connected. */
static bool say_end(
    struct cli *cli, const struct box *box, enum client_end end, struct str before, struct err *err)
{
    struct box_state state;
    bool held;
    if (end == CLIENT_DETACHED) {
        out_note(cli, STR_FMT ": detached; the agent is still running", STR_ARG(box->name));
        return true;
    }
    if (!state_load(box->host, cli->arena, &state, &held, err))
        return false;
    if (before.n && str_eq(before, state.ended_at))
        return not_running(box, err);
    if (end == CLIENT_CUT && !state.ended_at.n)
        return err_set(err, E_IO, "lost the connection to the box's supervisor");
    out_note(cli, STR_FMT ": the agent has ended: %s", STR_ARG(box->name),
        state.error.n     ? arena_strdup(cli->arena, state.error)
        : state.signal    ? arena_printf(cli->arena, "signal %d", (int)state.signal)
        : state.exit_code ? arena_printf(cli->arena, "exit status %d", (int)state.exit_code)
                          : box_status_names[state.status]);
    return true;
}

static bool run_attach(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    AUTO_FD int fd = -1;
    AUTO_ERR struct err none = {0};
    enum client_end end;
    sigset_t set;
    if (!display_check("'cordon box attach'", err) ||
        !config_box_open(cli->arena, args->v[0], BOX_USE_LOOK, &use, err))
        return false;
    struct str before = ended_at(cli, &use.box);
    if (!client_connect(&use.box, &fd, &none))
        return none.code == E_NOT_FOUND ? not_running(&use.box, err) : err_move(err, &none);
    AUTO_FD int signals = interrupt_open(true, &set);
    bool ok = client_attach(fd,
        &(struct client_look){.name = use.box.name, .colors = cli->color, .signals = signals}, &end,
        &none);
    interrupt_close(&set);
    if (!ok)
        return none.code == E_NOT_FOUND ? not_running(&use.box, err) : err_move(err, &none);
    return say_end(cli, &use.box, end, before, err);
}

static const struct example attach_examples[] = {
    {"cordon box attach fix-login", "Ctrl-] d detaches"},
};

const struct cmd cmd_box_attach = {
    .name = "attach",
    .summary = "show a box's terminal and type into it",
    .about = "Shows the agent's screen at this terminal's size. Ctrl-] d detaches and leaves "
             "the agent running, Ctrl-] [ scrolls back (arrows, PageUp, PageDown, Home, End; q "
             "quits), Ctrl-] Ctrl-] sends Ctrl-]. Several terminals may be attached; the box "
             "uses the size of the one that was used last.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_EXAMPLES(attach_examples),
    .run = run_attach,
};

/* exec ---------------------------------------------------------------------------------------- */

struct box_exec_flags {
    bool no_denials;
};

static bool attach_run_exec(struct cli *cli, const struct args *args, struct err *err)
{
    const struct box_exec_flags *o = args->options;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n);
    AUTO_BUF struct buf denied = BUF_INIT(DENIED_TEXT_MAX);
    struct str line, rest;
    sigset_t set;
    int status = 0;
    if (cli->json)
        return err_set(err, E_CLI_INVALID_ARG,
            "'cordon box exec' does not support --json: it prints only the command's own output");
    /* No command is named '--': it ends the options, as everywhere else. */
    size_t skip = args->n > 2 && strcmp(args->v[1], "--") == 0 ? 2 : 1;
    memcpy(argv, args->v + skip, (args->n - skip) * sizeof(*argv));
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_LOOK, &use, err))
        return false;
    signal(SIGPIPE, SIG_IGN);
    AUTO_FD int signals = interrupt_open(true, &set);
    struct box_exec x = {.exec = {.argv = argv,
                             .terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
                             .input = STDIN_FILENO,
                             .output = STDOUT_FILENO,
                             .error = STDERR_FILENO,
                             .signals = signals,
                             .denied = o->no_denials ? NULL : &denied},
        .start = box_use_start_options(NULL)};
    x.start.no_denials = o->no_denials;
    (void)!descriptors_raise(); /* a command in the box may have many in flight */
    bool ok = box_exec_run(cli->arena, &use, &x, &status, err);
    interrupt_close(&set);
    rest = buf_str(&denied);
    while (ok && str_cut(rest, '\n', &line, &rest))
        out_note(cli, STR_FMT, STR_ARG(line));
    if (ok)
        cli->status = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
    return ok;
}

static const struct opt exec_opts[] = {
    OPT_SET("no-denials", 0, struct box_exec_flags, no_denials,
        "do not print what the sandbox denied; nor collect it, if the box is not running"),
};

static const struct example exec_examples[] = {
    {"cordon box exec fix-login git status", "run in the box's working directory"},
    {"cordon box exec fix-login sh -c 'make && ./a'", "options after NAME belong to the command"},
    {"tar c src | cordon box exec fix-login tar x",
        "standard input and output are forwarded unchanged"},
};

const struct cmd cmd_box_exec = {
    .name = "exec",
    .summary = "run a command in a box",
    .about = "The command sees the same files as the agent and starts in the working "
             "directory. It runs on a terminal if standard input and output are terminals, "
             "otherwise on pipes. Everything after NAME, including options, belongs to the "
             "command. The box need not be running. Exit status: that of the command, or 128+N "
             "if signal N ended it. If the command cannot be started, the exit status is "
             "cordon's own.",
    .usage = "NAME [--] COMMAND [ARGUMENT…]",
    CMD_OPTS(exec_opts, struct box_exec_flags),
    .no_json = true,
    .min_args = 2,
    .max_args = WORDS_MAX,
    .own_args = 1,
    .arg_kind = ARG_BOX_FILES,
    CMD_EXAMPLES(exec_examples),
    .run = attach_run_exec,
};
