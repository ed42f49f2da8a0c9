/* What the next command does with a change that was cut off. */
#include "base/log.h"
#include "path/beneath.h"
#include "path/file.h"
#include "path/journal.h"
#include "path/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

struct recovery {
    const char *dir_path;
    int dir_fd;
    int root_fd;
    struct stat root;
    char *root_path; /* NULL: it has none that could be found */
    struct journal_report report;
};

static bool damaged(struct err *err, const struct recovery *r, const char *name)
{
    AUTO_ERR struct err why = {0};
    err_move(&why, err);
    return err_set(err, E_CONFIG,
        "the journal '%s/%s' can't be used: %s; nothing that it names was touched: look at the "
        "files beside which '.cordon-%.16s-…' stands, then remove it",
        r->dir_path, name, why.message, name);
}

/* So its length is known, too. */
static bool is_journal_name(const char *name)
{
    struct str s = str_z(name);
    return str_ends_with(s, STR(".journal")) && change_id_ok(str_head(s, s.n - strlen(".journal")));
}

/* Device numbers may change when the machine starts again: the same inode at the same path is the
 * same root, too. */
static bool is_this_root(const struct recovery *r, const struct change *c)
{
    if (c->root_ino != r->root.st_ino)
        return false;
    return c->root_dev == r->root.st_dev || (r->root_path && str_is(c->root, r->root_path));
}

/* Opens and locks; *ret_live if somebody else has it, or has just removed it. */
static bool take(
    const struct recovery *r, const char *name, struct journal *j, bool *ret_live, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = openat(r->dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *ret_live = true;
        return true;
    }
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_CONFIG, errno, "it can't be opened");
    if (!S_ISREG(st.st_mode))
        return err_set(err, E_CONFIG, "it is not a regular file");
    bool live = flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &st) != 0 || st.st_nlink == 0;
    *j = (struct journal){.dir_fd = openat(r->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .fd = TAKE_FD(fd),
        .dir_path = strdup(r->dir_path)};
    BUG_ON(!j->dir_path);
    memcpy(j->name, name, sizeof(j->name) - 1);
    *ret_live = live;
    return j->dir_fd >= 0 || err_errno(err, E_IO, errno, "cannot open '%s'", r->dir_path);
}

/* Everything that is still to do can be done: does it. false in *ret_done: undo. */
static bool complete(struct journal *j, struct change *c, bool *ret_done, struct err *err)
{
    AUTO_ERR struct err why = {0};
    bool possible = true;
    for (size_t i = 0; i < c->n_ops && possible; i++) {
        enum change_status status;
        if (!change_look(c, i, &status, err))
            return false;
        possible = status != CHANGE_BLOCKED;
    }
    for (size_t i = 0; i < c->n_ops && possible; i++) {
        enum change_status status;
        if (!change_look(c, i, &status, err))
            return false;
        possible = status == CHANGE_DONE || change_forward(c, i, &why);
    }
    *ret_done = possible && journal_done(j, c, &why);
    return true;
}

static bool recover_commit(
    struct recovery *r, struct journal *j, struct change *c, size_t whole_n, struct err *err)
{
    bool done;
    /* What was cut off at the end must not stand before a new line. */
    if (ftruncate(j->fd, (off_t)whole_n) != 0 || lseek(j->fd, 0, SEEK_END) < 0)
        return err_errno(err, E_IO, errno, "cannot cut the journal in '%s'", j->dir_path);
    if (!complete(j, c, &done, err))
        return false;
    bool ok = done ? journal_finish(j, c, err) : journal_undo(j, c, err);
    r->report.finished += ok && done;
    r->report.undone += ok && !done;
    if (c->n_kept && r->report.kept == 0)
        memcpy(r->report.first_kept, c->kept, sizeof(c->kept));
    r->report.kept += c->n_kept;
    return ok;
}

static bool recover_change(struct recovery *r, struct journal *j, struct change *c,
    const struct record_tail *tail, struct err *err)
{
    bool ok;
    c->root_fd = r->root_fd;
    j->staging_n = tail->staging_n;
    j->hash = tail->hash;
    LOG_INFO("recovering %s/%s, state %d", j->dir_path, j->name, (int)tail->state);
    switch (tail->state) {
    case RECORD_CUT:
        return journal_remove(j, err);
    case RECORD_STAGING:
        ok = journal_drop(j, c, err);
        r->report.undone += ok;
        return ok;
    case RECORD_COMMIT:
        return recover_commit(r, j, c, tail->whole_n, err);
    case RECORD_DONE:
        ok = journal_finish(j, c, err);
        r->report.finished += ok;
        return ok;
    }
    BUG_ON(true);
}

/* Whoever may write into the directory may not thereby command us. */
static bool is_own(const struct journal *j, struct err *err)
{
    struct stat st;
    if (fstat(j->fd, &st) != 0)
        return err_errno(err, E_IO, errno, "it can't be looked at");
    return st.st_uid == geteuid() ||
           err_set(err, E_CONFIG, "it belongs to user %u", (unsigned)st.st_uid);
}

static bool recover_file(struct recovery *r, const char *name, struct err *err)
{
    AUTO(journal_close) struct journal j = {.dir_fd = -1, .fd = -1};
    AUTO_ARENA struct arena arena = ARENA_INIT(2 * RECORD_MAX);
    AUTO_BUF struct buf text = BUF_INIT(RECORD_MAX + 2);
    struct change *change = ARENA_NEW(&arena, struct change, 1);
    struct record_tail tail;
    bool live = false;
    if (!take(r, name, &j, &live, err))
        return damaged(err, r, name);
    if (live) {
        r->report.live++;
        return true;
    }
    if (!file_read(j.fd, RECORD_MAX, name, &text, err) ||
        !record_parse(buf_str(&text), &arena, change, &tail, err))
        return damaged(err, r, name);
    if (tail.state != RECORD_CUT && !is_this_root(r, change)) {
        r->report.elsewhere++;
        return true;
    }
    if (!is_own(&j, err))
        return damaged(err, r, name);
    if (!journal_lock(&j, err) || !recover_change(r, &j, change, &tail, err))
        return err_wrap(err, "a change that was cut off (journal '%s/%s') waits to be recovered",
            r->dir_path, name);
    return true;
}

static bool recover_all(struct recovery *r, DIR *dir, struct err *err)
{
    AUTO_ERR struct err first = {0};
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(dir))) {
        AUTO_ERR struct err now = {0};
        if (is_journal_name(entry->d_name) && !recover_file(r, entry->d_name, &now) &&
            first.code == ERR_NONE)
            err_move(&first, &now);
        errno = 0;
    }
    if (errno != 0)
        return err_errno(err, E_IO, errno, "cannot list '%s'", r->dir_path);
    return first.code == ERR_NONE || err_move(err, &first);
}

static void auto_closedir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

bool journal_recover(
    const char *dir_path, int root_fd, struct journal_report *ret_report, struct err *err)
{
    AUTO_FREE struct recovery *r = base_alloc(sizeof(*r));
    *r = (struct recovery){.dir_path = dir_path, .root_fd = root_fd};
    AUTO(auto_closedir) DIR *dir = opendir(dir_path);
    if (!dir && errno != ENOENT && errno != ENOTDIR)
        return err_errno(err, E_IO, errno, "cannot open '%s'", dir_path);
    if (fstat(root_fd, &r->root) != 0)
        return err_errno(err, E_IO, errno, "cannot look at the root");
    if (dir) {
        r->dir_fd = dirfd(dir);
        r->root_path = beneath_name(root_fd);
        bool ok = recover_all(r, dir, err);
        free(r->root_path);
        if (!ok)
            return false;
    }
    *ret_report = r->report;
    return true;
}
