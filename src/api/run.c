/* Scenarios and commands, run from start to end in one call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "run/result.h"

enum {
    TEXT_MAX = 64 * 1024,
};

/* Scenarios ----------------------------------------------------------------------------------- */

static void pass_progress(void *context, const struct runner_progress *now)
{
    const struct api_call *c = context;
    AUTO_BUF struct buf id = BUF_INIT(TEXT_MAX), name = BUF_INIT(TEXT_MAX);
    buf_add_str(&id, str_head(now->step->id, TEXT_MAX - 1));
    buf_add_str(&name, str_head(now->step->name, TEXT_MAX - 1));
    const struct cordon_progress progress = {
        .index = now->index,
        .count = c->n_steps,
        .step_id = buf_z(&id),
        .name = buf_z(&name),
        .status = now->begins ? NULL : step_status_name(now->status),
        .duration_ms = now->duration_ms,
        .error_code = now->error ? err_name(now->error->code) : NULL,
        .error_message = now->error ? now->error->message : NULL,
    };
    c->options.progress(c->options.context, &progress);
}

static bool api_run_scenario(
    struct api_call *c, const struct scenario *s, json_t **ret_json, struct err *err)
{
    const struct runner_options wish = {
        .cells = c->options.cells != 0,
        .cancel = api_cancel_fd(c),
        .progress = c->options.progress ? pass_progress : NULL,
        .output = api_output(c),
        .context = c,
    };
    struct runner_result result;
    const struct policy *given = c->p.given;
    prepare_scenario(&c->p, s);
    if (given) {
        c->p.given = given;
        c->p.author = CONSENT_USER;
    }
    c->n_steps = s->n_steps;
    if (!prepare_policy(&c->p, err) || !runner_check(s, &c->p.confined.policy, err) ||
        !prepare_run(&c->p, err) || !job_run(&c->p, s, &wish, &result, err))
        return false;
    job_run_end(&c->p, s, &result, ret_json);
    runner_result_done(&result);
    return true;
}

/* Reads the file, or the text if path is NULL. */
static struct cordon_result *call_scenario(const char *path, const char *text,
    const struct cordon_run_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct api_call c;
    struct scenario s = {0};
    json_t *json = NULL;
    bool ok = api_call_begin(&c, options, &err) &&
              (path ? scenario_load(path, &c.arena, &s, &err)
                    : scenario_parse(str_z(text), "scenario", &c.arena, &s, &err)) &&
              api_run_scenario(&c, &s, &json, &err);
    scenario_done(&s);
    api_call_done(&c);
    if (!ok)
        api_give_error(&err, error);
    return ok ? api_result_new(json) : NULL;
}

struct cordon_result *cordon_run_scenario(
    const char *text, const struct cordon_run_options *options, struct cordon_error *error)
{
    return call_scenario(NULL, text, options, error);
}

struct cordon_result *cordon_run_scenario_file(
    const char *path, const struct cordon_run_options *options, struct cordon_error *error)
{
    return call_scenario(path, NULL, options, error);
}

/* Commands ------------------------------------------------------------------------------------ */

static bool api_run_exec(
    struct api_call *c, const struct cordon_command *command, json_t **ret_json, struct err *err)
{
    struct cordon_command own;
    struct observed_exec done;
    if (!api_call_command(c, command, &own, err))
        return false;
    const struct exec_options wish = {
        .terminal = !own.pipes,
        .pipe_input = !own.pipes,
        .input = -1,
        .output = {-1, -1},
        .signals = -1,
        .cancel = api_cancel_fd(c),
        .rows = own.rows,
        .cols = own.cols,
        .seen = api_output(c),
        .context = c,
    };
    if (!prepare_policy(&c->p, err) || !prepare_run(&c->p, err) ||
        !job_exec(&c->p, &wish, true, &done, err))
        return false;
    job_exec_end(&c->p, &done, ret_json);
    observed_exec_done(&done);
    return true;
}

struct cordon_result *cordon_run_exec(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct api_call c;
    json_t *json = NULL;
    bool ok = api_call_begin(&c, options, &err) && api_run_exec(&c, command, &json, &err);
    api_call_done(&c);
    if (!ok)
        api_give_error(&err, error);
    return ok ? api_result_new(json) : NULL;
}
