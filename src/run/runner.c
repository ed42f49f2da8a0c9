/* Runs scenarios. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/runner.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "run/wait.h"

enum {
    SCREEN_TEXT_MAX = ERR_BYTES_MAX - 64, /* bytes of a screen in an error's context */
    WHY_MAX = 4096,
    SENT_MAX = 4 << 20,
    SENT_SHOWN = 1024, /* bytes of sent input that a result shows */
};

struct runner {
    const struct runner_options *options;
    struct runner_result *result;
    struct observer observer;
    struct session *session;
    bool over; /* skip the remaining steps */
};

/* The current step. */
struct runner_attempt {
    const struct step *step;
    enum step_status status;
    unsigned windows; /* number of timeout periods started (at most 1 + retries) */
    uint64_t window_ends_ms;
    uint64_t started_ms;
    struct buf sent;
    const char *matched_by;
    json_t *assertions;
    struct err error;
};

const char *step_status_name(enum step_status status)
{
    static const char *const names[] = {"passed", "failed", "errored", "skipped"};
    return names[status];
}

/* Errors -------------------------------------------------------------------------------------- */

static void runner_add_screen(struct session *s, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT((size_t)256 << 20);
    AUTO_BUF struct buf text = BUF_INIT(ERR_BYTES_MAX);
    struct snapshot screen;
    snapshot_take(session_term(s), &arena, 0, &screen);
    unsigned last = screen.rows;
    while (last > 0 && screen.lines[last - 1].n == 0)
        last--;
    unsigned row = 0;
    for (; row < last && text.n + screen.lines[row].n < SCREEN_TEXT_MAX; row++) {
        buf_add_str(&text, screen.lines[row]);
        buf_add_byte(&text, '\n');
    }
    if (row < last)
        buf_printf(&text, "(%u more lines)\n", last - row);
    err_ctx(err, "screen", "%s", buf_z(&text));
}

void runner_blame_screen(struct session *s, struct err *err)
{
    const struct term_unknown *list;
    size_t n = term_unanswered(session_term(s), &list);
    AUTO_BUF struct buf text = BUF_INIT(16 * 1024);
    for (size_t i = 0; i < n; i++) {
        buf_add_z(&text, i ? " " : "");
        utf8_add_printable(&text, str_n(list[i].text, list[i].n));
    }
    runner_add_screen(s, err);
    if (n)
        err_ctx(err, "unanswered_queries", "%s", buf_z(&text));
}

static void blame_step(struct runner_attempt *a)
{
    err_wrap(&a->error, "step '" STR_FMT "'", STR_ARG(str_head(a->step->id, 64)));
    err_ctx(&a->error, "step_id", STR_FMT, STR_ARG(a->step->id));
}

/* Reports why a wait ended before its condition held. */
static void runner_blame_end(struct runner *r, struct runner_attempt *a, enum wait_end end)
{
    const struct session_exit *e = session_exit_of(r->session);
    a->status = STEP_ERRORED;
    if (end == WAIT_FAILED) {
        err_copy(&a->error, session_error(r->session));
    } else if (end == WAIT_CANCELED) {
        err_set(&a->error, E_CANCELED, "interrupted");
    } else if (e->signal) {
        err_set(&a->error, E_PROCESS_EXIT,
            "the command was killed by signal %d before the step was complete", e->signal);
        err_ctx_int(&a->error, "signal", e->signal);
        child_explain_kill(session_child(r->session), &a->error);
    } else {
        err_set(&a->error, E_PROCESS_EXIT,
            "the command ended with exit status %d before the step was complete", e->code);
        err_ctx_int(&a->error, "exit_code", e->code);
    }
    if (end == WAIT_EXITED)
        runner_blame_screen(r->session, &a->error);
}

/* Waits --------------------------------------------------------------------------------------- */

/* Returns the golden's file and mask. */
static json_t *golden_details(const struct golden *g)
{
    json_t *object = json_object();
    json_put(object, "golden", json_text(g->file));
    json_put(object, "mask", g->mask_json ? json_incref((json_t *)g->mask_json) : json_array());
    return object;
}

/* Updates the goldens of a step that passed: those of its assertions, and that of a wait, which has
 * no entry in the results. */
static void update_goldens(struct runner *r, struct runner_attempt *a)
{
    const struct step *step = a->step;
    AUTO_ARENA struct arena arena = ARENA_INIT((size_t)256 << 20);
    struct snapshot screen = {0};
    for (size_t i = 0; a->status == STEP_PASSED && i <= step->n_asserts; i++) {
        bool written = false;
        const struct condition *c =
            i < step->n_asserts ? &step->asserts[i] : &step->action.condition;
        if (!c->golden)
            continue;
        if (!screen.cells)
            snapshot_take(session_term(r->session), &arena, SNAPSHOT_CELLS, &screen);
        if (!golden_update(c->golden, &screen, &written, &a->error))
            a->status = STEP_ERRORED;
        json_t *details = json_object_get(json_array_get(a->assertions, i), "details");
        if (details)
            json_put(details, "written", json_boolean(written));
        r->result->goldens_written += written;
    }
}

static void test_asserts(struct runner *r, struct runner_attempt *a, bool *held, struct buf *why)
{
    const struct step *step = a->step;
    (void)wait_test(r->session, step->asserts, step->n_asserts, held, why);
    json_array_clear(a->assertions);
    for (size_t i = 0; i < step->n_asserts; i++) {
        json_t *object = json_object();
        json_put(object, "type", json_string(condition_name(&step->asserts[i])));
        json_put(object, "passed", json_boolean(held[i]));
        if (!held[i])
            json_put(object, "message", json_text(buf_str(&why[i])));
        if (step->asserts[i].golden)
            json_put(object, "details", golden_details(step->asserts[i].golden));
        json_push(a->assertions, object);
    }
}

/* Returns the index of the first golden that no screen can match, or n. */
static size_t first_lost(const struct condition *conditions, size_t n)
{
    size_t i = 0;
    while (i < n && !(conditions[i].golden && golden_is_lost(conditions[i].golden)))
        i++;
    return i;
}

static void fail_asserts(
    struct runner *r, struct runner_attempt *a, const bool *held, const struct buf *why)
{
    size_t n = a->step->n_asserts, lost = first_lost(a->step->asserts, n);
    for (size_t i = 0; i < n; i++) {
        if (held[i] || (lost < n && i != lost))
            continue;
        a->status = STEP_FAILED;
        err_set(&a->error, E_ASSERTION_FAILED, "%s", buf_z(&why[i]));
        err_ctx(&a->error, "assertion", "%s", condition_name(&a->step->asserts[i]));
        err_ctx_int(&a->error, "index", (int64_t)i);
        runner_blame_screen(r->session, &a->error);
        return;
    }
}

/* Records the result of each assertion on the current screen. */
static void judge_asserts(struct runner *r, struct runner_attempt *a, bool must_hold)
{
    size_t n = a->step->n_asserts;
    AUTO_FREE bool *held = base_alloc(n * sizeof(*held));
    struct buf *why = base_alloc(n * sizeof(*why));
    for (size_t i = 0; i < n; i++)
        why[i] = BUF_INIT(WHY_MAX);
    test_asserts(r, a, held, why);
    if (!must_hold)
        fail_asserts(r, a, held, why);
    for (size_t i = 0; i < n; i++)
        buf_done(&why[i]);
    free(why);
}

static bool sends_input(enum action_type type)
{
    return type == ACTION_KEY || type == ACTION_TEXT || type == ACTION_MOUSE ||
           type == ACTION_RESIZE;
}

/* Waits one timeout period after the other (`retries` adds more), at most until `until_ms`. A wait
 * and the assertions after it share the periods: a step has its timeout once. */
static struct wait_result wait_in_windows(
    struct runner_attempt *a, struct wait *w, uint64_t until_ms)
{
    const struct step *step = a->step;
    struct wait_result got;
    for (;;) {
        if (a->windows == 0) {
            a->window_ends_ms = clock_mono_ms() + step->timeout_ms;
            a->windows = 1;
        }
        w->deadline_ms = MIN(a->window_ends_ms, until_ms);
        wait_run(w, &got);
        if (got.end != WAIT_TIMEOUT || a->windows > step->retries || w->deadline_ms == until_ms)
            return got;
        a->windows++;
        a->window_ends_ms += step->timeout_ms;
        w->after_input = false;
    }
}

/* Waits for the assertions; without any, until the screen is quiet. */
static void await_asserts(struct runner *r, struct runner_attempt *a)
{
    const struct step *step = a->step;
    struct wait w = {
        .session = r->session,
        .conditions = step->asserts,
        .n = step->n_asserts,
        .since = session_changes(r->session),
        .fed = session_fed_bytes(r->session),
        .sent_ms = a->started_ms,
        .after_input = a->sent.n > 0 || step->action.type == ACTION_RESIZE,
        .settle_ms = step->n_asserts ? 0 : WAIT_SETTLE_MS,
    };
    if (first_lost(step->asserts, step->n_asserts) < step->n_asserts) {
        a->windows = MAX(a->windows, 1u);
        judge_asserts(r, a, false);
        return;
    }
    struct wait_result got = wait_in_windows(a, &w, UINT64_MAX);
    a->matched_by = got.matched_by;
    bool ended = got.end == WAIT_CANCELED || got.end == WAIT_FAILED;
    if (step->n_asserts)
        judge_asserts(r, a, got.end == WAIT_HELD || ended);
    if (ended)
        runner_blame_end(r, a, got.end);
}

static void time_out(struct runner *r, struct runner_attempt *a, uint64_t limit, bool by_budget)
{
    const struct condition *c = &a->step->action.condition;
    struct buf why = BUF_INIT(WHY_MAX);
    (void)wait_test(r->session, c, 1, &(bool){false}, &why);
    a->status = STEP_ERRORED;
    err_set(
        &a->error, E_TIMEOUT, "timeout after %llu ms: %s", (unsigned long long)limit, buf_z(&why));
    err_ctx(&a->error, "condition", "%s", condition_name(c));
    err_ctx(&a->error, "budget", "%s", by_budget ? "max_wait_ms" : "timeout_ms");
    runner_blame_screen(r->session, &a->error);
    buf_done(&why);
}

/* A golden that can never match fails at once, like an assertion that does not hold. */
static bool fail_wait(struct runner *r, struct runner_attempt *a)
{
    const struct condition *c = &a->step->action.condition;
    AUTO_BUF struct buf why = BUF_INIT(WHY_MAX);
    (void)wait_test(r->session, c, 1, &(bool){false}, &why);
    a->windows = 1;
    a->status = STEP_FAILED;
    err_set(&a->error, E_ASSERTION_FAILED, "%s", buf_z(&why));
    err_ctx(&a->error, "condition", "%s", condition_name(c));
    runner_blame_screen(r->session, &a->error);
    return false;
}

static bool await_condition(struct runner *r, struct runner_attempt *a)
{
    const struct step *step = a->step;
    if (first_lost(&step->action.condition, 1) == 0)
        return fail_wait(r, a);
    uint64_t most = r->options->confined->policy.budgets.max_wait_ms;
    uint64_t limit = step->timeout_ms * (step->retries + 1u);
    bool by_budget = limit > most;
    limit = by_budget ? most : limit;
    struct wait w = {
        .session = r->session,
        .conditions = &step->action.condition,
        .n = 1,
        .since = session_changes(r->session),
        .sent_ms = a->started_ms,
    };
    struct wait_result got = wait_in_windows(a, &w, a->started_ms + limit);
    a->matched_by = got.matched_by;
    if (got.end == WAIT_TIMEOUT)
        time_out(r, a, limit, by_budget);
    else if (got.end != WAIT_HELD)
        runner_blame_end(r, a, got.end);
    return got.end == WAIT_HELD;
}

/* Steps --------------------------------------------------------------------------------------- */

static bool runner_perform(struct runner *r, struct runner_attempt *a)
{
    const struct action *action = &a->step->action;
    if (sends_input(action->type) && session_has_ended(r->session)) {
        runner_blame_end(r, a, WAIT_EXITED);
        return false;
    }
    if (!action_send(action, r->session, &a->sent, &a->error)) {
        a->status = STEP_ERRORED;
        return false;
    }
    if (action->type == ACTION_TERMINATE)
        session_terminate(r->session, SESSION_GRACE_MS);
    return true;
}

void runner_put_sent(json_t *step, struct str sent)
{
    AUTO_BUF struct buf shown = BUF_INIT(8 * SENT_SHOWN);
    if (sent.n == 0)
        return;
    utf8_add_printable(&shown, str_head(sent, SENT_SHOWN));
    json_put(step, "sent", json_text(buf_str(&shown)));
}

static json_t *runner_step_json(
    const struct runner *r, const struct runner_attempt *a, const char *snapshot)
{
    const struct step *step = a->step;
    uint64_t zero = r->observer.started_ms;
    json_t *object = json_object();
    json_put(object, "step_id", json_text(step->id));
    json_put(object, "name", json_text(step->name));
    json_put(object, "status", json_string(step_status_name(a->status)));
    json_put(object, "attempts", json_integer(a->windows));
    json_put(object, "started_at_ms", json_integer((json_int_t)(a->started_ms - zero)));
    json_put(object, "ended_at_ms", json_integer((json_int_t)(clock_mono_ms() - zero)));
    json_put(object, "action", json_incref((json_t *)step->action.json));
    json_put(object, "assertions", json_incref(a->assertions));
    runner_put_sent(object, buf_str(&a->sent));
    if (a->matched_by)
        json_put(object, "matched_by", json_string(a->matched_by));
    if (snapshot[0]) {
        json_put(object, "snapshot", json_string(snapshot));
        json_put(
            object, "transcript_bytes", json_integer((json_int_t)session_fed_bytes(r->session)));
    }
    if (a->error.code)
        json_put(object, "error", err_to_json(&a->error));
    return object;
}

/* Takes an observation and stores it if there is a record; then returns the snapshot's name.
 * Returns false with the error. */
static bool runner_observe(
    struct runner *r, char ret_name[ARTIFACTS_NAME], json_t **ret_observation, struct err *err)
{
    json_t *o = observer_take(
        &r->observer, session_term(r->session), r->options->cells ? OBSERVER_CELLS : OBSERVER_FULL);
    struct artifacts *a = r->options->artifacts;
    *ret_observation = o;
    ret_name[0] = '\0';
    observer_record(&r->observer, o, NULL);
    return observer_fits(&r->observer, err) &&
           (!a || artifacts_snapshot(a, json_object_get(o, "screen"), ret_name, err));
}

static void runner_report_progress(
    struct runner *r, size_t index, const struct runner_attempt *a, bool begins)
{
    if (!r->options->progress)
        return;
    const struct runner_progress progress = {
        .index = index,
        .step = a->step,
        .begins = begins,
        .status = a->status,
        .duration_ms = begins ? 0 : clock_mono_ms() - a->started_ms,
        .error = a->error.code ? &a->error : NULL,
        .session = r->session,
    };
    r->options->progress(r->options->context, &progress);
}

/* The first step that does not pass determines the outcome of the run. */
static void runner_set_outcome(struct runner *r, struct runner_attempt *a)
{
    struct exec_result *run = &r->result->run;
    if (a->status == STEP_PASSED)
        return;
    r->over = true;
    run->status = a->error.code == E_CANCELED ? EXEC_CANCELED
                  : a->status == STEP_FAILED  ? EXEC_FAILED
                                              : EXEC_ERRORED;
    err_copy(&run->error, &a->error);
}

/* Performs the action, waits for the assertions and takes an observation. */
static void try_step(
    struct runner *r, size_t index, struct runner_attempt *a, char ret_snapshot[ARTIFACTS_NAME])
{
    AUTO_ERR struct err error = {0};
    AUTO_JSON json_t *observation = NULL;
    bool waits = a->step->action.type == ACTION_WAIT;
    runner_report_progress(r, index, a, true);
    if (waits ? await_condition(r, a) : runner_perform(r, a))
        if (!waits || a->step->n_asserts)
            await_asserts(r, a);
    if (a->status == STEP_PASSED && r->options->after)
        r->options->after(r->options->context, r->session);
    update_goldens(r, a);
    if (!runner_observe(r, ret_snapshot, &observation, &error) && !a->error.code) {
        a->status = STEP_ERRORED;
        err_move(&a->error, &error);
    }
    if (a->error.code)
        blame_step(a);
}

static void run_step(struct runner *r, size_t index)
{
    struct runner_attempt a = {.step = &r->options->scenario->steps[index],
        .started_ms = clock_mono_ms(),
        .sent = BUF_INIT(SENT_MAX),
        .assertions = json_array()};
    char snapshot[ARTIFACTS_NAME] = "";
    if (r->over)
        a.status = STEP_SKIPPED;
    else
        try_step(r, index, &a, snapshot);
    json_push(r->result->steps, runner_step_json(r, &a, snapshot));
    if (!r->over) {
        runner_report_progress(r, index, &a, false);
        runner_set_outcome(r, &a);
    }
    json_decref(a.assertions);
    buf_done(&a.sent);
    err_done(&a.error);
}

/* Start and end ------------------------------------------------------------------------------- */

bool runner_check(const struct scenario *scenario, const struct policy *policy, struct err *err)
{
    uint64_t most = policy->budgets.max_steps;
    if (scenario->n_steps <= most)
        return true;
    err_set(err, E_TIMEOUT, "the scenario has %zu steps, but the budget max_steps is %llu",
        scenario->n_steps, (unsigned long long)most);
    err_ctx_int(err, "limit", (int64_t)most);
    return err_ctx(err, "budget", "max_steps");
}

static bool runner_open_session(struct runner *r, struct err *err)
{
    const struct runner_options *options = r->options;
    const struct observer_options observed = {
        options->confined, options->scenario->rows, options->scenario->cols, options->cancel};
    return observer_open(&r->observer, &observed, &r->session, err);
}

/* The record includes the goldens: a replay may happen elsewhere or later. */
static bool keep_goldens(struct runner *r, struct err *err)
{
    struct golden *g;
    if (!r->options->artifacts)
        return true;
    for (size_t i = 0; (g = scenario_golden(r->options->scenario, i)); i++) {
        struct str text = golden_wanted(g);
        if (text.p && !artifacts_golden(r->options->artifacts, i, text, err))
            return false;
    }
    return true;
}

/* The last screen is that of the last step: output printed after a request to end is not part of
 * the scenario. */
static void runner_finish(struct runner *r)
{
    struct runner_result *result = r->result;
    AUTO_ERR struct err error = {0};
    r->observer.ended = true;
    char ignored[ARTIFACTS_NAME];
    bool ok = runner_observe(r, ignored, &result->observation, &error) && keep_goldens(r, &error);
    if (!ok && !result->run.error.code) {
        result->run.status = EXEC_ERRORED;
        err_move(&result->run.error, &error);
    }
    session_terminate(r->session, SESSION_GRACE_MS);
    result->run.exit = *session_exit_of(r->session);
    result->run.output_bytes = session_output_bytes(r->session);
    result->run.ended_ms = clock_mono_ms();
}

bool runner_run(
    const struct runner_options *options, struct runner_result *ret_result, struct err *err)
{
    struct runner_result result = {.steps = json_array(), .run.status = EXEC_PASSED};
    struct runner r = {.options = options, .result = &result};
    observer_init(&r.observer, options->run_id);
    r.observer.artifacts = options->artifacts;
    r.observer.snapshot_max = options->confined->policy.budgets.max_snapshot_bytes;
    r.observer.also = options->output;
    r.observer.context = options->context;
    result.run.started_ms = r.observer.started_ms;
    memcpy(result.run_id, r.observer.run_id, sizeof(result.run_id));
    memcpy(result.session_id, r.observer.session_id, sizeof(result.session_id));
    bool ok = runner_check(options->scenario, &options->confined->policy, err) &&
              runner_open_session(&r, err);
    for (size_t i = 0; ok && i < options->scenario->n_steps; i++)
        run_step(&r, i);
    if (ok) {
        runner_finish(&r);
        *ret_result = result;
    } else {
        runner_result_done(&result);
    }
    session_close(r.session);
    observer_done(&r.observer);
    return ok;
}

void runner_result_done(struct runner_result *r)
{
    err_done(&r->run.error);
    json_decrefp(&r->steps);
    json_decrefp(&r->observation);
    r->steps = r->observation = NULL;
}
