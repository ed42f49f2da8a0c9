/* A change of several files: the steps of one file, forward and back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/change.h"

#include <errno.h>
#include <fcntl.h>

/* The file at a name, as seen by one operation of the change. */
enum step_seen {
    SEEN_NONE,
    SEEN_OLD,
    SEEN_NEW,
    SEEN_OTHER,
};

struct step_view {
    enum step_seen target;
    enum step_seen temp;
};

static bool stat_name(
    const struct change_place *at, const char *name, struct stat *ret_st, struct err *err)
{
    struct stat st = {0};
    if (fstatat(at->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
        return err_errno(err, E_IO, errno, "cannot stat '%s' next to '%s'", name, at->name);
    *ret_st = st;
    return true;
}

static enum step_seen step_classify(const struct change_op *op, const struct stat *st)
{
    if (st->st_mode == 0)
        return SEEN_NONE;
    if (stamp_is(&op->old, st))
        return SEEN_OLD;
    return stamp_is(&op->new, st) ? SEEN_NEW : SEEN_OTHER;
}

static bool step_inspect(const struct change_place *at, const struct change_op *op,
    const char *name, enum step_seen *ret_seen, struct err *err)
{
    struct stat st;
    if (!stat_name(at, name, &st, err))
        return false;
    *ret_seen = step_classify(op, &st);
    return true;
}

static bool step_inspect_both(const struct change_place *at, const struct change_op *op,
    struct step_view *ret_view, struct err *err)
{
    struct step_view v;
    if (!step_inspect(at, op, at->name, &v.target, err) ||
        !step_inspect(at, op, at->temp, &v.temp, err))
        return false;
    *ret_view = v;
    return true;
}

static bool step_error(struct err *err, const struct change_op *op, const char *what)
{
    return err_errno(err, E_IO, errno, "cannot %s '%s'", what, op->rel.p);
}

/* Old file systems support neither flag. */
static bool lacks_flag(int errnum)
{
    return errnum == EINVAL || errnum == ENOSYS;
}

static bool step_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_mode && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Renames without replacing: EEXIST if the new name exists. */
static int move_to_free(int dir_fd, const char *from, const char *to)
{
    struct stat a, b;
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (lacks_flag(errno) && linkat(dir_fd, from, dir_fd, to, 0) == 0)
        return unlinkat(dir_fd, from, 0);
    if (errno != EEXIST)
        return -1;
    /* The same file is already there: the first half was done before. */
    if (fstatat(dir_fd, from, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
        fstatat(dir_fd, to, &b, AT_SYMLINK_NOFOLLOW) == 0 && step_same_file(&a, &b))
        return unlinkat(dir_fd, from, 0);
    errno = EEXIST;
    return -1;
}

/* Exchanges temp and target. Without RENAME_EXCHANGE, creates a second link to the target first, so
 * that both files have a name at every moment; step_settle() handles each interrupted state. A
 * failure cleans nothing up: on a network file system a rename may succeed and yet report an error.
 */
static int step_swap(
    const struct change *c, const struct change_place *at, const struct change_op *op)
{
    int fd = at->dir_fd;
    if (renameat2(fd, at->temp, fd, at->name, RENAME_EXCHANGE) == 0)
        return 0;
    if (!lacks_flag(errno) || change_is_shape(op))
        return -1;
    change_note_spare(c);
    if (linkat(fd, at->name, fd, at->spare, 0) != 0)
        return -1;
    if (renameat(fd, at->temp, fd, at->name) != 0)
        return -1;
    return renameat(fd, at->spare, fd, at->temp);
}

static void note_kept(struct change *c, const struct change_place *at, const struct change_op *op)
{
    int parent = (int)(at->name - op->rel.p);
    if (c->n_kept++ == 0)
        snprintf(c->kept, sizeof(c->kept), "%.*s%s", parent, op->rel.p, at->kept);
}

bool change_keep_aside(struct change *c, const struct change_place *at, const struct change_op *op,
    const char *from, struct err *err)
{
    if (move_to_free(at->dir_fd, from, at->kept) != 0)
        return step_error(err, op, "save the old version of");
    note_kept(c, at, op);
    return true;
}

/* Both names exist: the second link is not needed, unless another program removed the first. */
static bool settle_spare(struct change *c, const struct change_place *at,
    const struct change_op *op, const struct stat *spare, struct err *err)
{
    struct stat target, temp;
    if (!stat_name(at, at->name, &target, err) || !stat_name(at, at->temp, &temp, err))
        return false;
    if (!step_same_file(spare, &target) && !step_same_file(spare, &temp) &&
        step_classify(op, spare) == SEEN_OTHER)
        return change_keep_aside(c, at, op, at->spare, err);
    return unlinkat(at->dir_fd, at->spare, 0) == 0 || step_error(err, op, "settle");
}

/* Resolves a state in the middle of step_swap() or move_to_free() to its start or its end. */
static bool step_settle(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct stat target, temp, spare;
    if (!stat_name(at, at->spare, &spare, err) || !stat_name(at, at->temp, &temp, err))
        return false;
    if (spare.st_mode && !temp.st_mode) {
        if (renameat(at->dir_fd, at->spare, at->dir_fd, at->temp) != 0)
            return step_error(err, op, "settle");
        temp = spare;
    } else if (spare.st_mode && !settle_spare(c, at, op, &spare, err)) {
        return false;
    }
    if (!stat_name(at, at->name, &target, err))
        return false;
    if (step_same_file(&temp, &target) && unlinkat(at->dir_fd, at->temp, 0) != 0)
        return step_error(err, op, "settle");
    return true;
}

static enum change_status step_status_of(enum change_kind kind, struct step_view v)
{
    bool todo = false, done = false;
    switch (kind) {
    case CHANGE_CREATE:
        todo = v.temp == SEEN_NEW && v.target == SEEN_NONE;
        done = v.temp == SEEN_NONE && v.target != SEEN_NONE;
        break;
    case CHANGE_UPDATE:
    case CHANGE_TO_DIR:
    case CHANGE_TO_FILE:
        todo = v.temp == SEEN_NEW && v.target == SEEN_OLD;
        done = v.temp == SEEN_OLD || (v.temp == SEEN_NONE && v.target == SEEN_NEW);
        break;
    case CHANGE_DELETE:
        todo = v.temp == SEEN_NONE && v.target == SEEN_OLD;
        done = v.temp == SEEN_OLD || (v.temp == SEEN_NONE && v.target == SEEN_NONE);
        break;
    }
    return todo ? CHANGE_TODO : done ? CHANGE_DONE : CHANGE_BLOCKED;
}

bool change_look(struct change *c, size_t i, enum change_status *ret_status, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    struct step_view v = {SEEN_NONE, SEEN_NONE};
    bool found, known = true;
    if (op->carrier) {
        *ret_status = CHANGE_DONE;
        return true;
    }
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    if (found && (!step_settle(c, &at, op, err) || !step_inspect_both(&at, op, &v, err)))
        return false;
    enum change_status status = found ? step_status_of(op->kind, v) : CHANGE_BLOCKED;
    if (status == CHANGE_TODO && op->kind == CHANGE_TO_FILE &&
        !shape_look(c, i, at.dir_fd, at.name, false, &known, err))
        return false;
    *ret_status = known ? status : CHANGE_BLOCKED;
    return true;
}

static bool forward_create(
    const struct change_place *at, const struct change_op *op, struct err *err)
{
    if (move_to_free(at->dir_fd, at->temp, at->name) == 0)
        return true;
    if (errno == EEXIST)
        return change_conflict(err, op->rel, "was created in the meantime");
    return step_error(err, op, "create");
}

/* A directory to be removed must contain only what the change knows. */
static bool check_inside(const struct change *c, size_t i, const struct change_place *at,
    const char *name, struct err *err)
{
    bool known = true;
    if (c->ops[i].kind == CHANGE_TO_FILE && !shape_look(c, i, at->dir_fd, name, false, &known, err))
        return false;
    return known || change_conflict(err, c->ops[i].rel, "now contains other files");
}

static bool displace_error(struct err *err, const struct change_op *op)
{
    if (change_is_shape(op) && lacks_flag(errno))
        return err_set(err, E_IO,
            "cannot replace '%s': this file system cannot exchange a file and a directory",
            op->rel.p);
    return step_error(err, op, op->kind == CHANGE_DELETE ? "delete" : "replace");
}

/* Update and delete: the displaced file must be the one that was read. The check before avoids
 * displacing a foreign version at all; the check after is the decisive one. */
static bool forward_displace(
    const struct change *c, size_t i, const struct change_place *at, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    struct step_view v;
    if (!step_inspect(at, op, at->name, &v.target, err))
        return false;
    if (v.target != SEEN_OLD)
        return change_conflict(err, op->rel,
            v.target == SEEN_NONE ? "no longer exists" : "was changed in the meantime");
    if (!check_inside(c, i, at, at->name, err))
        return false;
    int moved = op->kind == CHANGE_DELETE ? renameat(at->dir_fd, at->name, at->dir_fd, at->temp)
                                          : step_swap(c, at, op);
    if (moved != 0 && errno == ENOENT)
        return change_conflict(err, op->rel, "no longer exists");
    if (moved != 0)
        return displace_error(err, op);
    if (!step_inspect(at, op, at->temp, &v.temp, err))
        return false;
    if (v.temp != SEEN_OLD)
        return change_conflict(err, op->rel, "was changed in the meantime");
    return check_inside(c, i, at, at->temp, err);
}

bool change_forward(const struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    if (op->carrier)
        return true;
    if (!change_place_open(c, i, &at, err))
        return false;
    return op->kind == CHANGE_CREATE ? forward_create(&at, op, err)
                                     : forward_displace(c, i, &at, err);
}

bool change_verify(const struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    enum step_seen temp;
    bool created = op->kind == CHANGE_CREATE;
    if ((created && !c->held) || op->carrier)
        return true;
    if (!change_place_open(c, i, &at, err))
        return false;
    if (created)
        return true;
    if (!step_inspect(&at, op, at.temp, &temp, err))
        return false;
    /* No temp: a user who cleaned up after a crash removed the old version; it can't be undone. */
    if (temp == SEEN_OLD)
        return check_inside(c, i, &at, at.temp, err);
    return temp == SEEN_NONE || change_conflict(err, op->rel, "was changed in the meantime");
}

static void note_lost(struct change *c, const struct change_op *op)
{
    if (c->n_lost++ == 0)
        snprintf(c->lost, sizeof(c->lost), "%s", op->rel.p);
}

/* Nothing to restore. Count it if an interrupted recovery has kept it aside. */
static bool step_count_kept(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct stat st;
    if (!stat_name(at, at->kept, &st, err))
        return false;
    if (st.st_mode)
        note_kept(c, at, op);
    return true;
}

static bool step_put_back(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    if (move_to_free(at->dir_fd, at->temp, at->name) == 0)
        return true;
    return errno == EEXIST ? change_keep_aside(c, at, op, at->temp, err)
                           : step_error(err, op, "restore");
}

static bool back_update(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct step_view v;
    if (!step_inspect_both(at, op, &v, err))
        return false;
    if (v.temp == SEEN_NONE && v.target == SEEN_NEW)
        note_lost(c, op); /* another program removed the only old version */
    if (v.temp == SEEN_NONE)
        return step_count_kept(c, at, op, err);
    if (v.temp == SEEN_NEW)
        return true;
    if (v.target == SEEN_NONE)
        return step_put_back(c, at, op, err);
    if (v.target != SEEN_NEW)
        return change_keep_aside(c, at, op, at->temp, err);
    if (step_swap(c, at, op) != 0)
        return step_error(err, op, "restore");
    if (!step_inspect(at, op, at->temp, &v.temp, err))
        return false;
    if (v.temp == SEEN_NEW)
        return true;
    /* The target was replaced between the check and the swap: that version is the newest. */
    if (step_swap(c, at, op) != 0)
        return step_error(err, op, "restore");
    return change_keep_aside(c, at, op, at->temp, err);
}

static bool back_create(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct step_view v;
    if (!step_inspect_both(at, op, &v, err))
        return false;
    if (v.temp != SEEN_NONE || v.target != SEEN_NEW)
        return true;
    if (renameat(at->dir_fd, at->name, at->dir_fd, at->temp) != 0)
        return errno == ENOENT || step_error(err, op, "undo the creation of");
    if (!step_inspect(at, op, at->temp, &v.temp, err))
        return false;
    return v.temp == SEEN_NEW || step_put_back(c, at, op, err);
}

static bool back_delete(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct step_view v;
    if (!step_inspect_both(at, op, &v, err))
        return false;
    return v.temp == SEEN_NONE ? step_count_kept(c, at, op, err) : step_put_back(c, at, op, err);
}

/* Another program may have written to the new directory that is being removed. */
static bool back_dir(struct change *c, size_t i, const struct change_place *at, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    enum step_seen temp;
    bool known;
    if (!back_update(c, at, op, err) || !step_inspect(at, op, at->temp, &temp, err))
        return false;
    if (temp != SEEN_NEW)
        return true;
    return shape_look(c, i, at->dir_fd, at->temp, false, &known, err) &&
           (known || change_keep_aside(c, at, op, at->temp, err));
}

bool change_back(struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    bool found;
    if (op->carrier)
        return true;
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    if (!found) {
        note_lost(c, op);
        return true;
    }
    if (!step_settle(c, &at, op, err))
        return false;
    switch (op->kind) {
    case CHANGE_CREATE:
        return back_create(c, &at, op, err);
    case CHANGE_UPDATE:
    case CHANGE_TO_FILE:
        return back_update(c, &at, op, err);
    case CHANGE_DELETE:
        return back_delete(c, &at, op, err);
    case CHANGE_TO_DIR:
        return back_dir(c, i, &at, err);
    }
    BUG_ON(true);
}

bool change_is_staged(const struct change *c, size_t i, bool *ret_staged, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    struct stat temp = {0}, spare = {0};
    bool found;
    *ret_staged = true;
    if (op->carrier)
        return true;
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    if (found && (!stat_name(&at, at.temp, &temp, err) || !stat_name(&at, at.spare, &spare, err)))
        return false;
    bool displaced = op->kind == CHANGE_DELETE || (op->old.ino && op->old.ino == temp.st_ino);
    *ret_staged = !spare.st_mode && !(temp.st_mode && displaced);
    return true;
}

/* Whether the target is in neither its old nor its new state. */
static bool is_strange(const struct change_op *op, enum step_seen target)
{
    enum step_seen before = op->kind == CHANGE_CREATE ? SEEN_NONE : SEEN_OLD;
    enum step_seen after = op->kind == CHANGE_DELETE ? SEEN_NONE : SEEN_NEW;
    return target != before && target != after;
}

bool change_is_here(const struct change *c, bool *ret_here, struct err *err)
{
    bool seen = false, strange = false;
    for (size_t i = 0; i < c->n_ops && !seen; i++) {
        const struct change_op *op = &c->ops[i];
        AUTO_PLACE struct change_place at = {.dir_fd = -1};
        enum step_seen target = SEEN_NONE;
        bool found;
        if (op->carrier)
            continue;
        if (!change_place_find(c, i, &at, &found, err))
            return false;
        const char *const names[] = {at.temp, at.spare, at.kept};
        for (size_t k = 0; found && k < ARRAY_LEN(names); k++) {
            struct stat st;
            if (!stat_name(&at, names[k], &st, err))
                return false;
            seen = seen || st.st_mode;
        }
        if (found && !step_inspect(&at, op, at.name, &target, err))
            return false;
        strange = strange || (found && is_strange(op, target));
    }
    *ret_here = seen || !strange;
    return true;
}
