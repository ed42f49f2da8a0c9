/* A change of several files: the directories that it creates. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/change.h"

#include "io/dir.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>

/* A directory whose parent existed before, and all new directories below it: created as one
 * tree. */
struct dirs_tree {
    size_t top;
    size_t end;
    char temp[CHANGE_NAME];
};

static bool next_tree(const struct change *c, struct dirs_tree *t)
{
    t->top = t->end;
    if (t->top == c->n_dirs)
        return false;
    do
        t->end++;
    while (t->end < c->n_dirs && change_is_below(c->dirs[t->end].rel, c->dirs[t->top].rel));
    size_t op = c->dirs[t->top].op;
    snprintf(t->temp, sizeof(t->temp), ".cordon-%s-%s%zu.tmp", c->id, op ? "" : "d",
        op ? op - 1 : t->top);
    return true;
}

/* The i-th directory's path relative to the top of its tree. */
static struct str below_top(const struct change *c, const struct dirs_tree *t, size_t i)
{
    return str_skip(c->dirs[i].rel, c->dirs[t->top].rel.n + 1);
}

static bool make_error(struct err *err, struct str rel)
{
    if (errno == ENOENT)
        return change_open_error(err, ENOENT, rel);
    return err_errno(err, E_IO, errno, "cannot create the directory '%s'", rel.p);
}

bool change_give(const struct change *c, int dir_fd, int fd)
{
    struct stat dir;
    if (!c->dirs_owner)
        return true;
    if (fstat(dir_fd, &dir) != 0)
        return false;
    return dir.st_uid == 0 || fchownat(fd, "", dir.st_uid, dir.st_gid, AT_EMPTY_PATH) == 0;
}

/* The owner of the parent may have put another directory there: an empty one gives nothing away. */
static bool give_dir(const struct change *c, int parent, const char *name)
{
    AUTO_DIR struct dir list = DIR_INIT(1);
    if (!c->dirs_owner)
        return true;
    if (!dir_open(&list, parent, name))
        return false;
    errno = EEXIST;
    return !dir_next(&list) && dir_complete(&list) && change_give(c, parent, list.fd);
}

static bool make_below(
    struct change *c, const struct dirs_tree *t, size_t i, int top, struct err *err)
{
    struct change_dir *dir = &c->dirs[i];
    struct stat st;
    const char *name;
    AUTO_FD int fd = change_parent_open(top, below_top(c, t, i), &name);
    if (fd < 0)
        return change_open_error(err, errno, dir->rel);
    if (mkdirat(fd, name, 0777) != 0 || !give_dir(c, fd, name) ||
        fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return make_error(err, dir->rel);
    dir->ino = st.st_ino;
    return true;
}

static bool make_tree(struct change *c, const struct dirs_tree *t, struct err *err)
{
    struct change_dir *dir = &c->dirs[t->top];
    struct stat st;
    const char *name;
    AUTO_FD int parent = change_parent_open(c->root_fd, dir->rel, &name);
    if (parent < 0)
        return change_open_error(err, errno, dir->rel);
    if (mkdirat(parent, t->temp, 0777) != 0 || !give_dir(c, parent, t->temp))
        return make_error(err, dir->rel);
    AUTO_FD int top = openat(parent, t->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0 || fstat(top, &st) != 0)
        return make_error(err, dir->rel);
    dir->ino = st.st_ino;
    for (size_t i = t->top + 1; i < t->end; i++)
        if (!make_below(c, t, i, top, err))
            return false;
    return true;
}

bool change_make_dirs(struct change *c, struct err *err)
{
    for (struct dirs_tree t = {0}; next_tree(c, &t);)
        if (!make_tree(c, &t, err))
            return false;
    return true;
}

bool change_show_dirs(const struct change *c, struct err *err)
{
    for (struct dirs_tree t = {0}; next_tree(c, &t);) {
        struct str rel = c->dirs[t.top].rel;
        const char *name;
        if (c->dirs[t.top].op)
            continue; /* gets its name when it replaces the file */
        AUTO_FD int fd = change_parent_open(c->root_fd, rel, &name);
        if (fd < 0)
            return change_open_error(err, errno, rel);
        if (file_rename_new(fd, t.temp, fd, name))
            continue;
        if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
            return change_conflict(err, rel, "was created in the meantime");
        return make_error(err, rel);
    }
    return true;
}

static bool drop_name(int fd, const char *name, struct str rel, struct err *err)
{
    if (change_unlink(fd, name, AT_REMOVEDIR) == 0)
        return true;
    /* Ignore entries that another program put there or in its place. */
    if (change_is_gone(errno) || errno == ENOTEMPTY || errno == EEXIST || errno == EBUSY)
        return true;
    return err_errno(err, E_IO, errno, "cannot remove the directory '%s'", rel.p);
}

static bool drop_below(
    const struct change *c, const struct dirs_tree *t, size_t i, int top, struct err *err)
{
    const char *name;
    AUTO_FD int fd = change_parent_open(top, below_top(c, t, i), &name);
    if (fd < 0)
        return change_is_gone(errno) || change_open_error(err, errno, c->dirs[i].rel);
    return drop_name(fd, name, c->dirs[i].rel, err);
}

/* Under its temporary name, which is unique to this change. */
static bool dirs_drop_tree(const struct change *c, const struct dirs_tree *t, struct err *err)
{
    struct str rel = c->dirs[t->top].rel;
    const char *name;
    AUTO_FD int parent = change_parent_open(c->root_fd, rel, &name);
    if (parent < 0)
        return change_is_gone(errno) || change_open_error(err, errno, rel);
    AUTO_FD int top = openat(parent, t->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0)
        return change_is_gone(errno) || change_open_error(err, errno, rel);
    for (size_t i = t->end; i-- > t->top + 1;)
        if (!drop_below(c, t, i, top, err))
            return false;
    return drop_name(parent, t->temp, rel, err);
}

/* Under its final name: only if it is the one that we created. */
static bool drop_shown(const struct change *c, const struct change_dir *dir, struct err *err)
{
    struct stat st;
    const char *name;
    if (!dir->ino)
        return true;
    AUTO_FD int fd = change_parent_open(c->root_fd, dir->rel, &name);
    if (fd < 0)
        return change_is_gone(errno) || change_open_error(err, errno, dir->rel);
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return change_is_gone(errno) || change_open_error(err, errno, dir->rel);
    return st.st_ino != dir->ino || drop_name(fd, name, dir->rel, err);
}

bool change_drop_dirs(const struct change *c, struct err *err)
{
    for (struct dirs_tree t = {0}; next_tree(c, &t);)
        if (!dirs_drop_tree(c, &t, err))
            return false;
    for (size_t i = c->n_dirs; i-- > 0;)
        if (!drop_shown(c, &c->dirs[i], err))
            return false;
    return true;
}
