/* Taking the user's terminal over, and giving it back. */
#include "tui/display.h"

#include "base/clock.h"
#include "io/patience.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

enum {
    FRAME_MAX = 256 << 20,
    LEAVE_MS = 1000, /* for a terminal that does not read */
};

#define ENTER "\033[?1049h\033[?7l\033[m\033[2J"
/* CAN ends a sequence that may be half written. */
#define LEAVE \
    "\030\033[?2026l\033[?1000;1002;1003;1006;2004l\033[m\033[?7h\033[0 q\033[?25h\033[?1049l"

/* Crashes ------------------------------------------------------------------------------------- */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
static const struct display *in_use; /* there is one terminal */
static struct sigaction before[ARRAY_LEN(crashes)];

static void on_crash(int number)
{
    if (in_use) {
        (void)!write(in_use->out, LEAVE, sizeof(LEAVE) - 1);
        tcsetattr(in_use->in, TCSANOW, &in_use->tty.saved);
    }
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &before[i], NULL);
    raise(number);
}

static void guard(const struct display *d)
{
    const struct sigaction action = {.sa_handler = on_crash};
    in_use = d;
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], d ? &action : &before[i], d ? &before[i] : NULL);
}

/* Opening and closing ------------------------------------------------------------------------- */

bool display_check(struct err *err)
{
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, E_CLI_INVALID_ARG, "this needs a terminal, and standard %s is none",
            isatty(STDIN_FILENO) ? "output" : "input");
    if (!term || !*term || strcmp(term, "dumb") == 0)
        return err_set(err, E_CLI_INVALID_ARG,
            "this needs a terminal that can be drawn on, and TERM says that this one can't");
    return true;
}

bool display_open(struct display *d, bool colors, struct err *err)
{
    if (!display_check(err))
        return false;
    *d = DISPLAY_NONE;
    if (!tty_raw(&d->tty, STDIN_FILENO))
        return err_errno(err, E_IO, errno, "cannot change the terminal's modes");
    d->in = STDIN_FILENO;
    d->out = patience_open(STDOUT_FILENO);
    d->own_out = d->out >= 0;
    if (!d->own_out)
        d->out = STDOUT_FILENO;
    struct tty_size size = tty_size(STDOUT_FILENO);
    d->canvas = canvas_new(size.rows, size.cols);
    canvas_set_plain(d->canvas, !colors);
    d->pending = BUF_INIT(FRAME_MAX);
    buf_add_z(&d->pending, ENTER);
    guard(d);
    display_pump(d);
    return true;
}

void display_close(struct display *d)
{
    if (d->in < 0)
        return;
    guard(NULL);
    struct patience p = {clock_mono_ms() + LEAVE_MS, -1};
    patience_write(d->out, STR(LEAVE), &p);
    tty_restore(&d->tty);
    if (d->own_out)
        close(d->out);
    canvas_free(d->canvas);
    buf_done(&d->pending);
    *d = DISPLAY_NONE;
}

/* Drawing ------------------------------------------------------------------------------------- */

bool display_resize(struct display *d)
{
    struct tty_size size = tty_size(STDOUT_FILENO);
    if (size.rows == canvas_rows(d->canvas) && size.cols == canvas_cols(d->canvas))
        return false;
    canvas_resize(d->canvas, size.rows, size.cols);
    return true;
}

bool display_waits(const struct display *d)
{
    return d->at < d->pending.n;
}

/* A terminal that could not be opened anew would block: it gets what poll() vouches for. */
void display_pump(struct display *d)
{
    while (display_waits(d)) {
        size_t n = d->pending.n - d->at;
        if (!d->own_out) {
            struct pollfd fd = {.fd = d->out, .events = POLLOUT};
            if (poll(&fd, 1, 0) <= 0)
                return;
            n = MIN(n, patience_room(d->out));
        }
        ssize_t done = write(d->out, d->pending.p + d->at, n);
        if (done < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (done <= 0)
            break; /* it is gone: whoever reads its keys learns that, too */
        d->at += (size_t)done;
    }
    buf_reset(&d->pending);
    d->at = 0;
}

void display_draw(struct display *d)
{
    display_pump(d);
    if (display_waits(d))
        return;
    canvas_write(d->canvas, &d->pending);
    display_pump(d);
}

/* Asking for more ----------------------------------------------------------------------------- */

void display_want_mouse(struct display *d, enum term_mouse mouse)
{
    static const char *const modes[] = {
        [TERM_MOUSE_OFF] = NULL,
        [TERM_MOUSE_X10] = "\033[?1000;1006h",
        [TERM_MOUSE_NORMAL] = "\033[?1000;1006h",
        [TERM_MOUSE_BUTTON] = "\033[?1002;1006h",
        [TERM_MOUSE_ANY] = "\033[?1003;1006h",
    };
    if (d->mouse == mouse)
        return;
    d->mouse = mouse;
    buf_add_z(&d->pending, "\033[?1000;1002;1003;1006l");
    if (modes[mouse])
        buf_add_z(&d->pending, modes[mouse]);
    display_pump(d);
}

void display_want_pastes(struct display *d)
{
    if (!d->pastes)
        buf_add_z(&d->pending, "\033[?2004h");
    d->pastes = true;
    display_pump(d);
}
