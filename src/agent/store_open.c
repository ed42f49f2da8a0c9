/* Sessions: their files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/catalog.h"
#include "agent/envelope.h"
#include "agent/exchange.h"
#include "agent/line.h"
#include "agent/session_file.h"
#include "agent/store_state.h"
#include "base/clock.h"
#include "base/id.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

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

static char *store_format(const char *words, ...) PRINTF_LIKE(1, 2);
static char *store_format(const char *words, ...)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * PATH_MAX);
    va_list args;
    va_start(args, words);
    buf_vprintf(&b, words, args);
    va_end(args);
    return buf_take(&b);
}

/* DIR/.NAME.jsonl beside DIR/NAME. */
static char *store_path_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash + 1 - path) : 0;
    return store_format("%.*s.%s.jsonl", n, path, path + n);
}

bool store_is_there(const char *path)
{
    AUTO_FREE char *log = store_path_beside(path);
    return access(path, F_OK) == 0 || access(log, F_OK) == 0;
}

/* Opening ------------------------------------------------------------------------------------- */

/* Copies lines to an unnamed file and opens it as a line file. */
static bool memory_file(
    struct str lines, const char *name, struct line_file *ret_file, struct err *err)
{
    AUTO_FD int fd = file_nameless();
    if (fd < 0 || !file_write_all(fd, lines))
        return err_errno(err, E_IO, errno, "cannot keep the session in memory");
    return line_file_from_fd(TAKE_FD(fd), name, ret_file, err);
}

/* Reads the messages of the envelope itself, to compare them with its log. */
static bool read_origin(struct store *s, struct line_file *source, struct err *err)
{
    AUTO_BUF struct buf lines = BUF_INIT((size_t)STORE_BYTES_MAX + 1);
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    AUTO_STORE struct store *own = NULL;
    if (!session_file_lines(source, &s->mask, &lines, err) ||
        !memory_file(buf_str(&lines), s->path, &t, err) || !store_read(&t, &own, err))
        return false;
    s->origin = json_object();
    json_put(s->origin, "id", json_string(store_id(own)));
    json_put(s->origin, "messages", json_incref(own->all));
    return true;
}

/* The log must continue its envelope. If the envelope was replaced in between, refuse rather than
 * lose one of them. */
static bool check_origin(const struct store *s, struct err *err)
{
    const json_t *message, *messages = json_object_get(s->origin, "messages");
    size_t i;
    bool same = !s->origin || str_is(json_str(json_object_get(s->origin, "id")), store_id(s));
    json_array_foreach(messages, i, message)
    {
        same = same && json_equal(message, json_array_get(s->all, i));
    }
    return same ||
           err_set(err, E_CONFLICT,
               "'%s' has changed since the interrupted run that left '%s': move one of them away",
               s->path, s->log);
}

/* Opens the lines of an envelope: its log if a crash left one, otherwise converted from it (in
 * memory if only for reading). */
static bool open_envelope(
    struct store *s, struct line_file *source, enum store_mode mode, struct err *err)
{
    AUTO_BUF struct buf lines = BUF_INIT((size_t)STORE_BYTES_MAX + 1);
    bool left = access(s->log, F_OK) == 0;
    if (left) {
        if (source->fd >= 0 && !read_origin(s, source, err))
            return false;
        store_note(s, "the last run did not finish: its messages are recovered from its log");
    } else if (!session_file_lines(source, &s->mask, &lines, err)) {
        return false;
    } else if (mode == STORE_READ) {
        return memory_file(buf_str(&lines), s->path, &s->file, err);
    } else if (!replace_path(s->log, buf_str(&lines), REPLACE_NEW, err)) {
        if (err->code != E_CONFLICT)
            return false;
        err_done(err);
    }
    s->changed = left;
    return line_file_open(s->log, mode == STORE_WRITE, &s->file, err);
}

/* Detects the type of the file, and opens its lines. */
static bool store_open_file(struct store *s, enum store_mode mode, struct err *err)
{
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    AUTO_ERR struct err problem = {0};
    AUTO_FREE char *log = store_path_beside(s->path);
    bool there = line_file_open(s->path, false, &t, &problem);
    if (!there && (problem.code != E_NOT_FOUND || access(log, F_OK) != 0))
        return err_move(err, &problem);
    if (there && session_file_has_lines(&t))
        return line_file_open(s->path, mode == STORE_WRITE, &s->file, err);
    s->log = log;
    log = NULL;
    return open_envelope(s, &t, mode, err);
}

static bool store_check_id(const struct store *s, const char *id, struct err *err)
{
    return !id || strcmp(store_id(s), id) == 0 ||
           err_set(err, E_CONFIG, "%s:1: the file of session '%s' contains session '%s'", s->path,
               id, store_id(s));
}

/* The target of a symlink, which is the file to resume and rewrite; NULL: not a symlink. */
static char *behind_link(const char *path)
{
    struct stat st;
    bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    AUTO_FD int fd = link ? beneath_peek(path) : -1;
    return fd >= 0 ? beneath_name(fd) : NULL;
}

static bool open_path(const char *path, const char *id, enum store_mode mode,
    struct store **ret_store, struct err *err)
{
    AUTO_FREE char *real = behind_link(path);
    struct store *s = store_new(real ? real : path);
    bool ok = (id ? line_file_open(path, mode == STORE_WRITE, &s->file, err)
                  : store_open_file(s, mode, err)) &&
              store_load(s, err) && store_check_id(s, id, err) && check_origin(s, err) &&
              (mode == STORE_READ || store_settle(s, err));
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

bool store_read(struct line_file *file, struct store **ret_store, struct err *err)
{
    struct store *s = store_new(file->name);
    s->file = *file;
    bool ok = store_load(s, err);
    s->file = LINE_FILE_NONE; /* still owned by the caller */
    if (ok)
        *ret_store = s;
    else
        store_free(s);
    return ok;
}

/* Creating ------------------------------------------------------------------------------------ */

static void store_put_text(json_t *object, const char *key, struct str text)
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
    store_put_text(header, "cwd", spec->cwd);
    store_put_text(header, "model", spec->model);
    store_put_text(header, "provider", spec->provider);
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
        spec->path ? strdup(spec->path) : store_format("%s/" STR_FMT ".jsonl", dir, STR_ARG(own));
    bool envelope = spec->path && str_ends_with(str_z(spec->path), STR(".json"));
    if (envelope && access(path, F_OK) == 0)
        return err_set(err, E_CONFLICT, "'%s' already exists", path);
    AUTO_FREE char *log = envelope ? store_path_beside(path) : NULL;
    AUTO_BUF struct buf line = BUF_INIT(STORE_LINE_MAX);
    json_add_compact(&line, header);
    buf_add_byte(&line, '\n');
    if (!buf_ok(&line))
        return err_set(
            err, E_CONFIG, "the system prompt is larger than %d MiB", STORE_LINE_MAX >> 20);
    if (!spec->path && !line_file_make_dir(dir, err))
        return false;
    if (!replace_path(log ? log : path, buf_str(&line), REPLACE_NEW, err))
        return false;
    struct store *s = store_new(path);
    mask_add(&s->mask, spec->hide);
    s->changed = envelope;
    s->log = log;
    log = NULL;
    if (line_file_open(s->log ? s->log : path, true, &s->file, err) && store_load(s, err)) {
        *ret_store = s;
        return true;
    }
    store_free(s);
    return false;
}

/* Closing ------------------------------------------------------------------------------------- */

/* Rewrites the envelope, and removes its log. */
static bool write_envelope(struct store *s, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)STORE_BYTES_MAX);
    if (s->changed)
        exchange_add(s, &text);
    if (s->changed && !replace_path(s->path, buf_str(&text), REPLACE_KEEP_MODE, err))
        return err_wrap(err, "the session stays in '%s'", s->log);
    unlink(s->log);
    return true;
}

bool store_finish(struct store *s, struct err *err)
{
    bool ok = !s || !s->log || !s->file.writable || write_envelope(s, err);
    if (s)
        store_free(s);
    return ok;
}

bool store_drop_empty(struct store *s)
{
    bool empty = !s->log && s->file.writable && json_array_size(s->all) == 0 && !s->title.p &&
                 !store_text(s, "title").p;
    bool gone = empty && unlink(s->path) == 0; /* while we hold the lock */
    if (gone)
        store_free(s);
    return gone;
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
