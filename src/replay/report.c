/* Writing and finding reports. */
#include "replay/report.h"

#include "path/file.h"
#include "replay/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static const char prefix[] = "replay-";

enum {
    TEXT_MAX = 256 << 20,
    PREFIX = sizeof(prefix) - 1,
};

void report_done(struct report *r)
{
    json_decref(r->replay);
    json_decref(r->diff);
    *r = (struct report){0};
}

/* The kernel's own stamps are coarse: two quick replays would be equally old. */
static void stamp(int fd)
{
    struct timespec now[2];
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[1] = now[0];
    (void)!futimens(fd, now);
}

static bool put(int dir, const char *name, const json_t *tree, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
    json_add_pretty(&text, tree);
    buf_add_byte(&text, '\n');
    AUTO_FD int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || !buf_ok(&text) || !file_write_all(fd, buf_str(&text)))
        return err_errno(err, E_IO, errno, "cannot write '%s' of the replay", name);
    stamp(fd);
    return true;
}

bool report_write(int dir, const struct report *r, struct err *err)
{
    if (mkdirat(dir, r->name, 0755) != 0)
        return err_errno(err, E_IO, errno, "cannot make '%s' in the artifacts directory", r->name);
    AUTO_FD int inner = openat(dir, r->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", r->name);
    return (json_is_null(r->diff) || put(inner, "diff.json", r->diff, err)) &&
           put(inner, "replay.json", r->replay, err);
}

/* Finding ------------------------------------------------------------------------------------- */

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void find_latest(DIR *d, char ret_name[REPORT_NAME])
{
    const struct dirent *entry;
    struct timespec newest = {0};
    char path[REPORT_NAME + sizeof("/replay.json")];
    while ((entry = readdir(d))) {
        struct str name = str_z(entry->d_name);
        struct stat st;
        if (!str_starts_with(name, str_z(prefix)) || !id_valid(str_skip(name, PREFIX)))
            continue;
        snprintf(path, sizeof(path), "%.*s/replay.json", REPORT_NAME - 1, entry->d_name);
        AUTO_FD int fd = source_file(dirfd(d), path);
        if (fd < 0 || fstat(fd, &st) != 0 || (ret_name[0] && !is_newer(&st.st_mtim, &newest)))
            continue;
        newest = st.st_mtim;
        snprintf(ret_name, REPORT_NAME, "%.*s", REPORT_NAME - 1, entry->d_name);
    }
}

static bool read_diff(int dir, const char *name, json_t **ret_diff, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)TEXT_MAX);
    char path[REPORT_NAME + sizeof("/diff.json")];
    snprintf(path, sizeof(path), "%s/diff.json", name);
    AUTO_FD int fd = source_file(dir, path);
    if (fd < 0 && errno == ENOENT) {
        *ret_diff = json_null();
        return true;
    }
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", path);
    return file_read(fd, JSON_SIZE_MAX, path, &text, err) &&
           json_parse(buf_str(&text), path, E_PROTOCOL, ret_diff, err);
}

bool report_latest(int dir, struct report *ret_report, struct err *err)
{
    struct report r = {0};
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    char path[REPORT_NAME + sizeof("/replay.json")];
    if (!d)
        return err_errno(err, E_IO, errno, "cannot read the artifacts directory");
    find_latest(d, r.name);
    closedir(d);
    if (!r.name[0])
        return err_set(err, E_NOT_FOUND, "nothing was replayed there yet: use 'cordon replay'");
    snprintf(path, sizeof(path), "%s/replay.json", r.name);
    if (!source_json(dir, path, "replay_version", &r.replay, err) ||
        !read_diff(dir, r.name, &r.diff, err)) {
        report_done(&r);
        return false;
    }
    *ret_report = r;
    return true;
}
