/* A recording against the same command, run again: step by step, whatever time each takes.
 *
 * A step's screen is recorded at once when its assertions hold, and the program may not be done
 * with it. So the new run is given a moment to come to the recorded screen; and a screen is the
 * same, too, if the new run's output shows it after as many bytes as the recorded one's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_RERUN_H
#define REPLAY_RERUN_H

#include "base/id.h"
#include "record/artifacts.h"
#include "replay/compare.h"
#include "replay/source.h"
#include "run/scenario.h"
#include "sandbox/plan.h"

struct rerun_job {
    const struct source *source;
    const struct points *points;
    const struct normalization *n;
    const struct scenario *scenario; /* NULL: a command alone */
    const struct verdict *verdict;
    const struct plan *plan;
    const char *const *argv, *const *envp;
    struct artifacts *artifacts; /* of the new run */
    const char *run_id;          /* its id */
    int cancel;                  /* -1, or what is readable when it is to end */
};

/* False if it can't be run or judged, or was interrupted (E_CANCELED). */
MUST_USE bool rerun(const struct rerun_job *job, struct mismatch *m, struct err *err);

#endif
