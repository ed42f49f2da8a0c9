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
    bool finished;
};

static int api_session_return(bool ok, struct err *err, struct cordon_error *error)
{
    if (!ok)
        api_give_error(err, error);
    return ok ? 0 : -1;
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
    if (own.pipes)
        return err_set(err, E_CLI_INVALID_ARG, "a session has a terminal: pipes must be 0");
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
        err_set(&err, E_CLI_INVALID_ARG, "the session has been finished already");
        api_give_error(&err, error);
        return NULL;
    }
    struct live_result result;
    s->finished = true;
    live_end(&s->live, true, &result);
    job_live_end(&s->call.p, &result, &json);
    live_result_done(&result);
    return api_result_new(json);
}

/* Actions ------------------------------------------------------------------------------------- */

static bool api_session_wait_for(
    struct cordon_session *s, const struct condition *c, uint64_t timeout_ms, struct err *err)
{
    const char *ignored;
    return live_wait(&s->live, c, &(struct live_wish){.timeout_ms = timeout_ms}, &ignored, err);
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
    bool ok =
        json_parse(str_z(action), "action", E_PROTOCOL, &tree, &err) && send_tree(s, tree, &err);
    return api_session_return(ok, &err, error);
}

/* {"type", "payload": {key: text}} */
static json_t *tagged_text(const char *type, const char *key, const char *text)
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
    AUTO_JSON json_t *tree = tagged_text("key", "key", key);
    return api_session_return(send_tree(s, tree, &err), &err, error);
}

/* The text need not be UTF-8, so it is not converted to JSON. */
int cordon_session_send_text(struct cordon_session *s, const char *text, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    const struct action action = {.type = ACTION_TEXT, .text = str_z(text)};
    return api_session_return(live_send(&s->live, &action, &err), &err, error);
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
    bool ok = json_parse(str_z(condition), "condition", E_PROTOCOL, &tree, &err) &&
              wait_for_tree(s, tree, timeout_ms, &err);
    return api_session_return(ok, &err, error);
}

int cordon_session_wait_for_text(
    struct cordon_session *s, const char *text, uint64_t timeout_ms, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = tagged_text("screen_contains", "text", text);
    return api_session_return(wait_for_tree(s, tree, timeout_ms, &err), &err, error);
}

/* Observations -------------------------------------------------------------------------------- */

struct cordon_observation *cordon_session_observe(struct cordon_session *s,
    enum cordon_screen screen, uint64_t timeout_ms, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0}, too_large = {0};
    const struct live_wish wish = {.timeout_ms = timeout_ms, .change = true};
    const char *matched_by = NULL;
    if (screen > CORDON_SCREEN_DELTA) {
        err_set(&err, E_CLI_INVALID_ARG, "%d is no form of a screen", (int)screen);
        api_give_error(&err, error);
        return NULL;
    }
    bool ok = live_wait(&s->live, NULL, &wish, &matched_by, &err);
    /* Observe and record the last screen even if an error is returned. */
    const struct live_look look = {
        .screen = (enum observer_screen)screen, .matched_by = matched_by, .error = &err};
    if (!live_observe(&s->live, &look, &too_large) && ok) {
        ok = false;
        err_move(&err, &too_large);
    }
    return api_session_return(ok, &err, error) == 0
               ? api_observation_new(json_incref(s->live.observation))
               : NULL;
}

int cordon_session_wait_for_exit(struct cordon_session *s, uint64_t timeout_ms,
    struct cordon_exit *ret_exit, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ended;
    if (!live_wait_exit(&s->live, timeout_ms, &ended, &err))
        return api_session_return(false, &err, error);
    if (ended && ret_exit)
        *ret_exit = api_exit(session_exit_of(s->live.session));
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
    return 0;
}
