/* Capturing a user's session with a program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/capture.h"

#include "base/clock.h"
#include "run/wait.h"
#include "term/typed.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    INPUT_MAX = 2 << 20,
    READ_SIZE = 64 * 1024,
    FRAME_MS = 15,
    ESCAPE_MS = 50,     /* after this, ESC is a key by itself */
    UNSETTLED_MS = 500, /* a screen that has not settled by then never does */
    LEAVE_KEY = 0x1D,   /* Ctrl+] */
};

void capture_init(struct capture *r)
{
    *r = (struct capture){.display = DISPLAY_NONE,
        .input = BUF_INIT(INPUT_MAX + READ_SIZE),
        .keys = typed_keys_new()};
    recorder_init(&r->recorder);
}

void capture_close(struct capture *r)
{
    session_close(r->session);
    r->session = NULL;
}

void capture_done(struct capture *r)
{
    capture_close(r);
    recorder_done(&r->recorder);
    typed_keys_free(r->keys);
    buf_done(&r->input);
}

/* Typing -------------------------------------------------------------------------------------- */

/* The same condition as in the runner after a step without assertions. */
static bool capture_is_settled(const struct capture *r, uint64_t now)
{
    uint64_t last = MAX(session_changed_ms(r->session), session_sent_ms(r->session));
    return now - MIN(now, last) >= WAIT_SETTLE_MS && !term_in_frame(session_term(r->session));
}

static bool capture_add_input(
    struct capture *r, const struct typed *typed, bool settled, struct err *err)
{
    return recorder_take(&r->recorder, r->session, typed, settled, err);
}

/* Handles Ctrl+] and the key after it. Returns true if the input is for the program. */
static bool is_for_program(struct capture *r, const struct typed *typed, size_t *ret_taken)
{
    bool is_leave = typed->kind == TYPED_KEY && r->input.p[0] == LEAVE_KEY;
    if (!r->leaving) {
        r->leaving = is_leave;
        return !is_leave;
    }
    r->leaving = false;
    if (is_leave)
        return true; /* typed twice: send it to the program */
    if (typed->kind == TYPED_TEXT)
        *ret_taken = 1;
    r->over |= typed->kind == TYPED_TEXT && typed->bytes.p[0] == 'q';
    return false;
}

static void drop_input(struct capture *r, size_t n)
{
    memmove(r->input.p, r->input.p + n, r->input.n - n);
    buf_truncate(&r->input, r->input.n - n);
    r->came_ms = clock_mono_ms();
}

/* Sends typed input item by item, each after the screen has settled from the one before, so that
 * the recorded wait matches what the user saw. */
static bool capture_process_input(struct capture *r, struct err *err)
{
    struct typed typed;
    while (r->input.n && !r->over) {
        uint64_t now = clock_mono_ms();
        bool settled = capture_is_settled(r, now);
        size_t n = typed_next(r->keys, buf_str(&r->input), now - r->came_ms >= ESCAPE_MS, &typed);
        if (n == 0)
            return true;
        if (!settled && now - r->came_ms < UNSETTLED_MS &&
            !recorder_joins(&r->recorder, r->session, &typed))
            return true;
        if (is_for_program(r, &typed, &n) && !capture_add_input(r, &typed, settled, err))
            return false;
        drop_input(r, n);
    }
    return true;
}

static void capture_read_input(struct capture *r)
{
    char *to = buf_reserve(&r->input, READ_SIZE);
    ssize_t n = to ? read(r->display.in, to, READ_SIZE) : -1;
    if (n > 0) {
        if (r->input.n == 0)
            r->came_ms = clock_mono_ms();
        buf_grown(&r->input, (size_t)n);
    } else if (n == 0 || errno != EINTR) {
        r->over = r->canceled = true; /* the terminal is gone */
    }
}

/* Terminal output ----------------------------------------------------------------------------- */

static void capture_draw(struct capture *r)
{
    const struct term *t = session_term(r->session);
    struct term_cursor cursor = term_cursor(t);
    struct canvas *c = r->display.canvas;
    struct term_input input;
    const struct canvas_cursor at = {cursor.visible, cursor.row, cursor.col, cursor.shape};
    canvas_clear(c);
    canvas_show(c, t, &(struct canvas_part){0, 0, canvas_rows(c), canvas_cols(c), 0, 0});
    canvas_set_cursor(c, &at);
    term_input(t, &input);
    display_want_mouse(&r->display, input.mouse);
    display_draw(&r->display);
    r->drawn_ms = clock_mono_ms();
    r->dirty = false;
}

static struct tty_size child_size(const struct capture *r)
{
    return (struct tty_size){(uint16_t)MIN(canvas_rows(r->display.canvas), SESSION_ROWS_MAX),
        (uint16_t)MIN(canvas_cols(r->display.canvas), SESSION_COLS_MAX)};
}

static bool capture_read_signal(struct capture *r, int signals, struct err *err)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof(info)) != sizeof(info))
        return true;
    if (info.ssi_signo != SIGWINCH) {
        r->over = r->canceled = true;
        return true;
    }
    if (!display_resize(&r->display))
        return true;
    struct tty_size size = child_size(r);
    r->dirty = true;
    return recorder_resize(&r->recorder, r->session, size.rows, size.cols,
        capture_is_settled(r, clock_mono_ms()), err);
}

/* Loop ---------------------------------------------------------------------------------------- */

/* Time for the next iteration if nothing happens before. */
static uint64_t capture_next_wakeup(const struct capture *r, uint64_t now)
{
    if (r->input.n || display_waits(&r->display))
        return now + 5;
    return r->dirty ? MAX(now, r->drawn_ms + FRAME_MS) : UINT64_MAX;
}

static bool capture_loop(struct capture *r, int signals, struct err *err)
{
    while (!r->over) {
        uint64_t now = clock_mono_ms();
        if (r->dirty && now - r->drawn_ms >= FRAME_MS && !term_in_frame(session_term(r->session)))
            capture_draw(r);
        display_pump(&r->display);
        session_watch(r->session, r->input.n < INPUT_MAX / 2 ? r->display.in : -1);
        enum session_news news = session_next(r->session, capture_next_wakeup(r, now));
        r->dirty |= news == SESSION_SCREEN || news == SESSION_FRAME;
        if (news == SESSION_INPUT)
            capture_read_input(r);
        if (news == SESSION_CANCELED && !capture_read_signal(r, signals, err))
            return false;
        if (news == SESSION_EXITED)
            return true;
        if (news == SESSION_FAILED) {
            err_copy(err, session_error(r->session));
            return false;
        }
        if (!capture_process_input(r, err))
            return false;
    }
    return true;
}

static bool capture_open_session(
    struct capture *r, const struct capture_options *o, struct err *err)
{
    r->size = child_size(r);
    const struct session_options options = {
        .plan = o->plan,
        .argv = o->argv,
        .envp = o->envp,
        .refused = o->refused,
        .rows = r->size.rows,
        .cols = r->size.cols,
        .budgets = {o->max_runtime_ms, o->max_output_bytes},
        .cancel = o->signals,
    };
    return session_open(&options, &r->session, err);
}

bool capture_run(struct capture *r, const struct capture_options *o, struct err *err)
{
    bool ok = display_open(&r->display, o->colors, err);
    if (ok) {
        display_want_pastes(&r->display);
        ok = capture_open_session(r, o, err) && capture_loop(r, o->signals, err);
    }
    r->any = r->session && (ok || r->recorder.actions);
    if (r->any)
        recorder_end(&r->recorder, r->session, capture_is_settled(r, clock_mono_ms()));
    display_close(&r->display);
    return ok;
}
