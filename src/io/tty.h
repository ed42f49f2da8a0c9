/* The user's terminal: handing every key through, and giving it back as it was.
 *
 *     struct tty tty = TTY_NONE;
 *     tty_raw(&tty, STDIN_FILENO);
 *     ...
 *     tty_restore(&tty);                   also after a signal; does nothing the second time
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_TTY_H
#define IO_TTY_H

#include "base/base.h"

#include <termios.h>

struct tty {
    int fd; /* -1: not changed */
    struct termios saved;
};

#define TTY_NONE ((struct tty){.fd = -1})

struct tty_size {
    uint16_t rows, cols;
};

/* False if it is no terminal, or can't be changed. The second only lets output through as it is:
 * what comes from another terminal has its line ends already. */
bool tty_raw(struct tty *tty, int fd);
bool tty_raw_output(struct tty *tty, int fd);
void tty_restore(struct tty *tty);

/* The size, or 24 by 80 if it has none. */
struct tty_size tty_size(int fd);
void tty_resize(int fd, struct tty_size size);

#endif
