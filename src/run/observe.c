/* Takes observations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/observe.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "run/run_result.h"
#include "term/snapshot_json.h"
#include "term/term_events.h"

enum {
    SCREEN_BYTES = 256 << 20,
    MESSAGE_MAX = 4096,
};

void observer_init(struct observer *o, const char *run_id)
{
    *o = (struct observer){.text = BUF_INIT(2 * OBSERVER_TEXT_MAX),
        .snapshot_max = UINT64_MAX,
        .events = json_array()};
    if (run_id)
        snprintf(o->run_id, sizeof(o->run_id), "%s", run_id);
    else
        id_new(o->run_id);
    id_new(o->session_id);
    o->started_ms = clock_mono_ms();
}

void observer_done(struct observer *o)
{
    buf_done(&o->text);
    timing_done(&o->timing);
    json_decrefp(&o->events);
    free(o->rows);
    o->rows = NULL;
}

/* Keeps only the end of the output. */
void observer_output(void *context, struct str bytes)
{
    struct observer *o = context;
    o->bytes += bytes.n;
    if (o->artifacts) {
        artifacts_transcript(o->artifacts, bytes);
        timing_add(&o->timing, o->bytes, clock_mono_ms() - o->started_ms);
    }
    if (o->also)
        o->also(o->context, bytes);
    if (bytes.n > OBSERVER_TEXT_MAX) {
        bytes = str_skip(bytes, bytes.n - OBSERVER_TEXT_MAX);
        o->cut = true;
        buf_reset(&o->text);
    }
    if (o->text.n + bytes.n > 2 * OBSERVER_TEXT_MAX - 1) {
        size_t keep = OBSERVER_TEXT_MAX - MIN(bytes.n, (size_t)OBSERVER_TEXT_MAX);
        memmove(o->text.p, o->text.p + o->text.n - keep, keep);
        buf_truncate(&o->text, keep);
        o->cut = true;
    }
    buf_add_str(&o->text, bytes);
}

bool observer_open(struct observer *o, const struct observer_options *options,
    struct session **ret_session, struct err *err)
{
    const struct confined *c = options->confined;
    const struct session_options session = {
        .plan = &c->plan,
        .argv = c->argv,
        .envp = c->envp,
        .rows = options->rows,
        .cols = options->cols,
        .budgets = confined_budgets(c),
        .scrollback = TERM_SCROLLBACK,
        .denied = c->denied,
        .cancel = options->cancel,
        .output = observer_output,
        .event = observer_event,
        .context = o,
        .refused = c->refused,
    };
    return session_open(&session, ret_session, err);
}

/* Events -------------------------------------------------------------------------------------- */

static json_t *budget_details(const struct observer *o, const struct session_event *e)
{
    (void)o;
    json_t *details = json_object();
    json_put(details, "budget", json_text(e->text));
    json_put(details, "percent", json_integer(e->value));
    return details;
}

static json_t *size_details(const struct observer *o, const struct session_event *e)
{
    json_t *details = json_object();
    json_put(details, "rows", json_integer(e->value >> 16));
    json_put(details, "cols", json_integer(e->value & 0xFFFF));
    json_put(details, "transcript_bytes", json_integer((json_int_t)o->bytes));
    return details;
}

static json_t *exit_details(const struct observer *o, const struct session_event *e)
{
    (void)o;
    return result_exit_json(e->exit);
}

/* Events of a session other than those of its terminal. */
static const struct observer_kind {
    const char *name, *help;
    json_t *(*details)(const struct observer *o, const struct session_event *e);
} kinds[] = {
    [SESSION_EVENT_TERM] = {0},
    [SESSION_EVENT_BUDGET_NEAR] = {"budget_near",
        "80 percent of a budget is used: details.budget, details.percent", budget_details},
    [SESSION_EVENT_RESIZE] = {"resize",
        "the terminal was resized: details.rows, details.cols; details.transcript_bytes: "
        "bytes of output before that",
        size_details},
    [SESSION_EVENT_EXIT] = {"exit",
        "the program has ended: details are its ExitStatus (success, exit_code or signal, "
        "terminated_by_harness)",
        exit_details},
};

/* A resize request is reported as unanswered_query, not as its own event. */
static const char *observer_event_name(const struct session_event *e)
{
    if (e->type != SESSION_EVENT_TERM)
        return kinds[e->type].name;
    return e->term == TERM_EVENT_RESIZE ? NULL : event_name(e->term);
}

static void push_help(json_t *list, const char *key, const char *name, const char *help)
{
    json_t *entry = json_object();
    json_put(entry, key, json_string(name));
    json_put(entry, "help", json_string(help));
    json_push(list, entry);
}

json_t *observer_event_types(void)
{
    json_t *list = json_array();
    for (int type = 0; type < TERM_EVENTS; type++)
        if (observer_event_name(&(struct session_event){.term = (enum term_event_type)type}))
            push_help(list, "type", event_name((enum term_event_type)type),
                event_help((enum term_event_type)type));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].name)
            push_help(list, "type", kinds[i].name, kinds[i].help);
    return list;
}

void observer_event(void *context, const struct session_event *event)
{
    struct observer *o = context;
    const char *name = observer_event_name(event);
    if (!name)
        return;
    o->ended |= event->type == SESSION_EVENT_EXIT;
    if (json_array_size(o->events) >= OBSERVER_EVENTS_MAX) {
        o->dropped++;
        return;
    }
    AUTO_BUF struct buf message = BUF_INIT(4 * MESSAGE_MAX + 1);
    utf8_add_printable(&message, str_head(event->text, MESSAGE_MAX));
    json_t *object = json_object();
    json_put(object, "type", json_string(name));
    if (message.n)
        json_put(object, "message", json_text(buf_str(&message)));
    if (kinds[event->type].details)
        json_put(object, "details", kinds[event->type].details(o, event));
    json_push(o->events, object);
}

void observer_term_event(void *context, const struct term_event *event)
{
    observer_event(context,
        &(struct session_event){SESSION_EVENT_TERM, event->type, event->text, event->value});
}

/* Screens ------------------------------------------------------------------------------------- */

static bool row_changed(const struct observer *o, const struct snapshot *s, unsigned row)
{
    return o->n_rows != s->rows || o->rows[row] != s->hashes[row];
}

/* Returns only the rows that differ from the last observation, by row number. */
static json_t *delta_json(struct observer *o, const struct snapshot *s, const char *id)
{
    struct snapshot small = *s;
    small.cells = NULL;
    json_t *object = snapshot_json(&small, id), *rows = json_object();
    char name[16];
    for (unsigned row = 0; row < s->rows; row++) {
        if (!row_changed(o, s, row))
            continue;
        snprintf(name, sizeof(name), "%u", row);
        json_put(rows, name, json_text(s->lines[row]));
    }
    json_object_del(object, "lines");
    json_put(object, "changed", rows);
    return object;
}

static void remember_rows(struct observer *o, const struct snapshot *s)
{
    if (o->n_rows != s->rows)
        o->rows = base_realloc(o->rows, s->rows * sizeof(*o->rows));
    o->n_rows = s->rows;
    memcpy(o->rows, s->hashes, s->rows * sizeof(*o->rows));
}

static bool observer_json_fits(const json_t *json, uint64_t max)
{
    AUTO_BUF struct buf text = BUF_INIT((size_t)MIN(max, (uint64_t)SCREEN_BYTES) + 1);
    json_add_compact(&text, json);
    return buf_ok(&text) && text.n <= max;
}

static json_t *screen_json(struct observer *o, const struct term *t, enum observer_screen how)
{
    if (!t)
        return json_null();
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot s;
    char id[ID_SIZE];
    id_new(id);
    snapshot_take(t, &arena, how == OBSERVER_CELLS ? SNAPSHOT_CELLS : 0, &s);
    json_t *json =
        how == OBSERVER_DELTA && o->n_rows ? delta_json(o, &s, id) : snapshot_json(&s, id);
    remember_rows(o, &s);
    if (o->snapshot_max != UINT64_MAX && !observer_json_fits(json, o->snapshot_max)) {
        o->too_large = true;
        json_decref(json);
        return json_null();
    }
    return json;
}

json_t *observer_screen(const struct term *t)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot s;
    char id[ID_SIZE];
    id_new(id);
    snapshot_take(t, &arena, 0, &s);
    return snapshot_json(&s, id);
}

bool observer_fits(const struct observer *o, struct err *err)
{
    if (!o->too_large)
        return true;
    err_set(err, E_TIMEOUT,
        "a snapshot is larger than %llu bytes; set budgets.max_snapshot_bytes in a policy "
        "(--policy) to allow more",
        (unsigned long long)o->snapshot_max);
    err_ctx_int(err, "limit", (int64_t)MIN(o->snapshot_max, (uint64_t)INT64_MAX));
    return err_ctx(err, "budget", "max_snapshot_bytes");
}

/* Returns the number of bytes at the end that begin an incomplete character. */
static size_t observe_open_end(struct str text)
{
    for (size_t back = 1; back < UTF8_MAX && back <= text.n; back++) {
        struct str tail = str_skip(text, text.n - back);
        unsigned char first = (unsigned char)tail.p[0];
        uint32_t ignored;
        if (first < 0x80)
            return 0;
        if (first >= 0xC0)
            return utf8_decode(tail, &ignored) == 0 && utf8_invalid_length(tail) == tail.n &&
                           first >= 0xC2 && first < 0xF5
                       ? back
                       : 0;
    }
    return 0;
}

/* Returns the output since the last observation as text. A partial character at the start is
 * skipped; one at the end is left for the next observation, unless the session has ended. */
static json_t *text_json(struct observer *o)
{
    AUTO_BUF struct buf text = BUF_INIT(8 * OBSERVER_TEXT_MAX);
    struct str bytes = buf_str(&o->text);
    if (bytes.n > OBSERVER_TEXT_MAX) {
        bytes = str_skip(bytes, bytes.n - OBSERVER_TEXT_MAX);
        o->cut = true;
    }
    for (int i = 1; o->cut && i < UTF8_MAX && bytes.n && (bytes.p[0] & 0xC0) == 0x80; i++)
        bytes = str_skip(bytes, 1);
    size_t kept = o->ended ? 0 : observe_open_end(bytes);
    utf8_add_lossy(&text, str_head(bytes, bytes.n - kept));
    char tail[UTF8_MAX];
    memcpy(tail, bytes.p + bytes.n - kept, kept);
    buf_reset(&o->text);
    buf_add(&o->text, tail, kept);
    return json_text(buf_str(&text));
}

/* Whole observations -------------------------------------------------------------------------- */

struct observer_view {
    struct observer *o;
    const struct term *t;
    enum observer_screen how;
};

static json_t *observer_get_version(const struct observer_view *a)
{
    (void)a;
    return json_integer(RUN_PROTOCOL_VERSION);
}

static json_t *observer_get_run_id(const struct observer_view *a)
{
    return json_string(a->o->run_id);
}

static json_t *observer_get_session_id(const struct observer_view *a)
{
    return json_string(a->o->session_id);
}

static json_t *observer_get_time(const struct observer_view *a)
{
    return json_integer((json_int_t)(clock_mono_ms() - a->o->started_ms));
}

static json_t *observer_get_screen(const struct observer_view *a)
{
    return screen_json(a->o, a->t, a->how);
}

static json_t *observer_get_text(const struct observer_view *a)
{
    return text_json(a->o);
}

static json_t *observer_get_bytes(const struct observer_view *a)
{
    return json_integer((json_int_t)a->o->bytes);
}

static json_t *observer_get_cut(const struct observer_view *a)
{
    bool cut = a->o->cut;
    a->o->cut = false;
    return cut ? json_true() : NULL;
}

static json_t *observer_get_events(const struct observer_view *a)
{
    json_t *events = a->o->events;
    a->o->events = json_array();
    return events;
}

static json_t *observer_get_dropped(const struct observer_view *a)
{
    size_t dropped = a->o->dropped;
    a->o->dropped = 0;
    return dropped ? json_integer((json_int_t)dropped) : NULL;
}

/* In the order of the observation; parts without a value are left out. */
static const struct {
    const char *name, *help;
    json_t *(*take)(const struct observer_view *a);
} parts[] = {
    {"protocol_version", "1", observer_get_version},
    {"run_id", "id of the run", observer_get_run_id},
    {"session_id", "id of the session", observer_get_session_id},
    {"timestamp_ms", "milliseconds since the start of the run", observer_get_time},
    {"screen", "the ScreenSnapshot; null if it exceeded its budget, or if there is none",
        observer_get_screen},
    {"transcript_delta",
        "output since the previous observation, as text; bytes that are not text, and "
        "NUL, become U+FFFD",
        observer_get_text},
    {"transcript_bytes", "number of bytes of output that the screen reflects", observer_get_bytes},
    {"transcript_cut", "true if transcript_delta contains only the end of the output",
        observer_get_cut},
    {"events", "events since the previous observation", observer_get_events},
    {"events_dropped", "number of further events that were dropped", observer_get_dropped},
};

json_t *observer_take(struct observer *o, const struct term *t, enum observer_screen how)
{
    const struct observer_view taking = {o, t, how};
    json_t *object = json_object();
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        json_t *value = parts[i].take(&taking);
        if (value)
            json_put(object, parts[i].name, value);
    }
    return object;
}

json_t *observer_fields(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        push_help(list, "name", parts[i].name, parts[i].help);
    return list;
}

void observer_record(struct observer *o, json_t *observation, const json_t *action)
{
    if (!o->artifacts)
        return;
    json_t *output = timing_take(&o->timing, o->recorded, o->bytes);
    o->recorded = o->bytes;
    if (output)
        json_put(observation, "output", output);
    if (action)
        json_put(observation, "action", json_incref((json_t *)action));
    artifacts_event(o->artifacts, observation);
    json_object_del(observation, "output");
    json_object_del(observation, "action");
}
