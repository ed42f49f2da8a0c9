/* The user's terminal: raw mode, and restoring the original settings.
 *
 *     struct tty tty = TTY_NONE;
 *     tty_raw(&tty, STDIN_FILENO);
 *     ...
 *     tty_restore(&tty);                   also after a signal; idempotent
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

/* Return false if fd is not a terminal or can't be changed. The second changes only output
 * processing: output of another terminal already has its line endings translated. */
bool tty_raw(struct tty *tty, int fd);
bool tty_raw_output(struct tty *tty, int fd);
void tty_restore(struct tty *tty);

/* The size, or 24 by 80 if the terminal has none. */
struct tty_size tty_size(int fd);
void tty_resize(int fd, struct tty_size size);

#endif
