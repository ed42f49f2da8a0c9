/* Non-blocking output to the user's terminal, which is restored if the program crashes.
 *
 *     struct outlet o = OUTLET_NONE;
 *     outlet_open(&o, STDOUT_FILENO);
 *     outlet_guard(&o, &tty, "\033[?25h");       restores the terminal
 *     buf_add_z(&o.pending, "hello");
 *     outlet_pump(&o);                           writes what fits; outlet_waits() if some is left
 *     outlet_close(&o, STR("\033[?25h"), true);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_OUTLET_H
#define TUI_OUTLET_H

#include "base/buf.h"
#include "io/tty.h"

enum {
    OUTLET_MAX = 256 << 20,
    OUTLET_KEPT = 256 << 10, /* bytes of memory kept when nothing is pending */
};

struct outlet {
    int fd;             /* -1: not open */
    bool own;           /* fd was opened here and must be closed */
    bool broken;        /* a write has failed */
    struct buf pending; /* the first `at` bytes are already written */
    size_t at;
};

#define OUTLET_NONE ((struct outlet){.fd = -1})

void outlet_open(struct outlet *o, int fd);

/* Only one guard can be active. `leave` must outlive it. */
void outlet_guard(const struct outlet *o, const struct tty *tty, const char *leave);

/* Writes `leave`, with a timeout of one second for a terminal that does not read. Pending output is
 * dropped, unless `all` is set: then it is written first, within the same timeout. */
void outlet_close(struct outlet *o, struct str leave, bool all);

bool outlet_waits(const struct outlet *o);
void outlet_pump(struct outlet *o);

#endif
