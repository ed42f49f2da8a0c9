/* Grants the owner access to directories whose mode denies it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/force.h"

#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    NAME_SIZE = 64,
};

/* fchmod() does not work on an O_PATH descriptor; its name in /proc resolves to exactly this
 * directory. */
static bool force_grant_owner(int fd)
{
    char name[NAME_SIZE];
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return false;
    if ((st.st_mode & S_IRWXU) == S_IRWXU)
        return true;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return chmod(name, (st.st_mode & 07777) | S_IRWXU) == 0;
}

int force_open(int dir, const char *path, bool force)
{
    int fd = beneath_open(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd >= 0 || errno != EACCES || !force)
        return fd;
    AUTO_FD int closed =
        beneath_open(dir, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (closed < 0 || !force_grant_owner(closed)) {
        errno = EACCES;
        return -1;
    }
    return openat(closed, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void force_mode(int dir, const char *name)
{
    AUTO_FD int fd =
        beneath_open(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd >= 0)
        (void)force_grant_owner(fd);
}
