/* Writes the viewer's page. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/page.h"

#include "trace/frames.h"

/* Whether a field has the type that the viewer relies on. Other fields are shown as text. */
static bool is_expected(const char *name, const json_t *value)
{
    static const struct {
        const char *name;
        json_type type;
        bool of_objects;
    } kinds[] = {
        {"args", JSON_ARRAY, false},
        {"assert", JSON_ARRAY, true},
        {"assertions", JSON_ARRAY, true},
        {"action", JSON_OBJECT, false},
        {"exit_status", JSON_OBJECT, false},
        {"sandbox_report", JSON_OBJECT, false},
        {"metadata", JSON_OBJECT, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        bool ok = json_typeof(value) == kinds[i].type;
        for (size_t k = 0; ok && kinds[i].of_objects && k < json_array_size(value); k++)
            ok = json_is_object(json_array_get(value, k));
        return ok;
    }
    return true;
}

/* Copies fields by name into another object. */
static void page_copy_fields(json_t *to, const json_t *from, const char *const *names)
{
    for (; *names; names++) {
        json_t *value = json_object_get(from, *names);
        if (value && is_expected(*names, value))
            json_put(to, *names, json_incref(value));
    }
}

/* Returns an error without its screen, which is shown anyway. */
static json_t *error_json(const json_t *error)
{
    if (!json_is_object(error))
        return json_null();
    json_t *object = json_object(), *context = json_object();
    const char *key;
    json_t *value;
    page_copy_fields(object, error, (const char *const[]){"code", "message", NULL});
    json_object_foreach(json_object_get(error, "context"), key, value)
    {
        if (strcmp(key, "screen") != 0)
            json_put(context, key, json_incref(value));
    }
    json_put(object, "context", context);
    return object;
}

/* Steps --------------------------------------------------------------------------------------- */

static void put_span(json_t *step, const struct trace *t, const struct frames *f, size_t mark)
{
    bool there = mark < t->timeline.n;
    size_t last = t->timeline.n - 1;
    uint32_t after = f->of_mark[there ? mark : last];
    uint64_t end = there ? t->timeline.marks[mark].at_ms : t->timeline.end_ms;
    uint64_t start = there ? t->timeline.marks[mark].from_ms : t->timeline.end_ms;
    json_put(step, "before", json_integer(!there ? after : mark ? f->of_mark[mark - 1] : 0));
    json_put(step, "after", json_integer(after));
    json_put(step, "mark", there ? json_integer((json_int_t)mark) : json_null());
    json_put(step, "start", json_integer((json_int_t)start));
    json_put(step, "end", json_integer((json_int_t)end));
}

/* Returns a step of the run. It has an observation unless it was skipped. */
static json_t *page_step_json(const struct trace *t, const struct frames *f, const json_t *step,
    const json_t *planned, size_t mark)
{
    json_t *object = json_object();
    page_copy_fields(object, planned, (const char *const[]){"assert", NULL});
    page_copy_fields(object, step,
        (const char *const[]){"step_id", "name", "status", "attempts", "action", "sent",
            "assertions", "matched_by", "snapshot", NULL});
    json_put(object, "error", error_json(json_object_get(step, "error")));
    put_span(object, t, f, trace_is_skipped(step) ? t->timeline.n : mark);
    return object;
}

/* Returns a step of which only the scenario is known: steps with an observation were done, the next
 * one was interrupted. */
static json_t *planned_json(
    const struct trace *t, const struct frames *f, const json_t *step, size_t index, size_t n_seen)
{
    json_t *object = json_object();
    json_t *id = json_object_get(step, "id");
    if (id)
        json_put(object, "step_id", json_incref(id));
    page_copy_fields(object, step, (const char *const[]){"name", "action", NULL});
    json_put(object, "status",
        json_string(index < n_seen    ? "done"
                    : index == n_seen ? "canceled"
                                      : "skipped"));
    put_span(object, t, f, index <= n_seen ? index : t->timeline.n);
    return object;
}

/* Without steps, each observation is shown as one. */
static json_t *observed_json(const struct trace *t, const struct frames *f, size_t mark)
{
    const struct timeline_mark *m = &t->timeline.marks[mark];
    json_t *object = json_object();
    json_put(object, "name", json_sprintf("observation %zu", mark + 1));
    if (json_is_object(m->action))
        json_put(object, "action", json_incref(m->action));
    json_put(object, "status", json_string(json_is_object(m->error) ? "errored" : "done"));
    json_put(object, "error", error_json(m->error));
    if (m->matched_by)
        json_put(object, "matched_by", json_incref(m->matched_by));
    put_span(object, t, f, mark);
    return object;
}

static json_t *steps_json(const struct trace *t, const struct frames *f)
{
    json_t *list = json_array();
    const json_t *steps = trace_steps(t), *planned = json_object_get(t->scenario, "steps"), *step;
    size_t i, mark = 0;
    /* Ignore our own mark for the output after the last observation. */
    size_t seen = t->timeline.n;
    if (!t->files.run && seen && !t->timeline.marks[seen - 1].rows)
        seen--;
    json_array_foreach(steps, i, step)
    {
        json_push(list, t->files.run ? page_step_json(t, f, step, json_array_get(planned, i), mark)
                                     : planned_json(t, f, step, i, seen));
        mark += !trace_is_skipped(step);
    }
    for (i = 0; !json_array_size(steps) && i < t->timeline.n; i++)
        json_push(list, observed_json(t, f, i));
    return list;
}

/* The run ------------------------------------------------------------------------------------- */

static json_t *run_json(const struct trace *t)
{
    json_t *object = json_object();
    const json_t *planned = json_object_get(t->scenario, "run");
    if (t->files.run) {
        page_copy_fields(object, t->files.run,
            (const char *const[]){"run_id", "status", "command", "args", "cwd", "exit_status",
                "sandbox_report", NULL});
        json_put(object, "error", error_json(json_object_get(t->files.run, "error")));
    } else {
        page_copy_fields(object, planned, (const char *const[]){"command", "args", "cwd", NULL});
        json_put(object, "status", json_string("canceled"));
        json_put(object, "ended_early", json_true());
    }
    if (json_array_size(t->damaged))
        json_put(object, "damaged", json_incref(t->damaged));
    page_copy_fields(object, t->scenario, (const char *const[]){"name", "metadata", NULL});
    json_put(object, "duration", json_integer((json_int_t)t->timeline.end_ms));
    json_put(object, "bytes", json_integer((json_int_t)t->files.transcript.n));
    json_put(object, "text_bytes",
        json_integer((json_int_t)MIN(t->files.transcript.n, (size_t)PAGE_TEXT_MAX)));
    json_put(object, "plain", json_boolean(t->timeline.plain));
    json_put(object, "version", json_string(CORDON_VERSION));
    return object;
}

/* Adds the transcript: one line with a text for each mark. */
static void page_add_texts(const struct trace *t, struct buf *out)
{
    size_t at = 0, end = MIN(t->files.transcript.n, (size_t)PAGE_TEXT_MAX);
    for (size_t i = 0; i < t->timeline.n; i++) {
        size_t to = MIN(t->timeline.marks[i].offset, end);
        buf_add_z(out, i ? "\n" : "");
        json_add_text(out, str_n(buf_z(&t->files.transcript) + at, to - at));
        at = to;
    }
}

static void add_member(struct buf *out, const char *name, json_t *value)
{
    buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    json_add_compact(out, value);
    json_decref(value);
}

/* Adds the frames of the observations to replays that ran a command. */
static json_t *replays_json(const struct trace *t, const struct frames *f)
{
    json_t *list = json_copy(t->replays);
    for (size_t i = 0; i < t->n_runs; i++) {
        const struct trace_replay *r = &t->runs[i];
        json_t *object = json_copy(json_array_get(t->replays, r->index)), *frames = json_array();
        for (size_t mark = 0; mark < r->run.timeline.n; mark++)
            json_push(frames, json_integer(f->of_replay[i][mark]));
        json_put(object, "frames", frames);
        json_array_set_new(list, r->index, object);
    }
    return list;
}

static bool page_add_data(
    const struct trace *t, const struct frames *f, uint64_t start_ms, struct buf *out)
{
    buf_add_byte(out, '{');
    add_member(out, "run", run_json(t));
    add_member(out, "steps", steps_json(t, f));
    add_member(out, "events", json_incref(t->events));
    add_member(out, "events_dropped", json_integer((json_int_t)t->events_dropped));
    add_member(out, "replays", replays_json(t, f));
    add_member(
        out, "at", start_ms == PAGE_AT_END ? json_null() : json_integer((json_int_t)start_ms));
    buf_add_z(out, ",\"marks\":[");
    for (size_t i = 0; i < t->timeline.n; i++)
        buf_printf(out, "%s%llu,%u", i ? "," : "", (unsigned long long)t->timeline.marks[i].at_ms,
            f->of_mark[i]);
    buf_printf(out, "],\"n_rows\":%zu,", f->rows.n);
    bool ok = frames_json(f, out);
    buf_add_byte(out, '}');
    return ok && buf_ok(out) && buf_ok(&f->rows.text);
}

/* Escapes JSON for markup, so that it can't end the element or begin another. These characters
 * occur only in strings, where the escape is equivalent. */
static void page_add_escaped(struct buf *out, struct str json)
{
    size_t plain = 0;
    for (size_t i = 0; i < json.n; i++) {
        unsigned char c = (unsigned char)json.p[i];
        bool separator = c == 0xE2 && i + 2 < json.n && json.p[i + 1] == '\x80' &&
                         (json.p[i + 2] == '\xA8' || json.p[i + 2] == '\xA9');
        if (c != '<' && c != '>' && c != '&' && !separator)
            continue;
        buf_add(out, json.p + plain, i - plain);
        buf_printf(out, "\\u%04x", separator ? 0x2028u + (json.p[i + 2] == '\xA9') : c);
        i += separator ? 2 : 0;
        plain = i + 1;
    }
    buf_add(out, json.p + plain, json.n - plain);
}

/* Rows and texts are separate lines: the page parses only those that it shows. */
bool page_write(const struct trace *t, uint64_t start_ms, struct buf *out, struct err *err)
{
    AUTO_BUF struct buf data = BUF_INIT(PAGE_BYTES_MAX), texts = BUF_INIT(PAGE_BYTES_MAX);
    struct frames f;
    frames_make(t, &f);
    bool ok = page_add_data(t, &f, start_ms, &data);
    page_add_texts(t, &texts);
    buf_add_z(out, page_head);
    page_add_escaped(out, buf_str(&data));
    buf_add_z(out, "</script>\n<script id=\"rows\" type=\"text/plain\">");
    page_add_escaped(out, buf_str(&f.rows.text));
    buf_add_z(out, "</script>\n<script id=\"text\" type=\"text/plain\">");
    page_add_escaped(out, buf_str(&texts));
    buf_add_z(out, page_tail);
    frames_done(&f);
    if (!ok || !buf_ok(&texts) || !buf_ok(out))
        return err_set(err, E_IO, "the record is too large for one page: try --format asciicast");
    return true;
}
