/* Sessions on disk. */
#include "agent/store.h"

#include "agent/catalog.h"
#include "agent/envelope.h"
#include "agent/exchange.h"
#include "agent/line.h"
#include "agent/repair.h"
#include "agent/source.h"
#include "agent/tape.h"
#include "base/clock.h"
#include "base/id.h"
#include "llm/mask.h"
#include "llm/message.h"
#include "path/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct store {
    struct tape tape;
    char *path;     /* as the user would name it */
    char *log;      /* of an envelope: the lines beside it; NULL: the file itself has them */
    bool changed;   /* the envelope must be written anew */
    json_t *origin; /* what the envelope has, if its log is from an earlier run; NULL: none */
    json_t *header, *all, *counted, *notes, *compactions;
    json_t *valid;    /* what counts, repaired, as it was when it was loaded; NULL: not known */
    size_t valid_for; /* how many counted then */
    struct str updated_at, title; /* borrowed from records, which `records` keeps; no value: none */
    json_t *records;
    struct mask mask;
};

enum {
    ARENA_MAX = 256 << 20, /* names of a million sessions */
};

/* Names --------------------------------------------------------------------------------------- */

bool store_is_path(const char *word)
{
    struct str s = str_z(word);
    return str_find(s, '/') >= 0 || str_ends_with(s, STR(".json")) ||
           str_ends_with(s, STR(".jsonl"));
}

bool store_id_valid(struct str id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    if (id.n == 0 || id.n > STORE_ID_MAX || !memchr(letters, id.p[0], sizeof(letters) - 1))
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (!memchr(letters, id.p[i], sizeof(letters) - 1) && !memchr("._-", id.p[i], 3))
            return false;
    return !str_ends_with(id, STR(".json")) && !str_ends_with(id, STR(".jsonl"));
}

static char *format(const char *words, ...) PRINTF_LIKE(1, 2);
static char *format(const char *words, ...)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * PATH_MAX);
    va_list args;
    va_start(args, words);
    buf_vprintf(&b, words, args);
    va_end(args);
    return buf_take(&b);
}

/* DIR/.NAME.jsonl beside DIR/NAME. */
static char *beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash + 1 - path) : 0;
    return format("%.*s.%s.jsonl", n, path, path + n);
}

bool store_is_there(const char *path)
{
    AUTO_FREE char *log = beside(path);
    return access(path, F_OK) == 0 || access(log, F_OK) == 0;
}

/* Loading ------------------------------------------------------------------------------------- */

void store_note(struct store *s, const char *words, ...)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    va_list args;
    va_start(args, words);
    buf_vprintf(&b, words, args);
    va_end(args);
    json_push(s->notes, json_text(buf_str(&b)));
}

static bool take_header(struct store *s, json_t *header, struct err *err)
{
    if (!line_check_header(header, err))
        return false;
    if (json_array_size(json_object_get(header, "messages")))
        return err_set(err, E_CONFIG, "messages: they belong into the lines that follow");
    s->header = json_incref(header);
    return true;
}

/* From here on only the message of the record and the last of those before count. */
static void take_compaction(struct store *s, json_t *record)
{
    AUTO_JSON json_t *before = repair_messages(s->counted, NULL);
    size_t n = json_array_size(before);
    json_int_t keep = json_integer_value(json_object_get(record, "keep"));
    size_t from = (uint64_t)keep < n ? n - (size_t)keep : 0;
    json_decref(s->counted);
    json_decref(s->valid);
    s->valid = NULL;
    s->counted = json_array();
    json_push(s->counted, json_incref(json_object_get(record, "message")));
    for (size_t i = from; i < n; i++)
        json_push(s->counted, json_incref(json_array_get(before, i)));

    json_t *told = json_object();
    json_put(told, "at", json_integer((json_int_t)json_array_size(s->all)));
    for (void *at = json_object_iter(record); at; at = json_object_iter_next(record, at))
        if (strcmp(json_object_iter_key(at), "type") != 0)
            json_put(told, json_object_iter_key(at), json_incref(json_object_iter_value(at)));
    json_push(s->compactions, told);
}

static void take_message(struct store *s, json_t *message)
{
    struct str time = json_str(json_object_get(message, "timestamp"));
    if (time.p)
        s->updated_at = time;
    json_push(s->all, json_incref(message));
    json_push(s->counted, json_incref(message));
}

/* A line that was checked becomes part of the session. */
static void take(struct store *s, enum line_kind kind, json_t *tree)
{
    switch (kind) {
    case LINE_MESSAGE:
        take_message(s, tree);
        return;
    case LINE_COMPACTION:
        take_compaction(s, tree);
        return;
    case LINE_TITLE:
        s->title = json_str(json_object_get(tree, "title"));
        break;
    case LINE_UPDATED:
        s->updated_at = json_str(json_object_get(tree, "updated_at"));
        break;
    case LINE_KINDS:
        break;
    }
    json_push(s->records, json_incref(tree));
}

static bool on_line(void *context, const struct tape_line *line, bool *ret_torn, struct err *err)
{
    struct store *s = context;
    AUTO_JSON json_t *tree = NULL;
    enum line_kind kind;
    if (!line_parse(line, s->tape.name, &tree, err))
        return false;
    if (!tree) {
        *ret_torn = true;
        store_note(s, "the last line was cut off while it was being written, and is left out");
        return true;
    }
    if (line->number == 1)
        return take_header(s, tree, err) || line_blame(err, s->tape.name, 1);
    if (json_array_size(s->all) == STORE_MESSAGES_MAX)
        return err_set(
            err, E_CONFIG, "%s: more than %d messages", s->tape.name, STORE_MESSAGES_MAX);
    if (!line_check(tree, &kind, err))
        return line_blame(err, s->tape.name, line->number);
    take(s, kind, tree);
    return true;
}

static struct store *store_new(const char *path)
{
    struct store *s = base_alloc(sizeof(*s));
    *s = (struct store){.tape = TAPE_NONE,
        .path = strdup(path),
        .all = json_array(),
        .counted = json_array(),
        .notes = json_array(),
        .compactions = json_array(),
        .records = json_array()};
    BUG_ON(!s->path);
    return s;
}

static void store_free(struct store *s)
{
    json_t *trees[] = {
        s->origin, s->header, s->all, s->counted, s->valid, s->notes, s->compactions, s->records};
    for (size_t i = 0; i < ARRAY_LEN(trees); i++)
        json_decref(trees[i]);
    tape_close(&s->tape);
    mask_done(&s->mask);
    free(s->path);
    free(s->log);
    free(s);
}

static bool load(struct store *s, struct err *err)
{
    if (!tape_read(&s->tape, on_line, s, err))
        return false;
    return s->header || err_set(err, E_CONFIG, "'%s' is empty: it is no session", s->path);
}

/* Where in the list the last message with this call is, or its size; only results may stand behind
 * it. */
static size_t last_call(const json_t *messages, struct str id)
{
    size_t n = json_array_size(messages), at = n, i;
    while (at > 0 && message_type(json_array_get(messages, at - 1)) != MESSAGE_ASSISTANT)
        at--;
    const json_t *block, *content = json_object_get(json_array_get(messages, at - 1), "content");
    json_array_foreach(content, i,
        block) if (at > 0 && str_eq(json_str(json_object_get(block, "id")), id)) return at -
        1;
    return n;
}

/* Whether a result was made up for a call of the last message, and is not in the list. */
static bool is_new(const json_t *messages, const json_t *result)
{
    size_t n = json_array_size(messages);
    size_t at = last_call(messages, json_str(json_object_get(result, "tool_call_id")));
    if (at == n)
        return false;
    for (at++; at < n; at++)
        if (json_array_get(messages, at) == result)
            return false;
    return true;
}

/* Tool calls at the end that nobody answered get results, which are written too: once, so that the
 * next one who opens it finds nothing to repair. */
static bool settle(struct store *s, struct err *err)
{
    AUTO_JSON json_t *valid = repair_messages(s->counted, s->notes);
    AUTO_JSON json_t *before = json_copy(s->counted);
    size_t n = json_array_size(valid), from = n;
    while (from > 0 && message_type(json_array_get(valid, from - 1)) == MESSAGE_TOOL_RESULT)
        from--;
    for (; from < n; from++) {
        json_t *result = json_array_get(valid, from);
        if (is_new(before, result) && !store_append(s, result, err))
            return false;
    }
    s->valid = json_take(&valid);
    s->valid_for = json_array_size(s->counted);
    return true;
}

/* Opening ------------------------------------------------------------------------------------- */

/* Lines in memory, as a tape. */
static bool memory_tape(struct str lines, const char *name, struct tape *ret_tape, struct err *err)
{
    AUTO_FD int fd = memfd_create("session", MFD_CLOEXEC);
    if (fd < 0 || !file_write_all(fd, lines))
        return err_errno(err, E_IO, errno, "cannot keep the session in memory");
    return tape_from_fd(TAKE_FD(fd), name, ret_tape, err);
}

/* The messages of the envelope itself, to compare them with its log. */
static bool read_origin(struct store *s, struct tape *source, struct err *err)
{
    AUTO_BUF struct buf lines = BUF_INIT((size_t)STORE_BYTES_MAX + 1);
    AUTO(tape_close) struct tape t = TAPE_NONE;
    AUTO_STORE struct store *own = NULL;
    if (!source_lines(source, &s->mask, &lines, err) ||
        !memory_tape(buf_str(&lines), s->path, &t, err) || !store_read(&t, &own, err))
        return false;
    s->origin = json_object();
    json_put(s->origin, "id", json_string(store_id(own)));
    json_put(s->origin, "messages", json_incref(own->all));
    return true;
}

/* A log goes on with its envelope. If that was replaced meanwhile, neither may be lost. */
static bool check_origin(const struct store *s, struct err *err)
{
    const json_t *message, *messages = json_object_get(s->origin, "messages");
    size_t i;
    bool same = !s->origin || str_is(json_str(json_object_get(s->origin, "id")), store_id(s));
    json_array_foreach(messages, i, message)
    {
        same = same && json_equal(message, json_array_get(s->all, i));
    }
    return same || err_set(err, E_CONFLICT,
                       "'%s' was changed since the run that left '%s': move one of them away",
                       s->path, s->log);
}

/* An envelope's lines: those beside it if a crash left them, else made from it; for reading only in
 * memory. */
static bool open_envelope(
    struct store *s, struct tape *source, enum store_mode mode, struct err *err)
{
    AUTO_BUF struct buf lines = BUF_INIT((size_t)STORE_BYTES_MAX + 1);
    bool left = access(s->log, F_OK) == 0;
    if (left) {
        if (source->fd >= 0 && !read_origin(s, source, err))
            return false;
        store_note(s, "the last run did not come to its end: its messages are taken from its log");
    } else if (!source_lines(source, &s->mask, &lines, err)) {
        return false;
    } else if (mode == STORE_READ) {
        return memory_tape(buf_str(&lines), s->path, &s->tape, err);
    } else if (!tape_put(s->log, buf_str(&lines), false, err)) {
        if (err->code != E_CONFLICT)
            return false;
        err_done(err);
    }
    s->changed = left;
    return tape_open(s->log, mode == STORE_WRITE, &s->tape, err);
}

/* Finds out what the file is, and opens its lines. */
static bool open_file(struct store *s, enum store_mode mode, struct err *err)
{
    AUTO(tape_close) struct tape t = TAPE_NONE;
    AUTO_ERR struct err problem = {0};
    AUTO_FREE char *log = beside(s->path);
    bool there = tape_open(s->path, false, &t, &problem);
    if (!there && (problem.code != E_NOT_FOUND || access(log, F_OK) != 0))
        return err_move(err, &problem);
    if (there && source_has_lines(&t))
        return tape_open(s->path, mode == STORE_WRITE, &s->tape, err);
    s->log = log;
    log = NULL;
    return open_envelope(s, &t, mode, err);
}

static bool check_id(const struct store *s, const char *id, struct err *err)
{
    return !id || strcmp(store_id(s), id) == 0 ||
           err_set(err, E_CONFIG, "%s:1: the file of session '%s' says that it is session '%s'",
               s->path, id, store_id(s));
}

/* A link stays one: what it leads to is gone on with, and written anew. */
static bool is_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static bool open_path(const char *path, const char *id, enum store_mode mode,
    struct store **ret_store, struct err *err)
{
    AUTO_FREE char *real = is_link(path) ? realpath(path, NULL) : NULL;
    struct store *s = store_new(real ? real : path);
    bool ok =
        (id ? tape_open(path, mode == STORE_WRITE, &s->tape, err) : open_file(s, mode, err)) &&
        load(s, err) && check_id(s, id, err) && check_origin(s, err) &&
        (mode == STORE_READ || settle(s, err));
    if (ok)
        *ret_store = s;
    else
        store_free(s);
    return ok;
}

bool store_open(const char *dir, const char *word, enum store_mode mode, struct store **ret_store,
    struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    const char *id;
    if (store_is_path(word))
        return open_path(word, NULL, mode, ret_store, err);
    if (!catalog_find(dir, str_z(word), &a, &id, err))
        return false;
    return open_path(arena_printf(&a, "%s/%s.jsonl", dir, id), id, mode, ret_store, err);
}

bool store_read(struct tape *tape, struct store **ret_store, struct err *err)
{
    struct store *s = store_new(tape->name);
    s->tape = *tape;
    bool ok = load(s, err);
    s->tape = TAPE_NONE; /* it is the caller's */
    if (ok)
        *ret_store = s;
    else
        store_free(s);
    return ok;
}

/* Creating ------------------------------------------------------------------------------------ */

static void put_text(json_t *object, const char *key, struct str text)
{
    if (text.p)
        json_put(object, key, json_text(text));
}

static json_t *new_header(const struct store_spec *spec, const char *id)
{
    char now[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), now);
    json_t *header = json_object();
    json_put(header, "version", json_integer(STORE_VERSION));
    json_put(header, "id", json_text(spec->id.p ? spec->id : str_z(id)));
    json_put(
        header, "system_prompt", json_text(spec->system_prompt.p ? spec->system_prompt : STR("")));
    json_put(header, "created_at", json_string(now));
    json_put(header, "updated_at", json_string(now));
    json_put(header, "messages", json_array());
    put_text(header, "cwd", spec->cwd);
    put_text(header, "model", spec->model);
    put_text(header, "provider", spec->provider);
    return header;
}

bool store_create(
    const char *dir, const struct store_spec *spec, struct store **ret_store, struct err *err)
{
    char id[ID_SIZE];
    id_new(id);
    AUTO(mask_done) struct mask mask = {0};
    mask_add(&mask, spec->hide);
    AUTO_JSON json_t *plain = new_header(spec, id);
    AUTO_JSON json_t *header = mask_tree(&mask, plain);
    if (!line_check_header(header, err))
        return false;
    struct str own = json_str(json_object_get(header, "id"));
    AUTO_FREE char *path =
        spec->path ? strdup(spec->path) : format("%s/" STR_FMT ".jsonl", dir, STR_ARG(own));
    bool envelope = spec->path && str_ends_with(str_z(spec->path), STR(".json"));
    if (envelope && access(path, F_OK) == 0)
        return err_set(err, E_CONFLICT, "'%s' exists already", path);
    AUTO_FREE char *log = envelope ? beside(path) : NULL;
    AUTO_BUF struct buf line = BUF_INIT(STORE_LINE_MAX);
    json_add_compact(&line, header);
    buf_add_byte(&line, '\n');
    if (!buf_ok(&line))
        return err_set(
            err, E_CONFIG, "the system prompt is larger than %d MiB", STORE_LINE_MAX >> 20);
    if (!spec->path && !tape_make_dir(dir, err))
        return false;
    if (!tape_put(log ? log : path, buf_str(&line), false, err))
        return false;
    struct store *s = store_new(path);
    mask_add(&s->mask, spec->hide);
    s->changed = envelope;
    s->log = log;
    log = NULL;
    if (tape_open(s->log ? s->log : path, true, &s->tape, err) && load(s, err)) {
        *ret_store = s;
        return true;
    }
    store_free(s);
    return false;
}

/* Closing ------------------------------------------------------------------------------------- */

/* The envelope anew, and then its log is needless. */
static bool write_envelope(struct store *s, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)STORE_BYTES_MAX);
    if (s->changed)
        exchange_add(s, &text);
    if (s->changed && !tape_put(s->path, buf_str(&text), true, err))
        return err_wrap(err, "the session stays in '%s'", s->log);
    unlink(s->log);
    return true;
}

bool store_finish(struct store *s, struct err *err)
{
    bool ok = !s || !s->log || !s->tape.writable || write_envelope(s, err);
    if (s)
        store_free(s);
    return ok;
}

void store_close(struct store *s)
{
    AUTO_ERR struct err ignored = {0};
    (void)!store_finish(s, &ignored);
}

void store_close_at(struct store **s)
{
    store_close(*s);
}

/* Writing ------------------------------------------------------------------------------------- */

void store_hide(struct store *s, struct str key)
{
    mask_add(&s->mask, key);
}

static bool append(struct store *s, const json_t *tree, struct err *err)
{
    AUTO_JSON json_t *clean = mask_tree(&s->mask, tree);
    AUTO_BUF struct buf line = BUF_INIT((size_t)STORE_LINE_MAX + 1);
    enum line_kind kind;
    if (!line_check(clean, &kind, err))
        return false;
    json_add_compact(&line, clean);
    if (!buf_ok(&line))
        return err_set(err, E_IO, "a message is larger than %d MiB", STORE_LINE_MAX >> 20);
    if (!json_within(buf_str(&line), JSON_DEPTH_MAX, JSON_VALUES_MAX))
        return err_set(err, E_IO,
            "a message is nested too deep, or has too many values: it could not be read again");
    if (!tape_append(&s->tape, buf_str(&line), err))
        return false;
    s->changed = true;
    take(s, kind, clean);
    return true;
}

bool store_append(struct store *s, const json_t *message, struct err *err)
{
    if (json_array_size(s->all) == STORE_MESSAGES_MAX)
        return err_set(
            err, E_IO, "the session has %d messages, and takes no more", STORE_MESSAGES_MAX);
    return message_check(message, E_CONFIG, err) && append(s, message, err);
}

bool store_note_compaction(struct store *s, const json_t *message, size_t keep, struct err *err)
{
    char now[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), now);
    AUTO_JSON json_t *record = json_object();
    json_put(record, "type", json_string("compaction"));
    json_put(record, "message", json_incref((json_t *)message));
    json_put(record, "keep", json_integer((json_int_t)keep));
    json_put(record, "timestamp", json_string(now));
    return append(s, record, err);
}

bool store_note_title(struct store *s, struct str title, struct err *err)
{
    AUTO_JSON json_t *record = json_object();
    json_put(record, "type", json_string("title"));
    json_put(record, "title", json_text(title));
    return append(s, record, err);
}

/* Looking ------------------------------------------------------------------------------------- */

const char *store_id(const struct store *s)
{
    return json_string_value(json_object_get(s->header, "id"));
}

const char *store_path(const struct store *s)
{
    return s->path;
}

const json_t *store_header(const struct store *s)
{
    return s->header;
}

struct str store_text(const struct store *s, const char *key)
{
    if (s->title.p && strcmp(key, "title") == 0)
        return s->title;
    return json_str(json_object_get(s->header, key));
}

struct str store_updated_at(const struct store *s)
{
    return s->updated_at.p ? s->updated_at : store_text(s, "updated_at");
}

const json_t *store_all(const struct store *s)
{
    return s->all;
}

json_t *store_messages(const struct store *s)
{
    if (s->valid && s->valid_for == json_array_size(s->counted))
        return json_copy(s->valid);
    return repair_messages(s->counted, NULL);
}

const json_t *store_compactions(const struct store *s)
{
    return s->compactions;
}

const json_t *store_notes(const struct store *s)
{
    return s->notes;
}

void exchange_add(const struct store *s, struct buf *out)
{
    struct envelope_parts parts = {s->header, s->all, s->compactions, s->updated_at, s->title};
    envelope_add(&parts, out);
}
