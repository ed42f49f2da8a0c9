/* Non-blocking output to the user's terminal, and a crash handler that restores it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/outlet.h"

#include "base/clock.h"
#include "io/timed_write.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

enum {
    LEAVE_MS = 1000, /* timeout for a terminal that does not read */
};

/* Crashes ------------------------------------------------------------------------------------- */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
static struct sigaction before[ARRAY_LEN(crashes)];
static struct {
    const struct outlet *outlet;
    const struct tty *tty;
    const char *leave;
} guarded;

static void on_crash(int number)
{
    if (guarded.outlet) {
        (void)!write(guarded.outlet->fd, guarded.leave, strlen(guarded.leave));
        if (guarded.tty->fd >= 0)
            tcsetattr(guarded.tty->fd, TCSANOW, &guarded.tty->saved);
    }
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &before[i], NULL);
    raise(number);
}

void outlet_guard(const struct outlet *o, const struct tty *tty, const char *leave)
{
    const struct sigaction action = {.sa_handler = on_crash};
    guarded.outlet = o;
    guarded.tty = tty;
    guarded.leave = leave;
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &action, &before[i]);
}

static void unguard(const struct outlet *o)
{
    if (guarded.outlet != o)
        return;
    guarded.outlet = NULL;
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &before[i], NULL);
}

/* Output -------------------------------------------------------------------------------------- */

void outlet_open(struct outlet *o, int fd)
{
    *o = (struct outlet){.fd = timed_write_open(fd), .pending = BUF_INIT(OUTLET_MAX)};
    o->own = o->fd >= 0;
    if (!o->own)
        o->fd = fd;
}

void outlet_close(struct outlet *o, struct str leave, bool all)
{
    struct write_deadline p = {clock_mono_ms() + LEAVE_MS, -1};
    unguard(o);
    if (all)
        timed_write(o->fd, str_skip(buf_str(&o->pending), o->at), &p);
    timed_write(o->fd, leave, &p);
    if (o->own)
        close(o->fd);
    buf_done(&o->pending);
    *o = OUTLET_NONE;
}

bool outlet_waits(const struct outlet *o)
{
    return o->at < o->pending.n;
}

/* Writes pending output. If the terminal could not be reopened in non-blocking mode, writes only as
 * much as poll() allows. */
void outlet_pump(struct outlet *o)
{
    while (outlet_waits(o)) {
        size_t n = o->pending.n - o->at;
        if (!o->own) {
            struct pollfd fd = {.fd = o->fd, .events = POLLOUT};
            if (poll(&fd, 1, 0) <= 0)
                return;
            n = MIN(n, timed_write_room(o->fd));
        }
        ssize_t done = write(o->fd, o->pending.p + o->at, n);
        if (done < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (done <= 0) {
            o->broken = true; /* the reader of its input notices this as well */
            break;
        }
        o->at += (size_t)done;
    }
    if (o->pending.cap > OUTLET_KEPT)
        buf_done(&o->pending);
    buf_reset(&o->pending);
    o->at = 0;
}
