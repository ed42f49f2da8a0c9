/* Prunes old logs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/logs.h"

#include "base/clock.h"
#include "base/id.h"
#include "io/dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
    LOOKED_AT_MAX = 10000, /* per call; the rest is left for later calls */
    DAY_S = 24 * 60 * 60,
    NAME = 2 * ID_SIZE + sizeof("/.log"),
};

struct one_log {
    char name[NAME];
    int64_t changed_ns;
    uint64_t bytes;
};

struct logs {
    int fd; /* the directory of all */
    struct one_log *p;
    size_t n;
    uint64_t bytes;
};

static bool logs_is_ours(struct str name)
{
    return str_ends_with(name, STR(".log")) &&
           id_valid(str_head(name, name.n - (sizeof(".log") - 1)));
}

/* `dir` is the name of the session's directory. */
static void logs_add(struct logs *all, int dir_fd, const char *dir, const char *name)
{
    struct stat st;
    if (!logs_is_ours(str_z(name)) || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(st.st_mode))
        return;
    struct one_log *log = &all->p[all->n++];
    snprintf(log->name, sizeof(log->name), "%s/%s", dir, name);
    log->changed_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    log->bytes = (uint64_t)st.st_size;
    all->bytes += log->bytes;
}

/* A session that is still running has its directory open, and needs it for its next log. */
static bool logs_is_left(int dir_fd, const char *name)
{
    struct stat st;
    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtim.tv_sec + DAY_S < (int64_t)(clock_wall_ms() / 1000);
}

/* A directory without logs is removed when nothing has been in it for a day. Version 0.1 had no
 * directories of sessions. */
static void logs_add_session(struct logs *all, const char *name)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!id_valid(str_z(name))) {
        logs_add(all, all->fd, ".", name);
        return;
    }
    if ((logs_is_left(all->fd, name) && unlinkat(all->fd, name, AT_REMOVEDIR) == 0) ||
        !dir_open(&d, all->fd, name))
        return;
    while (all->n < LOOKED_AT_MAX && dir_next(&d))
        logs_add(all, d.fd, name, d.name);
}

static int logs_compare(const void *a, const void *b)
{
    const struct one_log *x = a, *y = b;
    return (x->changed_ns > y->changed_ns) - (x->changed_ns < y->changed_ns);
}

/* Removes a log unless it is locked. */
static bool logs_remove(int dir_fd, const char *name)
{
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(dir_fd, name, 0) == 0;
}

static void drop_oldest(struct logs *all)
{
    int64_t now_s = (int64_t)(clock_wall_ms() / 1000);
    size_t left = all->n;
    qsort(all->p, all->n, sizeof(*all->p), logs_compare);
    for (size_t i = 0; i < all->n; i++) {
        const struct one_log *log = &all->p[i];
        bool old = log->changed_ns / 1000000000 + (int64_t)LOGS_DAYS * DAY_S < now_s;
        if (!old && left < LOGS_MAX && all->bytes <= LOGS_BYTES)
            return;
        if (!logs_remove(all->fd, log->name))
            continue;
        left--;
        all->bytes -= log->bytes;
    }
}

void logs_prune(const char *dir)
{
    struct logs all = {0};
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open_path(&d, dir))
        return;
    all.fd = d.fd;
    all.p = base_alloc(LOOKED_AT_MAX * sizeof(*all.p));
    while (all.n < LOOKED_AT_MAX && dir_next(&d))
        logs_add_session(&all, d.name);
    drop_oldest(&all);
    free(all.p);
}

void logs_lock(int fd)
{
    (void)!flock(fd, LOCK_SH | LOCK_NB);
}
