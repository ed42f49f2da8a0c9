/* The part of the program in the sandbox for tests that look at a screen. See child.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    NAPS = 50,
};

/* For a while no process has the terminal open; then it is opened by its names. */
int do_reopen(char **args)
{
    (void)args;
    char name[64];
    if (!ttyname(1) || snprintf(name, sizeof name, "%s", ttyname(1)) >= (int)sizeof name)
        return fail("ttyname");
    say("before\n");
    for (int round = 0; round < 2; round++) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        for (int i = 0; i < NAPS; i++)
            nap();
        for (int fd = 0; fd < 3; fd++)
            if (open(round ? name : "/dev/tty", O_RDWR) != fd)
                return 1;
        say(round ? "by its name\n" : "by /dev/tty\n");
    }
    return 7;
}

/* Sets the terminal's size by ioctl(), and requests it by a control sequence. */
int do_resize(char **args)
{
    (void)args;
    const struct winsize size = {.ws_row = 10, .ws_col = 40};
    if (ioctl(1, TIOCSWINSZ, &size) != 0)
        return fail("TIOCSWINSZ");
    say("\033[8;12;50tresized\n");
    return 0;
}

/* Prints this many bytes in numbered lines, as fast as they are read. */
int do_lines(char **args)
{
    static char block[BLOCK];
    long long max = number(args[0]), done = 0;
    for (long long line = 0; done < max;) {
        size_t n = 0;
        while (n + 32 < sizeof block && done + (long long)n < max)
            n += (size_t)snprintf(block + n, 32, "line %lld\n", line++);
        if (put_bytes(block, n, (long long)n) != 0)
            return 1;
        done += (long long)n;
    }
    say("the end\n");
    return 0;
}
