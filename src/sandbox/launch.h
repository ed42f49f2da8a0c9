/* Starting a command under a plan: no helper program, no setuid, one clone3().
 *
 *     if (!launch_start(&(struct launch){.plan = &plan, .argv = argv, .envp = env}, &child, err))
 *         return false;
 *     ... poll child.control, child.out, child.err, child.pidfd ...
 *     child_next(&child, &word, err);
 *     child_close(&child);
 *
 * What the machine lacks is E_SANDBOX_UNAVAILABLE with context {primitive, errno, found, remedy},
 * and the command was not started. The child ends with the thread that started it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LAUNCH_H
#define SANDBOX_LAUNCH_H

#include "base/err.h"
#include "sandbox/limiter.h"
#include "sandbox/plan.h"
#include "sandbox/tmpdir.h"

struct launch {
    const struct plan *plan;
    const char *const *argv; /* ends in NULL */
    const char *const *envp; /* ends in NULL */
    bool terminal;           /* on a terminal of its own; otherwise pipes */
    bool pipe_input;         /* with a terminal: standard input is a pipe all the same */
    uint16_t rows, cols;
    bool report_stops; /* not if it serves */
    bool serves;       /* child.service, see sandbox/service.h: then it does not end with its
                          command, but by child_kill(), by child_close(), and with us */
    bool idle;         /* it only serves: no command, terminal or pipes of its own */
    bool held;         /* it serves, and starts its command at service_start() */
};

struct child {
    const struct plan *plan; /* must live as long */
    pid_t pid;
    int pidfd;
    int control;
    int service;      /* -1: none */
    int in, out, err; /* our ends; of a terminal all is in `terminal`, and these are -1 */
    int terminal;
    int hold; /* the terminal's other side: see child_next() */
    bool native;
    struct tmpdir tmp;      /* without mounts: deleted at the end */
    struct limiter limiter; /* ends in child_close(); what is kept, and by what, stays known */
    bool too_many;          /* processes: they were killed, see sandbox/tally.h */
};

#define CHILD_NONE               \
    ((struct child){.pidfd = -1, \
        .control = -1,           \
        .service = -1,           \
        .in = -1,                \
        .out = -1,               \
        .err = -1,               \
        .terminal = -1,          \
        .hold = -1,              \
        .limiter = LIMITER_NONE})

MUST_USE bool launch_start(const struct launch *launch, struct child *ret_child, struct err *err);

/* Does all of it except starting the command: can this machine carry out this plan? */
MUST_USE bool launch_rehearse(const struct plan *plan, struct err *err);

enum child_word {
    CHILD_EXITED,  /* value: as waitpid() gives it */
    CHILD_STOPPED, /* value: the signal; goes on after child_continue() */
    CHILD_GONE,    /* it was killed with all that was in it */
};

struct child_news {
    enum child_word word;
    int value;
};

/* The next word on the control socket; waits for it. A command that could not be started is an
 * error. Until the command has ended its terminal does not: it may close it, and open it again by
 * its name; then the end of the output is the end. */
MUST_USE bool child_next(struct child *child, struct child_news *ret_news, struct err *err);

/* Adds to the error of a command that was killed the limit that it was killed for; of memory after
 * child_close() only. */
void child_blame(const struct child *child, struct err *err);

void child_continue(const struct child *child);

/* Asks everything in it to end: SIGTERM, and SIGHUP for an idle shell on a terminal, which ignores
 * the first. What does not listen goes on. */
void child_terminate(const struct child *child);

/* Ends everything in it, at once. */
void child_kill(const struct child *child);

/* Waits until nothing of it is left, and closes what we had of it. */
void child_close(struct child *child);

#endif
