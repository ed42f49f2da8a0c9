/* Attempts on the caller's terminal, by every descriptor that is a terminal and by /dev/tty, or by
 * the given path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

enum {
    TIOCLINUX_CALL = 0x541C,
    FDS = 8
};

static int ttys[FDS + 1], ttys_n;

/* Finds the terminals: descriptors 0 to 7, and the path. */
static void find_ttys(const char *path)
{
    ttys_n = 0;
    for (int fd = 0; fd < FDS; fd++)
        if (isatty(fd))
            ttys[ttys_n++] = fd;
    int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        got("open");
    else
        ttys[ttys_n++] = fd;
    printf("terminals %d\n", ttys_n);
    fflush(stdout);
}

/* inject PATH REQUEST TEXT: TIOCSTI, or a number that the kernel takes for it */
static void do_inject(int argc, char **argv)
{
    (void)argc;
    find_ttys(argv[0]);
    for (int i = 0; i < ttys_n; i++)
        for (const char *c = argv[2]; *c; c++)
            if (!report("inject", syscall(SYS_ioctl, ttys[i], number(argv[1]), c)))
                break;
}

/* tioclinux PATH SUBCODE */
static void do_tioclinux(int argc, char **argv)
{
    (void)argc;
    find_ttys(argv[0]);
    char code[16] = {(char)number(argv[1])};
    for (int i = 0; i < ttys_n; i++)
        report("tioclinux", ioctl(ttys[i], TIOCLINUX_CALL, code));
}

/* size PATH: another size for the window */
static void do_size(int argc, char **argv)
{
    (void)argc;
    const struct winsize size = {7, 9, 0, 0};
    find_ttys(argv[0]);
    for (int i = 0; i < ttys_n; i++)
        report("winsize", ioctl(ttys[i], TIOCSWINSZ, &size));
}

/* modes PATH: leaves the terminal in an unusable state */
static void do_modes(int argc, char **argv)
{
    (void)argc;
    find_ttys(argv[0]);
    for (int i = 0; i < ttys_n; i++) {
        struct termios modes;
        if (tcgetattr(ttys[i], &modes) < 0)
            continue;
        modes.c_lflag ^= ICANON | ISIG;
        modes.c_oflag ^= OPOST;
        modes.c_cc[VINTR] = 'q';
        report("tcsetattr", tcsetattr(ttys[i], TCSANOW, &modes));
    }
}

/* steal PATH: makes it our controlling terminal, and ourselves its foreground */
static void do_steal(int argc, char **argv)
{
    (void)argc;
    setsid();
    int fd = open(argv[0], O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        got("open");
        return;
    }
    report("sctty", ioctl(fd, TIOCSCTTY, 1));
    signal(SIGTTOU, SIG_IGN);
    report("tcsetpgrp", tcsetpgrp(fd, getpgrp()));
}

/* bytes HEX: writes these bytes to the output unchanged, and a line break */
static void do_bytes(int argc, char **argv)
{
    (void)argc;
    for (const char *h = argv[0]; h[0] && h[1]; h += 2) {
        const char pair[3] = {h[0], h[1], 0};
        putchar((int)strtoul(pair, NULL, 16));
    }
    putchar('\n');
    fflush(stdout);
}

const struct attempt probe_tty[] = {
    {"inject", 3, do_inject},
    {"tioclinux", 2, do_tioclinux},
    {"size", 1, do_size},
    {"modes", 1, do_modes},
    {"steal", 1, do_steal},
    {"bytes", 1, do_bytes},
    {0},
};
