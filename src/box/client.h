/* Talking to a box's supervisor, over host/socket: attach, exec, stop, size, the screen as text.
 * Only the owner of the directory reaches it; packets and their sizes are in box/link.h.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_CLIENT_H
#define BOX_CLIENT_H

#include "box/box.h"

/* E_NOT_FOUND: nobody listens there. */
MUST_USE bool client_connect(const struct box *box, int *ret_fd, struct err *err);

enum client_end {
    CLIENT_DETACHED, /* Ctrl-] d */
    CLIENT_ENDED,    /* the agent did */
    CLIENT_CUT,      /* the supervisor is gone */
};

struct client_look {
    struct str name; /* of the box */
    bool colors;
    int signals; /* a signalfd: SIGWINCH, and those that end it */
};

/* This terminal is the box's until it is detached or the agent ends. Redraws at once, at this
 * terminal's size; what a box prints never reaches it but through the emulator. */
MUST_USE bool client_attach(
    int fd, const struct client_look *look, enum client_end *ret_end, struct err *err);

struct client_exec {
    const char *const *argv;  /* ends in NULL */
    bool terminal;            /* stdin and stdout are one: the command gets its own */
    int input, output, error; /* input -1: none */
    int signals;              /* a signalfd, or -1 */
};

/* Runs a command in the box; *ret_status as waitpid() gives it. E_NOT_FOUND with the context "box":
 * the supervisor ended before it took the command, and another may be started. */
MUST_USE bool client_exec(int fd, const struct client_exec *exec, int *ret_status, struct err *err);

/* Asks the agent to end, kills it after the grace time, and returns when nothing of it is left. */
MUST_USE bool client_stop(int fd, uint64_t grace_ms, struct err *err);

#endif
