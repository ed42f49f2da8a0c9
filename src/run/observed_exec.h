/* A command run to its end, with its output, its events and its last screen observed.
 *
 *     struct observed_exec o;
 *     if (!observed_exec_run(&options, &exec, &o, err)) return false;
 *     bool kept = observed_exec_take(&o, OBSERVER_FULL, err);       o.observation
 *     observed_exec_done(&o);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_OBSERVED_EXEC_H
#define RUN_OBSERVED_EXEC_H

#include "run/observe.h"
#include "session/exec.h"

struct observed_exec_options {
    struct artifacts *artifacts; /* receives the record; may be NULL */
    const char *run_id;          /* NULL: a new one */
    uint64_t snapshot_max;       /* UINT64_MAX: none */
    bool screen;                 /* keep the screen, if it runs on a terminal */
};

struct observed_exec {
    struct observer observer;
    struct term *term; /* NULL: no screen */
    struct exec_result result;
    json_t *observation; /* NULL: not taken */
};

/* Returns false if the command could not be started. The output also goes to exec->seen; the other
 * callbacks are set here. The struct must not be moved afterwards. */
MUST_USE bool observed_exec_run(const struct observed_exec_options *options,
    const struct exec_options *exec, struct observed_exec *ret_observed, struct err *err);

/* Takes the only observation, and stores it with its screen if there is a record. Returns false if
 * the screen was over its budget or could not be written; the observation exists nevertheless. */
MUST_USE bool observed_exec_take(
    struct observed_exec *o, enum observer_screen how, struct err *err);

void observed_exec_done(struct observed_exec *o);

#endif
