/* Terminal modes and sizes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/tty.h"

#include <sys/ioctl.h>

enum {
    DEFAULT_ROWS = 24,
    DEFAULT_COLS = 80,
};

static bool tty_make_raw(struct tty *tty, int fd, bool input)
{
    struct termios raw;
    if (tcgetattr(fd, &tty->saved) != 0)
        return false;
    raw = tty->saved;
    if (input)
        cfmakeraw(&raw);
    raw.c_oflag &= ~(tcflag_t)OPOST;
    if (tcsetattr(fd, TCSANOW, &raw) != 0)
        return false;
    tty->fd = fd;
    return true;
}

bool tty_raw(struct tty *tty, int fd)
{
    return tty_make_raw(tty, fd, true);
}

bool tty_raw_output(struct tty *tty, int fd)
{
    return tty_make_raw(tty, fd, false);
}

void tty_restore(struct tty *tty)
{
    if (tty->fd >= 0)
        tcsetattr(tty->fd, TCSANOW, &tty->saved);
    tty->fd = -1;
}

struct tty_size tty_size(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return (struct tty_size){DEFAULT_ROWS, DEFAULT_COLS};
    return (struct tty_size){size.ws_row, size.ws_col};
}

void tty_resize(int fd, struct tty_size size)
{
    const struct winsize now = {.ws_row = size.rows, .ws_col = size.cols};
    ioctl(fd, TIOCSWINSZ, &now);
}
