/* Writes a temporary file and renames it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/put.h"

#include "base/id.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>

static bool write_temp(int dir, const char *temp, struct str content)
{
    AUTO_FD int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd >= 0 && file_write_all(fd, content) && fsync(fd) == 0;
}

bool put_file(int dir, const char *name, struct str content, struct err *err)
{
    char id[ID_SIZE], temp[ID_SIZE + 8];
    id_new(id);
    snprintf(temp, sizeof(temp), ".tmp-%s", id);
    if (write_temp(dir, temp, content) && renameat(dir, temp, dir, name) == 0 && fsync(dir) == 0)
        return true;
    err_errno(err, E_IO, errno, "cannot write '%s'", name);
    unlinkat(dir, temp, 0);
    return false;
}
