/* Writing artifacts through the directory's descriptor. */
#include "record/artifacts.h"

#include "base/fnv.h"
#include "path/beneath.h"
#include "path/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    TREE_MAX = 256 << 20,
};

static const char transcript_name[] = "transcript.log";

static bool is_empty(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    size_t n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n <= 2;
}

/* Never through a link, never into something that is there. */
static int create(int dir, const char *name)
{
    unlinkat(dir, name, 0);
    return openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
}

bool artifacts_open(
    const char *path, bool overwrite, struct artifacts *ret_artifacts, struct err *err)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return err_errno(err, E_IO, errno, "cannot make the artifacts directory '%s'", path);
    AUTO_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(err, E_IO, errno, "cannot open the artifacts directory '%s'", path);
    if (!overwrite && !is_empty(dir))
        return err_set(err, E_CONFLICT,
            "the artifacts directory '%s' is not empty: name a new one, or set "
            "artifacts.overwrite",
            path);
    int transcript = create(dir, transcript_name);
    if (transcript < 0)
        return err_errno(err, E_IO, errno, "cannot write to '%s'", path);
    *ret_artifacts = (struct artifacts){
        .dir = TAKE_FD(dir),
        .transcript = transcript,
        .transcript_hash = FNV_START,
        .checksums = json_object(),
    };
    return true;
}

void artifacts_close(struct artifacts *a)
{
    if (a->dir >= 0)
        close(TAKE_FD(a->dir));
    if (a->transcript >= 0)
        close(TAKE_FD(a->transcript));
    json_decrefp(&a->checksums);
    a->checksums = NULL;
}

bool artifacts_where(
    const struct artifacts *a, struct arena *arena, struct str *ret_path, struct err *err)
{
    AUTO_FREE char *name = beneath_name(a->dir);
    if (!name)
        return err_set(err, E_IO, "the artifacts directory is gone");
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

void artifacts_transcript(struct artifacts *a, struct str bytes)
{
    if (a->transcript < 0 || a->transcript_errno)
        return;
    if (!file_write_all(a->transcript, bytes))
        a->transcript_errno = errno ? errno : EIO;
    a->transcript_hash = fnv_add(a->transcript_hash, bytes);
}

static void note(struct artifacts *a, const char *name, uint64_t hash)
{
    char hex[FNV_HEX];
    fnv_hex(hash, hex);
    json_put(a->checksums, name, json_string(hex));
}

bool artifacts_put(struct artifacts *a, const char *name, struct str bytes, struct err *err)
{
    AUTO_FD int fd = create(a->dir, name);
    if (fd < 0 || !file_write_all(fd, bytes) || fsync(fd) != 0)
        return err_errno(err, E_IO, errno, "cannot write the artifact '%s'", name);
    note(a, name, fnv_add(FNV_START, bytes));
    return true;
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

bool artifacts_seal(struct artifacts *a, struct err *err)
{
    if (!a->transcript_errno && fsync(a->transcript) != 0)
        a->transcript_errno = errno;
    if (a->transcript_errno)
        return err_errno(
            err, E_IO, a->transcript_errno, "cannot write the artifact '%s'", transcript_name);
    note(a, transcript_name, a->transcript_hash);
    AUTO_JSON json_t *sums = a->checksums;
    a->checksums = json_object();
    return artifacts_put_json(a, "checksums.json", sums, err);
}
