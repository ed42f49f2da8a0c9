/* Complete runs, as started by commands and library calls: runs a prepared command, records it and
 * returns a RunResult.
 *
 *     prepare_scenario(&p, &scenario);
 *     if (prepare_policy(&p, err) && prepare_run(&p, err) &&
 *         job_run(&p, &scenario, &(struct runner_options){.cancel = -1}, &result, err))
 *         job_run_end(&p, &scenario, &result, &json);
 *
 * Fields of `requested` that the preparation determines are filled in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_JOB_H
#define JOB_JOB_H

#include "job/prepare.h"
#include "run/observed_exec.h"
#include "run/run_live.h"
#include "run/runner.h"

/* Takes over a scenario's command, policy and directory. */
void prepare_scenario(struct prepared *p, const struct scenario *scenario);

/* Runs a scenario. Returns false if it could not be started. */
MUST_USE bool job_run(struct prepared *p, const struct scenario *scenario,
    const struct runner_options *requested, struct runner_result *ret_result, struct err *err);

/* Completes the record and returns the RunResult, a new object, unless ret_json is NULL. An
 * incomplete record is reported as its error. */
void job_run_end(struct prepared *p, const struct scenario *scenario,
    const struct runner_result *result, json_t **ret_json);

/* Returns false if the command could not be started. Its `seen` gets the output. `wants_result`: a
 * RunResult is needed. */
MUST_USE bool job_exec(struct prepared *p, const struct exec_options *requested, bool wants_result,
    struct observed_exec *ret_observed, struct err *err);
void job_exec_end(struct prepared *p, struct observed_exec *x, json_t **ret_json);

/* Returns the parameters for live_open(), and ends a live session. */
struct live_run_options job_live(struct prepared *p, uint16_t rows, uint16_t cols, int cancel);
void job_live_end(struct prepared *p, const struct live_result *result, json_t **ret_json);

#endif
