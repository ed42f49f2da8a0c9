/* The event loop of one command: its terminal, its input queue and its exit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include "base/clock.h"
#include "session/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

enum {
    CHUNK = 64 * 1024,
    READY_MS = 20,   /* limit for a command that prints without a pause */
    DRAIN_MS = 2000, /* for output still in flight when the command has ended */

    POLL_TERMINAL = 0,
    POLL_CONTROL,
    POLL_CANCEL,
    POLL_WATCH,
    POLLS,
};

struct session {
    struct session_options options;
    struct child child;
    struct term *term;
    struct buf queue; /* input for the command */
    char *chunk;      /* bytes read; the first `at` of `n` are fed */
    size_t at, n;
    uint64_t output_bytes, fed_bytes;
    uint64_t started_ms, changed_ms, sent_ms, changes, hash;
    struct budget runtime, output;
    bool framed;  /* the last feed ended a synchronized update */
    bool hung_up; /* no process has the terminal open any more */
    bool ended;   /* the command has ended; output may remain */
    uint64_t drain_until_ms;
    bool told;      /* SESSION_EXITED was returned */
    bool exit_told; /* SESSION_EVENT_EXIT was sent */
    int watched;
    struct session_exit exit;
    struct err error;
};

static void session_notify(struct session *s, const struct session_event *event)
{
    if (s->options.event)
        s->options.event(s->options.context, event);
}

static void on_term(void *context, const struct term_event *event)
{
    struct session *s = context;
    s->framed |= event->type == TERM_EVENT_FRAME;
    session_notify(
        s, &(struct session_event){SESSION_EVENT_TERM, event->type, event->text, event->value});
}

/* Screen -------------------------------------------------------------------------------------- */

/* Notes whether the visible screen has changed. */
static void session_check_screen(struct session *s)
{
    uint64_t hash = term_hash(s->term);
    if (hash == s->hash)
        return;
    s->hash = hash;
    s->changes++;
    s->changed_ms = clock_mono_ms();
}

static void take_replies(struct session *s)
{
    struct str replies = term_replies(s->term);
    if (s->queue.n + replies.n < SESSION_QUEUE_MAX)
        buf_add_str(&s->queue, replies);
    term_drop_replies(s->term, replies.n);
}

static enum session_news session_feed(struct session *s)
{
    struct str bytes = str_n(s->chunk + s->at, s->n - s->at);
    s->framed = false;
    size_t taken = term_feed_until(s->term, bytes, 1u << TERM_EVENT_FRAME);
    s->at += taken;
    s->fed_bytes += taken;
    if (s->options.output)
        s->options.output(s->options.context, str_head(bytes, taken));
    take_replies(s);
    session_check_screen(s);
    return s->framed ? SESSION_FRAME : SESSION_SCREEN;
}

/* Budgets ------------------------------------------------------------------------------------- */

static void note_use(struct session *s, struct budget *b, uint64_t used)
{
    if (budget_near(b, used))
        session_notify(s, &(struct session_event){.type = SESSION_EVENT_BUDGET_NEAR,
                              .text = str_z(b->name),
                              .value = BUDGET_NEAR_PERCENT});
}

static bool time_is_over(struct session *s, uint64_t now)
{
    uint64_t used = now - s->started_ms;
    note_use(s, &s->runtime, used);
    return used >= s->runtime.limit;
}

/* Returns when the run-time budget must be checked next. */
static uint64_t next_time(const struct session *s)
{
    uint64_t at =
        s->started_ms + (s->runtime.told ? s->runtime.limit : budget_near_at(&s->runtime));
    return at < s->started_ms ? UINT64_MAX : at;
}

static bool output_is_over(const struct session *s)
{
    return s->output_bytes > s->output.limit;
}

/* Streams ------------------------------------------------------------------------------------- */

/* Returns false at the end of all output. */
static bool session_read_some(struct session *s)
{
    ssize_t n = read(s->child.terminal, s->chunk, CHUNK);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n <= 0)
        return false;
    s->at = 0;
    s->n = (size_t)MIN((uint64_t)n, s->output.limit - s->output_bytes);
    s->output_bytes += (uint64_t)n;
    note_use(s, &s->output, s->output_bytes);
    return true;
}

static void session_write_some(struct session *s)
{
    ssize_t n = write(s->child.terminal, s->queue.p, s->queue.n);
    if (n <= 0)
        return;
    memmove(s->queue.p, s->queue.p + n, s->queue.n - (size_t)n);
    buf_truncate(&s->queue, s->queue.n - (size_t)n);
}

/* Ending -------------------------------------------------------------------------------------- */

struct session_exit session_exit_from(int status)
{
    return (struct session_exit){
        .known = true,
        .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
    };
}

static void note_exit(struct session *s, struct session_exit exit)
{
    if (s->exit.known)
        return;
    exit.by_harness = s->exit.by_harness;
    s->exit = exit;
}

static void session_notify_exit(struct session *s)
{
    if (!s->exit_told)
        session_notify(s, &(struct session_event){.type = SESSION_EVENT_EXIT, .exit = &s->exit});
    s->exit_told = true;
}

/* Output printed before the end belongs to the last screen. */
static void take_rest(struct session *s)
{
    uint64_t until = clock_mono_ms() + READY_MS;
    do {
        while (s->at < s->n)
            (void)session_feed(s);
    } while (
        !output_is_over(s) && clock_mono_ms() <= until && session_read_some(s) && s->at < s->n);
    while (s->at < s->n)
        (void)session_feed(s);
}

static enum session_news session_fail(struct session *s)
{
    child_kill(&s->child);
    s->exit.by_harness |= !s->exit.known;
    note_exit(s, SESSION_KILLED);
    take_rest(s);
    session_notify_exit(s);
    return SESSION_FAILED;
}

static enum session_news over_budget(struct session *s, const struct budget *b)
{
    (void)budget_blame(b, &s->error);
    return session_fail(s);
}

/* Handles a message from process 1. If it was killed with the whole sandbox, it sent none. */
static bool session_read_message(struct session *s)
{
    struct child_news news;
    if (!child_next(&s->child, &news, &s->error))
        return false;
    if (news.word == CHILD_STOPPED)
        return true;
    note_exit(s, news.word == CHILD_EXITED ? session_exit_from(news.value) : SESSION_KILLED);
    s->ended = true;
    s->drain_until_ms = clock_mono_ms() + DRAIN_MS;
    return true;
}

static enum session_news session_finish(struct session *s)
{
    s->told = true;
    session_notify_exit(s);
    return SESSION_EXITED;
}

/* The loop ------------------------------------------------------------------------------------ */

static int timeout_ms(uint64_t now, uint64_t until)
{
    if (until == UINT64_MAX)
        return -1;
    return until <= now ? 0 : (int)MIN(until - now, (uint64_t)60 * 1000);
}

void session_polls(const struct session *s, struct pollfd fds[SESSION_POLLS])
{
    short want = (short)(POLLIN | (s->queue.n ? POLLOUT : 0));
    fds[POLL_TERMINAL] = (struct pollfd){.fd = s->hung_up ? -1 : s->child.terminal, .events = want};
    fds[POLL_CONTROL] = (struct pollfd){.fd = s->ended ? -1 : s->child.control, .events = POLLIN};
}

uint64_t session_due_ms(const struct session *s)
{
    if (s->at < s->n || s->error.code || (s->ended && s->hung_up))
        return 0;
    return s->ended ? s->drain_until_ms : next_time(s);
}

static bool session_is_drained(const struct session *s)
{
    return s->ended && (s->hung_up || clock_mono_ms() >= s->drain_until_ms);
}

/* Waits for an event and handles it. Returns true if there is news for the caller. */
static bool session_step(struct session *s, uint64_t deadline_ms, enum session_news *ret_news)
{
    struct pollfd fds[POLLS] = {
        [POLL_CANCEL] = {.fd = s->options.cancel, .events = POLLIN},
        [POLL_WATCH] = {.fd = s->watched, .events = POLLIN},
    };
    session_polls(s, fds);
    uint64_t until = MIN(deadline_ms, s->ended ? s->drain_until_ms : next_time(s));
    if (poll(fds, POLLS, timeout_ms(clock_mono_ms(), until)) < 0 && errno != EINTR) {
        err_errno(&s->error, E_IO, errno, "cannot wait for the terminal");
        *ret_news = session_fail(s);
        return true;
    }
    if (fds[POLL_TERMINAL].revents & POLLOUT)
        session_write_some(s);
    if (fds[POLL_TERMINAL].revents & (POLLIN | POLLHUP | POLLERR) && !session_read_some(s))
        s->hung_up = true;
    if (fds[POLL_CONTROL].revents && !session_read_message(s)) {
        *ret_news = session_fail(s);
        return true;
    }
    *ret_news = fds[POLL_CANCEL].revents ? SESSION_CANCELED : SESSION_INPUT;
    return fds[POLL_CANCEL].revents || fds[POLL_WATCH].revents;
}

enum session_news session_next(struct session *s, uint64_t deadline_ms)
{
    enum session_news news;
    for (;;) {
        if (s->error.code)
            return SESSION_FAILED;
        if (s->at < s->n)
            return session_feed(s);
        if (output_is_over(s))
            return over_budget(s, &s->output);
        if (session_is_drained(s))
            return session_finish(s);
        if (!s->ended && time_is_over(s, clock_mono_ms()))
            return over_budget(s, &s->runtime);
        if (session_step(s, deadline_ms, &news))
            return news;
        if (s->at == s->n && !session_is_drained(s) && clock_mono_ms() >= deadline_ms)
            return SESSION_TIME;
    }
}

/* Opening and closing ------------------------------------------------------------------------- */

bool session_open(
    const struct session_options *options, struct session **ret_session, struct err *err)
{
    struct child child;
    const struct launch launch = {
        .plan = options->plan,
        .argv = options->argv,
        .envp = options->envp,
        .terminal = true,
        .rows = options->rows,
        .cols = options->cols,
        .serves = options->serves,
        .held = options->held,
    };
    if (!launch_start(&launch, &child, err))
        return false;
    struct session *s = base_alloc(sizeof(*s));
    s->options = *options;
    s->child = child;
    s->queue = BUF_INIT(SESSION_QUEUE_MAX + 1);
    s->chunk = base_realloc(NULL, CHUNK);
    s->runtime = (struct budget){"max_runtime_ms", " ms", options->budgets.runtime_ms, false};
    s->output = (struct budget){"max_output_bytes", " bytes", options->budgets.output_bytes, false};
    s->started_ms = s->changed_ms = clock_mono_ms();
    s->exit.code = -1;
    s->watched = -1;
    s->term = term_new(&(struct term_options){
        .rows = options->rows,
        .cols = options->cols,
        .scrollback = options->scrollback,
        .event = on_term,
        .context = s,
    });
    s->hash = term_hash(s->term);
    fcntl(child.terminal, F_SETFL, O_NONBLOCK);
    *ret_session = s;
    return true;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    if (!s->ended || s->options.serves)
        child_kill(&s->child);
    child_close(&s->child);
    term_free(s->term);
    buf_done(&s->queue);
    err_done(&s->error);
    free(s->chunk);
    free(s);
}

void session_watch(struct session *s, int fd)
{
    s->watched = fd;
}

void session_drain(struct session *s)
{
    uint64_t until = clock_mono_ms() + READY_MS;
    while (clock_mono_ms() <= until) {
        enum session_news news = session_next(s, 0);
        if (news != SESSION_SCREEN && news != SESSION_FRAME)
            return;
    }
}

bool session_send(struct session *s, struct str bytes, struct err *err)
{
    if (s->queue.n + bytes.n > SESSION_QUEUE_MAX)
        return err_set(
            err, E_IO, "the command does not read: %zu bytes wait for it already", s->queue.n);
    buf_add_str(&s->queue, bytes);
    if (bytes.n)
        s->sent_ms = clock_mono_ms();
    if (!s->hung_up && s->queue.n)
        session_write_some(s);
    return true;
}

bool session_resize(struct session *s, uint16_t rows, uint16_t cols, struct err *err)
{
    const struct winsize size = {.ws_row = rows, .ws_col = cols};
    if (ioctl(s->child.terminal, TIOCSWINSZ, &size) != 0)
        return err_errno(err, E_IO, errno, "cannot change the terminal's size");
    s->sent_ms = clock_mono_ms();
    term_resize(s->term, rows, cols);
    take_replies(s);
    session_check_screen(s);
    session_notify(s, &(struct session_event){
                          .type = SESSION_EVENT_RESIZE, .value = (unsigned)rows << 16 | cols});
    return true;
}

/* Keeps reading output, so that the command does not block on it and the last screen is
 * complete. */
static bool wait_for_end(struct session *s, uint64_t until_ms)
{
    for (;;) {
        enum session_news news = session_next(s, until_ms);
        if (news == SESSION_EXITED || news == SESSION_FAILED)
            return true;
        /* Check the clock: while there is output, session_next() does not return SESSION_TIME. */
        if (news == SESSION_TIME || clock_mono_ms() >= until_ms)
            return false;
        if (news == SESSION_CANCELED)
            s->options.cancel = -1; /* already ending */
    }
}

void session_terminate(struct session *s, uint64_t grace_ms)
{
    if (s->ended)
        (void)wait_for_end(s, clock_mono_ms() + DRAIN_MS);
    if (s->ended || s->error.code)
        return;
    s->exit.by_harness = true;
    child_terminate(&s->child);
    if (wait_for_end(s, clock_mono_ms() + grace_ms))
        return;
    child_kill(&s->child);
    (void)wait_for_end(s, clock_mono_ms() + DRAIN_MS);
}

/* Accessors ----------------------------------------------------------------------------------- */

const struct child *session_child(const struct session *s)
{
    return &s->child;
}

struct term *session_term(struct session *s)
{
    return s->term;
}

bool session_has_ended(const struct session *s)
{
    return s->told;
}

const struct session_exit *session_exit_of(const struct session *s)
{
    return &s->exit;
}

const struct err *session_error(const struct session *s)
{
    return &s->error;
}

uint64_t session_output_bytes(const struct session *s)
{
    return s->output_bytes;
}

uint64_t session_fed_bytes(const struct session *s)
{
    return s->fed_bytes;
}

uint64_t session_ends_ms(const struct session *s)
{
    uint64_t at = s->started_ms + s->runtime.limit;
    return at < s->started_ms ? UINT64_MAX : at;
}

uint64_t session_started_ms(const struct session *s)
{
    return s->started_ms;
}

uint64_t session_changed_ms(const struct session *s)
{
    return s->changed_ms;
}

uint64_t session_sent_ms(const struct session *s)
{
    return s->sent_ms;
}

uint64_t session_changes(const struct session *s)
{
    return s->changes;
}

bool session_hides_input(const struct session *s)
{
    struct termios modes;
    return !s->hung_up && tcgetattr(s->child.terminal, &modes) == 0 &&
           (modes.c_lflag & (ICANON | ECHO)) == ICANON;
}
