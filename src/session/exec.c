/* The supervisor's loop. There are only a few descriptors, so poll() is enough. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/exec.h"

#include "base/clock.h"
#include "io/relay.h"
#include "io/tty.h"
#include "sandbox/launch.h"
#include "session/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>

enum {
    RELAY_IN,
    RELAY_OUT,
    RELAY_ERR,
    RELAYS,

    POLL_CONTROL = RELAYS * RELAY_POLLFDS,
    POLL_SIGNALS,
    POLL_TENDED,
    POLL_CANCEL,
    POLLS,

    DRAIN_MS = 30, /* to forward output that was read before the kill */
};

struct exec_state {
    const struct exec_job *job;
    struct exec_result *result;
    struct child child;
    struct relay relays[RELAYS];
    char *buffers;
    struct tty tty;
    uint64_t deadline_ms, near_ms; /* when the run time ends, and when its warning is due */
    struct budget runtime, output;
    bool ended;  /* the command, or the whole sandbox */
    bool killed; /* by us */
};

const char *exec_status_name(enum exec_status status)
{
    static const char *const names[] = {"passed", "failed", "errored", "canceled"};
    return names[status];
}

/* Ending -------------------------------------------------------------------------------------- */

static void exec_notify(const struct exec_state *r, const struct session_event *event)
{
    if (r->job->event)
        r->job->event(r->job->context, event);
}

/* Output that was read but not yet forwarded may still be written, for DRAIN_MS. */
static void kill_run(struct exec_state *r)
{
    if (!r->result->exit.known) {
        r->result->exit = SESSION_KILLED;
        r->result->exit.by_harness = true;
    }
    r->ended = r->killed = true;
    child_kill(&r->child);
    relay_close(&r->relays[RELAY_IN]);
    for (size_t i = RELAY_OUT; i < RELAYS; i++)
        relay_end(&r->relays[i]);
    r->deadline_ms = clock_mono_ms() + DRAIN_MS;
}

static void over_budget(struct exec_state *r, const struct budget *budget)
{
    struct err *err = &r->result->error;
    if (err->code)
        return;
    (void)budget_blame(budget, err);
    r->result->status = EXEC_ERRORED;
    kill_run(r);
}

static void near_budget(struct exec_state *r, struct budget *budget, uint64_t used)
{
    if (budget_near(budget, used))
        exec_notify(r, &(struct session_event){.type = SESSION_EVENT_BUDGET_NEAR,
                           .text = str_z(budget->name),
                           .value = BUDGET_NEAR_PERCENT});
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
    kill_run(r);
}

/* Events -------------------------------------------------------------------------------------- */

/* Feeds the emulator. It answers the command's queries unless the user's terminal does. */
static void exec_feed_term(struct exec_state *r, struct str bytes)
{
    struct term *t = r->job->term;
    term_feed(t, bytes);
    struct str replies = term_replies(t);
    if (!r->job->pass_keys && replies.n && r->child.terminal >= 0)
        (void)!write(r->child.terminal, replies.p, replies.n);
    term_drop_replies(t, replies.n);
}

/* Counts every byte of output, even if it is discarded. */
static size_t exec_on_output(void *context, struct str bytes)
{
    struct exec_state *r = context;
    uint64_t most = r->output.limit, left = most - MIN(r->result->output_bytes, most);
    struct str kept = str_head(bytes, (size_t)MIN(left, (uint64_t)bytes.n));
    r->result->output_bytes += bytes.n;
    if (kept.n && r->job->seen)
        r->job->seen(r->job->context, kept);
    if (kept.n && r->job->term)
        exec_feed_term(r, kept);
    near_budget(r, &r->output, r->result->output_bytes);
    return kept.n;
}

static size_t exec_on_input(void *context, struct str bytes)
{
    struct exec_state *r = context;
    r->result->input_bytes += bytes.n;
    return bytes.n;
}

/* Forwards the output printed before the command stopped. */
static void pass_on_rest(struct exec_state *r)
{
    struct relay *out = &r->relays[RELAY_OUT];
    struct pollfd fds[RELAY_POLLFDS];
    for (;;) {
        relay_poll(out, fds);
        if (poll(fds, RELAY_POLLFDS, 0) <= 0)
            return;
        relay_step(out, fds);
    }
}

static void exec_suspend(struct exec_state *r)
{
    uint64_t before = clock_mono_ms();
    pass_on_rest(r);
    tty_restore(&r->tty);
    raise(SIGTSTP); /* the kernel ignores it if no shell could resume us */
    uint64_t slept = clock_mono_ms() - before;
    r->deadline_ms += slept;
    r->near_ms += slept;
    tty_raw(&r->tty, r->job->input);
    tty_resize(r->child.terminal, tty_size(r->job->input));
    child_continue(&r->child);
}

static void exec_read_message(struct exec_state *r)
{
    struct child_news news;
    struct exec_result *result = r->result;
    if (!child_next(&r->child, &news, &result->error)) {
        result->status = EXEC_ERRORED;
        r->ended = true;
        return;
    }
    if (news.word == CHILD_STOPPED) {
        exec_suspend(r);
        return;
    }
    r->ended = true;
    result->exit = news.word == CHILD_EXITED ? session_exit_from(news.value) : SESSION_KILLED;
}

static void exec_read_signal(struct exec_state *r)
{
    struct signalfd_siginfo info;
    if (read(r->job->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGWINCH) {
        if (r->job->pass_keys && r->child.terminal >= 0)
            tty_resize(r->child.terminal, tty_size(r->job->input));
        return;
    }
    exec_interrupt(r, (int)info.ssi_signo);
}

/* The loop ------------------------------------------------------------------------------------ */

static bool exec_is_drained(const struct exec_state *r)
{
    if (r->killed && clock_mono_ms() >= r->deadline_ms)
        return true;
    return relay_done(&r->relays[RELAY_OUT]) && relay_done(&r->relays[RELAY_ERR]);
}

static int exec_wait_ms(const struct exec_state *r)
{
    uint64_t now = clock_mono_ms();
    if (r->ended && !r->killed)
        return -1; /* the command has ended: wait for the reader of our output indefinitely */
    uint64_t until = r->runtime.told || r->killed ? r->deadline_ms : r->near_ms;
    return until <= now ? 0 : (int)MIN(until - now, (uint64_t)60 * 1000);
}

/* The reader of our output is gone: close the command's pipe, so that it gets SIGPIPE; on a
 * terminal, end the run. */
static void notice_closed(struct exec_state *r)
{
    struct child *c = &r->child;
    bool out = r->relays[RELAY_OUT].broken, err = r->relays[RELAY_ERR].broken;
    r->result->output_closed |= out || err;
    if (out && r->job->terminal && !r->ended)
        kill_run(r);
    if (out && c->out >= 0)
        close(TAKE_FD(c->out));
    if (err && c->err >= 0)
        close(TAKE_FD(c->err));
}

static void check_time(struct exec_state *r)
{
    uint64_t now = clock_mono_ms();
    if (now >= r->near_ms)
        near_budget(r, &r->runtime, r->runtime.limit);
    if (now >= r->deadline_ms)
        over_budget(r, &r->runtime);
}

static void exec_step(struct exec_state *r, struct pollfd fds[POLLS])
{
    for (size_t i = 0; i < RELAYS; i++)
        relay_step(&r->relays[i], fds + i * RELAY_POLLFDS);
    notice_closed(r);
    if (r->result->output_bytes > r->output.limit)
        over_budget(r, &r->output);
    if (!r->ended && fds[POLL_CONTROL].revents)
        exec_read_message(r);
    if (!r->result->error.code && fds[POLL_SIGNALS].revents)
        exec_read_signal(r);
    if (!r->result->error.code && fds[POLL_CANCEL].revents)
        exec_interrupt(r, 0);
    if (!r->ended)
        check_time(r);
}

static void exec_loop(struct exec_state *r)
{
    struct pollfd fds[POLLS];
    while (!r->ended || !exec_is_drained(r)) {
        for (size_t i = 0; i < RELAYS; i++)
            relay_poll(&r->relays[i], fds + i * RELAY_POLLFDS);
        fds[POLL_CONTROL] =
            (struct pollfd){.fd = r->ended ? -1 : r->child.control, .events = POLLIN};
        fds[POLL_SIGNALS] = (struct pollfd){.fd = r->job->signals, .events = POLLIN};
        fds[POLL_CANCEL] = (struct pollfd){.fd = r->killed ? -1 : r->job->cancel, .events = POLLIN};
        fds[POLL_TENDED] =
            (struct pollfd){.fd = r->job->tend ? r->job->tended : -1, .events = POLLIN};
        if (poll(fds, POLLS, exec_wait_ms(r)) < 0)
            continue;
        if (fds[POLL_TENDED].revents)
            r->job->tend(r->job->context);
        exec_step(r, fds);
    }
}

/* Start and end ------------------------------------------------------------------------------- */

static void set_relay(struct exec_state *r, size_t i, int from, int to)
{
    r->relays[i] = (struct relay){.from = from, .to = to, .buffer = r->buffers + i * RELAY_BUFFER};
    r->relays[i].seen = i == RELAY_IN ? exec_on_input : exec_on_output;
    r->relays[i].context = r;
}

/* Writes must not block; reads happen only after poll(). */
static void set_relays(struct exec_state *r)
{
    const struct exec_job *job = r->job;
    struct child *c = &r->child;
    bool typed = job->terminal && !job->pipe_input;
    int sink = typed ? c->terminal : TAKE_FD(c->in);
    if (sink >= 0)
        fcntl(sink, F_SETFL, O_NONBLOCK);
    set_relay(r, RELAY_IN, job->input, sink);
    r->relays[RELAY_IN].own_to = !typed;
    if (job->input < 0)
        relay_close(&r->relays[RELAY_IN]);
    set_relay(r, RELAY_OUT, job->terminal ? c->terminal : c->out, job->output[0]);
    set_relay(r, RELAY_ERR, c->err, job->output[1]);
    /* The command can open its own pipe and read the data that poll() has just reported. */
    if (c->out >= 0)
        fcntl(c->out, F_SETFL, O_NONBLOCK);
    if (c->err >= 0)
        fcntl(c->err, F_SETFL, O_NONBLOCK);
    if (job->terminal && c->terminal >= 0)
        fcntl(c->terminal, F_SETFL, O_NONBLOCK);
}

static uint64_t exec_add_ms(uint64_t start, uint64_t ms)
{
    return ms > UINT64_MAX - start ? UINT64_MAX : start + ms;
}

static void set_budgets(struct exec_state *r)
{
    const struct policy_budgets *b = &r->job->verdict->policy->budgets;
    r->runtime = (struct budget){"max_runtime_ms", " ms", b->max_runtime_ms, false};
    r->output = (struct budget){"max_output_bytes", " bytes", b->max_output_bytes, false};
    r->deadline_ms = exec_add_ms(r->result->started_ms, b->max_runtime_ms);
    r->near_ms = exec_add_ms(r->result->started_ms, budget_near_at(&r->runtime));
}

static void exec_set_status(struct exec_state *r)
{
    struct exec_result *result = r->result;
    const struct session_exit *e = &result->exit;
    if (result->error.code)
        return;
    if (e->code == 0) {
        result->status = EXEC_PASSED;
        return;
    }
    result->status = EXEC_FAILED;
    if (e->signal)
        err_set(&result->error, E_PROCESS_EXIT, "the command was ended by signal %d (SIG%s)",
            e->signal, sigabbrev_np(e->signal) ? sigabbrev_np(e->signal) : "?");
    else
        err_set(&result->error, E_PROCESS_EXIT, "the command ended with exit code %d", e->code);
    err_ctx_int(
        &result->error, e->signal ? "signal" : "exit_code", e->signal ? e->signal : e->code);
    child_blame(&r->child, &result->error);
}

bool exec_run(const struct exec_job *job, struct exec_result *ret_result, struct err *err)
{
    struct exec_result result = {.started_ms = clock_mono_ms()};
    struct exec_state r = {.job = job, .result = &result, .child = CHILD_NONE, .tty = TTY_NONE};
    const struct launch launch = {
        .plan = job->plan,
        .argv = job->argv,
        .envp = job->envp,
        .terminal = job->terminal,
        .pipe_input = job->pipe_input,
        .rows = job->rows,
        .cols = job->cols,
        .report_stops = job->pass_keys,
    };
    if (!launch_start(&launch, &r.child, err))
        return false;
    set_budgets(&r);
    AUTO_FREE char *buffers = base_realloc(NULL, RELAYS * RELAY_BUFFER); /* not touched if unused */
    r.buffers = buffers;
    set_relays(&r);
    if (job->pass_keys)
        tty_raw(&r.tty, job->input);
    else if (job->terminal && job->output[0] >= 0)
        tty_raw_output(&r.tty, job->output[0]);
    exec_loop(&r);
    tty_restore(&r.tty);
    for (size_t i = 0; i < RELAYS; i++)
        relay_close(&r.relays[i]);
    child_close(&r.child);
    result.kept = r.child.limiter.kept;
    result.ended_ms = clock_mono_ms();
    if (result.exit.known)
        exec_notify(&r, &(struct session_event){.type = SESSION_EVENT_EXIT, .exit = &result.exit});
    exec_set_status(&r);
    *ret_result = result;
    return true;
}
