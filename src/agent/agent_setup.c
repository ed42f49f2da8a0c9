/* Shared parts of the commands that run an agent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_setup.h"

#include "agent/box_tools.h"
#include "agent/catalog.h"
#include "agent/conversations.h"
#include "agent/exchange.h"
#include "base/clock.h"
#include "io/nodump.h"
#include "llm/key_command.h"
#include "tool/tool_world.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

enum {
    TURNS_DEFAULT = 500,
};

/* Options ------------------------------------------------------------------------------------- */

static bool agent_setup_check_options(struct agent_setup *s, struct err *err)
{
    const struct agent_options *o = s->options;
    char *end = NULL;
    if (!!o->session + !!o->fork + o->go_on > 1)
        return err_set(
            err, E_CLI_INVALID_ARG, "--session, --continue and --fork cannot be combined");
    if (o->script && o->provider && strcmp(o->provider, "scripted") != 0)
        return err_set(err, E_CLI_INVALID_ARG, "--script requires --provider scripted");
    if (o->box && !box_tools_check(&o->tools, err))
        return false;
    s->temperature = -1;
    s->max_retries = -1;
    if (o->max_retries && !str_to_int(str_z(o->max_retries), 0, RETRY_MOST, &s->max_retries))
        return err_set(err, E_CLI_INVALID_ARG,
            "invalid value for --max-retries: expected a whole number from 0 to %d, not '%s'",
            RETRY_MOST, o->max_retries);
    if (!o->temperature)
        return true;
    s->temperature = strtod(o->temperature, &end);
    if (end == o->temperature || *end || !isfinite(s->temperature) || s->temperature < 0 ||
        s->temperature > 2)
        return err_set(err, E_CLI_INVALID_ARG,
            "invalid value '%s' for --temperature: expected a number from 0 to 2", o->temperature);
    return true;
}

/* Provider ------------------------------------------------------------------------------------ */

static const struct {
    const char *provider, *key, *base, *model;
} variables[] = {
    {"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"},
    {"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"},
};

static const char *agent_setup_copy_text(struct arena *a, struct str text)
{
    return text.p ? arena_strdup(a, text) : NULL;
}

static bool agent_setup_env_is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

/* Precedence: option, environment variable, settings. The settings count only if they are for this
 * provider. */
static bool agent_setup_add_settings(
    struct agent_setup *s, struct provider_options *p, struct err *err)
{
    const struct config *c = &s->config;
    if (p->script || (p->name && c->provider.p && !str_is(c->provider, p->name)))
        return true;
    p->name = p->name ? p->name : agent_setup_copy_text(s->arena, c->provider);
    bool has_key = false, has_base = false, has_model = false;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (!p->name || strcmp(variables[i].provider, p->name) == 0) {
            has_key |= agent_setup_env_is_set(variables[i].key);
            has_base |= agent_setup_env_is_set(variables[i].base);
            has_model |= agent_setup_env_is_set(variables[i].model);
        }
    if (!p->base_url && !has_base)
        p->base_url = agent_setup_copy_text(s->arena, c->base_url);
    if (!p->model && !has_model)
        p->model = agent_setup_copy_text(s->arena, c->model);
    bool wanted = p->name && strcmp(p->name, "scripted") != 0 && c->key_command.p && !has_key;
    const struct key_command key = {.line = agent_setup_copy_text(s->arena, c->key_command),
        .cancel_fd = p->cancel_fd,
        .hosted = s->tools.hosted};
    return !wanted || key_command_run(&key, s->arena, &p->key, err);
}

static bool agent_setup_open_provider(struct agent_setup *s, struct err *err)
{
    const struct agent_options *o = s->options;
    struct provider_options p = {
        .name = o->provider,
        .base_url = o->base_url,
        .model = s->model ? s->model : o->model,
        .script = o->script,
        .max_retries = (int)s->max_retries,
        .cancel_fd = s->tools.options.signals,
        .deadline_ms = s->deadline_ms,
        .on_retry = s->on_retry,
        .context = s->retry_context,
    };
    if (!agent_setup_add_settings(s, &p, err) || !provider_open(&p, &s->provider, err))
        return false;
    mask_add(&s->mask, provider_key(s->provider));
    return true;
}

bool agent_setup_set_model(struct agent_setup *s, struct str model, struct err *err)
{
    struct provider *old = s->provider;
    const char *before = s->model;
    s->model = arena_strdup(s->arena, model);
    if (!agent_setup_open_provider(s, err)) {
        s->model = before;
        s->provider = old;
        return false;
    }
    provider_close(old);
    store_hide(s->store, provider_key(s->provider)); /* key_command may have returned another key */
    return true;
}

/* Session ------------------------------------------------------------------------------------- */

static bool agent_setup_create_session(
    struct agent_setup *s, const char *dir, const char *path, struct err *err)
{
    struct store_spec spec = {
        .path = path,
        .system_prompt = buf_str(&s->prompt_text),
        .cwd = str_z(s->tools.options.cwd),
        .model = str_z(provider_model(s->provider)),
        .provider = str_z(provider_name(s->provider)),
        .hide = provider_key(s->provider),
    };
    return store_create(dir, &spec, &s->store, err);
}

bool agent_setup_new_session(struct agent_setup *s, struct store **ret_store, struct err *err)
{
    struct store *now = s->store;
    const char *dir;
    bool ok =
        conversations_dir(s->arena, &dir, err) && agent_setup_create_session(s, dir, NULL, err);
    if (ok)
        *ret_store = s->store;
    s->store = now;
    return ok;
}

static bool agent_setup_continue_session(struct agent_setup *s, const char *dir, struct err *err)
{
    struct str id;
    return catalog_latest(dir, str_z(s->tools.options.cwd), s->arena, &id, err) &&
           store_open(dir, id.p, STORE_WRITE, &s->store, err);
}

static bool agent_setup_fork_session(struct agent_setup *s, const char *dir, struct err *err)
{
    const char *id;
    size_t n;
    return exchange_parse_fork(s->options->fork, s->arena, &id, &n, err) &&
           exchange_fork(dir, id, n, NULL, &s->store, err);
}

static bool agent_setup_open_session(struct agent_setup *s, struct err *err)
{
    const struct agent_options *o = s->options;
    const char *dir;
    bool ok;
    if (!conversations_dir(s->arena, &dir, err))
        return false;
    if (o->go_on)
        ok = agent_setup_continue_session(s, dir, err);
    else if (o->fork)
        ok = agent_setup_fork_session(s, dir, err);
    else if (o->session && (!store_is_path(o->session) || store_is_there(o->session)))
        ok = store_open(dir, o->session, STORE_WRITE, &s->store, err);
    else
        ok = agent_setup_create_session(s, dir, o->session, err);
    if (!ok)
        return false;
    store_hide(s->store, provider_key(s->provider));
    if (!store_note_resumed(s->store, str_z(s->tools.options.cwd), err))
        return false;
    conversations_send_notes(s->store, s->warnings);
    return true;
}

/* Opens the undo store, which keeps file versions replaced by tools. Not needed for a box, which
 * keeps its own changes. */
static bool agent_setup_open_undo(struct agent_setup *s, struct err *err)
{
    const char *dir;
    if (s->remote)
        return true;
    if (!config_state_path(s->arena, "undo", &dir, err))
        return false;
    s->undo = undo_new(dir, store_id(s->store), s->tools.options.journal_dir);
    s->tools.options.backup = undo_backup(s->undo);
    return true;
}

/* Closes the session. With drop_empty an empty one is deleted, unless the user gave its path. */
static bool agent_setup_leave_session(struct agent_setup *s, struct err *err)
{
    AUTO_ERR struct err none = {0};
    const char *dir;
    bool ours = s->drop_empty && conversations_dir(s->arena, &dir, &none) &&
                strcmp(store_path(s->store),
                    arena_printf(s->arena, "%s/%s.jsonl", dir, store_id(s->store))) == 0;
    return (ours && store_drop_empty(s->store)) || store_finish(s->store, err);
}

bool agent_setup_enter(struct agent_setup *s, struct store *store, struct err *err)
{
    AUTO_ERR struct err none = {0};
    bool ok =
        agent_setup_leave_session(s, err) || err_wrap(err, "cannot close the previous session");
    s->store = store;
    store_hide(s->store, provider_key(s->provider));
    ok = store_note_resumed(s->store, str_z(s->tools.options.cwd), ok ? err : &none) && ok;
    undo_free(s->undo);
    s->undo = NULL;
    s->tools.options.backup = (struct toolbox_backup){0};
    return agent_setup_open_undo(s, ok ? err : &none) && ok;
}

/* Context ------------------------------------------------------------------------------------- */

static void agent_setup_send_notes(struct agent_setup *s, struct str notes)
{
    struct str line;
    while (str_cut(notes, '\n', &line, &notes))
        notice_send(s->warnings, STR_FMT, STR_ARG(line));
}

static bool agent_setup_make_prompt(struct agent_setup *s, struct err *err)
{
    AUTO_PROJECT struct project project = PROJECT_INIT;
    AUTO_BUF struct buf notes = BUF_INIT(CONTEXT_NOTES_MAX);
    if (!project_find(s->arena, s->tools.hosted ? s->tools.options.cwd : ".", &project, err))
        return false;
    const struct context_options context = {
        .system = s->system,
        .root = project.root.dir.p,
        .cwd = s->tools.options.cwd,
        .mode = s->tools.options.mode,
        .has_policy = s->tools.options.policy,
        .no_sandbox = s->tools.options.no_sandbox,
        .shared = tool_world_is_wanted(&s->tools.options),
        .box = s->options->box,
        .wall_ms = clock_wall_ms(),
    };
    if (!context_prompt(&context, &s->prompt_text, &notes, err))
        return false;
    agent_setup_send_notes(s, buf_str(&notes));
    s->specs = context_tools();
    return true;
}

/* A session keeps its original system prompt, unless --system is given, it is resumed in another
 * directory, or it was imported. */
static struct str agent_setup_prompt(const struct agent_setup *s)
{
    struct str stored = store_text(s->store, "system_prompt"), cwd = store_text(s->store, "cwd");
    AUTO_JSON json_t *here = json_text(str_z(s->tools.options.cwd)); /* as stored in a session */
    bool elsewhere = cwd.p && !str_eq(cwd, json_str(here));
    bool own = stored.n && !elsewhere && !store_is_imported(s->store);
    return own && !s->options->system ? stored : buf_str(&s->prompt_text);
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

static uint64_t agent_setup_window(const struct agent_setup *s, const struct config_model *known)
{
    struct str model = str_z(provider_model(s->provider));
    if (s->options->context_window)
        return (uint64_t)s->options->context_window;
    if (known && known->context_window)
        return known->context_window;
    for (size_t i = 0; i < ARRAY_LEN(windows); i++)
        if (str_starts_with(model, str_z(windows[i].start)))
            return windows[i].window;
    return 0;
}

/* Deadline ------------------------------------------------------------------------------------ */

/* Sends SIGTERM at the deadline, so that everything that waits for signals also stops then. */
static void agent_setup_start_timer(struct agent_setup *s)
{
    if (!s->options->max_time_ms || s->tools.hosted)
        return;
    uint64_t ms = (uint64_t)s->options->max_time_ms;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
    struct itimerspec once = {.it_value = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}};
    s->deadline_ms = clock_mono_ms() + ms;
    s->has_timer = sigismember(&s->tools.set, SIGTERM) == 1 &&
                   timer_create(CLOCK_MONOTONIC, &event, &s->timer) == 0;
    if (s->has_timer)
        timer_settime(s->timer, 0, &once, NULL);
}

/* Job ----------------------------------------------------------------------------------------- */

static bool agent_setup_open_tools(struct agent_setup *s, struct err *err)
{
    const struct agent_options *o = s->options;
    struct tool_setup_options wanted = o->tools;
    bool ok = true;
    if (o->box && wanted.host)
        ok = box_tools_start(s->arena, o->box, wanted.host->program, &wanted.dir, &s->remote, err);
    else if (o->box)
        ok = box_tools_open(s->arena, o->box, &s->remote, err);
    if (!ok || !tool_setup_open(s->arena, &wanted, s->warnings, &s->tools, err))
        return false;
    s->tools.options.remote = s->remote;
    if (!o->box)
        tool_setup_warn(&s->tools);
    return true;
}

bool agent_setup_open(struct agent_setup *s, struct err *err)
{
    const struct agent_options *o = s->options;
    /* Memory may hold a key from here on; this also protects the environment. A host decides this
     * for its own process. */
    if (!o->tools.host)
        nodump_set();
    if (!agent_setup_check_options(s, err))
        return false;
    provider_prepare(&(struct provider_options){
        .name = o->provider, .base_url = o->base_url, .script = o->script});
    /* Read from pipes now, while signals still terminate the process. */
    return (!s->wants_prompt || prompt_read(&o->prompt, &s->prompt, err)) &&
           prompt_read_system(o->system, o->tools.host != NULL, &s->system_text, &s->system, err) &&
           config_load_user(s->arena, &s->config, err) && agent_setup_open_tools(s, err);
}

bool agent_setup_session(struct agent_setup *s, struct err *err)
{
    return s->store || (agent_setup_open_session(s, err) && agent_setup_open_undo(s, err));
}

bool agent_setup_prepare(struct agent_setup *s, struct err *err)
{
    agent_setup_start_timer(s);
    if (agent_setup_open_provider(s, err) && agent_setup_make_prompt(s, err) &&
        (s->session_later || agent_setup_session(s, err)))
        return true;
    if (err->code != E_CANCELED || !s->deadline_ms || clock_mono_ms() < s->deadline_ms)
        return false;
    err_set(err, E_TIMEOUT, "timeout: --max-time-ms has elapsed");
    return err_ctx(err, "budget", "time");
}

const struct config_model *agent_setup_model(const struct agent_setup *s)
{
    return config_find_model(&s->config, str_z(provider_model(s->provider)));
}

struct agent agent_setup_agent(const struct agent_setup *s)
{
    const struct agent_options *o = s->options;
    return (struct agent){
        .provider = s->provider,
        .box = s->tools.box,
        .store = s->store,
        .undo = s->undo,
        .request = {.system = agent_setup_prompt(s),
            .tools = s->specs,
            .max_tokens = (uint64_t)o->max_tokens,
            .temperature = s->temperature},
        .limits = {o->max_turns ? (uint64_t)o->max_turns : TURNS_DEFAULT,
            (uint64_t)o->max_total_tokens},
        .deadline_ms = s->deadline_ms,
        .window = agent_setup_window(s, agent_setup_model(s)),
        .cancel_fd = s->tools.options.signals,
    };
}

bool agent_setup_finish(struct agent_setup *s, bool ok, struct err *err)
{
    AUTO_ERR struct err late = {0};
    if (s->store && !agent_setup_leave_session(s, &late) && ok)
        ok = err_move(err, &late);
    if (!ok)
        mask_err(&s->mask, err);
    return ok;
}

void agent_setup_done(struct agent_setup *s)
{
    if (s->has_timer)
        timer_delete(s->timer);
    if (s->tools.box)
        tool_setup_done(&s->tools);
    remote_stop(s->remote);
    undo_free(s->undo);
    provider_close(s->provider);
    mask_done(&s->mask);
    buf_done(&s->system_text);
    buf_done(&s->prompt_text);
    json_decref(s->prompt);
    json_decref(s->specs);
}
