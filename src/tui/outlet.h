/* The user's terminal as something to write to that never blocks, and that is given back if the
 * program crashes.
 *
 *     struct outlet o = OUTLET_NONE;
 *     outlet_open(&o, STDOUT_FILENO);
 *     outlet_guard(&o, &tty, "\033[?25h");       what gives it back
 *     buf_add_z(&o.pending, "hello");
 *     outlet_pump(&o);                           what the terminal takes now; outlet_waits(): not
 * all outlet_close(&o, STR("\033[?25h"));
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_OUTLET_H
#define TUI_OUTLET_H

#include "base/buf.h"
#include "io/tty.h"

enum {
    OUTLET_MAX = 256 << 20,
    OUTLET_KEPT = 256 << 10, /* bytes of memory when nothing waits */
};

struct outlet {
    int fd;             /* -1: not open */
    bool own;           /* not the descriptor that was given */
    bool broken;        /* nothing can be written to it any more */
    struct buf pending; /* what the terminal has not taken yet: `at` bytes of it are written */
    size_t at;
};

#define OUTLET_NONE ((struct outlet){.fd = -1})

void outlet_open(struct outlet *o, int fd);

/* There is one terminal, and one such guard. The words must live as long. */
void outlet_guard(const struct outlet *o, const struct tty *tty, const char *leave);

/* Last words, for which a terminal that does not read gets a second. What is pending is dropped,
 * unless there is time for it, too: `all`. */
void outlet_close(struct outlet *o, struct str leave, bool all);

bool outlet_waits(const struct outlet *o);
void outlet_pump(struct outlet *o);

#endif
