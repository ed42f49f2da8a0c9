/* Runs as a whole, as commands and library calls start them: what was prepared is run, recorded,
 * and told as a RunResult.
 *
 *     prepare_scenario(&p, &scenario);
 *     if (prepare_policy(&p, err) && prepare_run(&p, err) &&
 *         job_run(&p, &scenario, &(struct runner_job){.cancel = -1}, &result, err))
 *         job_run_end(&p, &scenario, &result, &json);
 *
 * Of what is given as a wish, all that the preparation knows is filled in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_JOB_H
#define JOB_JOB_H

#include "job/prepare.h"
#include "run/live.h"
#include "run/runner.h"

/* A scenario's command, policy and directory. */
void prepare_scenario(struct prepared *p, const struct scenario *scenario);

/* A scenario. False: it was not started. */
MUST_USE bool job_run(struct prepared *p, const struct scenario *scenario,
    const struct runner_job *wish, struct runner_result *ret_result, struct err *err);

/* Ends the record and gives the RunResult, a new object, if somebody wants it. A record that is not
 * whole is its error. */
void job_run_end(struct prepared *p, const struct scenario *scenario,
    const struct runner_result *result, json_t **ret_json);

/* One command. */
struct job_exec {
    struct observer observer;
    struct term *term; /* NULL: pipes, or nobody wants to see it */
    struct exec_result result;
    json_t *observation; /* NULL: nobody wants one */
};

/* False: it was not started. The wish's `seen` gets what it prints. `told`: somebody will want the
 * RunResult. */
MUST_USE bool job_exec(struct prepared *p, const struct exec_job *wish, bool told,
    struct job_exec *ret_exec, struct err *err);
void job_exec_end(struct prepared *p, struct job_exec *x, json_t **ret_json);
void job_exec_done(struct job_exec *x);

/* A live session: what live_open() needs, and the end of one. */
struct live_job job_live(struct prepared *p, uint16_t rows, uint16_t cols, int cancel);
void job_live_end(struct prepared *p, const struct live_result *result, json_t **ret_json);

#endif
