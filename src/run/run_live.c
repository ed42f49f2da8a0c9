/* Interactive sessions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_live.h"

#include "base/clock.h"
#include "run/runner.h"
#include "run/wait.h"

enum {
    SENT_MAX = 4 << 20,
};

bool live_open(const struct live_run_options *options, struct live *ret_live, struct err *err)
{
    struct live *l = ret_live;
    *l = (struct live){.options = *options, .sent = BUF_INIT(SENT_MAX)};
    observer_init(&l->observer, options->run_id);
    l->observer.artifacts = options->artifacts;
    l->observer.snapshot_max = options->observed.confined->policy.budgets.max_snapshot_bytes;
    l->observer.also = options->output;
    l->observer.context = options->context;
    if (observer_open(&l->observer, &options->observed, &l->session, err))
        return true;
    live_done(l);
    return false;
}

void live_done(struct live *l)
{
    session_close(l->session);
    observer_done(&l->observer);
    buf_done(&l->sent);
    json_decrefp(&l->observation);
    l->session = NULL;
    l->observation = NULL;
}

/* Errors -------------------------------------------------------------------------------------- */

static bool blame_exit(const struct live *l, struct err *err)
{
    const struct session_exit *e = session_exit_of(l->session);
    err_set(err, E_PROCESS_EXIT, "the command has ended");
    child_explain_kill(session_child(l->session), err);
    return err_ctx_int(err, e->signal ? "signal" : "exit_code", e->signal ? e->signal : e->code);
}

static uint64_t wait_limit(const struct live *l, uint64_t timeout_ms)
{
    return MIN(timeout_ms, l->options.observed.confined->policy.budgets.max_wait_ms);
}

static bool blame_time(const struct live *l, const struct condition *condition,
    const struct live_wait_options *options, struct err *err)
{
    uint64_t limit = wait_limit(l, options->timeout_ms);
    err_set(err, E_TIMEOUT, "the condition did not hold within %llu ms", (unsigned long long)limit);
    err_ctx(err, "condition", "%s", condition_name(condition));
    err_ctx(err, "budget", "%s", limit < options->timeout_ms ? "max_wait_ms" : "timeout_ms");
    runner_blame_screen(l->session, err);
    return false;
}

/* Reports an error that ends the session. */
static bool live_blame_end(struct live *l, bool canceled, struct err *err)
{
    l->canceled |= canceled;
    l->failed |= !canceled;
    if (canceled)
        return err_set(err, E_CANCELED, "interrupted");
    err_copy(err, session_error(l->session));
    return false;
}

/* Acting -------------------------------------------------------------------------------------- */

bool live_send(struct live *l, const struct action *action, struct err *err)
{
    buf_reset(&l->sent);
    if (action->type == ACTION_WAIT)
        return true;
    if (action->type == ACTION_TERMINATE) {
        session_terminate(l->session, SESSION_GRACE_MS);
        return true;
    }
    if (session_has_ended(l->session))
        return blame_exit(l, err);
    if (!action_send(action, l->session, &l->sent, err))
        return false;
    l->since = session_changes(l->session);
    return true;
}

bool live_wait(struct live *l, const struct condition *condition,
    const struct live_wait_options *options, const char **ret_matched_by, struct err *err)
{
    uint64_t now = clock_mono_ms();
    const struct wait w = {
        .session = l->session,
        .conditions = condition,
        .n = condition ? 1 : 0,
        .since = condition ? session_changes(l->session) : l->since,
        .sent_ms = now,
        .after_input = !condition,
        .change = options->change,
        .settle_ms = options->settle_ms,
        .deadline_ms = now + wait_limit(l, options->timeout_ms),
    };
    struct wait_result got;
    wait_run(&w, &got);
    if (!condition && got.end == WAIT_HELD && options->settle_ms == 0)
        session_drain(l->session);
    *ret_matched_by = got.matched_by;
    if (got.end == WAIT_FAILED || got.end == WAIT_CANCELED)
        return live_blame_end(l, got.end == WAIT_CANCELED, err);
    if (condition && got.end == WAIT_TIMEOUT)
        return blame_time(l, condition, options, err);
    if (condition && got.end == WAIT_EXITED)
        return blame_exit(l, err);
    return true;
}

bool live_wait_exit(struct live *l, uint64_t timeout_ms, bool *ret_ended, struct err *err)
{
    uint64_t until = clock_deadline_ms(timeout_ms);
    for (;;) {
        enum session_news news = session_next(l->session, until);
        if (news == SESSION_FAILED || news == SESSION_CANCELED)
            return live_blame_end(l, news == SESSION_CANCELED, err);
        *ret_ended = news == SESSION_EXITED;
        /* Check the clock: while there is output, session_next() does not return SESSION_TIME. */
        if (*ret_ended || news == SESSION_TIME || clock_mono_ms() >= until)
            return true;
    }
}

/* Observing ----------------------------------------------------------------------------------- */

/* Stores the complete screen in the record, even if the answer has only the changed rows. */
static bool keep_screen(
    struct live *l, enum observer_screen how, const json_t *observation, struct err *err)
{
    struct artifacts *a = l->options.artifacts;
    if (!a)
        return true;
    AUTO_JSON json_t *whole =
        how == OBSERVER_DELTA ? observer_screen(session_term(l->session)) : NULL;
    const json_t *screen = whole ? whole : json_object_get(observation, "screen");
    return artifacts_snapshot(a, screen, l->snapshot, err);
}

bool live_observe(struct live *l, const struct live_look *look, struct err *err)
{
    json_t *o = observer_take(&l->observer, session_term(l->session), look->screen);
    l->snapshot[0] = '\0';
    bool ok = observer_fits(&l->observer, err) && keep_screen(l, look->screen, o, err);
    const struct err *shown = ok ? look->error : err;
    if (look->matched_by)
        json_put(o, "matched_by", json_string(look->matched_by));
    if (shown && shown->code)
        json_put(o, "error", err_to_json(shown));
    observer_record(&l->observer, o, look->action);
    l->since = session_changes(l->session);
    json_decrefp(&l->observation);
    l->observation = o;
    return ok;
}

/* Ending -------------------------------------------------------------------------------------- */

static void live_set_status(const struct live *l, struct exec_result *run)
{
    const struct err *error = session_error(l->session);
    if (error->code) {
        run->status = EXEC_ERRORED;
        err_copy(&run->error, error);
    } else if (l->canceled) {
        run->status = EXEC_CANCELED;
        err_set(&run->error, E_CANCELED, "interrupted");
    }
}

void live_end(struct live *l, bool look, struct live_result *ret_result)
{
    struct live_result result = {.run.status = EXEC_PASSED,
        .rows = l->options.observed.rows,
        .cols = l->options.observed.cols};
    struct exec_result *run = &result.run;
    memcpy(result.run_id, l->observer.run_id, sizeof(result.run_id));
    memcpy(result.session_id, l->observer.session_id, sizeof(result.session_id));
    run->started_ms = l->observer.started_ms;
    l->observer.ended = true;
    if (look && !live_observe(l, &(struct live_look){0}, &run->error))
        run->status = EXEC_ERRORED;
    if (!l->observation)
        l->observation = observer_take(&l->observer, session_term(l->session), OBSERVER_FULL);
    session_terminate(l->session, SESSION_GRACE_MS);
    if (!run->error.code)
        live_set_status(l, run);
    run->exit = *session_exit_of(l->session);
    run->kept = session_child(l->session)->limiter.kept;
    run->output_bytes = session_output_bytes(l->session);
    run->ended_ms = clock_mono_ms();
    result.observation = json_incref(l->observation);
    *ret_result = result;
}

void live_detach(struct live *l)
{
    l->options.artifacts = NULL;
    l->observer.artifacts = NULL;
}

void live_result_done(struct live_result *r)
{
    err_done(&r->run.error);
    json_decrefp(&r->steps);
    json_decrefp(&r->observation);
    r->steps = r->observation = NULL;
}
