/* openat2 below a directory descriptor, with a user-space fallback if the call is missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/beneath.h"

#include "path/descend.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    RETRIES = 128,
};

static int open_by_hand(int dir_fd, const char *path, const struct open_how *how)
{
    return descend(dir_fd, path,
        &(struct descend_how){
            .flags = (int)how->flags,
            .mode = (mode_t)how->mode,
            .beneath = how->resolve & RESOLVE_BENEATH,
            .no_symlinks = how->resolve & RESOLVE_NO_SYMLINKS,
        });
}

static int open_retrying(int dir_fd, const char *path, const struct open_how *how)
{
    for (int i = 0; i < RETRIES; i++) {
        long fd = syscall(SYS_openat2, dir_fd, path, how, sizeof(*how));
        if (fd >= 0)
            return (int)fd;
        if (errno == ENOSYS)
            return open_by_hand(dir_fd, path, how);
        if (errno != EAGAIN && errno != EINTR)
            return -1;
    }
    errno = EAGAIN;
    return -1;
}

int beneath_open(int dir_fd, const char *rel, int flags, mode_t mode, int options)
{
    bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = creates ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    if (options & BENEATH_NO_SYMLINKS)
        how.resolve |= RESOLVE_NO_SYMLINKS;
    return open_retrying(dir_fd, rel, &how);
}

int beneath_peek(const char *absolute)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    return open_retrying(AT_FDCWD, absolute, &how);
}

char *beneath_name_of(int fd, const struct stat *open_file)
{
    char link[32], name[PATH_MAX];
    struct stat named;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof(name));
    if (n <= 0 || (size_t)n >= sizeof(name) || name[0] != '/')
        return NULL;
    name[n] = '\0';
    /* " (deleted)" may be part of a name: accept it only if it names the same file. */
    if (lstat(name, &named) != 0 || open_file->st_dev != named.st_dev ||
        open_file->st_ino != named.st_ino)
        return NULL;
    return strndup(name, (size_t)n);
}

char *beneath_name(int fd)
{
    struct stat open_file;
    return fstat(fd, &open_file) == 0 ? beneath_name_of(fd, &open_file) : NULL;
}

char *beneath_resolve(const char *absolute)
{
    AUTO_FD int fd = beneath_peek(absolute);
    return fd >= 0 ? beneath_name(fd) : NULL;
}
