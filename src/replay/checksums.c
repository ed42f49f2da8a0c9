/* Checks the files of recordings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/checksums.h"

#include "base/fnv.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "record/artifacts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CHUNK = 64 * 1024,
    FILES_MAX = 100 * 1000,
    NAME_BYTES_MAX = 256,
};

/* Of all files together: hard links would make one large file many. */
static const uint64_t ALL_BYTES_MAX = UINT64_C(4) << 30;

static const char checksums_name[] = "checksums.json";

/* Whether a run or a replay writes a file of that name. Another spelling would make it be read
 * again. */
static bool checksums_is_known(const char *name)
{
    static const char *const more[] = {"replay.json", "diff.json"};
    size_t number = 0;
    char same[NAME_BYTES_MAX];
    for (size_t i = 0; record_names[i]; i++)
        if (strcmp(name, record_names[i]) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (strcmp(name, more[i]) == 0)
            return true;
    if (sscanf(name, "snapshots/%9zu.json", &number) == 1)
        snprintf(same, sizeof(same), "snapshots/%04zu.json", number);
    else if (sscanf(name, "goldens/%9zu.txt", &number) == 1)
        snprintf(same, sizeof(same), ARTIFACTS_GOLDEN, number);
    return number > 0 && strcmp(name, same) == 0;
}

/* Returns 2 for snapshots/0003.json. */
static int64_t checksums_snapshot_index(const char *name)
{
    unsigned number = 0;
    return sscanf(name, "snapshots/%9u.json", &number) == 1 && number > 0 ? (int64_t)number - 1
                                                                          : MISMATCH_NO_INDEX;
}

static bool checksums_hash_file(int fd, const char *name, char hex[FNV_HEX], struct err *err)
{
    AUTO_FREE char *chunk = base_alloc(CHUNK);
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

/* A run writes no larger file, so a larger one is refused without reading it. Adds to the sum. */
static bool small_enough(int fd, const char *name, uint64_t *sum, struct err *err)
{
    struct stat st;
    bool small = fstat(fd, &st) == 0 && st.st_size <= RECORD_LINES_BYTES_MAX;
    *sum += small ? (uint64_t)st.st_size : 0;
    if (small && *sum <= ALL_BYTES_MAX)
        return true;
    if (small)
        err_set(err, E_IO, "the artifacts are too large: the limit is %llu bytes together",
            (unsigned long long)ALL_BYTES_MAX);
    else
        err_set(err, E_IO, "the artifact '%s' is too large: the limit is %d bytes", name,
            RECORD_LINES_BYTES_MAX);
    return err_ctx(err, "file", "%s", name);
}

/* Returns true if the file could be checked; the result is in m. */
static bool verify_file(
    int dir, const char *name, struct str want, struct mismatch *m, struct err *err)
{
    char hex[FNV_HEX];
    AUTO_FD int fd = record_file(dir, name);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        mismatch_missing(m, name);
        return true;
    }
    if (fd < 0)
        return record_unreadable(name, err);
    if (!checksums_hash_file(fd, name, hex, err))
        return false;
    if (str_is(want, hex))
        return true;
    mismatch_set(m, "checksum", checksums_snapshot_index(name),
        "the artifact '%s' or its line in checksums.json was changed: expected the "
        "checksum " STR_FMT ", found %s",
        name, STR_ARG(str_head(want, 64)), hex);
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
    mismatch_set(m, "checksum", checksums_snapshot_index(name),
        "the artifact '%s' has no checksum in checksums.json", name);
    return err_ctx(&m->error, "file", "%s", name);
}

static void verify_dir(int dir, const char *inner, const json_t *sums, struct mismatch *m)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    char name[2 * NAME_BYTES_MAX];
    bool listed =
        dir_take(&d, beneath_open(dir, inner, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS));
    while (listed && !m->kind && dir_next(&d)) {
        if (d.name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", inner, d.name);
        (void)verify_listed(dir, sums, name, m);
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

static bool checksums_damaged(struct mismatch *m, const char *why)
{
    mismatch_set(
        m, "checksum", MISMATCH_NO_INDEX, "the artifact 'checksums.json' is damaged: %s", why);
    return err_ctx(&m->error, "file", "%s", checksums_name);
}

static void checksums_check_entry(const char *name, const json_t *sum, struct mismatch *m)
{
    char why[2 * NAME_BYTES_MAX];
    if (!json_is_string(sum) || strlen(name) > NAME_BYTES_MAX) {
        checksums_damaged(m, "expected a name and a checksum for each file");
    } else if (!is_checksum(sum)) {
        snprintf(why, sizeof(why), "the value for '%s' is not a checksum", name);
        checksums_damaged(m, why);
    } else if (!checksums_is_known(name)) {
        snprintf(why, sizeof(why), "'%s' is not the name of a file in a record", name);
        checksums_damaged(m, why);
    }
}

/* Checks the list and the sizes of its files, before any of them is read. */
static bool checksums_check_list(int dir, const json_t *sums, struct mismatch *m, struct err *err)
{
    uint64_t bytes = 0;
    const char *name;
    json_t *sum;
    if (!json_is_object(sums) || json_object_size(sums) > FILES_MAX)
        return !checksums_damaged(m, "expected an object with a name and a checksum for each file");
    json_object_foreach((json_t *)sums, name, sum)
    {
        checksums_check_entry(name, sum, m);
        if (m->kind)
            return true;
        AUTO_FD int fd = record_file(dir, name);
        if (fd >= 0 && !small_enough(fd, name, &bytes, err))
            return false;
    }
    return true;
}

static bool verify_all(int dir, const json_t *sums, struct mismatch *m, struct err *err)
{
    const char *name;
    json_t *sum;
    if (!checksums_check_list(dir, sums, m, err))
        return false;
    if (m->kind)
        return true;
    json_object_foreach((json_t *)sums, name, sum)
    {
        if (!verify_file(dir, name, json_str(sum), m, err))
            return false;
        if (m->kind)
            return true;
    }
    for (size_t i = 0; record_names[i] && !m->kind; i++)
        (void)verify_listed(dir, sums, record_names[i], m);
    if (!m->kind)
        verify_dir(dir, "snapshots", sums, m);
    if (!m->kind)
        verify_dir(dir, "goldens", sums, m);
    return true;
}

bool checksums_verify(
    int dir, const struct checksums_needs *needs, struct mismatch *m, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)JSON_SIZE_MAX);
    AUTO_JSON json_t *sums = NULL;
    AUTO_ERR struct err why = {0};
    if (needs->events && !record_has(dir, "events.jsonl"))
        return !mismatch_missing(m, "events.jsonl");
    if (!record_has(dir, checksums_name))
        return !needs->checksums || !mismatch_missing(m, checksums_name);
    if (!record_text(dir, checksums_name, JSON_SIZE_MAX, &text, err))
        return false;
    if (!json_parse(buf_str(&text), checksums_name, E_PROTOCOL, &sums, &why))
        return !checksums_damaged(m, why.message);
    return verify_all(dir, sums, m, err);
}
