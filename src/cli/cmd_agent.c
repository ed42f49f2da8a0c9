/* cordon agent: a model at work, headless. */
#include "agent/catalog.h"
#include "agent/context.h"
#include "agent/exchange.h"
#include "base/clock.h"
#include "cli/agent_box.h"
#include "cli/agent_prompt.h"
#include "cli/agent_view.h"
#include "cli/bench.h"
#include "cli/cmds.h"
#include "cli/config.h"
#include "cli/key.h"
#include "llm/retry.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <time.h>

enum {
    TURNS_DEFAULT = 500,
    TOKENS_MAX = 1000 * 1000 * 1000,
};

struct agent_options {
    struct bench_options bench;
    struct prompt_options prompt;
    const char *provider, *model, *base_url, *script;
    const char *session, *fork, *system, *record, *temperature, *max_retries, *box;
    bool go_on;
    int64_t max_turns, max_tokens, max_total_tokens, max_time_ms, context_window;
};

/* All that a run needs, in the order in which it is made. */
struct job {
    struct cli *cli;
    const struct agent_options *options;
    struct config config;
    struct remote *remote; /* the tools of --box */
    struct bench bench;
    struct mask mask;
    struct agent_view view;
    struct provider *provider;
    struct store *store;
    struct buf system_text, prompt_text;
    struct str system; /* no value: cordon's own */
    json_t *prompt, *tools;
    uint64_t deadline_ms;
    timer_t timer;
    bool has_timer, has_view;
    double temperature;  /* negative: not given */
    int64_t max_retries; /* the same */
};

/* Options ------------------------------------------------------------------------------------- */

static bool check_options(struct job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    char *end = NULL;
    if (!!o->session + !!o->fork + o->go_on > 1)
        return err_set(
            err, E_CLI_INVALID_ARG, "--session, --continue and --fork exclude each other");
    if (o->script && o->provider && strcmp(o->provider, "scripted") != 0)
        return err_set(err, E_CLI_INVALID_ARG, "--script is for --provider scripted");
    if (o->box && !agent_box_check(&o->bench, err))
        return false;
    j->temperature = -1;
    j->max_retries = -1;
    if (o->max_retries && !str_to_int(str_z(o->max_retries), 0, RETRY_MOST, &j->max_retries))
        return err_set(err, E_CLI_INVALID_ARG, "--max-retries is a number from 0 to %d, not '%s'",
            RETRY_MOST, o->max_retries);
    if (!o->temperature)
        return true;
    j->temperature = strtod(o->temperature, &end);
    if (end == o->temperature || *end || !isfinite(j->temperature) || j->temperature < 0 ||
        j->temperature > 2)
        return err_set(err, E_CLI_INVALID_ARG, "--temperature is a number from 0 to 2, not '%s'",
            o->temperature);
    return true;
}

/* The provider -------------------------------------------------------------------------------- */

static const char *const provider_names[] = {"anthropic", "openai", "scripted", NULL};

static const struct {
    const char *provider, *key, *base, *model;
} variables[] = {
    {"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"},
    {"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"},
};

static const char *text_of(struct cli *cli, struct str s)
{
    return s.p ? arena_strdup(cli->arena, s) : NULL;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

/* An option counts first, then a variable, then the settings, as far as these are about this
 * provider. */
static bool add_settings(struct job *j, struct provider_options *p, struct err *err)
{
    const struct config *c = &j->config;
    if (p->script || (p->name && c->provider.p && !str_is(c->provider, p->name)))
        return true;
    p->name = p->name ? p->name : text_of(j->cli, c->provider);
    bool has_key = false, has_base = false, has_model = false;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (!p->name || strcmp(variables[i].provider, p->name) == 0) {
            has_key |= is_set(variables[i].key);
            has_base |= is_set(variables[i].base);
            has_model |= is_set(variables[i].model);
        }
    if (!p->base_url && !has_base)
        p->base_url = text_of(j->cli, c->base_url);
    if (!p->model && !has_model)
        p->model = text_of(j->cli, c->model);
    bool wanted = p->name && strcmp(p->name, "scripted") != 0 && c->key_command.p && !has_key;
    return !wanted || key_from_command(text_of(j->cli, c->key_command), p->cancel_fd, j->cli->arena,
                          &p->key, err);
}

static bool open_provider(struct job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    struct provider_options p = {
        .name = o->provider,
        .base_url = o->base_url,
        .model = o->model,
        .script = o->script,
        .max_retries = (int)j->max_retries,
        .cancel_fd = j->bench.options.signals,
        .deadline_ms = j->deadline_ms,
        .on_retry = agent_view_retry,
        .context = &j->view,
    };
    if (!add_settings(j, &p, err) || !provider_open(&p, &j->provider, err))
        return false;
    mask_add(&j->mask, provider_key(j->provider));
    return true;
}

/* The session --------------------------------------------------------------------------------- */

static bool create_session(struct job *j, const char *dir, const char *path, struct err *err)
{
    struct store_spec spec = {
        .path = path,
        .system_prompt = buf_str(&j->prompt_text),
        .cwd = str_z(j->bench.options.cwd),
        .model = str_z(provider_model(j->provider)),
        .provider = str_z(provider_name(j->provider)),
        .hide = provider_key(j->provider),
    };
    return store_create(dir, &spec, &j->store, err);
}

static bool continue_session(struct job *j, const char *dir, struct err *err)
{
    struct str id;
    return catalog_latest(dir, str_z(j->bench.options.cwd), j->cli->arena, &id, err) &&
           store_open(dir, id.p, STORE_WRITE, &j->store, err);
}

static bool fork_session(struct job *j, const char *dir, struct err *err)
{
    const char *id;
    size_t n;
    return exchange_parse_fork(j->options->fork, j->cli->arena, &id, &n, err) &&
           exchange_fork(dir, id, n, NULL, &j->store, err);
}

static bool open_session(struct job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    const char *dir;
    bool ok;
    if (!config_state_path(j->cli->arena, "sessions", &dir, err))
        return false;
    if (o->go_on)
        ok = continue_session(j, dir, err);
    else if (o->fork)
        ok = fork_session(j, dir, err);
    else if (o->session && (!store_is_path(o->session) || store_is_there(o->session)))
        ok = store_open(dir, o->session, STORE_WRITE, &j->store, err);
    else
        ok = create_session(j, dir, o->session, err);
    if (!ok)
        return false;
    store_hide(j->store, provider_key(j->provider));
    const json_t *notes = store_notes(j->store), *note;
    size_t i;
    json_array_foreach((json_t *)notes, i, note)
    {
        out_warn(j->cli, "%s: %s", store_id(j->store), json_string_value(note));
    }
    return true;
}

/* The context --------------------------------------------------------------------------------- */

static void say_notes(struct job *j, struct str notes)
{
    struct str line;
    while (str_cut(notes, '\n', &line, &notes))
        out_warn(j->cli, STR_FMT, STR_ARG(line));
}

static bool make_prompt(struct job *j, struct err *err)
{
    AUTO_PROJECT struct project project = PROJECT_INIT;
    AUTO_BUF struct buf notes = BUF_INIT(CONTEXT_NOTES_MAX);
    if (!project_find(j->cli, ".", &project, err))
        return false;
    const struct context_options context = {
        .system = j->system,
        .root = project.root.dir.p,
        .cwd = j->bench.options.cwd,
        .mode = j->bench.options.mode,
        .has_policy = j->bench.options.policy,
        .no_sandbox = j->bench.options.no_sandbox,
        .box = j->options->box,
        .wall_ms = clock_wall_ms(),
    };
    if (!context_prompt(&context, &j->prompt_text, &notes, err))
        return false;
    say_notes(j, buf_str(&notes));
    j->tools = context_tools();
    return true;
}

/* A session keeps the prompt that it began with, unless another one is given, or it goes on in
 * another directory. */
static struct str prompt_to_use(const struct job *j)
{
    struct str stored = store_text(j->store, "system_prompt"), cwd = store_text(j->store, "cwd");
    AUTO_JSON json_t *here = json_text(str_z(j->bench.options.cwd)); /* as a session has it */
    bool elsewhere = cwd.p && !str_eq(cwd, json_str(here));
    return stored.n && !j->options->system && !elsewhere ? stored : buf_str(&j->prompt_text);
}

/* How many tokens models take, as their services say; the settings and an option know better. */
static const struct {
    const char *start;
    uint64_t window;
} windows[] = {
    {"claude-", 200 * 1000},
    {"gpt-4o", 128 * 1000},
    {"gpt-4.1", 1000 * 1000},
    {"gpt-5", 400 * 1000},
    {"o3", 200 * 1000},
    {"o4", 200 * 1000},
};

static uint64_t window_of(const struct job *j, const struct config_model *known)
{
    struct str model = str_z(provider_model(j->provider));
    if (j->options->context_window)
        return (uint64_t)j->options->context_window;
    if (known && known->context_window)
        return known->context_window;
    for (size_t i = 0; i < ARRAY_LEN(windows); i++)
        if (str_starts_with(model, str_z(windows[i].start)))
            return windows[i].window;
    return 0;
}

/* Time ---------------------------------------------------------------------------------------- */

/* What waits for interruptions ends when the time is up, too: it comes as one. */
static void start_timer(struct job *j)
{
    if (!j->options->max_time_ms)
        return;
    uint64_t ms = (uint64_t)j->options->max_time_ms;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
    struct itimerspec once = {.it_value = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}};
    j->deadline_ms = clock_mono_ms() + ms;
    j->has_timer = sigismember(&j->bench.set, SIGTERM) == 1 &&
                   timer_create(CLOCK_MONOTONIC, &event, &j->timer) == 0;
    if (j->has_timer)
        timer_settime(j->timer, 0, &once, NULL);
}

/* The run ------------------------------------------------------------------------------------- */

static bool open_bench(struct job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    if (o->box && !agent_box_open(j->cli, o->box, &j->remote, err))
        return false;
    if (!bench_open(j->cli, &o->bench, &j->bench, err))
        return false;
    j->bench.options.remote = j->remote;
    return true;
}

static bool open_job(struct job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    if (!check_options(j, err))
        return false;
    provider_prepare(&(struct provider_options){
        .name = o->provider, .base_url = o->base_url, .script = o->script});
    /* What may come through a pipe is read while a signal still ends us. */
    return agent_prompt(&o->prompt, &j->prompt, err) &&
           agent_text(o->system, "--system", &j->system_text, &j->system, err) &&
           config_load_user(j->cli->arena, &j->config, err) && open_bench(j, err);
}

static bool prepare_job(struct job *j, struct err *err)
{
    start_timer(j);
    if (open_provider(j, err) && make_prompt(j, err) && open_session(j, err))
        return true;
    if (err->code != E_CANCELED || !j->deadline_ms || clock_mono_ms() < j->deadline_ms)
        return false;
    err_set(err, E_TIMEOUT, "the time of --max-time-ms is up");
    return err_ctx(err, "budget", "time");
}

static bool start_view(struct job *j, const struct config_model *known, struct err *err)
{
    const struct agent_view_options view = {
        .cli = j->cli,
        .mask = &j->mask,
        .model = known,
        .cancel_fd = j->bench.options.signals,
        .asks = j->bench.options.approve.mode != APPROVE_NEVER,
    };
    agent_view_start(&j->view, &view);
    j->has_view = true;
    const char *record = j->options->record;
    return !record ||
           transcript_open(record, provider_model(j->provider), &j->view.transcript, err);
}

static bool put_done(struct job *j, const struct agent_outcome *outcome, struct err *err)
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

static bool run_job(struct job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    const struct config_model *known =
        config_find_model(&j->config, str_z(provider_model(j->provider)));
    struct agent_outcome outcome;
    struct agent agent = {
        .provider = j->provider,
        .box = j->bench.box,
        .store = j->store,
        .request = {.system = prompt_to_use(j),
            .tools = j->tools,
            .max_tokens = (uint64_t)o->max_tokens,
            .temperature = j->temperature},
        .limits = {o->max_turns ? (uint64_t)o->max_turns : TURNS_DEFAULT,
            (uint64_t)o->max_total_tokens},
        .deadline_ms = j->deadline_ms,
        .window = window_of(j, known),
        .cancel_fd = j->bench.options.signals,
        .tell = agent_view_tell,
        .context = &j->view,
    };
    if (!start_view(j, known, err))
        return false;
    if (provider_is_default_script(j->provider))
        out_note(
            j->cli, "cordon: no key is set: a script that comes with cordon answers, not a model");
    bool ok = agent_run(&agent, j->prompt, &outcome, err);
    if (!ok)
        err_ctx(err, "session_id", "%s", store_id(j->store));
    AUTO_ERR struct err late = {0};
    if (!transcript_close(j->view.transcript, &j->mask, &late) && ok)
        ok = err_move(err, &late);
    agent_view_stop(&j->view);
    j->has_view = false;
    ok = ok && put_done(j, &outcome, err);
    agent_outcome_done(&outcome);
    return ok;
}

static void close_job(struct job *j)
{
    if (j->has_view)
        agent_view_stop(&j->view);
    if (j->has_timer)
        timer_delete(j->timer);
    if (j->bench.box)
        bench_done(&j->bench);
    remote_stop(j->remote);
    provider_close(j->provider);
    mask_done(&j->mask);
    buf_done(&j->system_text);
    buf_done(&j->prompt_text);
    json_decref(j->prompt);
    json_decref(j->tools);
}

/* With --json the last line says how it ended, whatever happened, unless one before it is torn. */
static bool put_error(struct job *j, struct err *err)
{
    json_t *event = json_object();
    json_put(event, "type", json_string("error"));
    json_put(event, "error", err_to_json(err));
    out_say_error(j->cli, err);
    j->cli->status = err_status(err->code);
    err_done(err);
    if (!j->view.broken)
        return out_json(j->cli, event, err);
    json_decref(event);
    return true;
}

static bool run_agent(struct cli *cli, const struct args *args, struct err *err)
{
    struct job j = {
        .cli = cli,
        .options = args->options,
        .bench = BENCH_INIT,
        .system_text = BUF_INIT(2 * PROMPT_MAX),
        .prompt_text = BUF_INIT(CONTEXT_PROMPT_MAX),
    };
    bool ok = open_job(&j, err) && prepare_job(&j, err) && run_job(&j, err);
    AUTO_ERR struct err late = {0};
    if (j.store && !store_finish(j.store, &late) && ok)
        ok = err_move(err, &late);
    if (!ok)
        mask_err(&j.mask, err);
    if (!ok && cli->json)
        ok = put_error(&j, err);
    close_job(&j);
    return ok;
}

static const struct opt agent_opts[] = {
    OPT_STRING("prompt", 'p', struct agent_options, prompt.text, "TEXT", ARG_ANY,
        "what to do; without it, or with -, standard input is the prompt; with it, standard input "
        "that is no terminal is attached"),
    OPT_WORDS("image", 0, struct agent_options, prompt.images, "FILE",
        "attach an image: PNG, JPEG, GIF or WebP of at most 5 MiB"),
    OPT_ONE_OF("provider", 0, struct agent_options, provider, "NAME", provider_names,
        "anthropic, openai (any server that speaks Chat Completions) or scripted; default: by the "
        "key that is set, or scripted"),
    OPT_STRING("model", 0, struct agent_options, model, "NAME", ARG_ANY, "which model answers"),
    OPT_STRING("base-url", 0, struct agent_options, base_url, "URL", ARG_ANY,
        "where the service is, such as http://127.0.0.1:8080/v1"),
    OPT_STRING("script", 0, struct agent_options, script, "FILE", ARG_FILE,
        "what the scripted provider says; default: a script that comes with cordon"),
    OPT_STRING("session", 0, struct agent_options, session, "FILE|ID", ARG_FILE,
        "go on with this session; a file that is not there is made"),
    OPT_SET("continue", 0, struct agent_options, go_on,
        "go on with the newest session of this directory"),
    OPT_STRING("fork", 0, struct agent_options, fork, "ID@N", ARG_ANY,
        "start a new session with the first N messages of another; without @N with all"),
    OPT_STRING("system", 0, struct agent_options, system, "TEXT", ARG_ANY,
        "the system prompt, or @FILE, instead of cordon's own; the project's AGENTS.md files and a "
        "few facts are added to either"),
    OPT_INT("max-turns", 0, struct agent_options, max_turns, "N", 1, 1000 * 1000,
        "how often the model may be asked; default: 500"),
    OPT_INT("max-tokens", 0, struct agent_options, max_tokens, "N", 0, TOKENS_MAX,
        "how long one answer may be; 0 or not given: what the provider takes for it"),
    OPT_INT("max-total-tokens", 0, struct agent_options, max_total_tokens, "N", 1, INT64_C(1) << 50,
        "after so many tokens of all requests and answers the model is not asked again"),
    OPT_INT("max-time-ms", 0, struct agent_options, max_time_ms, "N", 1, 7 * 86400 * 1000,
        "how long it may take in all"),
    OPT_STRING("max-retries", 0, struct agent_options, max_retries, "N", ARG_ANY,
        "how often a request that failed is tried again; default: 4"),
    OPT_INT("context-window", 0, struct agent_options, context_window, "N", 1, TOKENS_MAX,
        "how many tokens the model takes: when they are nearly used up, the conversation goes on "
        "with a summary; default: by the settings, or what is known of the model"),
    OPT_STRING("temperature", 0, struct agent_options, temperature, "F", ARG_ANY,
        "from 0 to 2; default: the provider's"),
    OPT_STRING("record", 0, struct agent_options, record, "FILE", ARG_FILE,
        "write what the model said as a script, to be played again with --script"),
    OPT_STRING("box", 0, struct agent_options, box, "NAME", ARG_BOX,
        "work in this box: files and commands are the box's, its project is the working directory"),
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
