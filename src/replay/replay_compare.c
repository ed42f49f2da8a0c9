/* Compares runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay_compare.h"

#include "base/id.h"
#include "base/utf8.h"
#include "term/snapshot_json.h"

enum {
    SCREEN_BYTES = 256 << 20,
    LINE_MAX_BYTES = 1 << 20,
    TEXT_MAX = 1 << 30,
    SHOWN = 200, /* bytes of a line in a message */
    VALUE_SHOWN_MAX = 4096,
};

static struct str compare_text_field(const json_t *object, const char *key)
{
    struct str s = json_str(json_object_get(object, key));
    return s.p ? s : STR("");
}

static void compare_show(struct buf *text, const json_t *value)
{
    if (value)
        json_add_compact(text, value);
    if (buf_ok(text))
        return;
    buf_reset(text);
    buf_add_z(text, "a value that is too long to show");
}

/* Screens ------------------------------------------------------------------------------------- */

json_t *compare_screen_of(const struct term *t, bool cells)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot s;
    char id[ID_SIZE];
    id_new(id);
    snapshot_take(t, &arena, cells ? SNAPSHOT_CELLS : 0, &s);
    return snapshot_json(&s, id);
}

static void compare_put_row(json_t *rows, size_t row, struct str expected, struct str actual)
{
    json_t *object = json_object();
    json_put(object, "row", json_integer((json_int_t)row));
    json_put(object, "expected", json_text(expected));
    json_put(object, "actual", json_text(actual));
    json_push(rows, object);
}

/* Whether only the background of the cell is visible: a blank whose text color and weight don't
 * show. */
static bool is_bare(const json_t *cell)
{
    static const char *const drawn[] = {"underline", "inverse", "strike", "overline", "link"};
    const json_t *style = json_object_get(cell, "style");
    for (size_t i = 0; i < ARRAY_LEN(drawn); i++) {
        const json_t *value = json_object_get(style, drawn[i]);
        if (value && !json_is_false(value))
            return false;
    }
    return str_is(compare_text_field(cell, "ch"), " ");
}

/* The invisible style of a blank depends on the order of drawing, and so on timing. */
static bool replay_same_cell(const struct normalization *n, const json_t *a, const json_t *b)
{
    if (!a || !b || json_equal((json_t *)a, (json_t *)b))
        return a && b;
    const json_t *was = json_object_get(json_object_get(a, "style"), "bg"),
                 *is = json_object_get(json_object_get(b, "style"), "bg");
    return !n->strict && is_bare(a) && is_bare(b) && was && is &&
           json_equal((json_t *)was, (json_t *)is);
}

/* Returns the cells that differ, by column. */
static json_t *cells_of(const struct normalization *n, const json_t *expected, const json_t *actual)
{
    json_t *list = json_array();
    size_t cols = MAX(json_array_size(expected), json_array_size(actual));
    for (size_t col = 0; col < cols && json_array_size(list) < MISMATCH_CELLS_MAX; col++) {
        json_t *a = json_array_get(expected, col), *b = json_array_get(actual, col);
        if (replay_same_cell(n, a, b))
            continue;
        json_t *object = json_object();
        json_put(object, "col", json_integer((json_int_t)col));
        json_put(object, "expected", a ? json_incref(a) : json_null());
        json_put(object, "actual", b ? json_incref(b) : json_null());
        json_push(list, object);
    }
    return list;
}

static bool snapshot_invalid(const struct compare_place *place, const char *key, size_t row,
    const char *want, const char *is, struct err *err)
{
    char name[64];
    snprintf(name, sizeof(name), "snapshots/%04zu.json", place->index + 1);
    err_set(err, E_PROTOCOL, "%s: %s (%zu): expected %s, not %s", name, key, row, want, is);
    return err_ctx(err, "file", "%s", name);
}

/* Checks the types of the lines, and of the cells if there are any, in a recorded snapshot. */
static bool check_snapshot(
    const struct compare_place *place, const json_t *snapshot, struct err *err)
{
    const json_t *lines = json_object_get(snapshot, "lines"),
                 *cells = json_object_get(snapshot, "cells");
    if (!json_is_array(lines))
        return snapshot_invalid(place, "lines", 0, "a list", json_kind(lines), err);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i), *row = json_array_get(cells, i);
        if (!json_is_string(line))
            return snapshot_invalid(place, "lines", i, "a string", json_kind(line), err);
        if (json_string_length(line) > LINE_MAX_BYTES)
            return snapshot_invalid(place, "lines", i, "at most 1 MiB", "more", err);
        if (cells && !json_is_array(row))
            return snapshot_invalid(place, "cells", i, "a list", json_kind(row), err);
    }
    return true;
}

static struct str compare_line_text(const json_t *snapshot, size_t row)
{
    struct str s = json_str(json_array_get(json_object_get(snapshot, "lines"), row));
    return s.p ? s : STR("");
}

static const json_t *cells_row(const json_t *snapshot, size_t row)
{
    return json_array_get(json_object_get(snapshot, "cells"), row);
}

static bool compare_row(const struct normalization *n, size_t row, const json_t *expected,
    const json_t *actual, json_t *rows, struct err *err)
{
    AUTO_BUF struct buf a = BUF_INIT(LINE_MAX_BYTES), b = BUF_INIT(LINE_MAX_BYTES);
    struct str was = compare_line_text(expected, row), is = compare_line_text(actual, row);
    const json_t *was_cells = cells_row(expected, row), *is_cells = cells_row(actual, row);
    if (!normalization_text(n, POLICY_TARGET_SNAPSHOT_LINES, was, &a, err) ||
        !normalization_text(n, POLICY_TARGET_SNAPSHOT_LINES, is, &b, err))
        return false;
    bool same = str_eq(buf_str(&a), buf_str(&b));
    /* A rule that hides text also hides its cells. */
    bool look_at_cells =
        was_cells && is_cells && str_eq(was, buf_str(&a)) && str_eq(is, buf_str(&b));
    AUTO_JSON json_t *cells = NULL;
    if (look_at_cells && !json_equal((json_t *)was_cells, (json_t *)is_cells))
        cells = cells_of(n, was_cells, is_cells);
    if (same && !json_array_size(cells))
        return true;
    compare_put_row(rows, row, buf_str(&a), buf_str(&b));
    if (look_at_cells)
        json_put(json_array_get(rows, json_array_size(rows) - 1), "cells",
            cells ? json_incref(cells) : json_array());
    return true;
}

static void add_where(const struct compare_place *place, struct buf *b)
{
    const struct timeline_mark *p = place->mark;
    if (p && p->id.p)
        buf_printf(b, "step %zu '" STR_FMT "'", p->step + 1, STR_ARG(str_head(p->id, 64)));
    else
        buf_add_z(b, "the last screen");
}

static void blame_place(const struct compare_place *place, struct mismatch *m)
{
    const struct timeline_mark *p = place->mark;
    err_ctx(&m->error, "snapshot", "snapshots/%04zu.json", place->index + 1);
    if (p && p->id.p) {
        err_ctx(&m->error, "step_id", STR_FMT, STR_ARG(p->id));
        err_ctx_int(&m->error, "step", (int64_t)p->step);
    }
}

static void blame_rows(const struct compare_place *place, json_t *rows, struct mismatch *m)
{
    AUTO_BUF struct buf where = BUF_INIT(512);
    const json_t *first = json_array_get(rows, 0);
    long long row = json_integer_value(json_object_get(first, "row"));
    struct str was = str_head(compare_text_field(first, "expected"), SHOWN),
               is = str_head(compare_text_field(first, "actual"), SHOWN);
    add_where(place, &where);
    if (str_eq(was, is))
        mismatch_set(m, "snapshot", (int64_t)place->index,
            "%s: row %lld differs in style: '" STR_FMT "'", buf_z(&where), row, STR_ARG(was));
    else
        mismatch_set(m, "snapshot", (int64_t)place->index,
            "%s: row %lld differs: expected '" STR_FMT "', got '" STR_FMT "'", buf_z(&where), row,
            STR_ARG(was), STR_ARG(is));
    err_ctx_int(&m->error, "row", row);
    blame_place(place, m);
    m->rows = json_incref(rows);
}

/* Compares everything except the rows; reports the first difference. */
static void compare_rest(const struct compare_place *place, const json_t *expected,
    const json_t *actual, struct mismatch *m)
{
    static const char *const keys[] = {
        "rows", "cols", "cursor", "alternate_screen", "title", "width"};
    AUTO_BUF struct buf where = BUF_INIT(512), was = BUF_INIT(1024), is = BUF_INIT(1024);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *a = json_object_get(expected, keys[i]), *b = json_object_get(actual, keys[i]);
        if (a == b || (a && b && json_equal(a, b)))
            continue;
        add_where(place, &where);
        compare_show(&was, a);
        compare_show(&is, b);
        mismatch_set(m, "snapshot", (int64_t)place->index, "%s: %s differs: expected %s, got %s",
            buf_z(&where), keys[i], buf_z(&was), buf_z(&is));
        err_ctx(&m->error, "field", "%s", keys[i]);
        err_ctx(&m->error, "expected", "%s", buf_z(&was));
        err_ctx(&m->error, "actual", "%s", buf_z(&is));
        blame_place(place, m);
        return;
    }
}

bool compare_screens(const struct normalization *n, const struct compare_place *place,
    const json_t *expected, const json_t *actual, struct mismatch *m, struct err *err)
{
    AUTO_JSON json_t *rows = json_array();
    if (!check_snapshot(place, expected, err))
        return false;
    size_t most = MAX(json_array_size(json_object_get(expected, "lines")),
        json_array_size(json_object_get(actual, "lines")));
    for (size_t row = 0; row < most && json_array_size(rows) < MISMATCH_ROWS_MAX; row++)
        if (!compare_row(n, row, expected, actual, rows, err))
            return false;
    if (json_array_size(rows))
        blame_rows(place, rows, m);
    else
        compare_rest(place, expected, actual, m);
    return true;
}

/* Ends ---------------------------------------------------------------------------------------- */

static void compare_report(struct mismatch *m, const char *kind, int64_t index, const char *what,
    struct str expected, struct str actual)
{
    mismatch_set(m, kind, index, "%s: expected '" STR_FMT "', got '" STR_FMT "'", what,
        STR_ARG(str_head(expected, SHOWN)), STR_ARG(str_head(actual, SHOWN)));
    err_ctx(&m->error, "expected", STR_FMT, STR_ARG(expected));
    err_ctx(&m->error, "actual", STR_FMT, STR_ARG(actual));
}

void compare_steps(size_t index, const json_t *expected, const json_t *actual, struct mismatch *m)
{
    AUTO_BUF struct buf what = BUF_INIT(512);
    struct str id = compare_text_field(expected, "step_id");
    struct str was = compare_text_field(expected, "status"),
               is = compare_text_field(actual, "status");
    const json_t *was_error = json_object_get(expected, "error"),
                 *is_error = json_object_get(actual, "error");
    buf_printf(&what, "step %zu '" STR_FMT "'", index + 1, STR_ARG(str_head(id, 64)));
    if (str_eq(was, is)) {
        was = compare_text_field(was_error, "code");
        is = compare_text_field(is_error, "code");
    }
    if (str_eq(was, is)) {
        was = compare_text_field(json_object_get(was_error, "context"), "assertion");
        is = compare_text_field(json_object_get(is_error, "context"), "assertion");
    }
    if (str_eq(was, is))
        return;
    compare_report(m, "step", (int64_t)index, buf_z(&what), was, is);
    err_ctx(&m->error, "step_id", STR_FMT, STR_ARG(id));
    err_ctx_int(&m->error, "step", (int64_t)index);
}

static void compare_value(const char *kind, const char *what, const json_t *expected,
    const json_t *actual, struct mismatch *m)
{
    AUTO_BUF struct buf was = BUF_INIT(VALUE_SHOWN_MAX), is = BUF_INIT(VALUE_SHOWN_MAX);
    if (m->kind || expected == actual ||
        (expected && actual && json_equal((json_t *)expected, (json_t *)actual)))
        return;
    compare_show(&was, expected);
    compare_show(&is, actual);
    compare_report(m, kind, MISMATCH_NO_INDEX, what, buf_str(&was), buf_str(&is));
}

static bool by_harness(const json_t *exit)
{
    return json_is_true(json_object_get(exit, "terminated_by_harness"));
}

void compare_ends(const json_t *expected, const json_t *actual, bool exact, struct mismatch *m)
{
    const json_t *was = json_object_get(expected, "exit_status"),
                 *is = json_object_get(actual, "exit_status");
    if (exact || (!by_harness(was) && !by_harness(is)))
        compare_value("exit_status", "the command's exit status", was, is, m);
    compare_value("status", "the run's status", json_object_get(expected, "status"),
        json_object_get(actual, "status"), m);
}

/* Transcripts --------------------------------------------------------------------------------- */

static bool normal_text(
    const struct normalization *n, struct str bytes, struct buf *out, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
    if (normalization_changes(n, POLICY_TARGET_TRANSCRIPT)) {
        utf8_add_lossy(&text, bytes);
        if (!normalization_text(n, POLICY_TARGET_TRANSCRIPT, buf_str(&text), out, err))
            return false;
    } else {
        buf_add_str(out, bytes);
    }
    if (!buf_ok(&text) || !buf_ok(out))
        return err_set(err, E_PROTOCOL, "the transcript is too long to be compared");
    return true;
}

/* Reports the first line that differs, counted from 0. */
static void blame_line(struct str expected, struct str actual, struct mismatch *m)
{
    struct str was = STR(""), is = STR("");
    size_t line = 0;
    for (;; line++) {
        bool more = str_cut(expected, '\n', &was, &expected),
             also = str_cut(actual, '\n', &is, &actual);
        was = more ? was : STR("");
        is = also ? is : STR("");
        if (!str_eq(was, is) || more != also || !more)
            break;
    }
    AUTO_BUF struct buf shown = BUF_INIT(8 * SHOWN), got = BUF_INIT(8 * SHOWN);
    utf8_add_printable(&shown, str_head(was, SHOWN));
    utf8_add_printable(&got, str_head(is, SHOWN));
    mismatch_set(m, "transcript", (int64_t)line,
        "the transcript differs in line %zu: expected '%s', got '%s'", line, buf_z(&shown),
        buf_z(&got));
    err_ctx_int(&m->error, "line", (int64_t)line);
    m->rows = json_array();
    compare_put_row(m->rows, line, was, is);
}

bool compare_transcripts(const struct normalization *n, struct str expected, struct str actual,
    struct mismatch *m, struct err *err)
{
    AUTO_BUF struct buf was = BUF_INIT(TEXT_MAX), is = BUF_INIT(TEXT_MAX);
    if (!normal_text(n, expected, &was, err) || !normal_text(n, actual, &is, err))
        return false;
    if (!str_eq(buf_str(&was), buf_str(&is)))
        blame_line(buf_str(&was), buf_str(&is), m);
    return true;
}

/* Ids and times ------------------------------------------------------------------------------- */

static const struct {
    enum normalization_filter filter;
    const char *outer, *inner; /* enclosing objects; may be NULL */
    const char *key;
} names[] = {
    {FILTER_RUN_ID, NULL, NULL, "run_id"},
    {FILTER_RUN_ID, "final_observation", NULL, "run_id"},
    {FILTER_SESSION_ID, "final_observation", NULL, "session_id"},
    {FILTER_SNAPSHOT_ID, "final_observation", "screen", "snapshot_id"},
    {FILTER_RUN_TIMESTAMPS, NULL, NULL, "started_at_ms"},
    {FILTER_RUN_TIMESTAMPS, NULL, NULL, "ended_at_ms"},
    {FILTER_OBSERVATION_TIMESTAMP, "final_observation", NULL, "timestamp_ms"},
};

static const json_t *compare_lookup(const json_t *run, size_t i)
{
    const json_t *at = names[i].outer ? json_object_get(run, names[i].outer) : run;
    at = names[i].inner ? json_object_get(at, names[i].inner) : at;
    return json_object_get(at, names[i].key);
}

void compare_names(
    const struct normalization *n, const json_t *expected, const json_t *actual, struct mismatch *m)
{
    const json_t *was = json_object_get(expected, "steps"), *is = json_object_get(actual, "steps");
    for (size_t i = 0; i < ARRAY_LEN(names) && !m->kind; i++)
        if (!(n->filters & 1u << names[i].filter))
            compare_value(policy_filters[names[i].filter], names[i].key,
                compare_lookup(expected, i), compare_lookup(actual, i), m);
    for (size_t i = 0; i < json_array_size(was) && !m->kind; i++) {
        const json_t *a = json_array_get(was, i), *b = json_array_get(is, i);
        if (n->filters & 1u << FILTER_STEP_TIMESTAMPS)
            break;
        compare_value("step_timestamps", "started_at_ms", json_object_get(a, "started_at_ms"),
            json_object_get(b, "started_at_ms"), m);
        compare_value("step_timestamps", "ended_at_ms", json_object_get(a, "ended_at_ms"),
            json_object_get(b, "ended_at_ms"), m);
        if (m->kind)
            m->index = (int64_t)i;
    }
}
