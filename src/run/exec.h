/* One command under its policy, from start to end: relays its streams, keeps its budgets, says how
 * it ended.
 *
 *     struct exec_job job = {.verdict = &v, .plan = &plan, .argv = argv, .envp = env,
 *         .input = -1, .output = {STDOUT_FILENO, STDERR_FILENO}, .signals = -1, .cancel = -1};
 *     if (!exec_run(&job, &result, err)) ...it could not be started...
 *     if (result.error.code) ...a budget, an interruption...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EXEC_H
#define RUN_EXEC_H

#include "base/err.h"
#include "sandbox/plan.h"
#include "session/session.h"

struct exec_job {
    const struct verdict *verdict;
    const struct plan *plan;
    const char *const *argv;
    const char *const *envp;
    bool terminal;   /* on a terminal; otherwise pipes */
    bool pass_keys;  /* the input is the user's terminal: raw, resized, stopped with the command */
    bool pipe_input; /* on a terminal: standard input is a pipe all the same */
    int input;       /* -1: none */
    int output[2];   /* -1: nowhere; a terminal uses the first */
    int signals;     /* a signalfd, or -1 */
    int cancel;      /* -1, or what is readable when it is to end; it is not read */
    uint16_t rows, cols;
    /* Sees every byte that the command writes; and what happens beside what its terminal tells. May
     * be NULL. */
    void (*seen)(void *context, struct str bytes);
    /* Something else that must not wait meanwhile: called when the descriptor is readable. May be
     * NULL. */
    void (*tend)(void *context);
    int tended;
    void (*event)(void *context, const struct session_event *event);
    struct term *term; /* gets it, too, and answers what the command asks; may be NULL */
    void *context;
};

enum exec_status {
    EXEC_PASSED,
    EXEC_FAILED,   /* the command's own failure */
    EXEC_ERRORED,  /* a budget, or something of ours */
    EXEC_CANCELED, /* interrupted */
};

struct exec_result {
    enum exec_status status;
    struct session_exit exit;
    uint64_t started_ms, ended_ms; /* since the process began to look at the clock */
    uint64_t output_bytes, input_bytes;
    bool output_closed; /* nobody reads what we pass on */
    struct limiter_kept kept;
    struct err error; /* unless it passed; for err_done() */
};

const char *exec_status_name(enum exec_status status);

/* False: it was not started. Otherwise the result says everything. */
MUST_USE bool exec_run(const struct exec_job *job, struct exec_result *ret_result, struct err *err);

#endif
