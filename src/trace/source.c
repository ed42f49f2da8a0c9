/* Reads artifacts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/source.h"

#include "base/grow.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "record/reader.h"
#include "term/term.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    ROWS = 24,
    COLS = 80,
};

static const uint64_t MS_MAX = UINT64_C(100) * 365 * 24 * 3600 * 1000;

uint64_t trace_number(const json_t *object, const char *key, uint64_t max, uint64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return otherwise;
    json_int_t n = json_integer_value(value);
    return n < 0 ? 0 : MIN((uint64_t)n, max);
}

/* Files --------------------------------------------------------------------------------------- */

/* Whether a name below the directory belongs to the record. */
static bool is_part(struct str name)
{
    static const char *const starts[] = {"checksums.json", "snapshots/", "goldens/"};
    for (size_t i = 0; record_names[i]; i++)
        if (str_is(name, record_names[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (str_starts_with(name, str_z(starts[i])))
            return true;
    return str_starts_with(name, STR("replay-")) && str_find(name, '/') >= 0;
}

/* Whether a file of the record is the same file under another name. */
static bool trace_same_file(const struct trace *t, const char *name, const struct stat *file)
{
    struct stat st;
    AUTO_FD int fd = record_file(t->dir, name);
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

bool trace_holds(const struct trace *t, int file)
{
    AUTO_FREE char *dir = beneath_name(t->dir), *name = beneath_name(file);
    struct stat st;
    if (!dir || !name || fstat(file, &st) != 0)
        return true;
    struct str rest = str_z(name);
    if (str_starts_with(rest, str_z(dir)) && rest.p[strlen(dir)] == '/' &&
        is_part(str_skip(rest, strlen(dir) + 1)))
        return true;
    for (size_t i = 0; record_names[i]; i++)
        if (trace_same_file(t, record_names[i], &st))
            return true;
    return trace_same_file(t, "checksums.json", &st);
}

/* Notes an unreadable file and continues without it: the rest may still be useful. */
static void trace_note_damaged(struct trace *t, const char *where, const struct err *why)
{
    json_push(t->damaged, json_sprintf("%.80s%s%.400s", where, *where ? ": " : "", why->message));
}

/* Returns an object from a file; NULL if the file is missing or damaged. */
static json_t *trace_read_object(struct trace *t, int dir, const char *where, const char *name)
{
    AUTO_ERR struct err why = {0};
    json_t *tree = NULL;
    if (record_has(dir, name) && !record_object(dir, name, &tree, &why))
        trace_note_damaged(t, where, &why);
    return tree;
}

/* Observations -------------------------------------------------------------------------------- */

static void add_event(struct trace *t, const json_t *event, uint64_t at_ms)
{
    if (!json_is_object(event))
        return;
    if (json_array_size(t->events) >= TRACE_EVENTS_MAX) {
        t->events_dropped++;
        return;
    }
    json_t *object = json_object();
    json_put(object, "t", json_integer((json_int_t)at_ms));
    for (const char *const *key = (const char *const[]){"type", "message", "details", NULL}; *key;
         key++) {
        json_t *value = json_object_get(event, *key);
        if (value)
            json_put(object, *key, json_incref(value));
    }
    json_push(t->events, object);
}

static bool size_of(const json_t *object, unsigned *rows, unsigned *cols)
{
    uint64_t r = trace_number(object, "rows", TERM_ROWS_MAX, 0);
    uint64_t c = trace_number(object, "cols", TERM_COLS_MAX, 0);
    if (r == 0 || c == 0)
        return false;
    *rows = (unsigned)r;
    *cols = (unsigned)c;
    return true;
}

static void read_events(struct trace *t, const json_t *list, struct trace_mark *m, size_t before)
{
    size_t i;
    const json_t *event;
    json_array_foreach(list, i, event)
    {
        const char *type = json_string_value(json_object_get(event, "type"));
        const json_t *details = json_object_get(event, "details");
        add_event(t, event, m->at_ms);
        if (type && strcmp(type, "resize") == 0 && size_of(details, &m->size.rows, &m->size.cols)) {
            uint64_t at = trace_number(details, "transcript_bytes", m->offset, before);
            m->size.offset = MAX((size_t)at, before);
        }
    }
}

static void trace_keep(struct trace *t, json_t *value, json_t **place)
{
    *place = value;
    if (value)
        json_push(t->keep, json_incref(value));
}

/* Reads the times of the new output, in order and not before the previous mark. */
static void read_times(struct trace *t, const json_t *output, uint64_t zero, struct trace_mark *m)
{
    const json_t *times = json_object_get(output, "times"), *entry;
    size_t i, n = json_array_size(times);
    m->every = (size_t)trace_number(output, "every", TRACE_TRANSCRIPT_MAX, 0);
    if (m->every == 0 || n == 0 || n > TRACE_TIMES_MAX - t->n_times)
        return;
    t->times = base_realloc(t->times, (t->n_times + n) * sizeof(*t->times));
    m->first_time = t->n_times;
    m->n_times = n;
    json_array_foreach(times, i, entry)
    {
        zero = MIN(MAX(trace_number(entry, "timestamp_ms", MS_MAX, zero), zero), m->at_ms);
        t->times[t->n_times++] = zero;
    }
}

static void add_mark(struct trace *t, const json_t *o)
{
    const struct trace_mark *last = t->n_marks ? &t->marks[t->n_marks - 1] : NULL;
    const json_t *steps = t->run ? json_object_get(t->run, "steps") : NULL;
    const json_t *step = json_array_get(steps, t->n_marks);
    struct trace_mark m = {0};
    size_t before = last ? last->offset : 0;
    uint64_t zero = last ? last->at_ms : 0;
    uint64_t offset = trace_number(o, "transcript_bytes",
        t->transcript.n, /* older records have it in the steps only */
        trace_number(step, "transcript_bytes", t->transcript.n, before));
    m.offset = MAX((size_t)offset, before);
    m.at_ms = MAX(trace_number(o, "timestamp_ms", MS_MAX, zero), zero);
    m.from_ms = MIN(MAX(trace_number(step, "started_at_ms", MS_MAX, zero), zero), m.at_ms);
    (void)size_of(json_object_get(o, "screen"), &m.rows, &m.cols);
    read_events(t, json_object_get(o, "events"), &m, before);
    trace_keep(t, json_object_get(o, "error"), &m.error);
    trace_keep(t, json_object_get(o, "matched_by"), &m.matched_by);
    trace_keep(t, json_object_get(o, "action"), &m.action);
    read_times(t, json_object_get(o, "output"), zero, &m);
    if (!last && json_is_null(json_object_get(o, "screen")))
        t->plain = true;
    GROW(t->marks, t->n_marks, t->cap_marks, (size_t)TRACE_MARKS_MAX + 1);
    t->marks[t->n_marks++] = m;
}

static bool take_observation(void *context, const json_t *o, struct err *err)
{
    struct trace *t = context;
    if (t->n_marks >= TRACE_MARKS_MAX)
        return err_set(err, E_IO, "events.jsonl has more than %d lines", TRACE_MARKS_MAX);
    add_mark(t, o);
    return true;
}

/* Line by line: screens with cells may be large, and there may be many. */
static bool read_observations(struct trace *t, struct err *err)
{
    return !record_has(t->dir, "events.jsonl") ||
           record_lines(t->dir, "events.jsonl", !t->run, take_observation, t, err);
}

/* The rest ------------------------------------------------------------------------------------ */

static bool read_transcript(struct trace *t, const char *path, struct err *err)
{
    if (record_has(t->dir, "transcript.log"))
        return record_text(t->dir, "transcript.log", TRACE_TRANSCRIPT_MAX, &t->transcript, err);
    return err_set(err, E_NOT_FOUND,
        "'%s' has no transcript.log: it is no record of a run (see cordon run --artifacts)", path);
}

/* Determines the initial size and adds a last mark at the end of the output. */
static void trace_complete(struct trace *t)
{
    const json_t *run = json_object_get(t->scenario, "run");
    t->rows = ROWS;
    t->cols = COLS;
    if (!size_of(json_object_get(run, "initial_size"), &t->rows, &t->cols) &&
        !size_of(json_object_get(t->run, "initial_size"), &t->rows, &t->cols) && t->n_marks &&
        t->marks[0].rows && !t->marks[0].size.rows) {
        t->rows = t->marks[0].rows;
        t->cols = t->marks[0].cols;
    }
    uint64_t last = t->n_marks ? t->marks[t->n_marks - 1].at_ms : 0;
    size_t offset = t->n_marks ? t->marks[t->n_marks - 1].offset : 0;
    t->end_ms = MAX(trace_number(t->run, "ended_at_ms", MS_MAX, last), last);
    if (t->n_marks && offset == t->transcript.n)
        return;
    json_t *rest = json_object();
    json_put(rest, "timestamp_ms", json_integer((json_int_t)t->end_ms));
    json_put(rest, "transcript_bytes", json_integer((json_int_t)t->transcript.n));
    add_mark(t, rest);
    json_decref(rest);
}

/* Reads everything except the replays. */
static bool read_record(struct trace *t, const char *path, struct err *err)
{
    t->events = json_array();
    t->replays = json_array();
    t->keep = json_array();
    t->damaged = json_array();
    if (!read_transcript(t, path, err))
        return false;
    t->run = trace_read_object(t, t->dir, "", "run.json");
    t->scenario = trace_read_object(t, t->dir, "", "scenario.json");
    if (!read_observations(t, err))
        return false;
    trace_complete(t);
    return true;
}

static void read_summary(struct trace *t, const char *name, json_t *diff, int dir)
{
    json_t *object = json_object(), *summary = trace_read_object(t, dir, name, "replay.json");
    json_put(object, "name", json_text(str_z(name)));
    if (summary)
        json_put(object, "summary", summary);
    json_put(object, "diff", json_incref(diff));
    json_push(t->replays, object);
}

/* Reads a replay that differed, with the record of its new run, if any. */
static void read_replay(struct trace *t, const char *name)
{
    AUTO_FD int dir = beneath_open(t->dir, name, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    AUTO_JSON json_t *diff = dir >= 0 ? trace_read_object(t, dir, name, "diff.json") : NULL;
    AUTO(trace_close) struct trace run = TRACE_NONE;
    AUTO_ERR struct err why = {0};
    if (!diff)
        return;
    read_summary(t, name, diff, dir);
    if (!record_has(dir, "run.json"))
        return;
    run.dir = TAKE_FD(dir);
    if (!read_record(&run, name, &why)) {
        trace_note_damaged(t, name, &why);
        return;
    }
    for (size_t i = 0; i < json_array_size(run.damaged); i++)
        json_push(t->damaged,
            json_sprintf("%.80s: %s", name, json_string_value(json_array_get(run.damaged, i))));
    t->runs = base_realloc(t->runs, (t->n_runs + 1) * sizeof(*t->runs));
    t->runs[t->n_runs++] = (struct trace_replay){run, json_array_size(t->replays) - 1};
    run = TRACE_NONE;
}

struct replay_name {
    struct timespec written;
    char name[NAME_MAX + 1];
};

static bool is_newer(const struct replay_name *a, const struct replay_name *b)
{
    if (a->written.tv_sec != b->written.tv_sec)
        return a->written.tv_sec > b->written.tv_sec;
    if (a->written.tv_nsec != b->written.tv_nsec)
        return a->written.tv_nsec > b->written.tv_nsec;
    return strcmp(a->name, b->name) > 0;
}

static void keep_newest(
    struct replay_name list[TRACE_REPLAYS_MAX], size_t *n, const struct replay_name *one)
{
    size_t at = *n;
    while (at && is_newer(one, &list[at - 1]))
        at--;
    if (at == TRACE_REPLAYS_MAX)
        return;
    *n = MIN(*n + 1, (size_t)TRACE_REPLAYS_MAX);
    memmove(list + at + 1, list + at, (*n - at - 1) * sizeof(*list));
    list[at] = *one;
}

static int trace_compare_names(const void *a, const void *b)
{
    return strcmp(((const struct replay_name *)a)->name, ((const struct replay_name *)b)->name);
}

/* Reads the time of a replay that differed. */
static bool look_replay(const struct dir *d, struct replay_name *ret_one)
{
    char path[NAME_MAX + sizeof("/diff.json")];
    struct stat st;
    if (strncmp(d->name, "replay-", 7) != 0)
        return false;
    snprintf(path, sizeof(path), "%s/diff.json", d->name);
    AUTO_FD int fd = record_file(d->fd, path);
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    ret_one->written = st.st_mtim;
    snprintf(ret_one->name, sizeof(ret_one->name), "%s", d->name);
    return true;
}

static void read_replays(struct trace *t)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    struct replay_name list[TRACE_REPLAYS_MAX], one;
    size_t n = 0;
    bool listed = dir_open(&d, t->dir, ".");
    while (listed && dir_next(&d))
        if (look_replay(&d, &one))
            keep_newest(list, &n, &one);
    qsort(list, n, sizeof(*list), trace_compare_names);
    for (size_t i = 0; i < n; i++)
        read_replay(t, list[i].name);
}

const json_t *trace_steps(const struct trace *t)
{
    const json_t *steps = json_object_get(t->run ? t->run : t->scenario, "steps");
    return json_is_array(steps) ? steps : NULL;
}

bool trace_is_skipped(const json_t *step)
{
    return str_is(json_str(json_object_get(step, "status")), "skipped");
}

bool trace_open(const char *dir, struct trace *ret_trace, struct err *err)
{
    AUTO(trace_close) struct trace t = TRACE_NONE;
    t.dir = record_open(dir, err);
    if (t.dir < 0 || !read_record(&t, dir, err))
        return false;
    read_replays(&t);
    *ret_trace = t;
    t = TRACE_NONE;
    return true;
}

void trace_close(struct trace *t)
{
    if (t->dir >= 0)
        close(TAKE_FD(t->dir));
    json_decrefp(&t->run);
    json_decrefp(&t->scenario);
    json_decrefp(&t->events);
    json_decrefp(&t->replays);
    json_decrefp(&t->keep);
    json_decrefp(&t->damaged);
    buf_done(&t->transcript);
    free(t->marks);
    free(t->times);
    for (size_t i = 0; i < t->n_runs; i++)
        trace_close(&t->runs[i].run);
    free(t->runs);
    *t = TRACE_NONE;
}
