/* Directory entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/dir.h"

#include <errno.h>
#include <fcntl.h>

bool dir_take(struct dir *d, int fd)
{
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        int errnum = errno;
        if (fd >= 0)
            close(fd);
        errno = errnum;
        return false;
    }
    *d = (struct dir){.max = d->max, .fd = fd, .stream = stream};
    return true;
}

bool dir_open(struct dir *d, int at, const char *name)
{
    return dir_take(d, openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool dir_open_path(struct dir *d, const char *path)
{
    return dir_take(d, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static bool dir_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool dir_next(struct dir *d)
{
    const struct dirent *entry;
    if (!d->stream || d->cut || d->errnum)
        return false;
    do {
        errno = 0;
        entry = readdir(d->stream);
    } while (entry && dir_is_dots(entry->d_name));
    d->name = NULL;
    if (!entry) {
        d->errnum = errno;
        return false;
    }
    if (d->n == d->max) {
        d->cut = true;
        return false;
    }
    d->n++;
    d->name = entry->d_name;
    d->type = entry->d_type;
    return true;
}

bool dir_complete(const struct dir *d)
{
    return d->stream && !d->cut && !d->errnum;
}

void dir_rewind(struct dir *d)
{
    if (d->stream)
        rewinddir(d->stream);
    d->n = 0;
    d->cut = false;
    d->errnum = 0;
}

void dir_close(struct dir *d)
{
    if (d->stream)
        closedir(d->stream);
    *d = (struct dir)DIR_INIT(d->max);
}
