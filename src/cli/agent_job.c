/* Shared parts of the commands that run an agent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/agent_job.h"

#include "agent/catalog.h"
#include "agent/exchange.h"
#include "base/clock.h"
#include "cli/agent_box.h"
#include "io/nodump.h"
#include "llm/key_command.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

enum {
    TURNS_DEFAULT = 500,
};

/* Options ------------------------------------------------------------------------------------- */

static bool agent_job_check_options(struct agent_job *j, struct err *err)
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

/* Provider ------------------------------------------------------------------------------------ */

static const struct {
    const char *provider, *key, *base, *model;
} variables[] = {
    {"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"},
    {"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"},
};

static const char *agent_job_copy_text(struct cli *cli, struct str s)
{
    return s.p ? arena_strdup(cli->arena, s) : NULL;
}

static bool agent_job_env_is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

/* Precedence: option, environment variable, settings. The settings count only if they are for this
 * provider. */
static bool add_settings(struct agent_job *j, struct provider_options *p, struct err *err)
{
    const struct config *c = &j->config;
    if (p->script || (p->name && c->provider.p && !str_is(c->provider, p->name)))
        return true;
    p->name = p->name ? p->name : agent_job_copy_text(j->cli, c->provider);
    bool has_key = false, has_base = false, has_model = false;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (!p->name || strcmp(variables[i].provider, p->name) == 0) {
            has_key |= agent_job_env_is_set(variables[i].key);
            has_base |= agent_job_env_is_set(variables[i].base);
            has_model |= agent_job_env_is_set(variables[i].model);
        }
    if (!p->base_url && !has_base)
        p->base_url = agent_job_copy_text(j->cli, c->base_url);
    if (!p->model && !has_model)
        p->model = agent_job_copy_text(j->cli, c->model);
    bool wanted = p->name && strcmp(p->name, "scripted") != 0 && c->key_command.p && !has_key;
    return !wanted || key_command_run(agent_job_copy_text(j->cli, c->key_command), p->cancel_fd,
                          j->cli->arena, &p->key, err);
}

static bool open_provider(struct agent_job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    struct provider_options p = {
        .name = o->provider,
        .base_url = o->base_url,
        .model = j->model ? j->model : o->model,
        .script = o->script,
        .max_retries = (int)j->max_retries,
        .cancel_fd = j->bench.options.signals,
        .deadline_ms = j->deadline_ms,
        .on_retry = j->on_retry,
        .context = j->retry_context,
    };
    if (!add_settings(j, &p, err) || !provider_open(&p, &j->provider, err))
        return false;
    mask_add(&j->mask, provider_key(j->provider));
    return true;
}

bool agent_job_set_model(struct agent_job *j, struct str model, struct err *err)
{
    struct provider *old = j->provider;
    const char *before = j->model;
    j->model = arena_strdup(j->cli->arena, model);
    if (!open_provider(j, err)) {
        j->model = before;
        j->provider = old;
        return false;
    }
    provider_close(old);
    store_hide(j->store, provider_key(j->provider)); /* key_command may have returned another key */
    return true;
}

/* Session ------------------------------------------------------------------------------------- */

static bool create_session(struct agent_job *j, const char *dir, const char *path, struct err *err)
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

bool agent_job_new_session(struct agent_job *j, struct store **ret_store, struct err *err)
{
    struct store *now = j->store;
    const char *dir;
    bool ok = config_state_path(j->cli->arena, "sessions", &dir, err) &&
              create_session(j, dir, NULL, err);
    if (ok)
        *ret_store = j->store;
    j->store = now;
    return ok;
}

static bool continue_session(struct agent_job *j, const char *dir, struct err *err)
{
    struct str id;
    return catalog_latest(dir, str_z(j->bench.options.cwd), j->cli->arena, &id, err) &&
           store_open(dir, id.p, STORE_WRITE, &j->store, err);
}

static bool fork_session(struct agent_job *j, const char *dir, struct err *err)
{
    const char *id;
    size_t n;
    return exchange_parse_fork(j->options->fork, j->cli->arena, &id, &n, err) &&
           exchange_fork(dir, id, n, NULL, &j->store, err);
}

static bool agent_job_open_session(struct agent_job *j, struct err *err)
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
    if (!store_note_resumed(j->store, str_z(j->bench.options.cwd), err))
        return false;
    const json_t *notes = store_notes(j->store), *note;
    size_t i;
    json_array_foreach((json_t *)notes, i, note)
    {
        out_warn(j->cli, "%s: %s", store_id(j->store), json_string_value(note));
    }
    return true;
}

/* Opens the undo store, which keeps file versions replaced by tools. Not needed for a box, which
 * keeps its own changes. */
static bool open_undo(struct agent_job *j, struct err *err)
{
    const char *dir;
    if (j->remote)
        return true;
    if (!config_state_path(j->cli->arena, "undo", &dir, err))
        return false;
    j->undo = undo_new(dir, store_id(j->store), j->bench.options.journal_dir);
    j->bench.options.keeper = undo_keeper(j->undo);
    return true;
}

/* Closes the session. With drop_empty an empty one is deleted, unless the user gave its path. */
static bool leave_session(struct agent_job *j, struct err *err)
{
    AUTO_ERR struct err none = {0};
    const char *dir;
    bool ours = j->drop_empty && config_state_path(j->cli->arena, "sessions", &dir, &none) &&
                strcmp(store_path(j->store),
                    arena_printf(j->cli->arena, "%s/%s.jsonl", dir, store_id(j->store))) == 0;
    return (ours && store_drop_empty(j->store)) || store_finish(j->store, err);
}

bool agent_job_enter(struct agent_job *j, struct store *store, struct err *err)
{
    AUTO_ERR struct err none = {0};
    bool ok = leave_session(j, err) || err_wrap(err, "the session before this one");
    j->store = store;
    store_hide(j->store, provider_key(j->provider));
    ok = store_note_resumed(j->store, str_z(j->bench.options.cwd), ok ? err : &none) && ok;
    undo_free(j->undo);
    j->undo = NULL;
    j->bench.options.keeper = (struct toolbox_keeper){0};
    return open_undo(j, ok ? err : &none) && ok;
}

/* Context ------------------------------------------------------------------------------------- */

static void say_notes(struct agent_job *j, struct str notes)
{
    struct str line;
    while (str_cut(notes, '\n', &line, &notes))
        out_warn(j->cli, STR_FMT, STR_ARG(line));
}

static bool make_prompt(struct agent_job *j, struct err *err)
{
    AUTO_PROJECT struct project project = PROJECT_INIT;
    AUTO_BUF struct buf notes = BUF_INIT(CONTEXT_NOTES_MAX);
    if (!project_find(j->cli->arena, ".", &project, err))
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

/* A session keeps its original system prompt, unless --system is given, it is resumed in another
 * directory, or it was imported. */
static struct str prompt_to_use(const struct agent_job *j)
{
    struct str stored = store_text(j->store, "system_prompt"), cwd = store_text(j->store, "cwd");
    AUTO_JSON json_t *here = json_text(str_z(j->bench.options.cwd)); /* as stored in a session */
    bool elsewhere = cwd.p && !str_eq(cwd, json_str(here));
    bool own = stored.n && !elsewhere && !store_is_imported(j->store);
    return own && !j->options->system ? stored : buf_str(&j->prompt_text);
}

/* Published context windows in tokens; --context-window and the settings take precedence. */
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

static uint64_t window_of(const struct agent_job *j, const struct config_model *known)
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

/* Deadline ------------------------------------------------------------------------------------ */

/* Sends SIGTERM at the deadline, so that everything that waits for signals also stops then. */
static void start_timer(struct agent_job *j)
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

/* Job ----------------------------------------------------------------------------------------- */

static bool open_bench(struct agent_job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    if (o->box && !agent_box_open(j->cli, o->box, &j->remote, err))
        return false;
    if (!bench_open(j->cli, &o->bench, &j->bench, err))
        return false;
    j->bench.options.remote = j->remote;
    if (!o->box)
        bench_warn(&j->bench);
    return true;
}

bool agent_job_open(struct agent_job *j, struct err *err)
{
    const struct agent_options *o = j->options;
    nodump_set(); /* memory may hold a key from here on; this also protects the environment */
    if (!agent_job_check_options(j, err))
        return false;
    provider_prepare(&(struct provider_options){
        .name = o->provider, .base_url = o->base_url, .script = o->script});
    /* Read from pipes now, while signals still terminate the process. */
    return (!j->wants_prompt || agent_prompt(&o->prompt, &j->prompt, err)) &&
           agent_text(o->system, "--system", &j->system_text, &j->system, err) &&
           config_load_user(j->cli->arena, &j->config, err) && open_bench(j, err);
}

bool agent_job_session(struct agent_job *j, struct err *err)
{
    return j->store || (agent_job_open_session(j, err) && open_undo(j, err));
}

bool agent_job_prepare(struct agent_job *j, struct err *err)
{
    start_timer(j);
    if (open_provider(j, err) && make_prompt(j, err) &&
        (j->session_later || agent_job_session(j, err)))
        return true;
    if (err->code != E_CANCELED || !j->deadline_ms || clock_mono_ms() < j->deadline_ms)
        return false;
    err_set(err, E_TIMEOUT, "the time of --max-time-ms is up");
    return err_ctx(err, "budget", "time");
}

const struct config_model *agent_job_model(const struct agent_job *j)
{
    return config_find_model(&j->config, str_z(provider_model(j->provider)));
}

struct agent agent_job_agent(const struct agent_job *j)
{
    const struct agent_options *o = j->options;
    return (struct agent){
        .provider = j->provider,
        .box = j->bench.box,
        .store = j->store,
        .undo = j->undo,
        .request = {.system = prompt_to_use(j),
            .tools = j->tools,
            .max_tokens = (uint64_t)o->max_tokens,
            .temperature = j->temperature},
        .limits = {o->max_turns ? (uint64_t)o->max_turns : TURNS_DEFAULT,
            (uint64_t)o->max_total_tokens},
        .deadline_ms = j->deadline_ms,
        .window = window_of(j, agent_job_model(j)),
        .cancel_fd = j->bench.options.signals,
    };
}

bool agent_job_finish(struct agent_job *j, bool ok, struct err *err)
{
    AUTO_ERR struct err late = {0};
    if (j->store && !leave_session(j, &late) && ok)
        ok = err_move(err, &late);
    if (!ok)
        mask_err(&j->mask, err);
    return ok;
}

void agent_job_done(struct agent_job *j)
{
    if (j->has_timer)
        timer_delete(j->timer);
    if (j->bench.box)
        bench_done(&j->bench);
    remote_stop(j->remote);
    undo_free(j->undo);
    provider_close(j->provider);
    mask_done(&j->mask);
    buf_done(&j->system_text);
    buf_done(&j->prompt_text);
    json_decref(j->prompt);
    json_decref(j->tools);
}
