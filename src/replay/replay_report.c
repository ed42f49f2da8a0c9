/* Writes and finds reports. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay_report.h"

#include "io/dir.h"
#include "record/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static const char prefix[] = "replay-";

enum {
    PREFIX = sizeof(prefix) - 1,
};

void report_done(struct report *r)
{
    json_decref(r->replay);
    json_decref(r->diff);
    *r = (struct report){0};
}

/* The kernel's time stamps are coarse: two quick replays would get the same one. */
static void report_set_time(int fd)
{
    struct timespec now[2];
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[1] = now[0];
    (void)!futimens(fd, now);
}

static bool report_write_files(struct artifacts *run, const struct report *r, struct err *err)
{
    if (!json_is_null(r->diff) && !artifacts_put_json(run, "diff.json", r->diff, err))
        return false;
    if (!artifacts_put_json(run, "replay.json", r->replay, err) || !artifacts_seal(run, err))
        return false;
    AUTO_FD int fd = openat(run->dir, "replay.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        report_set_time(fd);
    return true;
}

bool report_write(int dir, struct artifacts *run, const struct report *r, struct err *err)
{
    AUTO(artifacts_close) struct artifacts own = ARTIFACTS_NONE;
    if (run->dir >= 0)
        return report_write_files(run, r, err);
    return artifacts_open_below(dir, r->name, false, &own, err) && report_write_files(&own, r, err);
}

/* Finding ------------------------------------------------------------------------------------- */

static bool report_is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void find_latest(struct dir *d, char ret_name[REPORT_NAME])
{
    struct timespec newest = {0};
    char path[REPORT_NAME + sizeof("/replay.json")];
    while (dir_next(d)) {
        struct str name = str_z(d->name);
        struct stat st;
        if (!str_starts_with(name, str_z(prefix)) || !id_valid(str_skip(name, PREFIX)))
            continue;
        snprintf(path, sizeof(path), "%.*s/replay.json", REPORT_NAME - 1, d->name);
        AUTO_FD int fd = record_file(d->fd, path);
        if (fd < 0 || fstat(fd, &st) != 0 ||
            (ret_name[0] && !report_is_newer(&st.st_mtim, &newest)))
            continue;
        newest = st.st_mtim;
        snprintf(ret_name, REPORT_NAME, "%.*s", REPORT_NAME - 1, d->name);
    }
}

static bool read_diff(int dir, const char *name, json_t **ret_diff, struct err *err)
{
    char path[REPORT_NAME + sizeof("/diff.json")];
    snprintf(path, sizeof(path), "%s/diff.json", name);
    if (record_has(dir, path))
        return record_object(dir, path, ret_diff, err);
    *ret_diff = json_null();
    return true;
}

bool report_latest(int dir, struct report *ret_report, struct err *err)
{
    struct report r = {0};
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    char path[REPORT_NAME + sizeof("/replay.json")];
    if (!dir_open(&d, dir, "."))
        return err_errno(err, E_IO, errno, "cannot read the artifacts directory");
    find_latest(&d, r.name);
    if (!r.name[0])
        return err_set(err, E_NOT_FOUND, "there is no replay yet: run 'cordon replay'");
    snprintf(path, sizeof(path), "%s/replay.json", r.name);
    if (!record_versioned(dir, path, "replay_version", &r.replay, err) ||
        !read_diff(dir, r.name, &r.diff, err)) {
        report_done(&r);
        return false;
    }
    *ret_report = r;
    return true;
}
