/* The copy itself: creates the directories, copies the files with up to two threads, then sets the
 * directories' modes and times. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/copy.h"

#include "change/copy_list.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/clone.h"
#include "path/split.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <strings.h>

enum {
    LINK_MAX_BYTES = 4096,
    CONFIG_MAX = 1 << 20,
};

struct copying {
    struct copy_list *list;
    int target_fd;
    struct clone how;
    atomic_ullong bytes;
};

void copy_report_done(struct copy_report *report)
{
    arena_done(&report->arena);
    *report = COPY_REPORT_INIT;
}

/* Set-id bits are dropped. */
static bool finish_file(int to, const struct stat *st)
{
    const struct timespec times[2] = {st->st_atim, st->st_mtim};
    return fchmod(to, st->st_mode & 01777) == 0 && futimens(to, times) == 0;
}

/* core.worktree and core.bare are wrong for the copy. */
static bool is_about_place(struct str line)
{
    static const char *const keys[] = {"worktree", "bare"};
    while (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
        line = str_skip(line, 1);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        size_t n = strlen(keys[i]);
        if (line.n > n && strncasecmp(line.p, keys[i], n) == 0 && strchr(" \t=", line.p[n]))
            return true;
    }
    return false;
}

static bool copy_settings(int from, int to, const struct copy_job *job)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(CONFIG_MAX + 1), kept = BUF_INIT(CONFIG_MAX + 2);
    struct str line, rest;
    if (!file_read(from, CONFIG_MAX, job->from.p, &text, &ignored)) {
        errno = EIO;
        return false;
    }
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest)) {
        if (is_about_place(line))
            continue;
        buf_add_str(&kept, line);
        buf_add_byte(&kept, '\n');
    }
    return file_write_all(to, buf_str(&kept));
}

static bool copy_content(
    struct copying *c, int from, int to, const struct copy_job *job, size_t size)
{
    if (job->settings)
        return copy_settings(from, to, job);
    return clone_content(&c->how, from, to, size);
}

static bool copy_file(struct copying *c, const struct copy_job *job)
{
    struct stat st;
    AUTO_FD int from = beneath_open(
        job->from_fd, job->from.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, BENEATH_NO_SYMLINKS);
    if (from < 0 || fstat(from, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode)) {
        errno = EAGAIN;
        return false;
    }
    AUTO_FD int to =
        openat(c->target_fd, job->to.p, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return false;
    uint64_t size = MIN((uint64_t)st.st_size, job->size);
    if (!copy_content(c, from, to, job, size))
        return false;
    atomic_fetch_add(&c->bytes, size);
    return finish_file(to, &st);
}

static bool copy_link(struct copying *c, const struct copy_job *job)
{
    char target[LINK_MAX_BYTES];
    struct stat st;
    AUTO_FD int from =
        beneath_open(job->from_fd, job->from.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (from < 0 || fstat(from, &st) != 0)
        return false;
    ssize_t n = readlinkat(from, "", target, sizeof(target) - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    return symlinkat(target, c->target_fd, job->to.p) == 0 &&
           utimensat(c->target_fd, job->to.p, times, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A problem with one file of the project is only noted; a problem with the target is an error. */
static bool is_about_source(int errnum)
{
    return errnum == EACCES || errnum == EPERM || errnum == ENOENT || errnum == ENOTDIR ||
           errnum == ELOOP || errnum == EAGAIN || errnum == ENXIO;
}

static bool copy_one(void *copying, size_t i, struct err *err)
{
    struct copying *c = copying;
    struct copy_job *job = &c->list->jobs[i];
    bool ok = S_ISLNK(job->mode) ? copy_link(c, job) : copy_file(c, job);
    if (ok)
        return true;
    job->errnum = errno;
    return is_about_source(errno) || err_errno(err, E_IO, errno, "cannot copy '%s'", job->to.p);
}

/* Directories --------------------------------------------------------------------------------- */

static bool copy_make_dirs(const struct copying *c, struct err *err)
{
    for (size_t i = 0; i < c->list->n_dirs; i++)
        if (mkdirat(c->target_fd, c->list->dirs[i].to.p, 0700) != 0 && errno != EEXIST)
            return err_errno(err, E_IO, errno, "cannot create '%s'", c->list->dirs[i].to.p);
    return true;
}

static bool finish_dirs(const struct copying *c, struct err *err)
{
    for (size_t i = c->list->n_dirs; i-- > 0;) {
        const struct copy_dir *d = &c->list->dirs[i];
        const struct timespec times[2] = {d->mtime, d->mtime};
        /* Always accessible to us, regardless of the original mode: the copy must be removable. */
        if (fchmodat(c->target_fd, d->to.p, (d->mode & 03777) | 0700, 0) != 0 ||
            utimensat(c->target_fd, d->to.p, times, AT_SYMLINK_NOFOLLOW) != 0)
            return err_errno(err, E_IO, errno, "cannot finish '%s'", d->to.p);
    }
    return true;
}

/* Report -------------------------------------------------------------------------------------- */

static void copy_fill_report(const struct copying *c, struct copy_report *report)
{
    struct copy_list *list = c->list;
    for (size_t i = 0; i < list->n_jobs; i++) {
        int errnum = list->jobs[i].errnum;
        report->files += errnum == 0;
        if (errnum && errnum != ENOENT)
            copy_list_note(list, list->jobs[i].to,
                errnum == EACCES || errnum == EPERM ? "cannot be read"
                                                    : "was replaced while it was being copied");
    }
    report->dirs = list->n_dirs;
    report->bytes = atomic_load(&c->bytes);
    report->shared = atomic_load(&c->how.shared);
}

bool copy_project(int project_fd, int target_fd, const struct copy_options *options,
    struct copy_report *report, struct err *err)
{
    AUTO(copy_list_done)
    struct copy_list list = {
        .arena = ARENA_INIT((size_t)2 << 30), .options = options, .report = report};
    struct copying c = {.list = &list, .target_fd = target_fd};
    if (!copy_list_project(&list, project_fd, err) || !copy_make_dirs(&c, err) ||
        !split_share(list.n_jobs, copy_one, &c, err) || !finish_dirs(&c, err))
        return false;
    copy_fill_report(&c, report);
    return true;
}
