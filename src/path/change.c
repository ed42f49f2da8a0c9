/* A change of several files: names, places, directories, what is left behind. */
#include "path/change.h"

#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>

static bool component_ok(struct str part)
{
    return part.n > 0 && part.n <= NAME_MAX && !str_is(part, ".") && !str_is(part, "..");
}

bool change_rel_ok(struct str rel)
{
    if (rel.n == 0 || rel.n >= PATH_MAX || str_find(rel, '\0') >= 0 || rel.p[rel.n - 1] == '/')
        return false;
    struct str part, rest = rel;
    while (str_cut(rest, '/', &part, &rest))
        if (!component_ok(part))
            return false;
    return true;
}

bool change_id_ok(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!strchr("0123456789abcdef", id.p[i]) || !id.p[i])
            return false;
    return id.n == CHANGE_ID - 1;
}

static void temp_name(const struct change *c, size_t i, const char *suffix, char name[CHANGE_NAME])
{
    snprintf(name, CHANGE_NAME, ".cordon-%s-%zu.%s", c->id, i, suffix);
}

int change_parent_open(int root_fd, struct str rel, const char **ret_name)
{
    char parent[PATH_MAX] = ".";
    ptrdiff_t slash = str_find_last(rel, '/');
    BUG_ON(rel.n >= sizeof(parent));
    if (slash > 0) {
        memcpy(parent, rel.p, (size_t)slash);
        parent[slash] = '\0';
    }
    int fd = beneath_open(root_fd, parent, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    if (fd >= 0)
        *ret_name = rel.p + slash + 1;
    return fd;
}

bool change_open_error(struct err *err, int errnum, struct str rel)
{
    if (errnum == ELOOP)
        return err_set(err, E_FS_VIOLATION,
            "'%s' goes through a symbolic link: give the path that the link leads to", rel.p);
    if (errnum == EXDEV)
        return err_set(err, E_FS_VIOLATION, "'%s' leaves its root", rel.p);
    if (errnum == ENOENT)
        return err_set(err, E_CONFLICT, "the directory of '%s' is gone", rel.p);
    if (errnum == ENOTDIR)
        return err_set(err, E_IO, "'%s' lies below something that is not a directory", rel.p);
    return err_errno(err, E_IO, errnum, "cannot open the directory of '%s'", rel.p);
}

/* A parent that is gone, or is no longer a plain directory: its files are not ours to reach. */
static bool is_gone(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == EXDEV;
}

static void place_init(
    const struct change *c, size_t i, int dir_fd, const char *name, struct change_place *place)
{
    *place = (struct change_place){.dir_fd = dir_fd, .name = name};
    temp_name(c, i, "tmp", place->temp);
    temp_name(c, i, "old", place->spare);
    temp_name(c, i, "kept", place->kept);
}

bool change_place_open(
    const struct change *c, size_t i, struct change_place *ret_place, struct err *err)
{
    const char *name;
    int fd = change_parent_open(c->root_fd, c->ops[i].rel, &name);
    if (fd < 0)
        return change_open_error(err, errno, c->ops[i].rel);
    place_init(c, i, fd, name, ret_place);
    return true;
}

bool change_place_find(const struct change *c, size_t i, struct change_place *ret_place,
    bool *ret_found, struct err *err)
{
    const char *name;
    int fd = change_parent_open(c->root_fd, c->ops[i].rel, &name);
    if (fd < 0 && !is_gone(errno))
        return change_open_error(err, errno, c->ops[i].rel);
    if (fd >= 0)
        place_init(c, i, fd, name, ret_place);
    *ret_found = fd >= 0;
    return true;
}

void change_place_close(struct change_place *place)
{
    if (place->name && place->dir_fd >= 0)
        close(place->dir_fd);
    *place = (struct change_place){.dir_fd = -1};
}

static bool make_dir(struct change *c, struct change_dir *dir, struct err *err)
{
    const char *name;
    AUTO_FD int fd = change_parent_open(c->root_fd, dir->rel, &name);
    if (fd < 0)
        return change_open_error(err, errno, dir->rel);
    dir->foreign = mkdirat(fd, name, 0777) != 0;
    if (dir->foreign && errno == ENOENT)
        return change_open_error(err, ENOENT, dir->rel);
    if (dir->foreign && errno != EEXIST)
        return err_errno(err, E_IO, errno, "cannot make the directory '%s'", dir->rel.p);
    return true;
}

bool change_make_dirs(struct change *c, struct err *err)
{
    for (size_t i = 0; i < c->n_dirs; i++)
        c->dirs[i].foreign = true;
    for (size_t i = 0; i < c->n_dirs; i++)
        if (!make_dir(c, &c->dirs[i], err))
            return false;
    return true;
}

static bool sync_parent(const struct change *c, struct str rel, struct err *err)
{
    const char *name;
    AUTO_FD int fd = change_parent_open(c->root_fd, rel, &name);
    if (fd < 0)
        return is_gone(errno) || change_open_error(err, errno, rel);
    /* EINVAL: a file system that has nothing to sync for a directory. */
    if (fsync(fd) != 0 && errno != EINVAL)
        return err_errno(err, E_IO, errno, "cannot sync the directory of '%s'", rel.p);
    return true;
}

static bool same_parent(struct str a, struct str b)
{
    ptrdiff_t n = str_find_last(a, '/'), m = str_find_last(b, '/');
    return n == m && (n < 0 || memcmp(a.p, b.p, (size_t)n) == 0);
}

bool change_sync(const struct change *c, struct err *err)
{
    for (size_t i = 0; i < c->n_dirs; i++)
        if (!sync_parent(c, c->dirs[i].rel, err))
            return false;
    for (size_t i = 0; i < c->n_ops; i++) {
        if (i > 0 && same_parent(c->ops[i - 1].rel, c->ops[i].rel))
            continue;
        if (!sync_parent(c, c->ops[i].rel, err))
            return false;
    }
    return true;
}

static bool clean_op(const struct change *c, size_t i, struct err *err)
{
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    bool found;
    if (!change_place_find(c, i, &at, &found, err))
        return false;
    const char *const names[] = {at.temp, at.spare};
    for (size_t k = 0; found && k < ARRAY_LEN(names); k++)
        if (unlinkat(at.dir_fd, names[k], 0) != 0 && errno != ENOENT)
            return err_errno(
                err, E_IO, errno, "cannot remove '%s' beside '%s'", names[k], c->ops[i].rel.p);
    return true;
}

bool change_clean(const struct change *c, struct err *err)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (!clean_op(c, i, err))
            return false;
    return true;
}

static bool drop_dir(const struct change *c, struct str rel, struct err *err)
{
    const char *name;
    AUTO_FD int fd = change_parent_open(c->root_fd, rel, &name);
    if (fd < 0)
        return is_gone(errno) || change_open_error(err, errno, rel);
    if (unlinkat(fd, name, AT_REMOVEDIR) == 0)
        return true;
    /* What somebody put there, or put in its place, is theirs. */
    if (is_gone(errno) || errno == ENOTEMPTY || errno == EEXIST || errno == EBUSY)
        return true;
    return err_errno(err, E_IO, errno, "cannot remove the directory '%s'", rel.p);
}

bool change_drop_dirs(const struct change *c, struct err *err)
{
    for (size_t i = c->n_dirs; i-- > 0;)
        if (!c->dirs[i].foreign && !drop_dir(c, c->dirs[i].rel, err))
            return false;
    return true;
}
