/* Sessions, driven call by call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum {
    ARENA_MAX = 64 << 20,
    WAIT_MS = 5000, /* default timeout of a wait action */
};

struct cordon_session {
    struct api_call call;
    struct live live;
    struct api_watch watch;
    uint64_t seen; /* session_changes() at the last cordon_session_process() or observation */
    bool finished;
};

static void api_session_update(struct cordon_session *s)
{
    api_watch_update(&s->watch, s->live.session);
}

static int api_session_return(
    struct cordon_session *s, bool ok, struct err *err, struct cordon_error *error)
{
    api_session_update(s);
    return api_return(ok, err, error);
}

struct cordon_exit api_exit(const struct session_exit *e)
{
    return (struct cordon_exit){
        .code = e->code, .signal = e->signal, .terminated_by_harness = e->by_harness};
}

/* Start and end ------------------------------------------------------------------------------- */

static bool api_session_spawn(
    struct cordon_session *s, const struct cordon_command *command, struct err *err)
{
    struct api_call *c = &s->call;
    struct cordon_command own;
    if (!api_call_command(c, command, &own, err))
        return false;
    if (own.pipes || own.input || own.input_size || own.input_fd)
        return err_set(err, E_CLI_INVALID_ARG,
            "a session has a terminal: pipes must be 0, input and input_fd must be NULL");
    if (!prepare_policy(&c->p, err) || !prepare_run(&c->p, err))
        return false;
    struct live_run_options options = job_live(&c->p, own.rows, own.cols, api_cancel_fd(c));
    options.output = api_output(c);
    options.context = c;
    return live_open(&options, &s->live, err);
}

struct cordon_session *cordon_session_spawn(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct cordon_session *s = base_alloc(sizeof(*s));
    s->watch = (struct api_watch)API_WATCH_INIT;
    if (api_call_begin(&s->call, options, &err) && api_session_spawn(s, command, &err))
        return s;
    api_give_error(&err, error);
    api_call_done(&s->call);
    free(s);
    return NULL;
}

void cordon_session_free(struct cordon_session *s)
{
    if (!s)
        return;
    api_watch_close(&s->watch);
    live_done(&s->live);
    api_call_done(&s->call);
    free(s);
}

const char *cordon_session_id(const struct cordon_session *s)
{
    return s->live.observer.session_id;
}

struct cordon_result *cordon_session_finish(struct cordon_session *s, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    json_t *json = NULL;
    if (s->finished) {
        err_set(&err, E_CLI_INVALID_ARG, "the session is already finished");
        api_give_error(&err, error);
        return NULL;
    }
    struct live_result result;
    s->finished = true;
    live_end(&s->live, true, &result);
    job_live_end(&s->call.p, &result, &json);
    live_detach(&s->live);
    live_result_done(&result);
    s->watch.over = true;
    api_session_update(s);
    return api_result_new(json);
}

/* Actions ------------------------------------------------------------------------------------- */

static bool api_session_wait_for(
    struct cordon_session *s, const struct condition *c, uint64_t timeout_ms, struct err *err)
{
    const char *ignored;
    return live_wait(
        &s->live, c, &(struct live_wait_options){.timeout_ms = timeout_ms}, &ignored, err);
}

/* Performs an action given as a JSON tree. */
static bool send_tree(struct cordon_session *s, const json_t *tree, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(ARENA_MAX);
    struct action action;
    if (!action_read(tree, "action", &arena, &action, err))
        return false;
    bool ok =
        live_send(&s->live, &action, err) &&
        (action.type != ACTION_WAIT || api_session_wait_for(s, &action.condition, WAIT_MS, err));
    action_done(&action);
    return ok;
}

int cordon_session_send(struct cordon_session *s, const char *action, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    bool ok = api_given("action", action, &err) &&
              json_parse(str_z(action), "action", E_PROTOCOL, &tree, &err) &&
              send_tree(s, tree, &err);
    return api_session_return(s, ok, &err, error);
}

/* {"type", "payload": {key: text}} */
json_t *api_tagged_text(const char *type, const char *key, const char *text)
{
    json_t *object = json_object(), *payload = json_object();
    json_put(payload, key, json_text(str_z(text)));
    json_put(object, "type", json_string(type));
    json_put(object, "payload", payload);
    return object;
}

int cordon_session_send_key(struct cordon_session *s, const char *key, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = key ? api_tagged_text("key", "key", key) : NULL;
    bool ok = api_given("key", key, &err) && send_tree(s, tree, &err);
    return api_session_return(s, ok, &err, error);
}

/* The text need not be UTF-8, so it is not converted to JSON. */
int cordon_session_send_text(struct cordon_session *s, const char *text, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    const struct action action = {.type = ACTION_TEXT, .text = str_z(text)};
    bool ok = api_given("text", text, &err) && live_send(&s->live, &action, &err);
    return api_session_return(s, ok, &err, error);
}

static bool wait_for_tree(
    struct cordon_session *s, const json_t *tree, uint64_t timeout_ms, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(ARENA_MAX);
    struct condition c;
    if (!condition_read(tree, "condition", &arena, &c, err))
        return false;
    bool ok = api_session_wait_for(s, &c, timeout_ms, err);
    condition_done(&c);
    return ok;
}

int cordon_session_wait_for(struct cordon_session *s, const char *condition, uint64_t timeout_ms,
    struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    bool ok = api_given("condition", condition, &err) &&
              json_parse(str_z(condition), "condition", E_PROTOCOL, &tree, &err) &&
              wait_for_tree(s, tree, timeout_ms, &err);
    return api_session_return(s, ok, &err, error);
}

int cordon_session_wait_for_text(
    struct cordon_session *s, const char *text, uint64_t timeout_ms, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = text ? api_tagged_text("screen_contains", "text", text) : NULL;
    bool ok = api_given("text", text, &err) && wait_for_tree(s, tree, timeout_ms, &err);
    return api_session_return(s, ok, &err, error);
}

/* Observations -------------------------------------------------------------------------------- */

struct cordon_observation *cordon_session_observe(struct cordon_session *s,
    enum cordon_screen screen, uint64_t timeout_ms, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0}, too_large = {0};
    const struct live_wait_options options = {.timeout_ms = timeout_ms, .change = true};
    const char *matched_by = NULL;
    if (screen > CORDON_SCREEN_DELTA) {
        err_set(&err, E_CLI_INVALID_ARG, "invalid screen format %d", (int)screen);
        api_give_error(&err, error);
        return NULL;
    }
    bool ok = live_wait(&s->live, NULL, &options, &matched_by, &err);
    /* Observe and record the last screen even if an error is returned. */
    const struct live_look look = {
        .screen = (enum observer_screen)screen, .matched_by = matched_by, .error = &err};
    if (!live_observe(&s->live, &look, &too_large) && ok) {
        ok = false;
        err_move(&err, &too_large);
    }
    s->seen = session_changes(s->live.session);
    return api_session_return(s, ok, &err, error) == 0
               ? api_observation_new(json_incref(s->live.observation))
               : NULL;
}

int cordon_session_wait_for_exit(struct cordon_session *s, uint64_t timeout_ms,
    struct cordon_exit *ret_exit, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ended;
    if (!live_wait_exit(&s->live, timeout_ms, &ended, &err))
        return api_session_return(s, false, &err, error);
    if (ended && ret_exit)
        *ret_exit = api_exit(session_exit_of(s->live.session));
    api_session_update(s);
    return ended;
}

int cordon_session_terminate(struct cordon_session *s, struct cordon_error *error)
{
    return cordon_session_terminate_process_group(s, SESSION_GRACE_MS, NULL, error);
}

int cordon_session_terminate_process_group(struct cordon_session *s, uint64_t grace_ms,
    struct cordon_exit *ret_exit, struct cordon_error *error)
{
    (void)error;
    session_terminate(s->live.session, grace_ms);
    if (ret_exit)
        *ret_exit = api_exit(session_exit_of(s->live.session));
    api_session_update(s);
    return 0;
}

/* Event loops --------------------------------------------------------------------------------- */

int cordon_session_descriptor(struct cordon_session *s, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ok = s->watch.set >= 0 || api_watch_open(&s->watch, api_cancel_fd(&s->call), &err);
    return api_session_return(s, ok, &err, error) == 0 ? s->watch.set : -1;
}

int cordon_session_process(struct cordon_session *s, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ended = false;
    bool ok = live_wait_exit(&s->live, 0, &ended, &err);
    uint64_t changes = session_changes(s->live.session);
    int news =
        (changes != s->seen ? CORDON_SESSION_CHANGED : 0) | (ended ? CORDON_SESSION_ENDED : 0);
    s->seen = changes;
    s->watch.over |= ended || !ok;
    return api_session_return(s, ok, &err, error) == 0 ? news : -1;
}
