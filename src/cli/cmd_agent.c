/* cordon agent: run an agent on one task, without interaction. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/event_json.h"
#include "chat/agent_view.h"
#include "cli/agent_opts.h"
#include "cli/cmds.h"
#include "cli/out.h"

struct agent_command {
    struct agent_options agent;
    struct opt_words images;
    const char *record;
};

struct agent_ctx {
    struct cli *cli;
    const char *record;
    struct agent_setup setup;
    struct agent_view view;
    bool has_view;
};

static bool start_view(struct agent_ctx *r, struct err *err)
{
    const struct agent_setup *s = &r->setup;
    const struct agent_view_options view = {
        .json = r->cli->json,
        .to_terminal = r->cli->to_terminal,
        .notes = out_notes(r->cli),
        .mask = &s->mask,
        .model = agent_setup_model(s),
        .cancel_fd = s->tools.options.signals,
        .asks = s->tools.options.approve.mode != APPROVE_NEVER,
    };
    agent_view_start(&r->view, &view);
    r->has_view = true;
    return !r->record ||
           transcript_open(r->record, provider_model(s->provider), &r->view.transcript, err);
}

static bool agent_run_task(struct agent_ctx *r, struct err *err)
{
    struct agent_setup *s = &r->setup;
    struct agent_outcome outcome;
    struct agent agent = agent_setup_agent(s);
    agent.tell = agent_view_tell;
    agent.context = &r->view;
    if (!start_view(r, err))
        return false;
    if (provider_is_default_script(s->provider))
        out_note(r->cli, "cordon: no API key found: answering from the built-in demo script");
    bool ok = agent_run(&agent, s->prompt, &outcome, err);
    if (!ok)
        err_ctx(err, "session_id", "%s", store_id(s->store));
    AUTO_ERR struct err late = {0};
    if (!transcript_close(r->view.transcript, &s->mask, &late) && ok)
        ok = err_move(err, &late);
    agent_view_stop(&r->view);
    r->has_view = false;
    if (ok && r->cli->json)
        ok = out_json(r->cli, event_json_done(store_id(s->store), &outcome), err);
    agent_outcome_done(&outcome);
    return ok;
}

/* With --json the last line always reports the outcome, unless an earlier line is incomplete. */
static bool put_error(struct agent_ctx *r, struct err *err)
{
    struct cli *cli = r->cli;
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
    const struct agent_command *o = args->options;
    struct agent_options options = o->agent;
    options.prompt.images = o->images.v;
    options.prompt.n_images = o->images.n;
    struct agent_ctx r = {
        .cli = cli,
        .record = o->record,
        .setup = AGENT_SETUP_INIT(cli->arena, &options, out_notices(cli)),
    };
    r.setup.wants_prompt = true;
    r.setup.on_retry = agent_view_retry;
    r.setup.retry_context = &r.view;
    bool ok = agent_setup_open(&r.setup, err) && agent_setup_prepare(&r.setup, err) &&
              agent_run_task(&r, err);
    ok = agent_setup_finish(&r.setup, ok, err);
    if (!ok && cli->json)
        ok = put_error(&r, err);
    if (r.has_view)
        agent_view_stop(&r.view);
    agent_setup_done(&r.setup);
    return ok;
}

static const struct opt agent_opts[] = {
    OPT_STRING("prompt", 'p', struct agent_command, agent.prompt.text, "TEXT", ARG_ANY,
        "the prompt; without it, or with -, the prompt is standard input; otherwise "
        "standard input is attached unless it is a terminal"),
    OPT_WORDS("image", 0, struct agent_command, images, "FILE",
        "attach an image: PNG, JPEG, GIF or WebP of at most 5 MiB"),
    OPT_STRING("record", 0, struct agent_command, record, "FILE", ARG_FILE,
        "write the model's answers to a script, for use with --script"),
    AGENT_OPTS(struct agent_command, agent),
    TOOL_SETUP_OPTS(struct agent_command, agent.tools),
};

static const struct opt_group agent_groups[] = {AGENT_GROUPS};

static const struct example agent_examples[] = {
    {"cordon agent -p 'why does make test fail?'", "run one task and print the answer"},
    {"git diff | cordon agent -p 'review this'", "attach standard input"},
    {"cordon agent --continue -p 'now fix it' --json", "resume, and print events as JSON"},
};

const struct cmd cmd_agent = {
    .name = "agent",
    .summary = "give a task to a model that works with tools",
    .about = "Sends the prompt to a model and runs the tools that it calls, until the model "
             "gives a final answer, which is written to standard output. Files and commands "
             "are subject to the same boundary as in 'cordon tool'.",
    .usage = "",
    CMD_OPTS(agent_opts, struct agent_command),
    CMD_GROUPS(agent_groups),
    CMD_EXAMPLES(agent_examples),
    .run = run_agent,
};
