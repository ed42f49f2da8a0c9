/* Agents and their conversations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "agent/agent_turn.h"
#include "agent/conversations.h"

enum {
    IMAGES_MAX = 1000,
};

static const struct api_shape options_shape = API_SHAPE(cordon_agent_options, context);
static const struct api_shape turn_shape = API_SHAPE(cordon_turn, cancel);

struct cordon_agent {
    struct arena arena;
    struct cordon_agent_options given;
    struct api_tools tools;
    struct agent_options options;
    struct agent_setup setup;
    struct event_stream events;
    struct api_tending tending;
};

static bool api_agent_event(void *context, const json_t *event)
{
    const struct cordon_agent *x = context;
    if (!x->given.event)
        return true;
    AUTO_BUF struct buf text = BUF_INIT(API_JSON_MAX);
    AUTO_JSON json_t *error = json_deep_copy(json_object_get(event, "error"));
    AUTO_JSON json_t *copy = error ? json_copy((json_t *)event) : NULL;
    if (error) {
        api_name_members_in(error, "message");
        json_put(copy, "error", json_incref(error));
    }
    json_add_compact(&text, copy ? copy : event);
    return x->given.event(x->given.context, buf_z(&text)) != 0;
}

/* Options ------------------------------------------------------------------------------------- */

static bool api_agent_check_number(
    const char *member, uint64_t value, uint64_t max, struct err *err)
{
    return value <= max ||
           err_set(err, E_CLI_INVALID_ARG, "struct cordon_agent_options: %s is larger than %llu",
               member, (unsigned long long)max);
}

static bool api_agent_check(const struct cordon_agent_options *o, struct err *err)
{
    bool known = !o->provider;
    for (size_t i = 0; !known && provider_names[i]; i++)
        known = strcmp(provider_names[i], o->provider) == 0;
    if (!known)
        return err_set(err, E_CLI_INVALID_ARG, "struct cordon_agent_options: invalid provider '%s'",
            o->provider);
    return api_agent_check_number("max_turns", o->max_turns, 1000 * 1000, err) &&
           api_agent_check_number("max_tokens", o->max_tokens, AGENT_TOKENS_MAX, err) &&
           api_agent_check_number(
               "max_total_tokens", o->max_total_tokens, UINT64_C(1) << 50, err) &&
           api_agent_check_number("context_window", o->context_window, AGENT_TOKENS_MAX, err);
}

static void api_agent_fill_in(struct cordon_agent *x)
{
    const struct cordon_agent_options *o = &x->given;
    struct arena *a = &x->arena;
    x->options = (struct agent_options){
        .tools = x->tools.setup,
        .provider = api_copy(a, o->provider),
        .model = api_copy(a, o->model),
        .base_url = api_copy(a, o->base_url),
        .script = api_copy(a, o->script),
        .session = api_copy(a, o->session),
        .fork = api_copy(a, o->fork),
        .go_on = o->latest != 0,
        .system = api_copy(a, o->system),
        .temperature = api_copy(a, o->temperature),
        .max_retries = api_copy(a, o->max_retries),
        .box = x->tools.options.box,
        .max_turns = (int64_t)o->max_turns,
        .max_tokens = (int64_t)o->max_tokens,
        .max_total_tokens = (int64_t)o->max_total_tokens,
        .context_window = (int64_t)o->context_window,
    };
}

/* Start and end ------------------------------------------------------------------------------- */

static bool api_agent_open(
    struct cordon_agent *x, const struct cordon_agent_options *options, struct err *err)
{
    if (!api_take(&options_shape, options, &x->given, err) || !api_agent_check(&x->given, err) ||
        !api_tools_take(&x->tools, &x->arena, x->given.tools, err) ||
        !api_tools_check_box(&x->tools.options, err))
        return false;
    api_agent_fill_in(x);
    x->setup = AGENT_SETUP_INIT(&x->arena, &x->options, x->tools.warnings);
    event_stream_init(&x->events, &x->setup.mask, api_agent_event, x);
    x->setup.on_retry = event_stream_retry;
    x->setup.retry_context = &x->events;
    bool ok = agent_setup_open(&x->setup, err) && agent_setup_prepare(&x->setup, err) &&
              api_tending_open(&x->tending, err);
    return ok || agent_setup_finish(&x->setup, false, err);
}

static void api_agent_done(struct cordon_agent *x)
{
    if (x->setup.arena)
        agent_setup_done(&x->setup);
    event_stream_done(&x->events);
    api_tending_close(&x->tending);
    api_tools_done(&x->tools);
    arena_done(&x->arena);
    free(x);
}

struct cordon_agent *cordon_agent_open(
    const struct cordon_agent_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct cordon_agent *x = base_alloc(sizeof(*x));
    x->arena = (struct arena)ARENA_INIT((size_t)API_ARENA_MAX);
    x->tools.host.interrupts = -1;
    x->tending = API_TENDING_NONE;
    if (api_agent_open(x, options, &err))
        return x;
    api_give_error(&err, error);
    api_agent_done(x);
    return NULL;
}

int cordon_agent_close(struct cordon_agent *x, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ok = agent_setup_finish(&x->setup, true, &err);
    api_agent_done(x);
    return api_return(ok, &err, error);
}

void cordon_agent_free(struct cordon_agent *x)
{
    if (x)
        (void)cordon_agent_close(x, NULL);
}

const char *cordon_agent_session(const struct cordon_agent *x)
{
    return store_id(x->setup.store);
}

const char *cordon_agent_model(const struct cordon_agent *x)
{
    return provider_model(x->setup.provider);
}

int cordon_agent_set_model(struct cordon_agent *x, const char *model, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ok = api_given("model", model, &err) &&
              (model[0] || err_set(&err, E_CLI_INVALID_ARG, "model must not be empty")) &&
              agent_setup_set_model(&x->setup, str_z(model), &err);
    if (!ok)
        mask_err(&x->setup.mask, &err);
    return api_return(ok, &err, error);
}

/* Turns --------------------------------------------------------------------------------------- */

static bool api_agent_turn(
    struct cordon_agent *x, const struct cordon_turn *given, json_t **ret_done, struct err *err)
{
    struct cordon_turn own;
    size_t n = 0;
    if (!api_take(&turn_shape, given, &own, err))
        return false;
    while (own.images && own.images[n] && n <= IMAGES_MAX)
        n++;
    if (n > IMAGES_MAX)
        return err_set(err, E_CLI_INVALID_ARG, "a prompt has at most %d images", IMAGES_MAX);
    const struct agent_turn turn = {
        .prompt = str_z(own.prompt),
        .images = own.images,
        .n_images = n,
        .max_time_ms = own.max_time_ms,
        .cancel = api_cancel_descriptor(own.cancel),
        .events = &x->events,
    };
    if (!api_cancel_check(own.cancel, err))
        return false;
    bool ok = agent_turn_run(&x->setup, &turn, ret_done, err);
    api_tending_update(&x->tending, x->setup.tools.box);
    return ok;
}

int cordon_agent_descriptor(const struct cordon_agent *x)
{
    return x->tending.set;
}

void cordon_agent_process(struct cordon_agent *x)
{
    api_tending_process(&x->tending, x->setup.tools.box);
}

char *cordon_agent_turn(
    struct cordon_agent *x, const struct cordon_turn *turn, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    json_t *done = NULL;
    bool ok = api_agent_turn(x, turn, &done, &err);
    return api_return_json(ok, done, &err, error);
}

/* Conversations ------------------------------------------------------------------------------- */

char *cordon_conversations(struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    struct catalog catalog;
    const char *dir;
    bool ok = conversations_dir(&a, &dir, &err) && catalog_load(dir, &a, &catalog, &err);
    return api_return_json(ok, ok ? conversations_list_json(&catalog) : NULL, &err, error);
}

char *cordon_conversation(const char *session, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    AUTO_STORE struct store *store = NULL;
    bool ok = api_given("session", session, &err) &&
              conversations_open(&a, session, (struct notices){0}, &store, &err);
    return api_return_json(ok, ok ? conversations_json(store) : NULL, &err, error);
}
