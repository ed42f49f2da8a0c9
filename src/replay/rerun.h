/* Checks a recording against a new run of the same command, step by step, regardless of the time
 * each step takes.
 *
 * A step's screen is recorded as soon as its assertions hold, possibly before the program has
 * finished drawing. So the new run gets some time to reach the recorded screen; and a screen also
 * counts as the same if the new run's output shows it after as many bytes as the recorded output.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_RERUN_H
#define REPLAY_RERUN_H

#include "base/id.h"
#include "record/artifacts.h"
#include "record/record_files.h"
#include "replay/replay_compare.h"
#include "run/scenario.h"
#include "sandbox/plan.h"

struct rerun_options {
    const struct record_files *files;
    const struct timeline *timeline;
    const struct normalization *n;
    const struct scenario *scenario; /* NULL: only a command */
    const struct confined *confined;
    struct artifacts *artifacts; /* of the new run */
    const char *run_id;          /* its id */
    int cancel;                  /* -1, or a signalfd that is readable when the run is to end */
};

/* Returns false if the command can't be run or compared, or was interrupted (E_CANCELED). */
MUST_USE bool rerun(const struct rerun_options *options, struct mismatch *m, struct err *err);

#endif
