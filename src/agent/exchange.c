/* Importing and forking sessions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/exchange.h"

#include "agent/envelope.h"
#include "agent/line.h"
#include "agent/repair.h"
#include "agent/session_file.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/id.h"
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

bool exchange_put(const char *path, struct str text, bool replace, struct err *err)
{
    if (replace_path(path, text, replace ? REPLACE_KEEP_MODE : REPLACE_NEW, err))
        return true;
    if (err->code == E_CONFLICT)
        err_set(err, E_CONFLICT, "'%s' already exists: use --force to replace it", path);
    return false;
}

/* Import -------------------------------------------------------------------------------------- */

/* Normalizes a file of lines: drops a torn last line and masks keys. */
static bool copy_lines(
    struct line_file *t, const struct mask *mask, struct buf *lines, struct err *err)
{
    AUTO_STORE struct store *s = NULL;
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)STORE_BYTES_MAX);
    if (!store_read(t, &s, err))
        return false;
    exchange_add(s, &text);
    return envelope_to_lines(buf_str(&text), t->name, mask, lines, err);
}

/* Marks the session as imported: its contents are not the user's own. */
static bool add_mark(struct buf *lines, struct err *err)
{
    char now[CLOCK_RFC3339];
    AUTO_JSON json_t *record = json_object();
    clock_rfc3339(clock_wall_ms(), now);
    json_put(record, "type", json_string("imported"));
    json_put(record, "timestamp", json_string(now));
    json_add_compact(lines, record);
    buf_add_byte(lines, '\n');
    return buf_ok(lines) ||
           err_set(err, E_CONFIG, "it is larger than %d MiB", (int)(STORE_BYTES_MAX >> 20));
}

static bool exchange_header_id(struct str lines, char id[STORE_ID_MAX + 1], struct err *err)
{
    struct str first;
    AUTO_JSON json_t *header = NULL;
    str_cut(lines, '\n', &first, &lines);
    if (!json_parse(first, "session", E_CONFIG, &header, err) || !line_check_header(header, err))
        return false;
    snprintf(id, STORE_ID_MAX + 1, "%s", json_string_value(json_object_get(header, "id")));
    return true;
}

/* The session to be replaced must not be in use: hold its lock until the new file is in place. */
static bool exchange_write_file(
    const char *path, const char *id, struct str lines, bool replace, struct err *err)
{
    AUTO(line_file_close) struct line_file old = LINE_FILE_NONE;
    AUTO_ERR struct err problem = {0};
    if (replace && !line_file_open(path, true, &old, &problem) && problem.code != E_NOT_FOUND)
        return err_move(err, &problem);
    if (replace_path(path, lines, replace ? REPLACE_KEEP_MODE : REPLACE_NEW, err))
        return true;
    if (err->code == E_CONFLICT)
        err_set(
            err, E_CONFLICT, "the session '%s' already exists: use --replace to replace it", id);
    return false;
}

bool exchange_import(const char *dir, const struct exchange_import *import,
    struct store **ret_store, struct err *err)
{
    AUTO(mask_done) struct mask mask = {0};
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    AUTO_BUF struct buf lines = BUF_INIT((size_t)STORE_BYTES_MAX + 1);
    char id[STORE_ID_MAX + 1], path[PATH_MAX];
    for (const struct str *key = import->hide; key && key->p; key++)
        mask_add(&mask, *key);
    if (!line_file_from_fd(import->fd, import->name, &t, err))
        return false;
    if (session_file_has_lines(&t) ? !copy_lines(&t, &mask, &lines, err)
                                   : !session_file_lines(&t, &mask, &lines, err))
        return false;
    if (!exchange_header_id(buf_str(&lines), id, err) || !add_mark(&lines, err))
        return false;
    snprintf(path, sizeof(path), "%s/%s.jsonl", dir, id);
    return line_file_make_dir(dir, err) &&
           exchange_write_file(path, id, buf_str(&lines), import->replace, err) &&
           store_open(dir, id, STORE_READ, ret_store, err);
}

/* Fork ---------------------------------------------------------------------------------------- */

bool exchange_parse_fork(
    const char *word, struct arena *a, const char **ret_id, size_t *ret_n, struct err *err)
{
    const char *at = strrchr(word, '@');
    int64_t n = -1;
    if (at && strchr(at, '/')) /* '@' in a directory's name */
        at = NULL;
    if (at && store_is_path(at)) /* '@' in the file's name */
        at = NULL;
    if (at && !str_to_int(str_z(at + 1), 0, STORE_MESSAGES_MAX, &n)) {
        err_set(err, E_CLI_INVALID_ARG,
            "'%s' is not of the form ID@N, where N is a number of messages, counted from the "
            "first",
            word);
        return err_ctx(err, "word", "%s", word);
    }
    *ret_id = at ? arena_strdup(a, str_n(word, (size_t)(at - word))) : word;
    *ret_n = at ? (size_t)n : SIZE_MAX;
    return true;
}

/* The header of the new session: a copy of the old one with its own id, times and origin. */
static json_t *fork_header(const struct store *s, const char *id, size_t n)
{
    char now[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), now);
    json_t *header = json_copy((json_t *)store_header(s)), *origin = json_object();
    json_t *compactions = json_array(), *compaction;
    size_t i;
    json_array_foreach(store_compactions(s), i,
        compaction) if ((uint64_t)json_integer_value(json_object_get(compaction, "at")) <= n)
        json_push(compactions, json_incref(compaction));
    json_put(origin, "id", json_string(store_id(s)));
    json_put(origin, "messages", json_integer((json_int_t)n));
    json_put(header, "id", json_string(id));
    json_put(header, "created_at", json_string(now));
    json_put(header, "updated_at", json_string(now));
    json_put(header, "forked_from", origin);
    if (json_array_size(compactions))
        json_put(header, "compactions", json_incref(compactions));
    else
        json_object_del(header, "compactions");
    json_decref(compactions);
    return header;
}

static bool fork_lines(
    const struct store *s, const char *id, size_t n, struct buf *lines, struct err *err)
{
    struct mask none = {0};
    AUTO_JSON json_t *header = fork_header(s, id, n);
    AUTO(envelope_lines_done) struct envelope_lines l = ENVELOPE_LINES(&none, lines);
    if (!envelope_lines_begin(&l, header, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!envelope_lines_add(&l, json_array_get(store_all(s), i), err))
            return false;
    return envelope_lines_end(&l, err) && (!store_is_imported(s) || add_mark(lines, err));
}

/* Number of messages to copy: never between calls and their results. */
static bool fork_at(const struct store *s, size_t asked, size_t *ret_n, struct err *err)
{
    size_t all = json_array_size(store_all(s));
    if (asked != SIZE_MAX && asked > all) {
        err_set(err, E_CLI_INVALID_ARG, "the session '%s' has %zu messages, not %zu", store_id(s),
            all, asked);
        return err_ctx_int(err, "messages", (int64_t)all);
    }
    *ret_n = repair_boundary(store_all(s), asked);
    return true;
}

static bool fork_as(const char *dir, const struct store *s, size_t n, const char *new_id,
    struct store **ret_store, struct err *err)
{
    char path[PATH_MAX];
    size_t taken = 0;
    AUTO_BUF struct buf lines = BUF_INIT((size_t)STORE_BYTES_MAX + 1);
    snprintf(path, sizeof(path), "%s/%s.jsonl", dir, new_id);
    if (!fork_at(s, n, &taken, err) || !fork_lines(s, new_id, taken, &lines, err) ||
        !line_file_make_dir(dir, err) || !replace_path(path, buf_str(&lines), REPLACE_NEW, err) ||
        !store_open(dir, new_id, STORE_WRITE, ret_store, err))
        return false;
    if (n != SIZE_MAX && taken > n)
        store_note(*ret_store,
            "message %zu is between tool calls and their results: the fork includes the first "
            "%zu",
            n, taken);
    return true;
}

bool exchange_fork_open(
    const char *dir, const struct store *s, size_t n, struct store **ret_store, struct err *err)
{
    char id[ID_SIZE];
    id_new(id);
    return fork_as(dir, s, n, id, ret_store, err);
}

bool exchange_fork(const char *dir, const char *word, size_t n, const char *new_id,
    struct store **ret_store, struct err *err)
{
    char id[ID_SIZE];
    AUTO_STORE struct store *s = NULL;
    id_new(id);
    const char *own = new_id ? new_id : id;
    if (!store_id_valid(str_z(own)))
        return err_set(err, E_CLI_INVALID_ARG, "'%s' is not a valid session id", own);
    return store_open(dir, word, STORE_READ, &s, err) && fork_as(dir, s, n, own, ret_store, err);
}
