/* cordon agent: run an agent on one task, without interaction. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/agent_job.h"
#include "cli/cmds.h"

struct agent_ctx {
    struct agent_job job;
    struct agent_view view;
    bool has_view;
};

static bool start_view(struct agent_ctx *r, struct err *err)
{
    const struct agent_job *j = &r->job;
    const struct agent_view_options view = {
        .cli = j->cli,
        .mask = &j->mask,
        .model = agent_job_model(j),
        .cancel_fd = j->bench.options.signals,
        .asks = j->bench.options.approve.mode != APPROVE_NEVER,
    };
    agent_view_start(&r->view, &view);
    r->has_view = true;
    const char *record = j->options->record;
    return !record ||
           transcript_open(record, provider_model(j->provider), &r->view.transcript, err);
}

static bool put_done(
    const struct agent_job *j, const struct agent_outcome *outcome, struct err *err)
{
    if (!j->cli->json)
        return true;
    static const char *const keys[] = {"stop_reason", "raw_stop_reason"};
    json_t *done = json_object();
    json_put(done, "type", json_string("done"));
    json_put(done, "session_id", json_string(store_id(j->store)));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(outcome->answer, keys[i]);
        json_put(done, keys[i], value ? json_incref(value) : json_string(""));
    }
    json_put(done, "turns", json_integer((json_int_t)outcome->turns));
    json_put(done, "usage", usage_json(&outcome->usage));
    return out_json(j->cli, done, err);
}

static bool agent_run_job(struct agent_ctx *r, struct err *err)
{
    struct agent_job *j = &r->job;
    struct agent_outcome outcome;
    struct agent agent = agent_job_agent(j);
    agent.tell = agent_view_tell;
    agent.context = &r->view;
    if (!start_view(r, err))
        return false;
    if (provider_is_default_script(j->provider))
        out_note(
            j->cli, "cordon: no key is set: a script that comes with cordon answers, not a model");
    bool ok = agent_run(&agent, j->prompt, &outcome, err);
    if (!ok)
        err_ctx(err, "session_id", "%s", store_id(j->store));
    AUTO_ERR struct err late = {0};
    if (!transcript_close(r->view.transcript, &j->mask, &late) && ok)
        ok = err_move(err, &late);
    agent_view_stop(&r->view);
    r->has_view = false;
    ok = ok && put_done(j, &outcome, err);
    agent_outcome_done(&outcome);
    return ok;
}

/* With --json the last line always reports the outcome, unless an earlier line is incomplete. */
static bool put_error(struct agent_ctx *r, struct err *err)
{
    struct cli *cli = r->job.cli;
    json_t *event = json_object();
    json_put(event, "type", json_string("error"));
    json_put(event, "error", err_to_json(err));
    out_say_error(cli, err);
    cli->status = err_status(err->code);
    err_done(err);
    if (!r->view.broken)
        return out_json(cli, event, err);
    json_decref(event);
    return true;
}

static bool run_agent(struct cli *cli, const struct args *args, struct err *err)
{
    struct agent_ctx r = {.job = AGENT_JOB_INIT(cli, args->options)};
    r.job.wants_prompt = true;
    r.job.on_retry = agent_view_retry;
    r.job.retry_context = &r.view;
    bool ok =
        agent_job_open(&r.job, err) && agent_job_prepare(&r.job, err) && agent_run_job(&r, err);
    ok = agent_job_finish(&r.job, ok, err);
    if (!ok && cli->json)
        ok = put_error(&r, err);
    if (r.has_view)
        agent_view_stop(&r.view);
    agent_job_done(&r.job);
    return ok;
}

static const struct opt agent_opts[] = {
    OPT_STRING("prompt", 'p', struct agent_options, prompt.text, "TEXT", ARG_ANY,
        "what to do; without it, or with -, standard input is the prompt; with it, standard input "
        "that is no terminal is attached"),
    OPT_WORDS("image", 0, struct agent_options, prompt.images, "FILE",
        "attach an image: PNG, JPEG, GIF or WebP of at most 5 MiB"),
    AGENT_JOB_OPTS(struct agent_options),
    OPT_STRING("record", 0, struct agent_options, record, "FILE", ARG_FILE,
        "write what the model said as a script, to be played again with --script"),
    BENCH_OPTS(struct agent_options),
};

static const struct example agent_examples[] = {
    {"cordon agent -p 'why does make test fail?'", "one task, and its answer"},
    {"git diff | cordon agent -p 'review this'", "standard input is attached"},
    {"cordon agent --continue -p 'now fix it' --json", "goes on, and prints events"},
};

const struct cmd cmd_agent = {
    .name = "agent",
    .summary = "let a model work on a task with the tools",
    .about = "Asks a model, runs the tools that it calls, until it has an answer, which goes to "
             "stdout. Files and commands are inside the boundary that 'cordon tool' has.",
    .usage = "",
    CMD_OPTS(agent_opts, struct agent_options),
    CMD_EXAMPLES(agent_examples),
    .run = run_agent,
};
