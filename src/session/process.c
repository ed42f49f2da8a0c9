/* The event loop of a command. There are only a few descriptors, so poll() is enough. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

enum {
    POLL_TERMINAL = PROCESS_OUT * RELAY_POLLFDS, /* input is queued only for a terminal */
    POLL_CONTROL = PROCESS_RELAYS * RELAY_POLLFDS,
    POLL_CANCEL,
    POLL_WATCH,
    POLL_READY,
    POLLS, /* with fewer open files than this, poll() fails */

    OUTPUTS = PROCESS_RELAYS - PROCESS_OUT,
    FLUSH_MS = 30, /* to forward output that was read before the kill */
};

static void process_notify(const struct process *p, const struct session_event *event)
{
    if (p->options.event)
        p->options.event(p->options.context, event);
}

/* Budgets ------------------------------------------------------------------------------------- */

static void process_note_use(struct process *p, struct budget *b, uint64_t used)
{
    if (budget_near(b, used))
        process_notify(p, &(struct session_event){.type = SESSION_EVENT_BUDGET_NEAR,
                              .text = str_z(b->name),
                              .value = BUDGET_NEAR_PERCENT});
}

static bool process_is_late(struct process *p)
{
    uint64_t used = clock_mono_ms() - p->started_ms - p->paused_ms;
    process_note_use(p, &p->runtime, used);
    return used >= p->runtime.limit;
}

static uint64_t process_time_at(const struct process *p, uint64_t used)
{
    uint64_t start = p->started_ms + p->paused_ms;
    return used > UINT64_MAX - start ? UINT64_MAX : start + used;
}

uint64_t process_ends_ms(const struct process *p)
{
    return process_time_at(p, p->runtime.limit);
}

/* Returns when the run-time budget must be checked next. */
static uint64_t process_check_ms(const struct process *p)
{
    return process_time_at(p, p->runtime.warned ? p->runtime.limit : budget_near_at(&p->runtime));
}

/* Output of others after its end does not count. */
static bool process_printed_too_much(const struct process *p)
{
    return (p->left_ms ? MIN(p->output_bytes, p->owed) : p->output_bytes) > p->output.limit;
}

/* Streams ------------------------------------------------------------------------------------- */

/* Counts every byte of output, even if it is discarded. */
static size_t process_on_output(void *context, struct str bytes)
{
    struct process *p = context;
    uint64_t left = p->output.limit - MIN(p->output_bytes, p->output.limit);
    struct str kept = str_head(bytes, (size_t)MIN(left, (uint64_t)bytes.n));
    p->output_bytes += bytes.n;
    p->has_output = true;
    if (kept.n)
        p->options.output(p->options.context, kept);
    process_note_use(p, &p->output, p->output_bytes);
    return kept.n;
}

static size_t process_on_input(void *context, struct str bytes)
{
    struct process *p = context;
    p->input_bytes += bytes.n;
    return bytes.n;
}

bool process_hung_up(const struct process *p)
{
    return relay_done(&p->relays[PROCESS_OUT]) && relay_done(&p->relays[PROCESS_ERR]);
}

bool process_queue(struct process *p, struct str bytes)
{
    if (p->queue.n + bytes.n > PROCESS_QUEUE_MAX)
        return false;
    buf_add_str(&p->queue, bytes);
    return true;
}

void process_write_some(struct process *p)
{
    if (p->queue.n == 0 || process_hung_up(p))
        return;
    ssize_t n = write(p->child.terminal, p->queue.p, p->queue.n);
    if (n <= 0)
        return;
    memmove(p->queue.p, p->queue.p + n, p->queue.n - (size_t)n);
    buf_truncate(&p->queue, p->queue.n - (size_t)n);
}

static void process_poll_relays(const struct process *p, size_t from, struct pollfd *fds)
{
    for (size_t i = from; i < PROCESS_RELAYS; i++)
        relay_poll(&p->relays[i], fds + (i - from) * RELAY_POLLFDS);
}

static void process_step_relays(struct process *p, size_t from, const struct pollfd *fds)
{
    for (size_t i = from; i < PROCESS_RELAYS; i++)
        relay_step(&p->relays[i], fds + (i - from) * RELAY_POLLFDS);
}

/* Polls and handles only the outputs. */
static bool process_step_outputs(struct process *p, int timeout_ms)
{
    struct pollfd fds[OUTPUTS * RELAY_POLLFDS];
    process_poll_relays(p, PROCESS_OUT, fds);
    if (poll(fds, ARRAY_LEN(fds), timeout_ms) <= 0)
        return false;
    process_step_relays(p, PROCESS_OUT, fds);
    return true;
}

bool process_read_ready(struct process *p)
{
    return process_step_outputs(p, 0);
}

/* The reader of our output is gone: close the command's pipe, so that it gets SIGPIPE. */
static void process_notice_closed(struct process *p)
{
    struct child *c = &p->child;
    bool out = p->relays[PROCESS_OUT].broken, err = p->relays[PROCESS_ERR].broken;
    p->output_closed |= out || err;
    if (out && c->out >= 0)
        close(TAKE_FD(c->out));
    if (err && c->err >= 0)
        close(TAKE_FD(c->err));
}

/* Ending -------------------------------------------------------------------------------------- */

static void process_note_exit(struct process *p, struct session_exit exit)
{
    if (p->exit.known || p->unstarted)
        return;
    exit.by_harness = p->exit.by_harness;
    p->exit = exit;
}

pid_t process_session(const struct process *p)
{
    return p->command ? world_session(p->command) : 0;
}

void process_report_exit(struct process *p)
{
    if (!p->exit_reported && !p->unstarted)
        process_notify(p, &(struct session_event){.type = SESSION_EVENT_EXIT, .exit = &p->exit});
    p->exit_reported = true;
}

void process_end(struct process *p)
{
    if (p->command)
        world_kill(p->command);
    else
        child_kill(&p->child);
}

void process_kill(struct process *p)
{
    process_end(p);
    p->exit.by_harness |= !p->exit.known;
    process_note_exit(p, SESSION_KILLED);
    p->ended = true;
    p->drain_until_ms = 0;
    if (!p->options.streams)
        return;
    relay_close(&p->relays[PROCESS_IN]);
    for (size_t i = PROCESS_OUT; i < PROCESS_RELAYS; i++)
        relay_end(&p->relays[i]);
    uint64_t now, until = clock_mono_ms() + FLUSH_MS;
    while (!process_hung_up(p) && (now = clock_mono_ms()) < until)
        (void)process_step_outputs(p, clock_timeout_ms(now, until));
    process_notice_closed(p);
}

void process_terminate(struct process *p)
{
    p->exit.by_harness = true;
    if (!p->command) {
        child_terminate(&p->child);
        return;
    }
    static const int signals[] = {SIGTERM, SIGHUP, SIGCONT};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        world_signal(p->command, signals[i]);
}

static enum process_news process_over_budget(struct process *p, const struct budget *b)
{
    (void)budget_blame(b, &p->error);
    process_kill(p);
    return PROCESS_FAILED;
}

static struct session_exit process_exit_from(int status)
{
    return (struct session_exit){
        .known = true,
        .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
    };
}

static void process_note_end(struct process *p, struct session_exit exit)
{
    process_note_exit(p, exit);
    p->ended = true;
    /* The reader of forwarded output gets as long as it needs. */
    p->drain_until_ms = p->options.streams ? UINT64_MAX : clock_mono_ms() + PROCESS_DRAIN_MS;
}

static uint64_t process_pending(int pipe)
{
    int n = 0;
    return pipe >= 0 && ioctl(pipe, FIONREAD, &n) == 0 && n > 0 ? (uint64_t)n : 0;
}

/* In a world, processes left behind may keep its output open indefinitely. Output of the command
 * itself is complete when it exits, and is read first. */
static void process_note_world_end(struct process *p)
{
    const struct world_command *c = p->command;
    if (!c->ended || p->ended)
        return;
    p->child.too_many = c->too_many;
    p->child.limiter.kept.memory_kills = c->large;
    if (p->child.hold >= 0)
        close(TAKE_FD(p->child.hold));
    process_note_end(p, process_exit_from(c->status));
    p->left_ms = clock_mono_ms() + PROCESS_LEFT_MS;
    p->owed = p->output_bytes + process_pending(p->child.out) + process_pending(p->child.err);
    p->drain_until_ms = clock_mono_ms() + PROCESS_DRAIN_MS;
}

/* Handles a message from process 1. If it was killed with the whole sandbox, it sent none. */
static bool process_read_message(struct process *p, bool *ret_stopped)
{
    struct child_event news;
    if (p->command) {
        world_handle_events(p->command->world);
        process_note_world_end(p);
        return true;
    }
    if (!child_read_event(&p->child, &news, &p->error)) {
        p->ended = p->unstarted = true;
        return false;
    }
    *ret_stopped = news.word == CHILD_STOPPED;
    if (*ret_stopped)
        return true;
    process_note_end(p, news.word == CHILD_EXITED ? process_exit_from(news.value) : SESSION_KILLED);
    return true;
}

static int process_control(const struct process *p)
{
    if (p->ended)
        return -1;
    return p->command ? world_descriptor(p->command->world) : p->child.control;
}

/* Another command's loop may have taken the message of our end. */
static bool process_end_is_known(const struct process *p)
{
    return p->command && p->command->ended && !p->ended;
}

/* The loop ------------------------------------------------------------------------------------ */

void process_polls(const struct process *p, struct pollfd fds[PROCESS_POLLS])
{
    short want = (short)(POLLIN | (p->queue.n ? POLLOUT : 0));
    fds[0] = (struct pollfd){.fd = process_hung_up(p) ? -1 : p->child.terminal, .events = want};
    fds[1] = (struct pollfd){.fd = process_control(p), .events = POLLIN};
}

/* Returns when the wait for output after the end is over. */
static uint64_t process_drained_ms(const struct process *p)
{
    return p->left_ms ? MIN(p->left_ms, p->drain_until_ms) : p->drain_until_ms;
}

uint64_t process_due_ms(const struct process *p)
{
    if (p->error.code || (p->ended && process_hung_up(p)) || process_end_is_known(p))
        return 0;
    return p->ended ? process_drained_ms(p) : process_check_ms(p);
}

static bool process_has_forwarded(const struct process *p)
{
    return p->relays[PROCESS_OUT].n == 0 && p->relays[PROCESS_ERR].n == 0;
}

static bool process_is_drained(const struct process *p)
{
    if (!p->ended)
        return false;
    const uint64_t now = clock_mono_ms();
    if (process_hung_up(p) || now >= p->drain_until_ms)
        return true;
    return p->left_ms && p->output_bytes >= p->owed && process_has_forwarded(p) &&
           (now >= p->left_ms || p->output_bytes > p->owed + PROCESS_LEFT_BYTES);
}

static bool process_poll(struct process *p, uint64_t deadline_ms, struct pollfd fds[POLLS])
{
    const struct process_options *o = &p->options;
    uint64_t until = MIN(deadline_ms, p->ended ? process_drained_ms(p) : process_check_ms(p));
    process_poll_relays(p, PROCESS_IN, fds);
    if (p->queue.n)
        fds[POLL_TERMINAL].events |= POLLOUT;
    fds[POLL_CONTROL] = (struct pollfd){.fd = process_control(p), .events = POLLIN};
    fds[POLL_CANCEL] = (struct pollfd){.fd = o->cancel, .events = POLLIN};
    fds[POLL_WATCH] = (struct pollfd){.fd = p->watched, .events = POLLIN};
    fds[POLL_READY] = (struct pollfd){.fd = o->on_ready ? o->ready_fd : -1, .events = POLLIN};
    if (poll(fds, POLLS, clock_timeout_ms(clock_mono_ms(), until)) >= 0)
        return true;
    memset(fds, 0, POLLS * sizeof(*fds));
    return errno == EINTR || err_errno(&p->error, E_IO, errno, "cannot wait for the command");
}

/* Waits for an event and handles it. Returns true if there is news for the caller. */
static bool process_step(struct process *p, uint64_t deadline_ms, enum process_news *ret_news)
{
    struct pollfd fds[POLLS];
    bool stopped = false;
    *ret_news = PROCESS_FAILED;
    if (!process_poll(p, deadline_ms, fds))
        return true;
    if (fds[POLL_READY].revents)
        p->options.on_ready(p->options.context);
    if (fds[POLL_TERMINAL].revents & POLLOUT)
        process_write_some(p);
    fds[POLL_TERMINAL].revents &= ~POLLOUT;
    process_step_relays(p, PROCESS_IN, fds);
    process_notice_closed(p);
    if (p->relays[PROCESS_OUT].broken && p->options.launch.terminal && !p->ended)
        process_kill(p); /* a terminal has no SIGPIPE */
    if (!p->ended && !process_printed_too_much(p) && fds[POLL_CONTROL].revents &&
        !process_read_message(p, &stopped))
        return true;
    *ret_news = stopped                    ? PROCESS_STOPPED
                : fds[POLL_CANCEL].revents ? PROCESS_CANCELED
                                           : PROCESS_INPUT;
    return stopped || fds[POLL_CANCEL].revents || fds[POLL_WATCH].revents;
}

enum process_news process_next(struct process *p, uint64_t deadline_ms)
{
    enum process_news news;
    for (;;) {
        if (p->error.code)
            return PROCESS_FAILED;
        if (process_printed_too_much(p))
            return process_over_budget(p, &p->output);
        if (process_is_drained(p)) {
            p->exited = true;
            process_report_exit(p);
            return PROCESS_EXITED;
        }
        if (process_end_is_known(p))
            process_note_world_end(p);
        if (!p->ended && process_is_late(p))
            return process_over_budget(p, &p->runtime);
        p->has_output = false;
        if (process_step(p, deadline_ms, &news))
            return news;
        if (p->has_output)
            return PROCESS_OUTPUT;
        if (!process_is_drained(p) && clock_mono_ms() >= deadline_ms)
            return PROCESS_TIME;
    }
}

void process_watch(struct process *p, int fd)
{
    p->watched = fd;
}

void process_continue(struct process *p, uint64_t paused_ms)
{
    p->paused_ms += paused_ms;
    child_continue(&p->child);
}

/* Opening and closing ------------------------------------------------------------------------- */

static void process_set_relay(struct process *p, size_t i, int from, int to)
{
    p->relays[i] = (struct relay){.from = from, .to = to, .buffer = p->buffers + i * RELAY_BUFFER};
    p->relays[i].seen = i == PROCESS_IN ? process_on_input : process_on_output;
    p->relays[i].context = p;
}

/* Writes must not block. Nor must reads after poll(): the command can open its own pipe and take
 * the bytes. */
static void process_set_relays(struct process *p)
{
    const struct process_streams none = {-1, {-1, -1}};
    const struct process_streams *to = p->options.streams ? p->options.streams : &none;
    const struct launch *l = &p->options.launch;
    struct child *c = &p->child;
    bool typed = l->terminal && !l->pipe_input;
    int sink = typed ? c->terminal : TAKE_FD(c->in);
    const int nonblocking[] = {sink, c->out, c->err, c->terminal};
    for (size_t i = 0; i < ARRAY_LEN(nonblocking); i++)
        if (nonblocking[i] >= 0)
            fcntl(nonblocking[i], F_SETFL, O_NONBLOCK);
    process_set_relay(p, PROCESS_IN, to->input, sink);
    p->relays[PROCESS_IN].own_to = !typed;
    if (to->input < 0)
        relay_close(&p->relays[PROCESS_IN]);
    process_set_relay(p, PROCESS_OUT, l->terminal ? c->terminal : c->out, to->output[0]);
    process_set_relay(p, PROCESS_ERR, c->err, to->output[1]);
}

bool process_open(
    const struct process_options *options, struct process *ret_process, struct err *err)
{
    struct child child;
    struct world_command *command = NULL;
    struct proxy_process proxy;
    if (!(options->world
                ? world_start(options->world, &options->launch, options->cwd, &child, &command, err)
                : launch_start(&options->launch, &child, err)))
        return false;
    if (!proxy_process_take(&child.proxy, options->launch.plan->hosts, &proxy, err)) {
        child_kill(&child);
        child_close(&child);
        return false;
    }
    struct process *p = ret_process;
    const struct process_budgets *b = &options->budgets;
    *p = (struct process){
        .options = *options,
        .child = child,
        .proxy = proxy,
        .command = command,
        .buffers = base_realloc(NULL, PROCESS_RELAYS * RELAY_BUFFER), /* not touched if unused */
        .queue = BUF_INIT(PROCESS_QUEUE_MAX + 1),
        .started_ms = clock_mono_ms(),
        .runtime = {"max_runtime_ms", "ran longer than", " ms", b->runtime_ms, false},
        .output = {"max_output_bytes", "printed more than", " bytes", b->output_bytes, false},
        .watched = -1,
        .exit.code = -1,
    };
    process_set_relays(p);
    return true;
}

/* Pipes that processes of an ended command have open are read on. */
static void process_leave_world(struct process *p)
{
    struct child *c = &p->child;
    const bool killed = p->exit.by_harness || !p->ended;
    int *const pipes[] = {&c->out, &c->err};
    for (size_t i = 0; i < ARRAY_LEN(pipes); i++)
        if (*pipes[i] >= 0 && !killed && !relay_done(&p->relays[PROCESS_OUT + i]))
            world_adopt(p->command->world, TAKE_FD(*pipes[i]));
    c->limiter.kept = world_kept(p->command);
    world_release(p->command);
    p->command = NULL;
}

void process_close(struct process *p)
{
    if (!p->ended || (p->options.launch.serves && !p->command))
        process_end(p);
    if (p->command)
        process_leave_world(p);
    for (size_t i = 0; i < PROCESS_RELAYS; i++)
        relay_close(&p->relays[i]);
    child_close(&p->child);
    proxy_process_end(&p->proxy, p->options.refused);
    buf_done(&p->queue);
    err_done(&p->error);
    free(p->buffers);
    p->buffers = NULL;
}
