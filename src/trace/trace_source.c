/* Reads artifacts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_source.h"

#include "base/grow.h"
#include "io/dir.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    NOTE_NAME = 80, /* bytes in a note about a damaged file */
    NOTE_REASON = 500,
    NOTE_MAX = 1024,
};

static const char events_name[] = "events.jsonl";

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
    AUTO_FD int fd = record_file(t->files.dir, name);
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

bool trace_holds(const struct trace *t, int file)
{
    AUTO_FREE char *dir = beneath_name(t->files.dir), *name = beneath_name(file);
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

/* Names and messages may contain any bytes, and may be cut off inside a character. */
static void trace_add_damaged(struct trace *t, const char *where, struct str why)
{
    AUTO_BUF struct buf text = BUF_INIT(NOTE_MAX);
    buf_add_str(&text, str_head(str_z(where), NOTE_NAME));
    buf_add_z(&text, *where ? ": " : "");
    buf_add_str(&text, str_head(why, NOTE_REASON));
    json_push(t->damaged, json_text(buf_str(&text)));
}

/* Notes an unreadable file and continues without it: the rest may still be useful. */
static void trace_note_damaged(struct trace *t, const char *where, const struct err *why)
{
    trace_add_damaged(t, where, str_z(why->message));
}

/* Returns an object from a file; NULL if the file is missing or damaged. */
static json_t *trace_read_object(struct trace *t, int dir, const char *where, const char *name)
{
    AUTO_ERR struct err why = {0};
    AUTO_JSON json_t *tree = NULL;
    if (!record_has(dir, name))
        return NULL;
    if (record_object(dir, name, &tree, &why) && record_count_values(tree, name, &t->values, &why))
        return json_take(&tree);
    trace_note_damaged(t, where, &why);
    return NULL;
}

/* Observations -------------------------------------------------------------------------------- */

static bool add_event(struct trace *t, const json_t *event, uint64_t at_ms, struct err *err)
{
    if (!json_is_object(event))
        return true;
    if (json_array_size(t->events) >= TRACE_EVENTS_MAX) {
        t->events_dropped++;
        return true;
    }
    if (!record_count_values(event, events_name, &t->values, err))
        return false;
    json_t *object = json_object();
    json_put(object, "t", json_integer((json_int_t)at_ms));
    for (const char *const *key = (const char *const[]){"type", "message", "details", NULL}; *key;
         key++) {
        json_t *value = json_object_get(event, *key);
        if (value)
            json_put(object, *key, json_incref(value));
    }
    json_push(t->events, object);
    return true;
}

static bool trace_take_observation(void *context, const json_t *o, struct err *err)
{
    struct trace *t = context;
    size_t i, index = t->timeline.n;
    const json_t *event, *steps = json_object_get(t->files.run, "steps");
    if (index >= TIMELINE_OBSERVATIONS_MAX) {
        err_set(err, E_IO, "events.jsonl has more than %d lines", TIMELINE_OBSERVATIONS_MAX);
        return err_ctx(err, "file", "%s", events_name);
    }
    for (i = 0; timeline_kept[i]; i++)
        if (!record_count_values(
                json_object_get(o, timeline_kept[i]), events_name, &t->values, err))
            return false;
    timeline_observe(&t->timeline, t->files.transcript.n, o, json_array_get(steps, index));
    json_array_foreach(json_object_get(o, "events"), i, event)
    {
        if (!add_event(t, event, t->timeline.marks[index].at_ms, err))
            return false;
    }
    return true;
}

/* Line by line: screens with cells may be large, and there may be many. */
static bool read_observations(struct trace *t, struct err *err)
{
    return !record_has(t->files.dir, events_name) ||
           record_lines(t->files.dir, events_name, !t->files.run, trace_take_observation, t, err);
}

/* The rest ------------------------------------------------------------------------------------ */

static bool read_transcript(struct trace *t, const char *path, size_t max, struct err *err)
{
    if (record_has(t->files.dir, "transcript.log"))
        return record_files_read_transcript(&t->files, max, err);
    return err_set(err, E_NOT_FOUND,
        "'%s' has no transcript.log: not the record of a run (see cordon run --artifacts)", path);
}

/* Reads everything except the replays; a transcript of at most `max` bytes. */
static bool read_record(struct trace *t, const char *path, size_t max, struct err *err)
{
    t->events = json_array();
    t->replays = json_array();
    t->damaged = json_array();
    if (!read_transcript(t, path, max, err))
        return false;
    t->files.run = trace_read_object(t, t->files.dir, "", "run.json");
    t->scenario = trace_read_object(t, t->files.dir, "", "scenario.json");
    if (!read_observations(t, err))
        return false;
    timeline_complete(&t->timeline, t->files.transcript.n, t->files.run, t->scenario);
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

/* Reads the new run of a replay, within the limits for all of them together. */
static bool read_run(struct trace *t, struct trace *run, const char *name, struct err *err)
{
    struct stat st;
    size_t rest = TRACE_REPLAYS_TRANSCRIPTS_MAX - t->replay_bytes;
    AUTO_FD int transcript = record_file(run->files.dir, "transcript.log");
    if (transcript >= 0 && fstat(transcript, &st) == 0 && (uint64_t)st.st_size > rest)
        return err_set(err, E_IO,
            "the transcripts of the replays are too large: the limit is %d bytes together",
            TRACE_REPLAYS_TRANSCRIPTS_MAX);
    run->values = t->values;
    if (!read_record(run, name, rest, err))
        return false;
    t->values = run->values;
    t->replay_bytes += run->files.transcript.n;
    return true;
}

/* Reads a replay that differed, with the record of its new run, if any. */
static void read_replay(struct trace *t, const char *name)
{
    AUTO_FD int dir =
        beneath_open(t->files.dir, name, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    AUTO_JSON json_t *diff = dir >= 0 ? trace_read_object(t, dir, name, "diff.json") : NULL;
    AUTO(trace_close) struct trace run = TRACE_NONE;
    AUTO_ERR struct err why = {0};
    if (!diff)
        return;
    read_summary(t, name, diff, dir);
    if (!record_has(dir, "run.json"))
        return;
    run.files.dir = TAKE_FD(dir);
    if (!read_run(t, &run, name, &why)) {
        trace_note_damaged(t, name, &why);
        return;
    }
    for (size_t i = 0; i < json_array_size(run.damaged); i++)
        trace_add_damaged(t, name, json_str(json_array_get(run.damaged, i)));
    GROW(t->runs, t->n_runs, t->cap_runs, (size_t)TRACE_REPLAYS_MAX);
    t->runs[t->n_runs++] = (struct trace_replay){run, json_array_size(t->replays) - 1};
    run = TRACE_NONE;
}

struct replay_name {
    struct timespec written;
    char name[NAME_MAX + 1];
};

static bool trace_is_newer(const struct replay_name *a, const struct replay_name *b)
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
    while (at && trace_is_newer(one, &list[at - 1]))
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
    bool listed = dir_open(&d, t->files.dir, ".");
    while (listed && dir_next(&d))
        if (look_replay(&d, &one))
            keep_newest(list, &n, &one);
    qsort(list, n, sizeof(*list), trace_compare_names);
    for (size_t i = 0; i < n; i++)
        read_replay(t, list[i].name);
}

const json_t *trace_steps(const struct trace *t)
{
    const json_t *steps = json_object_get(t->files.run ? t->files.run : t->scenario, "steps");
    return json_is_array(steps) ? steps : NULL;
}

bool trace_is_skipped(const json_t *step)
{
    return str_is(json_str(json_object_get(step, "status")), "skipped");
}

bool trace_open(const char *dir, struct trace *ret_trace, struct err *err)
{
    AUTO(trace_close) struct trace t = TRACE_NONE;
    if (!record_files_open(dir, &t.files, err) ||
        !read_record(&t, dir, RECORD_FILES_TRANSCRIPT_MAX, err))
        return false;
    read_replays(&t);
    *ret_trace = t;
    t = TRACE_NONE;
    return true;
}

void trace_close(struct trace *t)
{
    record_files_close(&t->files);
    timeline_done(&t->timeline);
    json_decrefp(&t->scenario);
    json_decrefp(&t->events);
    json_decrefp(&t->replays);
    json_decrefp(&t->damaged);
    for (size_t i = 0; i < t->n_runs; i++)
        trace_close(&t->runs[i].run);
    free(t->runs);
    *t = TRACE_NONE;
}
