/* Writes the RunResult. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_result.h"

#include "path/exact.h"
#include "sandbox/sandbox_report.h"

static json_t *args_json(const char *const *argv)
{
    json_t *list = json_array();
    for (size_t i = 1; argv[0] && argv[i]; i++)
        json_push(list, json_text(str_z(argv[i])));
    return list;
}

json_t *result_exit_json(const struct session_exit *e)
{
    json_t *object = json_object();
    json_put(object, "success", json_boolean(e->code == 0));
    json_put(object, "exit_code", e->code >= 0 ? json_integer(e->code) : json_null());
    json_put(object, "signal", e->signal ? json_integer(e->signal) : json_null());
    json_put(object, "terminated_by_harness", json_boolean(e->by_harness));
    return object;
}

static json_t *sandbox_json(const struct result_input *in)
{
    const struct confined *c = in->confined;
    json_t *report = report_json(&c->verdict, &c->plan, &in->result->kept);
    const char *gap = denied_gap(c->denied);
    if (gap)
        json_push(json_object_get(report, "gaps"), json_string(gap));
    return report;
}

json_t *result_json(const struct result_input *in)
{
    const struct exec_result *r = in->result;
    json_t *object = json_object();
    json_put(object, "run_result_version", json_integer(RUN_RESULT_VERSION));
    json_put(object, "protocol_version", json_integer(RUN_PROTOCOL_VERSION));
    json_put(object, "run_id", json_string(in->run_id));
    json_put(object, "mode", json_string(in->mode));
    json_put(object, "status", json_string(exec_status_name(r->status)));
    json_put(object, "started_at_ms", json_integer(0));
    json_put(object, "ended_at_ms", json_integer((json_int_t)(r->ended_ms - r->started_ms)));
    exact_put(object, "command", in->confined->verdict.command.given);
    if (!str_is(in->confined->verdict.command.given, in->argv[0]))
        exact_put(object, "argv0", str_z(in->argv[0]));
    json_put(object, "args", args_json(in->argv));
    exact_put(object, "cwd", in->confined->plan.cwd);
    json_put(object, "policy", policy_to_json(&in->confined->policy));
    json_put(object, "sandbox_report", sandbox_json(in));
    json_put(object, "denied",
        denied_json(
            in->confined->denied, &(struct denied_style){.home = in->confined->verdict.home.p}));
    if (in->scenario)
        json_put(object, "scenario", json_incref(in->scenario));
    if (in->rows) {
        json_t *size = json_object();
        json_put(size, "rows", json_integer(in->rows));
        json_put(size, "cols", json_integer(in->cols));
        json_put(object, "initial_size", size);
    }
    if (in->steps)
        json_put(object, "steps", json_incref(in->steps));
    if (in->steps_cut)
        json_put(object, "steps_cut", json_true());
    if (r->input_bytes)
        json_put(object, "input_bytes", json_integer((json_int_t)r->input_bytes));
    json_put(object, "final_observation", json_incref(in->observation));
    json_put(object, "exit_status", r->exit.known ? result_exit_json(&r->exit) : json_null());
    if (r->error.code)
        json_put(object, "error", err_to_json(&r->error));
    return object;
}
