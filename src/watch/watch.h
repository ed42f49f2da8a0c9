/* A running scenario in the user's terminal: the program's screen, and the steps.
 *
 *     struct watch *l;
 *     if (!watch_open(&look, &l, err)) return false;        no terminal: a usage error
 *     job.cancel = watch_cancel(l);
 *     ...watch_output() and watch_progress() from the run's callbacks...
 *     watch_finish(l, &result);                             waits for a key
 *     watch_close(l);
 *
 * It has a separate thread and terminal emulator: a slow or stalled terminal does not delay the
 * run, whose timing is the same with and without it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "run/runner.h"

struct watch_look {
    const struct scenario *scenario;
    const char *name; /* name of the scenario, for users */
    bool colors;
    int signals; /* signalfd for SIGWINCH and signals that end the run */
};

struct watch;

MUST_USE bool watch_open(const struct watch_look *look, struct watch **ret_watch, struct err *err);

/* Restores the terminal. Accepts NULL. */
void watch_close(struct watch *l);

/* Readable when the run is to be canceled. */
int watch_cancel(const struct watch *l);

void watch_output(struct watch *l, struct str bytes);
void watch_progress(struct watch *l, const struct runner_progress *progress);

/* The run is over: shows its result until a key is pressed; returns at once if it was canceled. */
void watch_finish(struct watch *l, const struct exec_result *result);

#endif
