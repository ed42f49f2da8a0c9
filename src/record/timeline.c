/* Observations of a run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/timeline.h"

#include "base/grow.h"
#include "record/record_files.h"
#include "term/term.h"

enum {
    ROWS = 24,
    COLS = 80,
};

const char *const timeline_kept[] = {"error", "matched_by", "action", NULL};

static const uint64_t MS_MAX = UINT64_C(100) * 365 * 24 * 3600 * 1000;

void timeline_done(struct timeline *t)
{
    free(t->marks);
    free(t->times);
    json_decrefp(&t->keep);
    *t = TIMELINE_NONE;
}

uint64_t timeline_number(const json_t *object, const char *key, uint64_t max, uint64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return otherwise;
    json_int_t n = json_integer_value(value);
    return n < 0 ? 0 : MIN((uint64_t)n, max);
}

static bool timeline_size(const json_t *object, uint16_t *rows, uint16_t *cols)
{
    uint64_t r = timeline_number(object, "rows", TERM_ROWS_MAX, 0);
    uint64_t c = timeline_number(object, "cols", TERM_COLS_MAX, 0);
    if (r == 0 || c == 0)
        return false;
    *rows = (uint16_t)r;
    *cols = (uint16_t)c;
    return true;
}

/* The last resize between the previous mark and this one. */
static void timeline_resize(struct timeline_mark *m, const json_t *events, size_t before)
{
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        const json_t *details = json_object_get(event, "details");
        if (!str_is(json_str(json_object_get(event, "type")), "resize") ||
            !timeline_size(details, &m->resize.rows, &m->resize.cols))
            continue;
        uint64_t at = timeline_number(details, "transcript_bytes", m->offset, before);
        m->resize.offset = MAX((size_t)at, before);
    }
}

static json_t *timeline_keep(struct timeline *t, const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!t->keep)
        t->keep = json_array();
    if (value)
        json_push(t->keep, json_incref(value));
    return value;
}

/* Reads the times of the new output, in order and not before the previous mark. */
static void timeline_times(
    struct timeline *t, const json_t *output, uint64_t zero, struct timeline_mark *m)
{
    const json_t *times = json_object_get(output, "times"), *entry;
    size_t i, n = json_array_size(times);
    m->every = (size_t)timeline_number(output, "every", RECORD_FILES_TRANSCRIPT_MAX, 0);
    if (m->every == 0 || n == 0 || n > TIMELINE_TIMES_MAX - t->n_times)
        return;
    m->first_time = t->n_times;
    m->n_times = n;
    json_array_foreach(times, i, entry)
    {
        zero = MIN(MAX(timeline_number(entry, "timestamp_ms", MS_MAX, zero), zero), m->at_ms);
        GROW(t->times, t->n_times, t->cap_times, (size_t)TIMELINE_TIMES_MAX);
        t->times[t->n_times++] = zero;
    }
}

void timeline_observe(
    struct timeline *t, size_t transcript_bytes, const json_t *observation, const json_t *step)
{
    const json_t *o = observation, *screen = json_object_get(o, "screen");
    const struct timeline_mark *last = t->n ? &t->marks[t->n - 1] : NULL;
    struct timeline_mark m = {0};
    size_t before = last ? last->offset : 0;
    uint64_t zero = last ? last->at_ms : 0;
    uint64_t offset = timeline_number(o, "transcript_bytes",
        transcript_bytes, /* older records have it in the steps only */
        timeline_number(step, "transcript_bytes", transcript_bytes, before));
    m.offset = MAX((size_t)offset, before);
    m.at_ms = MAX(timeline_number(o, "timestamp_ms", MS_MAX, zero), zero);
    m.from_ms = MIN(MAX(timeline_number(step, "started_at_ms", MS_MAX, zero), zero), m.at_ms);
    (void)timeline_size(screen, &m.rows, &m.cols);
    timeline_resize(&m, json_object_get(o, "events"), before);
    json_t **const kept[] = {&m.error, &m.matched_by, &m.action};
    for (size_t i = 0; timeline_kept[i]; i++)
        *kept[i] = timeline_keep(t, o, timeline_kept[i]);
    timeline_times(t, json_object_get(o, "output"), zero, &m);
    if (!last && json_is_null(screen))
        t->plain = true;
    GROW(t->marks, t->n, t->cap, (size_t)TIMELINE_OBSERVATIONS_MAX + 1);
    t->marks[t->n++] = m;
}

void timeline_complete(
    struct timeline *t, size_t transcript_bytes, const json_t *run, const json_t *scenario)
{
    const json_t *planned = json_object_get(scenario, "run");
    t->rows = ROWS;
    t->cols = COLS;
    t->scrollback = TERM_SCROLLBACK; /* a resize brings lines back */
    if (!timeline_size(json_object_get(planned, "initial_size"), &t->rows, &t->cols) &&
        !timeline_size(json_object_get(run, "initial_size"), &t->rows, &t->cols) && t->n &&
        t->marks[0].rows && !t->marks[0].resize.rows) {
        t->rows = t->marks[0].rows;
        t->cols = t->marks[0].cols;
    }
    uint64_t last = t->n ? t->marks[t->n - 1].at_ms : 0;
    size_t offset = t->n ? t->marks[t->n - 1].offset : 0;
    t->end_ms = MAX(timeline_number(run, "ended_at_ms", MS_MAX, last), last);
    if (t->n && offset == transcript_bytes)
        return;
    AUTO_JSON json_t *rest = json_object();
    json_put(rest, "timestamp_ms", json_integer((json_int_t)t->end_ms));
    json_put(rest, "transcript_bytes", json_integer((json_int_t)transcript_bytes));
    timeline_observe(
        t, transcript_bytes, rest, json_array_get(json_object_get(run, "steps"), t->n));
}
