/* Runs a scenario from start to end: each action once, then its assertions until they hold or the
 * step times out.
 *
 *     struct runner_options options = {.scenario = &s, .confined = &c, .cancel = -1};
 *     if (!runner_run(&options, &result, err)) ...it could not be started...
 *     runner_result_done(&result);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUNNER_H
#define RUN_RUNNER_H

#include "run/observe.h"
#include "run/scenario.h"
#include "session/exec.h"

enum step_status {
    STEP_PASSED,
    STEP_FAILED,  /* an assertion did not hold */
    STEP_ERRORED, /* a timeout, a budget or an internal error */
    STEP_SKIPPED, /* an earlier step did not pass */
};

const char *step_status_name(enum step_status status);

/* State of a step; valid during the call. */
struct runner_progress {
    size_t index; /* of the step */
    const struct step *step;
    bool begins; /* otherwise it has ended */
    enum step_status status;
    uint64_t duration_ms;
    const struct err *error; /* unless it passed */
    struct session *session;
};

struct runner_options {
    const struct scenario *scenario;
    const struct confined *confined;
    struct artifacts *artifacts; /* may be NULL */
    const char *run_id;          /* NULL: a new one */
    bool cells;                  /* in snapshots and observations */
    int cancel;                  /* -1, or a descriptor that is readable when the run is to end */
    /* May be NULL. */
    void (*progress)(void *context, const struct runner_progress *progress);
    void (*output)(void *context, struct str bytes);
    /* Called after a step that passed, before its screen is taken; may let the session run on. */
    void (*after)(void *context, struct session *session);
    void *context;
};

struct runner_result {
    struct exec_result run;
    char run_id[ID_SIZE], session_id[ID_SIZE];
    json_t *steps;       /* StepResults */
    json_t *observation; /* the last one */
    size_t goldens_written;
};

/* Whether the policy's budgets allow that many steps. Checked before anything is created. */
MUST_USE bool runner_check(
    const struct scenario *scenario, const struct policy *policy, struct err *err);

/* Returns false if the command could not be started. */
MUST_USE bool runner_run(
    const struct runner_options *options, struct runner_result *ret_result, struct err *err);
void runner_result_done(struct runner_result *r);

/* Adds the bytes that a step sent to its result, in printable form and truncated. */
void runner_put_sent(json_t *step, struct str sent);

/* Adds the screen and the unanswered queries to the error's context. */
void runner_blame_screen(struct session *s, struct err *err);

#endif
