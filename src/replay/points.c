/* Points in transcripts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/points.h"

#include "base/id.h"
#include "session/session.h"
#include "term/snapshot_json.h"

enum {
    SCREEN_BYTES = 256 << 20,
    STEPS_MAX = 100 * 1000,
};

static bool points_invalid(struct err *err, const char *place, size_t index, const char *want)
{
    err_set(err, E_PROTOCOL, "run.json: %s (%zu): expected %s", place, index, want);
    return err_ctx(err, "file", "run.json");
}

static bool read_size(const json_t *size, uint16_t *ret_rows, uint16_t *ret_cols)
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
static bool resizes(const json_t *step, const json_t *action)
{
    const json_t *error = json_object_get(step, "error");
    return str_is(json_str(json_object_get(action, "type")), "resize") &&
           !str_is(json_str(json_object_get(error, "code")), "E_PROCESS_EXIT");
}

static uint64_t points_number(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? (uint64_t)n : 0;
}

static uint64_t pause_before(const json_t *steps, size_t index)
{
    uint64_t start = points_number(json_array_get(steps, index), "started_at_ms");
    uint64_t end = index ? points_number(json_array_get(steps, index - 1), "ended_at_ms") : 0;
    return start > end ? start - end : 0;
}

static bool read_point(const json_t *run, size_t index, size_t transcript_bytes,
    struct points *ret_points, struct err *err)
{
    const json_t *step = json_array_get(json_object_get(run, "steps"), index);
    struct point *point = &ret_points->p[ret_points->n];
    const json_t *bytes = json_object_get(step, "transcript_bytes");
    const json_t *action = json_object_get(step, "action");
    uint64_t before = ret_points->n ? point[-1].offset : 0;
    *point = (struct point){.step = index, .id = json_str(json_object_get(step, "step_id"))};
    if (!json_is_object(step) || !point->id.p)
        return points_invalid(err, "steps", index, "an object with a step_id");
    if (!json_object_get(step, "snapshot"))
        return true;
    point->from = ret_points->driven ? points_number(step, "from_bytes") : before;
    point->pause_ms = pause_before(json_object_get(run, "steps"), index);
    point->offset = (uint64_t)json_integer_value(bytes);
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || point->offset < before ||
        point->offset > transcript_bytes || point->from < before || point->from > point->offset)
        return points_invalid(err, "steps transcript_bytes", index, "a place in the transcript");
    if (resizes(step, action) &&
        !read_size(json_object_get(action, "payload"), &point->rows, &point->cols))
        return points_invalid(err, "steps action", index, "rows and cols");
    ret_points->n++;
    return true;
}

static bool read_steps(const json_t *run, size_t transcript_bytes, struct arena *arena,
    struct points *points, struct err *err)
{
    const json_t *steps = json_object_get(run, "steps");
    const json_t *scenario = json_object_get(json_object_get(run, "scenario"), "run");
    const json_t *config = points->driven ? run : scenario;
    size_t n = json_array_size(steps);
    if (!json_is_array(steps) || n > STEPS_MAX)
        return points_invalid(err, "steps", 0, "a list");
    if (!read_size(json_object_get(config, "initial_size"), &points->rows, &points->cols))
        return points_invalid(err, "initial_size", 0, "rows and cols");
    points->p = ARENA_NEW(arena, struct point, n + 1);
    points->scrollback = TERM_SCROLLBACK;
    for (size_t i = 0; i < n; i++)
        if (!read_point(run, i, transcript_bytes, points, err))
            return false;
    /* Output after the last step of a scenario is not part of its last screen. */
    uint64_t last = points->n ? points->p[points->n - 1].offset : 0;
    uint64_t end = points->driven ? points_number(json_object_get(run, "final_observation"),
                                        "transcript_bytes")
                                  : last;
    if (end < last || end > transcript_bytes)
        return points_invalid(err, "final_observation", 0, "a place in the transcript");
    points->p[points->n++] = (struct point){.step = n, .offset = end, .from = end};
    return true;
}

bool points_read(const json_t *run, size_t transcript_bytes, struct arena *arena,
    struct points *ret_points, struct err *err)
{
    struct points points = {0};
    const json_t *screen = json_object_get(json_object_get(run, "final_observation"), "screen");
    points.driven = str_is(json_str(json_object_get(run, "mode")), "driver");
    if (points.driven && (!json_object_get(run, "steps") || json_object_get(run, "steps_cut")))
        return err_set(err, E_NOT_FOUND,
            "this is the record of a driver, and does not hold all of its input: there is nothing "
            "to replay");
    points.screen = json_is_object(screen);
    if (points.driven || json_object_get(run, "scenario")) {
        if (!read_steps(run, transcript_bytes, arena, &points, err))
            return false;
    } else if (points.screen) {
        if (!read_size(screen, &points.rows, &points.cols))
            return points_invalid(err, "final_observation.screen", 0, "rows and cols");
        points.p = ARENA_NEW(arena, struct point, 1);
        points.p[points.n++] = (struct point){.offset = transcript_bytes};
    }
    *ret_points = points;
    return true;
}

/* Screens ------------------------------------------------------------------------------------- */

void refeed_init(struct refeed *r, const struct points *points, struct str transcript)
{
    r->points = points;
    r->bytes = transcript;
    r->at = r->next = 0;
    r->term = term_new(&(struct term_options){.rows = points->rows,
        .cols = points->cols,
        .scrollback = points->scrollback,
        .event = r->event,
        .context = r->context});
}

void refeed_done(struct refeed *r)
{
    term_free(r->term);
    r->term = NULL;
}

json_t *points_screen(const struct term *t, bool cells)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot s;
    char id[ID_SIZE];
    id_new(id);
    snapshot_take(t, &arena, cells ? SNAPSHOT_CELLS : 0, &s);
    return snapshot_json(&s, id);
}

static void feed_to(struct refeed *r, uint64_t end)
{
    end = MIN(end, (uint64_t)r->bytes.n);
    if (end <= r->at)
        return;
    term_feed(r->term, str_n(r->bytes.p + r->at, (size_t)(end - r->at)));
    term_drop_replies(r->term, term_replies(r->term).n);
    r->at = end;
}

void refeed_go(struct refeed *r, size_t point)
{
    for (; r->next <= point; r->next++) {
        const struct point *p = &r->points->p[r->next];
        feed_to(r, p->from);
        if (p->rows)
            term_resize(r->term, p->rows, p->cols);
        feed_to(r, p->offset);
    }
}

json_t *refeed_screen(struct refeed *r, size_t point, bool cells)
{
    refeed_go(r, point);
    return points_screen(r->term, cells);
}
