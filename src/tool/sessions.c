/* Terminal sessions that run across calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/sessions.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "tool/tool_world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>

enum {
    STEPS = 16, /* per session before the others get a turn */
    COMMAND_SHOWN = 60,
    LIST_MAX = 16 * 1024,
    LIST_SHOWN = 8,
    COMMAND_MAX = 4 << 20, /* bytes of a command line, as limited by the arguments */
};

/* Output ------------------------------------------------------------------------------------- */

/* Saves a growing log to its file before it takes much memory. */
static void sessions_log_output(void *context, struct str bytes)
{
    struct tool_session *s = context;
    AUTO_ERR struct err ignored = {0};
    outlog_add(&s->log, bytes);
    if (s->log.size > SESSIONS_MEMORY_MAX && !s->log.path && !s->unsaved)
        s->unsaved = !outlog_save(&s->log, s->log_dir, &ignored);
}

static void sessions_advance(struct tool_session *s)
{
    for (size_t i = 0; i < STEPS && !s->over; i++) {
        enum session_news news = session_next(s->session, 0);
        if (news == SESSION_TIME)
            return;
        s->over = news == SESSION_EXITED || news == SESSION_FAILED;
    }
}

/* Polls once and reads from sessions that have output. Returns true if one of the caller's file
 * descriptors is ready. */
static bool sessions_poll_once(
    struct toolbox *box, const struct sessions_wait *wait, uint64_t until)
{
    struct tool_sessions *all = box->sessions;
    struct pollfd fds[1 + SESSIONS_MAX * SESSION_POLLS + SESSIONS_FDS_MAX];
    size_t n = 1;
    fds[0] = (struct pollfd){.fd = tool_world_descriptor(box), .events = POLLIN};
    for (size_t i = 0; all && i < all->n; i++) {
        if (all->p[i]->over)
            continue;
        session_polls(all->p[i]->session, fds + n);
        n += SESSION_POLLS;
        until = MIN(until, session_due_ms(all->p[i]->session));
    }
    for (size_t i = 0; i < wait->n_fds; i++) {
        fds[n + i] = wait->fds[i];
        fds[n + i].revents = 0;
    }
    if (poll(fds, n + wait->n_fds, clock_timeout_ms(clock_mono_ms(), until)) < 0 && errno != EINTR)
        return false;
    if (fds[0].revents)
        tool_world_handle_events(box);
    uint64_t now = clock_mono_ms();
    n = 1;
    for (size_t i = 0; all && i < all->n; i++) {
        struct tool_session *s = all->p[i];
        if (s->over)
            continue;
        if (fds[n].revents || fds[n + 1].revents || session_due_ms(s->session) <= now)
            sessions_advance(s);
        n += SESSION_POLLS;
    }
    bool readable = false;
    for (size_t i = 0; i < wait->n_fds; i++) {
        wait->fds[i].revents = fds[n + i].revents;
        readable |= wait->fds[i].revents != 0;
    }
    return readable;
}

enum sessions_news sessions_wait(struct toolbox *box, const struct sessions_wait *wait)
{
    BUG_ON(wait->n_fds > SESSIONS_FDS_MAX);
    for (;;) {
        if (sessions_poll_once(
                box, wait, wait->ending && wait->ending->over ? 0 : wait->deadline_ms))
            return SESSIONS_READABLE;
        if (wait->ending && wait->ending->over)
            return SESSIONS_ENDED;
        if (clock_mono_ms() >= wait->deadline_ms)
            return SESSIONS_TIME;
    }
}

/* Other event loops --------------------------------------------------------------------------- */

/* Collects the file descriptors that can still become readable. */
static size_t sessions_live_fds(
    const struct tool_sessions *all, int fds[SESSIONS_MAX * SESSION_POLLS])
{
    size_t n = 0;
    for (size_t i = 0; all && i < all->n; i++) {
        struct pollfd polls[SESSION_POLLS];
        if (all->p[i]->over)
            continue;
        session_polls(all->p[i]->session, polls);
        for (size_t k = 0; k < SESSION_POLLS; k++)
            if (polls[k].fd >= 0)
                fds[n++] = polls[k].fd;
    }
    return n;
}

int sessions_descriptor(struct toolbox *box)
{
    int fds[SESSIONS_MAX * SESSION_POLLS];
    size_t n = sessions_live_fds(box->sessions, fds);
    int set = n ? epoll_create1(EPOLL_CLOEXEC) : -1;
    for (size_t i = 0; set >= 0 && i < n; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event);
    }
    if (box->sessions)
        box->sessions->watched = n;
    return set;
}

/* A file descriptor that has hung up would stay readable: rebuilds the set without it. */
void sessions_handle_events(struct toolbox *box, int descriptor)
{
    int fds[SESSIONS_MAX * SESSION_POLLS];
    (void)sessions_poll_once(box, &(struct sessions_wait){0}, 0);
    if (sessions_live_fds(box->sessions, fds) == box->sessions->watched)
        return;
    AUTO_FD int set = sessions_descriptor(box);
    if (set < 0)
        set = epoll_create1(EPOLL_CLOEXEC);
    if (set >= 0)
        dup3(set, descriptor, O_CLOEXEC);
}

/* The list ----------------------------------------------------------------------------------- */

static void free_session(struct tool_session *s)
{
    session_close(s->session);
    if (s->confine)
        confine_done(s->confine);
    outlog_close(&s->log);
    arena_done(&s->arena);
    free(s);
}

void sessions_close(struct tool_sessions *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++)
        free_session(all->p[i]);
    free(all);
}

bool sessions_run(const struct tool_sessions *all)
{
    for (size_t i = 0; all && i < all->n; i++)
        if (!all->p[i]->over)
            return true;
    return false;
}

void sessions_leave_world(struct tool_sessions *all, const struct world *world)
{
    for (size_t i = 0; all && i < all->n; i++) {
        struct confine *c = all->p[i]->confine;
        if (c && c->world == world && world)
            c->confined.denied = NULL;
    }
}

void sessions_forget(struct toolbox *box, struct tool_session *s)
{
    struct tool_sessions *all = box->sessions;
    for (size_t i = 0; i < all->n; i++) {
        if (all->p[i] != s)
            continue;
        all->n--;
        memmove(all->p + i, all->p + i + 1, (all->n - i) * sizeof(*all->p));
        free_session(s);
        return;
    }
}

/* "3 (make watch), 4 (python3)", oldest first. */
static void sessions_add_names(const struct tool_sessions *all, size_t most, struct buf *text)
{
    for (size_t i = 0; i < MIN(all->n, most); i++) {
        struct str command = all->p[i]->command, shown = str_head(command, COMMAND_SHOWN);
        buf_printf(text, "%s%u (", i ? ", " : "", all->p[i]->id);
        utf8_add_printable(text, shown);
        buf_add_z(text, shown.n < command.n ? "…" : "");
        buf_add_z(text, all->p[i]->over ? ", ended)" : ")");
    }
    if (all->n > most)
        buf_printf(text, ", and %zu more", all->n - most);
}

struct tool_session *sessions_find(struct toolbox *box, uint32_t id, struct err *err)
{
    const struct tool_sessions *all = box->sessions;
    for (size_t i = 0; all && i < all->n; i++)
        if (all->p[i]->id == id)
            return all->p[i];
    AUTO_BUF struct buf names = BUF_INIT(LIST_MAX);
    if (all && all->n)
        sessions_add_names(all, SESSIONS_MAX, &names);
    err_set(err, E_NOT_FOUND, "no session %u%s%s", id,
        names.n ? "; open sessions: " : ": start one with exec_command", buf_z(&names));
    return NULL;
}

/* Returns the oldest session whose end was reported, or else the oldest that has ended. */
static struct tool_session *least_needed(const struct tool_sessions *all)
{
    struct tool_session *ended = NULL;
    for (size_t i = 0; i < all->n; i++) {
        if (all->p[i]->reports)
            return all->p[i];
        if (all->p[i]->over && !ended)
            ended = all->p[i];
    }
    return ended;
}

/* Makes room for one more by forgetting a session that has ended. */
static bool sessions_make_room(struct toolbox *box, struct err *err)
{
    struct tool_sessions *all = box->sessions;
    size_t reported = 0;
    for (size_t i = 0; i < all->n; i++)
        reported += all->p[i]->reports > 0;
    if (all->n < SESSIONS_MAX && reported < SESSIONS_REPORTED_MAX)
        return true;
    struct tool_session *ended = least_needed(all);
    if (ended) {
        sessions_forget(box, ended);
        return true;
    }
    AUTO_BUF struct buf names = BUF_INIT(LIST_MAX);
    sessions_add_names(all, LIST_SHOWN, &names);
    err_set(err, E_CONFLICT,
        "%d sessions are already running; end one with write_stdin (chars \"\\u0003\"); "
        "the oldest are %s",
        SESSIONS_MAX, buf_z(&names));
    return err_ctx_int(err, "limit", SESSIONS_MAX);
}

static bool sessions_open(struct toolbox *box, const struct session_request *request,
    struct tool_session *s, struct err *err)
{
    struct confine *c = ARENA_NEW(&s->arena, struct confine, 1);
    const struct confine_request confined = {
        .command = request->command,
        .workdir = request->workdir,
        .runtime_ms = CONFINE_RUNTIME_MAX_MS,
        .output_bytes = SESSIONS_OUTPUT_MAX,
    };
    if (!confine(box, &confined, &s->arena, c, err) || !outlog_open(&s->log, err))
        return false;
    s->confine = c;
    s->command = str_z(c->confined.argv[2]);
    const struct session_options options = {
        .plan = &c->confined.plan,
        .argv = c->confined.argv,
        .envp = c->confined.envp,
        .world = c->world,
        .cwd = c->cwd,
        .denied = c->world ? NULL : c->confined.denied,
        .rows = request->rows,
        .cols = request->cols,
        .budgets = confined_budgets(&c->confined),
        .cancel = -1,
        .output = sessions_log_output,
        .context = s,
    };
    return session_open(&options, &s->session, err);
}

bool sessions_start(struct toolbox *box, const struct session_request *request,
    struct tool_session **ret_session, struct err *err)
{
    if (!box->sessions)
        box->sessions = base_alloc(sizeof(*box->sessions));
    if (!sessions_make_room(box, err))
        return false;
    struct tool_session *s = base_alloc(sizeof(*s));
    s->arena = ARENA_INIT(CONFINE_ARENA + COMMAND_MAX);
    s->log = OUTLOG_NONE;
    s->log_dir = box->options->log_dir;
    if (!sessions_open(box, request, s, err)) {
        free_session(s);
        return false;
    }
    struct tool_sessions *all = box->sessions;
    s->id = ++all->last_id;
    all->p[all->n++] = s;
    *ret_session = s;
    return true;
}
