/* Deletes untrusted trees. Each pass descends to a directory without subdirectories, by names that
 * are checked again and never followed; deep trees are flattened on the way, so that a path of any
 * depth needs few descriptors and no recursion. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/trash.h"

#include "base/clock.h"
#include "base/id.h"
#include "box/name.h"
#include "io/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum {
    LOOK_EVERY = 64, /* number of deletions */
    PAUSE_MS = 20,
    PAUSES_MAX = 60 * 1000 / PAUSE_MS, /* total: an entry in .new may be a leftover */
};

struct emptier {
    int trash;
    uint64_t until_ms;
    size_t deleted, seen;
    int pauses; /* remaining pauses */
    bool late;
    bool waits; /* for another process that empties it */
};

static bool is_late(struct emptier *e)
{
    e->late = e->late || clock_mono_ms() >= e->until_ms;
    return e->late;
}

/* Deleting slows down the copy of a new box, for which a user is waiting. */
static bool trash_box_is_made(const struct emptier *e)
{
    AUTO_DIR struct dir d = DIR_INIT(1);
    return dir_open(&d, e->trash, "../" LAYOUT_MAKING) && dir_next(&d);
}

static void trash_pause(struct emptier *e)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    if (e->seen++ % LOOK_EVERY)
        return;
    while (e->pauses > 0 && !is_late(e) && trash_box_is_made(e)) {
        nanosleep(&pause, NULL);
        e->pauses--;
    }
}

/* Also opens directories that the owner cannot read: overlayfs and programs create some. */
static bool open_list(struct dir *d, int dir, const char *name)
{
    int fd = openat(dir, name, OPEN_DIR);
    if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        fd = openat(dir, name, OPEN_DIR);
    if (fd >= 0)
        (void)!fchmod(fd, 0700);
    return dir_take(d, fd);
}

/* Moves a directory in a tree to the top level of the trash. */
static bool trash_lift(struct emptier *e, int dir, const char *name)
{
    char id[ID_SIZE];
    id_new(id);
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 || renameat(dir, name, e->trash, id) == 0;
}

/* Renaming a directory requires write permission on it, for its "..". */
static bool trash_remove_entry(struct emptier *e, int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    return trash_lift(e, dir, name) ||
           (fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 && trash_lift(e, dir, name));
}

/* Removes everything in the top of a tree; its directories become separate trees. A tree in use is
 * locked by its user. */
static bool trash_empty_tree(struct emptier *e, const char *name)
{
    bool ok = true;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED); /* limited by time */
    if (!open_list(&d, e->trash, name))
        return errno == ENOTDIR && unlinkat(e->trash, name, 0) == 0;
    if (flock(d.fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    while (!is_late(e) && dir_next(&d)) {
        trash_pause(e);
        bool done = trash_remove_entry(e, d.fd, d.name);
        e->deleted += done;
        ok = ok && done;
    }
    dir_close(&d);
    return !e->late && ok && unlinkat(e->trash, name, AT_REMOVEDIR) == 0;
}

/* One pass over the current entries; returns the number of trees that could not be deleted. */
static size_t trash_run_round(struct emptier *e, struct dir *d, size_t *ret_done)
{
    size_t stuck = 0;
    *ret_done = 0;
    dir_rewind(d);
    while (dir_next(d)) {
        bool done = !is_late(e) && trash_empty_tree(e, d->name);
        *ret_done += done;
        stuck += !done;
    }
    return stuck;
}

/* Only one process at a time. */
static bool trash_lock(struct emptier *e, int fd)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (!e->waits || is_late(e))
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static bool trash_run(
    const struct boxes *boxes, struct emptier e, struct trash_left *ret_left, struct err *err)
{
    struct trash_left left = {0};
    *ret_left = left;
    if (boxes->trash < 0)
        return true;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open(&d, boxes->trash, "."))
        return err_errno(err, E_IO, errno, "cannot open the trash of boxes");
    if (!trash_lock(&e, d.fd))
        return true;
    size_t done;
    do
        left.left = trash_run_round(&e, &d, &done);
    while (done && !e.late); /* directories moved to the top may appear only now */
    left.deleted = e.deleted;
    *ret_left = left;
    return true;
}

bool trash_empty(
    const struct boxes *boxes, uint64_t max_ms, struct trash_left *ret_left, struct err *err)
{
    const struct emptier e = {
        .trash = boxes->trash, .until_ms = clock_mono_ms() + max_ms, .waits = true};
    return trash_run(boxes, e, ret_left, err);
}

/* Background ---------------------------------------------------------------------------------- */

static bool trash_has_any(int trash)
{
    AUTO_DIR struct dir d = DIR_INIT(1);
    if (trash < 0 || !dir_open(&d, trash, "."))
        return false;
    /* Another process is emptying it: its next pass finds the entries added since. */
    return flock(d.fd, LOCK_EX | LOCK_NB) == 0 && dir_next(&d);
}

enum {
    SOON_MS = 200,
    KEPT_FD = 3, /* the trash; the standard streams below are /dev/null */
    /* ioprio_set(2) has no C library header */
    IOPRIO_WHO_PROCESS = 1,
    IOPRIO_IDLE = 3 << 13,
};

/* Closes all descriptors of the caller, most importantly its locks. */
static bool trash_release_fds(int trash)
{
    if (trash != KEPT_FD && dup3(trash, KEPT_FD, O_CLOEXEC) < 0)
        return false;
    if (close_range(KEPT_FD + 1, ~0U, 0) != 0)
        return false;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < KEPT_FD; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            return false;
    close(null);
    return chdir("/") == 0;
}

static void trash_lower_priority(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_NAME, "cordon-trash");
    (void)!setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
}

static void empty_alone(void)
{
    struct boxes boxes = BOXES_NONE;
    struct trash_left left;
    struct err err = {0};
    boxes.trash = KEPT_FD;
    trash_lower_priority();
    const struct emptier e = {
        .trash = KEPT_FD, .until_ms = clock_mono_ms() + TRASH_LATER_MS, .pauses = PAUSES_MAX};
    (void)!trash_run(&boxes, e, &left, &err);
    _exit(0);
}

void trash_empty_later(const struct boxes *boxes)
{
    if (!trash_has_any(boxes->trash))
        return;
    pid_t first = fork();
    if (first == 0) {
        /* Before the second fork: when we return, no duplicate of a lock is left. */
        if (trash_release_fds(boxes->trash) && setsid() >= 0 && fork() == 0)
            empty_alone();
        _exit(0);
    }
    while (first > 0 && waitpid(first, NULL, 0) < 0 && errno == EINTR)
        continue;
}

bool trash_sweep(const struct boxes *boxes, size_t *ret_swept, struct err *err)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    size_t n = 0;
    *ret_swept = 0;
    if (boxes->making < 0)
        return true;
    if (!dir_open(&d, boxes->making, "."))
        return err_errno(err, E_IO, errno, "cannot search for incomplete boxes");
    while (dir_next(&d)) {
        AUTO_BOX_LOCK int lock = -1;
        AUTO_ERR struct err busy = {0};
        struct str name = str_z(d.name);
        if (name.p[0] == '.')
            unlinkat(boxes->making, name.p, AT_REMOVEDIR); /* temporary, never renamed */
        if (!box_name_valid(name) || !boxes_lock(boxes, name, &lock, &busy))
            continue;
        boxes_abandon(boxes, name);
        n++;
    }
    *ret_swept = n;
    return true;
}

void trash_empty_soon(const struct boxes *boxes)
{
    AUTO_ERR struct err ignored = {0};
    struct trash_left left = {0};
    const struct emptier e = {.trash = boxes->trash, .until_ms = clock_mono_ms() + SOON_MS};
    if (!trash_run(boxes, e, &left, &ignored) || left.left)
        trash_empty_later(boxes);
}
