/* Runs prepared commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job.h"

#include "job/refused.h"
#include "repo/protect.h"
#include "run/run_result.h"

static struct result_input input_of(const struct prepared *p, const char *mode)
{
    return (struct result_input){.mode = mode, .confined = &p->confined, .argv = p->argv};
}

/* Writes the RunResult to the record, and returns it if requested. */
static void job_finish(struct prepared *p, const struct result_input *input, json_t **ret_json)
{
    if (!ret_json && !prepared_record(p))
        return;
    AUTO_JSON json_t *json = result_json(input);
    struct refused_hosts refused;
    refused_list(buf_str(&p->refused), p->arena, &refused);
    refused_add_json(&refused, json);
    if (p->protect)
        protect_add_json(p->protect, json);
    prepare_finish(p, json);
    if (ret_json)
        *ret_json = json_take(&json);
}

/* Scenarios ----------------------------------------------------------------------------------- */

void prepare_scenario(struct prepared *p, const struct scenario *s)
{
    const char **argv = ARENA_NEW(p->arena, const char *, s->args.n + 2);
    argv[0] = arena_strdup(p->arena, s->command);
    for (size_t i = 0; i < s->args.n; i++)
        argv[i + 1] = arena_strdup(p->arena, s->args.p[i]);
    p->argv = argv;
    p->given = s->has_policy ? &s->policy : NULL;
    p->author = CONSENT_SCENARIO;
    p->origin = s->dir;
    p->start = s->cwd;
}

static bool job_start_record(struct prepared *p, const struct scenario *s, struct err *err)
{
    if (!prepared_record(p))
        return true;
    AUTO_JSON json_t *scenario = scenario_json(s);
    return artifacts_put_json(&p->artifacts, "scenario.json", scenario, err);
}

bool job_run(struct prepared *p, const struct scenario *scenario,
    const struct runner_options *requested, struct runner_result *ret_result, struct err *err)
{
    struct runner_options options = *requested;
    options.scenario = scenario;
    options.confined = &p->confined;
    options.artifacts = prepared_record(p);
    bool ok = job_start_record(p, scenario, err) && runner_run(&options, ret_result, err);
    prepare_check(p);
    return ok;
}

void job_run_end(struct prepared *p, const struct scenario *scenario,
    const struct runner_result *result, json_t **ret_json)
{
    AUTO_JSON json_t *json = scenario_json(scenario);
    struct result_input input = input_of(p, "run");
    input.run_id = result->run_id;
    input.result = &result->run;
    input.scenario = json;
    input.steps = result->steps;
    input.observation = result->observation;
    job_finish(p, &input, ret_json);
}

/* Commands ------------------------------------------------------------------------------------ */

bool job_exec(struct prepared *p, const struct exec_options *requested, bool wants_result,
    struct observed_exec *ret_observed, struct err *err)
{
    struct exec_options exec = *requested;
    const struct observed_exec_options options = {
        .artifacts = prepared_record(p),
        .snapshot_max = p->confined.policy.budgets.max_snapshot_bytes,
        .screen = wants_result || prepared_record(p),
    };
    exec.confined = &p->confined;
    bool ok = observed_exec_run(&options, &exec, ret_observed, err);
    prepare_check(p);
    if (!ok || !options.screen)
        return ok;
    /* A failure becomes the run's error unless it already has one. */
    AUTO_ERR struct err error = {0};
    struct exec_result *result = &ret_observed->result;
    if (!observed_exec_take(ret_observed, OBSERVER_FULL, &error) && !result->error.code) {
        result->status = EXEC_ERRORED;
        err_move(&result->error, &error);
    }
    return true;
}

void job_exec_end(struct prepared *p, struct observed_exec *x, json_t **ret_json)
{
    struct result_input input = input_of(p, "exec");
    input.run_id = x->observer.run_id;
    input.result = &x->result;
    input.observation = x->observation;
    job_finish(p, &input, ret_json);
}

/* Sessions ------------------------------------------------------------------------------------ */

struct live_run_options job_live(struct prepared *p, uint16_t rows, uint16_t cols, int cancel)
{
    return (struct live_run_options){
        .observed = {&p->confined, rows, cols, cancel},
        .artifacts = prepared_record(p),
    };
}

void job_live_end(struct prepared *p, const struct live_result *result, json_t **ret_json)
{
    struct result_input input = input_of(p, "driver");
    prepare_check(p);
    input.run_id = result->run_id;
    input.result = &result->run;
    input.rows = result->rows;
    input.cols = result->cols;
    input.steps = result->steps;
    input.steps_cut = result->steps_cut;
    input.observation = result->observation;
    job_finish(p, &input, ret_json);
}
