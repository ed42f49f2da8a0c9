/* The screen of one command: its terminal's output, the emulator's replies, and changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include "base/clock.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>

struct session {
    struct session_options options;
    struct process process;
    struct term *term;
    struct str pending; /* bytes read but not yet fed */
    uint64_t fed_bytes;
    uint64_t changed_ms, sent_ms, changes, hash;
    bool framed; /* the last feed ended a synchronized update */
};

static void session_notify(void *context, const struct session_event *event)
{
    struct session *s = context;
    if (s->options.event)
        s->options.event(s->options.context, event);
}

static void session_on_term(void *context, const struct term_event *event)
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

static void session_take_replies(struct session *s)
{
    struct str replies = term_replies(s->term);
    (void)process_queue(&s->process, replies);
    term_drop_replies(s->term, replies.n);
}

static void session_on_output(void *context, struct str bytes)
{
    struct session *s = context;
    s->pending = bytes;
}

static enum session_news session_feed(struct session *s)
{
    struct str bytes = s->pending;
    s->framed = false;
    size_t taken = term_feed_until(s->term, bytes, 1u << TERM_EVENT_FRAME);
    s->pending = str_skip(bytes, taken);
    s->fed_bytes += taken;
    if (s->options.output)
        s->options.output(s->options.context, str_head(bytes, taken));
    session_take_replies(s);
    session_check_screen(s);
    return s->framed ? SESSION_FRAME : SESSION_SCREEN;
}

/* Output printed before the end belongs to the last screen. */
static void session_take_rest(struct session *s)
{
    struct process *p = &s->process;
    uint64_t until = clock_mono_ms() + PROCESS_READY_MS;
    do {
        while (s->pending.n)
            (void)session_feed(s);
    } while (clock_mono_ms() <= until && process_read_ready(p));
    while (s->pending.n)
        (void)session_feed(s);
}

static enum session_news session_fail(struct session *s)
{
    if (s->process.exit_reported)
        return SESSION_FAILED;
    process_kill(&s->process);
    session_take_rest(s);
    process_report_exit(&s->process);
    return SESSION_FAILED;
}

/* The loop ------------------------------------------------------------------------------------ */

void session_polls(const struct session *s, struct pollfd fds[SESSION_POLLS])
{
    process_polls(&s->process, fds);
}

uint64_t session_due_ms(const struct session *s)
{
    return s->pending.n ? 0 : process_due_ms(&s->process);
}

enum session_news session_next(struct session *s, uint64_t deadline_ms)
{
    static const enum session_news names[] = {
        [PROCESS_EXITED] = SESSION_EXITED,
        [PROCESS_TIME] = SESSION_TIME,
        [PROCESS_CANCELED] = SESSION_CANCELED,
        [PROCESS_INPUT] = SESSION_INPUT,
    };
    for (;;) {
        if (s->pending.n)
            return session_feed(s);
        enum process_news news = process_next(&s->process, deadline_ms);
        if (news == PROCESS_FAILED)
            return session_fail(s);
        if (news != PROCESS_OUTPUT && news != PROCESS_STOPPED)
            return names[news];
    }
}

/* Opening and closing ------------------------------------------------------------------------- */

bool session_open(
    const struct session_options *options, struct session **ret_session, struct err *err)
{
    struct session *s = base_alloc(sizeof(*s));
    const struct process_options process = {
        .launch = {.plan = options->plan,
            .argv = options->argv,
            .envp = options->envp,
            .terminal = true,
            .rows = options->rows,
            .cols = options->cols,
            .denied = options->denied,
            .serves = options->serves,
            .held = options->held},
        .world = options->world,
        .cwd = options->cwd,
        .budgets = options->budgets,
        .cancel = options->cancel,
        .output = session_on_output,
        .event = session_notify,
        .context = s,
        .refused = options->refused,
    };
    if (!process_open(&process, &s->process, err)) {
        free(s);
        return false;
    }
    s->options = *options;
    s->changed_ms = s->process.started_ms;
    s->term = term_new(&(struct term_options){
        .rows = options->rows,
        .cols = options->cols,
        .scrollback = options->scrollback,
        .event = session_on_term,
        .context = s,
    });
    s->hash = term_hash(s->term);
    *ret_session = s;
    return true;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    process_close(&s->process);
    term_free(s->term);
    free(s);
}

void session_watch(struct session *s, int fd)
{
    process_watch(&s->process, fd);
}

void session_drain(struct session *s)
{
    uint64_t until = clock_mono_ms() + PROCESS_READY_MS;
    while (clock_mono_ms() <= until) {
        enum session_news news = session_next(s, 0);
        if (news != SESSION_SCREEN && news != SESSION_FRAME)
            return;
    }
}

bool session_send(struct session *s, struct str bytes, struct err *err)
{
    struct process *p = &s->process;
    if (!process_queue(p, bytes))
        return err_set(err, E_IO,
            "the command does not read its input: %zu bytes are already queued", p->queue.n);
    if (bytes.n)
        s->sent_ms = clock_mono_ms();
    process_write_some(p);
    return true;
}

bool session_resize(struct session *s, uint16_t rows, uint16_t cols, struct err *err)
{
    const struct winsize size = {.ws_row = rows, .ws_col = cols};
    if (ioctl(s->process.child.terminal, TIOCSWINSZ, &size) != 0)
        return err_errno(err, E_IO, errno, "cannot change the terminal's size");
    s->sent_ms = clock_mono_ms();
    term_resize(s->term, rows, cols);
    session_take_replies(s);
    session_check_screen(s);
    session_notify(s, &(struct session_event){
                          .type = SESSION_EVENT_RESIZE, .value = (unsigned)rows << 16 | cols});
    return true;
}

/* Keeps reading output, so that the command does not block on it and the last screen is
 * complete. */
static bool session_wait_for_end(struct session *s, uint64_t timeout_ms)
{
    uint64_t until_ms = clock_deadline_ms(timeout_ms);
    for (;;) {
        enum session_news news = session_next(s, until_ms);
        if (news == SESSION_EXITED || news == SESSION_FAILED)
            return true;
        /* Check the clock: while there is output, session_next() does not return SESSION_TIME. */
        if (news == SESSION_TIME || clock_mono_ms() >= until_ms)
            return false;
    }
}

void session_terminate(struct session *s, uint64_t grace_ms)
{
    struct process *p = &s->process;
    p->options.cancel = -1; /* already ending */
    if (p->ended)
        (void)session_wait_for_end(s, PROCESS_DRAIN_MS);
    if (p->ended || p->error.code)
        return;
    process_terminate(p);
    if (session_wait_for_end(s, grace_ms))
        return;
    process_end(p);
    (void)session_wait_for_end(s, PROCESS_DRAIN_MS);
}

/* Accessors ----------------------------------------------------------------------------------- */

const struct child *session_child(const struct session *s)
{
    return &s->process.child;
}

struct term *session_term(struct session *s)
{
    return s->term;
}

bool session_has_ended(const struct session *s)
{
    return s->process.exited;
}

pid_t session_inside(const struct session *s)
{
    return process_session(&s->process);
}

const struct session_exit *session_exit_of(const struct session *s)
{
    return &s->process.exit;
}

const struct err *session_error(const struct session *s)
{
    return &s->process.error;
}

uint64_t session_output_bytes(const struct session *s)
{
    return s->process.output_bytes;
}

uint64_t session_fed_bytes(const struct session *s)
{
    return s->fed_bytes;
}

uint64_t session_ends_ms(const struct session *s)
{
    return process_ends_ms(&s->process);
}

uint64_t session_started_ms(const struct session *s)
{
    return s->process.started_ms;
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
    return !process_hung_up(&s->process) && tcgetattr(s->process.child.terminal, &modes) == 0 &&
           (modes.c_lflag & (ICANON | ECHO)) == ICANON;
}
