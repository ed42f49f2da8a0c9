/* Reads recordings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/source.h"

#include "base/fnv.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "record/artifacts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CHUNK = 64 * 1024,
    VERSION = 1, /* of every file */
};

static const char checksums_name[] = "checksums.json", snapshots_name[] = "snapshots",
                  goldens_name[] = "goldens";

static bool source_missing(const char *name, struct mismatch *m)
{
    mismatch_set(m, "missing", MISMATCH_NO_INDEX, "the artifact '%s' is missing", name);
    return err_ctx(&m->error, "file", "%s", name);
}

bool source_open(const char *path, struct source *ret_source, struct err *err)
{
    AUTO_FD int dir = record_open(path, err);
    if (dir < 0)
        return false;
    if (!record_has(dir, "run.json") && !record_has(dir, checksums_name))
        return err_set(err, E_NOT_FOUND,
            "'%s' holds no recording: it has no run.json, which a run writes at its end", path);
    *ret_source = (struct source){
        .dir = TAKE_FD(dir),
        .transcript = BUF_INIT(SOURCE_TRANSCRIPT_MAX),
        .policy = BUF_INIT(2 * (size_t)JSON_SIZE_MAX),
        .scenario = BUF_INIT(2 * (size_t)JSON_SIZE_MAX),
    };
    return true;
}

void source_close(struct source *s)
{
    if (s->dir >= 0)
        close(TAKE_FD(s->dir));
    json_decref(s->run);
    s->run = NULL;
    buf_done(&s->transcript);
    buf_done(&s->policy);
    buf_done(&s->scenario);
}

/* Checksums ----------------------------------------------------------------------------------- */

/* Returns 2 for snapshots/0003.json. */
static int64_t source_snapshot_index(const char *name)
{
    unsigned number = 0;
    return sscanf(name, "snapshots/%9u.json", &number) == 1 && number > 0 ? (int64_t)number - 1
                                                                          : MISMATCH_NO_INDEX;
}

static bool hash_file(int fd, const char *name, char hex[FNV_HEX], struct err *err)
{
    AUTO_FREE char *chunk = base_realloc(NULL, CHUNK);
    uint64_t hash = FNV_START;
    for (;;) {
        ssize_t n = read(fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, E_IO, errno, "cannot read the artifact '%s'", name);
        if (n == 0)
            break;
        hash = fnv_add(hash, str_n(chunk, (size_t)n));
    }
    fnv_hex(hash, hex);
    return true;
}

/* A run writes no larger file, so a larger one is refused without reading it. */
static bool small_enough(int fd, const char *name, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size <= SOURCE_TRANSCRIPT_MAX)
        return true;
    err_set(err, E_IO, "the artifact '%s' is too large: at most %d bytes are read", name,
        SOURCE_TRANSCRIPT_MAX);
    return err_ctx(err, "file", "%s", name);
}

/* Returns true if the file could be checked; the result is in m. */
static bool verify_file(
    int dir, const char *name, struct str want, struct mismatch *m, struct err *err)
{
    char hex[FNV_HEX];
    AUTO_FD int fd = record_file(dir, name);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        source_missing(name, m);
        return true;
    }
    if (fd < 0)
        return record_unreadable(name, err);
    if (!small_enough(fd, name, err))
        return false;
    if (!hash_file(fd, name, hex, err))
        return false;
    if (str_is(want, hex))
        return true;
    mismatch_set(m, "checksum", source_snapshot_index(name),
        "the artifact '%s' was changed, or its line in checksums.json: its checksum is %s", name,
        hex);
    err_ctx(&m->error, "file", "%s", name);
    err_ctx(&m->error, "expected", STR_FMT, STR_ARG(str_head(want, 64)));
    err_ctx(&m->error, "actual", "%s", hex);
    return true;
}

/* A file that is not in checksums.json was added after the recording. */
static bool verify_listed(int dir, const json_t *sums, const char *name, struct mismatch *m)
{
    if (json_object_get(sums, name) || !record_has(dir, name))
        return true;
    mismatch_set(m, "checksum", source_snapshot_index(name),
        "the artifact '%s' has no checksum in checksums.json", name);
    return err_ctx(&m->error, "file", "%s", name);
}

static void verify_dir(
    const struct source *s, const char *dir, const json_t *sums, struct mismatch *m)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    char name[2 * SOURCE_NAME_MAX];
    bool listed =
        dir_take(&d, beneath_open(s->dir, dir, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS));
    while (listed && !m->kind && dir_next(&d)) {
        if (d.name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", dir, d.name);
        (void)verify_listed(s->dir, sums, name, m);
    }
}

static bool is_checksum(const json_t *sum)
{
    struct str hex = json_str(sum);
    size_t n = 0;
    while (n < hex.n && strchr("0123456789abcdef", hex.p[n]))
        n++;
    return n == FNV_HEX - 1 && n == hex.n;
}

static bool source_damaged(struct mismatch *m, const char *why)
{
    mismatch_set(
        m, "checksum", MISMATCH_NO_INDEX, "the artifact 'checksums.json' is damaged: %s", why);
    return err_ctx(&m->error, "file", "%s", checksums_name);
}

static bool verify_all(
    const struct source *s, const json_t *sums, struct mismatch *m, struct err *err)
{
    const char *name;
    char why[2 * SOURCE_NAME_MAX];
    json_t *sum;
    if (!json_is_object(sums) || json_object_size(sums) > SOURCE_FILES_MAX)
        return !source_damaged(m, "expected an object with a name and a checksum for each file");
    json_object_foreach((json_t *)sums, name, sum)
    {
        if (!json_is_string(sum) || strlen(name) > SOURCE_NAME_MAX)
            return !source_damaged(m, "expected a name and a checksum for each file");
        if (!is_checksum(sum)) {
            snprintf(why, sizeof(why), "what it has for '%s' is not a checksum", name);
            return !source_damaged(m, why);
        }
        if (!verify_file(s->dir, name, json_str(sum), m, err))
            return false;
        if (m->kind)
            return true;
    }
    for (size_t i = 0; record_names[i] && !m->kind; i++)
        (void)verify_listed(s->dir, sums, record_names[i], m);
    if (!m->kind)
        verify_dir(s, snapshots_name, sums, m);
    if (!m->kind)
        verify_dir(s, goldens_name, sums, m);
    return true;
}

bool source_verify(
    const struct source *s, const struct source_needs *needs, struct mismatch *m, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)JSON_SIZE_MAX);
    AUTO_JSON json_t *sums = NULL;
    AUTO_ERR struct err why = {0};
    if (needs->events && !record_has(s->dir, "events.jsonl"))
        return !source_missing("events.jsonl", m);
    if (!record_has(s->dir, checksums_name))
        return !needs->checksums || !source_missing(checksums_name, m);
    if (!record_text(s->dir, checksums_name, JSON_SIZE_MAX, &text, err))
        return false;
    if (!json_parse(buf_str(&text), checksums_name, E_PROTOCOL, &sums, &why))
        return !source_damaged(m, why.message);
    return verify_all(s, sums, m, err);
}

/* Contents ------------------------------------------------------------------------------------ */

static bool source_check_version(
    const json_t *tree, const char *name, const char *key, struct err *err)
{
    const json_t *version = json_object_get(tree, key);
    if (!json_is_integer(version)) {
        err_set(err, E_PROTOCOL, "%s: %s: expected a version number", name, key);
        return err_ctx(err, "file", "%s", name);
    }
    if (json_integer_value(version) == VERSION)
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH,
        "%s: %s: version %lld is not supported: this program reads %d", name, key,
        (long long)json_integer_value(version), VERSION);
    err_ctx_int(err, "provided_version", (int64_t)json_integer_value(version));
    err_ctx_int(err, "supported_version", VERSION);
    return err_ctx(err, "file", "%s", name);
}

bool source_json(
    int dir, const char *name, const char *version_key, json_t **ret_tree, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    if (!record_object(dir, name, &tree, err))
        return false;
    if (!source_check_version(tree, name, version_key, err))
        return false;
    *ret_tree = json_take(&tree);
    return true;
}

/* Turns E_NOT_FOUND into a mismatch, which is a valid result. */
static bool or_missing(bool ok, const char *name, struct mismatch *m, struct err *err)
{
    if (ok || err->code != E_NOT_FOUND)
        return ok;
    err_done(err);
    *err = (struct err){0};
    return !source_missing(name, m);
}

static bool source_read_part(
    const struct source *s, const char *name, struct buf *text, struct mismatch *m, struct err *err)
{
    size_t max = text == &s->transcript ? SOURCE_TRANSCRIPT_MAX - CHUNK : JSON_SIZE_MAX;
    return m->kind || or_missing(record_text(s->dir, name, max, text, err), name, m, err);
}

bool source_read(struct source *s, struct mismatch *m, struct err *err)
{
    AUTO_JSON json_t *record = NULL;
    if (!or_missing(source_json(s->dir, "run.json", "run_result_version", &s->run, err), "run.json",
            m, err))
        return false;
    if (m->kind)
        return true;
    if (!source_check_version(s->run, "run.json", "protocol_version", err))
        return false;
    s->has_scenario = json_object_get(s->run, "scenario") != NULL;
    if (record_has(s->dir, "normalization.json") &&
        !source_json(s->dir, "normalization.json", "normalization_version", &record, err))
        return false;
    return source_read_part(s, "transcript.log", &s->transcript, m, err) &&
           source_read_part(s, "policy.json", &s->policy, m, err) &&
           (!s->has_scenario || source_read_part(s, "scenario.json", &s->scenario, m, err));
}

bool source_goldens(const struct source *s, const struct scenario *scenario, struct err *err)
{
    struct golden *g;
    char name[64];
    AUTO_FD int inner =
        beneath_open(s->dir, goldens_name, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    for (size_t i = 0; (g = scenario_golden(scenario, i)); i++) {
        AUTO_BUF struct buf text = BUF_INIT(2 * GOLDEN_BYTES_MAX);
        snprintf(name, sizeof(name), ARTIFACTS_GOLDEN, i + 1);
        bool there = inner >= 0 && record_has(s->dir, name);
        if (there && !record_text(s->dir, name, GOLDEN_BYTES_MAX, &text, err))
            return false;
        golden_set(g, there ? str_z(buf_z(&text)) : (struct str){0});
    }
    return true;
}

bool source_snapshot(const struct source *s, size_t index, json_t **ret_snapshot,
    struct mismatch *m, struct err *err)
{
    char name[64];
    snprintf(name, sizeof(name), "%s/%04zu.json", snapshots_name, index + 1);
    if (!or_missing(source_json(s->dir, name, "snapshot_version", ret_snapshot, err), name, m, err))
        return false;
    if (m->kind)
        m->index = (int64_t)index;
    return true;
}

/* Events -------------------------------------------------------------------------------------- */

static bool take_observation(void *context, const json_t *o, struct err *err)
{
    struct source_events *e = context;
    const json_t *list = json_object_get(o, "events");
    size_t i;
    json_t *event;
    (void)err;
    e->dropped |= json_object_get(o, "events_dropped") != NULL;
    json_array_foreach(list, i, event)
    {
        e->dropped |= json_array_size(e->list) >= SOURCE_EVENTS_MAX;
        if (!e->dropped)
            json_push(e->list, json_incref(event));
    }
    return true;
}

bool source_events(const struct source *s, struct source_events *ret_events, struct err *err)
{
    *ret_events = (struct source_events){.list = json_array()};
    ret_events->known = record_has(s->dir, "events.jsonl");
    if (!ret_events->known ||
        record_lines(s->dir, "events.jsonl", false, take_observation, ret_events, err))
        return true;
    json_decrefp(&ret_events->list);
    return false;
}
