/* Writes artifacts through the directory's descriptor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/artifacts.h"

#include "base/fnv.h"
#include "base/id.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    TREE_MAX = 256 << 20,
    ROOM_BYTES = 1 << 20, /* for run.json and checksums.json if the disk gets full */
};

static const char transcript_name[] = "transcript.log", events_name[] = "events.jsonl",
                  snapshots_name[] = "snapshots", goldens_name[] = "goldens", part_name[] = ".part";

static const char *const old_names[] = {transcript_name, events_name, "run.json", "checksums.json",
    "policy.json", "scenario.json", "normalization.json", part_name};

static bool artifacts_is_empty(int dir)
{
    AUTO_DIR struct dir d = DIR_INIT(0);
    return !dir_open(&d, dir, ".") || (!dir_next(&d) && !d.cut);
}

/* Never follows a symlink and never opens an existing file. */
static int artifacts_create(int dir, const char *name)
{
    unlinkat(dir, name, 0);
    return openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
}

static void drop_dir(int dir, const char *name)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool is_dir = dir_open(&d, dir, name);
    while (is_dir && dir_next(&d))
        if (d.name[0] != '.')
            unlinkat(d.fd, d.name, 0);
    /* Remove a symlink of that name, but not its target. */
    unlinkat(dir, name, is_dir ? AT_REMOVEDIR : 0);
}

/* Removes the files of an earlier run. */
static void drop_run(int dir)
{
    drop_dir(dir, snapshots_name);
    drop_dir(dir, goldens_name);
    for (size_t i = 0; i < ARRAY_LEN(old_names); i++)
        unlinkat(dir, old_names[i], 0);
}

/* Removes the results of replays of an earlier recording. */
static void drop_replays(int dir)
{
    static const char prefix[] = "replay-";
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool listed = dir_open(&d, dir, ".");
    while (listed && dir_next(&d)) {
        struct str name = str_z(d.name);
        if (!str_starts_with(name, str_z(prefix)) || !id_valid(str_skip(name, sizeof(prefix) - 1)))
            continue;
        AUTO_FD int inner = openat(dir, d.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0)
            continue;
        drop_run(inner);
        unlinkat(inner, "replay.json", 0);
        unlinkat(inner, "diff.json", 0);
        unlinkat(dir, d.name, AT_REMOVEDIR);
    }
}

/* Reserves space for the last files. Fails only if the disk is full already; a file system that
 * does not support it has no reserve. */
static bool keep_room(int dir, int *ret_fd)
{
    AUTO_FD int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && fallocate(fd, 0, 0, ROOM_BYTES) == 0;
    *ret_fd = ok ? TAKE_FD(fd) : -1;
    return ok || (errno != ENOSPC && errno != EDQUOT);
}

static bool artifacts_init(
    int dir, const char *path, bool for_run, struct artifacts *ret_artifacts, struct err *err)
{
    AUTO_FD int room = -1;
    if (for_run && !keep_room(dir, &room))
        return err_errno(err, E_IO, errno, "cannot write to '%s'", path);
    int transcript = for_run ? artifacts_create(dir, transcript_name) : -1;
    if (for_run && transcript < 0)
        return err_errno(err, E_IO, errno, "cannot write to '%s'", path);
    *ret_artifacts = (struct artifacts){
        .dir = dir,
        .room = TAKE_FD(room),
        .snapshots = -1,
        .goldens = -1,
        .transcript = {.name = transcript_name, .fd = transcript, .hash = FNV_START},
        .events = {.name = events_name, .fd = -1, .hash = FNV_START},
        .checksums = json_object(),
    };
    return true;
}

bool artifacts_open(
    const char *path, bool overwrite, struct artifacts *ret_artifacts, struct err *err)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return err_errno(err, E_IO, errno, "cannot create the artifacts directory '%s'", path);
    AUTO_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(err, E_IO, errno, "cannot open the artifacts directory '%s'", path);
    if (!overwrite && !artifacts_is_empty(dir))
        return err_set(err, E_CONFLICT,
            "the artifacts directory '%s' is not empty: choose a new one, or set "
            "artifacts.overwrite",
            path);
    drop_run(dir);
    drop_replays(dir);
    if (!artifacts_init(dir, path, true, ret_artifacts, err))
        return false;
    (void)TAKE_FD(dir);
    return true;
}

bool artifacts_open_below(
    int parent, const char *name, bool for_run, struct artifacts *ret_artifacts, struct err *err)
{
    if (mkdirat(parent, name, 0755) != 0)
        return err_errno(err, E_IO, errno, "cannot create '%s' in the artifacts directory", name);
    AUTO_FD int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", name);
    if (!artifacts_init(dir, name, for_run, ret_artifacts, err)) {
        unlinkat(parent, name, AT_REMOVEDIR);
        return false;
    }
    (void)TAKE_FD(dir);
    return true;
}

void artifacts_close(struct artifacts *a)
{
    if (a->dir >= 0)
        close(TAKE_FD(a->dir));
    if (a->room >= 0)
        close(TAKE_FD(a->room));
    if (a->snapshots >= 0)
        close(TAKE_FD(a->snapshots));
    if (a->goldens >= 0)
        close(TAKE_FD(a->goldens));
    if (a->transcript.fd >= 0)
        close(TAKE_FD(a->transcript.fd));
    if (a->events.fd >= 0)
        close(TAKE_FD(a->events.fd));
    json_decrefp(&a->checksums);
    a->checksums = NULL;
}

bool artifacts_where(
    const struct artifacts *a, struct arena *arena, struct str *ret_path, struct err *err)
{
    AUTO_FREE char *name = beneath_name(a->dir);
    if (!name)
        return err_set(err, E_IO, "the artifacts directory no longer exists");
    *ret_path = arena_str(arena, str_z(name));
    return true;
}

bool artifacts_stay(const struct artifacts *a, struct str path, struct err *err)
{
    struct stat ours, there;
    if (fstat(a->dir, &ours) != 0 || lstat(path.p, &there) != 0 || ours.st_dev != there.st_dev ||
        ours.st_ino != there.st_ino)
        return err_set(err, E_IO,
            "the artifacts directory '" STR_FMT "' was replaced while the command ran",
            STR_ARG(path));
    return true;
}

static void artifacts_append(struct artifacts_stream *s, struct str bytes)
{
    if (s->fd < 0 || s->errnum)
        return;
    if (!file_write_all(s->fd, bytes)) {
        s->errnum = errno ? errno : EIO;
        (void)!ftruncate(
            s->fd, (off_t)s->bytes); /* drop a partial write, so that the checksum matches */
        return;
    }
    s->hash = fnv_add(s->hash, bytes);
    s->bytes += bytes.n;
}

void artifacts_transcript(struct artifacts *a, struct str bytes)
{
    artifacts_append(&a->transcript, bytes);
}

void artifacts_event(struct artifacts *a, const json_t *object)
{
    AUTO_BUF struct buf line = BUF_INIT(TREE_MAX);
    if (a->events.fd < 0 && !a->events.errnum) {
        a->events.fd = artifacts_create(a->dir, events_name);
        a->events.errnum = a->events.fd < 0 ? errno : 0;
    }
    json_add_compact(&line, object);
    buf_add_byte(&line, '\n');
    artifacts_append(&a->events, buf_str(&line));
}

static void artifacts_add_checksum(struct artifacts *a, const char *name, uint64_t hash)
{
    char hex[FNV_HEX];
    fnv_hex(hash, hex);
    json_put(a->checksums, name, json_string(hex));
}

/* Opened only once: if the directory is replaced later, files still get into the one created
 * here. */
static bool open_inner(const struct artifacts *a, const char *name, int *fd, struct err *err)
{
    if (*fd >= 0)
        return true;
    if (mkdirat(a->dir, name, 0755) == 0 || errno == EEXIST)
        *fd = openat(a->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd >= 0 || err_errno(err, E_IO, errno, "cannot write the artifact '%s'", name);
}

/* Writes all or nothing. The last component of the name is created in `into`. */
static bool artifacts_write(
    struct artifacts *a, int into, const char *name, struct str bytes, bool sync, struct err *err)
{
    const char *slash = strrchr(name, '/');
    const struct replace_options o = {.dir = into,
        .name = slash ? slash + 1 : name,
        .temp = part_name,
        .temp_dir = &a->dir,
        .mode = 0644,
        .flags = sync ? REPLACE_SYNC : 0};
    if (!replace_file(&o, bytes))
        return err_errno(err, E_IO, errno, "cannot write the artifact '%s'", name);
    artifacts_add_checksum(a, name, fnv_add(FNV_START, bytes));
    return true;
}

bool artifacts_put(struct artifacts *a, const char *name, struct str bytes, struct err *err)
{
    return artifacts_write(a, a->dir, name, bytes, true, err);
}

bool artifacts_put_json(struct artifacts *a, const char *name, const json_t *tree, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(TREE_MAX);
    json_add_pretty(&text, tree);
    buf_add_byte(&text, '\n');
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the artifact '%s' is too long", name);
    return artifacts_put(a, name, buf_str(&text), err);
}

bool artifacts_snapshot(
    struct artifacts *a, const json_t *tree, char ret_name[ARTIFACTS_NAME], struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(TREE_MAX);
    if (!open_inner(a, snapshots_name, &a->snapshots, err))
        return false;
    char name[ARTIFACTS_NAME];
    snprintf(name, sizeof(name), "%s/%04u.json", snapshots_name, a->n_snapshots + 1);
    json_add_compact(&text, tree);
    buf_add_byte(&text, '\n');
    if (!artifacts_write(a, a->snapshots, name, buf_str(&text), false, err))
        return false;
    a->n_snapshots++;
    memcpy(ret_name, name, sizeof(name));
    return true;
}

bool artifacts_golden(struct artifacts *a, size_t index, struct str text, struct err *err)
{
    char name[ARTIFACTS_NAME];
    if (!open_inner(a, goldens_name, &a->goldens, err))
        return false;
    snprintf(name, sizeof(name), ARTIFACTS_GOLDEN, index + 1);
    return artifacts_write(a, a->goldens, name, text, true, err);
}

/* Also records the checksum of a truncated file: the data in it is valid. */
static bool settle_stream(struct artifacts *a, struct artifacts_stream *s, struct err *err)
{
    if (s->fd < 0 && !s->errnum)
        return true;
    if (!s->errnum && fsync(s->fd) != 0)
        s->errnum = errno;
    if (s->fd >= 0)
        artifacts_add_checksum(a, s->name, s->hash);
    return !s->errnum || err_errno(err, E_IO, s->errnum, "cannot write the artifact '%s'", s->name);
}

bool artifacts_settle(struct artifacts *a, struct err *err)
{
    AUTO_ERR struct err second = {0};
    if (a->room >= 0)
        close(TAKE_FD(a->room));
    bool transcript = settle_stream(a, &a->transcript, err);
    return settle_stream(a, &a->events, transcript ? err : &second) && transcript;
}

bool artifacts_seal(struct artifacts *a, struct err *err)
{
    AUTO_JSON json_t *sums = a->checksums;
    a->checksums = json_object();
    return artifacts_put_json(a, "checksums.json", sums, err);
}
