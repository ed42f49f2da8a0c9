/* Runs to the end: forwards streams, and handles the user's terminal and signals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/exec.h"

#include "base/clock.h"
#include "io/interrupt.h"
#include "io/tty.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

struct exec_state {
    const struct exec_options *options;
    struct exec_result *result;
    struct process process;
    struct tty tty;
};

const char *exec_status_name(enum exec_status status)
{
    static const char *const names[] = {"passed", "failed", "errored", "canceled"};
    return names[status];
}

/* Events -------------------------------------------------------------------------------------- */

static void exec_on_event(void *context, const struct session_event *event)
{
    const struct exec_state *r = context;
    if (r->options->event)
        r->options->event(r->options->context, event);
}

/* Feeds the emulator. It answers the command's queries unless the user's terminal does. */
static void exec_feed_term(struct exec_state *r, struct str bytes)
{
    struct term *t = r->options->term;
    term_feed(t, bytes);
    struct str replies = term_replies(t);
    if (!r->options->pass_keys && replies.n && process_queue(&r->process, replies))
        process_write_some(&r->process);
    term_drop_replies(t, replies.n);
}

static void exec_on_output(void *context, struct str bytes)
{
    struct exec_state *r = context;
    if (r->options->seen)
        r->options->seen(r->options->context, bytes);
    if (r->options->term)
        exec_feed_term(r, bytes);
}

static void exec_on_ready(void *context)
{
    const struct exec_state *r = context;
    r->options->on_ready(r->options->context);
}

/* Ends the run because of a signal or, with 0, because `cancel` became readable. */
static void exec_interrupt(struct exec_state *r, int sig)
{
    struct err *err = &r->result->error;
    if (sig) {
        err_set(err, E_CANCELED, "interrupted by signal %d (SIG%s)", sig, sigabbrev_np(sig));
        err_ctx_int(err, "signal", sig);
    } else {
        err_set(err, E_CANCELED, "interrupted");
    }
    r->result->status = EXEC_CANCELED;
    process_kill(&r->process);
}

static void exec_suspend(struct exec_state *r)
{
    struct process *p = &r->process;
    uint64_t before = clock_mono_ms(), until = before + PROCESS_DRAIN_MS;
    while (clock_mono_ms() < until && process_read_ready(p)) /* printed before the stop */
        continue;
    tty_restore(&r->tty);
    raise(SIGTSTP); /* the kernel ignores it if no shell could resume us */
    uint64_t slept = clock_mono_ms() - before;
    tty_raw(&r->tty, r->options->input);
    tty_resize(p->child.terminal, tty_size(r->options->input));
    process_continue(p, slept);
}

/* Returns false if the signal ends the run. */
static bool exec_read_signal(struct exec_state *r)
{
    int terminal = r->process.child.terminal, sig = interrupt_take(r->options->signals);
    if (sig == 0)
        return true;
    if (sig == SIGWINCH) {
        if (r->options->pass_keys && terminal >= 0)
            tty_resize(terminal, tty_size(r->options->input));
        return true;
    }
    exec_interrupt(r, sig == INTERRUPT_CANCELED ? 0 : sig);
    return false;
}

/* Handles an event. Returns false at the end of the run. */
static bool exec_step(struct exec_state *r)
{
    switch (process_next(&r->process, UINT64_MAX)) {
    case PROCESS_EXITED:
        return false;
    case PROCESS_FAILED:
        r->result->status = EXEC_ERRORED;
        err_move(&r->result->error, &r->process.error);
        return false;
    case PROCESS_CANCELED:
        exec_interrupt(r, 0);
        return false;
    case PROCESS_INPUT:
        return exec_read_signal(r);
    case PROCESS_STOPPED:
        exec_suspend(r);
        return true;
    default:
        return true;
    }
}

/* Start and end ------------------------------------------------------------------------------- */

static bool exec_appends(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && flags & O_APPEND;
}

/* Whether both outputs have the same destination: then the command gets one pipe for both, because
 * the order of writes to two pipes is lost. Files opened twice have two offsets, unless both are
 * appended to; all masters of pseudoterminals have one inode. */
static bool exec_has_one_output(const int to[2])
{
    struct stat out, err;
    if (to[0] < 0 && to[1] < 0)
        return true;
    if (to[0] < 0 || to[1] < 0 || fstat(to[0], &out) != 0 || fstat(to[1], &err) != 0 ||
        out.st_dev != err.st_dev || out.st_ino != err.st_ino)
        return false;
    if (S_ISFIFO(out.st_mode) || (S_ISCHR(out.st_mode) && out.st_rdev != makedev(5, 2)) ||
        (S_ISREG(out.st_mode) && exec_appends(to[0]) && exec_appends(to[1])))
        return true;
    return syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, to[0], to[1]) == 0;
}

static void exec_set_status(struct exec_state *r)
{
    struct exec_result *result = r->result;
    const struct session_exit *e = &result->exit;
    if (result->error.code)
        return;
    if (!child_check_listener(&r->process.child, &result->error)) {
        result->status = EXEC_ERRORED;
        return;
    }
    if (e->code == 0) {
        result->status = EXEC_PASSED;
        return;
    }
    result->status = EXEC_FAILED;
    if (e->signal)
        err_set(&result->error, E_PROCESS_EXIT, "the command was killed by signal %d (SIG%s)",
            e->signal, sigabbrev_np(e->signal) ? sigabbrev_np(e->signal) : "?");
    else
        err_set(&result->error, E_PROCESS_EXIT, "the command failed with exit status %d", e->code);
    err_ctx_int(
        &result->error, e->signal ? "signal" : "exit_code", e->signal ? e->signal : e->code);
    child_explain_kill(&r->process.child, &result->error);
}

static bool exec_open(struct exec_state *r, const struct process_streams *streams, struct err *err)
{
    const struct exec_options *o = r->options;
    const struct process_options process = {
        .launch = {.plan = &o->confined->plan,
            .argv = o->confined->argv,
            .envp = o->confined->envp,
            .terminal = o->terminal,
            .pipe_input = o->pipe_input,
            .one_output = exec_has_one_output(streams->output),
            .rows = o->rows,
            .cols = o->cols,
            .report_stops = o->pass_keys,
            .denied = o->world ? NULL : o->confined->denied},
        .world = o->world,
        .cwd = o->cwd,
        .budgets = confined_budgets(o->confined),
        .streams = streams,
        .cancel = o->cancel,
        .output = exec_on_output,
        .event = exec_on_event,
        .on_ready = o->on_ready ? exec_on_ready : NULL,
        .ready_fd = o->ready_fd,
        .context = r,
        .refused = o->confined->refused,
    };
    if (!process_open(&process, &r->process, err))
        return false;
    process_watch(&r->process, o->signals);
    return true;
}

static void exec_close(struct exec_state *r)
{
    struct exec_result *result = r->result;
    struct process *p = &r->process;
    result->left = p->command && p->exited && !process_hung_up(p);
    result->session = process_session(p);
    process_close(p);
    result->kept = p->child.limiter.kept;
    result->output_bytes = p->output_bytes;
    result->input_bytes = p->input_bytes;
    result->output_closed = p->output_closed;
    result->ended_ms = clock_mono_ms();
    if (!p->exit.known)
        return;
    result->exit = p->exit;
    process_report_exit(p);
}

bool exec_run(const struct exec_options *options, struct exec_result *ret_result, struct err *err)
{
    struct exec_result result = {.started_ms = clock_mono_ms()};
    struct exec_state r = {.options = options, .result = &result, .tty = TTY_NONE};
    const struct process_streams streams = {
        options->input, {options->output[0], options->output[1]}};
    if (!exec_open(&r, &streams, err))
        return false;
    if (options->pass_keys)
        tty_raw(&r.tty, options->input);
    else if (options->terminal && options->output[0] >= 0)
        tty_raw_output(&r.tty, options->output[0]);
    while (exec_step(&r))
        continue;
    tty_restore(&r.tty);
    exec_close(&r);
    exec_set_status(&r);
    *ret_result = result;
    return true;
}
