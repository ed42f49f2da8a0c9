/* A change of several files: the steps of one file, forward and back. */
#include "path/change.h"

#include <errno.h>
#include <fcntl.h>

/* What stands at a name, seen by one file of the change. */
enum seen {
    SEEN_NONE,
    SEEN_OLD,
    SEEN_NEW,
    SEEN_OTHER,
};

struct view {
    enum seen target;
    enum seen temp;
};

static bool stat_name(
    const struct change_place *at, const char *name, struct stat *ret_st, struct err *err)
{
    struct stat st = {0};
    if (fstatat(at->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
        return err_errno(err, E_IO, errno, "cannot look at '%s' beside '%s'", name, at->name);
    *ret_st = st;
    return true;
}

static enum seen classify(const struct change_op *op, const struct stat *st)
{
    if (st->st_mode == 0)
        return SEEN_NONE;
    if (stamp_is(&op->old, st))
        return SEEN_OLD;
    return stamp_is(&op->new, st) ? SEEN_NEW : SEEN_OTHER;
}

static bool see(const struct change_place *at, const struct change_op *op, const char *name,
    enum seen *ret_seen, struct err *err)
{
    struct stat st;
    if (!stat_name(at, name, &st, err))
        return false;
    *ret_seen = classify(op, &st);
    return true;
}

static bool see_both(const struct change_place *at, const struct change_op *op,
    struct view *ret_view, struct err *err)
{
    struct view v;
    if (!see(at, op, at->name, &v.target, err) || !see(at, op, at->temp, &v.temp, err))
        return false;
    *ret_view = v;
    return true;
}

static bool step_error(struct err *err, const struct change_op *op, const char *what)
{
    return err_errno(err, E_IO, errno, "cannot %s '%s'", what, op->rel.p);
}

/* Old file systems know neither flag. */
static bool lacks_flag(int errnum)
{
    return errnum == EINVAL || errnum == ENOSYS;
}

/* Renames without replacing: EEXIST if the new name is taken. */
static int move_to_free(int dir_fd, const char *from, const char *to)
{
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (!lacks_flag(errno) || linkat(dir_fd, from, dir_fd, to, 0) != 0)
        return -1;
    return unlinkat(dir_fd, from, 0);
}

/* Exchanges temp and target. Without the kernel's exchange: a second link to the target first, so
 * that at each moment both files have a name; settle() knows what each cut leaves. */
static int swap(const struct change_place *at)
{
    int fd = at->dir_fd;
    if (renameat2(fd, at->temp, fd, at->name, RENAME_EXCHANGE) == 0)
        return 0;
    if (!lacks_flag(errno) || linkat(fd, at->name, fd, at->spare, 0) != 0)
        return -1;
    if (renameat(fd, at->temp, fd, at->name) != 0) {
        int errnum = errno;
        unlinkat(fd, at->spare, 0);
        errno = errnum;
        return -1;
    }
    return renameat(fd, at->spare, fd, at->temp);
}

/* Leads a state in the middle of swap() or move_to_free() to its beginning or its end. */
static bool settle(const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct stat target, temp, spare;
    if (!stat_name(at, at->spare, &spare, err) || !stat_name(at, at->temp, &temp, err))
        return false;
    if (spare.st_mode && !temp.st_mode) {
        if (renameat(at->dir_fd, at->spare, at->dir_fd, at->temp) != 0)
            return step_error(err, op, "settle");
        temp = spare;
    } else if (spare.st_mode && unlinkat(at->dir_fd, at->spare, 0) != 0) {
        return step_error(err, op, "settle");
    }
    if (!stat_name(at, at->name, &target, err))
        return false;
    bool two_names = temp.st_mode && temp.st_dev == target.st_dev && temp.st_ino == target.st_ino;
    if (two_names && unlinkat(at->dir_fd, at->temp, 0) != 0)
        return step_error(err, op, "settle");
    return true;
}

static enum change_status status_of(enum change_kind kind, struct view v)
{
    bool todo = false, done = false;
    switch (kind) {
    case CHANGE_CREATE:
        todo = v.temp == SEEN_NEW && v.target == SEEN_NONE;
        done = v.temp == SEEN_NONE && v.target != SEEN_NONE;
        break;
    case CHANGE_UPDATE:
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

bool change_look(const struct change *c, size_t i, enum change_status *ret_status, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    struct view v = {SEEN_NONE, SEEN_NONE};
    bool found;
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    if (found && (!settle(&at, op, err) || !see_both(&at, op, &v, err)))
        return false;
    *ret_status = status_of(op->kind, v);
    return true;
}

static bool conflict(struct err *err, const struct change_op *op, const char *what)
{
    err_set(err, E_CONFLICT, "'%s' %s: read it again and repeat the change", op->rel.p, what);
    return err_ctx(err, "path", "%s", op->rel.p);
}

static bool forward_create(
    const struct change_place *at, const struct change_op *op, struct err *err)
{
    if (move_to_free(at->dir_fd, at->temp, at->name) == 0)
        return true;
    if (errno == EEXIST)
        return conflict(err, op, "was created meanwhile");
    return step_error(err, op, "create");
}

/* Update and delete: the displaced file must be the one that was read. The look before keeps a
 * foreign version from being displaced at all; the look after is the one that counts. */
static bool forward_displace(
    const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct view v;
    if (!see_both(at, op, &v, err))
        return false;
    if (v.target != SEEN_OLD)
        return conflict(err, op, v.target == SEEN_NONE ? "is gone" : "was changed meanwhile");
    int moved =
        op->kind == CHANGE_UPDATE ? swap(at) : renameat(at->dir_fd, at->name, at->dir_fd, at->temp);
    if (moved != 0 && errno == ENOENT)
        return conflict(err, op, "is gone");
    if (moved != 0)
        return step_error(err, op, op->kind == CHANGE_UPDATE ? "replace" : "delete");
    if (!see(at, op, at->temp, &v.temp, err))
        return false;
    return v.temp == SEEN_OLD || conflict(err, op, "was changed meanwhile");
}

bool change_forward(const struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    if (!change_place_open(c, i, &at, err))
        return false;
    return op->kind == CHANGE_CREATE ? forward_create(&at, op, err)
                                     : forward_displace(&at, op, err);
}

bool change_verify(const struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    enum seen temp;
    if (op->kind == CHANGE_CREATE)
        return true;
    if (!change_place_open(c, i, &at, err) || !see(&at, op, at.temp, &temp, err))
        return false;
    /* No temp: a user who tidied up after a crash removed the old version; there is no way back. */
    return temp == SEEN_OLD || temp == SEEN_NONE || conflict(err, op, "was changed meanwhile");
}

/* The old version can't go back to its place: it stays beside it, under a name of its own. */
static bool keep_aside(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    if (move_to_free(at->dir_fd, at->temp, at->kept) != 0)
        return step_error(err, op, "keep the old version of");
    int parent = (int)(at->name - op->rel.p);
    if (c->n_kept++ == 0)
        snprintf(c->kept, sizeof(c->kept), "%.*s%s", parent, op->rel.p, at->kept);
    return true;
}

static bool put_back(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    if (move_to_free(at->dir_fd, at->temp, at->name) == 0)
        return true;
    return errno == EEXIST ? keep_aside(c, at, op, err) : step_error(err, op, "put back");
}

static bool back_update(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct view v;
    if (!see_both(at, op, &v, err))
        return false;
    if (v.temp == SEEN_NONE || v.temp == SEEN_NEW)
        return true;
    if (v.target == SEEN_NONE)
        return put_back(c, at, op, err);
    if (v.target != SEEN_NEW)
        return keep_aside(c, at, op, err);
    if (swap(at) != 0)
        return step_error(err, op, "put back");
    if (!see(at, op, at->temp, &v.temp, err))
        return false;
    if (v.temp == SEEN_NEW)
        return true;
    /* Somebody replaced the target between the look and the swap: theirs is the newest. */
    if (swap(at) != 0)
        return step_error(err, op, "put back");
    return keep_aside(c, at, op, err);
}

static bool back_create(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct view v;
    if (!see_both(at, op, &v, err))
        return false;
    if (v.temp != SEEN_NONE || v.target != SEEN_NEW)
        return true;
    if (renameat(at->dir_fd, at->name, at->dir_fd, at->temp) != 0)
        return errno == ENOENT || step_error(err, op, "take back");
    if (!see(at, op, at->temp, &v.temp, err))
        return false;
    return v.temp == SEEN_NEW || put_back(c, at, op, err);
}

static bool back_delete(
    struct change *c, const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct view v;
    if (!see_both(at, op, &v, err))
        return false;
    return v.temp == SEEN_NONE || put_back(c, at, op, err);
}

bool change_back(struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    bool found;
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    if (!found)
        return true;
    if (!settle(&at, op, err))
        return false;
    switch (op->kind) {
    case CHANGE_CREATE:
        return back_create(c, &at, op, err);
    case CHANGE_UPDATE:
        return back_update(c, &at, op, err);
    case CHANGE_DELETE:
        return back_delete(c, &at, op, err);
    }
    BUG_ON(true);
}
