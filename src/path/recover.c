/* Recovery of interrupted changes by the next command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "io/dir.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/journal.h"
#include "path/record.h"

#include <errno.h>
#include <fcntl.h>

struct recovery {
    const char *dir_path;
    int dir_fd;
    int root_fd;
    struct rootid root;
    char *root_path; /* NULL: no path found */
    struct journal_report report;
};

static bool recover_damaged_error(struct err *err, const struct recovery *r, const char *name)
{
    AUTO_ERR struct err why = {0};
    err_move(&why, err);
    return err_set(err, E_CONFIG,
        "the journal '%s/%s' cannot be used: %s; no file that it names was changed: check "
        "the files next to each '.cordon-%.16s-…', then remove the journal",
        r->dir_path, name, why.message, name);
}

/* Damage that can't be attributed to this root must not block the command. */
static bool count_damaged(struct recovery *r, const char *name, struct err *why)
{
    struct journal_report *report = &r->report;
    LOG_WARN("%s/%s: %s", r->dir_path, name, why->message);
    if (report->damaged++ == 0) {
        snprintf(report->first_damaged, sizeof(report->first_damaged), "%.24s", name);
        snprintf(report->why_damaged, sizeof(report->why_damaged), "%s", why->message);
    }
    return true;
}

/* This also fixes its length. */
static bool has_form(const char *name, struct str suffix)
{
    struct str s = str_z(name);
    return str_ends_with(s, suffix) && change_id_ok(str_head(s, s.n - suffix.n));
}

static bool is_this_root(const struct recovery *r, const struct change *c)
{
    bool same_path = r->root_path && str_is(c->root, r->root_path);
    return rootid_is(&c->root_id, &r->root, same_path);
}

/* The file under one of our names. */
struct recover_found {
    enum {
        FOUND_JOURNAL,
        FOUND_LIVE,  /* in use by another process, or just removed by it */
        FOUND_OTHER, /* not a trusted journal */
    } what;
    struct journal journal;
    struct err why; /* reason for FOUND_OTHER */
};

#define AUTO_FOUND AUTO(found_done)
#define FOUND_INIT \
    ((struct recover_found){.what = FOUND_OTHER, .journal = {.dir_fd = -1, .fd = -1}})

static void found_done(struct recover_found *f)
{
    journal_close(&f->journal);
    err_done(&f->why);
}

/* Write access to the directory must not be enough to control recovery. */
static bool is_own_file(int fd, struct err *why)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(why, E_CONFIG, errno, "it cannot be opened");
    if (!S_ISREG(st.st_mode))
        return err_set(why, E_CONFIG, "it is not a regular file");
    return st.st_uid == geteuid() ||
           err_set(why, E_CONFIG, "it belongs to user %u", (unsigned)st.st_uid);
}

static bool recover_open_journal(
    const struct recovery *r, const char *name, struct recover_found *f, struct err *err)
{
    struct journal *j = &f->journal;
    struct stat st;
    bool taken;
    AUTO_FD int fd = openat(r->dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == EIO || errno == EROFS))
        return err_errno(err, E_IO, errno, "cannot open the journal '%s/%s'", r->dir_path, name);
    f->what = fd < 0 && errno == ENOENT ? FOUND_LIVE : FOUND_OTHER;
    if (f->what == FOUND_LIVE || !is_own_file(fd, &f->why))
        return true;
    if (!journal_lock_file(fd, &taken, err))
        return false;
    f->what = taken || fstat(fd, &st) != 0 || st.st_nlink == 0 ? FOUND_LIVE : FOUND_JOURNAL;
    *j = (struct journal){.dir_fd = openat(r->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .fd = TAKE_FD(fd),
        .dir_path = strdup(r->dir_path)};
    BUG_ON(!j->dir_path);
    snprintf(j->name, sizeof(j->name), "%.24s", name);
    return j->dir_fd >= 0 || err_errno(err, E_IO, errno, "cannot open '%s'", r->dir_path);
}

/* Completes the change if every remaining step is possible. *ret_done is false if it must be
 * undone. */
static bool recover_complete(struct journal *j, struct change *c, bool *ret_done, struct err *err)
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

static void report_left(struct recovery *r, const struct journal *j, const struct change *c)
{
    struct journal_report *report = &r->report;
    if (c->n_kept && report->kept == 0)
        memcpy(report->first_kept, c->kept, sizeof(c->kept));
    if (c->n_lost && report->lost == 0) {
        memcpy(report->first_lost, c->lost, sizeof(c->lost));
        memcpy(report->lost_journal, j->name, sizeof(j->name));
    }
    report->kept += c->n_kept;
    report->lost += c->n_lost;
}

/* Files were replaced, or could have been. */
static bool recover_commit(struct recovery *r, struct journal *j, struct change *c,
    const struct record_tail *tail, struct err *err)
{
    bool done = tail->state == RECORD_DONE;
    j->commit_tried = true;
    j->marked = tail->state == RECORD_UNDO;
    j->commit_n = tail->whole_n;
    if (tail->state == RECORD_COMMIT) {
        /* Remove a truncated line at the end before appending a new one. */
        if (ftruncate(j->fd, (off_t)tail->whole_n) != 0 || lseek(j->fd, 0, SEEK_END) < 0)
            return err_errno(err, E_IO, errno, "cannot truncate the journal in '%s'", j->dir_path);
        if (!recover_complete(j, c, &done, err))
            return false;
    }
    bool ok = done ? journal_finish(j, c, err) : journal_undo(j, c, err);
    r->report.finished += ok && done && !c->n_lost;
    r->report.undone += ok && !done && !c->n_lost;
    if (ok)
        report_left(r, j, c);
    return ok;
}

static bool recover_staging(
    struct recovery *r, struct journal *j, struct change *c, struct err *err)
{
    for (size_t i = 0; i < c->n_ops; i++) {
        bool staged;
        if (!change_is_staged(c, i, &staged, err))
            return false;
        if (!staged) {
            err_set(err, E_CONFIG, "its end is missing, and '%s' was replaced", c->ops[i].rel.p);
            return recover_damaged_error(err, r, j->name);
        }
    }
    if (!journal_drop(j, c, err))
        return false;
    r->report.undone++;
    return true;
}

static bool recover_change(struct recovery *r, struct journal *j, struct change *c,
    const struct record_tail *tail, struct err *err)
{
    AUTO_ERR struct err why = {0};
    bool here = true;
    c->root_fd = r->root_fd;
    j->staging_n = tail->staging_n;
    j->hash = tail->hash;
    LOG_INFO("recovering %s/%s, state %d", j->dir_path, j->name, (int)tail->state);
    if (tail->state == RECORD_STAGING)
        return recover_staging(r, j, c, err);
    if (tail->state != RECORD_DONE && !change_is_here(c, &here, err))
        return false;
    if (here)
        return recover_commit(r, j, c, tail, err);
    /* A single file that was changed since: with no other traces left, there is nothing to do. */
    if (change_is_single(c))
        return journal_remove(j, err);
    /* The traces were removed, or this is a different tree: can't tell which. */
    err_set(&why, E_CONFIG, "no trace of the change was found, and its files differ");
    return count_damaged(r, j->name, &why);
}

/* The intent was on disk before the journal got this name, so a journal without one is also
 * damaged. */
static bool read_journal(const struct journal *j, struct arena *a, struct change *ret_change,
    struct record_tail *ret_tail, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(RECORD_MAX + 2);
    if (!file_read(j->fd, RECORD_MAX, j->name, &text, err))
        return false;
    bool ok = record_parse(buf_str(&text), a, ret_change, ret_tail, err);
    if (ok && ret_tail->state != RECORD_CUT)
        return true;
    if (ok)
        err_set(err, E_CONFIG, "its beginning is incomplete");
    if (!record_peek(buf_str(&text), a, ret_change))
        *ret_change = (struct change){.root_fd = -1};
    return false;
}

static bool recover_file(struct recovery *r, const char *name, struct err *err)
{
    AUTO_FOUND struct recover_found f = FOUND_INIT;
    AUTO_ARENA struct arena arena = ARENA_INIT(3 * RECORD_MAX);
    struct change *change = ARENA_NEW(&arena, struct change, 1);
    struct record_tail tail;
    if (!recover_open_journal(r, name, &f, err))
        return false;
    if (f.what == FOUND_LIVE) {
        r->report.live++;
        return true;
    }
    bool whole = f.what == FOUND_JOURNAL && read_journal(&f.journal, &arena, change, &tail, &f.why);
    if (!change->root.n)
        return count_damaged(r, name, &f.why);
    if (!is_this_root(r, change)) {
        r->report.elsewhere++;
        return true;
    }
    if (!whole) {
        err_move(err, &f.why);
        return recover_damaged_error(err, r, name);
    }
    if (journal_lock(&f.journal, err) && recover_change(r, &f.journal, change, &tail, err))
        return true;
    if (err->code == E_CONFIG)
        return false; /* the message is already complete */
    return err_wrap(
        err, "cannot recover an interrupted change (journal '%s/%s')", r->dir_path, name);
}

/* The intent was never on disk, so nothing was created. */
static bool remove_new(struct recovery *r, const char *name, struct err *err)
{
    AUTO_FOUND struct recover_found f = FOUND_INIT;
    if (!recover_open_journal(r, name, &f, err))
        return false;
    r->report.live += f.what == FOUND_LIVE;
    if (f.what == FOUND_OTHER)
        return count_damaged(r, name, &f.why);
    return f.what == FOUND_LIVE || journal_remove(&f.journal, err);
}

static bool recover_entry(struct recovery *r, const char *name, struct err *err)
{
    if (has_form(name, STR(".journal")))
        return recover_file(r, name, err);
    return !has_form(name, STR(".new")) || remove_new(r, name, err);
}

static bool recover_all(struct recovery *r, struct dir *d, struct err *err)
{
    AUTO_ERR struct err first = {0};
    while (dir_next(d)) {
        AUTO_ERR struct err now = {0};
        if (!recover_entry(r, d->name, &now) && first.code == ERR_NONE)
            err_move(&first, &now);
    }
    if (d->errnum)
        return err_errno(err, E_IO, d->errnum, "cannot list '%s'", r->dir_path);
    return first.code == ERR_NONE || err_move(err, &first);
}

bool journal_recover(
    const char *dir_path, int root_fd, struct journal_report *ret_report, struct err *err)
{
    AUTO_FREE struct recovery *r = base_alloc(sizeof(*r));
    *r = (struct recovery){.dir_path = dir_path, .root_fd = root_fd};
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool is_there = dir_open_path(&d, dir_path);
    if (!is_there && errno != ENOENT && errno != ENOTDIR)
        return err_errno(err, E_IO, errno, "cannot open '%s'", dir_path);
    if (!rootid_look(root_fd, &r->root, err))
        return false;
    if (is_there) {
        r->dir_fd = d.fd;
        r->root_path = beneath_name(root_fd);
        bool ok = recover_all(r, &d, err);
        free(r->root_path);
        if (!ok)
            return false;
    }
    *ret_report = r->report;
    return true;
}
