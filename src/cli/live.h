/* A scenario while it runs, in the user's own terminal: what the program shows, and the steps.
 *
 *     struct live *l;
 *     if (!live_open(&look, &l, err)) return false;        no terminal: a usage error
 *     job.cancel = live_cancel(l);
 *     ...live_output() and live_progress() from the run's callbacks...
 *     live_finish(l, &result);                             waits until somebody has seen it
 *     live_close(l);
 *
 * It has a thread and an emulator of its own: a terminal that is slow, or not read at all, does
 * not hold the run up, and the run's time is the same with it and without.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "run/runner.h"

struct live_look {
    const struct scenario *scenario;
    const char *name; /* the scenario's, for people */
    bool colors;
    int signals; /* a signalfd: SIGWINCH, and those that end the run */
};

struct live;

MUST_USE bool live_open(const struct live_look *look, struct live **ret_live, struct err *err);

/* Gives the terminal back. Accepts NULL. */
void live_close(struct live *l);

/* Readable when the run is to end. */
int live_cancel(const struct live *l);

void live_output(struct live *l, struct str bytes);
void live_progress(struct live *l, const struct runner_progress *progress);

/* The run is over: shows how until a key is pressed; at once, if it was canceled. */
void live_finish(struct live *l, const struct exec_result *result);

#endif
