/* Runs one command under its policy from start to end: relays its streams, enforces its budgets and
 * reports how it ended.
 *
 *     struct exec_options options = {.confined = &c, .input = -1, .signals = -1, .cancel = -1,
 *                                    .output = {STDOUT_FILENO, STDERR_FILENO}};
 *     if (!exec_run(&options, &result, err))
 *         ... it could not be started ...
 *     if (result.error.code)
 *         ... a budget, an interruption ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_EXEC_H
#define SESSION_EXEC_H

#include "session/confined.h"

struct exec_options {
    const struct confined *confined;
    struct world *world; /* run it there, in `cwd` and without input; NULL: in its own sandbox */
    const char *cwd;
    bool terminal;   /* run on a terminal; otherwise on pipes */
    bool pass_keys;  /* input is the user's terminal: raw, resized and stopped with the command */
    bool pipe_input; /* on a terminal, but with a pipe as standard input */
    int input;       /* -1: none */
    int output[2];   /* -1: discard; on a terminal only the first is used */
    int signals;     /* a signalfd or an interrupt_set_new(), or -1 */
    int cancel;      /* -1, or a descriptor that is readable when the run is to end; never read */
    uint16_t rows, cols;
    /* Called with the command's output up to the output budget. May be NULL. */
    void (*seen)(void *context, struct str bytes);
    /* Called when `ready_fd` is readable, for other work that must not wait until the end. May be
     * NULL. */
    void (*on_ready)(void *context);
    int ready_fd;
    /* Called for events other than those of the terminal. May be NULL. */
    void (*event)(void *context, const struct session_event *event);
    struct term *term; /* also gets the output, and answers the command's queries; may be NULL */
    void *context;
};

enum exec_status {
    EXEC_PASSED,
    EXEC_FAILED,   /* the command failed */
    EXEC_ERRORED,  /* a budget was exceeded, or an internal error */
    EXEC_CANCELED, /* interrupted */
};

struct exec_result {
    enum exec_status status;
    struct session_exit exit;
    uint64_t started_ms, ended_ms; /* by clock_mono_ms() */
    uint64_t output_bytes, input_bytes;
    bool output_closed; /* the reader of our output is gone */
    bool left;          /* in a world: processes of the command still have its output open */
    struct limiter_kept kept;
    pid_t session;    /* see process_session() */
    struct err error; /* set unless it passed; release with err_done() */
};

const char *exec_status_name(enum exec_status status);

/* Returns false if the command could not be started. Otherwise everything is in the result. */
MUST_USE bool exec_run(
    const struct exec_options *options, struct exec_result *ret_result, struct err *err);

#endif
