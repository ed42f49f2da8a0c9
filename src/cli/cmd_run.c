/* cordon run: a scenario, step by step. */
#include "base/clock.h"
#include "cli/cmds.h"
#include "cli/interrupt.h"
#include "cli/prepare.h"
#include "policy/preset.h"
#include "run/result.h"
#include "run/runner.h"
#include "sandbox/env.h"

struct run_options {
    struct prepare_options prepare;
    const char *scenario;
    bool verbose, cells;
};

struct run {
    struct cli *cli;
    const struct run_options *options;
    struct scenario scenario;
    struct prepared p;
};

/* Words --------------------------------------------------------------------------------------- */

static void say_screen(struct cli *cli, const struct err *error)
{
    const struct err_pair *screen = err_ctx_get(error, "screen");
    struct str line, rest = screen && screen->text ? str_z(screen->text) : STR("");
    if (rest.n)
        out_note(cli, "the screen was:");
    while (str_cut(rest, '\n', &line, &rest))
        out_note(cli, "  | " STR_FMT, STR_ARG(line));
}

/* One line for a step, when it has ended. */
static void progress(void *context, const struct runner_progress *now)
{
    struct run *r = context;
    if (now->begins || !r->options->verbose)
        return;
    out_note(r->cli, "%zu/%zu %-7s %6llu ms  " STR_FMT, now->index + 1, r->scenario.n_steps,
        step_status_name(now->status), (unsigned long long)now->duration_ms,
        STR_ARG(now->step->name));
}

static void summarize(struct run *r, const struct runner_result *result)
{
    size_t passed = 0, n = json_array_size(result->steps);
    for (size_t i = 0; i < n; i++) {
        const char *status =
            json_string_value(json_object_get(json_array_get(result->steps, i), "status"));
        passed += status && strcmp(status, "passed") == 0;
    }
    if (result->run.error.code) {
        say_screen(r->cli, &result->run.error);
        out_say_error(r->cli, &result->run.error);
    }
    if (!r->cli->json)
        out_line(r->cli, "%s: %zu of %zu steps passed, %llu ms",
            exec_status_name(result->run.status), passed, n,
            (unsigned long long)(result->run.ended_ms - result->run.started_ms));
}

/* Running ------------------------------------------------------------------------------------- */

static const char *const *make_argv(struct run *r)
{
    const struct scenario *s = &r->scenario;
    struct arena *a = r->cli->arena;
    const char **argv = ARENA_NEW(a, const char *, s->args.n + 2);
    argv[0] = arena_strdup(a, s->command);
    for (size_t i = 0; i < s->args.n; i++)
        argv[i + 1] = arena_strdup(a, s->args.p[i]);
    return argv;
}

static bool tell(struct run *r, const struct runner_result *result, struct err *err)
{
    AUTO_JSON json_t *scenario = scenario_json(&r->scenario);
    const struct result_input input = {
        .mode = "run",
        .run_id = result->run_id,
        .session_id = result->session_id,
        .verdict = &r->p.verdict,
        .plan = &r->p.plan,
        .argv = r->p.argv,
        .result = &result->run,
        .scenario = scenario,
        .steps = result->steps,
        .observation = result->observation,
    };
    summarize(r, result);
    r->cli->status = result->run.error.code ? err_status(result->run.error.code) : 0;
    if (!r->cli->json && r->p.artifacts.dir < 0)
        return true;
    AUTO_JSON json_t *json = result_json(&input);
    if (!prepare_finish(&r->p, json, err))
        return false;
    return !r->cli->json || out_json(r->cli, json_take(&json), err);
}

/* What is known before the command starts is written before it starts. */
static bool begin_record(struct run *r, struct err *err)
{
    if (r->p.artifacts.dir < 0)
        return true;
    AUTO_JSON json_t *scenario = scenario_json(&r->scenario),
                     *policy = policy_to_json(&r->p.policy);
    return artifacts_put_json(&r->p.artifacts, "policy.json", policy, err) &&
           artifacts_put_json(&r->p.artifacts, "scenario.json", scenario, err);
}

static bool run_job(struct run *r, struct err *err)
{
    sigset_t set;
    AUTO_FD int cancel = interrupt_open(false, &set);
    const struct runner_job job = {
        .scenario = &r->scenario,
        .verdict = &r->p.verdict,
        .plan = &r->p.plan,
        .argv = r->p.argv,
        .envp = env_make(&r->p.policy.env, (const char *const *)environ, r->cli->arena),
        .artifacts = r->p.artifacts.dir >= 0 ? &r->p.artifacts : NULL,
        .cells = r->options->cells,
        .cancel = cancel,
        .progress = progress,
        .context = r,
    };
    struct runner_result result;
    prepare_warn(&r->p);
    signal(SIGPIPE, SIG_IGN);
    bool ok = begin_record(r, err) && runner_run(&job, &result, err);
    if (ok) {
        ok = tell(r, &result, err);
        runner_result_done(&result);
    }
    interrupt_close(&set);
    return ok;
}

static bool run_scenario(struct cli *cli, const struct args *args, struct err *err)
{
    const struct run_options *options = args->options;
    const char *path = args->n ? args->v[0] : options->scenario;
    struct run r = {.cli = cli, .options = options};
    if (!path || (args->n && options->scenario))
        return err_set(err, E_CLI_INVALID_ARG, "name a scenario: a file, several, or a directory");
    if (!scenario_load(path, cli->arena, &r.scenario, err))
        return false;
    r.p = (struct prepared){
        .cli = cli,
        .options = &options->prepare,
        .argv = make_argv(&r),
        .given = r.scenario.has_policy ? &r.scenario.policy : NULL,
        .start = r.scenario.cwd,
    };
    bool ok = prepare_policy(&r.p, err);
    if (ok && options->prepare.explain)
        ok = prepare_explain(&r.p, err);
    else if (ok)
        ok = runner_check(&r.scenario, &r.p.policy, err) && prepare_run(&r.p, err) &&
             run_job(&r, err);
    prepared_done(&r.p);
    scenario_done(&r.scenario);
    return ok;
}

static const struct opt run_opts[] = {
    OPT_STRING("scenario", 0, struct run_options, scenario, "FILE", ARG_FILE,
        "the scenario; the same as naming it without this"),
    OPT_SET("verbose", 'v', struct run_options, verbose, "one line for each step on stderr"),
    OPT_SET("cells", 0, struct run_options, cells, "snapshots with every cell and its style"),
    PREPARE_OPTS(struct run_options),
    PREPARE_UNSAFE_OPTS(struct run_options),
};

static const struct example run_examples[] = {
    {"cordon run login.yaml", "run it; exit 5 if an assertion does not hold"},
    {"cordon run -v --artifacts out login.yaml", "with a line a step, and a record in out/"},
    {"cordon run --json login.yaml", "the RunResult"},
};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "run a scenario, and check what it shows",
    .about =
        "The scenario, JSON or YAML, names a command and steps; each has an action and what must "
        "hold "
        "after it. It is checked whole before the command starts. Every step ends as soon as its "
        "assertions hold, and fails when its time is up. Exit status: 0, 5 if an assertion does "
        "not "
        "hold, 4 for a time-out or a budget, 9 if the scenario is wrong.",
    .usage = "FILE",
    .min_args = 0,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(run_opts, struct run_options),
    CMD_EXAMPLES(run_examples),
    .run = run_scenario,
};
