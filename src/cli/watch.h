/* A scenario while it runs, in the user's own terminal: what the program shows, and the steps.
 *
 *     struct watch *l;
 *     if (!watch_open(&look, &l, err)) return false;        no terminal: a usage error
 *     job.cancel = watch_cancel(l);
 *     ...watch_output() and watch_progress() from the run's callbacks...
 *     watch_finish(l, &result);                             waits until somebody has seen it
 *     watch_close(l);
 *
 * It has a thread and an emulator of its own: a terminal that is slow, or not read at all, does
 * not hold the run up, and the run's time is the same with it and without.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "run/runner.h"

struct watch_look {
    const struct scenario *scenario;
    const char *name; /* the scenario's, for people */
    bool colors;
    int signals; /* a signalfd: SIGWINCH, and those that end the run */
};

struct watch;

MUST_USE bool watch_open(const struct watch_look *look, struct watch **ret_watch, struct err *err);

/* Gives the terminal back. Accepts NULL. */
void watch_close(struct watch *l);

/* Readable when the run is to end. */
int watch_cancel(const struct watch *l);

void watch_output(struct watch *l, struct str bytes);
void watch_progress(struct watch *l, const struct runner_progress *progress);

/* The run is over: shows how until a key is pressed; at once, if it was canceled. */
void watch_finish(struct watch *l, const struct exec_result *result);

#endif
