/* cordon box attach, exec: use a box from the user's terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "boxd/client.h"
#include "cli/box_cmds.h"
#include "io/interrupt.h"
#include "tui/display.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
    SIGNAL_BASE = 128,
    WORDS_MAX = 100 * 1000,
    RACE_MS = 20 * 1000, /* timeout for the supervisor of another command to exit */
    WAIT_MS = 4,
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
        out_note(cli, STR_FMT ": detached; it goes on", STR_ARG(box->name));
        return true;
    }
    if (!state_load(box->host, cli->arena, &state, &held, err))
        return false;
    if (before.n && str_eq(before, state.ended_at))
        return not_running(box, err);
    if (end == CLIENT_CUT && !state.ended_at.n)
        return err_set(err, E_IO, "the connection to the box's supervisor was cut off");
    out_note(cli, STR_FMT ": the agent has ended: %s", STR_ARG(box->name),
        state.error.n     ? arena_strdup(cli->arena, state.error)
        : state.signal    ? arena_printf(cli->arena, "signal %d", (int)state.signal)
        : state.exit_code ? arena_printf(cli->arena, "exit code %d", (int)state.exit_code)
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
    if (!display_check(err) || !config_box_open(cli->arena, args->v[0], BOX_USE_LOOK, &use, err))
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
    .summary = "see a box's terminal and type into it",
    .about =
        "Shows what the agent shows, at this terminal's size. Ctrl-] d detaches and leaves the "
        "agent running, Ctrl-] [ looks back (arrows, PageUp, PageDown, Home, End; q leaves), "
        "Ctrl-] "
        "Ctrl-] types one Ctrl-]. Several terminals may be attached; the box has the size of the "
        "one that was used last.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_EXAMPLES(attach_examples),
    .run = run_attach,
};

/* exec ---------------------------------------------------------------------------------------- */

/* Signals are forwarded to the command; before it is started they cancel the wait. */
static bool pause_ms(int ms, int signals, struct err *err)
{
    struct signalfd_siginfo info;
    struct pollfd wait = {.fd = signals, .events = POLLIN};
    (void)poll(&wait, 1, ms);
    if (read(signals, &info, sizeof(info)) != sizeof(info) || info.ssi_signo == SIGWINCH)
        return true;
    return err_set(err, E_CANCELED, "interrupted: the command was not started");
}

/* Fails if the box was destroyed or replaced since it was opened: nothing must be started in it. */
static bool attach_check_same_box(const struct boxes *boxes, const struct box *box, struct err *err)
{
    AUTO_FD int fd = -1;
    struct stat now, then;
    if (!boxes_find(boxes, box->name, &fd, err))
        return false;
    return (fstat(fd, &now) == 0 && fstat(box->fd, &then) == 0 && now.st_ino == then.st_ino) ||
           err_set(err, E_NOT_FOUND, "the box '" STR_FMT "' was replaced meanwhile: try again",
               STR_ARG(box->name));
}

/* Fails with E_CONFLICT if another command is starting or changing the box at the same time. */
static bool start_idle(struct cli *cli, const struct box_use *use, struct err *err)
{
    AUTO_FD int lock = -1;
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    return config_boxes(cli->arena, BOXES_MAKE, &boxes, err) &&
           boxes_lock(&boxes, use->box.name, &lock, err) &&
           attach_check_same_box(&boxes, &use->box, err) && box_use_start_idle(&use->box, err);
}

static bool may_wait(const struct err *e, uint64_t until)
{
    bool race = (e->code == E_NOT_FOUND && err_ctx_get(e, "box")) || e->code == E_CONFLICT;
    return race && clock_mono_ms() < until;
}

/* Connects to the running supervisor, or starts one. A supervisor that is exiting may still close
 * the connection; the caller retries. */
static bool attach_exec_once(struct cli *cli, const struct box_use *use,
    const struct client_exec *exec, int *ret_status, struct err *err)
{
    AUTO_FD int fd = -1;
    AUTO_ERR struct err none = {0};
    if (client_connect(&use->box, &fd, &none))
        return client_exec(fd, exec, ret_status, err);
    if (none.code != E_NOT_FOUND)
        return err_move(err, &none);
    AUTO_ERR struct err taken = {0};
    if (!start_idle(cli, use, &taken) && taken.code != E_CONFLICT)
        return err_move(err, &taken);
    if (client_connect(&use->box, &fd, err))
        return client_exec(fd, exec, ret_status, err);
    return taken.code ? err_move(err, &taken) : err_ctx(err, "box", "gone");
}

static bool attach_exec_retry(struct cli *cli, const struct box_use *use,
    const struct client_exec *exec, int *ret_status, struct err *err)
{
    uint64_t until = clock_mono_ms() + RACE_MS;
    for (;;) {
        AUTO_ERR struct err failed = {0};
        if (attach_exec_once(cli, use, exec, ret_status, &failed))
            return true;
        if (!may_wait(&failed, until))
            return err_move(err, &failed);
        if (!pause_ms(WAIT_MS, exec->signals, err))
            return false;
    }
}

static bool attach_run_exec(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n);
    sigset_t set;
    int status = 0;
    if (cli->json)
        return err_set(err, E_CLI_INVALID_ARG, "exec prints what the command prints: no --json");
    /* No command is named '--': it ends the options, as everywhere else. */
    size_t skip = args->n > 2 && strcmp(args->v[1], "--") == 0 ? 2 : 1;
    memcpy(argv, args->v + skip, (args->n - skip) * sizeof(*argv));
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_LOOK, &use, err))
        return false;
    signal(SIGPIPE, SIG_IGN);
    AUTO_FD int signals = interrupt_open(true, &set);
    bool ok = attach_exec_retry(cli, &use,
        &(struct client_exec){.argv = argv,
            .terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
            .input = STDIN_FILENO,
            .output = STDOUT_FILENO,
            .error = STDERR_FILENO,
            .signals = signals},
        &status, err);
    interrupt_close(&set);
    if (ok)
        cli->status = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
    return ok;
}

static const struct example exec_examples[] = {
    {"cordon box exec fix-login git status", "in the work directory of the box"},
    {"cordon box exec fix-login sh -c 'make && ./a'", "options after NAME are the command's"},
    {"tar c src | cordon box exec fix-login tar x", "streams are passed as they are"},
};

const struct cmd cmd_box_exec = {
    .name = "exec",
    .summary = "run a command in a box",
    .about =
        "It sees what the agent sees and starts in the work directory; on a terminal, if standard "
        "input and output are one, and on pipes otherwise. What follows NAME is the command's, "
        "options and all. The box need not run. Exit status: that of the command, 128+N if signal "
        "N ended it.",
    .usage = "NAME COMMAND [ARGUMENT…]",
    .min_args = 2,
    .max_args = WORDS_MAX,
    .own_args = 1,
    .arg_kind = ARG_BOX_FILES,
    CMD_EXAMPLES(exec_examples),
    .run = attach_run_exec,
};
