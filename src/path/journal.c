/* The durable record of a change: the file, its locks, and its state transitions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/journal.h"

#include "base/clock.h"
#include "base/id.h"
#include "io/file.h"
#include "path/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

enum {
    TRIES = 100,
    LOCK_WAIT_MS = 30 * 1000,
    LOCK_POLL_MS = 5,
};

/* Returns 0 or an errno. */
static int sync_dir_path(const char *path)
{
    AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? errno : 0;
}

/* Creates one level of the path, cut at n, if it is missing, and syncs its parent. Returns 0 or an
 * errno. */
static int make_level(char *path, size_t n, bool *ret_made)
{
    char after = path[n];
    path[n] = '\0';
    bool made = mkdir(path, 0700) == 0;
    int error = made || errno == EEXIST ? 0 : errno;
    path[n] = after;
    if (made) {
        ptrdiff_t slash = str_find_last(str_n(path, n), '/');
        AUTO_FREE char *parent = strndup(slash > 0 ? path : "/", slash > 0 ? (size_t)slash : 1);
        BUG_ON(!parent);
        error = sync_dir_path(slash < 0 ? "." : parent);
    }
    *ret_made = made;
    return error;
}

/* Creates every missing level; *made_n is the length of the path at the first one. The writer that
 * created a level may remove it between two steps: *ret_gone. */
static bool journal_make_dir(char *path, size_t *made_n, bool *ret_gone, struct err *err)
{
    size_t n = strlen(path);
    *ret_gone = false;
    for (size_t i = 1; i <= n; i++) {
        bool made;
        if (path[i] != '/' && path[i] != '\0')
            continue;
        int error = make_level(path, i, &made);
        if (made && *made_n == 0)
            *made_n = i;
        *ret_gone = error == ENOENT;
        if (error)
            return err_errno(
                err, E_IO, error, "cannot create the journal directory '%.*s'", (int)i, path);
    }
    return true;
}

/* Removes the levels that this journal created, as long as they are empty. */
static void drop_made(struct journal *j)
{
    if (j->made_n == 0 || !j->dir_path)
        return;
    size_t n = strlen(j->dir_path);
    while (n >= j->made_n && rmdir(j->dir_path) == 0) {
        while (n > 0 && j->dir_path[n] != '/')
            n--;
        j->dir_path[n] = '\0';
        n = strlen(j->dir_path);
    }
}

void journal_close(struct journal *j)
{
    if (!j->dir_path)
        return;
    if (j->fd >= 0)
        close(j->fd);
    if (j->dir_fd >= 0)
        close(j->dir_fd);
    free(j->dir_path);
    *j = (struct journal){.dir_fd = -1, .fd = -1};
}

static bool journal_write(struct journal *j, struct str text, struct err *err)
{
    return file_write(j->fd, text, j->name, err) ||
           err_wrap(err, "cannot write the journal in '%s'", j->dir_path);
}

static bool journal_append(struct journal *j, struct str text, struct err *err)
{
    if (!journal_write(j, text, err))
        return false;
    if (fsync(j->fd) != 0)
        return err_errno(err, E_IO, errno, "cannot sync the journal in '%s'", j->dir_path);
    return true;
}

static bool journal_sync_dir(const struct journal *j, struct err *err)
{
    if (fsync(j->dir_fd) != 0 && errno != EINVAL)
        return err_errno(err, E_IO, errno, "cannot sync the journal directory '%s'", j->dir_path);
    return true;
}

static void journal_set_name(struct journal *j, const char *id, const char *suffix)
{
    snprintf(j->name, sizeof(j->name), "%.16s.%s", id, suffix);
}

static bool rename_to(struct journal *j, const char *suffix, struct err *err)
{
    struct journal old = *j;
    journal_set_name(j, old.name, suffix);
    if (renameat(j->dir_fd, old.name, j->dir_fd, j->name) == 0)
        return journal_sync_dir(j, err);
    memcpy(j->name, old.name, sizeof(j->name));
    return err_errno(err, E_IO, errno, "cannot rename the journal in '%s'", j->dir_path);
}

bool journal_lock_file(int fd, bool *ret_taken, struct err *err)
{
    bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (taken && errno != EWOULDBLOCK)
        return err_errno(err, E_IO, errno, "cannot lock a journal");
    *ret_taken = taken;
    return true;
}

/* Creates and locks a new file. Until it is locked, a recovery may mistake it for a leftover and
 * remove it, and the writer that created the directory may remove that: then retry, also after an
 * error with *ret_again. */
static bool create_once(struct journal *j, struct change *c, bool *ret_again, struct err *err)
{
    uint64_t bits;
    struct stat st;
    bool taken;
    id_random(&bits, sizeof(bits));
    snprintf(c->id, sizeof(c->id), "%016llx", (unsigned long long)bits);
    journal_set_name(j, c->id, "new");
    if (!journal_make_dir(j->dir_path, &j->made_n, ret_again, err))
        return false;
    AUTO_FD int dir_fd = open(j->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD int fd = -1;
    if (dir_fd >= 0)
        fd = openat(dir_fd, j->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    *ret_again = fd < 0 && (errno == ENOENT || errno == EEXIST);
    if (fd < 0)
        return *ret_again || err_errno(err, E_IO, errno, "cannot write to '%s'", j->dir_path);
    bool ok = journal_lock_file(fd, &taken, err);
    *ret_again = ok && (taken || fstat(fd, &st) != 0 || st.st_nlink == 0);
    if (!ok || *ret_again) {
        unlinkat(dir_fd, j->name, 0);
        return ok;
    }
    j->dir_fd = TAKE_FD(dir_fd);
    j->fd = TAKE_FD(fd);
    return true;
}

static bool create_file(struct journal *j, struct change *c, struct err *err)
{
    for (int i = 0; i < TRIES; i++) {
        bool again;
        bool ok = create_once(j, c, &again, err);
        if (!again)
            return ok;
        if (!ok && i == TRIES - 1)
            return false;
        err_done(err);
    }
    return err_set(err, E_IO, "cannot write to '%s': it was removed repeatedly", j->dir_path);
}

static void journal_discard(struct journal *j)
{
    if (j->dir_fd >= 0)
        unlinkat(j->dir_fd, j->name, 0);
    drop_made(j);
    journal_close(j);
}

bool journal_open(
    const char *dir_path, struct change *c, struct journal *ret_journal, struct err *err)
{
    struct str path = str_z(dir_path);
    struct journal j = {.dir_fd = -1, .fd = -1};
    j.dir_path = strndup(path.p, MAX(str_trim_end(path, '/').n, MIN(path.n, (size_t)1)));
    BUG_ON(!j.dir_path);
    AUTO_BUF struct buf text = BUF_INIT(RECORD_MAX / 2);
    bool ok = create_file(&j, c, err);
    if (ok) {
        record_add_staging(&text, &j.hash, c);
        ok = buf_ok(&text) || err_set(err, E_IO, "the paths of this change are too long in total");
    }
    ok = ok && journal_append(&j, buf_str(&text), err) && rename_to(&j, "journal", err);
    if (!ok) {
        journal_discard(&j);
        return false;
    }
    j.staging_n = text.n;
    *ret_journal = j;
    return true;
}

/* Bounded: a stopped writer must not block all others forever. */
bool journal_lock(const struct journal *j, struct err *err)
{
    uint64_t end = clock_mono_ms() + LOCK_WAIT_MS;
    while (flock(j->dir_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_errno(err, E_IO, errno, "cannot lock '%s'", j->dir_path);
        if (clock_mono_ms() > end)
            return err_set(err, E_CONFLICT,
                "another change has been in progress for %d s ('%s' is locked): try again later",
                LOCK_WAIT_MS / 1000, j->dir_path);
        nanosleep(&(struct timespec){.tv_nsec = LOCK_POLL_MS * 1000000L}, NULL);
    }
    return true;
}

bool journal_made(struct journal *j, const struct change *c, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(RECORD_MAX / 2);
    uint64_t hash = j->hash;
    if (c->n_dirs == 0)
        return true;
    record_add_made(&text, &hash, c);
    BUG_ON(!buf_ok(&text));
    if (!journal_append(j, buf_str(&text), err))
        return false;
    j->hash = hash;
    j->staging_n += text.n;
    return true;
}

bool journal_commit(struct journal *j, const struct change *c, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(RECORD_MAX / 2);
    uint64_t hash = j->hash;
    record_add_commit(&text, &hash, c);
    BUG_ON(!buf_ok(&text));
    if (!journal_lock(j, err))
        return false;
    j->commit_tried = true;
    if (!journal_append(j, buf_str(&text), err))
        return false;
    j->hash = hash;
    j->commit_n = j->staging_n + text.n;
    return true;
}

bool journal_done(struct journal *j, const struct change *c, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(100);
    uint64_t hash = j->hash;
    change_next_pass(c);
    for (size_t i = 0; i < c->n_ops; i++)
        if (!change_verify(c, i, err))
            return false;
    record_add_done(&text, &hash);
    if (!change_sync(c, err))
        return false;
    j->done_tried = true;
    /* For a single file the record need not survive a power failure: nothing can be undone with it,
     * and once the old version is gone, "commit" reads as done. */
    return change_is_single(c) ? journal_write(j, buf_str(&text), err)
                               : journal_append(j, buf_str(&text), err);
}

static bool remove_file(struct journal *j, bool sync, struct err *err)
{
    if (unlinkat(j->dir_fd, j->name, 0) != 0 && errno != ENOENT)
        return err_errno(err, E_IO, errno, "cannot remove the journal in '%s'", j->dir_path);
    if (sync && !journal_sync_dir(j, err))
        return false;
    drop_made(j);
    return true;
}

bool journal_remove(struct journal *j, struct err *err)
{
    return remove_file(j, true, err);
}

bool journal_finish(struct journal *j, struct change *c, struct err *err)
{
    if (!change_clean(c, err) || !change_tidy(c, err) || !change_sync(c, err) ||
        !change_find_lost(c, err))
        return false;
    /* If it reappears after a power failure, it says "done" and nothing of it is left. */
    return c->n_lost ? rename_to(j, "lost", err) : remove_file(j, false, err);
}

bool journal_drop(struct journal *j, struct change *c, struct err *err)
{
    return change_clean(c, err) && change_drop_dirs(c, err) && change_sync(c, err) &&
           journal_remove(j, err);
}

bool journal_goes_back(const struct journal *j)
{
    return j->marked || !j->commit_tried;
}

static bool journal_truncate(struct journal *j, size_t n, struct err *err)
{
    if (ftruncate(j->fd, (off_t)n) != 0 || fsync(j->fd) != 0)
        return err_errno(err, E_IO, errno, "cannot truncate the journal in '%s'", j->dir_path);
    return true;
}

/* From here on the change can only be undone, by any process that reads the journal. Without the
 * mark it must at least not say "done" while files move; the state "commit" is consistent either
 * way. */
static bool decide_undo(struct journal *j, struct err *err)
{
    if (j->marked)
        return true;
    j->marked = pwrite(j->fd, "-", 1, RECORD_WAY_AT) == 1 && fsync(j->fd) == 0;
    return j->marked || !j->done_tried || journal_truncate(j, j->commit_n, err);
}

/* All files are restored. */
static bool drop_undone(struct journal *j, struct change *c, struct err *err)
{
    AUTO_ERR struct err why = {0};
    if (c->n_lost)
        return change_clean(c, err) && change_drop_dirs(c, err) && change_sync(c, err) &&
               rename_to(j, "lost", err);
    if (journal_truncate(j, j->staging_n, &why))
        return journal_drop(j, c, err);
    if (j->marked)
        return err_move(err, &why);
    /* A journal that can't be written must not bring the change back: remove it first. */
    return journal_remove(j, err) && change_clean(c, err) && change_drop_dirs(c, err);
}

bool journal_undo(struct journal *j, struct change *c, struct err *err)
{
    if (!decide_undo(j, err))
        return false;
    for (size_t i = c->n_ops; i-- > 0;)
        if (!change_back(c, i, err))
            return false;
    return change_sync(c, err) && drop_undone(j, c, err);
}
