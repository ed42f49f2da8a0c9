/* Steps of a run at which its screen was recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/timeline.h"
#include "term/term.h"

static bool steps_invalid(struct err *err, const char *place, size_t index, const char *want)
{
    err_set(err, E_PROTOCOL, "run.json: %s (%zu): expected %s", place, index, want);
    return err_ctx(err, "file", "run.json");
}

static bool steps_read_size(const json_t *size, uint16_t *ret_rows, uint16_t *ret_cols)
{
    json_int_t rows = json_integer_value(json_object_get(size, "rows"));
    json_int_t cols = json_integer_value(json_object_get(size, "cols"));
    if (rows < 1 || rows > TERM_ROWS_MAX || cols < 1 || cols > TERM_COLS_MAX)
        return false;
    *ret_rows = (uint16_t)rows;
    *ret_cols = (uint16_t)cols;
    return true;
}

/* Whether the step really changed the size: not if the command had ended. */
static bool steps_resizes(const json_t *step, const json_t *action)
{
    const json_t *error = json_object_get(step, "error");
    return str_is(json_str(json_object_get(action, "type")), "resize") &&
           !str_is(json_str(json_object_get(error, "code")), "E_PROCESS_EXIT");
}

static uint64_t steps_number(const json_t *object, const char *key)
{
    return timeline_number(object, key, UINT64_MAX, 0);
}

static uint64_t steps_pause_before(const json_t *steps, size_t index)
{
    uint64_t start = steps_number(json_array_get(steps, index), "started_at_ms");
    uint64_t end = index ? steps_number(json_array_get(steps, index - 1), "ended_at_ms") : 0;
    return start > end ? start - end : 0;
}

static bool steps_read_mark(
    const json_t *steps, size_t index, size_t transcript_bytes, struct timeline *t, struct err *err)
{
    const json_t *step = json_array_get(steps, index);
    const json_t *bytes = json_object_get(step, "transcript_bytes");
    const json_t *action = json_object_get(step, "action");
    size_t before = t->n ? t->marks[t->n - 1].offset : 0;
    struct timeline_mark m = {.step = index, .id = json_str(json_object_get(step, "step_id"))};
    if (!json_is_object(step) || !m.id.p)
        return steps_invalid(err, "steps", index, "an object with a step_id");
    if (!json_object_get(step, "snapshot"))
        return true;
    m.from = t->driven ? steps_number(step, "from_bytes") : before;
    m.pause_ms = steps_pause_before(steps, index);
    m.offset = (size_t)json_integer_value(bytes);
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || m.offset < before ||
        m.offset > transcript_bytes || m.from < before || m.from > m.offset)
        return steps_invalid(err, "steps transcript_bytes", index, "an offset in the transcript");
    m.resize.offset = m.from;
    if (steps_resizes(step, action) &&
        !steps_read_size(json_object_get(action, "payload"), &m.resize.rows, &m.resize.cols))
        return steps_invalid(err, "steps action", index, "rows and cols");
    t->marks[t->n++] = m;
    return true;
}

static bool steps_read_all(
    const json_t *run, size_t transcript_bytes, struct timeline *t, struct err *err)
{
    const json_t *steps = json_object_get(run, "steps");
    const json_t *scenario = json_object_get(json_object_get(run, "scenario"), "run");
    const json_t *config = t->driven ? run : scenario;
    size_t n = json_array_size(steps);
    if (!json_is_array(steps) || n > TIMELINE_STEPS_MAX)
        return steps_invalid(err, "steps", 0, "a list");
    if (!steps_read_size(json_object_get(config, "initial_size"), &t->rows, &t->cols))
        return steps_invalid(err, "initial_size", 0, "rows and cols");
    t->marks = base_alloc((n + 1) * sizeof(*t->marks));
    t->scrollback = TERM_SCROLLBACK;
    for (size_t i = 0; i < n; i++)
        if (!steps_read_mark(steps, i, transcript_bytes, t, err))
            return false;
    /* Output after the last step of a scenario is not part of its last screen. */
    size_t last = t->n ? t->marks[t->n - 1].offset : 0;
    size_t end = t->driven
                     ? steps_number(json_object_get(run, "final_observation"), "transcript_bytes")
                     : last;
    if (end < last || end > transcript_bytes)
        return steps_invalid(err, "final_observation", 0, "an offset in the transcript");
    t->marks[t->n++] = (struct timeline_mark){.step = n, .offset = end, .from = end};
    return true;
}

bool timeline_read_steps(
    const json_t *run, size_t transcript_bytes, struct timeline *ret_timeline, struct err *err)
{
    AUTO(timeline_done) struct timeline t = TIMELINE_NONE;
    const json_t *screen = json_object_get(json_object_get(run, "final_observation"), "screen");
    t.driven = str_is(json_str(json_object_get(run, "mode")), "driver");
    if (t.driven && (!json_object_get(run, "steps") || json_object_get(run, "steps_cut")))
        return err_set(err, E_NOT_FOUND,
            "nothing to replay: this is the record of a driver, and does not contain all of "
            "its input");
    t.plain = !json_is_object(screen);
    if (t.driven || json_object_get(run, "scenario")) {
        if (!steps_read_all(run, transcript_bytes, &t, err))
            return false;
    } else if (!t.plain) {
        if (!steps_read_size(screen, &t.rows, &t.cols))
            return steps_invalid(err, "final_observation.screen", 0, "rows and cols");
        t.marks = base_alloc(sizeof(*t.marks));
        t.marks[t.n++] = (struct timeline_mark){.offset = transcript_bytes};
    }
    *ret_timeline = t;
    t = TIMELINE_NONE;
    return true;
}
