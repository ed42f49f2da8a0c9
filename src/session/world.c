/* A sandbox that many commands share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/world.h"

#include "base/clock.h"
#include "base/fnv.h"
#include "proxy/proxy_process.h"
#include "sandbox/cgroup.h"
#include "sandbox/mounts.h"
#include "sandbox/session_kill.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>

enum {
    START_MS = 10 * 1000, /* for an answer from process 1, on a busy machine */
    KILL_MS = 5000,       /* for the end of what was killed; then all is */
    DYING_MS = 50,        /* for processes that are being killed */
    PAUSE_NS = 500 * 1000,
    CHUNK = 16 * 1024,
    CHUNKS = 64, /* of a pipe whose output is discarded, before others get a turn */
    CHILDREN_TEXT = 4096,
    PROC_PATH = 64,
};

struct world {
    struct child child;
    struct proxy_process proxy; /* if the plan has hosts */
    const struct plan *plan;
    uint64_t mounts; /* a hash of those of the host; 0: unknown */
    int events;      /* an epoll set: the service and the adopted pipes */
    bool gone, closed;
    uint32_t last_id;
    struct world_command *commands;
    int left[WORLD_LEFT_MAX]; /* oldest first */
    size_t n_left;
};

/* Opening and closing ------------------------------------------------------------------------- */

static void world_free(struct world *w)
{
    if (!w->closed || w->commands)
        return;
    free(w);
}

static bool world_watch(const struct world *w, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(w->events, EPOLL_CTL_ADD, fd, &event) == 0;
}

static uint64_t world_hash_mounts(const struct plan *plan)
{
    AUTO_ARENA struct arena a = ARENA_INIT(4 * MOUNTS_TEXT_MAX);
    AUTO_BUF struct buf text = BUF_INIT(MOUNTS_TEXT_MAX);
    AUTO_ERR struct err ignored = {0};
    uint64_t hash = FNV_START;
    if (!mounts_read(&text, &ignored))
        return 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == PLAN_BIND && plan->steps[i].access & PLAN_WRITE)
            hash = mounts_add_hash(&a, buf_str(&text), plan->steps[i].text, hash);
    return hash | 1;
}

bool world_is_stale(const struct world *w)
{
    return !w->mounts || world_hash_mounts(w->plan) != w->mounts;
}

bool world_open(
    const struct plan *plan, struct denied *denied, struct world **ret_world, struct err *err)
{
    const struct launch launch = {.plan = plan, .serves = true, .idle = true, .denied = denied};
    AUTO_FD int events = epoll_create1(EPOLL_CLOEXEC);
    if (events < 0)
        return err_errno(err, E_IO, errno, "cannot wait for a sandbox");
    struct world *w = base_alloc(sizeof(*w));
    w->plan = plan;
    w->mounts = world_hash_mounts(plan); /* first: later mounts are noticed */
    if (!launch_start(&launch, &w->child, err)) {
        free(w);
        return false;
    }
    if (!proxy_process_take(&w->child.proxy, plan->hosts, &w->proxy, err)) {
        child_kill(&w->child);
        child_close(&w->child);
        free(w);
        return false;
    }
    w->events = TAKE_FD(events);
    w->gone = !world_watch(w, w->child.service);
    *ret_world = w;
    return true;
}

/* Everything in it is killed: no command reports its own end any more. */
static void world_end(struct world *w)
{
    w->gone = true;
    for (struct world_command *c = w->commands; c; c = c->next) {
        if (c->ended)
            continue;
        c->ended = true;
        c->status = SIGKILL;
    }
}

void world_close(struct world *w)
{
    if (!w)
        return;
    child_kill(&w->child);
    for (size_t i = 0; i < w->n_left; i++)
        close(w->left[i]);
    w->n_left = 0;
    close(TAKE_FD(w->events));
    child_close(&w->child);
    proxy_process_end(&w->proxy, NULL);
    world_end(w);
    w->closed = true;
    world_free(w);
}

/* Events -------------------------------------------------------------------------------------- */

static struct world_command *world_find(const struct world *w, uint32_t id)
{
    struct world_command *c = w->commands;
    while (c && c->id != id)
        c = c->next;
    return c;
}

static void world_take_event(struct world *w, struct service_event *news)
{
    struct world_command *c = world_find(w, news->id);
    if (c && !c->answered && (news->word == SERVICE_SPAWNED || news->word == SERVICE_REFUSED)) {
        c->answer = *news;
        c->answered = true;
        return;
    }
    if (c && news->word == SERVICE_ENDED) {
        c->ended = true;
        c->status = news->value;
        c->too_many = news->stage == STAGE_FORK;
        c->large = news->stage == STAGE_LIMITS;
    }
    if (news->fd >= 0)
        close(news->fd);
}

static void world_read_events(struct world *w)
{
    struct service_event news;
    enum service_result got = SERVICE_GONE;
    while (!w->gone && (got = service_read_event(w->child.service, &news)) == SERVICE_NEWS)
        world_take_event(w, &news);
    if (got == SERVICE_GONE && !w->gone)
        world_end(w);
}

/* Returns false at the end of the pipe. */
static bool world_discard(int fd)
{
    char bytes[CHUNK];
    ssize_t n = 1;
    for (int i = 0; n > 0 && i < CHUNKS; i++)
        n = read(fd, bytes, sizeof(bytes));
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void world_read_left(struct world *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_left; i++)
        if (world_discard(w->left[i]))
            w->left[n++] = w->left[i];
        else
            close(w->left[i]);
    w->n_left = n;
}

void world_handle_events(struct world *w)
{
    if (w->closed)
        return;
    world_read_events(w);
    world_read_left(w);
}

int world_descriptor(const struct world *w)
{
    return w->closed || w->gone ? -1 : w->events;
}

bool world_has_left(const struct world *w)
{
    return w->n_left > 0;
}

bool world_is_gone(const struct world *w)
{
    return w->gone;
}

void world_adopt(struct world *w, int fd)
{
    if (w->closed || w->gone || !world_watch(w, fd)) {
        close(fd);
        return;
    }
    if (w->n_left == WORLD_LEFT_MAX) {
        close(w->left[0]);
        memmove(w->left, w->left + 1, --w->n_left * sizeof(*w->left));
    }
    w->left[w->n_left++] = fd;
}

/* Processes ----------------------------------------------------------------------------------- */

static bool world_read_proc(pid_t pid, const char *name, char *text, size_t size, size_t *ret_n)
{
    char path[PROC_PATH];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    text[MAX(n, (ssize_t)0)] = '\0';
    *ret_n = (size_t)MAX(n, (ssize_t)0);
    return n >= 0;
}

enum world_life {
    WORLD_EMPTY,
    WORLD_DYING, /* what is left was killed */
    WORLD_ALIVE,
};

/* Commands, and everything that lost its parent, are children of process 1. A child that is gone
 * when its state is read may have left one that is not in the list: only an empty list is proof. */
static enum world_life world_look(const struct world *w)
{
    char text[CHILDREN_TEXT], name[PROC_PATH], stat[CHILDREN_TEXT];
    struct session_stat state;
    size_t n;
    snprintf(name, sizeof(name), "task/%d/children", (int)w->child.pid);
    if (!world_read_proc(w->child.pid, name, text, sizeof(text), &n) || n == sizeof(text) - 1)
        return WORLD_ALIVE;
    for (char *p = text; *p;) {
        char *end;
        const long pid = strtol(p, &end, 10);
        if (end == p)
            break;
        for (p = end; *p == ' '; p++)
            ;
        if (world_read_proc((pid_t)pid, "stat", stat, sizeof(stat), &n) &&
            (!session_read_stat(stat, &state) || !state.ends))
            return WORLD_ALIVE;
    }
    return text[0] ? WORLD_DYING : WORLD_EMPTY;
}

/* Whether an end is still to be read, so that closing would lose an exit code. */
static bool world_owes_end(struct world *w)
{
    world_read_events(w);
    for (const struct world_command *c = w->commands; c; c = c->next)
        if (!c->ended)
            return true;
    return false;
}

/* Process 1 closes its sockets before the kernel kills the others, and ends after them. */
static bool world_has_died(const struct world *w)
{
    struct pollfd end = {.fd = w->child.pidfd, .events = POLLIN};
    child_kill(&w->child);
    return poll(&end, 1, KILL_MS) > 0;
}

bool world_is_busy(struct world *w)
{
    const uint64_t until = clock_mono_ms() + DYING_MS;
    enum world_life life;
    if (world_owes_end(w))
        return true;
    if (w->gone)
        return !world_has_died(w);
    while ((life = world_look(w)) == WORLD_DYING && clock_mono_ms() < until)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    return life != WORLD_EMPTY;
}

/* A process inside can stop a command before it is executed, and so process 1, which waits. */
static void world_give_up(struct world *w)
{
    child_kill(&w->child);
    world_end(w);
}

/* Waits until the condition holds, or the world is gone. Returns whether it holds. */
static bool world_await(struct world *w, const bool *condition, uint64_t timeout_ms)
{
    const uint64_t until = clock_mono_ms() + timeout_ms;
    while (!*condition && !w->gone && clock_mono_ms() < until) {
        struct pollfd news = {.fd = w->child.service, .events = POLLIN};
        (void)poll(&news, 1, clock_timeout_ms(clock_mono_ms(), until));
        world_read_events(w);
    }
    return *condition;
}

/* Commands ------------------------------------------------------------------------------------ */

/* Creates the pipes of the outputs: io has the command's ends, the child ours. */
static bool world_open_pipes(const struct launch *l, int io[3], struct child *ends, struct err *err)
{
    int pair[2];
    if (l->terminal)
        return true;
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        if (i == STDERR_FILENO && l->one_output) {
            io[i] = fcntl(io[STDOUT_FILENO], F_DUPFD_CLOEXEC, 0);
            return io[i] >= 0 || err_errno(err, E_IO, errno, "cannot duplicate a pipe");
        }
        if (pipe2(pair, O_CLOEXEC) != 0)
            return err_errno(err, E_IO, errno, "cannot create a pipe");
        io[i] = pair[1];
        *(i == STDOUT_FILENO ? &ends->out : &ends->err) = pair[0];
    }
    return true;
}

static bool world_give_pipes(const struct world *w, const int io[3], struct err *err)
{
    for (int i = 0; i < 3; i++)
        if (!limiter_give_pipe(w->child.limiter.kept.processes, io[i]))
            return err_errno(
                err, E_IO, errno, "cannot change the owner of a pipe to the sandbox's user");
    return true;
}

/* Sends the request and waits for the answer. */
static bool world_spawn(struct world *w, struct world_command *c,
    const struct service_command *command, struct child *ends, struct err *err)
{
    if (!service_spawn(w->child.service, c->id, command, err))
        return false;
    if (!world_await(w, &c->answered, START_MS)) {
        err_set(err, E_PROCESS_EXIT,
            "the sandbox of this session %s: the next command gets a new one",
            w->gone ? "has ended" : "did not answer and was killed");
        if (!w->gone)
            world_give_up(w);
        return false;
    }
    if (c->answer.word != SERVICE_SPAWNED)
        return service_refused(&c->answer, command, err);
    ends->terminal = c->answer.fd;
    /* The terminal must not hang up before the command ends: see child_read_event(). */
    if (command->terminal)
        ends->hold = ioctl(ends->terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return true;
}

static bool world_start_with(struct world *w, const struct launch *l, const char *cwd,
    struct world_command *c, struct child *ends, struct err *err)
{
    int io[3] = {-1, -1, -1};
    bool ok = world_open_pipes(l, io, ends, err) && world_give_pipes(w, io, err);
    const struct service_command command = {
        .argv = l->argv,
        .envp = l->envp,
        .path = l->plan->command.p,
        .cwd = cwd,
        .terminal = l->terminal,
        .rows = l->rows,
        .cols = l->cols,
        .io = {io[0], io[1], io[2]},
    };
    ok = ok && world_spawn(w, c, &command, ends, err);
    for (int i = 0; i < 3; i++)
        if (io[i] >= 0)
            close(io[i]);
    return ok;
}

bool world_start(struct world *w, const struct launch *launch, const char *cwd,
    struct child *ret_ends, struct world_command **ret_command, struct err *err)
{
    struct child ends = CHILD_NONE;
    struct world_command *c = base_alloc(sizeof(*c));
    *c = (struct world_command){.world = w, .next = w->commands, .id = ++w->last_id};
    c->oom_kills = cgroup_oom_kills(&w->child.limiter.group);
    w->commands = c;
    if (!world_start_with(w, launch, cwd, c, &ends, err)) {
        child_close(&ends);
        world_release(c);
        return false;
    }
    ends.plan = launch->plan;
    *ret_ends = ends;
    *ret_command = c;
    return true;
}

pid_t world_session(const struct world_command *c)
{
    return c->answer.value;
}

void world_signal(const struct world_command *c, int sig)
{
    AUTO_ERR struct err ignored = {0};
    if (!c->ended && !c->world->gone)
        (void)!service_signal(c->world->child.service, c->id, sig, &ignored);
}

void world_kill(struct world_command *c)
{
    AUTO_ERR struct err ignored = {0};
    struct world *w = c->world;
    if (!c->ended && !w->gone &&
        !(service_kill(w->child.service, c->id, &ignored) && world_await(w, &c->ended, KILL_MS)))
        world_give_up(w);
}

struct limiter_kept world_kept(const struct world_command *c)
{
    struct limiter_kept kept = c->world->child.limiter.kept;
    kept.memory_kills = c->large;
    if (!c->world->closed)
        kept.oom_kills = cgroup_oom_kills(&c->world->child.limiter.group) - c->oom_kills;
    return kept;
}

void world_release(struct world_command *c)
{
    if (!c)
        return;
    struct world *w = c->world;
    struct world_command **at = &w->commands;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
    world_free(w);
}
