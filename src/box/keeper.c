/* Main loop of a box's supervisor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/keeper.h"

#include "io/file.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum {
    ARENA_MAX = 256 << 20,
    NEWS_MAX = 16, /* session events handled before other work */
    BEGIN_MS = 20, /* time to detect a command that cannot be executed */
    FIRST_GUEST_MS = 10 * 1000,
    IDLE_LOOK_MS = 200,
    ASK_MS = 250,
    TEXT_BYTES = 8 << 20,

    POLL_SIGNALS = 0,
    POLL_LISTENER,
    POLL_SERVICE,
    POLL_SESSION, /* two entries */
    POLL_NET = POLL_SESSION + SESSION_POLLS,
    POLL_GUESTS = POLL_NET + 1 + KEEPER_PORTS_MAX,
    POLLS = POLL_GUESTS + KEEPER_GUESTS_MAX,
};

/* State --------------------------------------------------------------------------------------- */

/* Not for `exec`: the state describes the agent's last run. */
void keeper_gap(struct keeper *k, const char *gap)
{
    if (k->options->mode == SUPERVISE_COMMANDS || k->state.gaps.n == ARRAY_LEN(k->gaps))
        return;
    k->gaps[k->state.gaps.n++] = str_z(gap);
    k->state.gaps.p = k->gaps;
}

static bool keeper_is_same_state(const struct box_state *a, const struct box_state *b)
{
    return a->status == b->status && a->prompt == b->prompt && a->exit_code == b->exit_code &&
           a->signal == b->signal && str_eq(a->error, b->error) && a->run == b->run &&
           a->proxy_ends == b->proxy_ends && str_eq(a->ended_at, b->ended_at);
}

void keeper_note(struct keeper *k)
{
    AUTO_ERR struct err ignored = {0};
    if (!k->session)
        return;
    if (k->delivery.step != DELIVERY_NONE || k->delivery.state != BOX_PROMPT_NONE)
        k->state.prompt = k->delivery.state;
    if (k->has_saved && keeper_is_same_state(&k->state, &k->saved))
        return;
    k->has_saved = true;
    k->saved = k->state;
    (void)!state_save(k->box->host, &k->state, &ignored);
}

/* Opening ------------------------------------------------------------------------------------- */

static bool make_command(struct keeper *k, struct err *err)
{
    const struct box *box = k->box;
    struct command_input input = {
        .agent = box->agent, .model = box->meta.model, .extra = box->setup.args};
    if (k->options->mode == SUPERVISE_AGENT && !box_prompt(box, &k->arena, &input.prompt, err))
        return false;
    return command_make(&input, &k->arena, &k->command, err);
}

static bool make_view(struct keeper *k, struct err *err)
{
    struct str_list hosts;
    const struct view_input input = {
        .environ = k->options->environ,
        .home = k->options->home,
        .program = k->command.argv ? k->command.argv[0] : NULL,
        .proxy_port =
            box_network(k->box, &hosts) == BOX_NETWORK_ALLOW ? KEEPER_PROXY_PORT : (uint16_t)0,
    };
    return view_make(k->box, &input, &k->arena, &k->view, err);
}

/* Corrects the state left by a supervisor that was killed; we hold the lock. Waits until its
 * sandbox is gone. */
static bool keeper_correct_state(struct keeper *k, struct err *err)
{
    bool held;
    if (!state_load(k->box->host, &k->arena, &k->state, &held, err))
        return false;
    state_await_end(&k->state);
    if (k->state.status != BOX_RUNNING && k->state.status != BOX_IDLE)
        return true;
    k->state.status = BOX_STOPPED;
    return state_save(k->box->host, &k->state, err);
}

static bool open_idle(struct keeper *k, struct err *err)
{
    const struct launch launch = {.plan = &k->view.plan,
        .argv = (const char *const[]){NULL},
        .envp = k->view.envp,
        .serves = true,
        .idle = true};
    mode_t own = umask(k->box_umask);
    bool started = launch_start(&launch, &k->child, err);
    umask(own);
    if (!started)
        return false;
    k->service = k->child.service;
    bounds_apply(k, &k->child);
    k->state.first = (uint64_t)k->child.pid;
    return state_save(k->box->host, &k->state, err) && net_start(k, err);
}

static bool keeper_open_session(struct keeper *k, struct err *err)
{
    const struct supervisor_options *o = k->options;
    const struct session_options options = {
        .plan = &k->view.plan,
        .argv = k->command.argv,
        .envp = k->view.envp,
        .rows = o->rows,
        .cols = o->cols,
        .budgets = {UINT64_MAX, UINT64_MAX},
        .scrollback = KEEPER_SCROLLBACK,
        .serves = true,
        .held = true,
        .cancel = -1,
        .output = recording_output,
        .event = recording_event,
        .context = &k->recording,
    };
    mode_t own = umask(k->box_umask);
    bool opened = session_open(&options, &k->session, err);
    umask(own);
    if (!opened)
        return false;
    k->recording.from = k->session;
    k->service = session_child(k->session)->service;
    k->state.first = (uint64_t)session_child(k->session)->pid;
    bounds_apply(k, session_child(k->session));
    return net_start(k, err);
}

static void keeper_set_state(struct keeper *k)
{
    struct box_state *s = &k->state;
    clock_rfc3339(clock_wall_ms(), k->started_at);
    *s = (struct box_state){
        .status = BOX_RUNNING,
        .started_at = str_z(k->started_at),
        .exit_code = -1,
        .prompt = k->command.typed.p ? BOX_PROMPT_PENDING
                  : k->options->mode == SUPERVISE_AGENT && k->box->meta.has_prompt
                      ? BOX_PROMPT_DELIVERED
                      : BOX_PROMPT_NONE,
        .run = k->recording.number,
        .pid = (uint64_t)getpid(),
        .agent = true,
    };
    k->delivery.state = s->prompt;
}

static bool open_agent(struct keeper *k, struct err *err)
{
    const struct box_agent *agent = k->box->agent;
    const struct recording_input recorded = {
        k->box, k->options->environ, k->state.run, k->options->rows, k->options->cols};
    if (!net_open(k, err) ||
        (agent->idle_pattern.n && !regex_new(agent->idle_pattern, &k->idle, err)) ||
        !recording_open(&k->recording, &recorded, err))
        return false;
    keeper_set_state(k);
    if (!keeper_open_session(k, err) || !service_start(k->service, err))
        return false;
    return !k->command.typed.p || delivery_begin(&k->delivery, agent, k->command.typed, err);
}

/* A command that cannot be executed fails immediately. */
static bool keeper_agent_starts(struct keeper *k, struct err *err)
{
    uint64_t until = clock_mono_ms() + BEGIN_MS;
    if (session_next(k->session, until) != SESSION_FAILED)
        return true;
    err_copy(err, session_error(k->session));
    return false;
}

static bool open_signals(struct keeper *k, struct err *err)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return k->signals >= 0 || err_errno(err, E_IO, errno, "cannot watch for signals");
}

static bool keeper_open_all(struct keeper *k, struct err *err)
{
    bool agent = k->options->mode != SUPERVISE_COMMANDS;
    k->arena = ARENA_INIT(ARENA_MAX);
    k->child = CHILD_NONE;
    k->net.listener = k->net.relays = k->net.report = -1;
    k->service = k->listener = k->signals = -1;
    k->begun_ms = clock_mono_ms();
    if (!open_signals(k, err) || !keeper_correct_state(k, err) ||
        (agent && !make_command(k, err)) || !make_view(k, err))
        return false;
    if (!(agent ? open_agent(k, err) && keeper_agent_starts(k, err)
                : net_open(k, err) && open_idle(k, err)))
        return false;
    return link_listen(k->box->host, &k->listener, err);
}

static void keeper_report_ready(struct keeper *k, const struct err *err)
{
    AUTO_FREE char *text = err ? link_put_err(err) : NULL;
    (void)!file_write_all(k->ready, text ? str_z(text) : STR("+"));
    close(TAKE_FD(k->ready));
}

/* Ending -------------------------------------------------------------------------------------- */

static enum box_status keeper_status(const struct keeper *k, const struct session_exit *exit)
{
    if (k->error.code)
        return BOX_FAILED;
    if (k->stopping)
        return BOX_STOPPED;
    return exit->code == 0 ? BOX_DONE : BOX_FAILED;
}

static void end_agent(struct keeper *k)
{
    const struct session_exit *exit = session_exit_of(k->session);
    if (k->over)
        return;
    k->over = true;
    if (!k->error.code && session_error(k->session)->code)
        err_copy(&k->error, session_error(k->session));
    clock_rfc3339(clock_wall_ms(), k->ended_at);
    k->state.status = keeper_status(k, exit);
    k->state.ended_at = str_z(k->ended_at);
    k->state.exit_code = exit->code;
    k->state.signal = exit->signal;
    k->state.error = k->error.code ? str_z(k->error.message) : (struct str){0};
    recording_end(&k->recording, &(struct recording_end){&k->view, k->command.argv, exit, &k->error,
                                     session_started_ms(k->session), k->stopping});
    keeper_note(k);
    watchers_end(k);
}

/* Terminates commands that run without an agent, and kills them after the grace period. */
static void end_commands(struct keeper *k)
{
    uint64_t until = clock_mono_ms() + k->grace_ms;
    child_terminate(&k->child);
    for (uint64_t now; !k->gone && (now = clock_mono_ms()) < until;) {
        bool any = false;
        struct pollfd fd = {.fd = k->service, .events = POLLIN};
        for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
            any |= k->guests[i].used && k->guests[i].kind == GUEST_RUNS && k->guests[i].errand.id;
        if (!any)
            return;
        (void)poll(&fd, 1, (int)MIN(until - now, (uint64_t)1000));
        errands_news(k);
    }
}

/* Repeats SIGTERM: a shell that has just started might not handle it yet. */
static void end_session(struct keeper *k)
{
    uint64_t until = clock_mono_ms() + k->grace_ms;
    for (uint64_t now; !session_has_ended(k->session) && (now = clock_mono_ms()) < until;) {
        const uint64_t again = MIN(now + ASK_MS, until);
        child_terminate(session_child(k->session));
        while (clock_mono_ms() < again) {
            enum session_news news = session_next(k->session, again);
            if (news == SESSION_EXITED || news == SESSION_FAILED)
                break;
        }
        if (session_error(k->session)->code)
            break;
    }
    session_terminate(k->session, 0);
}

static void keeper_stop(struct keeper *k)
{
    if (k->session && !k->over) {
        end_session(k);
        end_agent(k);
    } else if (!k->session) {
        end_commands(k);
    }
}

/* Order matters: first everything in the box ends, then the lock is released, then the waiting
 * clients are disconnected. */
NORETURN static void keeper_exit(struct keeper *k)
{
    session_close(k->session);
    if (k->child.pidfd >= 0) {
        child_kill(&k->child);
        child_close(&k->child);
    }
    errands_end(k);
    net_close(k);
    if (k->listener >= 0)
        link_remove(k->box->host);
    close(TAKE_FD(k->lock));
    _exit(0);
}

/* Periodic work ------------------------------------------------------------------------------- */

static void keeper_check_idle(struct keeper *k, uint64_t now)
{
    bool idle = k->state.status == BOX_IDLE;
    if (k->idle) {
        AUTO_BUF struct buf text = BUF_INIT(TEXT_BYTES);
        struct regex_match match;
        if (now < k->idle_ms + IDLE_LOOK_MS || session_changes(k->session) == k->idle_changes)
            return;
        k->idle_changes = session_changes(k->session);
        k->idle_ms = now;
        delivery_screen(session_term(k->session), &text);
        idle = regex_find(k->idle, buf_str(&text), 0, &match);
    } else {
        idle = now - session_changed_ms(k->session) >= KEEPER_IDLE_MS;
    }
    /* An agent that has not received its prompt is not idle. */
    idle = idle && k->delivery.step == DELIVERY_NONE;
    k->state.status = idle ? BOX_IDLE : BOX_RUNNING;
}

static uint64_t idle_due(const struct keeper *k)
{
    if (k->idle)
        return session_changes(k->session) != k->idle_changes ? k->idle_ms + IDLE_LOOK_MS
                                                              : UINT64_MAX;
    return k->state.status == BOX_IDLE ? UINT64_MAX
                                       : session_changed_ms(k->session) + KEEPER_IDLE_MS;
}

static void keeper_tick(struct keeper *k, uint64_t now)
{
    guests_tick(k, now);
    errands_tick(k, now);
    bounds_measure(k, now);
    if (!k->session || k->over)
        return;
    delivery_step(&k->delivery, k->session, now);
    keeper_check_idle(k, now);
    recording_look(&k->recording, now);
    watchers_draw(k, now);
    keeper_note(k);
}

static uint64_t keeper_due(const struct keeper *k)
{
    uint64_t at = MIN(MIN(errands_due(k), bounds_due(k)), guests_due(k));
    if (!k->had_guest && !k->session)
        at = MIN(at, k->begun_ms + FIRST_GUEST_MS);
    if (!k->session || k->over)
        return at;
    const uint64_t times[] = {delivery_due(&k->delivery), idle_due(k), recording_due(&k->recording),
        watchers_due(k), session_due_ms(k->session)};
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        at = MIN(at, times[i]);
    return at;
}

/* Main loop ----------------------------------------------------------------------------------- */

static bool has_errands(const struct keeper *k)
{
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (k->guests[i].used && k->guests[i].kind == GUEST_RUNS)
            return true;
    return false;
}

static bool keeper_is_done(const struct keeper *k, uint64_t now)
{
    if (k->stopping || k->gone)
        return true;
    if (k->session)
        return k->over && !has_errands(k);
    return !guests_any(k) && (k->had_guest || now >= k->begun_ms + FIRST_GUEST_MS);
}

static void keeper_read_session(struct keeper *k)
{
    for (int i = 0; i < NEWS_MAX && !k->over; i++) {
        enum session_news news = session_next(k->session, 0);
        if (news == SESSION_TIME)
            return;
        if (news == SESSION_EXITED || news == SESSION_FAILED)
            end_agent(k);
    }
}

static void keeper_read_signal(struct keeper *k)
{
    struct signalfd_siginfo info;
    if (read(k->signals, &info, sizeof(info)) != sizeof(info))
        return;
    k->stopping = true;
    k->grace_ms = KEEPER_GRACE_MS;
}

static size_t fill_polls(const struct keeper *k, struct pollfd fds[POLLS])
{
    for (size_t i = 0; i < POLLS; i++)
        fds[i] = (struct pollfd){.fd = -1};
    fds[POLL_SIGNALS] = (struct pollfd){.fd = k->signals, .events = POLLIN};
    fds[POLL_LISTENER] = (struct pollfd){.fd = k->listener, .events = POLLIN};
    fds[POLL_SERVICE] = (struct pollfd){.fd = k->service, .events = POLLIN};
    if (k->session && !k->over)
        session_polls(k->session, &fds[POLL_SESSION]);
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++) {
        const struct guest *g = &k->guests[i];
        if (g->used && g->fd >= 0)
            fds[POLL_GUESTS + i] = (struct pollfd){
                .fd = g->fd, .events = (short)(POLLIN | (g->watcher.full ? POLLOUT : 0))};
    }
    return net_polls(k, &fds[POLL_NET]);
}

static void wait_and_take(struct keeper *k)
{
    static struct pollfd fds[POLLS];
    size_t n_net = fill_polls(k, fds);
    uint64_t now = clock_mono_ms(), at = keeper_due(k);
    int timeout = at == UINT64_MAX ? -1 : at <= now ? 0 : (int)MIN(at - now, UINT64_C(60000));
    if (poll(fds, POLLS, timeout) < 0)
        return;
    if (fds[POLL_SIGNALS].revents)
        keeper_read_signal(k);
    if (fds[POLL_SERVICE].revents)
        errands_news(k);
    if (k->session && !k->over)
        keeper_read_session(k);
    net_step(k, &fds[POLL_NET], n_net);
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++) {
        short events = fds[POLL_GUESTS + i].revents;
        if (events & POLLOUT)
            watcher_go_on(k, i, clock_mono_ms());
        if (events & ~POLLOUT)
            guests_read(k, i);
    }
    if (fds[POLL_LISTENER].revents)
        guests_accept(k);
}

void keeper_main(struct keeper *k)
{
    AUTO_ERR struct err err = {0};
    if (!keeper_open_all(k, &err)) {
        k->over = true;
        recording_abandon(&k->recording, k->box->host);
        keeper_report_ready(k, &err);
        keeper_exit(k);
    }
    keeper_note(k);
    keeper_report_ready(k, NULL);
    for (uint64_t now; !keeper_is_done(k, now = clock_mono_ms());) {
        keeper_tick(k, now);
        if (!keeper_is_done(k, now))
            wait_and_take(k);
    }
    if (k->gone && !k->error.code && !k->over && !k->stopping)
        err_set(&k->error, E_PROCESS_EXIT, "the sandbox was killed");
    if (k->session && k->gone)
        keeper_read_session(k);
    keeper_stop(k);
    keeper_exit(k);
}
