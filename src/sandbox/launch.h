/* Starts a command under a plan: no helper program, no setuid, one clone3().
 *
 *     if (!launch_start(&(struct launch){.plan = &plan, .argv = argv, .envp = env}, &child, err))
 *         return false;
 *     ... poll child.control, child.out, child.err, child.pidfd ...
 *     child_read_event(&child, &word, err);
 *     child_close(&child);
 *
 * A missing feature of the machine is E_SANDBOX_UNAVAILABLE with context {primitive, errno, found,
 * weaker, remedy}, and the command was not started. The child ends with the thread that started it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LAUNCH_H
#define SANDBOX_LAUNCH_H

#include "base/err.h"
#include "sandbox/denied.h"
#include "sandbox/limiter.h"
#include "sandbox/plan.h"
#include "sandbox/tmpdir.h"

struct launch {
    const struct plan *plan;
    const char *const *argv; /* ends in NULL */
    const char *const *envp; /* ends in NULL */
    bool terminal;           /* on its own terminal; otherwise pipes */
    bool pipe_input;         /* with a terminal: standard input is still a pipe */
    bool one_output;         /* with pipes: standard error is the pipe of standard output */
    uint16_t rows, cols;
    bool report_stops;     /* not if it serves */
    bool serves;           /* with child.service, see sandbox/service.h: then it does not end with
                              its command, but by child_kill(), by child_close(), and with us */
    bool idle;             /* only serve: without a command, terminal or pipes */
    bool held;             /* serve, and start the command at service_start() */
    struct denied *denied; /* collects what is denied, and must outlive the child; NULL: nothing */
};

struct child {
    const struct plan *plan; /* must outlive the child */
    pid_t pid;
    int pidfd;
    int control;
    int service;      /* -1: none */
    int proxy;        /* the listening socket for the proxy, if the plan has hosts; -1: none */
    int in, out, err; /* our ends; -1 for those that are on the terminal */
    int terminal;
    int hold; /* the terminal's other side: see child_read_event() */
    bool native;
    struct tmpdir tmp;         /* without mounts: deleted at the end */
    struct limiter limiter;    /* closed by child_close(); `kept` stays valid */
    struct listener *listener; /* NULL: none */
    bool listener_failed;      /* the listener gave up, and everything was killed */
    bool too_many; /* too many processes: all were killed, see sandbox/process_count.h */
};

#define CHILD_NONE               \
    ((struct child){.pidfd = -1, \
        .control = -1,           \
        .service = -1,           \
        .proxy = -1,             \
        .in = -1,                \
        .out = -1,               \
        .err = -1,               \
        .terminal = -1,          \
        .hold = -1,              \
        .limiter = LIMITER_NONE})

MUST_USE bool launch_start(const struct launch *launch, struct child *ret_child, struct err *err);

/* The way to limit processes that another attempt can do without, after a failure at this stage;
 * LIMITER_UNKNOWN: none. Pure. */
enum limiter_method launch_way_to_blame(const struct limiter *limiter, int stage);

/* Does everything except starting the command: can this machine carry out this plan? */
MUST_USE bool launch_rehearse(const struct plan *plan, struct err *err);

enum child_event_kind {
    CHILD_EXITED,  /* value: a wait status */
    CHILD_STOPPED, /* value: the signal; continues after child_continue() */
    CHILD_GONE,    /* it was killed with everything in it */
};

struct child_event {
    enum child_event_kind word;
    int value;
};

/* Waits for the next message on the control socket. A command that could not be started is an
 * error. The terminal does not hang up until the command has ended: it may close it, and open it
 * again by its name; after that the end of the output is final. */
MUST_USE bool child_read_event(struct child *child, struct child_event *ret_news, struct err *err);

/* Sets the error if the listener gave up, and everything was killed for it; after child_close(). */
MUST_USE bool child_check_listener(const struct child *child, struct err *err);

/* Adds the limit that a command was killed for to its error; that of memory only after
 * child_close(). */
void child_explain_kill(const struct child *child, struct err *err);

void child_continue(const struct child *child);

/* Asks everything in it to end: SIGTERM, and SIGHUP for an idle shell on a terminal, which ignores
 * SIGTERM. Processes that do not react continue. */
void child_terminate(const struct child *child);

/* Kills everything in it at once. */
void child_kill(const struct child *child);

/* Waits until nothing of it is left, and closes our file descriptors of it. */
void child_close(struct child *child);

#endif
