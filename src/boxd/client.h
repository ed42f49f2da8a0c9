/* Client of a box's supervisor, over host/socket: attach, exec, stop. Only the owner of the
 * directory can connect; packets and their sizes are in boxd/link.h.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_CLIENT_H
#define BOXD_CLIENT_H

#include "box/box.h"

/* E_NOT_FOUND: no supervisor is listening. */
MUST_USE bool client_connect(const struct box *box, int *ret_fd, struct err *err);

enum client_end {
    CLIENT_DETACHED, /* Ctrl-] d */
    CLIENT_ENDED,    /* the agent exited */
    CLIENT_CUT,      /* the connection to the supervisor was lost */
};

struct client_look {
    struct str name; /* name of the box */
    bool colors;
    int signals; /* a signalfd: SIGWINCH and the terminating signals */
};

/* Shows the box on this terminal until detached or the agent exits. Redraws immediately at this
 * terminal's size; the box's output reaches the terminal only through the emulator. */
MUST_USE bool client_attach(
    int fd, const struct client_look *look, enum client_end *ret_end, struct err *err);

struct client_exec {
    const char *const *argv;  /* NULL-terminated */
    bool terminal;            /* stdin and stdout are a terminal: allocate one for the command */
    int input, output, error; /* input -1: no input */
    bool check_output;        /* output that cannot be written is E_IO */
    int signals;              /* a signalfd, whose signals are forwarded; or a set of
                                 io/interrupt.h, which ends the command; or -1 */
    /* Called with output of the stream 1 or 2 before it is written; -1 as `output` and `error`
     * discards it. Not with a terminal. May be NULL. */
    void (*seen)(void *context, int stream, struct str bytes);
    void *context;
    struct buf *denied; /* receives lines about what was denied to a command that failed; may be
                           NULL */
};

/* Runs a command in the box; *ret_status is a wait status as from waitpid(). E_NOT_FOUND with the
 * context "box": the supervisor exited before accepting the command; the caller may start
 * another. */
MUST_USE bool client_exec(int fd, const struct client_exec *exec, int *ret_status, struct err *err);

/* Asks the agent to exit, kills it after the grace period, returns when its processes are gone. */
MUST_USE bool client_stop(int fd, uint64_t grace_ms, struct err *err);

/* Stops the box and returns when none of its processes are left. *ret_ran tells whether it was
 * running. */
MUST_USE bool client_stop_box(
    const struct box *box, uint64_t grace_ms, bool *ret_ran, struct err *err);

/* Stops the box if it runs, and prevents it from being started until the lock is closed. */
MUST_USE bool client_halt(const struct box *box, int *ret_lock, struct err *err);

#endif
