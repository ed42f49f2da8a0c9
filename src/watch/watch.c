/* Thread that shows a running scenario. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/watch.h"

#include "base/clock.h"
#include "tui/display.h"
#include "watch/watch_view.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

enum {
    FRAME_MS = 33,
    TICK_MS = 100, /* interval of the displayed clock */
    INPUT = 1024,
};

struct watch {
    struct watch_look look;
    struct display display;
    pthread_t thread;
    bool has_thread;
    int cancel, wake; /* eventfds: for the run, and for the thread */
    pthread_mutex_t lock;
    /* Protected by the lock: */
    struct watch_state state;
    struct term *term;
    bool frozen;   /* steps are done: output of the exiting program is not shown */
    bool canceled; /* do not wait for a key at the end */
    bool leave;
    /* Used by the thread only: */
    uint64_t drawn_ms, frame_since;
};

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

static void drain_fd(int fd)
{
    uint64_t n;
    (void)!read(fd, &n, sizeof(n));
}

/* Keys ---------------------------------------------------------------------------------------- */

static void watch_cancel_run(struct watch *l)
{
    if (l->state.over) {
        l->leave = true;
        return;
    }
    l->canceled = true;
    signal_fd(l->cancel);
}

static void watch_scroll(struct watch_state *s, int by)
{
    s->moved = true;
    if (by < 0)
        s->top -= MIN(s->top, (size_t)-by);
    else
        s->top += (size_t)by; /* limited when drawn */
}

/* Handles known keys; other escape sequences are skipped. */
static void watch_handle_keys(struct watch *l, struct str keys)
{
    static const struct {
        const char *bytes;
        int by; /* 0: quit */
        bool only_over;
    } known[] = {
        {"q", 0, false},
        {"\003", 0, false},
        {"\r", 0, true},
        {"\033[A", -1, false},
        {"\033[B", 1, false},
        {"\033OA", -1, false},
        {"\033OB", 1, false},
        {"\033[5~", -10, false},
        {"\033[6~", 10, false},
    };
    while (keys.n) {
        size_t taken = 1;
        if (keys.p[0] == '\033') /* up to the final byte */
            while (taken < keys.n && keys.p[taken] != '\033' &&
                   (taken < 2 || keys.p[taken - 1] < '@' || taken == 2) && taken < 8)
                taken++;
        for (size_t i = 0; i < ARRAY_LEN(known); i++) {
            if (!str_starts_with(keys, str_z(known[i].bytes)))
                continue;
            taken = strlen(known[i].bytes);
            if (known[i].by)
                watch_scroll(&l->state, known[i].by);
            else if (!known[i].only_over || l->state.over)
                watch_cancel_run(l);
            break;
        }
        keys = str_skip(keys, taken);
    }
}

static void watch_read_keys(struct watch *l)
{
    char bytes[INPUT];
    ssize_t n = read(l->display.in, bytes, sizeof(bytes));
    pthread_mutex_lock(&l->lock);
    if (n <= 0) { /* the terminal is gone */
        watch_cancel_run(l);
        l->leave = true;
    } else {
        watch_handle_keys(l, str_n(bytes, (size_t)n));
    }
    pthread_mutex_unlock(&l->lock);
}

static void watch_read_signal(struct watch *l)
{
    struct signalfd_siginfo info;
    if (read(l->look.signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGWINCH) {
        display_resize(&l->display);
        l->drawn_ms = 0;
        return;
    }
    pthread_mutex_lock(&l->lock);
    watch_cancel_run(l);
    l->leave = true; /* once the run is over */
    pthread_mutex_unlock(&l->lock);
}

/* Thread -------------------------------------------------------------------------------------- */

static void watch_redraw(struct watch *l, uint64_t now)
{
    pthread_mutex_lock(&l->lock);
    if (term_may_draw(l->term, now, SESSION_FRAME_MS, &l->frame_since)) {
        if (!l->state.over)
            l->state.now_ms = now;
        watch_view_draw(&l->state, l->display.canvas);
    }
    pthread_mutex_unlock(&l->lock);
    display_draw(&l->display);
    l->drawn_ms = now;
}

static bool watch_is_done(struct watch *l)
{
    pthread_mutex_lock(&l->lock);
    bool done = l->state.over && (l->leave || l->canceled);
    pthread_mutex_unlock(&l->lock);
    return done;
}

static void *watch_thread(void *context)
{
    struct watch *l = context;
    bool gone = false;
    while (!watch_is_done(l)) {
        uint64_t now = clock_mono_ms();
        bool due = now - l->drawn_ms >= FRAME_MS;
        if (due)
            watch_redraw(l, now);
        struct pollfd fds[] = {
            {.fd = gone ? -1 : l->display.in, .events = POLLIN},
            {.fd = l->look.signals, .events = POLLIN},
            {.fd = due ? l->wake : -1, .events = POLLIN},
            {.fd = display_waits(&l->display) ? l->display.outlet.fd : -1, .events = POLLOUT},
        };
        if (poll(fds, ARRAY_LEN(fds), due ? TICK_MS : FRAME_MS) <= 0)
            continue;
        if (fds[0].revents)
            watch_read_keys(l);
        gone = gone || fds[0].revents & (POLLHUP | POLLERR | POLLNVAL);
        if (fds[1].revents)
            watch_read_signal(l);
        if (fds[2].revents)
            drain_fd(l->wake);
        if (fds[3].revents)
            display_pump(&l->display);
    }
    return NULL;
}

/* Callbacks of the run ------------------------------------------------------------------------ */

void watch_output(struct watch *l, struct str bytes)
{
    pthread_mutex_lock(&l->lock);
    if (!l->frozen) {
        term_feed(l->term, bytes);
        term_drop_replies(l->term, term_replies(l->term).n);
    }
    pthread_mutex_unlock(&l->lock);
    signal_fd(l->wake);
}

static enum watch_mark watch_mark_of(enum step_status status)
{
    static const enum watch_mark marks[] = {
        [STEP_PASSED] = WATCH_PASSED,
        [STEP_FAILED] = WATCH_FAILED,
        [STEP_ERRORED] = WATCH_ERRORED,
        [STEP_SKIPPED] = WATCH_SKIPPED,
    };
    return marks[status];
}

void watch_progress(struct watch *l, const struct runner_progress *p)
{
    pthread_mutex_lock(&l->lock);
    struct watch_step *step = &l->state.steps[p->index];
    l->state.current = p->index;
    if (p->begins) {
        step->mark = WATCH_RUNNING;
        step->started_ms = clock_mono_ms();
        if (p->step->action.type == ACTION_RESIZE)
            term_resize(l->term, p->step->action.rows, p->step->action.cols);
    } else {
        step->mark = watch_mark_of(p->status);
        step->duration_ms = p->duration_ms;
        l->frozen |= p->status != STEP_PASSED || p->index + 1 == l->look.scenario->n_steps;
        if (p->error)
            snprintf(l->state.error, sizeof(l->state.error), "%s", p->error->message);
    }
    pthread_mutex_unlock(&l->lock);
    signal_fd(l->wake);
}

void watch_finish(struct watch *l, const struct exec_result *result)
{
    pthread_mutex_lock(&l->lock);
    struct watch_state *s = &l->state;
    s->over = true;
    s->status = result->status;
    s->now_ms = s->started_ms + result->ended_ms - result->started_ms;
    l->canceled |= result->status == EXEC_CANCELED;
    for (size_t i = 0; i < l->look.scenario->n_steps; i++)
        if (s->steps[i].mark == WATCH_PENDING)
            s->steps[i].mark = WATCH_SKIPPED;
    pthread_mutex_unlock(&l->lock);
    signal_fd(l->wake);
    pthread_join(l->thread, NULL);
    l->has_thread = false;
}

/* Opening and closing ------------------------------------------------------------------------- */

bool watch_open(const struct watch_look *look, struct watch **ret_watch, struct err *err)
{
    const struct scenario *scenario = look->scenario;
    struct watch *l = base_alloc(sizeof(*l));
    *l = (struct watch){.look = *look, .display = DISPLAY_NONE, .cancel = -1, .wake = -1};
    if (!display_open(&l->display, look->colors, err)) {
        free(l);
        return false;
    }
    l->cancel = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&l->lock, NULL);
    l->term = term_new(&(struct term_options){.rows = scenario->rows, .cols = scenario->cols});
    uint64_t now = clock_mono_ms();
    l->state = (struct watch_state){
        .scenario = scenario,
        .name = look->name,
        .term = l->term,
        .steps = base_alloc((scenario->n_steps + 1) * sizeof(struct watch_step)),
        .started_ms = now,
        .now_ms = now,
    };
    int error =
        l->cancel < 0 || l->wake < 0 ? EMFILE : pthread_create(&l->thread, NULL, watch_thread, l);
    l->has_thread = error == 0;
    if (error) {
        watch_close(l);
        return err_errno(err, E_IO, error, "cannot start the display of the run");
    }
    *ret_watch = l;
    return true;
}

void watch_close(struct watch *l)
{
    if (!l)
        return;
    if (l->has_thread) { /* the run had no result */
        const struct exec_result none = {.status = EXEC_CANCELED};
        watch_finish(l, &none);
    }
    display_close(&l->display);
    term_free(l->term);
    pthread_mutex_destroy(&l->lock);
    free(l->state.steps);
    if (l->cancel >= 0)
        close(l->cancel);
    if (l->wake >= 0)
        close(l->wake);
    free(l);
}

int watch_cancel(const struct watch *l)
{
    return l->cancel;
}
