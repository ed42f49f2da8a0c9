/* Runs a recorded command again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/rerun.h"

#include "base/clock.h"
#include "io/file.h"
#include "record/refeed.h"
#include "replay/replay_events.h"
#include "replay/replay_source.h"
#include "run/driver.h"
#include "run/observed_exec.h"
#include "run/run_request.h"
#include "run/run_result.h"
#include "run/runner.h"
#include "run/wait.h"
#include "session/session.h"

#include <errno.h>

enum {
    FOLLOW_MS = 2000, /* for the expected screen */
    FOLLOW_QUIET_MS = 200,
    INPUT_MAX = 256 << 20,
};

struct rerun_state {
    const struct rerun_options *options;
    json_t *expected; /* recorded snapshot number expected_of, or NULL */
    size_t expected_of;
    json_t *screens;       /* by index: null if equal to the recorded one, otherwise the screen */
    struct buf transcript; /* of the new run */
    json_t *run;           /* the new RunResult */
    struct refeed
        refeed;  /* the new transcript at the recorded offsets; .term is NULL until needed */
    bool behind; /* it printed less than in the recording: don't wait again */
    struct mismatch lost; /* a missing snapshot */
    struct err error;     /* the comparison failed */
};

static void rerun_on_output(void *context, struct str bytes)
{
    struct rerun_state *g = context;
    buf_add_str(&g->transcript, bytes);
}

/* Loads the recorded snapshot. Returns false if there isn't one or after an earlier error. */
static bool rerun_load_expected(struct rerun_state *g, size_t index)
{
    if (g->error.code || g->lost.kind || index >= g->options->timeline->n)
        return false;
    if (g->expected && g->expected_of == index)
        return true;
    json_decref(g->expected);
    g->expected = NULL;
    g->expected_of = index;
    return source_snapshot(g->options->files->dir, index, &g->expected, &g->lost, &g->error) &&
           !g->lost.kind;
}

/* Whether a screen equals the recorded one; m has the difference. */
static bool rerun_same_screen(
    struct rerun_state *g, size_t index, const json_t *actual, struct mismatch *m)
{
    const struct compare_place place = {index, &g->options->timeline->marks[index]};
    return compare_screens(g->options->n, &place, g->expected, actual, m, &g->error) && !m->kind;
}

static json_t *screen_now(const struct rerun_state *g, struct session *session)
{
    return compare_screen_of(session_term(session), json_object_get(g->expected, "cells") != NULL);
}

/* Once it has printed as much as in the recording, waiting would only let it get ahead. */
static bool rerun_is_reached(void *context, struct session *session)
{
    struct rerun_state *g = context;
    size_t index = json_array_size(g->screens);
    if (!rerun_load_expected(g, index) ||
        session_fed_bytes(session) >= g->options->timeline->marks[index].offset)
        return true;
    AUTO_JSON json_t *actual = screen_now(g, session);
    struct mismatch m = {0};
    bool same = rerun_same_screen(g, index, actual, &m);
    mismatch_done(&m);
    return same || g->error.code;
}

static void rerun_wait_after(void *context, struct session *session)
{
    (void)wait_follow(&(struct wait_follow){.session = session,
        .until_ms = clock_mono_ms() + FOLLOW_MS,
        .quiet_ms = FOLLOW_QUIET_MS,
        .reached = rerun_is_reached,
        .context = context});
}

static const struct timeline_mark *next_mark(const struct rerun_state *g)
{
    const struct timeline *timeline = g->options->timeline;
    return &timeline->marks[MIN(json_array_size(g->screens), timeline->n - 1)];
}

static bool is_ready(void *context, struct session *session)
{
    return session_fed_bytes(session) >= next_mark(context)->from || session_has_ended(session);
}

/* The recorded client may have waited for output before it sent the next request. */
static void rerun_wait_before(void *context, struct session *session)
{
    struct rerun_state *g = context;
    uint64_t most = FOLLOW_MS + 2 * next_mark(g)->pause_ms;
    if (!g->behind)
        g->behind = !wait_follow(&(struct wait_follow){.session = session,
            .until_ms = clock_mono_ms() + most,
            .quiet_ms = most,
            .reached = is_ready,
            .context = g});
}

/* Keeps a screen that differs from the recorded one, to be judged later. */
static void note_screen(struct rerun_state *g, json_t *actual)
{
    size_t index = json_array_size(g->screens);
    struct mismatch m = {0};
    bool keep = rerun_load_expected(g, index) && !rerun_same_screen(g, index, actual, &m);
    json_push(g->screens, keep ? json_incref(actual) : json_null());
    mismatch_done(&m);
}

static void rerun_on_progress(void *context, const struct runner_progress *now)
{
    struct rerun_state *g = context;
    if (now->begins)
        return;
    (void)rerun_load_expected(g, json_array_size(g->screens));
    AUTO_JSON json_t *actual = screen_now(g, now->session);
    note_screen(g, actual);
}

/* Judging ------------------------------------------------------------------------------------- */

/* Whether the recorded screen was shown after as many bytes of the new output. */
static bool was_shown(struct rerun_state *g, size_t index)
{
    struct mismatch m = {0};
    if (g->options->n->strict)
        return false;
    const struct timeline *timeline = g->options->timeline;
    if (!g->refeed.term)
        g->refeed = (struct refeed){.timeline = timeline,
            .bytes = buf_str(&g->transcript),
            .term = refeed_term(timeline, NULL, NULL)};
    refeed_to(&g->refeed, index);
    AUTO_JSON json_t *screen =
        compare_screen_of(g->refeed.term, json_object_get(g->expected, "cells") != NULL);
    bool same = rerun_same_screen(g, index, screen, &m);
    mismatch_done(&m);
    return same;
}

static void rerun_compare_screen(struct rerun_state *g, size_t index, struct mismatch *m)
{
    const json_t *actual = json_array_get(g->screens, index);
    if (!actual || json_is_null(actual) || !rerun_load_expected(g, index))
        return;
    if (!was_shown(g, index) && !g->error.code)
        (void)rerun_same_screen(g, index, actual, m);
}

/* A client may poll with short timeouts: a timeout in the recording depends on timing. */
static bool timed_out(const json_t *step)
{
    const json_t *error = json_object_get(step, "error");
    return str_is(json_str(json_object_get(error, "code")), "E_TIMEOUT");
}

static void rerun_compare_steps(struct rerun_state *g, struct mismatch *m)
{
    const struct timeline *timeline = g->options->timeline;
    const json_t *was = json_object_get(g->options->files->run, "steps"),
                 *is = json_object_get(g->run, "steps");
    size_t n = MAX(json_array_size(was), json_array_size(is)), index = 0;
    for (size_t i = 0; i < n && !m->kind; i++) {
        if (!timeline->driven || !timed_out(json_array_get(was, i)))
            compare_steps(i, json_array_get(was, i), json_array_get(is, i), m);
        if (!m->kind && index < timeline->n && timeline->marks[index].step == i)
            rerun_compare_screen(g, index++, m);
    }
    for (; index < timeline->n && !m->kind; index++)
        rerun_compare_screen(g, index, m);
}

/* Output printed after a request to end is not part of a scenario. */
static bool rerun_compare_output(struct rerun_state *g, struct mismatch *m, struct err *err)
{
    const struct rerun_options *options = g->options;
    struct str was = buf_str(&options->files->transcript), is = buf_str(&g->transcript);
    if (options->scenario || options->timeline->driven) {
        size_t end = (size_t)options->timeline->marks[options->timeline->n - 1].offset;
        was = str_head(was, end);
        is = str_head(is, end);
    }
    return compare_transcripts(options->n, was, is, m, err);
}

/* Compares the new run's events or, if they differ, the events that its output causes up to the
 * point where the recording ended. */
static bool rerun_compare_events(struct rerun_state *g, struct mismatch *m, struct err *err)
{
    const struct rerun_options *options = g->options;
    struct source_events then = {0}, now = {0};
    if (!source_events(options->files->dir, &then, err))
        return false;
    AUTO_JSON json_t *was = then.list;
    if (!source_events(options->artifacts->dir, &now, err))
        return false;
    AUTO_JSON json_t *is = now.list;
    if (!then.known || !now.known || then.dropped || now.dropped)
        return true;
    if (!events_compare(options->n, was, is, m, err) || !m->kind)
        return !err->code;
    AUTO_JSON json_t *by_then =
        options->n->strict ? NULL : events_of(options->timeline, buf_str(&g->transcript));
    AUTO_JSON json_t *terminal = events_of_terminal(was);
    struct mismatch other = {0};
    if (by_then && !events_compare(options->n, terminal, by_then, &other, err))
        return false;
    if (by_then && !other.kind)
        mismatch_done(m);
    mismatch_done(&other);
    return true;
}

static bool rerun_compare(struct rerun_state *g, struct mismatch *m, struct err *err)
{
    const struct rerun_options *options = g->options;
    const struct record_files *files = options->files;
    if (!buf_ok(&g->transcript))
        return err_set(err, E_IO, "the command printed more than can be compared");
    if (!g->error.code && !g->lost.kind)
        rerun_compare_steps(g, m);
    if (g->error.code)
        return err_move(err, &g->error);
    if (g->lost.kind) {
        mismatch_done(m);
        *m = g->lost;
        g->lost = (struct mismatch){0};
        return true;
    }
    if (!m->kind)
        compare_ends(files->run, g->run,
            options->n->strict || (!options->scenario && !options->timeline->driven), m);
    if (!m->kind && (options->n->strict || options->timeline->plain) &&
        !rerun_compare_output(g, m, err))
        return false;
    if (!m->kind && !options->timeline->plain && !rerun_compare_events(g, m, err))
        return false;
    if (!m->kind)
        compare_names(options->n, files->run, g->run, m);
    return true;
}

/* Running ------------------------------------------------------------------------------------- */

static json_t *result_of(const struct rerun_options *options, const struct result_input *part)
{
    struct result_input input = *part;
    AUTO_JSON json_t *scenario = options->scenario ? scenario_json(options->scenario) : NULL;
    input.mode = options->scenario ? "run" : options->timeline->driven ? "driver" : "exec";
    input.scenario = scenario;
    if (options->timeline->driven) {
        input.rows = options->timeline->rows;
        input.cols = options->timeline->cols;
    }
    input.confined = options->confined;
    input.argv = options->confined->argv;
    return result_json(&input);
}

static bool rerun_was_canceled(const struct exec_result *r, struct err *err)
{
    if (r->status == EXEC_CANCELED)
        err_copy(err, &r->error);
    return r->status == EXEC_CANCELED;
}

/* Keeps the screen after the last step and the result, unless the run was interrupted. */
static bool keep_run(struct rerun_state *g, const struct result_input *input, struct err *err)
{
    if (rerun_was_canceled(input->result, err))
        return false;
    if (json_array_size(g->screens) == g->options->timeline->n - 1)
        note_screen(g, json_object_get(input->observation, "screen"));
    g->run = result_of(g->options, input);
    return true;
}

static bool rerun_scenario(struct rerun_state *g, struct err *err)
{
    const struct rerun_options *options = g->options;
    const json_t *screen =
        json_object_get(json_object_get(options->files->run, "final_observation"), "screen");
    const struct runner_options runner = {
        .scenario = options->scenario,
        .confined = options->confined,
        .cells = json_object_get(screen, "cells") != NULL,
        .cancel = options->cancel,
        .progress = rerun_on_progress,
        .output = rerun_on_output,
        .after = rerun_wait_after,
        .artifacts = options->artifacts,
        .run_id = options->run_id,
        .context = g,
    };
    struct runner_result result;
    if (!runner_run(&runner, &result, err))
        return false;
    const struct result_input outcome = {.run_id = result.run_id,
        .result = &result.run,
        .steps = result.steps,
        .observation = result.observation};
    bool ok = keep_run(g, &outcome, err);
    runner_result_done(&result);
    return ok;
}

/* Extends the timeout of a step that passed: it may take a little longer this time. */
static json_t *patient_step(json_t *step)
{
    const json_t *timeout = json_object_get(step, "timeout_ms");
    bool passed = str_is(json_str(json_object_get(step, "status")), "passed");
    if (!passed || !json_is_integer(timeout))
        return json_incref(step);
    json_t *copy = json_copy(step);
    json_put(copy, "timeout_ms",
        json_integer(MIN(json_integer_value(timeout), 3600 * 1000) + FOLLOW_MS));
    return copy;
}

/* Returns a file with the recorded input of the driver. */
static int make_input(const json_t *steps, struct err *err)
{
    AUTO_BUF struct buf lines = BUF_INIT(INPUT_MAX);
    AUTO_FD int fd = file_nameless();
    size_t i;
    json_t *step;
    json_array_foreach((json_t *)steps, i, step)
    {
        AUTO_JSON json_t *patient = patient_step(step);
        if (request_line(patient, &lines))
            continue;
        err_set(err, E_PROTOCOL, "run.json: steps (%zu): expected an action", i);
        err_ctx(err, "file", "run.json");
        return -1;
    }
    if (fd < 0 || !buf_ok(&lines) || !file_write_all(fd, buf_str(&lines)) ||
        lseek(fd, 0, SEEK_SET)) {
        err_errno(err, E_IO, errno, "cannot store the input of the driver");
        return -1;
    }
    return TAKE_FD(fd);
}

static bool rerun_on_answer(void *context, const json_t *object, struct write_deadline *deadline)
{
    (void)deadline;
    json_t *screen = json_object_get(object, "screen");
    if (screen)
        note_screen(context, screen);
    return true;
}

static bool rerun_driver(struct rerun_state *g, struct err *err)
{
    const struct rerun_options *options = g->options;
    const json_t *steps = json_object_get(options->files->run, "steps");
    const json_t *last = json_array_get(steps, json_array_size(steps) - 1);
    AUTO_FD int input = make_input(steps, err);
    const struct driver_options driver = {
        .live = {.observed = {options->confined, options->timeline->rows, options->timeline->cols,
                     options->cancel},
            .artifacts = options->artifacts,
            .run_id = options->run_id,
            .output = rerun_on_output,
            .context = g},
        .input = input,
        .keep_going = !json_object_get(last, "input"),
        .answer = rerun_on_answer,
        .before = rerun_wait_before,
        .after = rerun_wait_after,
        .context = g,
    };
    struct live_result result;
    if (input < 0 || !driver_run(&driver, &result, err))
        return false;
    const struct result_input outcome = {.run_id = result.run_id,
        .result = &result.run,
        .steps = result.steps,
        .observation = result.observation};
    bool ok = keep_run(g, &outcome, err);
    live_result_done(&result);
    return ok;
}

static bool rerun_command(struct rerun_state *g, struct err *err)
{
    const struct timeline *timeline = g->options->timeline;
    const struct observed_exec_options options = {
        .artifacts = g->options->artifacts,
        .run_id = g->options->run_id,
        .snapshot_max = UINT64_MAX,
        .screen = true,
    };
    const struct exec_options exec = {
        .confined = g->options->confined,
        .terminal = !timeline->plain,
        .pipe_input = !timeline->plain,
        .input = -1,
        .output = {-1, -1},
        .signals = g->options->cancel,
        .cancel = -1,
        .rows = timeline->rows,
        .cols = timeline->cols,
        .seen = rerun_on_output,
        .context = g,
    };
    struct observed_exec o;
    if (!observed_exec_run(&options, &exec, &o, err))
        return false;
    bool cells = rerun_load_expected(g, 0) && json_object_get(g->expected, "cells");
    bool ok = !rerun_was_canceled(&o.result, err) &&
              observed_exec_take(&o, cells ? OBSERVER_CELLS : OBSERVER_FULL, err);
    if (ok && o.term)
        note_screen(g, json_object_get(o.observation, "screen"));
    if (ok)
        g->run = result_of(g->options,
            &(struct result_input){
                .run_id = o.observer.run_id, .result = &o.result, .observation = o.observation});
    observed_exec_done(&o);
    return ok;
}

bool rerun(const struct rerun_options *options, struct mismatch *m, struct err *err)
{
    struct rerun_state g = {.options = options,
        .screens = json_array(),
        .transcript = BUF_INIT(RECORD_FILES_TRANSCRIPT_MAX)};
    bool ok = options->scenario           ? rerun_scenario(&g, err)
              : options->timeline->driven ? rerun_driver(&g, err)
                                          : rerun_command(&g, err);
    ok = ok && artifacts_settle(options->artifacts, err) &&
         artifacts_put_json(options->artifacts, "run.json", g.run, err) &&
         rerun_compare(&g, m, err);
    term_free(g.refeed.term);
    json_decref(g.expected);
    json_decref(g.screens);
    json_decref(g.run);
    buf_done(&g.transcript);
    mismatch_done(&g.lost);
    err_done(&g.error);
    return ok;
}
