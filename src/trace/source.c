/* Reading artifacts. */
#include "trace/source.h"

#include "path/beneath.h"
#include "path/file.h"
#include "term/term.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

enum {
    EVENTS_BYTES_MAX = 1 << 30,
    READ_SIZE = 256 * 1024,
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

/* -1 with errno; only files are opened, and nothing waits. */
static int open_file(struct trace *t, int dir, const char *name)
{
    struct stat st;
    AUTO_FD int fd =
        beneath_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 || fstat(fd, &st) != 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    if (t->n_files < TRACE_FILES_MAX) {
        t->files[t->n_files].dev = st.st_dev;
        t->files[t->n_files++].ino = st.st_ino;
    }
    return TAKE_FD(fd);
}

bool trace_holds(const struct trace *t, const struct stat *file)
{
    for (size_t i = 0; i < t->n_files; i++)
        if (t->files[i].dev == file->st_dev && t->files[i].ino == file->st_ino)
            return true;
    return false;
}

/* Our own writer says \u0000 where a command printed NUL; the reader does not take it. */
static void replace_nul(struct buf *text)
{
    for (size_t i = 0; i + 6 <= text->n; i++) {
        if (text->p[i] != '\\')
            continue;
        if (memcmp(text->p + i, "\\u0000", 6) == 0)
            memcpy(text->p + i, "\\ufffd", 6);
        i++; /* what is escaped */
    }
}

/* An object in a file; *ret_tree stays NULL if there is no such file. */
static bool read_object(
    struct trace *t, int dir, const char *name, json_t **ret_tree, struct err *err)
{
    AUTO_FD int fd = open_file(t, dir, name);
    AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX + 2);
    AUTO_JSON json_t *tree = NULL;
    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", name);
    if (!file_read(fd, JSON_SIZE_MAX, name, &text, err))
        return false;
    replace_nul(&text);
    if (!json_parse(buf_str(&text), name, E_PROTOCOL, &tree, err))
        return false;
    if (!json_is_object(tree))
        return err_set(err, E_PROTOCOL, "%s: an object is expected, not %s", name, json_kind(tree));
    *ret_tree = json_take(&tree);
    return true;
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

static void keep(struct trace *t, json_t *value, json_t **place)
{
    *place = value;
    if (value)
        json_push(t->keep, json_incref(value));
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
    keep(t, json_object_get(o, "error"), &m.error);
    keep(t, json_object_get(o, "matched_by"), &m.matched_by);
    if (!last && json_is_null(json_object_get(o, "screen")))
        t->plain = true;
    if ((t->n_marks & (t->n_marks - 1)) == 0)
        t->marks = base_realloc(t->marks, MAX(2 * t->n_marks, (size_t)64) * sizeof(*t->marks));
    t->marks[t->n_marks++] = m;
}

/* The last line of a run that was killed may be half of one. */
static bool take_line(struct trace *t, struct buf *line, size_t number, bool whole, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err why = {0};
    char name[64];
    snprintf(name, sizeof(name), "events.jsonl, line %zu", number);
    if (t->n_marks >= TRACE_MARKS_MAX)
        return err_set(err, E_IO, "events.jsonl has more than %d lines", TRACE_MARKS_MAX);
    replace_nul(line);
    if (!json_parse(buf_str(line), name, E_PROTOCOL, &tree, &why))
        return (!whole && !t->run) || err_move(err, &why);
    if (!json_is_object(tree))
        return err_set(err, E_PROTOCOL, "%s: an object is expected, not %s", name, json_kind(tree));
    add_mark(t, tree);
    buf_reset(line);
    return true;
}

/* Line by line: a screen with its cells may be large, and there may be many. */
static bool read_observations(struct trace *t, struct err *err)
{
    AUTO_FD int fd = open_file(t, t->dir, "events.jsonl");
    AUTO_BUF struct buf line = BUF_INIT(TRACE_LINE_MAX);
    AUTO_FREE char *chunk = base_alloc(READ_SIZE);
    size_t number = 1, total = 0;
    if (fd < 0)
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot read 'events.jsonl'");
    for (;;) {
        ssize_t n = read(fd, chunk, READ_SIZE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, E_IO, errno, "cannot read 'events.jsonl'");
        if (n == 0)
            return line.n == 0 || take_line(t, &line, number, false, err);
        total += (size_t)n;
        struct str rest = str_n(chunk, (size_t)n);
        for (ptrdiff_t end; (end = str_find(rest, '\n')) >= 0; number++) {
            buf_add(&line, rest.p, (size_t)end);
            rest = str_skip(rest, (size_t)end + 1);
            if (buf_ok(&line) && !take_line(t, &line, number, true, err))
                return false;
        }
        buf_add_str(&line, rest);
        if (!buf_ok(&line) || total > EVENTS_BYTES_MAX)
            return err_set(err, E_IO, "events.jsonl is too long, in line %zu", number);
    }
}

/* The rest ------------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool read_replay(struct trace *t, const char *name, struct err *err)
{
    AUTO_FD int dir = beneath_open(t->dir, name, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    AUTO_JSON json_t *diff = NULL;
    if (dir < 0 || !read_object(t, dir, "diff.json", &diff, err))
        return dir < 0 || err_wrap(err, "%.64s", name);
    if (!diff)
        return true;
    json_t *object = json_object();
    json_put(object, "name", json_text(str_z(name)));
    json_put(object, "diff", json_take(&diff));
    json_push(t->replays, object);
    return true;
}

static bool read_replays(struct trace *t, struct err *err)
{
    int copy = openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    char *names[TRACE_REPLAYS_MAX];
    size_t n = 0;
    bool ok = true;
    const struct dirent *entry;
    while (d && n < ARRAY_LEN(names) && (entry = readdir(d)))
        if (strncmp(entry->d_name, "replay-", 7) == 0)
            BUG_ON(!(names[n++] = strdup(entry->d_name)));
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
    qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++) {
        ok = ok && read_replay(t, names[i], err);
        free(names[i]);
    }
    return ok;
}

static bool read_transcript(struct trace *t, const char *path, struct err *err)
{
    AUTO_FD int fd = open_file(t, t->dir, "transcript.log");
    if (fd < 0 && errno == ENOENT)
        return err_set(err, E_NOT_FOUND,
            "'%s' has no transcript.log: it is no record of a run (see cordon run --artifacts)",
            path);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read 'transcript.log'");
    return file_read(fd, TRACE_TRANSCRIPT_MAX, "transcript.log", &t->transcript, err);
}

/* The size at the start, and a last mark where all is printed. */
static void complete(struct trace *t)
{
    const json_t *run = json_object_get(t->scenario, "run");
    t->rows = ROWS;
    t->cols = COLS;
    if (!size_of(json_object_get(run, "initial_size"), &t->rows, &t->cols) && t->n_marks &&
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

const json_t *trace_steps(const struct trace *t)
{
    const json_t *steps = json_object_get(t->run ? t->run : t->scenario, "steps");
    return json_is_array(steps) ? steps : NULL;
}

bool trace_open(const char *dir, struct trace *ret_trace, struct err *err)
{
    AUTO(trace_close) struct trace t = TRACE_NONE;
    t.events = json_array();
    t.replays = json_array();
    t.keep = json_array();
    t.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t.dir < 0)
        return err_errno(err, errno == ENOENT ? E_NOT_FOUND : E_IO, errno,
            "cannot open the artifacts directory '%s'", dir);
    if (!read_transcript(&t, dir, err) || !read_object(&t, t.dir, "run.json", &t.run, err) ||
        !read_object(&t, t.dir, "scenario.json", &t.scenario, err) || !read_observations(&t, err) ||
        !read_replays(&t, err))
        return false;
    complete(&t);
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
    buf_done(&t->transcript);
    free(t->marks);
    *t = TRACE_NONE;
}
