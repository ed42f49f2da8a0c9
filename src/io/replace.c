/* Writes a temporary file and renames it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/replace.h"

#include "base/id.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static bool replace_set_mode(const struct replace *r)
{
    struct stat old;
    if (r->o.flags & REPLACE_EXACT_MODE)
        return fchmod(r->fd, r->o.mode) == 0;
    if ((r->o.flags & REPLACE_KEEP_MODE) && fstatat(r->o.dir, r->o.name, &old, 0) == 0)
        (void)!fchmod(r->fd, old.st_mode & 0777);
    return true;
}

bool replace_open(struct replace *r, const struct replace_options *o)
{
    char id[ID_SIZE];
    *r = (struct replace){
        .o = *o, .fd = -1, .temp_dir = o->temp && o->temp_dir ? *o->temp_dir : o->dir};
    id_new(id);
    int n = o->temp ? snprintf(r->temp, sizeof(r->temp), "%s", o->temp)
                    : snprintf(r->temp, sizeof(r->temp), ".tmp-%s", id);
    if (n < 0 || (size_t)n >= sizeof(r->temp)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (o->temp)
        unlinkat(r->temp_dir, r->temp, 0);
    r->fd =
        openat(r->temp_dir, r->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, o->mode);
    r->waiting = r->fd >= 0;
    return r->waiting && replace_set_mode(r);
}

bool replace_write(struct replace *r, struct str content)
{
    return file_write_all(r->fd, content);
}

/* Most file systems without RENAME_NOREPLACE have hard links. */
static bool replace_rename(const struct replace *r)
{
    if (!(r->o.flags & REPLACE_NEW))
        return renameat(r->temp_dir, r->temp, r->o.dir, r->o.name) == 0;
    if (renameat2(r->temp_dir, r->temp, r->o.dir, r->o.name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (linkat(r->temp_dir, r->temp, r->o.dir, r->o.name, 0) == 0)
        return unlinkat(r->temp_dir, r->temp, 0) == 0;
    return errno != EEXIST && file_rename_new(r->temp_dir, r->temp, r->o.dir, r->o.name);
}

bool replace_commit(struct replace *r)
{
    if ((r->o.flags & REPLACE_SYNC) && fsync(r->fd) != 0)
        return false;
    if (!replace_rename(r))
        return false;
    r->waiting = false;
    return !(r->o.flags & REPLACE_SYNC_DIR) || fsync(r->o.dir) == 0 || errno == EINVAL;
}

void replace_close(struct replace *r)
{
    int errnum = errno;
    if (r->fd >= 0)
        close(r->fd);
    if (r->waiting)
        unlinkat(r->temp_dir, r->temp, 0);
    *r = (struct replace)REPLACE_NONE;
    errno = errnum;
}

bool replace_file(const struct replace_options *o, struct str content)
{
    AUTO_REPLACE struct replace r = REPLACE_NONE;
    return replace_open(&r, o) && replace_write(&r, content) && replace_commit(&r);
}

bool replace_private(int dir, const char *name, struct str content, struct err *err)
{
    const struct replace_options o = {
        .dir = dir, .name = name, .mode = 0600, .flags = REPLACE_DURABLE};
    return replace_file(&o, content) || err_errno(err, E_IO, errno, "cannot write '%s'", name);
}

bool replace_path(const char *path, struct str content, unsigned flags, struct err *err)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    AUTO_FREE char *dir = slash ? strndup(n ? path : "/", n ? n : 1) : strdup(".");
    BUG_ON(!dir);
    AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot open the directory '%s'", dir);
    const struct replace_options o = {.dir = fd,
        .name = slash ? slash + 1 : path,
        .mode = 0600,
        .flags = REPLACE_DURABLE | flags};
    if (replace_file(&o, content))
        return true;
    if (errno == EEXIST)
        return err_set(err, E_CONFLICT, "'%s' already exists", path);
    return err_errno(err, E_IO, errno, "cannot write '%s'", path);
}
