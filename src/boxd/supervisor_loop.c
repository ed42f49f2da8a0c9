/* Main loop of a box's supervisor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor_loop.h"

#include "boxd/box_denied.h"
#include "io/file.h"
#include "sandbox/descriptors.h"
#include "sandbox/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
    ARENA_MAX = 256 << 20,
    NEWS_MAX = 16, /* session events handled before other work */
    BEGIN_MS = 20, /* time to detect a command that cannot be executed */
    FIRST_CLIENT_MS = 10 * 1000,
    IDLE_LOOK_MS = 200,
    ASK_MS = 250,
    TEXT_BYTES = 8 << 20,

    POLL_SIGNALS = 0,
    POLL_LISTENER,
    POLL_SERVICE,
    POLL_SESSION, /* two entries */
    POLL_NET = POLL_SESSION + SESSION_POLLS,
    POLL_CLIENTS = POLL_NET + 1 + SUPERVISOR_PORTS_MAX,
    POLLS = POLL_CLIENTS + SUPERVISOR_CLIENTS_MAX,
};

/* State --------------------------------------------------------------------------------------- */

/* Not for `exec`: the state describes the agent's last run. */
void supervisor_add_gap(struct supervisor *sv, const char *gap)
{
    if (sv->options->mode == SUPERVISE_COMMANDS || sv->state.gaps.n == ARRAY_LEN(sv->gaps))
        return;
    sv->gaps[sv->state.gaps.n++] = str_z(gap);
    sv->state.gaps.p = sv->gaps;
}

static bool supervisor_is_same_state(const struct box_state *a, const struct box_state *b)
{
    return a->status == b->status && a->prompt == b->prompt && a->exit_code == b->exit_code &&
           a->signal == b->signal && str_eq(a->error, b->error) && a->run == b->run &&
           a->proxy_ends == b->proxy_ends && str_eq(a->ended_at, b->ended_at);
}

void supervisor_save_state(struct supervisor *sv)
{
    AUTO_ERR struct err ignored = {0};
    if (!sv->session)
        return;
    if (sv->delivery.step != PROMPT_DELIVERY_NONE || sv->delivery.state != BOX_PROMPT_NONE)
        sv->state.prompt = sv->delivery.state;
    if (sv->has_saved && supervisor_is_same_state(&sv->state, &sv->saved))
        return;
    sv->has_saved = true;
    sv->saved = sv->state;
    (void)!state_save(sv->box->host, &sv->state, &ignored);
}

/* Opening ------------------------------------------------------------------------------------- */

static bool make_command(struct supervisor *sv, struct err *err)
{
    const struct box *box = sv->box;
    struct command_input input = {
        .agent = box->agent, .model = box->meta.model, .extra = box->setup.args};
    if (sv->options->mode == SUPERVISE_AGENT && !box_prompt(box, &sv->arena, &input.prompt, err))
        return false;
    return command_make(&input, &sv->arena, &sv->command, err);
}

static bool make_view(struct supervisor *sv, struct err *err)
{
    struct str_list hosts;
    const struct view_input input = {
        .environ = sv->options->environ,
        .home = sv->options->home,
        .program = sv->command.argv ? sv->command.argv[0] : NULL,
        .proxy_port =
            box_network(sv->box, &hosts) == BOX_NETWORK_ALLOW ? SUPERVISOR_PROXY_PORT : (uint16_t)0,
        .self = sv->options->self,
    };
    if (!view_make(sv->box, &input, &sv->arena, &sv->view, err))
        return false;
    if (!sv->options->no_denials)
        sv->view.confined.denied = denied_new();
    return true;
}

/* Corrects the state left by a supervisor that was killed; we hold the lock. Waits until its
 * sandbox is gone. */
static bool supervisor_correct_state(struct supervisor *sv, struct err *err)
{
    bool held;
    if (!state_load(sv->box->host, &sv->arena, &sv->state, &held, err))
        return false;
    state_await_end(&sv->state);
    if (sv->state.status != BOX_RUNNING && sv->state.status != BOX_IDLE)
        return true;
    sv->state.status = BOX_STOPPED;
    return state_save(sv->box->host, &sv->state, err);
}

/* Not world_open(): clients send the requests, and the proxy of a box is restarted if it ends. */
static bool open_idle(struct supervisor *sv, struct err *err)
{
    const struct launch launch = {.plan = &sv->view.confined.plan,
        .argv = (const char *const[]){NULL},
        .envp = sv->view.confined.envp,
        .serves = true,
        .idle = true,
        .denied = sv->view.confined.denied};
    mode_t own = umask(sv->box_umask);
    bool started = launch_start(&launch, &sv->child, err);
    umask(own);
    if (!started)
        return false;
    sv->service = sv->child.service;
    bounds_apply(sv, &sv->child);
    sv->state.first = (uint64_t)sv->child.pid;
    return state_save(sv->box->host, &sv->state, err) && net_start(sv, err);
}

static bool supervisor_open_session(struct supervisor *sv, struct err *err)
{
    const struct supervisor_options *o = sv->options;
    const struct session_options options = {
        .plan = &sv->view.confined.plan,
        .argv = sv->command.argv,
        .envp = sv->view.confined.envp,
        .rows = o->rows,
        .cols = o->cols,
        .budgets = {UINT64_MAX, UINT64_MAX},
        .scrollback = SUPERVISOR_SCROLLBACK,
        .denied = sv->view.confined.denied,
        .serves = true,
        .held = true,
        .cancel = -1,
        .output = recording_output,
        .event = recording_event,
        .context = &sv->recording,
    };
    mode_t own = umask(sv->box_umask);
    bool opened = session_open(&options, &sv->session, err);
    umask(own);
    if (!opened)
        return false;
    sv->recording.from = sv->session;
    sv->service = session_child(sv->session)->service;
    sv->state.first = (uint64_t)session_child(sv->session)->pid;
    bounds_apply(sv, session_child(sv->session));
    return net_start(sv, err);
}

static void supervisor_set_state(struct supervisor *sv)
{
    struct box_state *s = &sv->state;
    clock_rfc3339(clock_wall_ms(), sv->started_at);
    *s = (struct box_state){
        .status = BOX_RUNNING,
        .started_at = str_z(sv->started_at),
        .exit_code = -1,
        .prompt = sv->command.typed.p ? BOX_PROMPT_PENDING
                  : sv->options->mode == SUPERVISE_AGENT && sv->box->meta.has_prompt
                      ? BOX_PROMPT_DELIVERED
                      : BOX_PROMPT_NONE,
        .run = sv->recording.number,
        .pid = (uint64_t)getpid(),
        .agent = true,
    };
    sv->delivery.state = s->prompt;
}

static bool open_agent(struct supervisor *sv, struct err *err)
{
    const struct box_agent *agent = sv->box->agent;
    const struct recording_input recorded = {
        sv->box, sv->options->environ, sv->state.run, sv->options->rows, sv->options->cols};
    if (!net_open(sv, err) ||
        (agent->idle_pattern.n && !regex_new(agent->idle_pattern, &sv->idle, err)) ||
        !recording_open(&sv->recording, &recorded, err))
        return false;
    supervisor_set_state(sv);
    if (!supervisor_open_session(sv, err) || !service_start(sv->service, err))
        return false;
    return !sv->command.typed.p ||
           prompt_delivery_begin(&sv->delivery, agent, sv->command.typed, err);
}

/* A command that cannot be executed fails immediately. */
static bool supervisor_agent_starts(struct supervisor *sv, struct err *err)
{
    uint64_t until = clock_mono_ms() + BEGIN_MS;
    if (session_next(sv->session, until) != SESSION_FAILED)
        return true;
    err_copy(err, session_error(sv->session));
    return false;
}

static bool open_signals(struct supervisor *sv, struct err *err)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sv->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return sv->signals >= 0 || err_errno(err, E_IO, errno, "cannot watch for signals");
}

static bool supervisor_raise_files(struct supervisor *sv, struct err *err)
{
    const uint64_t least = MAX((uint64_t)POLLS, net_files(sv));
    if (descriptors_raise() >= least)
        return true;
    err_errno(err, E_IO, EMFILE, "a box needs a limit of at least %llu open files",
        (unsigned long long)least);
    return err_ctx(err, "remedy", "%s", machine_files_remedy(EMFILE));
}

void supervisor_shed(struct supervisor *sv, int listener)
{
    if (errno != EMFILE && errno != ENFILE)
        return;
    auto_fd(&sv->spare);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    auto_fd(&fd);
    sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool supervisor_open_all(struct supervisor *sv, struct err *err)
{
    bool agent = sv->options->mode != SUPERVISE_COMMANDS;
    sv->arena = ARENA_INIT(ARENA_MAX);
    sv->child = CHILD_NONE;
    sv->net.listener = sv->net.relays = sv->net.report = -1;
    sv->service = sv->listener = sv->signals = -1;
    sv->begun_ms = clock_mono_ms();
    sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!supervisor_raise_files(sv, err) || !open_signals(sv, err) ||
        !supervisor_correct_state(sv, err) || (agent && !make_command(sv, err)) ||
        !make_view(sv, err))
        return false;
    if (!(agent ? open_agent(sv, err) && supervisor_agent_starts(sv, err)
                : net_open(sv, err) && open_idle(sv, err)))
        return false;
    return link_listen(sv->box->host, &sv->listener, err);
}

static void supervisor_report_ready(struct supervisor *sv, const struct err *err)
{
    AUTO_FREE char *text = err ? link_put_err(err) : NULL;
    (void)!file_write_all(sv->ready, text ? str_z(text) : STR("+"));
    close(TAKE_FD(sv->ready));
}

/* Ending -------------------------------------------------------------------------------------- */

static enum box_status supervisor_status(
    const struct supervisor *sv, const struct session_exit *exit)
{
    if (sv->error.code)
        return BOX_FAILED;
    if (sv->stopping)
        return BOX_STOPPED;
    return exit->code == 0 ? BOX_DONE : BOX_FAILED;
}

static void end_agent(struct supervisor *sv)
{
    const struct session_exit *exit = session_exit_of(sv->session);
    if (sv->over)
        return;
    sv->over = true;
    if (!sv->error.code && session_error(sv->session)->code)
        err_copy(&sv->error, session_error(sv->session));
    clock_rfc3339(clock_wall_ms(), sv->ended_at);
    sv->state.status = supervisor_status(sv, exit);
    sv->state.ended_at = str_z(sv->ended_at);
    sv->state.exit_code = exit->code;
    sv->state.signal = exit->signal;
    sv->state.error = sv->error.code ? str_z(sv->error.message) : (struct str){0};
    recording_end(&sv->recording, &(struct recording_end){&sv->view, sv->command.argv, exit,
                                      &sv->error, session_started_ms(sv->session), sv->stopping});
    supervisor_save_state(sv);
    attached_end(sv);
}

/* Terminates commands that run without an agent, and kills them after the grace period. */
static void end_commands(struct supervisor *sv)
{
    uint64_t until = clock_mono_ms() + sv->grace_ms;
    child_terminate(&sv->child);
    for (uint64_t now; !sv->gone && (now = clock_mono_ms()) < until;) {
        bool any = false;
        struct pollfd fd = {.fd = sv->service, .events = POLLIN};
        for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
            any |=
                sv->clients[i].used && sv->clients[i].kind == CLIENT_EXEC && sv->clients[i].exec.id;
        if (!any)
            return;
        (void)poll(&fd, 1, (int)MIN(until - now, (uint64_t)1000));
        exec_requests_news(sv);
    }
}

/* Repeats SIGTERM: a shell that has just started might not handle it yet. */
static void end_session(struct supervisor *sv)
{
    uint64_t until = clock_mono_ms() + sv->grace_ms;
    for (uint64_t now; !session_has_ended(sv->session) && (now = clock_mono_ms()) < until;) {
        const uint64_t again = MIN(now + ASK_MS, until);
        child_terminate(session_child(sv->session));
        while (clock_mono_ms() < again) {
            enum session_news news = session_next(sv->session, again);
            if (news == SESSION_EXITED || news == SESSION_FAILED)
                break;
        }
        if (session_error(sv->session)->code)
            break;
    }
    session_terminate(sv->session, 0);
}

static void supervisor_stop(struct supervisor *sv)
{
    if (sv->session && !sv->over) {
        end_session(sv);
        end_agent(sv);
    } else if (!sv->session) {
        end_commands(sv);
    }
}

/* Order matters: first everything in the box ends, then the lock is released, then the waiting
 * clients are disconnected. */
NORETURN static void supervisor_exit(struct supervisor *sv)
{
    session_close(sv->session);
    prompt_delivery_done(&sv->delivery);
    if (sv->child.pidfd >= 0) {
        child_kill(&sv->child);
        child_close(&sv->child);
    }
    box_denied_save(sv);
    exec_requests_end(sv);
    net_close(sv);
    if (sv->listener >= 0)
        link_remove(sv->box->host);
    close(TAKE_FD(sv->lock));
    _exit(0);
}

/* Periodic work ------------------------------------------------------------------------------- */

static void supervisor_check_idle(struct supervisor *sv, uint64_t now)
{
    bool idle = sv->state.status == BOX_IDLE;
    if (sv->idle) {
        AUTO_BUF struct buf text = BUF_INIT(TEXT_BYTES);
        struct regex_match match;
        if (now < sv->idle_ms + IDLE_LOOK_MS || session_changes(sv->session) == sv->idle_changes)
            return;
        sv->idle_changes = session_changes(sv->session);
        sv->idle_ms = now;
        prompt_delivery_screen(session_term(sv->session), &text);
        idle = regex_find(sv->idle, buf_str(&text), 0, &match);
    } else {
        idle = now - session_changed_ms(sv->session) >= SUPERVISOR_IDLE_MS;
    }
    /* An agent that has not received its prompt is not idle. */
    idle = idle && sv->delivery.step == PROMPT_DELIVERY_NONE;
    sv->state.status = idle ? BOX_IDLE : BOX_RUNNING;
}

static uint64_t idle_due(const struct supervisor *sv)
{
    if (sv->idle)
        return session_changes(sv->session) != sv->idle_changes ? sv->idle_ms + IDLE_LOOK_MS
                                                                : UINT64_MAX;
    return sv->state.status == BOX_IDLE ? UINT64_MAX
                                        : session_changed_ms(sv->session) + SUPERVISOR_IDLE_MS;
}

static void supervisor_tick(struct supervisor *sv, uint64_t now)
{
    clients_tick(sv, now);
    exec_requests_tick(sv, now);
    bounds_measure(sv, now);
    if (!sv->session || sv->over)
        return;
    prompt_delivery_step(&sv->delivery, sv->session, now);
    supervisor_check_idle(sv, now);
    recording_look(&sv->recording, now);
    attached_draw(sv, now);
    supervisor_save_state(sv);
}

static uint64_t supervisor_due(const struct supervisor *sv)
{
    uint64_t at = MIN(MIN(exec_requests_due(sv), bounds_due(sv)), clients_due(sv));
    if (!sv->had_client && !sv->session)
        at = MIN(at, sv->begun_ms + FIRST_CLIENT_MS);
    if (!sv->session || sv->over)
        return at;
    const uint64_t times[] = {prompt_delivery_due(&sv->delivery), idle_due(sv),
        recording_due(&sv->recording), attached_due(sv), session_due_ms(sv->session)};
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        at = MIN(at, times[i]);
    return at;
}

/* Main loop ----------------------------------------------------------------------------------- */

static bool has_exec_requests(const struct supervisor *sv)
{
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (sv->clients[i].used && sv->clients[i].kind == CLIENT_EXEC)
            return true;
    return false;
}

static bool supervisor_is_done(const struct supervisor *sv, uint64_t now)
{
    if (sv->stopping || sv->gone)
        return true;
    if (sv->session)
        return sv->over && !has_exec_requests(sv);
    return !clients_any(sv) && (sv->had_client || now >= sv->begun_ms + FIRST_CLIENT_MS);
}

static void supervisor_read_session(struct supervisor *sv)
{
    for (int i = 0; i < NEWS_MAX && !sv->over; i++) {
        enum session_news news = session_next(sv->session, 0);
        if (news == SESSION_TIME)
            return;
        if (news == SESSION_EXITED || news == SESSION_FAILED)
            end_agent(sv);
    }
}

static void supervisor_read_signal(struct supervisor *sv)
{
    struct signalfd_siginfo info;
    if (read(sv->signals, &info, sizeof(info)) != sizeof(info))
        return;
    sv->stopping = true;
    sv->grace_ms = SUPERVISOR_GRACE_MS;
}

static size_t fill_polls(const struct supervisor *sv, struct pollfd fds[POLLS])
{
    for (size_t i = 0; i < POLLS; i++)
        fds[i] = (struct pollfd){.fd = -1};
    fds[POLL_SIGNALS] = (struct pollfd){.fd = sv->signals, .events = POLLIN};
    fds[POLL_LISTENER] = (struct pollfd){.fd = sv->listener, .events = POLLIN};
    fds[POLL_SERVICE] = (struct pollfd){.fd = sv->service, .events = POLLIN};
    if (sv->session && !sv->over)
        session_polls(sv->session, &fds[POLL_SESSION]);
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++) {
        const struct client *c = &sv->clients[i];
        if (c->used && c->fd >= 0)
            fds[POLL_CLIENTS + i] = (struct pollfd){
                .fd = c->fd, .events = (short)(POLLIN | (c->attached.full ? POLLOUT : 0))};
    }
    return net_polls(sv, &fds[POLL_NET]);
}

/* EINVAL: the limit of open files was reduced below the number of entries. */
static void supervisor_cannot_wait(struct supervisor *sv, int errnum)
{
    const char *remedy = machine_files_remedy(errnum == EINVAL ? EMFILE : errnum);
    err_errno(&sv->error, E_IO, errnum, "the supervisor cannot wait for events");
    if (remedy)
        err_ctx(&sv->error, "remedy", "%s", remedy);
    sv->stopping = true;
    sv->grace_ms = 0;
}

static void wait_and_take(struct supervisor *sv)
{
    static struct pollfd fds[POLLS];
    size_t n_net = fill_polls(sv, fds);
    uint64_t now = clock_mono_ms(), at = supervisor_due(sv);
    if (poll(fds, POLLS, clock_timeout_ms(now, at)) < 0) {
        if (errno != EINTR)
            supervisor_cannot_wait(sv, errno);
        return;
    }
    if (fds[POLL_SIGNALS].revents)
        supervisor_read_signal(sv);
    if (fds[POLL_SERVICE].revents)
        exec_requests_news(sv);
    if (sv->session && !sv->over)
        supervisor_read_session(sv);
    net_step(sv, &fds[POLL_NET], n_net);
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++) {
        short events = fds[POLL_CLIENTS + i].revents;
        if (events & POLLOUT)
            attached_resume(sv, i, clock_mono_ms());
        if (events & ~POLLOUT)
            clients_read(sv, i);
    }
    if (fds[POLL_LISTENER].revents)
        clients_accept(sv);
}

void supervisor_run(struct supervisor *sv)
{
    AUTO_ERR struct err err = {0};
    if (!supervisor_open_all(sv, &err)) {
        sv->over = true;
        recording_abandon(&sv->recording, sv->box->host);
        supervisor_report_ready(sv, &err);
        supervisor_exit(sv);
    }
    supervisor_save_state(sv);
    supervisor_report_ready(sv, NULL);
    for (uint64_t now; !supervisor_is_done(sv, now = clock_mono_ms());) {
        supervisor_tick(sv, now);
        if (!supervisor_is_done(sv, now))
            wait_and_take(sv);
    }
    if (sv->gone && !sv->error.code && !sv->over && !sv->stopping)
        err_set(&sv->error, E_PROCESS_EXIT, "the sandbox was killed");
    if (sv->session && sv->gone)
        supervisor_read_session(sv);
    supervisor_stop(sv);
    supervisor_exit(sv);
}
