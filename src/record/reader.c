/* Reads records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/reader.h"

#include "io/file.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    READ_SIZE = 256 * 1024,
    VERSION = 1, /* of every file */
};

const char *const record_names[] = {"run.json", "policy.json", "scenario.json",
    "normalization.json", "transcript.log", "events.jsonl", NULL};

static bool record_is_missing(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR;
}

int record_open(const char *path, struct err *err)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        err_errno(err, record_is_missing(errno) ? E_NOT_FOUND : E_IO, errno,
            "cannot open the artifacts directory '%s'", path);
    return dir;
}

int record_file(int dir, const char *name)
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
    return TAKE_FD(fd);
}

bool record_has(int dir, const char *name)
{
    AUTO_FD int fd = record_file(dir, name);
    return fd >= 0 || !record_is_missing(errno);
}

/* Explains errors for which strerror() would be misleading. */
static const char *record_errno_reason(int errnum)
{
    static const struct {
        int errnum;
        const char *why;
    } reasons[] = {
        {ELOOP, "it is a symbolic link, or reached through one"},
        {EXDEV, "it is outside the directory"},
        {EINVAL, "it is not a regular file"},
        {ENXIO, "it is not a regular file"},
    };
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].errnum == errnum)
            return reasons[i].why;
    return NULL;
}

bool record_unreadable(const char *name, struct err *err)
{
    int errnum = errno;
    const char *why = record_errno_reason(errnum);
    if (why)
        err_set(err, E_IO, "cannot read the artifact '%s': %s", name, why);
    else
        err_errno(err, record_is_missing(errnum) ? E_NOT_FOUND : E_IO, errnum,
            "cannot read the artifact '%s'", name);
    return err_ctx(err, "file", "%s", name);
}

bool record_text(int dir, const char *name, size_t max, struct buf *text, struct err *err)
{
    AUTO_FD int fd = record_file(dir, name);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return record_unreadable(name, err);
    if ((uint64_t)st.st_size > max) {
        err_set(err, E_IO, "the artifact '%s' is too large: %lld bytes, the limit is %zu", name,
            (long long)st.st_size, max);
        return err_ctx(err, "file", "%s", name);
    }
    return file_read(fd, max, name, text, err) || err_ctx(err, "file", "%s", name);
}

/* Older records have \u0000 where a command printed NUL; the JSON parser rejects it. */
static void replace_nul(struct buf *text)
{
    for (size_t i = 0; i + 6 <= text->n; i++) {
        if (text->p[i] != '\\')
            continue;
        if (memcmp(text->p + i, "\\u0000", 6) == 0)
            memcpy(text->p + i, "\\ufffd", 6);
        i++; /* skip the escaped character */
    }
}

static bool record_parse_object(
    struct buf *text, const char *name, json_t **ret_tree, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    replace_nul(text);
    if (!json_parse(buf_str(text), name, E_PROTOCOL, &tree, err))
        return false;
    if (!json_is_object(tree))
        return err_set(err, E_PROTOCOL, "%s: expected an object, not %s", name, json_kind(tree));
    *ret_tree = json_take(&tree);
    return true;
}

bool record_object(int dir, const char *name, json_t **ret_tree, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)JSON_SIZE_MAX);
    if (!record_text(dir, name, JSON_SIZE_MAX, &text, err))
        return false;
    return record_parse_object(&text, name, ret_tree, err) || err_ctx(err, "file", "%s", name);
}

bool record_check_version(const json_t *tree, const char *name, const char *key, struct err *err)
{
    const json_t *version = json_object_get(tree, key);
    if (!json_is_integer(version)) {
        err_set(err, E_PROTOCOL, "%s: %s: expected a version number", name, key);
        return err_ctx(err, "file", "%s", name);
    }
    if (json_integer_value(version) == VERSION)
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH, "%s: %s: version %lld is not supported: expected %d",
        name, key, (long long)json_integer_value(version), VERSION);
    err_ctx_int(err, "provided_version", (int64_t)json_integer_value(version));
    err_ctx_int(err, "supported_version", VERSION);
    return err_ctx(err, "file", "%s", name);
}

bool record_versioned(
    int dir, const char *name, const char *version_key, json_t **ret_tree, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    if (!record_object(dir, name, &tree, err) ||
        !record_check_version(tree, name, version_key, err))
        return false;
    *ret_tree = json_take(&tree);
    return true;
}

/* Lines --------------------------------------------------------------------------------------- */

struct record_line_reader {
    const char *name;
    bool (*take)(void *context, const json_t *object, struct err *err);
    void *context;
    struct buf line;
    size_t number, total;
};

static bool record_line_too_long(const struct record_line_reader *l, size_t number, struct err *err)
{
    err_set(err, E_IO, "%s is too long, at line %zu", l->name, number);
    return err_ctx(err, "file", "%s", l->name);
}

static bool reader_read_line(struct record_line_reader *l, bool may_be_half, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err why = {0};
    char place[128];
    snprintf(place, sizeof(place), "%s, line %zu", l->name, ++l->number);
    if (!buf_ok(&l->line))
        return record_line_too_long(l, l->number, err);
    if (!record_parse_object(&l->line, place, &tree, &why)) {
        bool skip = may_be_half && !tree && why.code == E_PROTOCOL;
        return skip || (err_ctx(&why, "file", "%s", l->name), err_move(err, &why));
    }
    buf_reset(&l->line);
    return l->take(l->context, tree, err);
}

static bool record_read_chunk(struct record_line_reader *l, struct str rest, struct err *err)
{
    l->total += rest.n;
    for (ptrdiff_t end; (end = str_find(rest, '\n')) >= 0;) {
        buf_add(&l->line, rest.p, (size_t)end);
        rest = str_skip(rest, (size_t)end + 1);
        if (!reader_read_line(l, false, err))
            return false;
    }
    buf_add_str(&l->line, rest);
    if (!buf_ok(&l->line) || l->total > RECORD_LINES_BYTES_MAX)
        return record_line_too_long(l, l->number + 1, err);
    return true;
}

bool record_lines(int dir, const char *name, bool cut_off,
    bool (*take)(void *context, const json_t *object, struct err *err), void *context,
    struct err *err)
{
    AUTO_FD int fd = record_file(dir, name);
    AUTO_FREE char *chunk = base_alloc(READ_SIZE);
    struct record_line_reader l = {
        .name = name, .take = take, .context = context, .line = BUF_INIT(RECORD_LINE_MAX)};
    bool ok = fd >= 0;
    if (!ok)
        return record_unreadable(name, err);
    for (ssize_t n; ok;) {
        n = read(fd, chunk, READ_SIZE);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n >= 0 ? record_read_chunk(&l, str_n(chunk, (size_t)n), err)
                    : record_unreadable(name, err);
        if (n <= 0)
            break;
    }
    ok = ok && (l.line.n == 0 || reader_read_line(&l, cut_off, err));
    buf_done(&l.line);
    return ok;
}

/* Values -------------------------------------------------------------------------------------- */

/* The depth of a parsed tree is at most JSON_DEPTH_MAX. */
static size_t record_values(const json_t *tree)
{
    size_t i, n = 1;
    const char *key;
    json_t *value;
    json_array_foreach((json_t *)tree, i, value) n += record_values(value);
    json_object_foreach((json_t *)tree, key, value) n += record_values(value);
    return n;
}

bool record_count_values(const json_t *tree, const char *name, size_t *sum, struct err *err)
{
    size_t n = *sum + (tree ? record_values(tree) : 0);
    if (n <= RECORD_VALUES_MAX) {
        *sum = n;
        return true;
    }
    err_set(err, E_IO, "%s is too large: the record has more than %d JSON values", name,
        RECORD_VALUES_MAX);
    return err_ctx(err, "file", "%s", name);
}
